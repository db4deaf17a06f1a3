/* SPDX-License-Identifier: MIT */
/* What controls of the world leave in the job: scales, delays, rounding. Their values and words are
 * in tests/state/scripts. */
#include "src/state/live_data.h"
#include "tests/state/state_fixture.h"

TAP_SUITE(state_world_delay) {
    CameraError late = {.delay_ms = 5}, turned = {.yaw_deg = 1, .delay_ms = 5};
    tap_ok(camera_error_keeps_map(&late) && !camera_error_keeps_map(&turned) &&
               camera_error_same_map(&late, &(CameraError){.each = {0}}) &&
               !camera_error_equal(&late, &(CameraError){.each = {0}}),
           "a delay keeps the map");
}

STATE_SUITE(state_world_scales) {
    tap_ok(runs("scales entropy") && job->scales == SCALES_METHODS + SCALE_ENTROPY &&
               says("scales entropy: calibrated: where the histogram loses least (KL)"),
           "scales by a method");
    tap_ok(!runs("scales file") && job->scales == SCALES_METHODS + SCALE_ENTROPY,
           "without a file there is none to choose");
    tap_ok(runs("scales percentile-channel") && scales_method(job->scales) == SCALE_PERCENTILE &&
               scales_by_channel(job->scales) &&
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

STATE_SUITE(state_world_rounding) {
    use("rounding truncate");
    job->baseline_pinned = true;
    tap_ok(job_rigs_differ(job) && job_of_baseline(job).rounding == ROUNDING_SCENE,
           "the baseline keeps its own rounding");
}
