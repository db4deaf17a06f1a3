/* SPDX-License-Identifier: MIT */
/* Controls of the program: files, full screen, help, pages, the glossary, lessons. */
#include "src/state/glossary.h"
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
    tap_ok(use("record") & STEP_RECORD && state.recording, "recording begins");
    step(EVENT_TICK, .seconds = 0.1);
    state_frame_name(&state, name, sizeof name);
    tap_ok(!strcmp(name, "frame-000001.png"), "frames are numbered");
    tap_ok(!(use("fullscreen") & STEP_FULLSCREEN), "no window, no full screen");
    step(EVENT_WINDOW, .on = true);
    tap_ok(use("fullscreen") & STEP_FULLSCREEN && state.page == PAGE_DASHBOARD,
           "with a window there is, and the terminal shows figures alone");
    after("help; escape", !state.help, "Esc closes the help");
    step(EVENT_RESIZE, .columns = 80, .rows = 24);
    use("help");
    step(EVENT_SCROLL, .steps = 8);
    int down = state.help_first;
    step(EVENT_SCROLL, .steps = 1000);
    tap_ok(down == 8 && state.help_first == help_entries(&state) - 1,
           "the help scrolls, up to its last entry (%d)", state.help_first);
    after("help; help", state.help && state.help_first == 0, "it opens at the first entry again");
    after("help off; help on; help; help; glossary", state.help && state.glossary,
          "from the help its key changes over to the glossary");
    after("help", state.help && !state.glossary && state.help_first == 0,
          "and the other key back");
    use("help off");
    state.page = PAGE_BOTH;
    after("page", state.page == PAGE_DASHBOARD, "80 columns have room for a small BEV");
    step(EVENT_RESIZE, .columns = 79, .rows = 24);
    state.page = PAGE_BOTH;
    use("page");
    Page first = state.page;
    after("page", first == PAGE_BEV && state.page == PAGE_DASHBOARD,
          "where both have no room each step changes the page");
    tap_ok(use("quit") == STEP_QUIT, "quit");
}

STATE_SUITE(state_program_glossary) {
    step(EVENT_RESIZE, .columns = 80, .rows = 24);
    use("dtype nvfp4; glossary");
    const int row = (int)(glossary_find("NVFP4") - glossary);
    tap_ok(state.glossary_row == row && state.help_first == row,
           "the glossary opens at the word that was mentioned last");
    after("glossary", !state.help, "its key closes it");
    tap_ok(glossary_mentioned("FP8: 3 gates pass") == glossary_find("gates") &&
               glossary_mentioned("Gather traffic of it") == glossary_find("gather traffic") &&
               !glossary_mentioned("unpointed FP80"),
           "the longest whole word counts");
}

STATE_SUITE(state_program_lessons) {
    tap_ok(use("lesson 2") & STEP_LESSON && state.lesson_wish == WISH_OPEN &&
               !strcmp(state.lesson_name, "2"),
           "a lesson is asked for by its name");
    tap_ok(!(use("next") & STEP_LESSON), "nothing goes on where none is open");
    tap_ok(use("explain 2") & STEP_LESSON && state.lesson_wish == WISH_EXPLAIN &&
               state.finding == 1,
           "or by the finding that it explains");
    tap_ok(!(use("explain 11") & STEP_LESSON) && state.finding == 1,
           "of which there are not so many");
    state.lesson.open = true;
    tap_ok(use("skip") & STEP_LESSON && state.lesson_wish == WISH_SKIP, "skip");
    tap_ok(use("lesson") & STEP_LESSON && state.lesson_wish == WISH_CLOSE,
           "its key closes the lesson that is open");
    tap_ok(use("lesson next") & STEP_LESSON && state.lesson_wish == WISH_OPEN &&
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
