/* SPDX-License-Identifier: MIT */
/* A state and figures for tests of the display: made up, always the same, and independent of which
 * kernels this build has. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_DTYPES = (1u << BEV_DTYPE_COUNT) - 1, ALL_ALIGNS = (1u << BEV_ALIGN_COUNT) - 1 };

#define KERNEL(stem, label, same, wrong)                                                           \
    {                                                                                              \
        .name = stem, .title = label, .idea = "What the lesson of this kernel is, in a sentence.", \
        .where = BEV_CUDA, .dtypes = ALL_DTYPES, .aligns = ALL_ALIGNS, .deterministic = same,      \
        .wrong_on_purpose = wrong                                                                  \
    }

static const BevKernel fixture_kernels[] = {
    KERNEL("race", "race", false, true),
    KERNEL("atomic", "atomic", false, false),
    KERNEL("block_atomic", "block atomic", false, false),
    KERNEL("v2_chw", "V2 NCHW", true, false),
    KERNEL("v2", "V2", true, false),
    KERNEL("v2_do", "V2+DO", true, false),
    KERNEL("v3_small_l2", "V3 small L2", true, false),
    KERNEL("v3", "V3", true, false),
    KERNEL("v4", "V4", true, false),
};
enum { FIXTURE_KERNELS = sizeof fixture_kernels / sizeof *fixture_kernels, FIXTURE_V2 = 4 };

static const char *const fixture_scenes[] = {"small",   "canonical",    "large",  "xlarge",
                                             "highway", "intersection", "parking"};

static inline StateMenu fixture_menu(void) {
    StateMenu menu = {.scenes = {fixture_scenes, 7}, .preset_count = 4, .where = 3};
    bev_picture_menus(&menu);
    return menu;
}

static inline SceneFacts fixture_scene(void) {
    return (SceneFacts){
        .name = "canonical",
        .title = "An intersection",
        .nx = 200,
        .ny = 200,
        .channels = 80,
        .has_rig = true,
        .has_world = true,
        .aligns = ALL_ALIGNS,
        .camera_count = 6,
        .cameras = {"front-left", "front", "front-right", "back-left", "back", "back-right"},
        .grid = {-54, 54, -54, 54, -10, 10, 200, 200}};
}

static inline State fixture_state(int columns, int rows) {
    StateMenu menu = fixture_menu();
    State state;
    state_init(&state, &menu, 1);
    SceneFacts scene = fixture_scene();
    state.job.config = (KernelConfig){&fixture_kernels[FIXTURE_KERNELS - 1], BEV_FP16, BEV_NEAREST};
    state.job.baseline = (KernelConfig){&fixture_kernels[FIXTURE_V2], BEV_FP16, BEV_NEAREST};
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &scene});
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = columns, .rows = rows});
    state.job.baseline_pinned = true;
    state.job.time_s = 3.2;
    return state;
}

static inline void fixture_live_kernels(LiveData *live) {
    static const double medians_us[] = {41.2, 118.4, 86.1, 132.5, 36.9, 77.0, 63.4, 58.8, 11.04};
    live->kernel_count = FIXTURE_KERNELS;
    for (int i = 0; i < FIXTURE_KERNELS; i++) {
        LiveKernel *row = &live->kernels[i];
        double us = medians_us[i];
        row->kernel = &fixture_kernels[i];
        row->median_us = reading(us, SOURCE_MEASURED);
        row->p95_us = reading(us * 1.03, SOURCE_MEASURED);
        row->p99_us = reading(us * 1.09, SOURCE_MEASURED);
        row->effective_gb_s = reading(45e3 / us, SOURCE_MEASURED);
        row->registers = reading(32 + 4 * i, SOURCE_MEASURED);
        row->occupancy = reading(1 - 0.0625 * i, SOURCE_MEASURED);
    }
    live->kernels[2].median_us.stale = true;
    live->kernels[3].median_us = reading(132.5, SOURCE_RECORDED);
    live->kernels[3].p95_us = live->kernels[3].p99_us = (Reading){0};
    live->kernels[6].unsettled = true;
    live->kernels[0] =
        (LiveKernel){.kernel = &fixture_kernels[0], .skipped = "not run: wrong on purpose"};
    live->baseline = live->kernels[4];
    live->speedup = (LiveSpeedup){reading(3.34, SOURCE_MEASURED), 3.30, 3.41, 7, false, "", ""};
}

static inline void fixture_accuracy(LiveData *live) {
    static const double max_abs[BEV_DTYPE_COUNT] = {3.8e-7, 4.9e-4, 3.7e-3, 2.1e-2,
                                                    0,      5.1e-2, 1.9e-2};
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        if (max_abs[i] > 0) /* NVFP4 is not checked yet */
            live->accuracy[i] =
                (LiveAccuracy){.source = SOURCE_MEASURED,
                               .gate_a = LIVE_PASS,
                               .gate_b = LIVE_PASS,
                               .gate_c = LIVE_PASS,
                               .atol_1e2 = max_abs[i] <= 1e-2 ? LIVE_PASS : LIVE_FAIL,
                               .max_abs = max_abs[i],
                               .largest = 6.2,
                               .rel_l2 = max_abs[i] / 3,
                               .rel_l2_limit = 0.08,
                               .cosine = 1 - max_abs[i] * max_abs[i],
                               .worst_cell = 100 * 200 + 104,};
}

