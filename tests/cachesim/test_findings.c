/* SPDX-License-Identifier: MIT */
/* What limits a kernel by the memory model: with invented models, in which each term is the longest
 * in turn.
 */
#include "src/cachesim/findings.h"
#include "tests/support/tap.h"

#include <math.h>

static const BevKernel slow_bev = {
    .name = "slow", .title = "Slow", .where = BEV_CUDA, .access = {.owner = BEV_OWNS_INTERVAL}};
static const BevKernel quick = {
    .name = "quick", .title = "Quick", .where = BEV_CUDA, .access = {.owner = BEV_OWNS_TILE}};
static const IntervalLengths lengths = {.longest = 352, .median = 12};
static MemoryModel model;

/* A kernel with one long term, which asks for each byte once and fills its sectors. */
static Prediction *begin(LatencyTerm limiter) {
    model = (MemoryModel){.gpu_count = 1,
                          .gpus = {gpus[0]},
                          .kernel_count = 1,
                          .footprint = {.feat = 12e6},
                          .gather = {.index = 2.5e6}};
    PredictedKernel *kernel = &model.kernels[0];
    *kernel = (PredictedKernel){.kernel = &slow_bev,
                                .name = slow_bev.name,
                                .title = slow_bev.title,
                                .requested = {.feat = 30e6, .index = 2.5e6, .out_write = 10e6},
                                .rank_bytes = 2.5e6,
                                .sectors_per_request = 2,
                                .sector_use = 1,
                                .l2_sectors = 1.5e6};
    Prediction *p = &kernel->predicted[0];
    *p = (Prediction){.dram_read_bytes = 11e6, .dram_write_bytes = 1e6, .limiter = limiter};
    for (int term = 0; term < TERM_COUNT; term++)
        p->term_us[term] = term == (int)limiter ? 90 : 40;
    p->instructions_us = p->term_us[TERM_ISSUE];
    p->latency_us = predict_latency_us(p, 1);
    return p;
}

static int find(Finding findings[FINDINGS_MAX]) {
    return findings_of(&model, &slow_bev, 0, NULL, &lengths, findings);
}

static const Finding *with(const Finding *findings, int count, const char *text) {
    for (int i = 0; i < count; i++)
        if (strstr(findings[i].text, text))
            return &findings[i];
    return NULL;
}

static void test_each_term(void) {
    static const struct {
        const char *text, *evidence;
        const char *lesson;
    } says[TERM_COUNT] = {
        [TERM_DRAM] = {"limited by DRAM bandwidth (DRAM 90.0 us); latency",
                       "DRAM reads 11.0 MB, writes 1.0", "whose-bytes:l2"},
        [TERM_L2] = {"limited by L2 bandwidth (L2 90.0 us); latency",
                     "1.50 million sectors at L2 (model)", "whose-bytes:requests"},
        [TERM_ISSUE] =
            {"issue-bound (issue 90.0 us); latency 114 us: fewer instructions a point would give",
             "issue 90.0 us, next DRAM 40.0 us (model)", "which-gpu:terms"},
        [TERM_DEPENDENT_LOADS] = {"cutting the longest interval would give",
                                  "longest interval 352 points, median 12 (counted)",
                                  "even-or-skewed:longest"}};
    /* One term of 90 beside three of 40, which are left: 113.6 over 69.3 us. */
    const double want = sqrt(90 * 90 + 3 * 40 * 40) / sqrt(3 * 40 * 40);
    for (int term = 0; term < TERM_COUNT; term++) {
        Finding findings[FINDINGS_MAX];
        begin((LatencyTerm)term);
        int count = find(findings);
        tap_ok(count == 1 && fabs(findings[0].gain - want) < 1e-9 &&
                   !strcmp(findings[0].lesson, says[term].lesson),
               "%s is the longest term: one finding, %.2f times", term_names[term],
               findings[0].gain);
        tap_ok(count == 1 && strstr(findings[0].text, says[term].text) &&
                   strstr(findings[0].evidence, says[term].evidence),
               "with its reason: %s; %s", findings[0].text, findings[0].evidence);
    }
    Finding lines[FINDINGS_MAX];
    begin(TERM_ISSUE)->instructions_us = 20;
    tap_ok(find(lines) == 1 && strstr(lines[0].text, "touching fewer lines of L1 would give"),
           "an issue term of lines is told from one of instructions");
}

