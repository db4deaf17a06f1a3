/* SPDX-License-Identifier: MIT */
/* What limits a kernel by the memory model: with invented models, in which each term is the longest
 * in turn; by tests/cachesim/scripts/findings.terms. */
#include "src/cachesim/findings.h"
#include "tests/support/golden.h"

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
    p->latency_us = predict_latency_us(p);
    return p;
}

static int find(Finding findings[FINDINGS_MAX]) {
    return findings_of(&model, &slow_bev, 0, NULL, &lengths, findings);
}

/* Changes the kernel by the words of a line, each with a number: "l2 41 launch 20". */
static void change(char *words) {
    PredictedKernel *kernel = &model.kernels[0];
    Prediction *p = &kernel->predicted[0];
    const struct {
        const char *word;
        double *value;
    } values[] = {{"l2", &p->term_us[TERM_L2]},   {"instructions", &p->instructions_us},
                  {"read", &p->dram_read_bytes},  {"launch", &p->launch_us},
                  {"ranks", &kernel->rank_bytes}, {"index", &kernel->requested.index},
                  {"used", &kernel->sector_use}};
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        const double number = atof(strtok(NULL, " "));
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            if (!strcmp(word, values[i].word))
                *values[i].value = number;
    }
    p->latency_us = predict_latency_us(p);
}

static void nothing(void) {}

/* The findings of a kernel whose longest term the line begins with, after its changes. */
static void play(const char *line, FILE *text) {
    static const char *const terms[TERM_COUNT] = {[TERM_DRAM] = "dram",
                                                  [TERM_L2] = "l2",
                                                  [TERM_ISSUE] = "issue",
                                                  [TERM_DEPENDENT_LOADS] = "loads"};
    char words[200];
    int limiter = 0;
    snprintf(words, sizeof words, "%s ", line);
    char *rest = strchr(words, ' ');
    *rest = '\0';
    while (limiter < TERM_COUNT - 1 && strcmp(words, terms[limiter]) != 0)
        limiter++;
    begin((LatencyTerm)limiter);
    change(rest + 1);
    Finding findings[FINDINGS_MAX];
    int count = find(findings);
    for (int i = 0; i < count; i++)
        fprintf(text, "    %.3f times: %s\n    %s; lesson %s\n", findings[i].gain, findings[i].text,
                findings[i].evidence, findings[i].lesson);
    if (count == 0)
        fputs("    nothing\n", text);
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

TAP_SUITE(findings_scripts) {
    check_scripts("cachesim", "terms", nothing, play);
    test_faster_kernel();
    test_tiles();
}
