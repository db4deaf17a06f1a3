/* SPDX-License-Identifier: MIT */
/* Work that nobody waits for any more is given up: a run of the pipeline, a picture. */
#include "src/base/ref.h"
#include "src/live/pipeline.h"
#include "tests/live/engine_fixture.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    atomic_int asked;
    int patience; /* gives up when it is asked more often than that */
} Impatience;

static bool is_impatient(void *context) {
    Impatience *impatience = context;
    return ++impatience->asked > impatience->patience;
}

static Pipeline *open_pipeline(LiveData *live) {
    Pipeline *pipeline;
    Err err;
    need(pipeline_open(&pipeline, &err), &err);
    live_init(live);
    return pipeline;
}

/* A run for the state; it asks `impatience`, if there is one. */
static PipelineEnd run(Pipeline *pipeline, LiveData *live, Impatience *impatience) {
    PipelineNeeds needs = {.fp64_original = true};
    Err err;
    if (impatience)
        needs.give_up = (GiveUp){is_impatient, impatience};
    return pipeline_run(pipeline, &state, needs, live, &err);
}

/* How often a run asks whether it is to be given up. */
static int count_asked(void) {
    LiveData live;
    Impatience patient = {.patience = INT_MAX};
    Pipeline *pipeline = open_pipeline(&live);
    tap_need(run(pipeline, &live, &patient) == PIPELINE_DONE, "a whole run");
    pipeline_close(pipeline);
    return patient.asked;
}

TAP_SUITE(engine_give_up_giving_up) {
    enum { STAGES = 5, FEW = 240, LAST = 8 };
    LiveData live, want;
    Pipeline *pipeline = open_pipeline(&live), *fresh_one = open_pipeline(&want);
    fresh(SMALL);
    state.job.pool_baseline = true;
    tap_need(run(pipeline, &live, NULL) == PIPELINE_DONE, "a picture");
    const float *shown = live.frame.pooled;
    double sum = sum_of(&live.frame);
    state.job.serial++;
    state.job.config.align = BEV_BILINEAR;
    int asked = count_asked(), tried = 0, given_up = 0;
    for (int patience = 0, step; patience < asked; patience += step) {
        int left = asked - LAST - patience; /* of the last ones each is tried */
        step = left > FEW ? FEW : left > 0 ? left : 1;
        Impatience impatience = {.patience = patience};
        state.job.time_s = 1 + ++tried;                    /* nothing of it was seen yet, */
        state.job.camera_errors[0].yaw_deg = 1e-9 * tried; /* nor is its map there */
        given_up += run(pipeline, &live, &impatience) == PIPELINE_GIVEN_UP &&
                    live.serial != state.job.serial && live.frame.pooled == shown &&
                    sum_of(&live.frame) == sum;
    }
    tap_ok(asked > STAGES && given_up == tried,
           "a run can be given up wherever it asks: %d of %d places", given_up, tried);
    bool ok =
        run(pipeline, &live, NULL) == PIPELINE_DONE && run(fresh_one, &want, NULL) == PIPELINE_DONE;
    tap_ok(ok && live.serial == state.job.serial && sum_of(&live.frame) == sum_of(&want.frame) &&
               live.stages_us[STAGE_FEATURES].value > 0,
           "the next one takes over what it left, and shows the same");
    pipeline_close(pipeline);
    pipeline_close(fresh_one);
}

TAP_SUITE(engine_give_up_no_scene) {
    static const char *const missing[] = {"no/such/scene.json"};
    LiveData live;
    Pipeline *pipeline = open_pipeline(&live);
    fresh(ASYMMETRIC);
    state.menu.scenes = (Menu){missing, 1};
    state.job.scene = 0;
    tap_ok(run(pipeline, &live, &(Impatience){.patience = 0}) == PIPELINE_GIVEN_UP,
           "a run is given up while its scene fails to load");
    for (int i = 0; i < 2; i++) {
        Err err = {0};
        PipelineEnd end = pipeline_run(pipeline, &state, (PipelineNeeds){0}, &live, &err);
        tap_ok(end == PIPELINE_FAILED && !strcmp(err.where, missing[0]),
               "it was not kept, the next one fails to load it: %s", err.what);
    }
    pipeline_close(pipeline);
}

/* Pictures during which the next request comes; its delay. */
enum { INTERRUPTED = 2, LONG_MS = 60 };

static struct {
    State request;
    bool moves; /* requests are moments; else they are a key's, LONG_MS late */
    atomic_int begun, given_up;
} interrupting;

static void no_contents(void *contents) {
    (void)contents;
}

static Picture *make_picture(const State *of, const LiveData *live, Picture *previous,
                             const GiveUp *give_up, Err *err) {
    (void)of, (void)live, (void)previous, (void)err;
    if (atomic_fetch_add(&interrupting.begun, 1) < INTERRUPTED) {
        for (double end = clock_ms() + LONG_MS; !interrupting.moves && clock_ms() < end;)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        interrupting.request.job.serial++;
        interrupting.request.job.time_s += interrupting.moves;
        engine_request(engine, &interrupting.request);
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
    if (!engine_open(&engine, &options, &err))
        return -1;
    engine_request(engine, &interrupting.request);
    take();
    bool fine = frame->picture && !frame->live.error_text[0];
    int shown = fine ? (int)(frame->state.job.serial - first) : -1;
    while (frame->state.job.serial != first + INTERRUPTED)
        take();
    fine = fine && frame->picture;
    engine_close(engine);
    return fine ? shown : -1;
}

TAP_SUITE(engine_give_up_giving_up_the_picture) {
    int shown = interrupt_pictures(true);
    tap_ok(shown > 0,
           "a request that comes while a picture is made takes its place, without an error");
    tap_ok(shown > 0 && interrupting.given_up == 1, "of two pictures in a row one is given up");
    shown = interrupt_pictures(false);
    tap_ok(shown == 0 && interrupting.given_up == 0,
           "what a key has waited for does not give way to the next one");
}
