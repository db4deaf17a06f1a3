/* The file of a scene changes while the engine shows it. */
#include "src/base/clock.h"
#include "src/live/engine.h"
#include "tests/live/engine_fixture.h"
#include "tests/support/tap.h"

#include <fcntl.h>
#include <poll.h>
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
static const char *note_within(Engine *engine, double ms) {
    double end = clock_ms() + ms;
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    for (double left = ms; left > 0; left = end - clock_ms()) {
        const EngineFrame *frame =
            poll(&waiting, 1, (int)left + 1) == 1 ? engine_take(engine) : NULL;
        if (frame && frame->notes)
            return frame->note[frame->notes % ENGINE_NOTES];
    }
    return "";
}

/* The file changes when it has been read, and its first picture is still computed. */
TAP_WAITING_SUITE(engine_file_file_changes_early) {
    Engine *engine = open_engine(false);
    write_own_file();
    State state = fresh(OWN_FILE);
    state.view = state.menu.error_view;
    engine_request(engine, &state);
    const char *doing;
    while (doing = engine_doing(engine), !strcmp(doing, "scene") || !strcmp(doing, "features"))
        sched_yield();
    bool changed = utimensat(AT_FDCWD, own_file, (struct timespec[2]){{1, 0}, {1, 0}}, 0) == 0;
    tap_ok(changed && strstr(note_within(engine, PATIENCE_MS), "it has changed, read again"),
           "a file that changes before its first picture is there is read again");
    unlink(own_file);
    engine_close(engine);
}

TAP_WAITING_SUITE(engine_file_file_stays) {
    enum { LOOKS_MS = 1500 };
    Engine *engine = open_engine(false);
    write_own_file();
    State state = fresh(OWN_FILE);
    const EngineFrame *frame = ask(engine, &state);
    bool shown = frame && frame->loads == 1;
    state.job.scene = MISSING;
    frame = ask(engine, &state);
    tap_ok(shown && frame && frame->live.error_text[0] &&
               !strcmp(note_within(engine, LOOKS_MS), ""),
           "a scene that is not there says nothing about the file of the one that is shown");
    unlink(own_file);
    engine_close(engine);
}
