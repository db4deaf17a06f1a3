/* SPDX-License-Identifier: MIT */
#include "src/base/worker.h"

#include <math.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void worker_open(Worker *worker) {
    *worker = (Worker){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
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
    return worker_run(worker, run, owner, where, err);
}

void worker_stop(Worker *worker) {
    worker_stop_within(worker, INFINITY);
}

static struct timespec time_in_ms(double ms) {
    struct timespec t;
    int64_t ns = (int64_t)(ms * 1e6);
    clock_gettime(CLOCK_MONOTONIC, &t);
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
        struct timespec until = time_in_ms(patience_ms);
        worker->running = pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &until) != 0;
    }
    return !worker->running;
}

bool worker_end_within(Worker *worker, double patience_ms) {
    bool ended = worker_stop_within(worker, patience_ms);
    if (!ended)
        pthread_detach(worker->thread);
    return ended;
}

static bool wait_until(Worker *worker, const struct timespec *until) {
    return !pthread_cond_clockwait(&worker->changed, &worker->lock, CLOCK_MONOTONIC, until);
}

void worker_wait_ms(Worker *worker, double ms) {
    const struct timespec until = time_in_ms(ms);
    wait_until(worker, &until);
}

void worker_sleep(Worker *worker, double ms) {
    const struct timespec until = time_in_ms(ms);
    while (!worker->stop && wait_until(worker, &until)) {
    }
}

/* Sets batch scheduling with short slices. A batch thread interrupts no other thread. A thread that
 * wakes up for a picture waits at most one short slice. Before Linux 6.12 all threads get the same
 * slice. */
void worker_low_priority(void) {
    enum { NICEST = 19, SLICE_NS = 100000, BATCH = 3 }; /* sched.h has BATCH for GNU sources */
#ifdef SYS_sched_setattr
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } wanted = {.size = sizeof wanted, .policy = BATCH, .nice = NICEST, .runtime_ns = SLICE_NS};
    if (syscall(SYS_sched_setattr, 0, &wanted, 0) == 0)
        return;
#endif
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICEST);
}
