/* SPDX-License-Identifier: MIT */
#include "src/base/omp_wait.h"

#include "kernels/threads.h"
#include "src/base/worker.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct OmpWait {
    Worker worker;
    /* These are read and written under the lock. */
    bool wanted, there; /* the team shall exist; the team exists */
    bool changing;      /* the team is being formed or dismissed */
};

void omp_wait_dismiss_team(void) {
#ifdef _OPENMP
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
#endif
}

static void form_team(void) {
    int members = 0;
#pragma omp parallel num_threads(bev_team(2)) reduction(+ : members)
    members++;
    (void)members;
}

static void *omp_wait_main(void *argument) {
    OmpWait *omp_wait = argument;
    worker_lock(&omp_wait->worker);
    while (!omp_wait->worker.stop) {
        if (omp_wait->there == omp_wait->wanted) {
            worker_wait(&omp_wait->worker);
            continue;
        }
        bool wanted = omp_wait->wanted;
        omp_wait->changing = true;
        worker_unlock(&omp_wait->worker);
        if (wanted)
            form_team();
        else
            omp_wait_dismiss_team();
        worker_lock(&omp_wait->worker);
        omp_wait->there = wanted;
        omp_wait->changing = false;
        worker_tell(&omp_wait->worker);
    }
    worker_unlock(&omp_wait->worker);
    return NULL;
}

bool omp_wait_open(OmpWait **out, Err *err) {
    OmpWait *omp_wait = calloc(1, sizeof *omp_wait);
    if (!omp_wait)
        return err_set(err, ERR_FAILED, "threads", "", "out of memory");
    omp_wait->wanted = true;
    if (!worker_start(&omp_wait->worker, omp_wait_main, omp_wait, "threads", err)) {
        free(omp_wait);
        return false;
    }
    *out = omp_wait;
    return true;
}

void omp_wait_close(OmpWait *omp_wait) {
    if (!omp_wait)
        return;
    worker_end(&omp_wait->worker);
    free(omp_wait);
}

void omp_wait_active(OmpWait *omp_wait) {
    worker_lock(&omp_wait->worker);
    omp_wait->wanted = false;
    worker_tell(&omp_wait->worker);
    while (omp_wait->there || omp_wait->changing)
        worker_wait(&omp_wait->worker);
    worker_unlock(&omp_wait->worker);
}

void omp_wait_passive(OmpWait *omp_wait) {
    worker_lock(&omp_wait->worker);
    omp_wait->wanted = true;
    worker_tell(&omp_wait->worker);
    worker_unlock(&omp_wait->worker);
}
