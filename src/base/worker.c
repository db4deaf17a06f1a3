#include "src/base/worker.h"

#include <stdint.h>
#include <time.h>

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

static void ask_to_stop(Worker *worker) {
    worker_lock(worker);
    worker->stop = true;
    worker_tell(worker);
    worker_unlock(worker);
}

void worker_stop(Worker *worker) {
    if (!worker->running)
        return;
    ask_to_stop(worker);
    pthread_join(worker->thread, NULL);
    worker->running = false;
}

void worker_end(Worker *worker) {
    worker_stop(worker);
    worker_close(worker);
}

static struct timespec in_ms(clockid_t clock, double ms) {
    struct timespec t;
    int64_t ns = (int64_t)(ms * 1e6);
    clock_gettime(clock, &t);
    t.tv_nsec += ns % 1000000000;
    t.tv_sec += ns / 1000000000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool worker_end_within(Worker *worker, double patience_ms) {
    ask_to_stop(worker);
    struct timespec until = in_ms(CLOCK_REALTIME, patience_ms);
    if (pthread_timedjoin_np(worker->thread, NULL, &until) != 0) {
        pthread_detach(worker->thread);
        return false;
    }
    worker_close(worker);
    return true;
}

void worker_wait_ms(Worker *worker, double ms) {
    struct timespec until = in_ms(CLOCK_MONOTONIC, ms);
    pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
}

void worker_sleep(Worker *worker, double ms) {
    struct timespec until = in_ms(CLOCK_MONOTONIC, ms);
    while (!worker->stop && pthread_cond_timedwait(&worker->changed, &worker->lock, &until) == 0) {
    }
}
