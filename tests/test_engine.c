/* The live engine: what its frames hold, that they stay whole, and that nobody waits for it. */
#include "tests/load.h"

#include "src/live/engine.h"
#include "src/base/ref.h"
#include "src/accuracy/fp64.h"
#include "src/base/clock.h"
#include "src/scene/workload.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 150000 }; /* other tests may have the machine */

static char own_file[64]; /* a copy of intersection.json, while a test has one */
static const char *const scenes[] = {"toy", "asymmetric", "intersection", "no-such-scene.json",
                                     own_file};
enum { TOY, ASYMMETRIC, INTERSECTION, MISSING, OWN_FILE, SCENES };

static State fresh(int scene) {
    static const char *const views[] = {"color", "error"};
    static const char *const colormaps[] = {"auto"};
    const StateMenu menu = {.scenes = {scenes, SCENES},
                            .views = {views, 2},
                            .error_view = 1,
                            .channel_view = -1,
                            .colormaps = {colormaps, 1},
                            .where = 1u << BEV_CPU};
    static State state; /* too large for some stacks */
    state_init(&state, &menu, scene);
    state.job.config.kernel = bev_kernel_find("cpu_v3");
    state.job.config.dtype = BEV_FP16;
    state.job.baseline = state.job.config;
    state.job.baseline.kernel = bev_kernel_find("cpu_v2");
    state.playing = false;
    return state;
}

static Engine *open_engine(bool background) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .background = background};
    Engine *engine;
    Err err;
    if (!engine_open(&engine, &options, &err)) {
        tap_note("%s: %s", err.where, err.what);
        exit(1);
    }
    return engine;
}

static const EngineFrame *take(Engine *engine) {
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    return poll(&waiting, 1, PATIENCE_MS) == 1 ? engine_take(engine) : NULL;
}

/* Requests a frame of this state and waits for it. */
static const EngineFrame *ask(Engine *engine, State *state) {
    const EngineFrame *frame;
    state->job.serial++;
    engine_request(engine, state);
    while ((frame = take(engine)) && frame->state.job.serial != state->job.serial) {
    }
    return frame;
}

static bool is_sharp(const EngineFrame *frame) {
    return frame->live.frame.cameras->w > frame->live.frame.rig->frustum.feat_w;
}

/* The newest frame once the picture has been refined as far as it will be. */
static const EngineFrame *settle(Engine *engine, const EngineFrame *frame) {
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    while (frame && poll(&waiting, 1, is_sharp(frame) ? 1500 : PATIENCE_MS) == 1) {
        const EngineFrame *next = engine_take(engine);
        frame = next ? next : frame;
    }
    return frame;
}

/* ---- FP64 ------------------------------------------------------------------------------------ */

static void test_truth(const char *scene, BevAlign align) {
    Workload workload;
    HostProblem problem;
    Err err;
    const BevMap *map = NULL;
    bool ok = workload_open(&workload, scene, NULL, &err) &&
              (map = workload_map(&workload, align, &err)) &&
              workload_problem(&workload, BEV_FP32, align, &problem, &err);
    const BevShape *shape = &workload.scene.shape;
    size_t bytes = (size_t)(shape->nx * shape->ny * shape->channels) * sizeof(double);
    double *fast = malloc(bytes), *obvious = malloc(bytes);
    if (ok) {
        fp64_pool(shape, map, &workload.features, fast);
        bev_reference(&problem.view, obvious, NULL);
    }
    tap_ok(ok && map->points > 0 && !memcmp(fast, obvious, bytes),
           "%s, %s: fast FP64 pooling has the reference's bits", scene, bev_aligns[align].name);
    free(fast);
    free(obvious);
    problem_free(&problem);
    workload_close(&workload);
}

/* ---- calibration errors ---------------------------------------------------------------------- */

static void test_bend(void) {
    Camera camera;
    const double at[3] = {1, 2, 1.5};
    camera_set_pose(&camera, 30, 0, 0, at);
    camera_apply_error(&camera, &(CameraError){.yaw_deg = 5, .height_m = 0.25});
    Camera want;
    camera_set_pose(&want, 35, 0, 0, (double[]){1, 2, 1.75});
    double worst = 0;
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(camera.rotation[i] - want.rotation[i]));
    tap_ok(worst < 1e-12 && camera.position_m[2] == 1.75, "yaw and height errors move a camera");
    camera_set_pose(&camera, 30, 1, 0, at);
    camera_apply_error(&camera, &(CameraError){.pitch_deg = 2});
    camera_set_pose(&want, 30, 3, 0, at);
    worst = 0;
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(camera.rotation[i] - want.rotation[i]));
    tap_ok(worst < 1e-12, "a positive pitch error looks up");
}