static inline void fixture_intervals(MapIntervals *intervals) {
    static const int64_t counts[] = {600, 1200, 2900, 6900, 3500, 640, 150, 34, 4};
    static const int64_t points[] = {600, 3000, 16200, 77319, 69500, 26000, 11200, 4100, 1100};
    *intervals = (MapIntervals){.known = true,
                                .stats = {209019, 15928, 40000, 12, 20, 64, 352, 100 * 200 + 104}};
    for (int i = 0; i < 9; i++) {
        intervals->intervals[i] = counts[i];
        intervals->points[i] = points[i];
    }
}

/* Curves that fall, the later kernels sooner; the last is latency-bound, as V4 is not. */
static inline void fixture_kernel(MemoryModel *model, PredictedKernel *predicted, int place,
                                  const BevKernel *kernel) {
    *predicted = (PredictedKernel){
        .kernel = kernel,
        .name = kernel->name,
        .title = kernel->title,
        .requested = {.feat = 33.4e6, .depth = 4.2e6, .index = 27e6, .out_write = 9e6},
        .rank_bytes = 25.1e6,
        .sectors_per_request = 11.5,
        .l2_sectors = 1e6 * (9 - place)};
    predicted->profile = (Profile){.kernel = kernel, .tile = 8, .dtype = BEV_FP16};
    predicted->profile.counts = (TraceCounts){.form = &bev_kernel_find("v2")->access,
                                              .l2_reads = 8e5,
                                              .l2_sectors = 1e6,
                                              .busy_steps = 1e5,
                                              .longest = 350 - 10 * place,
                                              .slowest = 350 - 10 * place,
                                              .indices = {50, 25},
                                              .values = {100, 25}};
    for (int gpu = 0; gpu < model->gpu_count; gpu++) {
        predicted->own_l2[gpu] = (L2Answer){.hit_rate = 0.9 + 0.01 * place, .misses = 1e5};
        predicted->predicted[gpu] = (Prediction){
            .hit_rate = 0.9 + 0.01 * place,
            .term_us = {4, 7.5, 6, 20.0 - place},
            .limiter = TERM_DEPENDENT_LOADS,
            .latency_us = 24.0 - place + gpu,
        };
    }
    for (int i = 0; i < 2 * MODEL_L2S; i++)
        predicted->what_if_l2[i / MODEL_L2S][i % MODEL_L2S] =
            (L2Answer){.hit_rate = 0.9 + 0.01 * place, .misses = 1e6 / (1 + i % MODEL_L2S)};
}

/* Two launches in each way; in a graph a quarter of the time each, and a quarter between them. */
static inline void fixture_timeline(Timelines *all) {
    Timeline *t = &all->list[0];
    all->count = 1;
    *t = (Timeline){.label = "NVIDIA H200, driver 1, CUDA 13.0, 2026-11-20",
                    .scene = "canonical",
                    .kernel = "v4",
                    .dtype = "fp16",
                    .align = "nearest",
                    .launches = 2,
                    .kernel_us = 10};
    for (int way = 0; way < TIMELINE_WAYS; way++)
        t->runs[way] = (TimelineRun){
            .calls_us = 3,
            .end_us = way == TIMELINE_GRAPH ? 40 : 100 - 10 * way,
            .count = {[LANE_HOST] = 1, [LANE_COPY] = way >= TIMELINE_COPIES, [LANE_KERNEL] = 2},
            .spans = {
                {{0, 3}}, {{1, 20}}, {{0, 10}, {20, way == TIMELINE_GRAPH ? 40 : 100 - 10 * way}}}};
}

