/* The state of the live display: every control, its line in the log, and what must hold after any
 * sequence of events. */
#include "kernels/defects.h"
#include "src/base/kernel_config.h"
#include "src/cachesim/gpus.h"
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "src/state/live_data.h"
#include "src/base/random.h"
#include "src/base/units.h"
#include "tests/tap.h"

#include <math.h>

static const char *const scenes[] = {"small", "canonical", "highway", "samples/my scene.json"};
static const char *const view_names[] = {"color", "norm", "channel", "error"};
static const char *const map_names[] = {"auto", "viridis"};

static StateMenu make_menu(void) {
    return (StateMenu){.scenes = {scenes, 4},
                       .preset_count = 2,
                       .views = {view_names, 4},
                       .error_view = 3,
                       .channel_view = 2,
                       .colormaps = {map_names, 2},
                       .where = 1u << BEV_CPU};
}

static SceneFacts make_scene(void) {
    SceneFacts scene = {.name = "canonical",
                        .nx = 200,
                        .ny = 100,
                        .channels = 80,
                        .has_rig = true,
                        .has_world = true,
                        .aligns = 7,
                        .camera_count = 2,
                        .cameras = {"front", "back"},
                        .grid = {-54, 54, -27, 27, -10, 10, 200, 100}};
    return scene;
}

static State make_state(void) {
    StateMenu menu = make_menu();
    SceneFacts scene = make_scene();
    State state;
    state_init(&state, &menu, 1);
    state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &scene});
    return state;
}

static unsigned use(State *state, const char *line) {
    Event event = {.kind = EVENT_COMMAND};
    char why[200];
    if (!keys_parse(line, &event.command, why, sizeof why)) {
        tap_note("%s", why);
        return 0;
    }
    return state_step(state, &event);
}

static const char *said(const State *state) {
    return state->log.count ? state->log.lines[0].text : "";
}

static bool says(const State *state, const char *text) {
    bool same = !strcmp(said(state), text);
    if (!same)
        tap_note("said '%s', wanted '%s'", said(state), text);
    return same;
}

/* ---- selection ------------------------------------------------------------------------------- */

/* A GPU of one's own: every figure within its bounds, 0 for the GPU's own. */
static void test_gpu_figures(State *state) {
    use(state, "gpu a6000");
    use(state, "l2 24");
    use(state, "bandwidth 300");
    Gpu gpu = state_gpu(state);
    tap_ok(gpu.l2_bytes == 24 << 20 && gpu.dram_gbps == 300 && gpu.sms == 84 &&
               says(state, "what if: RTX A6000 with 24 MiB of L2, 300 GB/s"),
           "its L2 and its bandwidth by value");
    use(state, "sms 42");
    use(state, "clock 1.5");
    gpu = state_gpu(state);
    tap_ok(gpu.sms == 42 && fabs(state_gpu_clock(state) - 1.5) < 1e-9, "multiprocessors and clock");
    use(state, "clock 0");
    tap_ok(fabs(state_gpu_clock(state) - gpu_clock_ghz(&gpus[state->gpu])) < 1e-9,
           "0 is its own, whatever else is changed");
    static const char *const refused[] = {"l2 257", "l2 -1", "bandwidth 0.5", "sms 10001",
                                          "sms 1.5", "clock 99"};
    for (int i = 0; i < 6; i++) {
        GpuEdit before = state->edit;
        use(state, refused[i]);
        tap_ok(!memcmp(&before, &state->edit, sizeof before) && strstr(said(state), "is not a"),
               "refused: %s", said(state));
    }
    use(state, "bandwidth");
    tap_ok(state->edit.dram_gbps == 375, "a step is a quarter");
    use(state, "gpu h200");
    tap_ok(!gpu_edit_any(&state->edit), "another GPU is as it is");
    use(state, "l2");
    use(state, "l2 -");
    tap_ok(!gpu_edit_any(&state->edit), "the steps of L2 lead back to its own");
}

static void test_evenness(void) {
    State state = make_state();
    tap_ok(use(&state, "evenness 0.4") & STEP_RUN && state.job.evenness == 0.4 &&
               says(&state, "evenness 0.40: intervals nearer to their mean length"),
           "intervals can be made more even");
    tap_ok(!(use(&state, "evenness 1.5") & STEP_RUN) && state.job.evenness == 0.4 &&
               says(&state, "evenness: 1.5 is not from 0 to 1: still 0.40"),
           "beyond its ends it says so");
    for (int i = 0; i < 4; i++)
        use(&state, "evenness");
    tap_ok(state.job.evenness == 1, "steps end at 1");
}

