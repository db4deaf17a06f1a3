/* SPDX-License-Identifier: MIT */
/* Figures of the live display: what is unknown, what is compared. Units: tests/view/test_text.c. */
#include "src/cachesim/gpus.h"
#include "src/state/live_data.h"
#include "tests/support/tap.h"

#include <math.h>

TAP_SUITE(live_data_live) {
    static LiveData live;
    live_init(&live);
    static State shown;
    Headline none = live_headline(&shown, &live);
    tap_ok(none.footprint_bytes.source == SOURCE_UNKNOWN &&
               none.latency_us.source == SOURCE_UNKNOWN && none.max_abs.source == SOURCE_UNKNOWN,
           "fresh figures are unknown");
    int32_t starts[] = {0, 1, 3}, lengths[] = {1, 2, 5}, cells[8] = {0, 4, 4, 9, 9, 9, 9, 9};
    BevMap map = {.points = 8,
                  .intervals = 3,
                  .ranks_bev = cells,
                  .interval_starts = starts,
                  .interval_lengths = lengths};
    live.intervals = map_intervals(&map, 10);
    tap_ok(live.intervals.intervals[0] == 1 && live.intervals.intervals[1] == 1 &&
               live.intervals.intervals[2] == 1 && live.intervals.points[2] == 5 &&
               live.intervals.stats.longest_cell == 9,
           "lengths fall into their buckets");
    tap_ok(gpu_of_device("NVIDIA H200") == gpu_find("h200") && !gpu_of_device("GTX 9") &&
               gpu_find("a6000")->l2_bytes == 6 * 1048576,
           "GPUs by name and by the driver's name");
}

/* While a scene plays a fast kernel pools for a slow one; with itself it is not compared. */
TAP_SUITE(live_data_comparison) {
    static LiveData live;
    static State state;
    char text[96];
    live_init(&live);
    const BevKernel *fast = bev_kernel_find("cpu_v4"), *slow = bev_kernel_find("cpu_v2");
    live.job.config = (KernelConfig){fast, BEV_FP32, BEV_NEAREST};
    live.job.baseline = (KernelConfig){slow, BEV_FP32, BEV_NEAREST};
    live.difference = (LiveDifference){.known = true};
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "0 cells differ from V2 FP32"), "two kernels that pooled are compared: %s",
           text);
    live.stand_in = fast;
    live.difference.alike = true; /* as the engine finds one grid on both sides */
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "V2 | V4, both drawn by V4 until the other picture is computed"),
           "one that pooled both: %s", text);
    state.playing = true;
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "V2 | V4, both drawn by V4 until paused (Space)"), "playing: %s", text);
    live.job.baseline.kernel = NULL;
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "both drawn by V4 until paused (Space)"), "no baseline: %s", text);
    live.job.baseline.kernel = slow;
    live.job.baseline.dtype = BEV_FP16;
    live.difference.alike = false;
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "picture by V4: 0 cells differ from V2 FP16"),
           "two formats of one kernel are compared: %s", text);
    live.stand_in = NULL;
    snprintf(live.frame.other_name, sizeof live.frame.other_name, "parking");
    comparison_text(&state, &live, text, sizeof text);
    tap_ok(!strcmp(text, "0 cells differ from parking"),
           "two scenes: no kernel of the baseline took part: %s", text);
    const LiveAccuracy unjudged = live_unjudged(3);
    tap_ok(unjudged.source && unjudged.gate_c == LIVE_SKIP && isnan(unjudged.max_abs) &&
               isnan(unjudged.cosine),
           "what cannot be judged has no figure, neither 0");
}

/* The tolerance is a limit, and the moment of the error is told where the scene moves. */
TAP_SUITE(live_data_tolerance) {
    static const struct {
        bool moves, stale;
        double max_abs;
        LiveVerdict verdict;
        const char *text;
    } cases[] = {
        {true, false, 0.01, LIVE_PASS, "at t 14.00 s"},
        {true, false, 0.0143, LIVE_FAIL, "at t 14.00 s"},
        {true, true, 0.0143, LIVE_UNKNOWN, "at t 14.00 s"},
        {true, false, NAN, LIVE_UNKNOWN, "at t 14.00 s"},
        {false, false, 2e-3, LIVE_PASS, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const SceneFacts scene = {.has_world = cases[i].moves};
        const LiveAccuracy accuracy = {.source = SOURCE_MEASURED,
                                       .stale = cases[i].stale,
                                       .max_abs = cases[i].max_abs,
                                       .time_s = 14};
        const ShortText text = live_judged_text(&scene, &accuracy);
        const LiveVerdict verdict = live_tolerance(&accuracy);
        tap_ok(!strcmp(text.text, cases[i].text) && verdict == cases[i].verdict,
               "%g%s, %s: verdict %d", accuracy.max_abs, accuracy.stale ? ", stale" : "", text.text,
               verdict);
    }
}
