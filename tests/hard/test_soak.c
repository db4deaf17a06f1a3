/* Random keys for a long time, on a terminal and in a window at once: memory, file descriptors and
 * threads must not grow.
 *
 * A larger scene or a comparison needs more memory, so each count is taken with the same settings:
 * a State in this test follows the same keys, knows what each control stands at, and types the keys
 * that lead back before each count. Then the test waits until the program has finished its
 * background work, and takes the lowest count of the seconds after that.
 *
 *     make check TESTS=tests/check_hard FILTER=soak                     a few keys on the smallest
 * scene SOAK_KEYS=36000 make check TESTS=tests/check_hard FILTER=soak     an hour, of which 5
 * minutes do not count
 *
 * SOAK_SCENE (toy), SOAK_DEVICE (cpu, cuda), SOAK_MS between keys (100), SOAK_ROUNDS of keys
 * and counts (12), SOAK_REST seconds that a count takes at least (2), SOAK_WINDOW=0 for the
 * terminal alone. Each count is a row of the log. */
#include "tests/support/process.h"
#include "tests/support/pty.h"
#include "tests/support/tap.h"
#include "tests/support/typed.h"
#include "tests/support/vt.h"

#include "src/scene/scene.h"
#include "src/ui/loop_internal.h"

#include <signal.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 130, ROWS = 44, PATIENCE_S = 120, SETTLE_S = 300 };
enum { FINGER_MS = 30, ALONE_MS = 150, LEAVE_S = 2, MANY_STEPS = 64 };
/* The limit for an hour; in the first minutes buffers still grow to their size. */
enum { HOUR_KB = 1024, MINUTE_KB = 32768 };
enum { GPU_MB = 64 }; /* the inputs of the kernels that are timed come and go */
enum { PASSING = 1 }; /* threads that may come and go: the OpenMP team of src/base/omp_wait.h */

static struct {
    const char *scene, *device;
    int keys, ms, rounds;
    double rest_s;
    bool window, hour;
} plan;

/* The program, and a State that follows its controls. */
static Pty pty;
static AppMenu menu;
static State state, home;

/* ---- keys ------------------------------------------------------------------------------------ */

/* What the engine says of a scene when it is loaded, as far as controls need it. */
static void tell_scene(void) {
    Scene scene;
    Err err;
    SceneFacts facts = {.aligns = (1u << BEV_ALIGN_COUNT) - 1};
    if (!scene_load(state.menu.scenes.names[state.job.scene], &scene, &err))
        return;
    facts.nx = scene.shape.nx;
    facts.ny = scene.shape.ny;
    facts.channels = scene.channels;
    facts.has_rig = scene.has_rig;
    facts.grid = scene.rig.grid;
    facts.has_world = scene.has_world;
    facts.grid = facts.whole = scene.rig.grid;
    facts.camera_count = scene.has_rig ? scene.rig.camera_count : 0;
    scene_free(&scene);
    state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &facts});
}

/* Esc and a key that come together would be one key with Alt. */
static void type(int32_t key) {
    Event event = {.kind = EVENT_COMMAND};
    char text[TYPED_TEXT];
    int scene = state.job.scene;
    typed_text(key, text);
    pty_type(&pty, text);
    if (key == KEYCODE_ESCAPE)
        pty_read(&pty, ALONE_MS * 1e-3);
    if (keys_find(key, &event.command))
        state_step(&state, &event);
    if (state.job.scene != scene)
        tell_scene();
}

/* ---- the way home ---------------------------------------------------------------------------- */

static bool is_home(Action action) {
    char here[64], there[64];
    state_value(&state, action, here, sizeof here);
    state_value(&home, action, there, sizeof there);
    return !strcmp(here, there);
}

static void step_home(Action action, int32_t key) {
    for (int i = 0; i < MANY_STEPS && !is_home(action); i++) {
        type(key);
        pty_read(&pty, FINGER_MS * 1e-3);
    }
}

/* Where a control has reached its limit, steps it the other way. */
static void controls_home(void) {
    for (int pass = 0; pass < 2; pass++)
        for (Action action = 0; action < ACTION_COUNT; action++) {
            if (action == ACTION_CONFIG || action == ACTION_SCENE || action == ACTION_STEP)
                continue;
            step_home(action, keys[action].keys[0]);
            if (keys[action].back > 0)
                step_home(action, keys[action].back);
        }
}

static void pause_world(void) {
    if (state.playing)
        type(' ');
}