/* Depth that follows the gradient: backward, from smeared depth, so many steps; and the way home. */
static void test_training(void) {
    State state = make_state();
    char value[32];
    state.job.temperature = 2;
    state.playing = true;
    uint64_t run = state.job.train_run;
    tap_ok(use(&state, "train") & STEP_RUN && state.job.train_steps == LIVE_TRAIN_STEPS &&
               state.job.temperature == 8 && !state.playing && state.job.train_run == run + 1 &&
               state.job.config.kernel->direction == BEV_BACKWARD,
           "training begins at smeared depth, backward, and the world stands still");
    state_value(&state, ACTION_TRAIN, value, sizeof value);
    tap_ok(!strcmp(value, "on"), "it is on: %s", value);
    state.shown.train_step = 57;
    tap_ok(use(&state, "train") & STEP_RUN && state.job.train_steps == 57 &&
               strstr(said(&state), "stopped at step 57"),
           "the same key stops: %s", said(&state));
    tap_ok(use(&state, "train") & STEP_RUN && state.job.train_steps == LIVE_TRAIN_STEPS &&
               state.job.train_run == run + 1 && strstr(said(&state), "goes on from step 57"),
           "and goes on: %s", said(&state));
    use(&state, "train 20");
    tap_ok(state.job.train_steps == 20 && state.job.train_run == run + 2,
           "fewer steps than were taken begin anew");
    tap_ok(use(&state, "train 0") & STEP_RUN && !state.job.train_steps &&
               state.job.temperature == 2,
           "0 steps: the scene's own depth");
    tap_ok(!(use(&state, "train 0") & STEP_RUN), "which is the last step back");
    use(&state, "train");
    use(&state, "direction forward");
    tap_ok(!state.job.train_steps && strstr(said(&state), "training ends"),
           "forward there is no training: %s", said(&state));
    use(&state, "train");
    tap_ok(use(&state, "play on") & STEP_RUN && !state.job.train_steps,
           "a world that moves ends it: %s", said(&state));
    state.scene.has_world = false;
    tap_ok(!(use(&state, "train") & STEP_RUN) && strstr(said(&state), "no true depth"),
           "tensors of a file are not trained: %s", said(&state));
}

/* A planted defect takes the place of the kernel; the log does not give away what is wrong. */
static void test_defects(void) {
    State state = make_state();
    char value[32];
    tap_ok(use(&state, "defect 3") & STEP_RUN &&
               defect_of(state.job.config.kernel) == &defects[2] &&
               says(&state, "defect 3 planted in a right pooling: find it"),
           "a defect by number");
    state_value(&state, ACTION_DEFECT, value, sizeof value);
    tap_ok(!strcmp(value, "3"), "its number is the control's value: %s", value);
    use(&state, "defect transposed");
    tap_ok(!strcmp(state.job.config.kernel->title, "DEFECT 4"), "by name; the title hides it");
    tap_ok(use(&state, "defect 99") == STEP_REDRAW && strstr(said(&state), "none, or 1 to 16") &&
               defect_of(state.job.config.kernel) == &defects[3],
           "one that is not there changes nothing: %s", said(&state));
    use(&state, "baseline on");
    tap_ok(!state.job.baseline_pinned, "a defect is no baseline");
    use(&state, "defect none");
    tap_ok(state.job.config.kernel == bev_default(BEV_CPU, BEV_FORWARD), "none is the default kernel");
    use(&state, "defect -");
    tap_ok(defect_of(state.job.config.kernel) == &defects[defect_count - 1], "steps go round");
    use(&state, "kernel v2");
    tap_ok(!defect_of(state.job.config.kernel), "another kernel has none");
    use(&state, "direction backward");
    tap_ok(use(&state, "defect wrong-sign") & STEP_RUN &&
               state.job.config.kernel->direction == BEV_BACKWARD &&
               strstr(said(&state), "planted in right gradients: find it"),
           "backward, defects of gradients: %s", said(&state));
    use(&state, "defect no-weights");
    tap_ok(state.job.config.align == BEV_BILINEAR, "one that only weights show: %s", said(&state));
    use(&state, "defect none");
    tap_ok(state.job.config.kernel == bev_default(BEV_CPU, BEV_BACKWARD), "none: %s", said(&state));
    bool hidden = true;
    for (int i = 0; i < grad_defect_count; i++)
        hidden = hidden && !bev_kernel_find(grad_defects[i].kernel.name);
    for (int i = 0; i < defect_count; i++)
        hidden = hidden && !bev_kernel_find(defects[i].kernel.name);
    tap_ok(hidden && defect_count >= 10, "%d defects, none of them in the table of kernels",
           defect_count);
}

/* From a kernel of one direction to one of the other; what does not go with it is said. */
static void test_direction(void) {
    State state = make_state();
    use(&state, "dtype fp8");
    use(&state, "baseline on");
    use(&state, "compare wipe");
    unsigned bits = use(&state, "direction backward");
    const KernelConfig *config = &state.job.config;
    tap_ok(bits & STEP_RUN && config->kernel->direction == BEV_BACKWARD &&
               config->kernel->dtypes >> config->dtype & 1 && config->dtype != BEV_FP8,
           "the way back, in a format that gradients have: %s", said(&state));
    tap_ok(strstr(said(&state), "no FP8") && strstr(said(&state), "baseline let go; comparison off"),
           "the log says what changed with it");
    tap_ok(!state.job.baseline_pinned && !state.job.pool_baseline && state.compare == COMPARE_OFF &&
               state.job.baseline.kernel->direction == BEV_BACKWARD,
           "the baseline goes backward, too");
    use(&state, "compare wipe");
    tap_ok(state.compare == COMPARE_OFF && strstr(said(&state), "PgDn goes forward"),
           "gradients are not compared as pictures");
    use(&state, "kernel-row 1");
    tap_ok(config->kernel->direction == BEV_BACKWARD && use(&state, "kernel v2_chw") &&
               strstr(said(&state), "no \"v2_chw\" backward"),
           "rows and names are those of the direction");
    use(&state, "direction sideways");
    tap_ok(says(&state, "direction: there is no \"sideways\": forward or backward"),
           "another direction there is not");
    use(&state, "kernel REF");
    use(&state, "direction");
    tap_ok(!strcmp(config->kernel->name, "reference"), "forward again: the kernel of that title");
    BevKernel other = *bev_kernel_find("grad_reference");
    other.title = "Other";
    tap_ok(kernel_in_direction(&other, BEV_FORWARD) == bev_default(BEV_CPU, BEV_FORWARD),
           "or else the default");
    tap_ok(use(&state, "loss box") & STEP_RUN && state.job.loss == LOSS_BOX &&
               strstr(said(&state), "seen backward, PgDn"),
           "a loss waits for the way back: %s", said(&state));
    for (int i = LOSS_BOX; i <= LOSS_ALL; i++)
        use(&state, "loss");
    tap_ok(state.job.loss == LOSS_CELL && use(&state, "loss none") == STEP_REDRAW &&
               state.job.loss == LOSS_CELL,
           "its kinds go round, and others there are not");
    use(&state, "direction backward");
    use(&state, "defect 1");
    tap_ok(config->kernel->direction == BEV_BACKWARD &&
               state.job.baseline.kernel->direction == BEV_BACKWARD,
           "a planted defect is one of the direction");
    use(&state, "direction forward");
}