/* ---- frames ---------------------------------------------------------------------------------- */

static double sum_of(const LiveFrame *frame) {
    double sum = 0;
    for (int64_t i = 0; i < frame->nx * frame->ny * frame->channels; i++)
        sum += (double)frame->pooled[i] * (double)(i % 97 + 1);
    return sum;
}

static void test_contents(void) {
    Engine *engine = open_engine(false);
    State state = fresh(ASYMMETRIC);
    const EngineFrame *frame = ask(engine, &state);
    tap_ok(frame && frame->facts.nx == frame->live.frame.nx && frame->loads == 1 &&
               frame->facts.has_world && frame->live.frame.cameras,
           "the first frame brings the scene");
    tap_ok(frame && frame->live.memory.known &&
               frame->live.intervals.stats.points == frame->live.frame.map->points,
           "and what its map is made of");
    double bytes = frame ? bev_footprint_total(frame->live.memory.footprint) : 0;
    int64_t points = frame ? frame->live.frame.map->points : 0;
    state.job.config.dtype = BEV_FP8;
    frame = ask(engine, &state);
    tap_ok(frame && bev_footprint_total(frame->live.memory.footprint) < bytes &&
               !frame->live.frame.fp64_original,
           "FP8 is smaller");
    state.job.camera_mask = 1;
    frame = ask(engine, &state);
    tap_ok(frame && frame->live.frame.map->points < points, "dirty lenses take points away");
    state.job.pool_baseline = true;
    state.job.baseline.align = BEV_BILINEAR;
    state.view = state.menu.error_view;
    frame = ask(engine, &state);
    tap_ok(frame && frame->live.frame.baseline && frame->live.frame.fp64_original,
           "a baseline of another align, and FP64 for the error view");
    frame = settle(engine, frame);
    uint64_t content = frame ? frame->live.frame.content : 0;
    const float *pooled = frame ? frame->live.frame.pooled : NULL;
    tap_ok(frame && is_sharp(frame), "sharp camera views once nothing moves");
    state.job.probe_cell = 5;
    frame = ask(engine, &state);
    tap_ok(frame && frame->live.frame.content == content && frame->live.frame.pooled == pooled,
           "a probe alone changes no picture");
    engine_close(engine);
}

/* The fullest cell whose points all fit a probe's list. */
static int64_t busy_cell(const LiveFrame *frame) {
    const BevMap *map = frame->map;
    int64_t cell = -1;
    int32_t most = 1;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t here = map->ranks_bev[map->interval_starts[i]];
        int32_t points = map->interval_lengths[i];
        if (points > most && points <= LIVE_MAX_CONTRIBUTIONS &&
            frame->pooled[here * frame->channels] != 0) {
            most = points;
            cell = here;
        }
    }
    return cell;
}

/* The baseline as it was with the rig that it was pinned with, whatever is done to the rig since. */
static void test_pinned_rig(void) {
    Engine *engine = open_engine(false);
    State state = fresh(ASYMMETRIC);
    state.job.baseline = state.job.config;
    state.job.baseline_pinned = state.job.pool_baseline = true;
    state.job.baseline_rig = job_rig(&state.job);
    const EngineFrame *frame = ask(engine, &state);
    const LiveFrame *shown = &frame->live.frame;
    size_t bytes = (size_t)(shown->nx * shown->ny * shown->channels) * sizeof(float);
    float *clean = malloc(bytes);
    memcpy(clean, shown->pooled, bytes);
    tap_ok(frame->live.difference.known && frame->live.difference.cells == 0 &&
               frame->live.difference.moved_m == 0,
           "a baseline just pinned is what is shown");
    static const char *const changes[] = {"yaw", "a camera off", "temperature", "evenness"};
    for (int i = 0; i < 4; i++) {
        state.job.camera_errors[0].yaw_deg = i == 0;
        state.job.camera_mask = i == 1 ? UINT32_MAX - 1 : UINT32_MAX;
        state.job.temperature = i == 2 ? 4 : 1;
        state.job.evenness = i == 3;
        frame = ask(engine, &state);
        const LiveDifference *difference = &frame->live.difference;
        double moved_m = i == 0 ? 2 * 40 * sin(M_PI / 360) : 0;
        tap_ok(!memcmp(frame->live.frame.baseline, clean, bytes) &&
                   memcmp(frame->live.frame.pooled, clean, bytes) && difference->cells > 0 &&
                   fabs(difference->moved_m - moved_m) < 0.02,
               "%s: the baseline stays, %lld cells differ, 40 m moved %.2f m", changes[i],
               (long long)difference->cells, difference->moved_m);
    }
    state.job.evenness = 0;
    frame = ask(engine, &state);
    tap_ok(frame->live.difference.cells == 0, "and all is well when all is repaired");
    state.job.pool_baseline = false;
    frame = ask(engine, &state);
    tap_ok(!frame->live.difference.known, "without a comparison nothing is compared");
    free(clean);
    engine_close(engine);
}

