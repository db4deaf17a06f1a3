/* The memory budget of the live display: on a scene whose grids take 133 MB each the program stays
 * within LIVE_BUDGET_MB in every view, chart, page and number format, with a comparison, at the
 * default align, and says what it gives up for that.
 *
 *     make check TESTS=tests/test_budget
 *     BUDGET_KEYS=3000 make check TESTS=tests/test_budget    random keys after that
 *
 * BUDGET_SCENE (xlarge_c256), BUDGET_MS between keys (300). Bilinear maps have four points for each
 * of nearest and are left out: they take up to 150 MB more. */
#include "tests/pty.h"
#include "tests/tap.h"
#include "tests/typed.h"

#include "src/state/live_data.h"

#include <sys/wait.h>

enum { COLUMNS = 130, ROWS = 44, PATIENCE_S = 120, WRITE_S = 2, RANDOM_SEED = 7 };

/* Errors, a comparison with every format, every chart, steps, help, glossary, a moving world, and
 * the comparison's other forms. */
static const char *const tour[] = {"e", "x", "d", "d", "d", "d", "d",    "/", "/", "/", "/", "/",
                                   "/", "_", "_", "?", "?", "W", "\033", " ", "t", "y", " ", "x",
                                   "k", "k", "x", "x", "v", "v", "o",    "u", "u", "}"};
enum { TOUR = sizeof tour / sizeof *tour };

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* The most memory that was resident so far, in MB; -1: the program has ended. */
static long peak_mb(pid_t pid) {
    char path[64], line[256];
    long kb = -1024;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kb);
    if (status)
        fclose(status);
    return kb / 1024;
}

/* Every control but those that leave, write files, count, or choose another scene or align. */
static TypedControls some_controls(void) {
    static const Action out[] = {ACTION_QUIT,   ACTION_SNAPSHOT, ACTION_RECORD, ACTION_COUNTERS,
                                 ACTION_LESSON, ACTION_SCENE,    ACTION_CONFIG, ACTION_ALIGN};
    TypedControls controls;
    memset(controls.has, true, sizeof controls.has);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        controls.has[out[i]] = false;
    return controls;
}

/* Types, and returns the peak after each key's time. */
static long type(Pty *pty, const char *text) {
    pty_type(pty, text);
    pty_read(pty, number("BUDGET_MS", 300) * 1e-3);
    pty->length = 0;
    return peak_mb(pty->program);
}

int main(void) {
    const char *scene = getenv("BUDGET_SCENE");
    char *argv[] = {getenv("BEVSCOPE"), scene ? (char *)scene : "xlarge_c256",
                    "--device",         "cpu",
                    "--no-window",      NULL};
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    Pty pty;
    const TypedControls controls = some_controls();
    int status = 0, more = number("BUDGET_KEYS", 0);
    long peak = 0;
    if (!argv[0])
        return tap_skip_all("BEVSCOPE names the program: use make check");
#ifdef __SANITIZE_ADDRESS__
    return tap_skip_all("sanitizers keep what is freed");
#endif
    srand(RANDOM_SEED);
    bool ok = pty_start(&pty, COLUMNS, ROWS, argv, environment) &&
              pty_wait_text(&pty, "budget", 0, PATIENCE_S);
    tap_ok(ok, "the log says what is given up for the budget");
    for (int i = 0; ok && i < TOUR; i++)
        peak = type(&pty, tour[i]);
    tap_ok(ok && peak > 0 && peak <= LIVE_BUDGET_MB, "the tour of %d keys stays within %d MB",
           (int)TOUR, LIVE_BUDGET_MB);
    tap_note("%ld MB at most", peak);
    for (int i = 0; ok && i < more; i++) {
        char text[TYPED_TEXT];
        typed_text(typed_random(&controls), text);
        peak = type(&pty, text);
    }
    if (more)
        tap_ok(ok && peak > 0 && peak <= LIVE_BUDGET_MB, "%d random keys: %ld MB at most", more,
               peak);
    pty_read(&pty, WRITE_S);
    pty_type(&pty, "q");
    tap_ok(ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFEXITED(status) &&
               !WEXITSTATUS(status),
           "and it quits in order");
    pty_end(&pty);
    return tap_done();
}
