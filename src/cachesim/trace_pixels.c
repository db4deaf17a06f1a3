/* Warps of the way back that own pixels: grad_owner, a warp a pixel, and grad_v2, a thread a pixel.
 * Both store every sum once. */
#include "src/cachesim/trace_backward.h"

/* ---- a warp: grad_owner ---------------------------------------------------------------------- */

typedef struct {
    int64_t pixel, t, first, end;
    int32_t bins; /* stored */
    int32_t steps;
    TraceWaits indices, values;
} PixelWarp;

static bool pixel_warp_begin(void *replay, int64_t block, int number, void *state) {
    const Back *back = replay;
    int64_t pixel = block * (back->access->block / WARP) + number;
    if (pixel >= back->rows)
        return false;
    *(PixelWarp *)state = (PixelWarp){.pixel = pixel,
                                      .t = back->first[pixel],
                                      .first = back->first[pixel],
                                      .end = back->first[pixel + 1]};
    return true;
}

/* Stores 32 bins of the pixel, a lane each, that are a plane apart. */
static void store_bins(Back *back, int sm, PixelWarp *warp) {
    const BevShape *s = &back->problem->shape;
    int64_t plane = s->feat_h * s->feat_w, camera = warp->pixel / plane;
    int64_t at = camera * s->depth_bins * plane + warp->pixel % plane;
    Instruction in = memory_write(back->memory, sm, back->grad_depth);
    for (int end = warp->bins + WARP; warp->bins < end; warp->bins++)
        if (warp->bins < s->depth_bins)
            memory_span(&in, (at + warp->bins * plane) * back->bytes, back->bytes);
}

/* The reads of a pixel's warp before its points. */
static void open_pixel(Back *back, int sm, const PixelWarp *warp) {
    back_read_one(back, sm, back->starts, warp->pixel, INDEX);
    back_read_one(back, sm, back->starts, warp->pixel + 1, INDEX);
    back_whole_row(back, sm, back->feat, warp->pixel, false);
}

/* Four points; past the pixel's last point, the last one again. */
static bool pixel_warp_turn(void *replay, int sm, void *state) {
    Back *back = replay;
    PixelWarp *warp = state;
    const BevShape *s = &back->problem->shape;
    int64_t plane = s->feat_h * s->feat_w, last = warp->end - 1;
    int batch = back->channels > LONG_ROW ? 1 : OWNER_BATCH;
    if (warp->t == warp->first)
        open_pixel(back, sm, warp);
    memory_wait(back->memory, NULL, 0);
    for (int b = 0; b < batch && warp->t < warp->end; b++)
        back_read_indices(back, sm, warp->t + b < last ? warp->t + b : last, false);
    memory_wait(back->memory, &warp->indices, batch);
    for (int b = 0; b < batch && warp->t < warp->end; b++)
        back_read_point(back, sm, warp->t + b < last ? warp->t + b : last);
    memory_wait(back->memory, &warp->values, batch);
    for (int b = 0; b < batch && warp->t < warp->end; b++, warp->t++, warp->steps++) {
        while (back->element[warp->t] / plane % s->depth_bins >= warp->bins + WARP)
            store_bins(back, sm, warp);
        memory_step(back->memory, sm);
    }
    if (warp->t < warp->end)
        return true;
    while (warp->bins < s->depth_bins)
        store_bins(back, sm, warp);
    back_whole_row(back, sm, back->grad_feat, warp->pixel, true);
    back_warp_done(back, warp->steps, warp->indices, warp->values);
    return false;
}

/* ---- a thread: grad_v2 ----------------------------------------------------------------------- */

/* An instruction whose lanes ask for one element each, at these places in ascending order. */
static void each_lane(Instruction in, const int64_t *element, int lanes, int bytes) {
    for (int lane = 0; lane < lanes; lane++)
        if (lane == 0 || element[lane] != element[lane - 1])
            memory_span(&in, element[lane] * bytes, bytes);
}

static void sort_lanes(int64_t *value, int lanes) {
    for (int i = 1; i < lanes; i++)
        for (int j = i; j > 0 && value[j] < value[j - 1]; j--) {
            int64_t swapped = value[j];
            value[j] = value[j - 1];
            value[j - 1] = swapped;
        }
}

/* The warp's points go in step: the i-th of each pixel. First all channels of a point, then all
 * points of a channel. Channels of one sector ask for the same sectors: they are followed once, in
 * the second part with as many misses. */
typedef struct {
    int64_t pixel;
    int32_t i, steps; /* point; points of the pixel with most */
    int32_t channel;  /* second part: first channel of the sector; -1: first part */
    int32_t longest;
    TraceWaits indices, values;
} LaneWarp;

static bool lane_begin(void *replay, int64_t block, int number, void *state) {
    const Back *back = replay;
    LaneWarp *warp = state;
    *warp = (LaneWarp){.pixel = block * back->access->block + number * WARP, .channel = -1};
    for (int64_t p = warp->pixel; p < warp->pixel + WARP && p < back->rows; p++)
        if (back->first[p + 1] - back->first[p] > warp->steps)
            warp->steps = back->first[p + 1] - back->first[p];
    return warp->pixel < back->rows;
}

/* The lanes' i-th points. */
static int lane_points(const Back *back, const LaneWarp *warp, int64_t point[WARP]) {
    int lanes = 0;
    for (int64_t p = warp->pixel; p < warp->pixel + WARP && p < back->rows; p++)
        if (back->first[p] + warp->i < back->first[p + 1])
            point[lanes++] = back->first[p] + warp->i;
    return lanes;
}

