/* SPDX-License-Identifier: MIT */
/* Threads of their own: that they are told, that they end, and what is left where there is none. */
#include "src/base/worker.h"
#include "src/base/clock.h"
#include "tests/support/child.h"

/* What a thread makes of the numbers that it is given: their sum. */
typedef struct {
    Worker worker;
    int given, sum;
    bool ended;
} Adder;

static void *add(void *owner) {
    Adder *adder = owner;
    worker_lock(&adder->worker);
    while (!adder->worker.stop) {
        adder->sum += adder->given;
        adder->given = 0;
        worker_tell(&adder->worker);
        worker_wait(&adder->worker);
    }
    adder->ended = true;
    worker_unlock(&adder->worker);
    return NULL;
}

static void test_work(void) {
    Adder adder = {.given = 0};
    Err err;
    if (!tap_ok(worker_start(&adder.worker, add, &adder, "test", &err), "a thread starts"))
        return;
    for (int i = 1; i <= 100; i++) {
        worker_lock(&adder.worker);
        adder.given = i;
        worker_tell(&adder.worker);
        while (adder.given)
            worker_wait(&adder.worker);
        worker_unlock(&adder.worker);
    }
    worker_stop(&adder.worker);
    tap_ok(adder.sum == 5050 && adder.ended, "it is told of every change, and to stop");
}

static void *sleep_long(void *owner) {
    Worker *worker = owner;
    worker_lock(worker);
    worker_sleep(worker, 30e3);
    worker_unlock(worker);
    return NULL;
}

static void test_sleep(void) {
    static Worker worker;
    Err err;
    double begun = clock_ms();
    if (!worker_start(&worker, sleep_long, &worker, "test", &err))
        return;
    bool ended = worker_end_within(&worker, 20e3);
    tap_ok(ended && clock_ms() - begun < 20e3, "one that sleeps wakes up to stop");
}

static void *hang(void *owner) {
    (void)owner;
    while (pause() < 0) {
    }
    return NULL;
}

static void test_hang(void) {
    static Worker worker; /* outlives the thread's interest */
    Err err;
    double begun = clock_ms();
    if (!worker_start(&worker, hang, &worker, "test", &err))
        return;
    bool ended = worker_end_within(&worker, 50);
    tap_ok(!ended && clock_ms() - begun >= 50, "one that hangs is left alone");
}

/* No room for a stack. */
static void test_no_thread(void) {
#ifdef __SANITIZE_ADDRESS__
    tap_skip("no thread", "the sanitizer needs memory of its own for one");
#else
    Worker worker;
    Err err = {.where = ""};
    rlim_t before = limit_to(RLIMIT_AS, 1 << 20);
    bool started = worker_start(&worker, hang, &worker, "test", &err);
    limit_to(RLIMIT_AS, before);
    tap_ok(!started && !strcmp(err.where, "test") && !strcmp(err.what, "no thread"),
           "where no thread can be had, that is said");
#endif
}

TAP_SUITE(worker) {
    test_no_thread(); /* before any stack can be used again */
    test_work();
    test_sleep();
    test_hang();
}