static void test_probe(void) {
    Engine *engine = open_engine(false);
    State state = fresh(ASYMMETRIC);
    state.job.config.dtype = BEV_FP32;
    const EngineFrame *frame = ask(engine, &state);
    state.job.probe_cell = frame ? busy_cell(&frame->live.frame) : -1;
    frame = ask(engine, &state);
    const LiveProbe *probe = &frame->live.probe;
    const LiveFrame *shown = &frame->live.frame;
    const Frustum *frustum = &shown->rig->frustum;
    double sum = 0;
    for (int i = 0; i < probe->contribution_count; i++) {
        const LiveContribution *one = &probe->contributions[i];
        int64_t pixel =
            ((int64_t)one->camera * frustum->feat_h + one->h) * frustum->feat_w + one->w;
        sum += (double)one->depth * one->weight * shown->features->feat[pixel * shown->channels];
    }
    double got = shown->pooled[probe->cell * shown->channels];
    tap_ok(probe->contribution_count == probe->points && probe->points > 1 &&
               fabs(sum - got) <= 1e-5 * fmax(fabs(got), 1),
           "the contributions of a cell add up to its value");
    tap_ok(fabs(probe->value - probe->fp64_original) < 1e-4 * probe->fp64_original,
           "and its FP64 value is near");
    state.job.probe_cell = shown->nx * shown->ny + 7;
    frame = ask(engine, &state);
    tap_ok(frame && frame->live.probe.cell == -1, "a cell outside the grid is none");
    engine_close(engine);
}

static void test_bad_scene(void) {
    Engine *engine = open_engine(false);
    State state = fresh(MISSING);
    const EngineFrame *frame = ask(engine, &state);
    tap_ok(frame && frame->live.error_text[0] && frame->loads == 0,
           "a scene that is not there: said");
    state.job.scene = TOY;
    frame = ask(engine, &state);
    tap_ok(frame && !frame->live.error_text[0] && frame->loads == 1, "the next one is shown");
    double sum = frame ? sum_of(&frame->live.frame) : 0;
    state.job.scene = MISSING;
    frame = ask(engine, &state);
    tap_ok(frame && frame->live.error_text[0] && frame->live.frame.pooled &&
               sum_of(&frame->live.frame) == sum,
           "after a failure the last good picture stays");
    engine_close(engine);
}

static bool no_thread_begin(Err *err) {
    return err_set(err, ERR_FAILED, "trial", "", "the thread cannot begin");
}

/* The thread has something to tell before anything was asked. */
static void test_begin_fails(void) {
    enum { SOON_MS = 300 };
    const EngineOptions options = {.where = 1u << BEV_CPU, .thread_begin = no_thread_begin};
    Engine *engine;
    Err err;
    tap_need(engine_open(&engine, &options, &err), "an engine");
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    bool quiet = poll(&waiting, 1, SOON_MS) == 0;
    State state = fresh(TOY);
    const EngineFrame *frame = ask(engine, &state);
    tap_ok(quiet && frame && frame->loads == 1 && frame->errors == 1 &&
               !strcmp(frame->err.what, "the thread cannot begin"),
           "what fails before the first request is told with its frame");
    engine_close(engine);
}

/* ---- the scene's file ------------------------------------------------------------------------ */

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
        const EngineFrame *frame = poll(&waiting, 1, (int)left + 1) == 1 ? engine_take(engine) : NULL;
        if (frame && frame->notes)
            return frame->note[frame->notes % ENGINE_NOTES];
    }
    return "";
}

