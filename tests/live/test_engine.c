/* The engine of the live display: what its frames hold, and that they stay whole. */
#include "kernels/codec.h"
#include "src/base/clock.h"
#include "src/live/engine.h"
#include "tests/live/engine_fixture.h"
#include "tests/support/tap.h"

#include <math.h>
#include <poll.h>

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

/* ---- frames ---------------------------------------------------------------------------------- */

TAP_WAITING_SUITE(engine_contents) {
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

/* A copy of the frame's grid, which the caller frees; its size. */
static float *pooled_copy(const EngineFrame *frame, size_t *bytes) {
    const LiveFrame *shown = &frame->live.frame;
    *bytes = (size_t)(shown->nx * shown->ny * shown->channels) * sizeof(float);
    return memcpy(malloc(*bytes), shown->pooled, *bytes);
}

/* What one camera alone puts into the grid. */
static float *pooled_at(Engine *engine, State *state, double time_s, double delay_ms,
                        const EngineFrame **frame, size_t *bytes) {
    state->job.time_s = time_s;
    state->job.camera_errors[0].delay_ms = delay_ms;
    *frame = ask(engine, state);
    return pooled_copy(*frame, bytes);
}

/* A delayed camera sees what it saw then, bit for bit; its pictures are those of then; the others
 * show now. */
static void test_delay(int scene) {
    Engine *engine = open_engine(false);
    State state = fresh(scene);
    const EngineFrame *frame;
    size_t bytes;
    state.job.camera_mask = 1;
    float *then = pooled_at(engine, &state, 0, 0, &frame, &bytes);
    float *now = pooled_at(engine, &state, 1, 0, &frame, &bytes);
    float *late = pooled_at(engine, &state, 1, 1000, &frame, &bytes);
    tap_ok(!memcmp(late, then, bytes) && memcmp(late, now, bytes),
           "%s: a delayed camera fills the grid as a second ago", scenes[scene]);
    float *before = pooled_at(engine, &state, 0, 1000, &frame, &bytes);
    bool world = frame->facts.has_world;
    tap_ok(!memcmp(before, then, bytes) == !world,
           world ? "a world has a past before its beginning" : "a clip has none");
    state.job.camera_mask = 2;
    float *others = pooled_at(engine, &state, 1, 1000, &frame, &bytes);
    free(now);
    now = pooled_at(engine, &state, 1, 0, &frame, &bytes);
    tap_ok(!memcmp(others, now, bytes), "the other cameras show now");
    free(then), free(now), free(late), free(before), free(others);
    engine_close(engine);
}

TAP_SUITE(engine_delay_world) {
    test_delay(SMALL);
}

TAP_SUITE(engine_delay_clip) {
    char command[1024];
    strcpy(own_file, "/tmp/engine-XXXXXX");
    tap_need(mkdtemp(own_file) != NULL, "a folder");
    snprintf(command, sizeof command,
             "for t in 0 1; do \"$BEVSCOPE\" export small %s/$t.npz -c 16 --time $t --device cpu "
             ">%s/said || exit 1; done; rm %s/said",
             own_file, own_file, own_file);
    tap_need(system(command) == 0, "a clip of two moments");
    test_delay(OWN_FILE);
    snprintf(command, sizeof command, "rm -r %s", own_file);
    tap_ok(system(command) == 0, "the folder goes");
}

/* The baseline as it was with the rig that it was pinned with, whatever is done to the rig since.
 */
TAP_SUITE(engine_pinned_rig) {
    Engine *engine = open_engine(false);
    State state = fresh(ASYMMETRIC);
    state.job.baseline = state.job.config;
    state.job.baseline_pinned = state.job.pool_baseline = true;
    state.job.baseline_rig = state.job.rig;
    const EngineFrame *frame = ask(engine, &state);
    size_t bytes;
    float *clean = pooled_copy(frame, &bytes);
    tap_ok(frame->live.difference.known && frame->live.difference.cells == 0 &&
               frame->live.difference.moved_m == 0,
           "a baseline just pinned is what is shown");
    static const char *const changes[] = {"yaw",      "a camera off", "temperature", "evenness",
                                          "rounding", "prune",        "outlier"};
    for (int i = 0; i < 7; i++) {
        state.job.camera_errors[0].yaw_deg = i == 0;
        state.job.camera_mask = i == 1 ? UINT32_MAX - 1 : UINT32_MAX;
        state.job.temperature = i == 2 ? 4 : 1;
        state.job.evenness = i == 3;
        state.job.rounding = i == 4 ? ROUNDING_TRUNCATE : ROUNDING_SCENE;
        state.job.prune.below = i == 5 ? 0.3 : 0;
        state.job.outlier = i == 6 ? 10 : 1;
        frame = ask(engine, &state);
        const LiveDifference *difference = &frame->live.difference;
        double moved_m = i == 0 ? 2 * 40 * sin(M_PI / 360) : 0;
        tap_ok(!memcmp(frame->live.frame.baseline, clean, bytes) &&
                   memcmp(frame->live.frame.pooled, clean, bytes) && difference->cells > 0 &&
                   fabs(difference->moved_m - moved_m) < 0.02,
               "%s: the baseline stays, %lld cells differ, 40 m moved %.2f m", changes[i],
               (long long)difference->cells, difference->moved_m);
    }
    state.job.outlier = 1;
    frame = ask(engine, &state);
    tap_ok(frame->live.difference.cells == 0, "and all is well when all is repaired");
    state.job.pool_baseline = false;
    frame = ask(engine, &state);
    tap_ok(!frame->live.difference.known, "without a comparison nothing is compared");
    free(clean);
    engine_close(engine);
}

/* Whether channel 0 of the grid is `factor` times that of `plain`, and all others the same. */
static bool has_outlier(const LiveFrame *frame, const float *plain, float factor) {
    const int64_t count = frame->nx * frame->ny * frame->channels;
    for (int64_t i = 0; i < count; i++)
        if (frame->pooled[i] != plain[i] * (i % frame->channels ? 1 : factor))
            return false;
    return true;
}

/* Of a scene with tensors of its own, which stay as they are, and of a rendered one. */
TAP_SUITE(engine_outlier) {
    static const char *const names[] = {"segments", "toy"};
    for (int i = 0; i < 2; i++) {
        Engine *engine = open_engine(false);
        strcpy(own_file, names[i]);
        State state = fresh(OWN_FILE);
        state.job.config.dtype = BEV_FP32;
        const EngineFrame *frame = ask(engine, &state);
        size_t bytes;
        float *plain = pooled_copy(frame, &bytes);
        state.job.outlier = 64;
        frame = ask(engine, &state);
        tap_ok(frame && has_outlier(&frame->live.frame, plain, 64),
               "%s: channel 0 is 64 times as large", names[i]);
        state.job.outlier = 1;
        frame = ask(engine, &state);
        tap_ok(frame && has_outlier(&frame->live.frame, plain, 1), "%s: and as it was again",
               names[i]);
        free(plain);
        engine_close(engine);
    }
}

static int64_t scene_features(const EngineFrame *frame) {
    const BevShape *shape = &frame->live.frame.shape;
    return shape->cameras * shape->feat_h * shape->feat_w * shape->channels;
}

/* A scene of one moment: its largest values are those of the very frame. */
TAP_SUITE(engine_scales) {
    Engine *engine = open_engine(false);
    strcpy(own_file, "segments");
    State state = fresh(OWN_FILE);
    state.job.config.dtype = BEV_FP8;
    const EngineFrame *frame = ask(engine, &state);
    size_t bytes;
    float *ideal = pooled_copy(frame, &bytes);
    float most = 0;
    for (int64_t i = 0; i < scene_features(frame); i++)
        most = fmaxf(most, fabsf(frame->live.frame.features->feat[i]));
    const LiveScales *scales = &frame->live.scales;
    tap_ok(scales->known && scales->dtype == BEV_FP8 &&
               scales->tensor[BITS_FEATURES] == bev_tensor_scale(BEV_FP8, most) &&
               scales->channel_least == 1 && scales->channel_most == 1,
           "the features' scale puts the largest feature on FP8's largest");
    for (int method = 0; method < SCALE_METHOD_COUNT; method++) {
        state.job.scales = SCALES_METHODS + method;
        frame = ask(engine, &state);
        bool same = frame && !memcmp(frame->live.frame.pooled, ideal, bytes);
        tap_ok(frame && (same || method != SCALE_MAX) && (!same || method != SCALE_PERCENTILE),
               "%s: the grid is %s", scale_method_names[method], same ? "the same" : "another");
    }
    state.job.config.dtype = BEV_INT8;
    state.job.scales = SCALES_CHANNEL;
    frame = ask(engine, &state);
    const LiveScales each = frame->live.scales;
    state.job.scales = SCALES_CHANNEL_METHODS + SCALE_MAX;
    frame = ask(engine, &state);
    tap_ok(each.channel_least < each.channel_most &&
               frame->live.scales.channel_least < frame->live.scales.channel_most &&
               fabsf(frame->live.scales.channel_most * frame->live.scales.tensor[0] /
                         (each.channel_most * each.tensor[0]) -
                     1) < 1e-6,
           "INT8, max by channel: the scales of its only moment's channels");
    state.job.config.dtype = BEV_FP8;
    state.job.scales = SCALES_METHODS;
    state.job.scales_scene = "toy";
    frame = ask(engine, &state);
    tap_ok(frame && memcmp(frame->live.frame.pooled, ideal, bytes),
           "another scene's: another grid");
    state.job.scales_scene = NULL;
    state.job.scales = SCALES_IDEAL;
    frame = ask(engine, &state);
    tap_ok(frame && !memcmp(frame->live.frame.pooled, ideal, bytes), "ideal: as it was");
    free(ideal);
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

TAP_SUITE(engine_probe) {
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

/* ---- failures -------------------------------------------------------------------------------- */

TAP_SUITE(engine_bad_scene) {
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
TAP_WAITING_SUITE(engine_begin_fails) {
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

/* ---- handing over ---------------------------------------------------------------------------- */

TAP_SUITE(engine_mailbox) {
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
