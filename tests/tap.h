/* Test Anything Protocol, the little of it that automake's driver reads. One program, many
 * checks; a program that checked nothing fails. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failures;

__attribute__((format(printf, 2, 3))) static inline bool tap_ok(bool passed, const char *name,
                                                                ...) {
    va_list args;
    va_start(args, name);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    vprintf(name, args);
    putchar('\n');
    va_end(args);
    fflush(stdout);
    tap_failures += !passed;
    return passed;
}

/* Extra lines under the last result; shown in the log of a failing test. */
__attribute__((format(printf, 1, 2))) static inline void tap_note(const char *text, ...) {
    va_list args;
    va_start(args, text);
    fputs("# ", stdout);
    vprintf(text, args);
    putchar('\n');
    va_end(args);
}

/* For a step without which the rest of a test says nothing: stops the program when it failed. */
static inline void tap_need(bool done, const char *step) {
    if (!done) {
        tap_ok(false, "%s", step);
        exit(EXIT_FAILURE);
    }
}

static inline void tap_skip(const char *name, const char *reason) {
    printf("ok %d - %s # SKIP %s\n", ++tap_count, name, reason);
    fflush(stdout);
}

/* The whole program has nothing to test here; never a silent pass. */
static inline int tap_skip_all(const char *reason) {
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}

/* Call last: `return tap_done();` */
static inline int tap_done(void) {
    if (tap_count == 0)
        tap_ok(false, "no check ran");
    printf("1..%d\n", tap_count);
    return tap_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