static void test_balanced(void) {
    Finding findings[FINDINGS_MAX];
    begin(TERM_DRAM)->dram_read_bytes = 0;
    tap_ok(find(findings) == 1 && strstr(findings[0].text, "an output that stays in L2 would"),
           "DRAM that is only written: the output");
    Prediction *p = begin(TERM_L2);
    p->term_us[TERM_L2] = 41;
    p->latency_us = predict_latency_us(p, 1);
    tap_ok(find(findings) == 0, "four equal terms: nothing to find");
    p->launch_us = 20;
    p->latency_us = predict_latency_us(p, 1);
    tap_ok(find(findings) == 0, "a launch shorter than each of them does not come first");
}

static void test_other_rules(void) {
    Finding findings[FINDINGS_MAX];
    begin(TERM_L2);
    PredictedKernel *kernel = &model.kernels[0];
    kernel->rank_bytes = 25e6;
    kernel->requested.index = 25e6;
    int count = find(findings);
    const Finding *found = with(findings, count, "indices are read 10.0 times");
    tap_ok(found && strstr(found->evidence, "25.00 MB of indices for 2.50 MB"),
           "indices that are read again: %.2f times", found ? found->gain : 0);
    begin(TERM_L2);
    kernel->sector_use = 0.0625;
    count = find(findings);
    found = with(findings, count, "6 % of each feature sector is used");
    tap_ok(found && found->gain > 1.2 && strstr(found->text, "wider loads"),
           "sectors of which little is used: channels are last already");
    Prediction *p = begin(TERM_DEPENDENT_LOADS);
    p->launch_us = 20;
    p->latency_us = predict_latency_us(p, 1);
    count = find(findings);
    found = with(findings, count, "launch takes 20.0 us of");
    tap_ok(found && fabs(found->gain - p->latency_us / (p->latency_us - 20)) < 1e-9,
           "a launch that takes long");
    tap_ok(count == 2 && findings[0].gain > findings[1].gain, "the most to gain comes first");
}

/* Another kernel is a finding where it is right, has code, and is faster. */
static void test_faster_kernel(void) {
    Finding findings[FINDINGS_MAX];
    begin(TERM_DEPENDENT_LOADS);
    model.kernel_count = 2;
    model.kernels[1] = model.kernels[0];
    model.kernels[1].kernel = &quick;
    model.kernels[1].title = quick.title;
    model.kernels[1].predicted[0].latency_us = 20;
    int count = find(findings);
    tap_ok(count == 2 && strstr(findings[1].text, "Quick takes 20.0 us here") &&
               strstr(findings[0].text, "latency-bound"),
           "the limit comes before another kernel: %s", findings[1].text);
    BevKernel wrong = quick;
    wrong.wrong_on_purpose = true;
    model.kernels[1].kernel = &wrong;
    tap_ok(find(findings) == 1, "a kernel that is wrong is no advice");
    /* of which something can be said */
    model.kernels[1].predicted[0] = model.kernels[0].predicted[0];
    bool none = findings_of(&model, &wrong, 0, NULL, &lengths, findings) == 0;
    wrong.wrong_on_purpose = false;
    tap_ok(none && findings_of(&model, &wrong, 0, NULL, &lengths, findings) > 0,
           "nor does it get any");
    tap_ok(findings_of(&model, &quick, 0, NULL, &lengths, findings) == 0,
           "a kernel that was not replayed has no findings");
}

/* A kernel without intervals is not told to cut one. */
static void test_tiles(void) {
    Finding findings[FINDINGS_MAX];
    begin(TERM_DEPENDENT_LOADS);
    model.kernels[0].kernel = &quick;
    int count = findings_of(&model, &quick, 0, NULL, &lengths, findings);
    tap_ok(count == 1 && strstr(findings[0].text, "fewer steps in turn") &&
               !strstr(findings[0].evidence, "interval"),
           "tiles: %s", findings[0].text);
}

TAP_SUITE(findings) {
    test_each_term();
    test_balanced();
    test_other_rules();
    test_faster_kernel();
    test_tiles();
}
