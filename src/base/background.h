/* Threads whose work can wait. */
#ifndef BEV_BACKGROUND_H
#define BEV_BACKGROUND_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* From now on the calling thread, and those that it starts, take the time that pictures leave, in
 * short slices: they interrupt nobody, and who wakes for a picture does not wait for the end of a
 * long one. Kernels before Linux 6.12 give all threads the same slice. */
static inline void stand_back(void) {
    enum { LEAST = 19, SLICE_NS = 100000, BATCH = 3 }; /* sched.h has it for GNU sources only */
#ifdef SYS_sched_setattr
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = {sizeof attributes, BATCH, 0, LEAST, 0, SLICE_NS, 0, 0};
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0)
        return;
#endif
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LEAST);
}

/* Ends the calling thread's team, until it has work for the next one: see calm.h. */
static inline void dismiss_team(void) {
#ifdef _OPENMP
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
#endif
}

#endif