static void test_selection(void) {
    State state = make_state();
    use(&state, "kernel v2");
    tap_ok(!strcmp(state.job.config.kernel->name, "cpu_v2"),
           "a kernel is found without its backend's name");
    use(&state, "kernel V4");
    tap_ok(!strcmp(state.job.config.kernel->name, "cpu_v4"), "the CPU has all kernels, V4 too");
    use(&state, "kernel v2");
    uint64_t serial = state.job.serial;
    unsigned bits = use(&state, "kernel");
    tap_ok(bits == (STEP_REDRAW | STEP_RUN) && state.job.serial == serial + 1,
           "another kernel is another job");
    tap_ok(!strcmp(state.job.config.kernel->name, "cpu_v2_do"), "the next one is the next kernel");
    use(&state, "kernel -");
    tap_ok(!strcmp(state.job.config.kernel->name, "cpu_v2"), "and back");
    tap_ok(use(&state, "kernel v9") == STEP_REDRAW &&
               says(&state, "kernel: there is no \"v9\" for the CPU"),
           "an unknown kernel changes nothing and says so");
    tap_ok(use(&state, "kernel-row 2") & STEP_RUN || state.job.config.kernel == bev_kernels[1],
           "kernels by their row");
    use(&state, "kernel-row 99");
    tap_ok(strstr(said(&state), "kernel 99: this backend has") != NULL, "a kernel too far");
    use(&state, "dtype fp8");
    tap_ok(state.job.config.dtype == BEV_FP8, "a format by name");
    tap_ok(use(&state, "dtype fp9") == STEP_REDRAW && state.job.config.dtype == BEV_FP8,
           "an unknown format changes nothing");
    use(&state, "align bilinear");
    tap_ok(state.job.config.align == BEV_BILINEAR && says(&state, bev_aligns[BEV_BILINEAR].title),
           "an align by name");
    tap_ok(use(&state, "backend cuda") == STEP_REDRAW && strstr(said(&state), "no CUDA device"),
           "a backend that is not there");
    use(&state, "config");
    tap_ok(state.job.scene == 0, "configs go round");
    use(&state, "scene");
    tap_ok(state.job.scene == 2, "from a config, the first scene that is none");
    use(&state, "scene canonical");
    tap_ok(state.job.scene == 1, "any scene by name");
    use(&state, "gpu h200");
    tap_ok(!strcmp(gpus[state.gpu].name, "h200") && says(&state, "what if: H200, L2 of 60 MiB"),
           "a GPU of the facts table");
    test_gpu_figures(&state);
}

static void test_settling(void) {
    static const BevKernel narrow = {.name = "narrow",
                                     .title = "Narrow",
                                     .where = BEV_CPU,
                                     .dtypes = 1u << BEV_FP16 | 1u << BEV_FP32,
                                     .aligns = 1u << BEV_NEAREST};
    State state = make_state();
    state.job.config = (KernelConfig){&narrow, BEV_FP16, BEV_NEAREST};
    use(&state, "dtype");
    tap_ok(state.job.config.dtype == BEV_FP32, "stepping passes over formats it does not take");
    use(&state, "dtype nvfp4");
    tap_ok(says(&state, "Narrow does not take NVFP4: still FP32"), "asked by name, it says so");
    use(&state, "align bilinear");
    tap_ok(says(&state, "Narrow on this scene does not take bilinear: still nearest"),
           "the same for aligns");
    state = make_state();
    use(&state, "align bilinear");
    SceneFacts fixed = make_scene();
    fixed.aligns = 1u << BEV_NEAREST;
    unsigned bits = state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &fixed});
    tap_ok(bits & STEP_RUN && state.job.config.align == BEV_NEAREST &&
               strstr(said(&state), "this scene has no"),
           "a scene with one map takes the align along, aloud");
}

static void test_settle_alone(void) {
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
}

/* ---- the log --------------------------------------------------------------------------------- */

static Headline headline(const State *state, double bytes, double us, double error) {
    return (Headline){.serial = state->job.serial,
                      .footprint_bytes = reading(bytes, SOURCE_MODEL),
                      .latency_us = reading(us, SOURCE_MEASURED),
                      .max_abs = reading(error, SOURCE_MEASURED)};
}

static void deliver(State *state, const Headline *figures) {
    state_step(state, &(Event){.kind = EVENT_RESULT, .headline = figures});
}