/* The file changes when it has been read, and its first picture is still computed. */
static void test_file_changes_early(void) {
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

static void test_file_stays(void) {
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

/* ---- handing over ---------------------------------------------------------------------------- */

static void test_mailbox(void) {
    enum { REQUESTS = 400 };
    Engine *engine = open_engine(true);
    State state = fresh(TOY);
    const EngineFrame *frame = ask(engine, &state);
    double sum = frame ? sum_of(&frame->live.frame) : 0, slowest = 0;
    for (int i = 0; i < REQUESTS; i++) {
        state.job.serial++;
        state.job.time_s = 0.01 * i;
        double begun = clock_ms();
        engine_request(engine, &state);
        slowest = fmax(slowest, clock_ms() - begun);
    }
    tap_ok(frame && sum_of(&frame->live.frame) == sum, "a frame stays whole while others are made");
    int frames = 0;
    uint64_t last = 0;
    while (last != state.job.serial && (frame = take(engine))) {
        frames++;
        if (frame->state.job.serial < last)
            break;
        last = frame->state.job.serial;
    }
    tap_ok(last == state.job.serial && frames <= REQUESTS, "of %d requests the last is answered",
           REQUESTS);
    tap_note("%d frames; the slowest request took %.2f ms", frames, slowest);
    state.job.serial++;
    engine_request(engine, &state);
    engine_close(engine); /* in the middle of it all */
    tap_ok(true, "closes while it computes");
}

/* ---- background ------------------------------------------------------------------------------ */

static bool all_known(const LiveData *live) {
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *row = &live->kernels[i];
        if (!row->skipped && (row->median_us.source != SOURCE_MEASURED || row->median_us.stale))
            return false;
    }
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (live->accuracy[dtype].source == SOURCE_UNKNOWN || live->accuracy[dtype].stale)
            return false;
    return live->kernel_count > 0 && live->baseline_us.source == SOURCE_MEASURED;
}

static bool all_pass(const LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        const LiveAccuracy *accuracy = &live->accuracy[dtype];
        if (accuracy->gate_a != LIVE_PASS || accuracy->gate_b != LIVE_PASS ||
            accuracy->gate_c != LIVE_PASS)
            return false;
    }
    return true;
}

static void test_background(void) {
    const Load before = load_now();
    Engine *engine = open_engine(true);
    State state = fresh(ASYMMETRIC);
    const EngineFrame *frame = ask(engine, &state);
    double end = clock_ms() + PATIENCE_MS;
    while (frame && !all_known(&frame->live) && clock_ms() < end)
        frame = take(engine);
    bool known = frame && all_known(&frame->live);
    tap_ok_unless_loaded(known, &before, "every kernel is timed, every format judged");
    if (known) {
        tap_ok(all_pass(&frame->live), "all gates of V3 pass");
        state.job.temperature = 2;
        frame = ask(engine, &state);
        tap_ok(frame && frame->live.accuracy[BEV_FP16].stale,
               "other values in the same cells: the old error stays, marked stale");
        state.job.temperature = 1;
        frame = ask(engine, &state);
        while (frame && !all_known(&frame->live) && clock_ms() < end)
            frame = take(engine);
        state.job.config.align = BEV_BILINEAR;
        frame = ask(engine, &state);
        tap_ok(frame && frame->live.accuracy[BEV_FP16].stale &&
                   live_kernel(&frame->live, state.job.config.kernel)->median_us.stale,
               "another align: the old figures stay, marked stale");
    }
    engine_close(engine);
}

/* How often the kernel was timed that was timed least, of those that can run. */
static int least_turns(const LiveData *live) {
    int least = INT_MAX;
    for (int i = 0; i < live->kernel_count; i++)
        if (!live->kernels[i].skipped && live->kernels[i].history_count < least)
            least = live->kernels[i].history_count;
    return least;
}

static void *spin(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) {
    }
    return NULL;
}

