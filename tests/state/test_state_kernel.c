/* What is pooled, and with what: kernels, formats, aligns, directions, scenes, planted defects,
 * GPUs and their counters, each by its control. */
#include "kernels/defects.h"
#include "src/base/kernel_config.h"
#include "src/base/units.h"
#include "src/cachesim/gpus.h"
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"
#include "tests/support/tap.h"

#include <math.h>

/* A GPU of one's own: every figure within its bounds, 0 for the GPU's own. */
static void test_gpu_figures(State *state) {
    use(state, "gpu a6000 l2=24 bandwidth=300");
    Gpu gpu = state_gpu(state);
    tap_ok(gpu.l2_bytes == 24 << 20 && gpu.dram_gbps == 300 && gpu.sms == 84 &&
               says(state,
                    "what if: RTX A6000 with 24 MiB of L2, 300 GB/s (model only: the ladder is of "
                    "this machine)"),
           "its L2 and its bandwidth by value");
    use(state, "gpu sms=42; gpu clock=1.5");
    gpu = state_gpu(state);
    tap_ok(gpu.sms == 42 && fabs(gpu_clock_ghz(&gpu) - 1.5) < 1e-9, "multiprocessors and clock");
    use(state, "gpu clock=0");
    gpu = state_gpu(state);
    tap_ok(fabs(gpu_clock_ghz(&gpu) - gpu_clock_ghz(&gpus[state->gpu])) < 1e-9,
           "0 is its own, whatever else is changed");
    static const char *const refused[] = {"gpu l2=257",  "gpu l2=-1",     "gpu bandwidth=0.5",
                                          "gpu sms=1e5", "gpu sms=1.5",   "gpu clock=99",
                                          "gpu l2=",     "gpu l2=4 sms=x"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        GpuEdit before = state->edit;
        use(state, "%s", refused[i]);
        tap_ok(!memcmp(&before, &state->edit, sizeof before) && strstr(said(state), "is not a"),
               "refused: %s", said(state));
    }
    after(state, "gpu cache=4",
          says(state, "gpu: there is no \"cache\": l2, bandwidth, sms, clock"),
          "a figure that there is not");
    after(state, "gpu h200", !gpu_edit_any(&state->edit), "another GPU is as it is");
    after(state, "gpu l2=4 a6000 sms=10",
          state->edit.l2_mib == 0 && state->edit.sms == 10 &&
              !strcmp(gpus[state->gpu].name, "a6000"),
          "a GPU and its figures in one line, in their order");
}

TAP_SUITE(state_kernel_selection) {
    State state = make_state();
    after(&state, "kernel v2", !strcmp(state.job.config.kernel->name, "cpu_v2"),
          "a kernel is found without its backend's name");
    after(&state, "kernel V4", !strcmp(state.job.config.kernel->name, "cpu_v4"),
          "the CPU has all kernels, V4 too");
    use(&state, "kernel v2");
    uint64_t serial = state.job.serial;
    unsigned bits = use(&state, "kernel");
    tap_ok(bits == (STEP_REDRAW | STEP_RUN) && state.job.serial == serial + 1,
           "another kernel is another job");
    tap_ok(!strcmp(state.job.config.kernel->name, "cpu_v2_do"), "the next one is the next kernel");
    after(&state, "kernel -", !strcmp(state.job.config.kernel->name, "cpu_v2"), "and back");
    tap_ok(use(&state, "kernel v9") == STEP_REDRAW &&
               says(&state, "kernel: there is no \"v9\" for the CPU"),
           "an unknown kernel changes nothing and says so");
    tap_ok(use(&state, "kernel-row 2") & STEP_RUN || state.job.config.kernel == bev_kernels[1],
           "kernels by their row");
    after(&state, "kernel-row 99", strstr(said(&state), "kernel 99: this backend has") != NULL,
          "a kernel too far");
    after(&state, "dtype fp8", state.job.config.dtype == BEV_FP8, "a format by name");
    tap_ok(use(&state, "dtype fp9") == STEP_REDRAW && state.job.config.dtype == BEV_FP8,
           "an unknown format changes nothing");
    after(&state, "align bilinear",
          state.job.config.align == BEV_BILINEAR && says(&state, bev_aligns[BEV_BILINEAR].title),
          "an align by name");
    tap_ok(use(&state, "backend cuda") == STEP_REDRAW && strstr(said(&state), "no CUDA device"),
           "a backend that is not there");
    after(&state, "config", state.job.scene == 0, "configs go round");
    after(&state, "scene", state.job.scene == 2, "from a config, the first scene that is none");
    after(&state, "scene canonical", state.job.scene == 1, "any scene by name");
    after(&state, "gpu h200",
          !strcmp(gpus[state.gpu].name, "h200") &&
              says(&state, "what if: H200, L2 of 60 MiB (model only: the ladder is of this "
                           "machine)"),
          "a GPU of the facts table");
    test_gpu_figures(&state);
}

