/* SPDX-License-Identifier: MIT */
#include "src/base/omp_wait.h"

#include "kernels/threads.h"

/* The team ends with its thread. */
static void *hold_team(void *owner) {
    OmpWait *omp_wait = owner;
    int members = 0;
#pragma omp parallel num_threads(bev_team(2)) reduction(+ : members)
    members++;
    (void)members;
    worker_lock(&omp_wait->worker);
    while (!omp_wait->worker.stop)
        worker_wait(&omp_wait->worker);
    worker_unlock(&omp_wait->worker);
    return NULL;
}

void omp_wait_passive(OmpWait *omp_wait) {
    if (!omp_wait->passive)
        omp_wait->passive = worker_start(&omp_wait->worker, hold_team, omp_wait, "threads", NULL);
}

void omp_wait_active(OmpWait *omp_wait) {
    if (omp_wait->passive)
        worker_end(&omp_wait->worker);
    omp_wait->passive = false;
}
