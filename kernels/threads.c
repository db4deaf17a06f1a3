/* SPDX-License-Identifier: MIT */
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

static bool other_threads, threads_lost; /* the forking thread writes both */

/* Notes whether the process has other threads: the link count of /proc/self/task is 2 + threads. */
static void note_other_threads(void) {
    struct stat tasks;
    other_threads = stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

static void note_lost_threads(void) {
    threads_lost |= other_threads;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(note_other_threads, NULL, note_lost_threads);
}

int bev_team(int planned) {
    return threads_lost ? 1 : planned;
}

int bev_threads(void) {
    return bev_team(omp_get_max_threads());
}