TAP_SUITE(state_kernel_settling) {
    static const BevKernel narrow = {.name = "narrow",
                                     .title = "Narrow",
                                     .where = BEV_CPU,
                                     .dtypes = 1u << BEV_FP16 | 1u << BEV_FP32,
                                     .aligns = 1u << BEV_NEAREST};
    State state = make_state();
    state.job.config = (KernelConfig){&narrow, BEV_FP16, BEV_NEAREST};
    after(&state, "dtype", state.job.config.dtype == BEV_FP32,
          "stepping passes over formats it does not take");
    after(&state, "dtype nvfp4", says(&state, "Narrow does not take NVFP4: still FP32"),
          "asked by name, it says so");
    after(&state, "align bilinear",
          says(&state, "Narrow on this scene does not take bilinear: still nearest"),
          "the same for aligns");
    state = make_state();
    use(&state, "align bilinear");
    SceneFacts fixed = make_scene();
    fixed.aligns = 1u << BEV_NEAREST;
    unsigned bits = state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &fixed});
    tap_ok(bits & STEP_RUN && state.job.config.align == BEV_NEAREST &&
               strstr(said(&state), "this scene has no"),
           "a scene with one map takes the align along, aloud");
    state.job.baseline.align = BEV_LATTICE; /* pinned at another scene */
    state.job.baseline_pinned = true;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &fixed});
    tap_ok(state.job.baseline.align == BEV_NEAREST, "and that of a pinned baseline");
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
    tap_ok(!strcmp(text, "Coarse FP8 lattice"), "a selection's name");
    text[0] = '\0';
    kernel_config_make_valid(&config, 1u << BEV_NEAREST, text, sizeof text);
    tap_ok(config.kernel == bev_default(BEV_CPU, BEV_FORWARD) && config.align == BEV_NEAREST &&
               !strncmp(text, "; Coarse has no align of this scene: ", 37),
           "a kernel without an align of the scene gives way to the default: %s", text);
}

/* From a kernel of one direction to one of the other; what does not go with it is said. */
TAP_SUITE(state_kernel_direction) {
    State state = make_state();
    use(&state, "dtype fp8; baseline on; compare wipe");
    unsigned bits = use(&state, "direction backward");
    const KernelConfig *config = &state.job.config;
    tap_ok(bits & STEP_RUN && config->kernel->direction == BEV_BACKWARD &&
               config->kernel->dtypes >> config->dtype & 1 && config->dtype != BEV_FP8,
           "the way back, in a format that gradients have: %s", said(&state));
    tap_ok(strstr(said(&state), "no FP8") &&
               strstr(said(&state), "baseline let go; comparison off"),
           "the log says what changed with it");
    tap_ok(!state.job.baseline_pinned && !state.job.pool_baseline && state.compare == COMPARE_OFF &&
               state.job.baseline.kernel->direction == BEV_BACKWARD,
           "the baseline goes backward, too");
    after(&state, "compare wipe",
          state.compare == COMPARE_OFF && strstr(said(&state), ":direction goes forward"),
          "gradients are not compared as pictures");
    after(&state, "kernel-row 1",
          config->kernel->direction == BEV_BACKWARD && use(&state, "kernel v2_chw") &&
              strstr(said(&state), "no \"v2_chw\" backward"),
          "rows and names are those of the direction");
    after(&state, "direction sideways",
          says(&state, "direction: there is no \"sideways\": forward or backward"),
          "another direction there is not");
    after(&state, "kernel REF; direction", !strcmp(config->kernel->name, "reference"),
          "forward again: the kernel of that title");
    BevKernel other = *bev_kernel_find("grad_reference");
    other.title = "Other";
    tap_ok(kernel_in_direction(&other, BEV_FORWARD) == bev_default(BEV_CPU, BEV_FORWARD),
           "or else the default");
    tap_ok(use(&state, "loss box") & STEP_RUN && state.job.loss == LOSS_BOX &&
               strstr(said(&state), "seen backward, :direction"),
           "a loss waits for the way back: %s", said(&state));
    for (int i = LOSS_BOX; i <= LOSS_ALL; i++)
        use(&state, "loss");
    tap_ok(state.job.loss == LOSS_CELL && use(&state, "loss none") == STEP_REDRAW &&
               state.job.loss == LOSS_CELL,
           "its kinds go round, and others there are not");
    after(&state, "direction backward; defect 1",
          config->kernel->direction == BEV_BACKWARD &&
              state.job.baseline.kernel->direction == BEV_BACKWARD,
          "a planted defect is one of the direction");
    use(&state, "direction forward");
}

