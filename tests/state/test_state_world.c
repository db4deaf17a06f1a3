/* SPDX-License-Identifier: MIT */
/* Controls of the world: time, cameras and their errors, balance of intervals. */
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"

#include <math.h>

STATE_SUITE(state_world_time) {
    tap_ok(step(EVENT_TICK, .seconds = 0.5) & STEP_RUN && job->time_s == 0.5, "it plays at once");
    use("speed");
    step(EVENT_TICK, .seconds = 0.5);
    tap_ok(job->time_s == 1.5, "twice as fast");
    after("play off", step(EVENT_TICK, .seconds = 0.5) == 0 && job->time_s == 1.5,
          "paused, a tick is nothing");
    after("step", fabs(job->time_s - 1.6) < 1e-12, "a step is 0.1 s");
    after("step -100", job->time_s == 0, "time does not go below 0");
    repeat(9, "speed");
    tap_ok(state.speed == 8, "speed has a limit");
    repeat(3, "temperature");
    repeat(3, "temperature -");
    tap_ok(job->temperature == 1, "temperature there and back is exactly 1");
}

STATE_SUITE(state_world_cameras) {
    after("camera back; dropout", !(job->camera_mask & 2) && job->camera_mask & 1,
          "the selected camera is off, the other on");
    repeat(10, "yaw");
    repeat(10, "yaw -");
    tap_ok(job->camera_errors[1].yaw_deg == 0 && !signbit(job->camera_errors[1].yaw_deg),
           "ten steps there and back are 0");
    after("pitch 15; pitch 99",
          job->camera_errors[1].pitch_deg == 15 && job->camera_errors[0].pitch_deg == 0,
          "an error is bounded, and of one camera");
    after("height 0.5; temperature 2; repair",
          job->camera_mask == UINT32_MAX && job->camera_errors[1].pitch_deg == 0 &&
              job->camera_errors[1].height_m == 0 && job->temperature == 1,
          "repair undoes all of it");
    SceneFacts flat = make_scene();
    flat.has_rig = false;
    flat.camera_count = 0;
    step(EVENT_FRAME, .scene = &flat);
    tap_ok(use("yaw") == STEP_REDRAW && says("yaw: this scene came without its cameras"),
           "without a rig there is nothing to turn");
}

STATE_SUITE(state_world_lidar) {
    SceneFacts facts = make_scene();
    tap_ok(!(use("lidar on") & STEP_LOOK) && !state.lidar && says("lidar: this scene has no LiDAR"),
           "a scene without a LiDAR says so");
    facts.has_lidar = true;
    step(EVENT_FRAME, .scene = &facts);
    after("lidar on",
          says("LiDAR points in the window's pictures: blue near, red far") && state.lidar,
          "else it says where");
}

STATE_SUITE(state_world_delay) {
    SceneFacts facts = make_scene();
    after("delay 300", job->camera_errors[0].delay_ms == 300, "a camera sees what was 300 ms ago");
    tap_ok(says("delay of front off by 300 ms: what moves leaves ghosts") &&
               !state.log.lines[0].open,
           "and the log says so, without figures that are not of it");
    after("delay", job->camera_errors[0].delay_ms == 400, "a step is 100 ms");
    after("delay back -5; delay 99999", job->camera_errors[1].delay_ms == 0,
          "no camera sees ahead, or what was eleven seconds ago");
    tap_ok(says("delay: 99999 is not from 0 to 10000: still 0 ms"), "which the log says");
    after("delay 10000", job->camera_errors[1].delay_ms == 10000, "ten seconds at most");
    after("repair", job->camera_errors[1].delay_ms == 0, "repair takes it away");
    facts.has_world = false;
    facts.moments = 3;
    facts.moment_s = 0.5;
    step(EVENT_FRAME, .scene = &facts);
    tap_ok(runs("delay 1400"), "less than the clip");
    tap_ok(!runs("delay 1500") && says("delay: 1500 ms, but the clip lasts 1500 ms") &&
               job->camera_errors[1].delay_ms == 1400,
           "as long as the clip: refused in a line");
    facts.moments = 0;
    facts.moment_s = 0;
    step(EVENT_FRAME, .scene = &facts);
    runs("play on");
    tap_ok(strstr(said(), "has one moment: nothing moves") != NULL, "nothing plays: %s", said());
    runs("play off");
    tap_ok(!runs("delay 100") && says("delay: this scene has one moment: nothing in it moves"),
           "a single moment has none before it");
    CameraError late = {.delay_ms = 5}, turned = {.yaw_deg = 1, .delay_ms = 5};
    tap_ok(camera_error_keeps_map(&late) && !camera_error_keeps_map(&turned) &&
               camera_error_same_map(&late, &(CameraError){.each = {0}}) &&
               !camera_error_equal(&late, &(CameraError){.each = {0}}),
           "the map stays");
}

