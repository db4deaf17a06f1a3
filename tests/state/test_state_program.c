/* Controls of the program: files, full screen, help, pages, the glossary, lessons. */
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "tests/state/state_fixture.h"
#include "tests/support/tap.h"

TAP_SUITE(state_program_program) {
    State state = make_state();
    char name[128];
    after(&state, "kernel v3; dtype fp8; step 3.2", use(&state, "snapshot") & STEP_SNAPSHOT,
          "a snapshot is asked for");
    Job shown = state.job;
    state_snapshot_name(&state, &shown, NULL, name, sizeof name);
    tap_ok(!strcmp(name, "canonical-cpu_v3-fp8-nearest-t003.20-001.png"), "its name: %s", name);
    use(&state, "step 0.05");
    state_snapshot_name(&state, &shown, bev_kernel_find("cpu_v4"), name, sizeof name);
    tap_ok(!strcmp(name, "canonical-cpu_v3-by-cpu_v4-fp8-nearest-t003.20-001.png"),
           "the moment and the kernel of the picture, not those asked for: %s", name);
    use(&state, "scene -");
    state_snapshot_name(&state, &state.job, NULL, name, sizeof name);
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
    after(&state, "help; dtype fp16", state.help && state.job.config.dtype == BEV_FP16,
          "controls work within the help");
    after(&state, "escape", !state.help, "Esc closes it");
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = 80, .rows = 24});
    int presses = 0;
    for (use(&state, "help"); state.help && presses < 9; presses++)
        use(&state, "help");
    tap_ok(presses == help_layout(80, 24).pages && presses > 1,
           "on a small screen its key turns the pages, then closes it (%d)", presses);
    after(&state, "help on", state.help && state.help_page == 0,
          "it opens at the first page again");
    use(&state, "help off");
    for (presses = 0, use(&state, "glossary"); state.help && presses < 20; presses++)
        use(&state, "glossary");
    tap_ok(presses == help_glossary(80, 24).pages && presses > 1,
           "the glossary has pages of its own (%d)", presses);
    after(&state, "help on; help; glossary",
          state.help && state.glossary && state.help_page == state.glossary_first,
          "from the help its key changes over to the glossary");
    after(&state, "help", state.help && !state.glossary && state.help_page == 0,
          "and the other key back");
    after(&state, "glossary on; escape", !state.help, "Esc closes it, too");
    state.page = PAGE_BOTH;
    after(&state, "page", state.page == PAGE_DASHBOARD, "80 columns have room for a small BEV");
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = 79, .rows = 24});
    state.page = PAGE_BOTH;
    use(&state, "page");
    Page first = state.page;
    after(&state, "page", first == PAGE_BEV && state.page == PAGE_DASHBOARD,
          "where both have no room each step changes the page");
    tap_ok(use(&state, "quit") == STEP_QUIT, "quit");
}

/* It opens at the word that was mentioned last, and its key still turns all pages. */
TAP_SUITE(state_program_glossary) {
    State state = make_state();
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = 80, .rows = 24});
    use(&state, "dtype nvfp4; glossary");
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

TAP_SUITE(state_program_lessons) {
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
    use(&state, "dtype fp8; yaw 3; chart mrc; play on");
    uint64_t serial = state.job.serial;
    state.shown.footprint_bytes = reading(1, SOURCE_MODEL);
    State other = state;
    state_begin_lesson(&other, state.job.scene + 1);
    tap_ok(!other.shown.footprint_bytes.source,
           "figures of another scene are not those before a lesson's first change");
    state_begin_lesson(&state, state.job.scene);
    tap_ok(state.job.config.dtype == BEV_FP16 && state.job.camera_errors[0].yaw_deg == 0 &&
               state.chart == CHART_NONE && !state.playing && state.job.serial > serial &&
               state.lesson.open && state.scene.nx > 0,
           "a lesson begins with everything as at first, and the world stands still");
}
