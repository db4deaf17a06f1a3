/* SPDX-License-Identifier: MIT */
/* The file of a scene changes while the engine shows it. */
#include "tests/live/engine_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_own_file(void) {
    char command[1024];
    strcpy(own_file, "/tmp/engine-XXXXXX");
    int file = mkstemp(own_file);
    snprintf(command, sizeof command, "cp '%s/samples/intersection.json' %s",
             getenv("BEVSCOPE_DATA"), own_file);
    tap_need(file >= 0 && system(command) == 0, "a file of a scene");
    close(file);
}

/* The note that comes within so long; "": none does. */
static const char *note_within(double ms) {
    double end = clock_ms() + ms;
    for (double left = ms; left > 0; left = end - clock_ms())
        if (take_within(left + 1) && frame->notes)
            return frame->note[frame->notes % ENGINE_NOTES];
    return "";
}

/* The file changes when it has been read, and its first picture is still computed. */
TAP_WAITING_SUITE(engine_file_file_changes_early) {
    begin(false, OWN_FILE);
    write_own_file();
    state.view = state.menu.error_view;
    engine_request(engine, &state);
    const char *doing;
    while (doing = engine_doing(engine), !strcmp(doing, "scene") || !strcmp(doing, "features"))
        sched_yield();
    bool changed = utimensat(AT_FDCWD, own_file, (struct timespec[2]){{1, 0}, {1, 0}}, 0) == 0;
    tap_ok(changed && strstr(note_within(PATIENCE_MS), "it has changed, read again"),
           "a file that changes before its first picture is there is read again");
    unlink(own_file);
    engine_close(engine);
}

TAP_WAITING_SUITE(engine_file_file_stays) {
    begin(false, OWN_FILE);
    enum { LOOKS_MS = 1500 };
    write_own_file();
    bool shown = ask()->loads == 1;
    state.job.scene = MISSING;
    tap_ok(shown && ask()->live.error_text[0] && !strcmp(note_within(LOOKS_MS), ""),
           "a scene that is not there says nothing about the file of the one that is shown");
    unlink(own_file);
    engine_close(engine);
}
