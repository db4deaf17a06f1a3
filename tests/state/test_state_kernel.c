/* SPDX-License-Identifier: MIT */
/* What is pooled, and with what: kernels, formats, aligns, directions, scenes, injected bugs,
 * GPUs and their counters, each by its control. */
#include "kernels/injected_bugs.h"
#include "src/base/kernel_config.h"
#include "src/base/units.h"
#include "src/cachesim/gpus.h"
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"

#include <math.h>

/* A GPU of one's own: every figure within its bounds, 0 for the GPU's own. */
static void test_gpu_figures(void) {
    use("gpu a6000; l2 24; bandwidth 300");
    Gpu gpu = state_gpu(&state);
    tap_ok(gpu.l2_bytes == 24 << 20 && gpu.dram_gb_s == 300 && gpu.sms == 84 &&
               says("what if: RTX A6000 with 24 MiB of L2, 300 GB/s (model only)"),
           "its L2 and its bandwidth by value");
    use("sms 42; clock 1.5");
    gpu = state_gpu(&state);
    tap_ok(gpu.sms == 42 && fabs(gpu_clock_ghz(&gpu) - 1.5) < 1e-9, "multiprocessors and clock");
    static const char *const refused[] = {"l2 257", "l2 -1", "bandwidth 1e7", "sms 1e5",
                                          "clock 99"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        GpuEdit before = state.edit;
        use("%s", refused[i]);
        tap_ok(!memcmp(&before, &state.edit, sizeof before) && strstr(said(), "is not from"),
               "refused: %s", said());
    }
    after("l2 4; gpu a6000", state.edit.l2_mib == 0 && !strcmp(gpus[state.gpu].name, "a6000"),
          "another GPU has its own figures");
}

STATE_SUITE(state_kernel_selection) {
    after("kernel v2", !strcmp(job->config.kernel->name, "cpu_v2"),
          "a kernel is found without its backend's name");
    use("kernel v2");
    uint64_t serial = job->serial;
    unsigned bits = use("kernel");
    tap_ok(bits == (STEP_REDRAW | STEP_RUN | STEP_CHANGE) && job->serial == serial + 1,
           "another kernel is another job");
    tap_ok(!strcmp(job->config.kernel->name, "cpu_v2_do"), "the next one is the next kernel");
    after("kernel -", !strcmp(job->config.kernel->name, "cpu_v2"), "and back");
    after("kernel v2_bevdet; kernel", !strcmp(job->config.kernel->name, "cpu_v2_do"),
          "from a kernel beside the ladder to the rung behind it");
    after("kernel v2_bevdet; kernel -; kernel -; kernel", job->config.kernel == bev_kernels[3],
          "or to the one before it, and round");
    tap_ok(use("kernel v9") == STEP_REDRAW && says("kernel: there is no \"v9\" for the CPU"),
           "an unknown kernel changes nothing and says so");
    tap_ok(use("dtype fp9") == STEP_REDRAW && job->config.dtype != BEV_FP8,
           "an unknown format changes nothing");
    tap_ok(use("backend cuda") == STEP_REDRAW && strstr(said(), "no CUDA device"),
           "a backend that is not there");
    after("config", job->scene == 0, "configs go round");
    after("scene", job->scene == 2, "from a config, the first scene that is none");
    test_gpu_figures();
}

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
    kernel_config_label(&config, text, sizeof text);
    tap_ok(!strcmp(text, "Coarse FP8 bev-align"), "a selection's name");
    text[0] = '\0';
    kernel_config_make_valid(&config, 1u << BEV_NEAREST, text, sizeof text);
    tap_ok(config.kernel == bev_default(BEV_CPU, BEV_FORWARD) && config.align == BEV_NEAREST &&
               !strncmp(text, "; Coarse has no align of this scene: ", 37),
           "a kernel without an align of the scene gives way to the default: %s", text);
}

/* From a kernel of one direction to one of the other; what does not go with it is said. */
STATE_SUITE(state_kernel_direction) {
    use("dtype fp8; baseline on; compare wipe");
    unsigned bits = use("direction backward");
    const KernelConfig *config = &job->config;
    tap_ok(bits & STEP_RUN && config->kernel->direction == BEV_BACKWARD &&
               config->kernel->dtypes >> config->dtype & 1 && config->dtype != BEV_FP8,
           "backward, in a format that gradients have: %s", said());
    tap_ok(strstr(said(), "no FP8") && strstr(said(), "baseline let go; comparison off"),
           "the log says what changed with it");
    tap_ok(!job->baseline_pinned && !job->pool_baseline && state.compare == COMPARE_OFF &&
               job->baseline.kernel->direction == BEV_BACKWARD,
           "the baseline goes backward, too");
    after("compare wipe", state.compare == COMPARE_OFF && strstr(said(), ":direction goes forward"),
          "gradients are not compared as pictures");
    after("kernel v2_chw", strstr(said(), "no \"v2_chw\" backward"),
          "names are those of the direction");
    after("direction sideways", says("direction: there is no \"sideways\""),
          "another direction there is not");
    after("kernel REF; direction", !strcmp(config->kernel->name, "reference"),
          "forward again: the kernel of that title");
    BevKernel other = *bev_kernel_find("grad_reference");
    other.title = "Other";
    tap_ok(kernel_in_direction(&other, BEV_FORWARD) == bev_default(BEV_CPU, BEV_FORWARD),
           "or else the default");
    tap_ok(runs("loss box") && job->loss == LOSS_BOX, "a loss waits for backward");
    repeat(LOSS_ALL - LOSS_BOX + 1, "loss");
    tap_ok(job->loss == LOSS_CELL && use("loss none") == STEP_REDRAW && job->loss == LOSS_CELL,
           "its kinds go round, and others there are not");
    after("direction backward; bug 1",
          config->kernel->direction == BEV_BACKWARD &&
              job->baseline.kernel->direction == BEV_BACKWARD,
          "an injected bug is one of the direction");
    use("direction forward");
}

STATE_SUITE(state_kernel_bugs) {
    tap_ok(runs("bug 3") && injected_bug_of(job->config.kernel) == &injected_bugs[2] &&
               says("bug 3 injected into a correct pooling: find it"),
           "a bug by number");
    after("bug transposed", !strcmp(job->config.kernel->title, "BUG 4"),
          "by name; the title hides it");
    tap_ok(use("bug 99") == STEP_REDRAW && strstr(said(), "none, or 1 to 16") &&
               injected_bug_of(job->config.kernel) == &injected_bugs[3],
           "one that is not there changes nothing: %s", said());
    after("baseline on", !job->baseline_pinned, "a bug is no baseline");
    state.menu.where = 1u << BEV_CUDA;
    tap_ok(state_where(&state) == BEV_CUDA, "where only a GPU is used, its kernels stay listed");
    state.menu.where = 1u << BEV_CPU;
    tap_ok(state_where(&state) == BEV_CPU, "else the bug's own backend");
    use("bug none");
    after("bug -", injected_bug_of(job->config.kernel) == &injected_bugs[injected_bug_count - 1],
          "steps go round");
    use("kernel v3; bug 2"), use("bug 5");
    after("bug none", !strcmp(job->config.kernel->title, "V3"),
          "without a bug the kernel of before is back: %s", said());
    after("direction backward",
          runs("bug wrong-sign") && job->config.kernel->direction == BEV_BACKWARD &&
              strstr(said(), "injected into correct gradients: find it"),
          "backward, bugs of gradients: %s", said());
    after("bug none", job->config.kernel == bev_default(BEV_CPU, BEV_BACKWARD), "none: %s", said());
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