static void test_log(void) {
    State state = make_state();
    use(&state, "dtype fp16");
    Headline before = headline(&state, 10.2e6, 8.0, 0.0005);
    deliver(&state, &before);
    use(&state, "dtype fp8");
    tap_ok(says(&state, "FP8"), "a control says at once what it did");
    Headline after = headline(&state, 6.1e6, 7.1, 0.021);
    after.latency_us.stale = true;
    deliver(&state, &after);
    tap_ok(says(&state, "FP8: footprint 10.2 to 6.10 MB, latency n/a, max error 0.0005 to 0.021"),
           "then what is known of what changed; a stale figure is not");
    after.latency_us.stale = false;
    deliver(&state, &after);
    tap_ok(says(&state, "FP8: footprint 10.2 to 6.10 MB, latency 8.00 to 7.10 us, max error "
                        "0.0005 to 0.021"),
           "then all of it");
    after.latency_us.value = 99;
    deliver(&state, &after);
    tap_ok(strstr(said(&state), "7.10 us") != NULL, "a complete line stays as it is");
    use(&state, "theme");
    deliver(&state, &after);
    tap_ok(says(&state, "theme light") && strstr(state.log.lines[1].text, "7.10 us"),
           "newer lines come on top");
    Headline late = headline(&state, 1, 1, 1);
    late.serial = 0;
    use(&state, "dtype fp16");
    deliver(&state, &late);
    tap_ok(says(&state, "FP16"), "figures of an older job complete nothing");
}

static void test_log_limits(void) {
    State state = make_state();
    for (int i = 0; i < 3 * LOG_LINES; i++)
        use(&state, "theme");
    tap_ok(state.log.count == LOG_LINES, "the log keeps its newest lines");
    int count = 0;
    state = make_state();
    for (int i = 0; i < 5; i++)
        use(&state, "wipe");
    for (int i = 0; i < state.log.count; i++)
        count += state.log.lines[i].action == ACTION_WIPE;
    tap_ok(count == 1, "a key held down fills one line, not the log");
    state_step(&state, &(Event){.kind = EVENT_NOTE, .text = "evil\x1b[2J\nname"});
    tap_ok(says(&state, "evil?[2J?name"), "control characters do not reach the screen");
}

/* Steps every control once each way and looks at the newest line. */
static void test_every_control_speaks(void) {
    int silent = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (i == ACTION_HELP || i == ACTION_GLOSSARY || i == ACTION_ESCAPE || i == ACTION_QUIT)
            continue; /* these say nothing: their effect is seen at once */
        State state = make_state();
        Event event = {.kind = EVENT_COMMAND, .command = {.action = (Action)i, .step = 1}};
        if (keys[i].argument == ARGUMENT_DIGIT)
            event.command = (Command){.action = (Action)i, .argument = "1"};
        state_step(&state, &event);
        bool spoke = state.log.count > 0 && state.log.lines[0].text[0] &&
                     state.log.lines[0].action == (Action)i;
        if (!spoke)
            tap_note("%s says nothing", keys[i].word);
        silent += !spoke;
    }
    tap_ok(silent == 0, "every control says in one line what it did");
}

/* ---- time, cameras, comparing ---------------------------------------------------------------- */

static void test_time(void) {
    State state = make_state();
    Event tick = {.kind = EVENT_TICK, .seconds = 0.5};
    tap_ok(state_step(&state, &tick) & STEP_RUN && state.job.time_s == 0.5, "it plays at once");
    use(&state, "speed");
    state_step(&state, &tick);
    tap_ok(state.job.time_s == 1.5, "twice as fast");
    use(&state, "play off");
    tap_ok(state_step(&state, &tick) == 0 && state.job.time_s == 1.5, "paused, a tick is nothing");
    use(&state, "step");
    tap_ok(fabs(state.job.time_s - 1.6) < 1e-12, "a step is 0.1 s");
    use(&state, "step -100");
    tap_ok(state.job.time_s == 0, "time does not go below 0");
    use(&state, "speed 1000");
    tap_ok(state.speed == 8, "speed has a limit");
    for (int i = 0; i < 3; i++)
        use(&state, "temperature");
    for (int i = 0; i < 3; i++)
        use(&state, "temperature -");
    tap_ok(state.job.temperature == 1, "temperature there and back is exactly 1");
}

static void test_cameras(void) {
    State state = make_state();
    use(&state, "camera back");
    use(&state, "dirty");
    tap_ok(!(state.job.camera_mask & 2) && state.job.camera_mask & 1,
           "the selected camera is off, the other on");
    for (int i = 0; i < 10; i++)
        use(&state, "yaw");
    for (int i = 0; i < 10; i++)
        use(&state, "yaw -");
    tap_ok(state.job.camera_errors[1].yaw_deg == 0 && !signbit(state.job.camera_errors[1].yaw_deg),
           "ten steps there and back are 0");
    use(&state, "pitch 99");
    tap_ok(state.job.camera_errors[1].pitch_deg == 15 && state.job.camera_errors[0].pitch_deg == 0,
           "an error is bounded, and of one camera");
    use(&state, "height 0.5");
    use(&state, "temperature 2");
    use(&state, "repair");
    tap_ok(state.job.camera_mask == UINT32_MAX && state.job.camera_errors[1].pitch_deg == 0 &&
               state.job.camera_errors[1].height_m == 0 && state.job.temperature == 1,
           "repair undoes all of it");
    SceneFacts flat = make_scene();
    flat.has_rig = false;
    flat.camera_count = 0;
    state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &flat});
    tap_ok(use(&state, "yaw") == STEP_REDRAW &&
               says(&state, "yaw: this scene came without its cameras"),
           "without a rig there is nothing to turn");
}

