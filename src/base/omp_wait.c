#include "src/base/omp_wait.h"

#include "src/base/background.h"
#include "src/base/worker.h"

#include <stdlib.h>

struct OmpWait {
    Worker worker;
    /* Under the lock. */
    bool wanted, there; /* the team */
    bool changing;
};

static void form_team(void) {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
    (void)members;
}

static void *calm_main(void *argument) {
    OmpWait *calm = argument;
    worker_lock(&calm->worker);
    while (!calm->worker.stop) {
        if (calm->there == calm->wanted) {
            worker_wait(&calm->worker);
            continue;
        }
        bool wanted = calm->wanted;
        calm->changing = true;
        worker_unlock(&calm->worker);
        if (wanted)
            form_team();
        else
            dismiss_team();
        worker_lock(&calm->worker);
        calm->there = wanted;
        calm->changing = false;
        worker_tell(&calm->worker);
    }
    worker_unlock(&calm->worker);
    return NULL;
}

bool omp_wait_open(OmpWait **out, Err *err) {
    OmpWait *calm = calloc(1, sizeof *calm);
    if (!calm)
        return err_set(err, ERR_FAILED, "threads", "", "out of memory");
    calm->wanted = true;
    if (!worker_start(&calm->worker, calm_main, calm, "threads", err)) {
        free(calm);
        return false;
    }
    *out = calm;
    return true;
}

void omp_wait_close(OmpWait *calm) {
    if (!calm)
        return;
    worker_end(&calm->worker);
    free(calm);
}

void omp_wait_active(OmpWait *calm) {
    worker_lock(&calm->worker);
    calm->wanted = false;
    worker_tell(&calm->worker);
    while (calm->there || calm->changing)
        worker_wait(&calm->worker);
    worker_unlock(&calm->worker);
}

void omp_wait_passive(OmpWait *calm) {
    worker_lock(&calm->worker);
    calm->wanted = true;
    worker_tell(&calm->worker);
    worker_unlock(&calm->worker);
}