STATE_SUITE(state_world_prune) {
    tap_ok(runs("prune 0.02") && job->prune.below == 0.02 &&
               says("prune 0.02: points with a smaller depth are left out"),
           "points of small depth are left out");
    tap_ok(!runs("prune -1") && job->prune.below == 0.02 &&
               says("prune: -1 is no depth from 0 to 1, nor top4: still 0.02"),
           "beyond its ends it says so");
    tap_ok(runs("prune 0") && prune_is_off(&job->prune) && says("prune off: every point is read"),
           "0 is off");
    repeat(2, "prune");
    tap_ok(fabs(job->prune.below - 1e-3) < 1e-9, "steps go by ten");
    repeat(3, "prune -");
    tap_ok(prune_is_off(&job->prune), "and back to nothing");
    tap_ok(runs("prune top4") && job->prune.top == 4 &&
               says("prune top4: each pixel's bins of largest depth are kept"),
           "the strongest bins of each pixel");
    after("prune", job->prune.top == 2, "a step further: half as many");
    after("prune -", job->prune.top == 4, "and back");
    SceneFacts known = make_scene();
    known.depth_bins = 6;
    step(EVENT_FRAME, .scene = &known);
    tap_ok(!runs("prune top7") && job->prune.top == 4 &&
               says("prune: top7, but a pixel has 6 depth bins: still top4"),
           "more bins than there are");
    const char *const wrong[] = {"prune top0",   "prune top", "prune top-1", "prune top4x",
                                 "prune top1e1", "prune nan", "prune 1.5"};
    int refused = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused += !runs(wrong[i]) && job->prune.top == 4;
    tap_ok(refused == sizeof wrong / sizeof *wrong, "%d wrong values change nothing", refused);
}

STATE_SUITE(state_world_scales) {
    tap_ok(runs("scales entropy") && job->scales == SCALES_METHODS + SCALE_ENTROPY &&
               says("scales entropy: calibrated: where the histogram loses least (KL)"),
           "scales by a method");
    tap_ok(!runs("scales file") && job->scales == SCALES_METHODS + SCALE_ENTROPY,
           "without a file there is none to choose");
    tap_ok(runs("scales percentile-channel") &&
               scales_method(job->scales) == SCALE_PERCENTILE && scales_by_channel(job->scales) &&
               !strcmp(scales_name(&state, job->scales), "percentile-channel"),
           "a method, one a channel");
    use("scales entropy-channel");
    job->config.dtype = BEV_INT8;
    tap_ok(scales_dtype(job) == BEV_INT8, "chosen for the format");
    use("scales entropy");
    job->config.dtype = BEV_FP16;
    tap_ok(scales_dtype(job) == BEV_FP8, "of a format without scales they are those of FP8");
    after("scales max", scales_dtype(job) == BEV_FP32, "max is the same for all formats");
    char words[64], says_so[96];
    snprintf(words, sizeof words, "scales-from %s", state.menu.scenes.names[0]);
    snprintf(says_so, sizeof says_so, "scales by max, from the first moments of %s",
             state.menu.scenes.names[0]);
    after("scales ideal",
          runs(words) && job->scales == SCALES_METHODS + SCALE_MAX &&
              job->scales_scene == state.menu.scenes.names[0] && says(says_so),
          "those of another scene; ideal ones become its largest values");
    tap_ok(runs("scales-from own") && !job->scales_scene, "and of this scene again");
    state.menu.scales = "folder/night.json";
    tap_ok(runs("scales file") && !strcmp(scales_name(&state, job->scales), "night.json"),
           "the file's, by its name");
}

STATE_SUITE(state_world_outlier) {
    tap_ok(!runs("outlier 0") && !runs("outlier 1001") && job->outlier == 1 &&
               says("outlier: 1001 is not from 1 to 1000: still 1 x"),
           "beyond its ends it says so");
    repeat(4, "outlier");
    tap_ok(job->outlier == 1000, "steps go by ten, to the last");
    after("repair", job->outlier == 1, "repair takes it away");
}

STATE_SUITE(state_world_rounding) {
    tap_ok(runs("rounding truncate") && job->rounding == ROUNDING_TRUNCATE &&
               says("rounding truncate: toward zero, as LSS and BEVDet do"),
           "cells are numbered as LSS does");
    job->baseline_pinned = true;
    tap_ok(job_rigs_differ(job) && job_of_baseline(job).rounding == ROUNDING_SCENE,
           "the baseline keeps its own");
    tap_ok(!runs("rounding up") && job->rounding == ROUNDING_TRUNCATE,
           "another word changes nothing");
    after("repair", job->rounding == ROUNDING_SCENE, "repair takes it back");
}
