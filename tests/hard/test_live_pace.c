/* The live display at its full size, on a terminal and in a window at once: how fast it answers
 * keys and how many pictures it shows in a second. The program measures both and says them when it
 * quits.
 *
 * PACE_STRICT=1 compares with the limits for two quiet cores. Without it the limits are several
 * times wider, for other machines and sanitizers. PACE_KEYS sets the number of keys, HARD_SEED
 * which ones; PACE_MODE ("paused") runs one mode alone. PACE_DEVICE (cpu) is the backend, PACE_FPS
 * and PACE_MS are other limits of pictures and of keys: tests/gpu.sh asks a GPU for 60 and 40 ms.
 */
#include "tests/support/load.h"
#include "tests/support/pty_check.h"
#include "tests/support/typed.h"

enum { COLUMNS = 200, ROWS = 60, WARM_S = 4 };

/* How keys are typed; HELD: they come faster than any screen is drawn. */
typedef enum { UNTOUCHED, PLAYING, PAUSED, HELD, MODE_COUNT } Mode;
static const char *const modes[MODE_COUNT] = {"untouched", "playing", "paused", "held"};
static const double key_ms[MODE_COUNT] = {0, 100, 100, 1};
enum { HELD_KEYS = 3000 };

typedef struct {
    double first_ms, fps, key_ms, p99_ms;
    long keys;
} Figures;

/* ---- keys ------------------------------------------------------------------------------------ */

/* All controls but those that leave, write files or select another size, and but `play`, which this
 * test uses itself. Defects run on the CPU, whatever the device. */
static TypedControls typed_controls(void) {
    static const Action out[] = {ACTION_QUIT,   ACTION_SNAPSHOT, ACTION_RECORD, ACTION_CONFIG,
                                 ACTION_SCENE,  ACTION_CHANNELS, ACTION_PLAY,   ACTION_STEP,
                                 ACTION_LESSON, ACTION_DEFECT};
    return typed_all_but(out, sizeof out / sizeof *out);
}

/* ---- one run --------------------------------------------------------------------------------- */

/* A number with its unit behind `label`, in ms; -1: not there. */
static double duration_after(const char *line, const char *label) {
    const char *at = strstr(line, label);
    double value;
    char unit[4] = "";
    if (!at || sscanf(at + strlen(label), " %lf %3[a-z]", &value, unit) != 2)
        return -1;
    return !strcmp(unit, "us") ? value * 1e-3 : !strcmp(unit, "s") ? value * 1e3 : value;
}

static bool read_figures(const char *line, Figures *figures) {
    const char *moments = strstr(line, " moments a second"), *start = moments;
    while (start && start > line && start[-1] != ' ')
        start--;
    *figures = (Figures){duration_after(line, "first picture after"), start ? atof(start) : -1,
                         duration_after(line, "key to picture"), duration_after(line, "p99"), 0};
    const char *count = strchr(line, '(');
    figures->keys = count ? atol(count + 1) : 0;
    return figures->first_ms > 0;
}

static bool run(int count, Mode mode, Figures *figures) {
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy",
                                 NULL};
    char line[512], text[TYPED_TEXT];
    const TypedControls controls = typed_controls();
    Pty pty;
    bool ok = pty_bevscope(&pty, COLUMNS, ROWS, environment, "canonical --device %s",
                           typed_word("PACE_DEVICE", "cpu")) &&
              pty_wait_text(&pty, "kernel", 0, PATIENCE_S);
    pty_read(&pty, WARM_S);
    if (mode == PAUSED)
        pty_type(&pty, " ");
    for (int i = 0; ok && i < count; i++) {
        typed_text(typed_random(&controls), text);
        pty_type(&pty, text);
        pty_read(&pty, key_ms[mode] * 1e-3);
    }
    pty_read(&pty, 1);
    for (int i = 0; i < 4; i++) { /* pages and a command line may be open, one above another */
        pty_type(&pty, "\033");
        pty_read(&pty, 0.2);
    }
    pty_type(&pty, "q");
    ok = ok && exits_with(&pty, 0);
    pty_last_line(&pty, line, sizeof line);
    const char *said = strstr(line, "bevscope: ");
    tap_note("%s: %s", modes[mode], said ? said : line);
    pty_end(&pty);
    return ok && read_figures(line, figures);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

typedef struct {
    double first_ms, p99_ms, fps;
    int keys;
} Limits;

/* If every drawing gave way to keys, the first answer would come after the last key. */
static void check_held(const Figures *figures, const Load *before) {
    const double most_ms = HELD_KEYS * key_ms[HELD] / 3;
#ifdef __SANITIZE_ADDRESS__
    tap_skip("held: keys are answered while others come", "a sanitizer's drawings take too long");
    (void)figures, (void)before, (void)most_ms;
#else
    tap_ok_unless_loaded(figures->keys > 0 && figures->p99_ms < most_ms, before,
                         "held: keys are answered while others come");
#endif
}

static void check(const Figures *figures, Mode mode, const Limits *limits, const Load *before) {
    tap_ok_unless_loaded(figures->first_ms <= limits->first_ms, before,
                         "%s: first picture within %.1f s", modes[mode], limits->first_ms * 1e-3);
    if (mode == UNTOUCHED)
        tap_ok_unless_loaded(figures->fps >= limits->fps, before, "%.0f pictures a second",
                             limits->fps);
    else if (mode == HELD)
        check_held(figures, before);
    else
        tap_ok_unless_loaded(figures->keys >= limits->keys && figures->key_ms > 0 &&
                                 figures->key_ms <= figures->p99_ms &&
                                 figures->p99_ms <= limits->p99_ms,
                             before, "%s: key to picture within %.1f s for 99 of 100", modes[mode],
                             limits->p99_ms * 1e-3);
}

TAP_HARD_SUITE(live_pace) {
    bool strict = getenv("PACE_STRICT") != NULL;
    int count = typed_number("PACE_KEYS", strict ? 300 : 40);
    const int least = count / 2; /* some controls change nothing here */
    Limits limits = strict ? (Limits){1500, 100, 20, least} : (Limits){10000, 2000, 2, least};
    limits.fps = getenv("PACE_FPS") ? atof(getenv("PACE_FPS")) : limits.fps;
    limits.p99_ms = getenv("PACE_MS") ? atof(getenv("PACE_MS")) : limits.p99_ms;
    const char *only = getenv("PACE_MODE");
    for (Mode mode = 0; mode < MODE_COUNT; mode++) {
        if (only && strcmp(only, modes[mode]) != 0)
            continue;
        srand(typed_seed(1));
        Figures figures = {.keys = 0};
        int typed = mode == UNTOUCHED ? 0 : mode == HELD ? HELD_KEYS : count;
        const Load before = load_now();
        bool ok = run(typed, mode, &figures);
        tap_note("others had %.0f%% of the cores", 100 * load_of_others(&before));
        tap_ok(ok, "%s: runs, quits, and says how it went", modes[mode]);
        if (ok)
            check(&figures, mode, &limits, &before);
    }
}
