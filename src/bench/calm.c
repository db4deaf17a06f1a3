#include "src/bench/calm.h"

#include "src/bench/background.h"

#include <pthread.h>
#include <stdlib.h>

struct Calm {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    bool stop;
    bool wanted, there; /* the team */
    bool changing;
};

static void form_team(void) {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
    (void)members;
}

static void *calm_main(void *argument) {
    Calm *calm = argument;
    pthread_mutex_lock(&calm->lock);
    while (!calm->stop) {
        if (calm->there == calm->wanted) {
            pthread_cond_wait(&calm->changed, &calm->lock);
            continue;
        }
        bool wanted = calm->wanted;
        calm->changing = true;
        pthread_mutex_unlock(&calm->lock);
        if (wanted)
            form_team();
        else
            dismiss_team();
        pthread_mutex_lock(&calm->lock);
        calm->there = wanted;
        calm->changing = false;
        pthread_cond_broadcast(&calm->changed);
    }
    pthread_mutex_unlock(&calm->lock);
    return NULL;
}

bool calm_open(Calm **out, Err *err) {
    Calm *calm = calloc(1, sizeof *calm);
    if (!calm)
        return err_set(err, ERR_FAILED, "threads", "", "out of memory");
    pthread_mutex_init(&calm->lock, NULL);
    pthread_cond_init(&calm->changed, NULL);
    calm->wanted = true;
    if (pthread_create(&calm->thread, NULL, calm_main, calm)) {
        pthread_cond_destroy(&calm->changed);
        pthread_mutex_destroy(&calm->lock);
        free(calm);
        return err_set(err, ERR_FAILED, "threads", "", "no thread");
    }
    *out = calm;
    return true;
}

void calm_close(Calm *calm) {
    if (!calm)
        return;
    pthread_mutex_lock(&calm->lock);
    calm->stop = true;
    pthread_cond_broadcast(&calm->changed);
    pthread_mutex_unlock(&calm->lock);
    pthread_join(calm->thread, NULL);
    pthread_cond_destroy(&calm->changed);
    pthread_mutex_destroy(&calm->lock);
    free(calm);
}

void calm_lift(Calm *calm) {
    pthread_mutex_lock(&calm->lock);
    calm->wanted = false;
    pthread_cond_broadcast(&calm->changed);
    while (calm->there || calm->changing)
        pthread_cond_wait(&calm->changed, &calm->lock);
    pthread_mutex_unlock(&calm->lock);
}

void calm_return(Calm *calm) {
    pthread_mutex_lock(&calm->lock);
    calm->wanted = true;
    pthread_cond_broadcast(&calm->changed);
    pthread_mutex_unlock(&calm->lock);
}
