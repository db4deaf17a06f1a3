/* SPDX-License-Identifier: MIT */
/* The default screen has a figure in each place from one second on: after the start and after each
 * of twelve selections, on a quiet machine and beside two busy loops on each of two cores. The
 * error is there 3 s after the start of the program and after a key, whatever the load. With
 * BEVSCOPE_DEVICE=cuda it runs on a GPU. */
#include "tests/support/load.h"
#include "tests/support/pty_check.h"

#include "src/base/clock.h"

#include <math.h>

enum { LOOPS = 4, SECOND = 1, ERROR_S = 3 };

/* Whether the text stands on the screen, drawn as a whole. */
static bool says(Pty *pty, const char *text) {
    size_t from = pty->length;
    pty_type(pty, REDRAW);
    pty_read(pty, 0.4);
    const char *at = strstr(pty->output + from, text);
    if (at)
        tap_note("%.60s", at > pty->output + 40 ? at - 40 : at);
    return at != NULL;
}

static bool lacks_error(Pty *pty) {
    return !says(pty, "errs by");
}

static void test_selections(int columns, int rows, bool loaded) {
    static const char *const keys[] = {"k", "d", "a", "k", "d", "k", "a", "d", "k", "d", "d", "k"};
    const char *device = getenv("BEVSCOPE_DEVICE");
    Pty pty;
    busy_begin(loaded ? LOOPS : 0);
    const double begun_ms = clock_ms();
    bool open = pty_bevscope(&pty, columns, rows, NULL, "live canonical --no-window --device %s",
                             device ? device : "cpu") &&
                pty_wait_text(&pty, READY, 0, PATIENCE_S);
    pty_read(&pty, SECOND);
    int unknown = says(&pty, "n/a"), late = 0;
    pty_read(&pty, fmax(ERROR_S - 0.4 - 1e-3 * (clock_ms() - begun_ms), 0));
    late = lacks_error(&pty);
    tap_ok(!late, "3 s after the start the error is there");
    for (int i = 0; i < 12; i++) {
        pty_type(&pty, keys[i]);
        pty_read(&pty, SECOND);
        unknown += says(&pty, "n/a");
        if (i)
            continue;
        pty_read(&pty, ERROR_S - SECOND);
        late = lacks_error(&pty);
    }
    tap_ok(open && !unknown, "%d x %d, %s: %d of 13 screens say n/a", columns, rows,
           loaded ? "busy" : "quiet", unknown);
    tap_ok(!late, "and 3 s after a key");
    pty_type(&pty, "q");
    busy_end();
    pty_end(&pty);
}

TAP_HARD_SUITE(first_second) {
    test_selections(160, 50, false);
    test_selections(240, 70, false);
    test_selections(160, 50, true);
}