/* A change of scene resets its time and its cameras. The other controls go home first: what they
 * make on the way belongs to the old scene and is freed with it. */
static void go_home(void) {
    bool config = home.job.scene < home.menu.preset_count;
    pause_world();
    while (state.help)
        type(KEYCODE_ESCAPE);
    if (state.job.baseline_pinned)
        type('p');
    controls_home();
    pause_world();
    type('s');
    pty_read(&pty, LEAVE_S);
    step_home(config ? ACTION_CONFIG : ACTION_SCENE, config ? 'g' : 's');
    type('f');
    controls_home();
}

/* Has the program draw the whole screen again, and reads that: chips have colours between words. */
static bool screen_says(const char *text) {
    static Vt screen;
    pty.length = 0;
    vt_open(&screen, COLUMNS, ROWS);
    pty_type(&pty, "\014");
    return vt_wait(&screen, &pty, text, 0, true, PATIENCE_S);
}

static bool came_home(void) {
    char title[64];
    kernel_config_label(&home.job.config, title, sizeof title);
    return screen_says(title) && screen_says("0.00 s");
}

/* Which controls did not come home, as far as the State knows. */
static void say_astray(void) {
    char here[64], there[64];
    for (Action action = 0; action < ACTION_COUNT; action++) {
        state_value(&state, action, here, sizeof here);
        state_value(&home, action, there, sizeof there);
        if (strcmp(here, there))
            tap_note("%s is at %s, home is %s", keys[action].word, here, there);
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct {
    Holdings held;
    long gpu_mb;
} Counted;

static Holdings least(Holdings a, Holdings b) {
    Holdings both = a.resident_kb < b.resident_kb ? a : b;
    both.files = a.files < b.files ? a.files : b.files;
    both.threads = a.threads < b.threads ? a.threads : b.threads;
    return both;
}

/* Waits until gates, slow launches and cache simulation are finished and the program uses little
 * CPU time; timings go on, once a second. */
static void settle(void) {
    static const double STEP_S = 0.1, NOTHING_S = 1e-3, BREATHS_S = 0.8;
    Busy before = process_busy(pty.program);
    double idle_s = 0, breaths_s = 0;
    for (double waited_s = 0; waited_s < SETTLE_S; waited_s += STEP_S) {
        pty_read(&pty, STEP_S);
        Busy now = process_busy(pty.program);
        bool idle = now.background_s - before.background_s < NOTHING_S;
        bool breath = now.foreground_s - before.foreground_s < STEP_S / 2;
        idle_s = idle ? idle_s + STEP_S : 0;
        breaths_s = !idle ? 0 : breath ? breaths_s + STEP_S : breaths_s;
        before = now;
        if (idle_s >= plan.rest_s && breaths_s >= BREATHS_S)
            return;
    }
}

static bool count(Counted *counted) {
    enum { READINGS = 40 };
    Holdings now, *held = &counted->held;
    go_home();
    bool ok = came_home();
    if (!ok)
        say_astray();
    *counted = (Counted){.gpu_mb = 0};
    settle();
    ok = ok && process_holdings(pty.program, held);
    for (int i = 0; i < READINGS && ok; i++) {
        pty_read(&pty, plan.rest_s / READINGS);
        ok = process_holdings(pty.program, &now);
        *held = least(*held, now);
    }
    counted->gpu_mb = gpu_used_mb();
    pty.length = 0; /* output of hours is not kept */
    return ok;
}

/* Every control but those that leave, write files, or count with the hardware, and those that a
 * State alone cannot follow: palette, undo, pages of help, evenness, which no key leads back, and
 * keys such as Page Down, of which the engine decides some. tests/hard/hard.py types them. */
static TypedControls all_controls(void) {
    TypedControls controls;
    memset(controls.has, true, sizeof controls.has);
    controls.has[ACTION_QUIT] = controls.has[ACTION_SNAPSHOT] = controls.has[ACTION_RECORD] =
        controls.has[ACTION_COUNTERS] = controls.has[ACTION_LESSON] =
            controls.has[ACTION_COMMANDS] = controls.has[ACTION_UNDO] = controls.has[ACTION_HELP] =
                controls.has[ACTION_GLOSSARY] = controls.has[ACTION_EVENNESS] = false;
    controls.plain = true;
    return controls;
}

static void type_for_a_while(int times) {
    const TypedControls controls = all_controls();
    for (int i = 0; i < times; i++) {
        type(typed_random(&controls));
        pty_read(&pty, plan.ms * 1e-3);
        pty.length = 0;
    }
}

/* ---- the test -------------------------------------------------------------------------------- */

static bool start(void) {
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy",
                                 NULL};
    unsigned where = 1u << (strcmp(plan.device, "cpu") ? BEV_CUDA : BEV_CPU);
    app_menu_open(&menu, where);
    int scene = app_menu_scene(&menu, plan.scene);
    state_init(&state, &menu.menu, scene);
    tell_scene();
    state_step(&state, &(Event){.kind = EVENT_RESIZE, .columns = COLUMNS, .rows = ROWS});
    if (plan.window)
        state_step(&state, &(Event){.kind = EVENT_WINDOW, .on = true});
    home = state;
    home.playing = false;
    return pty_bevscope(&pty, COLUMNS, ROWS, environment, "%s --device %s %s", plan.scene,
                        plan.device, plan.window ? "" : "--no-window") &&
           pty_wait_text(&pty, "kernel", 0, PATIENCE_S);
}

static void read_plan(void) {
    plan.scene = typed_word("SOAK_SCENE", "toy");
    plan.device = typed_word("SOAK_DEVICE", "cpu");
    plan.keys = typed_number("SOAK_KEYS", 200);
    plan.hour = plan.keys >= 36000;
    plan.ms = typed_number("SOAK_MS", getenv("SOAK_KEYS") ? 100 : 10);
    plan.rounds = typed_number("SOAK_ROUNDS", getenv("SOAK_KEYS") ? 12 : 2);
    plan.rest_s = typed_number("SOAK_REST", 2);
    plan.window = typed_number("SOAK_WINDOW", 1);
}

static void report(int typed, const Counted *counted) {
    const Holdings *held = &counted->held;
    tap_note("%6d keys: %ld kB resident, %ld kB anonymous, %d files, %d threads, %d mappings, "
             "GPU %ld MB",
             typed, held->resident_kb, held->anonymous_kb, held->files, held->threads,
             held->mappings, counted->gpu_mb);
    fflush(stdout);
}

static void take_least(Counted *so_far, const Counted *now, bool first) {
    long gpu_mb = first || now->gpu_mb < so_far->gpu_mb ? now->gpu_mb : so_far->gpu_mb;
    so_far->held = first ? now->held : least(so_far->held, now->held);
    so_far->gpu_mb = gpu_mb;
}

/* Compares the lowest count of the first half with that of the second half: memory that is kept for
 * a while raises single counts, a leak raises all of them. */
static bool soak(Counted *first, Counted *last) {
    int each = plan.keys / plan.rounds, half = (plan.rounds + 1) / 2;
    Counted now;
    *first = *last = (Counted){.gpu_mb = 0};
    bool ok = start();
    for (int round = 1; ok && round <= plan.rounds; round++) {
        type_for_a_while(each);
        ok = count(&now);
        report(round * each, &now);
        take_least(round <= half ? first : last, &now, round == 1 || round == half + 1);
    }
    return ok;
}

static void check(bool ok, const Counted *first, const Counted *last) {
    const Holdings *a = &first->held, *b = &last->held;
    long most_kb = plan.hour ? HOUR_KB : MINUTE_KB;
#ifdef __SANITIZE_ADDRESS__
    tap_skip("memory stays", "sanitizers keep what is freed");
#else
    tap_ok(ok && b->resident_kb - a->resident_kb < most_kb, "%d keys: memory stays, within %ld kB",
           plan.keys, most_kb);
#endif
    tap_note("grew by %ld kB", b->resident_kb - a->resident_kb);
    tap_ok(ok && b->files == a->files && abs(b->threads - a->threads) <= PASSING,
           "%d open files and %d threads, as before", b->files, b->threads);
    if (strcmp(plan.device, "cpu"))
        tap_ok(ok && first->gpu_mb > 0 && last->gpu_mb - first->gpu_mb < GPU_MB,
               "device memory stays, within %d MB", GPU_MB);
}

TAP_HARD_SUITE(soak) {
    Counted first, last;
    int status = 0;
    srand(typed_seed(2));
    read_plan();
    bool ok = soak(&first, &last);
    check(ok, &first, &last);
    pty_type(&pty, "q");
    ok = ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
    tap_ok(ok && pty_same_modes(&pty), "and it still quits in order");
    pty_end(&pty);
}