/* On a machine whose cores are taken, every kernel is timed, again and again. */
static void test_fair(void) {
    enum { SPINNERS = 3, TURNS = 3 };
    pthread_t threads[SPINNERS];
    atomic_bool stop = false;
    const Load before = load_now();
    Engine *engine = open_engine(true);
    State state = fresh(TOY);
    int started = 0;
    while (started < SPINNERS && !pthread_create(&threads[started], NULL, spin, &stop))
        started++;
    const EngineFrame *frame = ask(engine, &state);
    double end = clock_ms() + PATIENCE_MS;
    while (frame && least_turns(&frame->live) < TURNS && clock_ms() < end)
        frame = take(engine);
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    int turns = frame ? least_turns(&frame->live) : 0;
    tap_ok_unless_loaded(turns >= TURNS && started == SPINNERS, &before,
                         "on taken cores every kernel has its turns (%d)", turns);
    engine_close(engine);
}

static bool all_timed(const LiveData *live) {
    bool timed = live->kernel_count > 0;
    for (int i = 0; i < live->kernel_count; i++)
        timed = timed && (live->kernels[i].skipped ||
                          live->kernels[i].median_us.source == SOURCE_MEASURED);
    return timed;
}

/* The reference takes many frames' time; it is timed beside them and said to be unsettled. */
static void test_playing(void) {
    const Load before = load_now();
    Engine *engine = open_engine(true);
    State state = fresh(INTERSECTION);
    state.playing = true;
    const EngineFrame *frame = ask(engine, &state);
    double end = clock_ms() + PATIENCE_MS;
    while (frame && !all_timed(&frame->live) && clock_ms() < end) {
        state.job.time_s += 0.05;
        frame = ask(engine, &state);
    }
    bool timed = frame && all_timed(&frame->live);
    tap_ok_unless_loaded(timed, &before, "every kernel has a figure while the street moves");
    const LiveKernel *slow = timed ? live_kernel(&frame->live, bev_kernel_find("reference")) : NULL;
    tap_ok_unless_loaded(slow && slow->unsettled && slow->median_us.value > 0, &before,
                         "that of the reference is not to be quoted yet");
    engine_close(engine);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

typedef struct {
    atomic_int asked;
    int patience; /* gives up when it is asked more often than that */
} Impatience;

static bool is_impatient(void *context) {
    Impatience *impatience = context;
    return ++impatience->asked > impatience->patience;
}

/* How often a run asks whether it is to be given up. */
static int count_asked(const State *state) {
    Pipeline *pipeline;
    Err err;
    LiveData live;
    Impatience patient = {.patience = INT_MAX};
    PipelineNeeds needs = {
        .fp64_original = true, .sharp = true, .give_up = {is_impatient, &patient}};
    live_init(&live);
    bool ok = pipeline_open(&pipeline, &err) &&
              pipeline_run(pipeline, state, needs, &live, &err) == PIPELINE_DONE;
    pipeline_close(pipeline);
    return ok ? patient.asked : 0;
}

/* A run that is given up, within its features, its camera views or after any stage, shows nothing,
 * and what comes after it is as if it had never been. */
static void test_giving_up(void) {
    enum { STAGES = 5, FEW = 97, LAST = 12 };
    Pipeline *pipeline, *fresh_one;
    Err err;
    State state = fresh(ASYMMETRIC);
    LiveData live, want;
    live_init(&live);
    live_init(&want);
    state.job.pool_baseline = true;
    bool ok = pipeline_open(&pipeline, &err) && pipeline_open(&fresh_one, &err);
    ok = ok && pipeline_run(pipeline, &state, (PipelineNeeds){.fp64_original = true}, &live,
                            &err) == PIPELINE_DONE;
    const float *shown = live.frame.pooled;
    double sum = ok ? sum_of(&live.frame) : 0;
    state.job.serial++;
    state.job.config.align = BEV_BILINEAR;
    int asked = count_asked(&state), tried = 0, given_up = 0;
    for (int patience = 0, step; ok && patience < asked; patience += step) {
        step = patience < asked - FEW - LAST ? FEW : patience < asked - LAST ? 7 : 1;
        Impatience impatience = {.patience = patience};
        PipelineNeeds needs = {
            .fp64_original = true, .sharp = true, .give_up = {is_impatient, &impatience}};
        state.job.time_s = 1 + ++tried; /* nothing of it was seen yet, */
        state.job.camera_errors[0].yaw_deg = 1e-9 * tried; /* nor is its map there */
        given_up += pipeline_run(pipeline, &state, needs, &live, &err) == PIPELINE_GIVEN_UP &&
                    live.serial != state.job.serial && live.frame.pooled == shown &&
                    sum_of(&live.frame) == sum;
    }
    tap_ok(asked > STAGES && given_up == tried,
           "a run can be given up wherever it asks: %d of %d places", given_up, tried);
    ok = ok &&
         pipeline_run(pipeline, &state, (PipelineNeeds){.fp64_original = true}, &live, &err) ==
             PIPELINE_DONE &&
         pipeline_run(fresh_one, &state, (PipelineNeeds){.fp64_original = true}, &want, &err) ==
             PIPELINE_DONE;
    tap_ok(ok && live.serial == state.job.serial && sum_of(&live.frame) == sum_of(&want.frame) &&
               live.stages_us[STAGE_FEATURES].value > 0,
           "the next one takes over what it left, and shows the same");
    pipeline_close(pipeline);
    pipeline_close(fresh_one);
}

enum {
    INTERRUPTED = 2,
    LONG_MS = 60
}; /* pictures during which the next request comes; its delay */

static struct {
    Engine *engine;
    State request;
    bool moves; /* requests are moments; else they are a key's, LONG_MS late */
    atomic_int begun, given_up;
} interrupting;

static void no_contents(void *contents) {
    (void)contents;
}

static void *make_picture(const State *state, const LiveData *live, void *previous,
                          const GiveUp *give_up, Err *err) {
    (void)state, (void)live, (void)previous, (void)err;
    if (atomic_fetch_add(&interrupting.begun, 1) < INTERRUPTED) {
        for (double end = clock_ms() + LONG_MS; !interrupting.moves && clock_ms() < end;)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        interrupting.request.job.serial++;
        interrupting.request.job.time_s += interrupting.moves;
        engine_request(interrupting.engine, &interrupting.request);
    }
    bool unwanted = given_up(give_up);
    atomic_fetch_add(&interrupting.given_up, unwanted);
    return unwanted ? NULL : ref_new(1, no_contents);
}

/* The first frame's serial, counted from that of the first request; the picture of each but the
 * last is interrupted by the next request. -1: no frame. */
static int interrupt_pictures(bool moves) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .make_picture = make_picture};
    Err err;
    interrupting.request = fresh(TOY);
    interrupting.request.job.time_s = moves; /* an engine begins at 0 */
    interrupting.moves = moves;
    interrupting.begun = interrupting.given_up = 0;
    uint64_t first = interrupting.request.job.serial;
    if (!engine_open(&interrupting.engine, &options, &err))
        return -1;
    engine_request(interrupting.engine, &interrupting.request);
    const EngineFrame *frame = take(interrupting.engine);
    bool fine = frame && frame->picture && !frame->live.error_text[0];
    int shown = fine ? (int)(frame->state.job.serial - first) : -1;
    while (frame && frame->state.job.serial != first + INTERRUPTED)
        frame = take(interrupting.engine);
    fine = fine && frame && frame->picture;
    engine_close(interrupting.engine);
    return fine ? shown : -1;
}

