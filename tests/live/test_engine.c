/* SPDX-License-Identifier: MIT */
/* The engine of the live display: what its frames hold, and that they stay whole. */
#include "kernels/codec.h"
#include "src/live/inputs.h"
#include "tests/live/engine_fixture.h"

/* With all rays; the camera views are finer than the features. */
static bool is_sharp(void) {
    return !frame->live.frame.draft &&
           frame->live.frame.cameras->w > frame->live.frame.rig->frustum.feat_w;
}

ENGINE_WAITING_SUITE(engine_contents, false, ASYMMETRIC) {
    ask();
    tap_ok(frame->facts.nx == frame->live.frame.nx && frame->loads == 1 && frame->facts.has_world &&
               frame->live.frame.cameras,
           "the first frame brings the scene");
    tap_ok(frame->live.memory.known &&
               frame->live.intervals.stats.points == frame->live.frame.map->points,
           "and what its map is made of");
    double bytes = bev_footprint_total(frame->live.memory.footprint);
    int64_t points = frame->live.frame.map->points;
    state.job.config.dtype = BEV_FP8;
    tap_ok(ask() && bev_footprint_total(frame->live.memory.footprint) < bytes &&
               !frame->live.frame.fp64_original,
           "FP8 is smaller");
    state.job.camera_mask = 1;
    tap_ok(ask()->live.frame.map->points < points, "camera dropout takes points away");
    state.job.pool_baseline = true;
    state.job.baseline.align = BEV_BILINEAR;
    state.view = state.menu.error_view;
    tap_ok(ask()->live.frame.baseline && frame->live.frame.fp64_original,
           "a baseline of another align, and FP64 for the error view");
    while (take_within(is_sharp() ? 3000 : PATIENCE_MS)) {
    }
    uint64_t content = frame->live.frame.content;
    const float *pooled = frame->live.frame.pooled;
    tap_ok(is_sharp(), "sharp camera views once nothing moves");
    state.job.probe_cell = 5;
    tap_ok(ask()->live.frame.content == content && frame->live.frame.pooled == pooled,
           "a probe alone changes no picture");
}

static size_t bytes; /* of the grid that was copied last */

/* A copy of the frame's grid, which the caller frees. */
static float *pooled_copy(void) {
    const LiveFrame *shown = &frame->live.frame;
    bytes = (size_t)(shown->nx * shown->ny * shown->channels) * sizeof(float);
    return memcpy(malloc(bytes), shown->pooled, bytes);
}

static bool is_pooled(const float *copy) {
    return !memcmp(frame->live.frame.pooled, copy, bytes);
}

ENGINE_SUITE(engine_pinned_rig, false, ASYMMETRIC) {
    state.job.baseline = state.job.config;
    state.job.baseline_pinned = state.job.pool_baseline = true;
    state.job.baseline_rig = state.job.rig;
    ask();
    float *clean = pooled_copy();
    tap_ok(frame->live.difference.known && frame->live.difference.cells == 0 &&
               frame->live.difference.moved_m == 0,
           "a baseline just pinned is what is shown");
    static const char *const changes[] = {"yaw",      "a camera off", "temperature", "balance",
                                          "rounding", "prune",        "outlier"};
    for (int i = 0; i < 7; i++) {
        state.job.camera_errors[0].yaw_deg = i == 0;
        state.job.camera_mask = i == 1 ? UINT32_MAX - 1 : UINT32_MAX;
        state.job.temperature = i == 2 ? 4 : 1;
        state.job.balance = i == 3;
        state.job.rounding = i == 4 ? ROUNDING_TRUNCATE : ROUNDING_SCENE;
        state.job.prune.below = i == 5 ? 0.3 : 0;
        state.job.outlier = i == 6 ? 10 : 1;
        const LiveDifference *difference = &ask()->live.difference;
        double moved_m = i == 0 ? 2 * 40 * sin(M_PI / 360) : 0;
        tap_ok(!memcmp(frame->live.frame.baseline, clean, bytes) && !is_pooled(clean) &&
                   difference->cells > 0 && fabs(difference->moved_m - moved_m) < 0.02,
               "%s: the baseline stays, %lld cells differ, 40 m moved %.2f m", changes[i],
               (long long)difference->cells, difference->moved_m);
    }
    state.job.outlier = 1;
    tap_ok(ask()->live.difference.cells == 0, "and all is well when all is repaired");
    state.job.pool_baseline = false;
    tap_ok(!ask()->live.difference.known, "without a comparison nothing is compared");
    free(clean);
}

static int64_t scene_features(void) {
    const BevShape *shape = &frame->live.frame.shape;
    return shape->cameras * shape->feat_h * shape->feat_w * shape->channels;
}

