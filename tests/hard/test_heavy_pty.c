/* The live display among heavy scenes: keys that need no new picture (help, cursor, menus) are
 * answered at once whatever is computed, a slow picture says what it waits for, and quitting waits
 * for nothing. Keys also change the configuration: dense, fine and xlarge_c256 are among them.
 *
 * PACE_STRICT=1 holds answers to 50 ms (99 of 100) and the end to 300 ms, as on two quiet cores;
 * else ten times and five times as much. HEAVY_KEYS sets how many answers are timed, HEAVY_DEVICE
 * (cpu) which backend. */
#include "tests/support/load.h"
#include "tests/support/pty_check.h"
#include "tests/support/typed.h"
#include "tests/support/vt.h"

#include <unistd.h>

enum { COLUMNS = 200, ROWS = 60, MOST_ANSWERS = 4096, HEAVY_S = 60 };

static Pty pty;
static Vt screen;

/* Random keys of these controls; those of CONFIG go through all sizes. */
static void type_heavy(int count) {
    static const TypedControls controls = {.has = {[ACTION_CONFIG] = true,
                                                   [ACTION_KERNEL] = true,
                                                   [ACTION_DTYPE] = true,
                                                   [ACTION_ALIGN] = true,
                                                   [ACTION_ERROR] = true,
                                                   [ACTION_YAW] = true,
                                                   [ACTION_COMPARE] = true,
                                                   [ACTION_VIEW] = true}};
    char text[TYPED_TEXT];
    for (int i = 0; i < count; i++) {
        typed_text(typed_random(&controls), text);
        pty_type(&pty, text);
        pty_read(&pty, 0.05 * (rand() % 4));
    }
}

/* Milliseconds from the key to the help screen. */
static double time_help(void) {
    vt_follow(&screen, &pty);
    double begun = pty_now_s();
    pty_type(&pty, "?");
    bool came = vt_wait(&screen, &pty, "this screen", 0, true, HEAVY_S);
    double took_ms = (pty_now_s() - begun) * 1e3;
    pty_type(&pty, "\033");
    came = vt_wait(&screen, &pty, "this screen", 0, false, HEAVY_S) && came;
    pty.length = screen.read = 0;
    return came ? took_ms : HEAVY_S * 1e3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_answers(int count, double most_ms) {
    static double took_ms[MOST_ANSWERS];
    const Load before = load_now();
    for (int i = 0; i < count; i++) {
        type_heavy(1 + rand() % 3);
        took_ms[i] = time_help();
    }
    qsort(took_ms, (size_t)count, sizeof *took_ms, by_value);
    double p99 = took_ms[(count * 99 - 1) / 100];
    tap_note("%d answers: median %.0f ms, p99 %.0f ms", count, took_ms[count / 2], p99);
    tap_ok_unless_loaded(p99 <= most_ms, &before, "help among heavy keys within %.0f ms", most_ms);
}

/* From `canonical`: before the smallest size come, from the end, `occ` and `dense`. */
static void test_slow_picture(double most_ms) {
    pty_type(&pty, "GGG");
    bool said = pty_wait_text(&pty, "computing dense", 0, HEAVY_S);
    tap_ok(said, "a picture that takes long says so");
    const Load before = load_now();
    double begun = pty_now_s();
    size_t from = pty.length;
    pty_type(&pty, "q");
    int status = 0;
    bool ended = pty_wait_text(&pty, LEAVE, from, HEAVY_S);
    double took_ms = (pty_now_s() - begun) * 1e3;
    ended = pty_wait_status(&pty, &status, PATIENCE_S) && ended && WIFEXITED(status);
    tap_note("the terminal is back after %.0f ms", took_ms);
    tap_ok(ended && WEXITSTATUS(status) == 0 && came_back(&pty), "and q ends it in order");
    tap_ok_unless_loaded(took_ms <= most_ms, &before, "within %.0f ms", most_ms);
}

static bool start(void) {
    vt_open(&screen, COLUMNS, ROWS);
    return pty_bevscope(&pty, COLUMNS, ROWS, NULL, "canonical --no-window --device %s",
                        typed_word("HEAVY_DEVICE", "cpu")) &&
           pty_wait_text(&pty, READY, 0, PATIENCE_S);
}

TAP_HARD_SUITE(heavy_pty) {
    const char *strict = getenv("PACE_STRICT");
    int count = typed_number("HEAVY_KEYS", 12);
    srand(typed_seed(3));
    tap_need(start(), "it starts");
    pty_read(&pty, 2);
    test_answers(count < MOST_ANSWERS ? count : MOST_ANSWERS, strict ? 50 : 500);
    pty_type(&pty, "q");
    tap_ok(exits_with(&pty, 0), "and it quits");
    pty_end(&pty);
    tap_need(start(), "it starts again");
    pty_read(&pty, 2);
    test_slow_picture(strict ? 300 : 1500);
    pty_end(&pty);
}
