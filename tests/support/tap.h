/* SPDX-License-Identifier: MIT */
/* Test Anything Protocol, the little of it that automake's driver reads. A program of tests is a
 * folder's suites; tests/README.md says how to run one. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `tap_ok(passed, "title", ...)`: one check. Returns `passed`. */
__attribute__((format(printf, 2, 3))) bool tap_ok(bool passed, const char *title, ...);

/* Extra lines under the last result; shown in the log of a failing test. */
__attribute__((format(printf, 1, 2))) void tap_note(const char *text, ...);

/* For a step without which the rest of a suite says nothing: ends the suite when it failed. */
void tap_need(bool done, const char *step);

void tap_skip(const char *title, const char *reason);

/* Ends the suite: it has nothing to test here, never a silent pass. */
__attribute__((noreturn)) void tap_skip_suite(const char *reason);

/* Prints the plan, and fails when no check ran. Returns the exit status of main(). */
int tap_done(void);

/* Checks so far, of this process. */
typedef struct {
    int count, failures;
} TapTotals;
extern TapTotals tap_totals;
extern const char *tap_suite; /* whose titles begin with its name; NULL: a program without suites */

typedef struct TapSuite TapSuite;
struct TapSuite {
    const char *name;
    void (*run)(void);
    bool waits;         /* more than it computes: others may run beside it */
    bool hard;          /* of the second ring: `make check-hard` */
    int (*alone)(void); /* no suite but a program that suites start: `PROGRAM --alone NAME` */
    TapSuite *next;
};
void tap_register(TapSuite *suite);

#define TAP_REGISTER_(name_, run_, waits_, hard_, alone_, function_)                               \
    __attribute__((constructor)) static void function_(void) {                                     \
        static TapSuite suite = {#name_, run_, waits_, hard_, alone_, NULL};                       \
        tap_register(&suite);                                                                      \
    }
#define TAP_SUITE_(name_, waits_, hard_)                                                           \
    static void name_##_suite(void);                                                               \
    TAP_REGISTER_(name_, name_##_suite, waits_, hard_, NULL, name_##_register_suite)               \
    static void name_##_suite(void)

/* `TAP_SUITE(name) { checks }`: runs in `make check`, a hard one in `make check-hard`. One that
 * mostly waits, for a terminal, a clock, other processes, runs beside others. */
#define TAP_SUITE(name_)         TAP_SUITE_(name_, false, false)
#define TAP_WAITING_SUITE(name_) TAP_SUITE_(name_, true, false)
#define TAP_HARD_SUITE(name_)    TAP_SUITE_(name_, false, true)

/* `TAP_ALONE(name) { return status; }`: main() of a process that a suite starts by exec. */
#define TAP_ALONE(name_)                                                                           \
    static int name_##_alone(void);                                                                \
    TAP_REGISTER_(name_, NULL, false, false, name_##_alone, name_##_register_alone)                \
    static int name_##_alone(void)

#ifdef __cplusplus
}
#endif