/* Of the state's problem; V3 and its formats included. */
static inline const MemoryModel *fixture_model(void) {
    static MemoryModel model;
    if (model.gpu_count)
        return &model; /* as it was made the first time */
    model = (MemoryModel){
        .dtype = BEV_FP16,
        .channels = 80,
        .points = 209019,
        .footprint = {.feat = 0.676e6, .depth = 0.498e6, .index = 2.636e6, .out = 6.4e6},
        .gather = {.feat = 33.44e6, .depth = 0.418e6, .index = 2.508e6},
        .gpu_count = gpu_count,
        .kernel_count = FIXTURE_KERNELS};
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        model.gpus[gpu] = gpus[gpu];
        model.ceilings[gpu] = (ModelCeilings){700, 3600, 38700, 0, SOURCE_MODEL};
    }
    for (int i = 0; i < FIXTURE_KERNELS; i++)
        fixture_kernel(&model, &model.kernels[i], i, &fixture_kernels[i]);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        ModelFormat *format = &model.formats[dtype];
        *format = (ModelFormat){.workload = {.dtype = (BevDtype)dtype,
                                             .channels = 80,
                                             .points = 209019,
                                             .longest = 352,
                                             .footprint_bytes = 17e6 / (dtype + 1)}};
        fixture_kernel(&model, &format->small_l2, 6, &fixture_kernels[6]);
        fixture_kernel(&model, &format->large_l2, 7, &fixture_kernels[7]);
        if (dtype != BEV_NVFP4)
            fixture_kernel(&model, &format->other, 8, &fixture_kernels[FIXTURE_KERNELS - 1]);
    }
    model.networks =
        (Networks){2,
                   {{"A network", "RTX A4000", "v2", "a paper", 100, {0, 9.1, 0.2, 4, 0.6}},
                    {"Another one", "AGX Orin", "v2_do", "an issue", 50, {20, 13, 1.6, 10, 10}}}};
    fixture_timeline(&model.timelines);
    return &model;
}

static inline LiveData fixture_live(const State *state) {
    LiveData live;
    live_init(&live);
    live.serial = state->job.serial;
    live.job = state->job;
    live.timed = true;
    live.fps = reading(62, SOURCE_MEASURED);
    live.device = (LiveDevice){.name = "NVIDIA H200",
                               .driver = "580.159",
                               .cuda = "13.0",
                               .where = BEV_CUDA,
                               .clock_mhz = reading(1980, SOURCE_MEASURED),
                               .memory_clock_mhz = reading(2619, SOURCE_MEASURED),
                               .memory_bytes = reading(140.4 * (1 << 30), SOURCE_MEASURED),
                               .temperature_c = reading(41, SOURCE_MEASURED),
                               .power_w = reading(132, SOURCE_MEASURED),
                               .power_limit_w = reading(700, SOURCE_MEASURED),
                               .throttle = "none",
                               .l2_bytes = reading(60 << 20, SOURCE_MEASURED),
                               .ceiling_gb_s = reading(4300, SOURCE_MEASURED)};
    live.memory = (LiveMemory){
        .known = true,
        .footprint = {.feat = 0.676e6, .depth = 0.498e6, .index = 2.636e6, .out = 6.4e6},
        .gather = {.feat = 33.44e6, .depth = 0.418e6, .index = 2.508e6, .out_write = 12.8e6}};
    fixture_live_kernels(&live);
    fixture_accuracy(&live);
    fixture_intervals(&live.intervals);
    static const double stages_us[STAGE_COUNT] = {5200, 0, 410, 96, 11.04, 1890, 2300};
    for (int i = 0; i < STAGE_COUNT; i++)
        if (stages_us[i] > 0)
            live.stages_us[i] = reading(stages_us[i], SOURCE_MEASURED);
    return live;
}

/* Two streets that cross, as anybody can check with their eyes. */
static inline bool fixture_picture(BevPicture *picture, Err *err) {
    *picture = (BevPicture){.ready = true, .view = VIEW_COLOR};
    if (!image_init(&picture->image, 200, 200, err))
        return false;
    for (int y = 0; y < 200; y++)
        for (int x = 0; x < 200; x++) {
            bool road = abs(x - 100) < 14 || abs(y - 100) < 14;
            bool line = (abs(x - 100) < 1 && y / 6 % 2) || (abs(y - 100) < 1 && x / 6 % 2);
            bool car = abs(x - 107) < 4 && abs(y - 60) < 8;
            double far = hypot(x - 100, y - 100) / 140;
            Rgb color = car    ? (Rgb){220, 60, 60}
                        : line ? (Rgb){240, 240, 220}
                        : road ? (Rgb){110, 112, 118}
                               : (Rgb){52, 104, 60};
            image_set(&picture->image, x, y, rgb_mix(color, (Rgb){20, 23, 28}, far));
        }
    return true;
}
