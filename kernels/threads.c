#include "kernels/threads.h"

#include <pthread.h>
#include <stdbool.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) {
    return 1;
}
#endif

static bool forked; /* written before the child has a second thread */

static void note_fork(void) {
    forked = true;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(NULL, NULL, note_fork);
}

int bev_team(int planned) {
    return forked ? 1 : planned;
}

int bev_threads(void) {
    return bev_team(omp_get_max_threads());
}
