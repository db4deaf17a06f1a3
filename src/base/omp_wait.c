/* SPDX-License-Identifier: MIT */
#include "src/base/omp_wait.h"

#include "kernels/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void omp_wait_dismiss_team(void) {
#ifdef _OPENMP
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
#endif
}

/* Forms the team and keeps it until the thread shall stop. */
static void *own_team(void *argument) {
    Worker *idle_team = argument;
    int members = 0;
#pragma omp parallel num_threads(bev_team(2)) reduction(+ : members)
    members++;
    (void)members;
    worker_lock(idle_team);
    while (!idle_team->stop)
        worker_wait(idle_team);
    worker_unlock(idle_team);
    omp_wait_dismiss_team();
    return NULL;
}

void omp_wait_passive(Worker *idle_team) {
    worker_run(idle_team, own_team, idle_team, "threads", NULL);
}

void omp_wait_active(Worker *idle_team) {
    worker_stop(idle_team);
}
