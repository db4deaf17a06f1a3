/* SPDX-License-Identifier: MIT */
/* Names of files, the word that a line mentions, lessons. Other controls of the program:
 * tests/state/scripts. */
#include "tests/state/state_fixture.h"

STATE_SUITE(state_program_program) {
    char name[128];
    after("kernel v3; dtype fp8; step 3.2", use("snapshot") & STEP_SNAPSHOT,
          "a snapshot is asked for");
    Job shown = state.job;
    state_snapshot_name(&state, &shown, NULL, name, sizeof name);
    tap_ok(!strcmp(name, "canonical-cpu_v3-fp8-nearest-t003.20-001.png"), "its name: %s", name);
    use("step 0.05");
    state_snapshot_name(&state, &shown, bev_kernel_find("cpu_v4"), name, sizeof name);
    tap_ok(!strcmp(name, "canonical-cpu_v3-by-cpu_v4-fp8-nearest-t003.20-001.png"),
           "the moment and the kernel of the picture, not those asked for: %s", name);
    use("scene -");
    state_snapshot_name(&state, job, NULL, name, sizeof name);
    tap_ok(!strncmp(name, "my_scene-", 9), "a path leaves its stem: %s", name);
    use("record");
    step(EVENT_TICK, .seconds = 0.1);
    tap_ok(state.recorded_frames == 1, "frames are numbered");
    state.scene.has_world = state.playing = true;
    state.scene.loop_s = 16;
    state.job.time_s = 15.75;
    step(EVENT_TICK, .seconds = 0.5 / state.speed);
    tap_ok(state.job.time_s == 0.25, "the clock begins again with the motion");
}

TAP_SUITE(state_program_glossary) {
    tap_ok(glossary_mentioned("FP8: 3 gates pass") == glossary_find("gates") &&
               glossary_mentioned("Gather traffic of it") == glossary_find("gather traffic") &&
               !glossary_mentioned("unpointed FP80"),
           "the longest whole word counts");
}

STATE_SUITE(state_program_lessons) {
    tap_ok(use("lesson 2") & STEP_LESSON && state.lesson_wish == ACTION_LESSON &&
               !strcmp(state.lesson_name, "2"),
           "a lesson is asked for by its name");
    tap_ok(!(use("next") & STEP_LESSON), "nothing goes on where none is open");
    tap_ok(use("explain 2") & STEP_LESSON && state.lesson_wish == ACTION_EXPLAIN &&
               state.finding == 1,
           "or by the finding that it explains");
    tap_ok(!(use("explain 11") & STEP_LESSON) && state.finding == 1,
           "of which there are not so many");
    state.lesson.open = true;
    tap_ok(use("skip") & STEP_LESSON && state.lesson_wish == ACTION_SKIP, "skip");
    tap_ok(use("lesson") & STEP_LESSON && state.lesson_wish == ACTION_ESCAPE,
           "its key closes the lesson that is open");
    tap_ok(use("lesson next") & STEP_LESSON && state.lesson_wish == ACTION_LESSON &&
               !state.lesson_name[0],
           "the next one by its word");
    use("dtype fp8; yaw 3; chart mrc; play on");
    uint64_t serial = job->serial;
    state.shown.footprint_bytes = reading(1, SOURCE_MODEL);
    State other = state;
    state_begin_lesson(&other, job->scene + 1);
    tap_ok(!other.shown.footprint_bytes.source,
           "figures of another scene are not those before a lesson's first change");
    state_begin_lesson(&state, job->scene);
    tap_ok(job->config.dtype == BEV_FP16 && job->camera_errors[0].yaw_deg == 0 &&
               state.chart == CHART_NONE && !state.playing && job->serial > serial &&
               state.lesson.open && state.scene.nx > 0,
           "a lesson begins with everything as at first, and the world stands still");
}