/* A planted defect takes the place of the kernel; the log does not give away what is wrong. */
TAP_SUITE(state_kernel_defects) {
    State state = make_state();
    char value[32];
    tap_ok(use(&state, "defect 3") & STEP_RUN &&
               defect_of(state.job.config.kernel) == &defects[2] &&
               says(&state, "defect 3 planted in a right pooling: find it"),
           "a defect by number");
    state_value(&state, ACTION_DEFECT, value, sizeof value);
    tap_ok(!strcmp(value, "3"), "its number is the control's value: %s", value);
    after(&state, "defect transposed", !strcmp(state.job.config.kernel->title, "DEFECT 4"),
          "by name; the title hides it");
    tap_ok(use(&state, "defect 99") == STEP_REDRAW && strstr(said(&state), "none, or 1 to 16") &&
               defect_of(state.job.config.kernel) == &defects[3],
           "one that is not there changes nothing: %s", said(&state));
    after(&state, "baseline on", !state.job.baseline_pinned, "a defect is no baseline");
    after(&state, "defect none", state.job.config.kernel == bev_default(BEV_CPU, BEV_FORWARD),
          "none is the default kernel");
    after(&state, "defect -", defect_of(state.job.config.kernel) == &defects[defect_count - 1],
          "steps go round");
    after(&state, "kernel v3", !defect_of(state.job.config.kernel), "another kernel has none");
    use(&state, "defect 2"), use(&state, "defect 5");
    after(&state, "defect none", !strcmp(state.job.config.kernel->title, "V3"),
          "without a defect the kernel of before is back: %s", said(&state));
    use(&state, "defect 1");
    after(&state, "kernel v2", !defect_of(state.job.config.kernel), "another kernel has none");
    after(&state, "direction backward",
          use(&state, "defect wrong-sign") & STEP_RUN &&
              state.job.config.kernel->direction == BEV_BACKWARD &&
              strstr(said(&state), "planted in right gradients: find it"),
          "backward, defects of gradients: %s", said(&state));
    after(&state, "defect no-weights", state.job.config.align == BEV_BILINEAR,
          "one that only weights show: %s", said(&state));
    after(&state, "defect none", state.job.config.kernel == bev_default(BEV_CPU, BEV_BACKWARD),
          "none: %s", said(&state));
    bool hidden = true;
    for (int i = 0; i < grad_defect_count; i++)
        hidden = hidden && !bev_kernel_find(grad_defects[i].kernel.name);
    for (int i = 0; i < defect_count; i++)
        hidden = hidden && !bev_kernel_find(defects[i].kernel.name);
    tap_ok(hidden && defect_count >= 10, "%d defects, none of them in the table of kernels",
           defect_count);
}

TAP_SUITE(state_kernel_counters) {
    State state = make_state();
    unsigned bits = use(&state, "counters");
    tap_ok(bits == STEP_REDRAW && state.counts == 0 &&
               says(&state, "counters: only a GPU has them"),
           "the CPU has no counters");
    BevKernel on_gpu = *state.job.config.kernel;
    on_gpu.where = BEV_CUDA;
    state.job.config.kernel = &on_gpu;
    bits = use(&state, "counters");
    tap_ok(bits == (STEP_REDRAW | STEP_LOOK) && state.counts == 1 &&
               strstr(said(&state), "counting a launch of"),
           "a GPU is asked to count");
    LiveCounters counters = {.config = state.job.config,
                             .dram_bytes = 1.5e6,
                             .l2_sectors = NAN,
                             .l1_sectors = 2e6,
                             .issue_percent = 70,
                             .occupancy_percent = 30};
    char text[160];
    tap_ok(!live_counters_line(&counters, &state.job, text, sizeof text), "unknown: no line");
    counters.source = SOURCE_MEASURED;
    tap_ok(live_counters_line(&counters, &state.job, text, sizeof text) &&
               !strcmp(text, "DRAM 1.50 MB, L2 n/a, L1 2.00 M, issue 70.00 %, occupancy 30.00 %"),
           "%s", text);
    after(&state, "dtype", !live_counters_line(&counters, &state.job, text, sizeof text),
          "another format: they are not its counters");
}
