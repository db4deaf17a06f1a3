/* A thread, the lock over what it shares with other threads, and how both are ended. */
#pragma once

#include "kernels/err.h"

#include <pthread.h>
#include <stdbool.h>

/* A member of the struct that owns the thread. */
typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something under the lock changed; its clock is CLOCK_MONOTONIC */
    bool stop;              /* under the lock: `run` is to return */
    bool running;
} Worker;

/* Opens and closes the lock alone: other threads may use the lock before the thread begins and
 * after its end. */
void worker_open(Worker *worker);
void worker_close(Worker *worker);

/* Calls `run(owner)` on a new thread, under an open lock. False: no thread could be created;
 * `where` heads the error. */
bool worker_run(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                Err *err);

/* Opens the lock and calls `run(owner)` on a new thread. False: no thread could be created, and
 * nothing is left to end. */
bool worker_start(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                  Err *err);

/* Tells the thread to stop and waits for its end; does nothing without a thread. */
void worker_stop(Worker *worker);

/* As worker_stop, but waits no longer than `patience_ms`. False: the thread still runs and uses its
 * lock and its owner; it may be waited for again. */
bool worker_stop_within(Worker *worker, double patience_ms);

/* Stops the thread and closes the lock. */
void worker_end(Worker *worker);

/* As worker_end, but waits no longer than `patience_ms`. False: the thread hangs and is left alone.
 * The thread may still use its lock and its owner, which nobody may free then. */
bool worker_end_within(Worker *worker, double patience_ms);

/* Gives the calling thread and its children the lowest priority: for work that can wait. */
void worker_low_priority(void);

static inline void worker_lock(Worker *worker) {
    pthread_mutex_lock(&worker->lock);
}

static inline void worker_unlock(Worker *worker) {
    pthread_mutex_unlock(&worker->lock);
}

/* Under the lock: sleeps that long, or until the thread is to stop. */
void worker_sleep(Worker *worker, double ms);

/* Under the lock: waits for a change, at most that long. */
void worker_wait_ms(Worker *worker, double ms);

/* Under the lock: tells all waiting threads of a change. */
static inline void worker_tell(Worker *worker) {
    pthread_cond_broadcast(&worker->changed);
}

/* Under the lock: waits for a change. */
static inline void worker_wait(Worker *worker) {
    pthread_cond_wait(&worker->changed, &worker->lock);
}
