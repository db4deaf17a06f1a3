/* SPDX-License-Identifier: MIT */
/* What is pooled, and with what, where a selection does not go together; counters of a GPU. What
 * each control does: tests/state/scripts. */
#include "kernels/injected_bugs.h"
#include "src/base/kernel_config.h"
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"

#include <math.h>

STATE_SUITE(state_kernel_settling) {
    static const BevKernel narrow = {.name = "narrow",
                                     .title = "Narrow",
                                     .where = BEV_CPU,
                                     .dtypes = 1u << BEV_FP16 | 1u << BEV_FP32,
                                     .aligns = 1u << BEV_NEAREST};
    job->config = (KernelConfig){&narrow, BEV_FP16, BEV_NEAREST};
    after("dtype", job->config.dtype == BEV_FP32, "stepping passes over formats it does not take");
    after("dtype nvfp4", says("Narrow does not take NVFP4: still FP32"),
          "asked by name, it says so");
    make_state();
    use("align bilinear");
    SceneFacts fixed = make_scene();
    fixed.aligns = 1u << BEV_NEAREST;
    unsigned bits = step(EVENT_FRAME, .scene = &fixed);
    tap_ok(bits & STEP_RUN && job->config.align == BEV_NEAREST &&
               strstr(said(), "this scene has no"),
           "a scene with one map takes the align along, aloud");
    job->baseline.align = BEV_LATTICE; /* pinned at another scene */
    job->baseline_pinned = true;
    step(EVENT_FRAME, .scene = &fixed);
    tap_ok(job->baseline.align == BEV_NEAREST, "and that of a pinned baseline");
}

TAP_SUITE(state_kernel_settle_alone) {
    static const BevKernel coarse = {.name = "coarse",
                                     .title = "Coarse",
                                     .dtypes = 1u << BEV_FP8 | 1u << BEV_NVFP4,
                                     .aligns = 1u << BEV_LATTICE};
    KernelConfig config = {&coarse, BEV_FP32, BEV_NEAREST};
    char text[128] = "Coarse";
    kernel_config_make_valid(&config, 7, text, sizeof text);
    tap_ok(config.dtype == BEV_FP8 && config.align == BEV_LATTICE &&
               !strncmp(text, "Coarse; Coarse has no FP32: FP8; Coarse has no ", 47),
           "a kernel that takes neither gets what it takes: %s", text);
    tap_ok(!strcmp(kernel_config_label(&config).text, "Coarse FP8 bev-align"),
           "a selection's name");
    text[0] = '\0';
    kernel_config_make_valid(&config, 1u << BEV_NEAREST, text, sizeof text);
    tap_ok(config.kernel == bev_default(BEV_CPU, BEV_FORWARD) && config.align == BEV_NEAREST &&
               !strncmp(text, "; Coarse has no align of this scene: ", 37),
           "a kernel without an align of the scene gives way to the default: %s", text);
}

TAP_SUITE(state_kernel_direction) {
    BevKernel other = *bev_kernel_find("grad_reference");
    other.title = "Other";
    tap_ok(kernel_in_direction(&other, BEV_FORWARD) == bev_default(BEV_CPU, BEV_FORWARD),
           "a title that the other direction lacks gives way to the default");
}

STATE_SUITE(state_kernel_bugs) {
    use("bug 3");
    state.menu.where = 1u << BEV_CUDA;
    tap_ok(state_where(&state) == BEV_CUDA, "where only a GPU is used, its kernels stay listed");
    state.menu.where = 1u << BEV_CPU;
    tap_ok(state_where(&state) == BEV_CPU, "else the bug's own backend");
    int found = 0;
    for (int i = 0; i < injected_grad_bug_count; i++)
        found += bev_kernel_find(injected_grad_bugs[i].kernel.name) != NULL;
    for (int i = 0; i < injected_bug_count; i++)
        found += bev_kernel_find(injected_bugs[i].kernel.name) != NULL;
    tap_ok(!found && injected_bug_count >= 10, "%d bugs, none of them in the table of kernels",
           injected_bug_count);
}

STATE_SUITE(state_kernel_counters) {
    unsigned bits = use("counters");
    tap_ok(bits == STEP_REDRAW && state.counts == 0 && says("counters: only a GPU has them"),
           "the CPU has no counters");
    BevKernel on_gpu = *job->config.kernel;
    on_gpu.where = BEV_CUDA;
    job->config.kernel = &on_gpu;
    bits = use("counters");
    tap_ok(bits == (STEP_REDRAW | STEP_LOOK) && state.counts == 1 &&
               strstr(said(), "counting a launch of"),
           "a GPU is asked to count");
    LiveCounters counters = {.config = job->config,
                             .dram_bytes = 1.5e6,
                             .l2_sectors = NAN,
                             .l1_sectors = 2e6,
                             .issue_percent = 70,
                             .occupancy_percent = 30};
    char text[160];
    tap_ok(!live_counters_line(&counters, job, text, sizeof text), "unknown: no line");
    counters.source = SOURCE_MEASURED;
    tap_ok(live_counters_line(&counters, job, text, sizeof text) &&
               !strcmp(text, "DRAM 1.50 MB, L2 n/a, L1 2.00 M, issue 70.00 %, occupancy 30.00 %"),
           "%s", text);
    after("dtype", !live_counters_line(&counters, job, text, sizeof text),
          "another format: they are not its counters");
}