/* A scene of one moment: its largest values are those of the very frame. */
ENGINE_SUITE(engine_scales, false, OWN_FILE) {
    strcpy(own_file, "segments");
    state.job.config.dtype = BEV_FP8;
    ask();
    float *ideal = pooled_copy();
    float most = 0;
    for (int64_t i = 0; i < scene_features(); i++)
        most = fmaxf(most, fabsf(frame->live.frame.features->feat[i]));
    const LiveScales *scales = &frame->live.scales;
    tap_ok(scales->known && scales->dtype == BEV_FP8 &&
               scales->tensor[BITS_FEATURES] == bev_tensor_scale(BEV_FP8, most) &&
               scales->channel_least == 1 && scales->channel_most == 1,
           "the features' scale puts the largest feature on FP8's largest");
    for (int method = 0; method < SCALE_METHOD_COUNT; method++) {
        state.job.scales = SCALES_METHODS + method;
        bool same = ask() && is_pooled(ideal);
        tap_ok((same || method != SCALE_MAX) && (!same || method != SCALE_PERCENTILE),
               "%s: the grid is %s", scale_method_names[method], same ? "the same" : "another");
    }
    state.job.config.dtype = BEV_INT8;
    state.job.scales = SCALES_CHANNEL;
    const LiveScales each = ask()->live.scales;
    state.job.scales = SCALES_CHANNEL_METHODS + SCALE_MAX;
    ask();
    tap_ok(each.channel_least < each.channel_most &&
               frame->live.scales.channel_least < frame->live.scales.channel_most &&
               fabsf(frame->live.scales.channel_most * frame->live.scales.tensor[0] /
                         (each.channel_most * each.tensor[0]) -
                     1) < 1e-6,
           "INT8, max by channel: the scales of its only moment's channels");
    state.job.config.dtype = BEV_FP8;
    state.job.scales = SCALES_METHODS;
    state.job.scales_scene = "toy";
    tap_ok(ask() && memcmp(frame->live.frame.pooled, ideal, bytes),
           "another scene's: another grid");
    state.job.scales_scene = NULL;
    state.job.scales = SCALES_IDEAL;
    tap_ok(ask() && !memcmp(frame->live.frame.pooled, ideal, bytes), "ideal: as it was");
    free(ideal);
}

/* The fullest cell whose points all fit a probe's list. */
static int64_t busy_cell(void) {
    const LiveFrame *shown = &frame->live.frame;
    const BevMap *map = shown->map;
    int64_t cell = -1;
    int32_t most = 1;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t here = map->ranks_bev[map->interval_starts[i]];
        int32_t points = map->interval_lengths[i];
        if (points > most && points <= LIVE_MAX_CONTRIBUTIONS &&
            shown->pooled[here * shown->channels] != 0) {
            most = points;
            cell = here;
        }
    }
    return cell;
}

ENGINE_SUITE(engine_probe, false, ASYMMETRIC) {
    state.job.config.dtype = BEV_FP32;
    ask();
    state.job.probe_cell = busy_cell();
    const LiveProbe *probe = &ask()->live.probe;
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
    int64_t sent = 0;
    for (int camera = 0; camera < shown->rig->camera_count; camera++)
        sent += probe->of_camera[camera];
    tap_ok(sent == probe->points && probe->bin_least <= probe->contributions[0].depth_bin &&
               probe->bin_most >= probe->contributions[0].depth_bin,
           "each of its points has a camera, and a bin within %d to %d", probe->bin_least,
           probe->bin_most);
    tap_ok(probe->contribution_count == probe->points && probe->points > 1 &&
               fabs(sum - got) <= 1e-5 * fmax(fabs(got), 1),
           "the contributions of a cell add up to its value");
    tap_ok(fabs(probe->value - probe->fp64_original) < 1e-4 * probe->fp64_original,
           "and its FP64 value is near");
    state.job.probe_cell = shown->nx * shown->ny + 7;
    tap_ok(ask()->live.probe.cell == -1, "a cell outside the grid is none");
}

ENGINE_SUITE(engine_bad_scene, false, MISSING) {
    ask();
    tap_ok(frame->live.error_text[0] && frame->loads == 0, "a scene that is not there: said");
    state.job.scene = TOY;
    tap_ok(!ask()->live.error_text[0] && frame->loads == 1, "the next one is shown");
    double sum = sum_of(&frame->live.frame);
    state.job.scene = MISSING;
    tap_ok(ask()->live.error_text[0] && frame->live.frame.pooled &&
               sum_of(&frame->live.frame) == sum,
           "after a failure the last good picture stays");
}

TAP_SUITE(engine_mailbox) {
    enum { REQUESTS = 400 };
    begin(true, TOY);
    ask();
    double sum = sum_of(&frame->live.frame), slowest = 0;
    for (int i = 0; i < REQUESTS; i++) {
        state.job.serial++;
        state.job.time_s = 0.01 * i;
        double asked_ms = clock_ms();
        engine_request(engine, &state);
        slowest = fmax(slowest, clock_ms() - asked_ms);
    }
    tap_ok(sum_of(&frame->live.frame) == sum, "a frame stays whole while others are made");
    int frames = 0;
    uint64_t last = 0;
    for (; last != state.job.serial && take()->state.job.serial >= last; frames++)
        last = frame->state.job.serial;
    tap_ok(last == state.job.serial && frames <= REQUESTS, "of %d requests the last is answered",
           REQUESTS);
    tap_note("%d frames; the slowest request took %.2f ms", frames, slowest);
    state.job.serial++;
    engine_request(engine, &state);
    engine_close(engine); /* in the middle of it all */
    tap_ok(true, "closes while it computes");
}

TAP_SUITE(engine_budget) {
    const BevShape most = {.nx = 1000, .ny = 125, .channels = 1000},
                   more = {.nx = 1000, .ny = 126, .channels = 1000};
    Err err = {0};
    tap_ok(inputs_fit(&most, "scene", &err) && !inputs_fit(&more, "scene", &err) &&
               strstr(err.what, "3024 MB") && strstr(err.hint, "--channels"),
           "a grid beyond the memory budget is refused, with a hint: %s", err.what);
}