static void test_compare(void) {
    State state = make_state();
    use(&state, "kernel v3");
    tap_ok(!strcmp(state.job.baseline.kernel->name, "cpu_v2") &&
               state.job.baseline.dtype == state.job.config.dtype,
           "the baseline is V2 at the same format");
    use(&state, "dtype fp8");
    tap_ok(state.job.baseline.dtype == BEV_FP8, "and follows it");
    use(&state, "baseline on");
    use(&state, "dtype fp16");
    use(&state, "kernel v2_do");
    tap_ok(!strcmp(state.job.baseline.kernel->name, "cpu_v3") &&
               state.job.baseline.dtype == BEV_FP8,
           "pinned, it stays");
    tap_ok(use(&state, "compare wipe") & STEP_RUN && state.job.pool_baseline,
           "comparing needs its picture");
    use(&state, "wipe 200");
    tap_ok(state.wipe == 1, "the wipe ends at the edge");
    use(&state, "compare off");
    tap_ok(!state.job.pool_baseline, "and no longer when it ends");
    use(&state, "baseline off");
    tap_ok(!strcmp(state.job.baseline.kernel->name, "cpu_v2"), "let go, it is V2 again");
    use(&state, "view norm");
    use(&state, "error");
    tap_ok(state.view == 3, "the error view");
    use(&state, "error");
    tap_ok(state.view == 1, "and back to the view before");
}

/* ---- looking closer -------------------------------------------------------------------------- */

static void test_cursor(void) {
    State state = make_state();
    tap_ok(state_probe_cell(&state) == -1, "nothing is probed at first");
    use(&state, "cursor-x");
    tap_ok(state.cursor_shown && state.cursor_x == 100 && state.job.probe_cell == 50 * 200 + 100,
           "the first press shows the cursor, in the middle");
    use(&state, "cursor-x");
    use(&state, "cursor-y -");
    tap_ok(state.cursor_x == 101 && state.cursor_y == 49, "then it moves: x forward, y left");
    tap_ok(strstr(said(&state), "cell 101, 49: x +0.8 m, y -0.3 m") != NULL, "and says where");
    use(&state, "cursor-x 999");
    tap_ok(state.cursor_x == 199, "never out of the grid");
    use(&state, "pin-cell");
    use(&state, "cursor-x 3");
    tap_ok(state_probe_cell(&state) == 49 * 200 + 199, "a pinned cell stays the one looked at");
    use(&state, "escape");
    tap_ok(!state.pinned && state_probe_cell(&state) >= 0, "Esc lets go, the cursor stays");
    tap_ok(use(&state, "escape") & STEP_RUN && state_probe_cell(&state) == -1, "and goes as well");
    tap_ok(!use(&state, "escape"), "then there is nothing left to leave");
    use(&state, "cursor-x 3");
    unsigned bits = state_step(&state, &(Event){.kind = EVENT_PIXEL, .x = 700});
    tap_ok(bits == STEP_REDRAW && state.pixel == 700 &&
               state_step(&state, &(Event){.kind = EVENT_PIXEL, .x = 700}) == 0,
           "a pixel under the mouse is drawn, once");
    state_step(&state, &(Event){.kind = EVENT_HOVER, .x = 3, .y = 5});
    tap_ok(state.pixel == -1, "the mouse over a cell is over no pixel");
    bits = state_step(&state, &(Event){.kind = EVENT_HOVER, .x = -1, .y = 5});
    tap_ok(bits & STEP_RUN && state_probe_cell(&state) == -1, "the mouse left the grid");
    state_step(&state, &(Event){.kind = EVENT_CLICK, .x = 7.9, .y = 5.1});
    tap_ok(state.pinned && state.pin_x == 7 && state.pin_y == 5, "a click pins");
    state_step(&state, &(Event){.kind = EVENT_CLICK, .x = 7.2, .y = 5.8});
    tap_ok(!state.pinned, "a second one lets go");
    bits = state_step(&state, &(Event){.kind = EVENT_HOVER, .x = 7.4, .y = 5.4});
    tap_ok(!(bits & STEP_RUN), "the same cell again asks for nothing");
}

/* Where the cell coordinate x lies in the view, 0..1. */
static double seen_at(const State *state, double x) {
    double width = (double)state->scene.nx / state->viewport.zoom;
    return (x - state->viewport.center_x) / width + 0.5;
}

/* A grid of 3 slices of 200 x 100 cells. */
static void test_slices(void) {
    State state = make_state();
    use(&state, "slice 2");
    tap_ok(says(&state, "slice: this grid is flat, one layer of cells"), "a flat grid says so");
    SceneFacts scene = make_scene();
    scene.cells_x = 200;
    scene.rows = 100;
    scene.slices = 3;
    scene.whole = scene.grid;
    scene.whole.z_min_m = -1;
    scene.whole.z_max_m = 5;
    scene.whole.nz = 3;
    state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &scene});
    use(&state, "cursor-x 130");
    unsigned bits = use(&state, "slice 1");
    tap_ok(says(&state, "slice 1 of 3, z 1 to 3 m") && bits & STEP_RUN && bits & STEP_LOOK &&
               state.job.slice == 1 && state.scene.nx == 200 && state.cursor_x == 130,
           "a slice is chosen, with its height; the cursor stays");
    tap_ok(!strcmp(state_cell_place(&state, (2 * 100 + 7) * 200 + 5).text, "5, 7, 2"),
           "its cells are named by x, y and z");
    use(&state, "slice side");
    tap_ok(state.scene.nx == 3 && state.scene.ny == 200 && state.scene.grid.x_max_m == 5 &&
               state.job.probe_cell == -1 && !state.cursor_shown,
           "from the side the picture has other cells: z up, x to the left");
    use(&state, "slice 3");
    tap_ok(says(&state, "slice: '3' is none of max, side, 0 to 2") &&
               state.job.slice == SLICE_SIDE,
           "a slice that is not there is refused");
    int order[5];
    for (int i = 0; i < 5; i++, use(&state, "slice"))
        order[i] = state.job.slice;
    tap_ok(order[0] == SLICE_SIDE && state.job.slice == SLICE_SIDE && order[1] == SLICE_MAX &&
               order[2] == 0 && order[4] == 2,
           "the key goes around: side, max, 0, 1, 2");
    state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &(SceneFacts){.nx = 4, .ny = 3}});
    tap_ok(state.scene.nx == 4 && state.scene.ny == 3 && state_slice(&state).slices == 1,
           "a flat scene after it is whole");
}

