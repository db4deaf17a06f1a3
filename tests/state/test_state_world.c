/* Controls of the world: time, cameras and their errors, how even intervals are, depth that is
 * trained. */
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"
#include "tests/support/tap.h"

#include <math.h>

TAP_SUITE(state_world_time) {
    State state = make_state();
    Event tick = {.kind = EVENT_TICK, .seconds = 0.5};
    tap_ok(state_step(&state, &tick) & STEP_RUN && state.job.time_s == 0.5, "it plays at once");
    use(&state, "speed");
    state_step(&state, &tick);
    tap_ok(state.job.time_s == 1.5, "twice as fast");
    after(&state, "play off", state_step(&state, &tick) == 0 && state.job.time_s == 1.5,
          "paused, a tick is nothing");
    after(&state, "step", fabs(state.job.time_s - 1.6) < 1e-12, "a step is 0.1 s");
    after(&state, "step -100", state.job.time_s == 0, "time does not go below 0");
    after(&state, "speed 1000", state.speed == 8, "speed has a limit");
    for (int i = 0; i < 3; i++)
        use(&state, "temperature");
    for (int i = 0; i < 3; i++)
        use(&state, "temperature -");
    tap_ok(state.job.temperature == 1, "temperature there and back is exactly 1");
}

TAP_SUITE(state_world_cameras) {
    State state = make_state();
    after(&state, "camera back; dirty", !(state.job.camera_mask & 2) && state.job.camera_mask & 1,
          "the selected camera is off, the other on");
    for (int i = 0; i < 10; i++)
        use(&state, "yaw");
    for (int i = 0; i < 10; i++)
        use(&state, "yaw -");
    tap_ok(state.job.camera_errors[1].yaw_deg == 0 && !signbit(state.job.camera_errors[1].yaw_deg),
           "ten steps there and back are 0");
    after(&state, "pitch 99",
          state.job.camera_errors[1].pitch_deg == 15 && state.job.camera_errors[0].pitch_deg == 0,
          "an error is bounded, and of one camera");
    after(&state, "height 0.5; temperature 2; repair",
          state.job.camera_mask == UINT32_MAX && state.job.camera_errors[1].pitch_deg == 0 &&
              state.job.camera_errors[1].height_m == 0 && state.job.temperature == 1,
          "repair undoes all of it");
    SceneFacts flat = make_scene();
    flat.has_rig = false;
    flat.camera_count = 0;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &flat});
    tap_ok(use(&state, "yaw") == STEP_REDRAW &&
               says(&state, "yaw: this scene came without its cameras"),
           "without a rig there is nothing to turn");
}

TAP_SUITE(state_world_lidar) {
    State state = make_state();
    SceneFacts facts = make_scene();
    tap_ok(use(&state, "lidar on") & STEP_LOOK && state.lidar &&
               says(&state, "LiDAR points over the camera pictures: blue near, red far (this "
                            "scene has none)"),
           "a scene without a LiDAR says so");
    facts.has_lidar = true;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &facts});
    after(&state, "lidar", !state.lidar, "and off");
    tap_ok(says(&state, "LiDAR points over the camera pictures: off"), "in the log");
    use(&state, "lidar on");
    tap_ok(says(&state, "LiDAR points over the camera pictures: blue near, red far (drawn in the "
                        "window and snapshots only)"),
           "which says where");
}

TAP_SUITE(state_world_delay) {
    State state = make_state();
    SceneFacts facts = make_scene();
    after(&state, "delay 300", state.job.camera_errors[0].delay_ms == 300,
          "a camera sees what was 300 ms ago");
    tap_ok(says(&state, "front sees what was 300 ms ago: what moves leaves ghosts") &&
               !state.log.lines[0].open,
           "and the log says so, without figures that are not of it");
    after(&state, "delay", state.job.camera_errors[0].delay_ms == 400, "a step is 100 ms");
    after(&state, "delay back -5", state.job.camera_errors[1].delay_ms == 0,
          "no camera sees ahead");
    tap_ok(says(&state, "back sees the moment, without delay"), "which the log says");
    after(&state, "delay 99999", state.job.camera_errors[1].delay_ms == 10000,
          "ten seconds at most");
    after(&state, "repair", state.job.camera_errors[1].delay_ms == 0, "repair takes it away");
    facts.has_world = false;
    facts.moments = 3;
    facts.moment_s = 0.5;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &facts});
    tap_ok(use(&state, "delay 1400") & STEP_RUN, "less than the clip");
    tap_ok(!(use(&state, "delay 1500") & STEP_RUN) &&
               says(&state, "delay: 1500 ms, but the clip lasts 1500 ms") &&
               state.job.camera_errors[1].delay_ms == 1400,
           "as long as the clip: refused in a line");
    facts.moments = 0;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &facts});
    tap_ok(!(use(&state, "delay 100") & STEP_RUN) &&
               says(&state, "delay: this scene has one moment: nothing in it moves"),
           "a single moment has none before it");
    CameraError late = {.delay_ms = 5}, turned = {.yaw_deg = 1, .delay_ms = 5};
    tap_ok(camera_error_keeps_map(&late) && !camera_error_keeps_map(&turned) &&
               camera_error_same_map(&late, &(CameraError){.each = {0}}) &&
               !camera_error_equal(&late, &(CameraError){.each = {0}}),
           "the map stays");
}

