/* SPDX-License-Identifier: MIT */
/* The dashboard: golden screens, forms without colour and in ASCII, marks, no figure that is not
 * known; at every size nothing drawn twice, nothing cut, panels fold in their order. */
#include "tests/support/screen.h"

static void test_golden(void) {
    static const char *const pages[] = {"both", "dashboard", "bev", "help"};
    for (int size = 0; size < USUAL_SIZES; size++)
        for (int page = 0; page < 4; page++) {
            begin_usual(size);
            finish_log();
            draw_after("%s%s", page == 3 ? "" : "page ", pages[page]);
            check_golden("dashboard-%dx%d-%s", cells.columns, cells.rows, pages[page]);
        }
}

static void test_forms(void) {
    begin(120, 40);
    cells.ascii = true;
    seen(only_ascii(), "the ASCII form is ASCII, and every glyph has its form");
    check_golden("dashboard-120x40-ascii");
    begin(80, 24);
    cells.color = false;
    seen_after("page bev; cursor-x 120", no_colors(),
               "without colour there is none, the BEV included");
    check_golden("dashboard-80x24-bev-plain");
    begin(120, 40);
    cells.color = false;
    seen(no_colors() && shows("\u2588 features") && shows("\u2591 output"),
         "without colour the tensors are told apart by texture");
}

static void test_faults(void) {
    begin(120, 40);
    draw();
    bool before = shows("front, ");
    seen_after("camera front; yaw 3", !before && shows("front, yaw +3.0 deg"),
               "a camera that is off is named");
}

static void test_unknown(void) {
    begin(200, 60);
    live_init(&live);
    live.job = state.job;
    seen(shows("follow") && !shows("0.00") && !shows(" 0 %") && !shows("0 MB") && !shows("nan") &&
             !shows("inf"),
         "what is unknown follows, and is never 0");
    draw_after("all on");
    tap_ok(shows("not measured") && shows("not checked"), "the tables say that it is not known");
    tap_ok(!shows("Pipeline"), "a panel without a single figure leaves its room to others");
    snprintf(state.waiting, sizeof state.waiting, "computing dense: map, 1.2 s");
    seen(shows("computing dense: map, 1.2 s"), "a slow picture says what it waits for");
    state.waiting[0] = '\0';
    char *plain = dashboard_plain(&state, &live);
    tap_ok(plain && strstr(plain, "latency n/a (not measured)") && strchr(plain, '\n'),
           "the plain line, too: %s", plain ? "" : "no memory");
    free(plain);
}

/* All errors are of one moment, which is not the one shown; the screens say which. */
static void test_judged_moment(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {240, 70}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        begin(sizes[i][0], sizes[i][1]);
        live.accuracy[BEV_FP16].max_abs = 0.0143;
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            live.accuracy[dtype].time_s = 14;
        live.frame.time_s = 3.2;
        seen(shows("FP16 errs by 0.014 at t 14.00 s"), "%d x %d", sizes[i][0], sizes[i][1]);
        live.accuracy[BEV_FP8].max_abs = live.accuracy[BEV_FP8].rel_l2 = INFINITY;
        seen(!shows("inf"), "a format whose sums overflow is left out");
        char *plain = dashboard_plain(&state, &live);
        tap_ok(plain && strstr(plain, "max error 0.014 (measured) at t 14.00 s"),
               "the plain line: %s", plain);
        free(plain);
    }
}

static void test_labels(void) {
    begin(200, 60);
    for (int i = 0; i < live.kernel_count; i++)
        live.kernels[i].median_us.stale = live.kernels[i].unsettled = false;
    live.kernels[3].median_us.source = SOURCE_MEASURED;
    seen(!shows("recorded") && !shows("stale") && !shows("unsettled"),
         "marks are explained only where they stand");
    begin(200, 60);
    snprintf(live.error_text, sizeof live.error_text, "CUDA error 700: illegal address");
    seen(shows("CUDA error 700: illegal address"), "a problem is shown");
}

static void test_counters(void) {
    begin(200, 60);
    use("all on");
    live.counters = (LiveCounters){.source = SOURCE_MEASURED,
                                   .config = live.job.config,
                                   .dram_bytes = 1.5e6,
                                   .l2_sectors = 1e6,
                                   .l1_sectors = 2e6,
                                   .issue_percent = 70,
                                   .occupancy_percent = 30};
    seen(shows("measured: DRAM 1.50 MB, L2 1.00 M sectors"), "counters, labelled measured");
    live.counters.stale = true;
    seen(shows("stale, measured: DRAM"), "stale ones say so");
    live.counters.config.dtype = BEV_NVFP4;
    seen(!shows("measured: DRAM"), "those of another choice are not shown");
}

/* Columns and rows of the heads of the default screen's panels; -1: not there. */
enum { HEADS = 6 };
static void find_heads(int places[HEADS][2]) {
    static const char *const heads[HEADS] = {"BEV, ", "Why?",      "in the L2?",
                                             "ight?", "Points of", "What to do next"};
    for (int i = 0; i < HEADS; i++) {
        places[i][0] = places[i][1] = -1;
        for (int at = 0; at < cells.rows * cells.columns; at++) {
            size_t same = 0;
            while (heads[i][same] && cells.cells[at + (int)same].glyph == (uint32_t)heads[i][same])
                same++;
            if (!heads[i][same])
                places[i][0] = at % cells.columns, places[i][1] = at / cells.columns;
        }
    }
}