static void test_zoom(void) {
    State state = make_state();
    double before = seen_at(&state, 120);
    for (int i = 0; i < 5; i++)
        state_step(&state, &(Event){.kind = EVENT_WHEEL, .x = 120, .y = 50, .steps = 1});
    tap_ok(state.viewport.zoom > 2 && fabs(seen_at(&state, 120) - before) < 1e-9,
           "the wheel zooms about the point under the mouse");
    state_step(&state, &(Event){.kind = EVENT_DRAG, .x = 1000, .y = 0});
    tap_ok(fabs(state.viewport.center_x - 100 / state.viewport.zoom) < 1e-9,
           "dragging ends at the grid's edge");
    use(&state, "cursor-x 199");
    double at = seen_at(&state, 199.5);
    tap_ok(at > 0 && at < 1, "the view follows the cursor");
    use(&state, "fit");
    tap_ok(state.viewport.zoom == 1 && state.viewport.center_x == 100 &&
               state.viewport.center_y == 50,
           "fit shows it all");
}

/* ---- program --------------------------------------------------------------------------------- */

static void test_program(void) {
    State state = make_state();
    char name[128];
    use(&state, "kernel v3");
    use(&state, "dtype fp8");
    use(&state, "step 3.2");
    tap_ok(use(&state, "snapshot") & STEP_SNAPSHOT, "a snapshot is asked for");
    state_snapshot_name(&state, name, sizeof name);
    tap_ok(!strcmp(name, "canonical-cpu_v3-fp8-nearest-t003.20-001.png"), "its name: %s", name);
    use(&state, "scene -");
    state_snapshot_name(&state, name, sizeof name);
    tap_ok(!strncmp(name, "my_scene-", 9), "a path leaves its stem: %s", name);
    tap_ok(use(&state, "record") & STEP_RECORD && state.recording, "recording begins");
    state_step(&state, &(Event){.kind = EVENT_TICK, .seconds = 0.1});
    state_frame_name(&state, name, sizeof name);
    tap_ok(!strcmp(name, "frame-000001.png"), "frames are numbered");
    tap_ok(use(&state, "record on") == 0, "on is on already");
    tap_ok(!(use(&state, "fullscreen") & STEP_FULLSCREEN), "no window, no full screen");
    state_step(&state, &(Event){.kind = EVENT_WINDOW, .on = true});
    tap_ok(use(&state, "fullscreen") & STEP_FULLSCREEN && state.page == PAGE_DASHBOARD,
           "with a window there is, and the terminal shows figures alone");
    use(&state, "help");
    use(&state, "dtype fp16");
    tap_ok(state.help && state.job.config.dtype == BEV_FP16, "controls work within the help");
    use(&state, "escape");
    tap_ok(!state.help, "Esc closes it");
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = 80, .rows = 24});
    int presses = 0;
    for (use(&state, "help"); state.help && presses < 9; presses++)
        use(&state, "help");
    tap_ok(presses == help_layout(80, 24).pages && presses > 1,
           "on a small screen its key turns the pages, then closes it (%d)", presses);
    use(&state, "help on");
    tap_ok(state.help && state.help_page == 0, "it opens at the first page again");
    use(&state, "help off");
    for (presses = 0, use(&state, "glossary"); state.help && presses < 20; presses++)
        use(&state, "glossary");
    tap_ok(presses == help_glossary(80, 24).pages && presses > 1,
           "the glossary has pages of its own (%d)", presses);
    use(&state, "help on");
    use(&state, "help");
    use(&state, "glossary");
    tap_ok(state.help && state.glossary && state.help_page == state.glossary_first,
           "from the help its key changes over to the glossary");
    use(&state, "help");
    tap_ok(state.help && !state.glossary && state.help_page == 0, "and the other key back");
    use(&state, "glossary on");
    use(&state, "escape");
    tap_ok(!state.help, "Esc closes it, too");
    state.page = PAGE_BOTH;
    use(&state, "page");
    Page first = state.page;
    use(&state, "page");
    tap_ok(first == PAGE_BEV && state.page == PAGE_DASHBOARD,
           "where both have no room each step changes the page");
    tap_ok(use(&state, "quit") == STEP_QUIT, "quit");
}