TAP_SUITE(state_world_camera_errors) {
    Camera camera;
    const double at[3] = {1, 2, 1.5};
    camera_set_pose(&camera, 30, 0, 0, at);
    camera_apply_error(&camera, &(CameraError){.yaw_deg = 5, .height_m = 0.25});
    Camera want;
    camera_set_pose(&want, 35, 0, 0, (double[]){1, 2, 1.75});
    double worst = 0;
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(camera.rotation[i] - want.rotation[i]));
    tap_ok(worst < 1e-12 && camera.position_m[2] == 1.75, "yaw and height errors move a camera");
    camera_set_pose(&camera, 30, 1, 0, at);
    camera_apply_error(&camera, &(CameraError){.pitch_deg = 2});
    camera_set_pose(&want, 30, 3, 0, at);
    worst = 0;
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(camera.rotation[i] - want.rotation[i]));
    tap_ok(worst < 1e-12, "a positive pitch error looks up");
}

TAP_SUITE(state_world_prune) {
    State state = make_state();
    tap_ok(use(&state, "prune 0.02") & STEP_RUN && state.job.prune.below == 0.02 &&
               says(&state, "prune 0.02: points with a smaller depth are left out"),
           "points of small depth are left out");
    tap_ok(!(use(&state, "prune -1") & STEP_RUN) && state.job.prune.below == 0.02 &&
               says(&state, "prune: -1 is no depth from 0 to 1, nor top4: still 0.02"),
           "beyond its ends it says so");
    tap_ok(use(&state, "prune 0") & STEP_RUN && prune_is_off(&state.job.prune) &&
               says(&state, "prune off: every point is read"),
           "0 is off");
    state_step(&state, &(Event){.kind = EVENT_COMMAND, .command = {ACTION_PRUNE, .step = 1}});
    state_step(&state, &(Event){.kind = EVENT_COMMAND, .command = {ACTION_PRUNE, .step = 1}});
    tap_ok(fabs(state.job.prune.below - 1e-3) < 1e-9, "steps go by ten");
    for (int i = 0; i < 3; i++)
        state_step(&state, &(Event){.kind = EVENT_COMMAND, .command = {ACTION_PRUNE, .step = -1}});
    tap_ok(prune_is_off(&state.job.prune), "and back to nothing");
    tap_ok(use(&state, "prune top4") & STEP_RUN && state.job.prune.top == 4 &&
               says(&state, "prune top4: each pixel's bins of largest depth are kept"),
           "the strongest bins of each pixel");
    use(&state, "prune");
    tap_ok(state.job.prune.top == 2, "a step further: half as many");
    state_step(&state, &(Event){.kind = EVENT_COMMAND, .command = {ACTION_PRUNE, .step = -1}});
    tap_ok(state.job.prune.top == 4, "and back");
    SceneFacts known = make_scene();
    known.depth_bins = 6;
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &known});
    tap_ok(!(use(&state, "prune top7") & STEP_RUN) && state.job.prune.top == 4 &&
               says(&state, "prune: top7, but a pixel has 6 depth bins: still top4"),
           "more bins than there are");
    const char *const wrong[] = {"prune top0",   "prune top", "prune top-1", "prune top4x",
                                 "prune top1e1", "prune nan", "prune 1.5"};
    int refused = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused += !(use(&state, wrong[i]) & STEP_RUN) && state.job.prune.top == 4;
    tap_ok(refused == sizeof wrong / sizeof *wrong, "%d wrong values change nothing", refused);
}