/* A request comes while the picture of the one before is made: that one is given up, but not two in
 * a row, and not what a key has waited for. */
static void test_giving_up_the_picture(void) {
    int shown = interrupt_pictures(true);
    tap_ok(shown > 0,
           "a request that comes while a picture is made takes its place, without an error");
    tap_ok(shown > 0 && interrupting.given_up == 1, "of two pictures in a row one is given up");
    shown = interrupt_pictures(false);
    tap_ok(shown == 0 && interrupting.given_up == 0,
           "what a key has waited for does not give way to the next one");
}

/* The last kernel stands in for the reference until the background thread has pooled it: the
 * engine's thread, which keys wait for, never runs it. */
static void test_slow_kernel(void) {
    const Load before = load_now();
    Engine *engine = open_engine(true);
    State state = fresh(INTERSECTION);
    state.job.config.kernel = bev_kernel_find("reference");
    const EngineFrame *frame = ask(engine, &state);
    tap_ok(frame && frame->live.stand_in, "a kernel that was never run keeps nobody waiting");
    double end = clock_ms() + PATIENCE_MS;
    while (frame && frame->live.stand_in && clock_ms() < end)
        frame = take(engine);
    const LiveKernel *slow = frame ? live_kernel(&frame->live, state.job.config.kernel) : NULL;
    tap_ok_unless_loaded(frame && !frame->live.stand_in &&
                             frame->inputs.pooled->config.kernel == state.job.config.kernel,
                         &before, "its own picture comes");
    tap_ok_unless_loaded(slow && slow->median_us.value > 0 &&
                             frame->live.stages_us[STAGE_POOL].value < slow->median_us.value / 2,
                         &before, "and the engine's thread did not pool it");
    state.job.probe_cell = 5;
    frame = ask(engine, &state);
    tap_ok_unless_loaded(frame && !frame->live.stand_in, &before,
                         "it stays for the next key that pools the same");
    engine_close(engine);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static double cpu_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
}

