/* SPDX-License-Identifier: MIT */
#include "src/base/worker.h"

#include <math.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void worker_open(Worker *worker) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&worker->lock, NULL);
    worker->stop = worker->running = false;
}

void worker_close(Worker *worker) {
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
}

bool worker_run(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                Err *err) {
    worker->stop = false;
    worker->running = pthread_create(&worker->thread, NULL, run, owner) == 0;
    return worker->running || err_set(err, ERR_FAILED, where, "", "no thread");
}

bool worker_start(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                  Err *err) {
    worker_open(worker);
    if (worker_run(worker, run, owner, where, err))
        return true;
    worker_close(worker);
    return false;
}

void worker_stop(Worker *worker) {
    worker_stop_within(worker, INFINITY);
}

void worker_end(Worker *worker) {
    worker_stop(worker);
    worker_close(worker);
}

static struct timespec time_in_ms(clockid_t clock, double ms) {
    struct timespec t;
    int64_t ns = (int64_t)(ms * 1e6);
    clock_gettime(clock, &t);
    t.tv_nsec += ns % 1000000000;
    t.tv_sec += ns / 1000000000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool worker_stop_within(Worker *worker, double patience_ms) {
    if (!worker->running)
        return true;
    worker_lock(worker);
    worker->stop = true;
    worker_tell(worker);
    worker_unlock(worker);
    if (isinf(patience_ms)) {
        worker->running = pthread_join(worker->thread, NULL) != 0;
    } else {
        struct timespec until = time_in_ms(CLOCK_REALTIME, patience_ms);
        worker->running = pthread_timedjoin_np(worker->thread, NULL, &until) != 0;
    }
    return !worker->running;
}

bool worker_end_within(Worker *worker, double patience_ms) {
    if (!worker_stop_within(worker, patience_ms)) {
        pthread_detach(worker->thread);
        return false;
    }
    worker_close(worker);
    return true;
}

void worker_wait_ms(Worker *worker, double ms) {
    struct timespec until = time_in_ms(CLOCK_MONOTONIC, ms);
    pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
}

void worker_sleep(Worker *worker, double ms) {
    struct timespec until = time_in_ms(CLOCK_MONOTONIC, ms);
    while (!worker->stop && pthread_cond_timedwait(&worker->changed, &worker->lock, &until) == 0) {
    }
}

/* Sets batch scheduling with short slices. Such a thread interrupts no other. A thread that wakes
 * up for a picture then waits at most one short slice. Kernels before Linux 6.12 give all threads
 * the same slice. */
void worker_low_priority(void) {
    /* sched.h defines BATCH for GNU sources only */
    enum { NICEST = 19, SLICE_NS = 100000, BATCH = 3 };
#ifdef SYS_sched_setattr
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes = {sizeof attributes, BATCH, 0, NICEST, 0, SLICE_NS, 0, 0};
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0)
        return;
#endif
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICEST);
}
