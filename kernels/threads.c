#include "kernels/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) {
    return 1;
}
#endif

static bool teams, lost; /* written by the thread that forks */

/* Whether there are other threads: procfs links the folder once a thread, and twice besides. */
static void look_for_teams(void) {
    struct stat tasks;
    teams = stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

static void note_loss(void) {
    lost |= teams;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(look_for_teams, NULL, note_loss);
}

int bev_team(int planned) {
    return lost ? 1 : planned;
}

int bev_threads(void) {
    return bev_team(omp_get_max_threads());
}
