/* SPDX-License-Identifier: MIT */
#include "tests/support/tap.h"

TapTotals tap_totals;
const char *tap_suite;

static void print_title(const char *verdict, const char *title, va_list args) {
    printf("%s %d - ", verdict, ++tap_totals.count);
    if (tap_suite)
        printf("%s: ", tap_suite);
    vprintf(title, args);
}

bool tap_ok(bool passed, const char *title, ...) {
    va_list args;
    va_start(args, title);
    print_title(passed ? "ok" : "not ok", title, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    tap_totals.failures += !passed;
    return passed;
}

void tap_note(const char *text, ...) {
    va_list args;
    va_start(args, text);
    fputs("# ", stdout);
    vprintf(text, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

void tap_need(bool done, const char *step) {
    if (!done) {
        tap_ok(false, "%s", step);
        exit(EXIT_FAILURE);
    }
}

void tap_skip(const char *title, const char *reason) {
    printf("ok %d - %s%s%s # SKIP %s\n", ++tap_totals.count, tap_suite ? tap_suite : "",
           tap_suite ? ": " : "", title, reason);
    fflush(stdout);
}

void tap_skip_suite(const char *reason) {
    tap_skip("nothing to test here", reason);
    exit(EXIT_SUCCESS);
}

int tap_done(void) {
    if (tap_totals.count == 0)
        tap_ok(false, "no check ran");
    printf("1..%d\n", tap_totals.count);
    return tap_totals.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
