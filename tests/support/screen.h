/* SPDX-License-Identifier: MIT */
/* A screen of the dashboard for tests: drawn at any size, and compared with what it was. */
#pragma once

#include "src/view/term/cells.h"
#include "src/view/term/dashboard.h"
#include "tests/support/golden.h"
#include "tests/support/live_fixture.h"
#include "tests/support/script.h"

static LiveData live;
static Picture picture;
static Cells cells;
static Spots spots; /* of the last drawing */

/* Suites that draw. */
#define SCREEN_SUITE(name_)      SCREEN_SUITE_(TAP_SUITE, name_)
#define SCREEN_HARD_SUITE(name_) SCREEN_SUITE_(TAP_HARD_SUITE, name_)
#define SCREEN_SUITE_(suite_, name_)                                                               \
    static void name_##_checks(void);                                                              \
    suite_(name_) {                                                                                \
        Err err;                                                                                   \
        tap_need(cells_init(&cells, 1, 1, &err) && fixture_picture(&picture.bev, &err),            \
                 "a screen");                                                                      \
        name_##_checks();                                                                          \
        bev_picture_free(&picture.bev);                                                            \
        cells_free(&cells);                                                                        \
    }                                                                                              \
    static void name_##_checks(void)

static inline void begin(int columns, int rows) {
    Err err;
    tap_need(cells_resize(&cells, columns, rows, &err), "a screen of that size");
    state = fixture_state(columns, rows);
    live = fixture_live(&state);
    cells.ascii = cells.light = false;
    cells.color = true;
}

static inline void begin_simulated(int columns, int rows) {
    begin(columns, rows);
    live.model = fixture_model();
}

enum { USUAL_SIZES = 3 };

/* A fresh state and screen of the first, second or third usual size. */
static inline void begin_usual(int size) {
    static const int sizes[USUAL_SIZES][2] = {{80, 24}, {120, 40}, {200, 60}};
    begin(sizes[size][0], sizes[size][1]);
}

/* Draws the dashboard; `spots` then says where its parts are. */
static inline void draw(void) {
    cells.light = state.light;
    dashboard_draw(&cells, &state, &live, &picture, &spots);
}

#define draw_after(...)         (use(__VA_ARGS__), draw())

/* A check of the screen as it is now: seen(shows("n/a"), "title"). */
#define seen(...)               (draw(), tap_ok(__VA_ARGS__))

/* A check of the screen after these lines: seen_after("help", shows("Keys"), "title"). */
#define seen_after(lines_, ...) (draw_after(lines_), tap_ok(__VA_ARGS__))

/* Whether the screen has this text, within a row. */
static inline bool shows(const char *text) {
    char *screen = cells_to_text(&cells);
    bool found = screen && strstr(screen, text);
    free(screen);
    return found;
}

/* Whether every glyph is printable ASCII, and none is the '?' of a glyph without an ASCII form. */
static inline bool only_ascii(void) {
    for (int y = 0; y < cells.rows; y++)
        for (int x = 0; x < cells.columns; x++) {
            uint32_t glyph = cells_at(&cells, x, y)->glyph;
            if (glyph >= 0x20 && glyph <= 0x7e && glyph != '?')
                continue;
            /* The key of the help is a question mark, and questions end with one. */
            uint32_t before = cells_at(&cells, x - 1, y)->glyph;
            if (glyph == '?' && (strchr(" u", (int)cells_at(&cells, x + 2, y)->glyph) ||
                                 (before >= '0' && before <= 'z')))
                continue;
            tap_note("glyph %x at %d, %d", glyph, x, y);
            return false;
        }
    return true;
}

/* Whether every cell has the terminal's own colours. */
static inline bool no_colors(void) {
    for (int y = 0; y < cells.rows; y++)
        for (int x = 0; x < cells.columns; x++) {
            CellStyle style = cells_at(&cells, x, y)->style;
            if (style.ink != INK_DEFAULT || style.paper != INK_DEFAULT)
                return false;
        }
    return true;
}

/* Compares the screen with tests/golden/NAME.txt, the name made as printf does, and checks that
 * nothing overlaps and nothing is cut. */
__attribute__((format(printf, 1, 2))) static inline void check_golden(const char *form, ...) {
    char name[64], *got = cells_to_text(&cells);
    va_list args;
    va_start(args, form);
    vsnprintf(name, sizeof name, form, args);
    va_end(args);
    check_golden_text(name, got);
    tap_ok(!cells.collisions && !cells.cuts, "%s: nothing overlaps (%d), nothing is cut (%d)", name,
           cells.collisions, cells.cuts);
    free(got);
}

/* Controls and what they changed, a latency that was so many us: a complete line of the log. */
static inline void finish_log_of(const char *words, double before_us) {
    use(words);
    Headline headline = live_headline(&state, &live);
    state.log.lines[0].before = headline;
    state.log.lines[0].before.latency_us.value = before_us;
    headline.serial = state.job.serial;
    step(EVENT_FRAME, .headline = &headline);
}

static inline void finish_log(void) {
    finish_log_of("dtype fp8", 12.6);
}
