/* Replays the way back: sorts the points as the kernels do, places the arrays, runs the launches.
 * The warps are in trace_points.c and trace_pixels.c; grad_v4 is in trace_columns.c. */
#include "src/cachesim/trace_backward.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order of the points ----------------------------------------------------------------- */

bool order_by(const int32_t *key, int64_t keys, int64_t count, const int32_t *from,
              int32_t *order) {
    int64_t *next = calloc((size_t)keys + 1, sizeof *next);
    for (int64_t i = 0; next && i < count; i++)
        next[key[i] + 1]++;
    for (int64_t k = 1; next && k <= keys; k++)
        next[k] += next[k - 1];
    for (int64_t i = 0; next && i < count; i++) {
        int32_t t = from ? from[i] : (int32_t)i;
        order[next[key[t]]++] = t;
    }
    bool have = next != NULL;
    free(next);
    return have;
}

static bool sort_points(Back *back, Err *err) {
    const BevMap *map = &back->problem->map;
    size_t points = (size_t)back->points + 1;
    int32_t *by_depth = malloc(points * sizeof *by_depth);
    back->order = malloc(points * sizeof *back->order);
    back->cell = malloc(points * sizeof *back->cell);
    back->element = malloc(points * sizeof *back->element);
    back->pixel = malloc(points * sizeof *back->pixel);
    back->first = calloc((size_t)back->rows + 1, sizeof *back->first);
    bool have =
        by_depth && back->order && back->cell && back->element && back->pixel && back->first;
    bool sorts = back->access->owner != BEV_OWNS_POINT;
    have = have &&
           (!sorts || (order_by(map->ranks_depth, back->problem->depth.row_len, back->points, NULL,
                                by_depth) &&
                       order_by(map->ranks_feat, back->rows, back->points, by_depth, back->order)));
    for (int64_t i = 0; have && i < back->points; i++) {
        int32_t t = sorts ? back->order[i] : (int32_t)i;
        back->cell[i] = map->ranks_bev[t];
        back->element[i] = map->ranks_depth[t];
        back->pixel[i] = map->ranks_feat[t];
        back->first[back->pixel[i] + 1]++;
    }
    for (int64_t p = 0; have && p < back->rows; p++)
        back->first[p + 1] += back->first[p];
    free(by_depth);
    return have || err_set(err, ERR_FAILED, back->memory->kernel->name, "",
                           "no memory for %lld points", (long long)back->points);
}

