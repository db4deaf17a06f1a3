/* SPDX-License-Identifier: MIT */
/* A thread, the lock over the data that it shares, and the ways to end both. */
#pragma once

#include "kernels/err.h"

#include <pthread.h>
#include <stdbool.h>

/* A thread and its lock, as a member of the struct that owns the thread. */
typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals a change under the lock */
    bool stop;              /* under the lock: `run` shall return */
    bool running;
} Worker;

/* Opens the lock alone. Other threads may use the lock before this thread begins and after this
 * thread has ended. A lock needs no closing. */
void worker_open(Worker *worker);

/* Calls `run(owner)` on a new thread. The lock is open already. False: no thread could be created;
 * `where` stands first in the error. */
bool worker_run(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                Err *err);

/* Opens the lock and calls `run(owner)` on a new thread. False: no thread could be created. */
bool worker_start(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                  Err *err);

/* Tells the thread to stop and waits for its end. Without a thread, does nothing. */
void worker_stop(Worker *worker);

/* Tells the thread to stop and waits at most `patience_ms` for its end. False: the thread still
 * runs and uses its lock and its owner. The caller may wait for it again. */
bool worker_stop_within(Worker *worker, double patience_ms);

/* Stops the thread, but waits at most `patience_ms`. False: the thread hangs and is left alone. The
 * thread may still use its lock and its owner, which nobody may free then. */
bool worker_end_within(Worker *worker, double patience_ms);

/* Gives the calling thread and its children the lowest priority, for work that can wait. */
void worker_low_priority(void);

static inline void worker_lock(Worker *worker) {
    pthread_mutex_lock(&worker->lock);
}

static inline void worker_unlock(Worker *worker) {
    pthread_mutex_unlock(&worker->lock);
}

/* Sleeps `ms`, or until the thread shall stop. The caller holds the lock. */
void worker_sleep(Worker *worker, double ms);

/* Waits at most `ms` for a change. The caller holds the lock. */
void worker_wait_ms(Worker *worker, double ms);

/* Tells all waiting threads that something changed. The caller holds the lock. */
static inline void worker_tell(Worker *worker) {
    pthread_cond_broadcast(&worker->changed);
}

/* Waits for a change. The caller holds the lock. */
static inline void worker_wait(Worker *worker) {
    pthread_cond_wait(&worker->changed, &worker->lock);
}