static void lane_values(Back *back, Instruction in, const int64_t *point, int lanes,
                        const int32_t *row, int64_t stride, int64_t offset) {
    int64_t element[WARP];
    for (int lane = 0; lane < lanes; lane++)
        element[lane] = row[point[lane]] * stride + offset;
    sort_lanes(element, lanes);
    each_lane(in, element, lanes, back->bytes);
}

static int a_sector(const Back *back) {
    return SECTOR / back->bytes;
}

static int group_at(const Back *back, int c) {
    return back->channels - c < a_sector(back) ? back->channels - c : a_sector(back);
}

/* The dot product of the lanes' points; stored where the next point has another depth element. */
static void dot_turn(Back *back, int sm, LaneWarp *warp, const int64_t *point, int lanes) {
    Memory *memory = back->memory;
    int64_t stored[WARP];
    int count = 0;
    each_lane(memory_read(memory, sm, back->cells), point, lanes, INDEX);
    memory_wait(memory, &warp->indices, back->channels);
    for (int c = 0; c < back->channels; c += a_sector(back)) {
        int channels = group_at(back, c);
        lane_values(back, memory_repeat(memory_read(memory, sm, back->grad_out), channels, false),
                    point, lanes, back->cell, back->channels, c);
        lane_values(back, memory_repeat(memory_read(memory, sm, back->feat), channels, false),
                    point, lanes, back->pixel, back->channels, c);
        memory_wait(memory, &warp->values, 1);
    }
    each_lane(memory_read(memory, sm, back->elements), point, lanes, INDEX);
    if (back->problem->map.weights)
        each_lane(memory_read(memory, sm, back->weights), point, lanes, FLOAT);
    for (int lane = 0; lane < lanes; lane++) {
        int64_t t = point[lane];
        bool last = t + 1 == back->points || back->element[t + 1] != back->element[t];
        if (last)
            stored[count++] = back->element[t];
    }
    sort_lanes(stored, count);
    each_lane(memory_write(memory, sm, back->grad_depth), stored, count, back->bytes);
}

/* A share of the sums of channels [warp->channel, + channels). */
static void sum_turn(Back *back, int sm, LaneWarp *warp, const int64_t *point, int lanes,
                     int channels) {
    Memory *memory = back->memory;
    each_lane(memory_repeat(memory_read(memory, sm, back->elements), channels, true), point, lanes,
              INDEX);
    each_lane(memory_repeat(memory_read(memory, sm, back->cells), channels, true), point, lanes,
              INDEX);
    if (back->problem->map.weights)
        each_lane(memory_repeat(memory_read(memory, sm, back->weights), channels, true), point,
                  lanes, FLOAT);
    memory_wait(memory, &warp->indices, channels);
    lane_values(back, memory_repeat(memory_read(memory, sm, back->depth), channels, true), point,
                lanes, back->element, 1, 0);
    lane_values(back, memory_repeat(memory_read(memory, sm, back->grad_out), channels, true), point,
                lanes, back->cell, back->channels, warp->channel);
    memory_wait(memory, &warp->values, channels);
}

static void store_sums(Back *back, int sm, const LaneWarp *warp, int channels) {
    Instruction in = memory_repeat(memory_write(back->memory, sm, back->grad_feat), channels, true);
    for (int64_t p = warp->pixel; p < warp->pixel + WARP && p < back->rows; p++)
        if (back->first[p] < back->first[p + 1])
            memory_span(&in, (p * back->channels + warp->channel) * back->bytes, back->bytes);
}

/* A step is a point and a channel. */
static void lane_steps(Back *back, int sm, LaneWarp *warp, int channels) {
    for (int c = 0; c < channels; c++)
        memory_step(back->memory, sm);
    warp->longest += channels;
}

static bool lane_turn(void *replay, int sm, void *state) {
    Back *back = replay;
    LaneWarp *warp = state;
    int64_t point[WARP];
    int lanes = lane_points(back, warp, point);
    int channels = warp->channel < 0 ? back->channels : group_at(back, warp->channel);
    if (warp->channel < 0 && warp->i == 0)
        for (int end = 0; end < 2; end++) {
            Instruction in = memory_read(back->memory, sm, back->starts);
            int64_t left = back->rows - warp->pixel;
            memory_span(&in, (warp->pixel + end) * INDEX, (left < WARP ? left : WARP) * INDEX);
        }
    memory_wait(back->memory, NULL, 0);
    if (lanes > 0 && warp->channel < 0)
        dot_turn(back, sm, warp, point, lanes);
    else if (lanes > 0)
        sum_turn(back, sm, warp, point, lanes, channels);
    if (lanes > 0)
        lane_steps(back, sm, warp, channels);
    if (++warp->i < warp->steps)
        return true;
    if (warp->steps == 0)
        return false;
    if (warp->channel >= 0)
        store_sums(back, sm, warp, channels);
    warp->i = 0;
    warp->channel = warp->channel < 0 ? 0 : warp->channel + channels;
    if (warp->channel < back->channels)
        return true;
    back_warp_done(back, warp->longest, warp->indices, warp->values);
    return false;
}

const Launch back_pixel_warps = {
    .state_bytes = sizeof(PixelWarp), .begin = pixel_warp_begin, .turn = pixel_warp_turn};

const Launch back_pixels = {
    .state_bytes = sizeof(LaneWarp), .begin = lane_begin, .turn = lane_turn};
