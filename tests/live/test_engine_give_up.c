/* Work that nobody waits for any more is given up: a run of the pipeline, a picture. */
#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/live/engine.h"
#include "src/live/pipeline.h"
#include "tests/live/engine_fixture.h"
#include "tests/support/tap.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct {
    atomic_int asked;
    int patience; /* gives up when it is asked more often than that */
} Impatience;

static bool is_impatient(void *context) {
    Impatience *impatience = context;
    return ++impatience->asked > impatience->patience;
}

/* How often a run asks whether it is to be given up. */
static int count_asked(State *state) {
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
TAP_SUITE(engine_give_up_giving_up) {
    enum { STAGES = 5, FEW = 240, LAST = 8 };
    Pipeline *pipeline, *fresh_one;
    Err err;
    State state = fresh(SMALL);
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
        int left = asked - LAST - patience; /* of the last ones each is tried */
        step = left > FEW ? FEW : left > 0 ? left : 1;
        Impatience impatience = {.patience = patience};
        PipelineNeeds needs = {
            .fp64_original = true, .sharp = true, .give_up = {is_impatient, &impatience}};
        state.job.time_s = 1 + ++tried;                    /* nothing of it was seen yet, */
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

/* A scene that cannot be loaded is not kept, not even where the run was given up meanwhile. */
TAP_SUITE(engine_give_up_no_scene) {
    static const char *const missing[] = {"no/such/scene.json"};
    Pipeline *pipeline;
    Err err;
    State state = fresh(ASYMMETRIC);
    LiveData live;
    Impatience impatience = {.patience = 0};
    PipelineNeeds hurried = {.give_up = {is_impatient, &impatience}};
    live_init(&live);
    state.menu.scenes = (Menu){missing, 1};
    state.job.scene = 0;
    bool ok = pipeline_open(&pipeline, &err);
    tap_ok(ok && pipeline_run(pipeline, &state, hurried, &live, &err) == PIPELINE_GIVEN_UP,
           "a run is given up while its scene fails to load");
    for (int i = 0; i < 2; i++) {
        err = (Err){0};
        PipelineEnd end = ok ? pipeline_run(pipeline, &state, (PipelineNeeds){0}, &live, &err)
                             : PIPELINE_DONE;
        tap_ok(end == PIPELINE_FAILED && !strcmp(err.where, missing[0]),
               "it was not kept, the next one fails to load it: %s", err.what);
    }
    pipeline_close(pipeline);
}

/* ---- pictures -------------------------------------------------------------------------------- */

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

static Picture *make_picture(const State *state, const LiveData *live, Picture *previous,
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
TAP_SUITE(engine_give_up_giving_up_the_picture) {
    int shown = interrupt_pictures(true);
    tap_ok(shown > 0,
           "a request that comes while a picture is made takes its place, without an error");
    tap_ok(shown > 0 && interrupting.given_up == 1, "of two pictures in a row one is given up");
    shown = interrupt_pictures(false);
    tap_ok(shown == 0 && interrupting.given_up == 0,
           "what a key has waited for does not give way to the next one");
}
