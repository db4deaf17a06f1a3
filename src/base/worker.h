/* A thread of its own, the lock over what it shares with others, and how both are ended. */
#ifndef BEV_WORKER_H
#define BEV_WORKER_H

#include "kernels/err.h"

#include <pthread.h>
#include <stdbool.h>

/* Part of the struct of whoever has a thread. */
typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything under the lock; its clock is CLOCK_MONOTONIC */
    bool stop;              /* under the lock: `run` is to return */
    bool running;
} Worker;

/* The lock alone, for what others may tell before there is a thread and after its end. */
void worker_open(Worker *worker);
void worker_close(Worker *worker);

/* Runs `run(owner)` on a new thread, under an open lock. False: no thread was to be had; `where`
 * heads the error. */
bool worker_run(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                Err *err);

/* Asks the thread to stop and waits for its end; where none runs, nothing. */
void worker_stop(Worker *worker);

/* Both at once: runs `run(owner)` on a new thread. False: no thread was to be had, and nothing is
 * left to end. */
bool worker_start(Worker *worker, void *(*run)(void *owner), void *owner, const char *where,
                  Err *err);

/* Stops the thread and closes the lock. */
void worker_end(Worker *worker);

/* The same, but waits no longer than `patience_ms`. False: the thread hangs and is left alone; it
 * may still come back to its lock and its owner, which nobody may free. */
bool worker_end_within(Worker *worker, double patience_ms);

static inline void worker_lock(Worker *worker) {
    pthread_mutex_lock(&worker->lock);
}

static inline void worker_unlock(Worker *worker) {
    pthread_mutex_unlock(&worker->lock);
}

/* Under the lock: lets so much time pass, or as much as there is before it is to stop. */
void worker_sleep(Worker *worker, double ms);

/* Under the lock: waits until something has changed, or for so long. */
void worker_wait_ms(Worker *worker, double ms);

/* Both under the lock: tells whoever waits that something has changed; waits for that. */
static inline void worker_tell(Worker *worker) {
    pthread_cond_broadcast(&worker->changed);
}

static inline void worker_wait(Worker *worker) {
    pthread_cond_wait(&worker->changed, &worker->lock);
}

#endif