/* 20 frames a second on two cores are 100 ms of processor time a frame for everything; drawing
 * takes a part of that. Wall-clock time would depend on what else runs here. */
static void test_speed(void) {
    enum { FRAMES = 20, MAX_MS = 70 };
    Engine *engine = open_engine(false);
    State state = fresh(INTERSECTION);
    state.playing = true;
    const EngineFrame *frame = ask(engine, &state);
    const Load before = load_now();
    double cpu = cpu_ms(), wall = clock_ms();
    for (int i = 0; frame && i < FRAMES; i++) {
        state.job.time_s += 0.05;
        frame = ask(engine, &state);
    }
    cpu = (cpu_ms() - cpu) / FRAMES;
    wall = (clock_ms() - wall) / FRAMES;
    const char *waiting = getenv("OMP_WAIT_POLICY");
#ifdef __SANITIZE_ADDRESS__
    waiting = NULL;
#endif
    if (!waiting || strcmp(waiting, "passive") != 0)
        tap_skip("time of a frame", "sanitized, or threads that wait spin (OMP_WAIT_POLICY)");
    else
        tap_ok_unless_loaded(frame && cpu < MAX_MS, &before,
                             "a moment of the flagship takes %d ms of processor time", MAX_MS);
    tap_note("%.1f ms of processor time, %.1f ms", cpu, wall);
    engine_close(engine);
}

/* ---- memory model ---------------------------------------------------------------------------- */

static bool has_model(const EngineFrame *frame) {
    const LiveData *live = &frame->live;
    return live->model && model_of_kernel(live->model, live->job.config.kernel, &gpus[0]);
}

/* Of another problem than the frame's, or without the frame's owning it. */
static bool has_wrong_model(const EngineFrame *frame) {
    const MemoryModel *model = frame->live.model;
    return model != frame->model || (model && model->dtype != frame->live.job.config.dtype);
}

static void test_model(void) {
    Engine *engine = open_engine(true);
    State state = fresh(TOY);
    const EngineFrame *frame = ask(engine, &state);
    bool wrong = false;
    while (frame && !has_model(frame)) {
        wrong |= has_wrong_model(frame);
        frame = take(engine);
    }
    tap_ok(frame && frame->live.model->points == frame->live.frame.map->points,
           "the selection's memory model comes by itself");
    state.job.config.dtype = BEV_FP8;
    for (frame = ask(engine, &state); frame && !has_model(frame); frame = take(engine))
        wrong |= has_wrong_model(frame);
    tap_ok(frame && !wrong && !has_wrong_model(frame), "and is never that of another problem");
    engine_close(engine);
}

/* ---- hardware counters ----------------------------------------------------------------------- */

/* Without a GPU the answer is a note that says why. */
static void test_counters(void) {
    Engine *engine = open_engine(true);
    State state = fresh(TOY);
    const EngineFrame *frame = ask(engine, &state);
    bool quiet = frame && frame->notes == 0;
    state.counts++;
    engine_request(engine, &state);
    while (frame && !frame->notes)
        frame = take(engine);
    tap_ok(quiet && frame && strstr(frame->note[1], "counters: only a GPU has them") &&
               frame->live.counters.source == SOURCE_UNKNOWN && !frame->device_lost,
           "counters: asked for once, refused with the reason");
    engine_close(engine);
}

int main(void) {
    test_model();
    test_counters();
    test_truth("asymmetric", BEV_NEAREST);
    test_truth("asymmetric", BEV_BILINEAR);
    test_bend();
    test_contents();
    test_pinned_rig();
    test_probe();
    test_bad_scene();
    test_begin_fails();
    test_file_changes_early();
    test_file_stays();
    test_mailbox();
    test_background();
    test_fair();
    test_playing();
    test_giving_up();
    test_giving_up_the_picture();
    test_slow_kernel();
    test_speed();
    return tap_done();
}
