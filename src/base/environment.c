/* SPDX-License-Identifier: MIT */
#include "src/base/environment.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { STACK_KB = 1024, MORE_STACK_KB = 8192, MOST_THREADS = 1024 };

static bool prepare_stack(Err *err) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= (rlim_t)STACK_KB << 10)
        return true;
    const rlim_t wanted = (rlim_t)MORE_STACK_KB << 10;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return (limit.rlim_cur >= (rlim_t)STACK_KB << 10 && setrlimit(RLIMIT_STACK, &limit) == 0) ||
           err_set(err, ERR_FAILED, "stack", "ulimit -s 8192", "%llu kB, needs %d",
                   (unsigned long long)limit.rlim_max >> 10, STACK_KB);
}

/* Checks OMP_NUM_THREADS. A list ("4,2") has a number for each level; the first counts here. */
static bool check_threads(Err *err) {
    const char *threads = getenv("OMP_NUM_THREADS");
    return !threads || strtoll(threads, NULL, 10) <= MOST_THREADS ||
           err_set(err, ERR_USAGE, "OMP_NUM_THREADS", "unset it: one for each core",
                   "%.20s threads, must be at most %d", threads, MOST_THREADS);
}

bool environment_prepare(Err *err) {
    return prepare_stack(err) && check_threads(err);
}
