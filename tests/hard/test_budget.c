/* The memory budget of the live display: on scenes whose grids take 133 and 166 MB each the program
 * stays within LIVE_BUDGET_MB: in every view, chart, page and
 * number format, with a comparison, at every align, forward and backward.
 *
 *     make check TESTS=tests/check_hard FILTER=budget
 *     BUDGET_KEYS=3000 make check TESTS=tests/check_hard FILTER=budget    random keys after that
 *
 * BUDGET_SCENE: one scene in place of both. BUDGET_MS between keys (200). */
#include "tests/support/process.h"
#include "tests/support/pty.h"
#include "tests/support/tap.h"
#include "tests/support/typed.h"

#include "src/state/live_data.h"

#include <sys/wait.h>

enum { COLUMNS = 130, ROWS = 44, PATIENCE_S = 120, WRITE_S = 2, RANDOM_SEED = 7, LONGER = 4 };

#define PAGE_DOWN "\033[6~"
#define PAGE_UP   "\033[5~"
#define END       "\033[4~"
#define SHIFT_TAB "\033[Z"

/* Errors, a comparison with every format, every chart, steps, help, glossary, a moving world, and
 * the comparison's other forms. */
static const char *const pages[] = {"e", "x", "d", "d", "d", "d", "d",    "/", "/", "/", "/", "/",
                                    "/", "_", "_", "?", "?", "W", "\033", " ", "t", "y", " ", "x",
                                    "k", "k", "x", "x", "v", "v", "o",    "u", "u", "}"};

/* Bilinear and lattice maps have four points for each of nearest. Backward each kernel in FP32 is
 * launched beside a picture, where memory allows; a loss is asked for. */
static const char *const aligns[] = {"a", PAGE_DOWN, END,     "k",       "d",
                                     "k", "a",       PAGE_UP, SHIFT_TAB, "/"};

/* The most memory that was resident so far, in MB; 0: the program has ended. */
static long peak_mb(pid_t pid) {
    Holdings holdings;
    return process_holdings(pid, &holdings) ? holdings.peak_kb / 1024 : 0;
}

/* Every control but those that leave, write files, count, or choose another scene. Where the scene
 * keeps its `channels`, so do the keys: of 256, one FP32 grid of fine takes 531 MB. */
static TypedControls some_controls(bool channels) {
    static const Action out[] = {ACTION_QUIT,   ACTION_SNAPSHOT, ACTION_RECORD, ACTION_COUNTERS,
                                 ACTION_LESSON, ACTION_SCENE,    ACTION_CONFIG};
    TypedControls controls = typed_all_but(out, sizeof out / sizeof *out);
    controls.has[ACTION_CHANNELS] = !channels;
    return controls;
}

/* Types, and returns the peak after so many times the time of a key. */
static long type(Pty *pty, const char *text, int times) {
    pty_type(pty, text);
    pty_read(pty, times * typed_number("BUDGET_MS", 200) * 1e-3);
    pty->length = 0;
    return peak_mb(pty->program);
}

static void tour(Pty *pty, const char *scene, const char *of, const char *const *typed, int count,
                 int times) {
    long peak = 0;
    for (int i = 0; i < count; i++)
        peak = type(pty, typed[i], times);
    tap_ok(peak > 0 && peak <= LIVE_BUDGET_MB, "%s: %d keys of %s stay within %d MB", scene, count,
           of, LIVE_BUDGET_MB);
    tap_note("%ld MB at most", peak);
}

/* One key in 16 turns the direction. */
static void random_keys(Pty *pty, const char *scene, int count, bool channels) {
    const TypedControls controls = some_controls(channels);
    long peak = 0;
    bool backward = false;
    for (int i = 0; i < count; i++) {
        char text[TYPED_TEXT];
        typed_text(typed_random(&controls), text);
        if (i % 16 == 15)
            backward = !backward;
        peak = type(pty, i % 16 != 15 ? text : backward ? PAGE_DOWN : PAGE_UP, 1);
    }
    tap_ok(peak > 0 && peak <= LIVE_BUDGET_MB, "%s: %d random keys: %ld MB at most", scene, count,
           peak);
}

static void try_scene(const char *scene, bool all) {
    Pty pty;
    int status = 0, more = typed_number("BUDGET_KEYS", 0);
    bool ok = pty_bevscope(&pty, COLUMNS, ROWS, NULL, "%s --device cpu --no-window", scene) &&
              pty_wait_text(&pty, scene, 0, PATIENCE_S);
    tap_ok(ok, "%s: is shown", scene);
    if (ok && all)
        tour(&pty, scene, "all pages", pages, sizeof pages / sizeof *pages, 1);
    if (ok)
        tour(&pty, scene, "all aligns, forward and backward", aligns,
             sizeof aligns / sizeof *aligns, LONGER);
    if (ok && more)
        random_keys(&pty, scene, more, !all);
    pty_read(&pty, WRITE_S);
    pty_type(&pty, "q");
    tap_ok(ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFEXITED(status) &&
               !WEXITSTATUS(status),
           "%s: and it quits in order", scene);
    pty_end(&pty);
}

TAP_HARD_SUITE(budget) {
    const char *scene = getenv("BUDGET_SCENE");
#ifdef __SANITIZE_ADDRESS__
    tap_skip_suite("sanitizers keep what is freed");
#endif
    srand(typed_seed(RANDOM_SEED));
    try_scene(scene ? scene : "xlarge_c256", !scene || strcmp(scene, "fine"));
    if (!scene)
        try_scene("fine", false);
}