TAP_SUITE(state_world_scales) {
    State state = make_state();
    tap_ok(use(&state, "scales entropy") & STEP_RUN &&
               state.job.scales == SCALES_METHODS + SCALE_ENTROPY &&
               says(&state, "scales by entropy, on this scene's first moments"),
           "scales by a method");
    tap_ok(!(use(&state, "scales file") & STEP_RUN) &&
               state.job.scales == SCALES_METHODS + SCALE_ENTROPY,
           "without a file there is none to choose");
    tap_ok(use(&state, "scales channel") & STEP_RUN && state.job.scales == SCALES_CHANNEL &&
               says(&state, "scales ideal, and of INT8 features one a channel"),
           "ideal ones, one a channel");
    tap_ok(use(&state, "scales percentile-channel") & STEP_RUN &&
               says(&state, "scales by percentile 99.99, of INT8 features one a channel, on this "
                            "scene's first moments") &&
               scales_method(state.job.scales) == SCALE_PERCENTILE &&
               scales_by_channel(state.job.scales) &&
               !strcmp(scales_name(&state, state.job.scales), "percentile-channel"),
           "a method, one a channel");
    use(&state, "scales entropy-channel");
    state.job.config.dtype = BEV_INT8;
    tap_ok(scales_dtype(&state.job) == BEV_INT8, "chosen for the format");
    use(&state, "scales entropy");
    tap_ok(!scales_by_channel(state.job.scales), "and one a tensor again");
    state.job.config.dtype = BEV_FP16;
    tap_ok(scales_dtype(&state.job) == BEV_FP8, "of a format without scales they are those of FP8");
    use(&state, "scales max");
    tap_ok(scales_dtype(&state.job) == BEV_FP32, "max is the same for all formats");
    char words[64], says_so[96];
    snprintf(words, sizeof words, "scales-from %s", state.menu.scenes.names[0]);
    snprintf(says_so, sizeof says_so, "scales by max, from the first moments of %s",
             state.menu.scenes.names[0]);
    use(&state, "scales ideal");
    tap_ok(use(&state, words) & STEP_RUN && state.job.scales == SCALES_METHODS + SCALE_MAX &&
               state.job.scales_scene == state.menu.scenes.names[0] && says(&state, says_so),
           "those of another scene; ideal ones become its largest values");
    tap_ok(use(&state, "scales-from own") & STEP_RUN && !state.job.scales_scene,
           "and of this scene again");
    state.menu.scales = "folder/night.json";
    tap_ok(use(&state, "scales file") & STEP_RUN && says(&state, "scales of night.json"),
           "the file's, by its name");
    tap_ok(use(&state, "scales ideal") & STEP_RUN && state.job.scales == SCALES_IDEAL &&
               says(&state, "scales ideal: by the largest values of the very frame"),
           "and ideal ones again");
}

TAP_SUITE(state_world_outlier) {
    State state = make_state();
    tap_ok(use(&state, "outlier 50") & STEP_RUN && state.job.outlier == 50 &&
               says(&state, "outlier: feature channel 0 is 50 times as large"),
           "a feature channel gets a factor");
    tap_ok(!(use(&state, "outlier 0") & STEP_RUN) && !(use(&state, "outlier 1001") & STEP_RUN) &&
               state.job.outlier == 50 &&
               says(&state, "outlier: 1001 is not from 1 to 1000: still 50"),
           "beyond its ends it says so");
    tap_ok(use(&state, "outlier 1") & STEP_RUN && state.job.outlier == 1 &&
               says(&state, "outlier off: the features' own values"),
           "1 is off");
    for (int i = 0; i < 4; i++)
        state_step(&state, &(Event){.kind = EVENT_COMMAND, .command = {ACTION_OUTLIER, .step = 1}});
    tap_ok(state.job.outlier == 1000, "steps go by ten, to the last");
    use(&state, "repair");
    tap_ok(state.job.outlier == 1, "repair takes it away");
}

TAP_SUITE(state_world_rounding) {
    State state = make_state();
    tap_ok(use(&state, "rounding truncate") & STEP_RUN &&
               state.job.rounding == ROUNDING_TRUNCATE &&
               says(&state, "rounding truncate: toward zero, as LSS and BEVDet do"),
           "cells are numbered as LSS does");
    state.job.baseline_pinned = true;
    tap_ok(job_rigs_differ(&state.job) && job_of_baseline(&state.job).rounding == ROUNDING_SCENE,
           "the baseline keeps its own");
    tap_ok(!(use(&state, "rounding up") & STEP_RUN) && state.job.rounding == ROUNDING_TRUNCATE,
           "another word changes nothing");
    use(&state, "repair");
    tap_ok(state.job.rounding == ROUNDING_SCENE, "repair takes it back");
}

TAP_SUITE(state_world_evenness) {
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

/* Depth that follows the gradient: backward, from smeared depth, so many steps; and the way home.
 */
TAP_SUITE(state_world_training) {
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
               strstr(said(&state), "stopped at step 57; pooled forward (:direction)"),
           "the same key stops: %s", said(&state));
    tap_ok(use(&state, "train") & STEP_RUN && state.job.train_steps == LIVE_TRAIN_STEPS &&
               state.job.train_run == run + 1 && strstr(said(&state), "goes on from step 57"),
           "and goes on: %s", said(&state));
    after(&state, "train 20", state.job.train_steps == 20 && state.job.train_run == run + 2,
          "fewer steps than were taken begin anew");
    tap_ok(use(&state, "train 0") & STEP_RUN && !state.job.train_steps &&
               state.job.temperature == 2 && state.playing,
           "0 steps: the scene's own depth, and the world plays on");
    tap_ok(!(use(&state, "train 0") & STEP_RUN), "which is the last step back");
    after(&state, "train; direction forward",
          !state.job.train_steps && state.playing &&
              strstr(said(&state), "training ends, the world plays on"),
          "forward there is no training: %s", said(&state));
    after(&state, "play off; train; train; direction forward",
          !state.playing && !strstr(said(&state), "plays on"),
          "a world that was paused stays so: %s", said(&state));
    after(&state, "train", use(&state, "play on") & STEP_RUN && !state.job.train_steps,
          "a world that moves ends it: %s", said(&state));
    state.scene.has_world = false;
    tap_ok(!(use(&state, "train") & STEP_RUN) && strstr(said(&state), "no true depth"),
           "tensors of a file are not trained: %s", said(&state));
}