static void test_lessons(void) {
    State state = make_state();
    tap_ok(use(&state, "lesson 2") & STEP_LESSON && state.lesson_wish == WISH_OPEN &&
               !strcmp(state.lesson_name, "2"),
           "a lesson is asked for by its name");
    tap_ok(!(use(&state, "next") & STEP_LESSON), "nothing goes on where none is open");
    tap_ok(use(&state, "explain 2") & STEP_LESSON && state.lesson_wish == WISH_EXPLAIN &&
               state.finding == 1,
           "or by the finding that it explains");
    tap_ok(!(use(&state, "explain 11") & STEP_LESSON) && state.finding == 1,
           "of which there are not so many");
    state.lesson.open = true;
    tap_ok(use(&state, "skip") & STEP_LESSON && state.lesson_wish == WISH_SKIP, "skip");
    tap_ok(use(&state, "lesson") & STEP_LESSON && state.lesson_wish == WISH_CLOSE,
           "its key closes the lesson that is open");
    use(&state, "dtype fp8");
    use(&state, "yaw 3");
    use(&state, "chart mrc");
    use(&state, "play on");
    uint64_t serial = state.job.serial;
    state_begin_lesson(&state, state.job.scene);
    tap_ok(state.job.config.dtype == BEV_FP16 && state.job.camera_errors[0].yaw_deg == 0 &&
               state.chart == CHART_NONE && !state.playing && state.job.serial > serial &&
               state.lesson.open && state.scene.nx > 0,
           "a lesson begins with everything as at first, and the world stands still");
}

static void test_values(void) {
    State state = make_state();
    int empty = 0;
    char text[64];
    for (int i = 0; i < ACTION_COUNT; i++) {
        state_value(&state, (Action)i, text, sizeof text);
        bool has_none = i == ACTION_KERNEL_ROW || i == ACTION_COUNTERS || i == ACTION_REPAIR ||
                        i == ACTION_PAN_X || i == ACTION_PAN_Y || i == ACTION_FIT ||
                        i == ACTION_NEXT || i == ACTION_BACK || i == ACTION_SKIP ||
                        i == ACTION_EXPLAIN || i == ACTION_SNAPSHOT || i == ACTION_HELP || i == ACTION_GLOSSARY ||
                        i == ACTION_ESCAPE || i == ACTION_QUIT;
        empty += has_none != !text[0];
    }
    tap_ok(empty == 0, "every control that stands at something says at what");
}

/* ---- any order of events --------------------------------------------------------------------- */

static const char *broken_invariant(const State *state) {
    const Job *job = &state->job;
    const Viewport *viewport = &state->viewport;
    double half = (double)state->scene.nx / 2 / viewport->zoom;
    if (!(job->config.kernel->dtypes & 1u << job->config.dtype))
        return "a format that the kernel does not take";
    if (!(job->config.kernel->aligns & 1u << job->config.align))
        return "an align that the kernel does not take";
    if (job->scene < 0 || job->scene >= state->menu.scenes.count)
        return "a scene out of the menu";
    if (state->view < 0 || state->view >= state->menu.views.count || state->colormap < 0 ||
        state->colormap >= state->menu.colormaps.count)
        return "a view or colour map out of the menu";
    if (!(job->time_s >= 0) || !(job->temperature >= 0.125 && job->temperature <= 8))
        return "time or temperature";
    if (!(state->wipe >= 0 && state->wipe <= 1) || !(viewport->zoom >= 1))
        return "wipe or zoom";
    if (!(viewport->center_x >= half - 1e-6 &&
          viewport->center_x <= (double)state->scene.nx - half + 1e-6))
        return "the view left the grid";
    if (job->probe_cell < -1 || job->probe_cell >= state->scene.nx * state->scene.ny)
        return "a probed cell out of the grid";
    if (state->camera < 0 || state->camera >= state->scene.camera_count)
        return "a camera that is not there";
    if (state->gpu < 0 || state->gpu >= gpu_count || state->channel < 0)
        return "a GPU or channel that is not there";
    return NULL;
}

static Event random_event(uint64_t *seed) {
    static const char *const arguments[] = {"0", "-1", "3", "1e300", "-1e300", "on", "off", "norm"};
    Event event = {.kind = (EventKind)random_below(seed, EVENT_NOTE + 1),
                   .seconds = random_unit(seed),
                   .x = random_unit(seed) * 220 - 10,
                   .y = random_unit(seed) * 120 - 10,
                   .steps = random_unit(seed) * 8 - 4,
                   .columns = (int)random_below(seed, 300),
                   .rows = (int)random_below(seed, 100),
                   .on = random_below(seed, 2),
                   .text = "note"};
    if (random_below(seed, 2))
        event.kind = EVENT_COMMAND;
    event.command.action = (Action)random_below(seed, ACTION_COUNT);
    event.command.step = (int)random_below(seed, 3) - 1;
    if (!event.command.step)
        snprintf(event.command.argument, sizeof event.command.argument, "%s",
                 arguments[random_below(seed, 8)]);
    return event;
}

static void test_any_order(void) {
    enum { EVENTS = 200000 };
    State state = make_state(), twin = state;
    SceneFacts scene = make_scene();
    Pace pace = {.keys = 1};
    uint64_t seed = 4;
    const char *broken = NULL;
    int done = 0, different = 0;
    for (; done < EVENTS && !broken; done++) {
        Event event = random_event(&seed);
        Headline figures = headline(&state, random_unit(&seed) * 1e7, random_unit(&seed) * 100, 0);
        event.headline = &figures;
        event.scene = &scene;
        event.pace = &pace;
        uint64_t serial = state.job.serial;
        unsigned bits = state_step(&state, &event), again = state_step(&twin, &event);
        broken = broken_invariant(&state);
        different += bits != again || (serial != state.job.serial) != !!(bits & STEP_RUN);
        if (broken)
            tap_note("%s after event %d of kind %d, %s %d '%s'", broken, done, (int)event.kind,
                     keys[event.command.action].word, event.command.step, event.command.argument);
    }
    tap_ok(!broken, "%d random events leave nothing out of bounds", done);
    tap_ok(different == 0 && !memcmp(&state.job, &twin.job, sizeof state.job),
           "the same events give the same state, and a new serial means RUN");
}