/* No control that is a key moves a panel. */
static void test_places(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {240, 70}};
    static const char *const words[] = {
        "kernel v2",          "kernel next", "dtype fp8", "error on",    "align next",
        "compare difference", "view class",  "play off",  "camera next", "undo"};
    for (int size = 0; size < 4; size++) {
        int before[HEADS][2], after[HEADS][2], seen_heads = 0, moved = 0;
        begin_simulated(sizes[size][0], sizes[size][1]);
        draw();
        find_heads(before);
        for (int i = 0; i < HEADS; i++)
            seen_heads += before[i][0] >= 0;
        for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
            draw_after("%s", words[word]);
            find_heads(after);
            moved += memcmp(before, after, sizeof before) != 0;
        }
        tap_ok(seen_heads >= 4 && !moved, "%d x %d: %d heads stay where they are (%d moves)",
               cells.columns, cells.rows, seen_heads, moved);
    }
}

SCREEN_SUITE(dashboard) {
    test_places();
    test_golden();
    test_forms();
    test_faults();
    test_unknown();
    test_judged_moment();
    test_labels();
    test_counters();
}

/* Screens of sizes that are `step` of the smallest steps apart. */
static void test_all_sizes(int step) {
    static const char *const words[] = {"page both",      "page dashboard",    "page bev",
                                        "help",           "chart working-set", "chart mrc",
                                        "chart roofline", "glossary"};
    const int word_count = sizeof words / sizeof *words;
    int drawn = 0, collisions = 0, cuts = 0;
    for (int columns = 1; columns <= 240; columns += step * (columns < 40 ? 3 : 7))
        for (int rows = 1; rows <= 80; rows += step * (rows < 10 ? 2 : 3))
            for (int word = 0; word < word_count; word++, drawn++) {
                begin_simulated(columns, rows);
                draw_after("%s", words[word]);
                collisions += cells.collisions;
                if (cells.collisions)
                    tap_note("%d x %d, %s: %d drawn twice", columns, rows, words[word],
                             cells.collisions);
                bool room = columns >= 80 && rows >= 24;
                if (room && cells.cuts)
                    tap_note("%d x %d, %s: %d texts cut", columns, rows, words[word], cells.cuts);
                cuts += room ? cells.cuts : 0;
            }
    tap_ok(drawn > 1000 && !collisions, "%d screens: nothing is drawn twice (%d)", drawn,
           collisions);
    tap_ok(!cuts, "from 80 x 24 on nothing is cut (%d)", cuts);
}

/* Scrolled from end to end, each word of the glossary with its text is seen. */
static void test_glossary(void) {
    for (int size = 0; size < USUAL_SIZES; size++) {
        bool seen[128] = {false};
        int words = 0;
        begin_usual(size);
        draw_after("glossary");
        for (int first = 0; first < glossary_count; first++) {
            state.help_first = first;
            draw();
            for (int row = 0; row < glossary_count; row++) {
                char begins[GLOSSARY_INDENT + 12];
                snprintf(begins, sizeof begins, "%-*s%.10s", GLOSSARY_INDENT, glossary[row].word,
                         glossary[row].text);
                words += !seen[row] && shows(begins);
                seen[row] |= shows(begins);
            }
        }
        tap_ok(words == glossary_count && state.help, "%d x %d: %d words of the glossary",
               cells.columns, cells.rows, words);
    }
}

/* The height at which each question is gone, from the tallest screen down. */
static void test_folding(void) {
    static const char *const titles[] = {"What to do next", "Points of a cell", "Is it right?",
                                         "Does the working", "Why?"};
    enum { TITLES = sizeof titles / sizeof *titles };
    int gone[TITLES] = {0};
    for (int rows = 60; rows >= 10; rows--) {
        begin_simulated(90, rows);
        draw_after("page dashboard");
        for (int i = 0; i < TITLES; i++)
            if (!gone[i] && !shows(titles[i]))
                gone[i] = rows;
    }
    bool ordered = gone[TITLES - 1] > 0;
    for (int i = 1; i < TITLES; i++)
        ordered &= gone[i - 1] > gone[i];
    tap_ok(ordered, "panels fold in their order: at %d, %d, %d, %d, %d rows", gone[0], gone[1],
           gone[2], gone[3], gone[4]);
}

SCREEN_SUITE(dashboard_sizes) {
    test_all_sizes(2);
    test_glossary();
    test_folding();
}

SCREEN_HARD_SUITE(dashboard_all_sizes) {
    test_all_sizes(1);
}

SCREEN_SUITE(dashboard_large) {
    for (int size = 0; size < USUAL_SIZES; size++) {
        begin_usual(size);
        draw_after("large on");
        tap_ok(shows("times as fast as") && shows("Why?") && spots.bev.w > 0,
               "%d x %d: the sentence, the bars and the BEV", cells.columns, cells.rows);
        draw_after("large off; page dashboard");
        seen(shows("in the L2?") || cells.rows < 30, "and off again");
    }
}