static void back_free(Back *back) {
    free(back->order);
    free(back->cell);
    free(back->element);
    free(back->pixel);
    free(back->first);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* All lanes ask for one element. */
void back_read_one(Back *back, int sm, Place place, int64_t element, int bytes) {
    Instruction in = memory_read(back->memory, sm, place);
    memory_span(&in, element * bytes, bytes);
}

/* A row by all lanes, four channels each, or, where rows are no multiple of four, one by one. */
void back_row_span(const Back *back, Instruction *in, int64_t row, int first, int end, int part) {
    int64_t at = row * back->channels * back->bytes;
    if (part < 0)
        memory_span(in, at + first * back->bytes, (int64_t)(end - first) * back->bytes);
    for (int c = first + part; part >= 0 && c < end; c += QUAD)
        memory_span(in, at + c * back->bytes, back->bytes);
}

void back_whole_row(Back *back, int sm, Place place, int64_t row, bool store) {
    bool quads = back->channels % QUAD == 0;
    for (int first = 0; first < back->channels; first += LONG_ROW)
        for (int part = quads ? -1 : 0; part < (quads ? 0 : QUAD); part++) {
            Instruction in = store ? memory_write(back->memory, sm, place)
                                   : memory_read(back->memory, sm, place);
            int end = first + LONG_ROW < back->channels ? first + LONG_ROW : back->channels;
            back_row_span(back, &in, row, first, end, part);
        }
}

/* The indices of a point that grad_block goes on to, or of the batch of grad_owner. */
void back_read_indices(Back *back, int sm, int64_t t, bool pixels) {
    if (pixels)
        back_read_one(back, sm, back->pixels, t, INDEX);
    back_read_one(back, sm, back->elements, t, INDEX);
    back_read_one(back, sm, back->cells, t, INDEX);
    if (back->problem->map.weights)
        back_read_one(back, sm, back->weights, t, FLOAT);
}

void back_read_point(Back *back, int sm, int64_t t) {
    back_read_one(back, sm, back->depth, back->element[t], back->bytes);
    back_whole_row(back, sm, back->grad_out, back->cell[t], false);
}

void back_warp_done(Back *back, int32_t steps, TraceWaits indices, TraceWaits values) {
    TraceCounts *counts = back->memory->counts;
    if (steps <= counts->longest)
        return;
    counts->longest = steps;
    counts->indices = indices;
    counts->values = values;
}

/* ---- the launches ---------------------------------------------------------------------------- */

enum { CLEAR_BYTES = 16 };

static void place_arrays(Back *back) {
    Memory *memory = back->memory;
    const BevProblem *p = back->problem;
    size_t points = (size_t)back->points;
    bool narrow = p->dtype != BEV_FP32;
    back->feat = memory_place(memory, TRACE_FEAT, "features", bev_tensor_bytes(&p->feat));
    back->depth = memory_place(memory, TRACE_DEPTH, "depth", bev_tensor_bytes(&p->depth));
    back->grad_out =
        memory_place(memory, TRACE_GRAD_OUT, "grad_out", bev_tensor_bytes(&p->grad_out));
    back->cells = memory_place(memory, TRACE_RANKS, "cells", points * INDEX);
    back->elements = memory_place(memory, TRACE_RANKS, "elements", points * INDEX);
    back->pixels = memory_place(memory, TRACE_RANKS, "pixels", points * INDEX);
    back->starts = memory_place(memory, TRACE_OWNERS, "starts", ((size_t)back->rows + 1) * INDEX);
    back->weights =
        memory_place(memory, TRACE_WEIGHT, "weights", p->map.weights ? points * FLOAT : 0);
    back->grad_depth =
        memory_place(memory, TRACE_GRAD_DEPTH, "grad_depth", bev_tensor_bytes(&p->grad_depth));
    back->grad_feat =
        memory_place(memory, TRACE_GRAD_FEAT, "grad_feat", bev_tensor_bytes(&p->grad_feat));
    back->depth_sums = back->grad_depth;
    back->feat_sums = back->grad_feat;
    if (!back->access->sums || !narrow)
        return;
    back->depth_sums =
        memory_place(memory, TRACE_SUMS, "sums of depth", (size_t)p->depth.row_len * FLOAT);
    back->feat_sums = memory_place(memory, TRACE_SUMS, "sums of features",
                                   (size_t)(back->rows * back->channels) * FLOAT);
}

static Launch plan_launch(const Back *back) {
    const BevAccess *access = back->access;
    int64_t tiles = (back->channels + access->tile - 1) / access->tile, threads;
    int warps = access->block / WARP;
    Launch launch;
    switch (access->owner) {
    case BEV_OWNS_POINT:
        launch = back_points;
        threads = back->points * tiles;
        break;
    case BEV_OWNS_RUN:
        launch = back_runs;
        warps = back_run_warps(back);
        threads = back->points; /* 32 points a warp */
        break;
    case BEV_OWNS_PIXEL:
        launch = back_pixels;
        threads = back->rows;
        break;
    default:
        launch = back_pixel_warps;
        threads = back->rows * WARP;
    }
    launch.name = back->memory->kernel->name;
    launch.pools = true;
    launch.warps = warps;
    launch.blocks = (threads + warps * WARP - 1) / (warps * WARP);
    launch.resident = access->resident / warps > 0 ? access->resident / warps : 1;
    return launch;
}

static bool pass(Back *back, Place place, ReuseKind kind, int64_t elements, int bytes, int lane,
                 const TraceWatch *watch, Err *err) {
    return memory_pass(back->memory, place, kind, (size_t)(elements * bytes), lane, watch, err);
}

/* Clears the sums, or grad_v2's gradients. */
static bool clear(Back *back, const TraceWatch *watch, Err *err) {
    int64_t depths = back->problem->depth.row_len, feats = back->rows * back->channels;
    int bytes = back->access->sums ? FLOAT : back->bytes;
    if (!back->access->sums && !back->access->clears)
        return true;
    return pass(back, back->depth_sums, REUSE_WRITE, depths, bytes, CLEAR_BYTES, watch, err) &&
           pass(back, back->feat_sums, REUSE_WRITE, feats, bytes, CLEAR_BYTES, watch, err);
}

static bool encode(Back *back, const TraceWatch *watch, Err *err) {
    int64_t depths = back->problem->depth.row_len, feats = back->rows * back->channels;
    int bytes = back->bytes;
    if (!back->access->sums || back->problem->dtype == BEV_FP32)
        return true;
    return pass(back, back->depth_sums, REUSE_READ, depths, FLOAT, FLOAT, watch, err) &&
           pass(back, back->grad_depth, REUSE_WRITE, depths, bytes, bytes, watch, err) &&
           pass(back, back->feat_sums, REUSE_READ, feats, FLOAT, FLOAT, watch, err) &&
           pass(back, back->grad_feat, REUSE_WRITE, feats, bytes, bytes, watch, err);
}

static bool run_launches(Back *back, const TraceWatch *watch, Err *err) {
    Launch launch = plan_launch(back);
    if (!clear(back, watch, err) || !launch_run(&launch, back, watch, launch.name, err))
        return false;
    memory_launched(back->memory);
    return encode(back, watch, err);
}

bool backward_replay(Memory *memory, bool with_reuse, const TraceWatch *watch, Err *err) {
    const BevProblem *problem = memory->problem;
    Back back = {.memory = memory,
                 .access = memory->access,
                 .problem = problem,
                 .points = problem->map.points,
                 .rows = problem->feat.rows,
                 .channels = (int)problem->shape.channels,
                 .bytes = bev_dtypes[problem->dtype].bits / 8};
    bool ok = sort_points(&back, err);
    if (ok) {
        place_arrays(&back);
        ok = memory_start(memory, with_reuse, err) && run_launches(&back, watch, err);
    }
    back_free(&back);
    return ok;
}