/* ---- units and history ----------------------------------------------------------------------- */

static bool reads(Unit unit, double value, const char *want) {
    char text[32];
    unit_text(unit, value, text, sizeof text);
    if (strcmp(text, want))
        tap_note("'%s', wanted '%s'", text, want);
    return !strcmp(text, want);
}

static void test_units(void) {
    tap_ok(reads(UNIT_US, 7.1, "7.10 us") && reads(UNIT_US, 873.4, "873 us") &&
               reads(UNIT_US, 12345, "12.3 ms") && reads(UNIT_US, 1.2e6, "1.20 s"),
           "times in the unit that suits them");
    tap_ok(reads(UNIT_BYTES, 6.1e6, "6.10 MB") && reads(UNIT_BYTES, 49.2e6, "49.2 MB"), "bytes");
    tap_ok(reads(UNIT_ERROR, 3.8e-9, "3.8e-09") && reads(UNIT_ERROR, 0, "0") &&
               reads(UNIT_ERROR, 0.0065, "0.0065") && reads(UNIT_ERROR, 1.02, "1.0"),
           "errors");
    tap_ok(reads(UNIT_COUNT, 209019, "209,019") && reads(UNIT_GBPS, 4300, "4,300 GB/s"),
           "large numbers in groups");
    tap_ok(reads(UNIT_US, NAN, "n/a") && reads(UNIT_BYTES, -1, "n/a") &&
               reads(UNIT_ERROR, INFINITY, "n/a"),
           "what is unknown is not 0");
}

static void test_live(void) {
    static LiveData live;
    live_init(&live);
    Headline none = live_headline(&live);
    tap_ok(none.footprint_bytes.source == SOURCE_UNKNOWN &&
               none.latency_us.source == SOURCE_UNKNOWN && none.max_abs.source == SOURCE_UNKNOWN,
           "fresh figures are unknown");
    static LiveKernel kernel;
    for (int i = 0; i < 2 * LIVE_HISTORY; i++)
        live_remember(&kernel, i);
    tap_ok(kernel.history_count == LIVE_HISTORY &&
               kernel.history_us[LIVE_HISTORY - 1] == 2 * LIVE_HISTORY - 1 &&
               kernel.history_us[0] == LIVE_HISTORY,
           "history forgets the oldest");
    int32_t starts[] = {0, 1, 3}, lengths[] = {1, 2, 5}, cells[8] = {0, 4, 4, 9, 9, 9, 9, 9};
    BevMap map = {.points = 8,
                  .intervals = 3,
                  .ranks_bev = cells,
                  .interval_starts = starts,
                  .interval_lengths = lengths};
    live_intervals(&live.intervals, &map, 10);
    tap_ok(live.intervals.intervals[0] == 1 && live.intervals.intervals[1] == 1 &&
               live.intervals.intervals[2] == 1 && live.intervals.points[2] == 5 &&
               live.intervals.stats.longest_cell == 9,
           "lengths fall into their buckets");
    tap_ok(gpu_of_device("NVIDIA H200") == gpu_find("h200") && !gpu_of_device("GTX 9") &&
               gpu_find("a6000")->l2_bytes == 6 * 1048576,
           "GPUs by name and by the driver's name");
}

/* ---- the glossary ----------------------------------------------------------------------------- */

/* It opens at the word that was mentioned last, and its key still turns all pages. */
static void test_glossary(void) {
    State state = make_state();
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = 80, .rows = 24});
    use(&state, "dtype nvfp4");
    use(&state, "glossary");
    int presses = 0, opened = state.help_page, height;
    const int row = (int)(glossary_find("NVFP4") - glossary);
    const HelpLayout layout = help_glossary(80, 24);
    tap_ok(state.glossary_row == row && opened > 0 &&
               help_glossary_place(&layout, 80, row, &height).page == opened,
           "the glossary opens at the word that was mentioned last");
    for (; state.help && presses < 20; presses++)
        use(&state, "glossary");
    tap_ok(presses == layout.pages && state.help_page == opened, "and shows every page (%d)",
           presses);
    tap_ok(glossary_mentioned("FP8: 3 gates pass") == glossary_find("gates") &&
               glossary_mentioned("Gather traffic of it") == glossary_find("gather traffic") &&
               !glossary_mentioned("unpointed FP80"),
           "the longest whole word counts");
}

/* ---- hardware counters ----------------------------------------------------------------------- */

static void test_counters(void) {
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
    use(&state, "dtype");
    tap_ok(!live_counters_line(&counters, &state.job, text, sizeof text),
           "another format: they are not its counters");
}

int main(void) {
    test_counters();
    test_evenness();
    test_training();
    test_defects();
    test_glossary();
    test_direction();
    test_selection();
    test_settling();
    test_settle_alone();
    test_log();
    test_log_limits();
    test_every_control_speaks();
    test_time();
    test_cameras();
    test_compare();
    test_cursor();
    test_slices();
    test_zoom();
    test_program();
    test_values();
    test_lessons();
    test_any_order();
    test_units();
    test_live();
    return tap_done();
}
