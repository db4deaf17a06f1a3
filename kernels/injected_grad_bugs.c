/* SPDX-License-Identifier: MIT */
/* The injected bugs of gradients: in the map, or in grad_depth and grad_feat. */
#include "kernels/injected_bugs.h"

#include "kernels/codec.h"
#include "kernels/cpu/cpu_grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- in the map ------------------------------------------------------------------------------ */

static void drop_point(Spoilt *s) {
    s->map.points--;
}

/* Swaps the cells of the first and the last point. */
static void swap_cells(Spoilt *s) {
    BevMap *map = &s->map;
    int32_t first = map->ranks_bev[0];
    map->ranks_bev[0] = map->ranks_bev[map->points - 1];
    map->ranks_bev[map->points - 1] = first;
}

/* Adds one point twice and the next point not at all, as colliding atomics would. */
static void add_one_twice(Spoilt *s) {
    BevMap *map = &s->map;
    int64_t from = map->points / 2, to = from + 1 < map->points ? from + 1 : 0;
    map->ranks_depth[to] = map->ranks_depth[from];
    map->ranks_feat[to] = map->ranks_feat[from];
    map->ranks_bev[to] = map->ranks_bev[from];
}

static void forget_weights(Spoilt *s) {
    s->map.weights = NULL;
}

/* ---- in the gradients ------------------------------------------------------------------------ */

static float weight_of(const BevMap *map, int64_t t) {
    return map->weights ? map->weights[t] : 1;
}

/* Each bin gets the gradient of the next bin; the last bin keeps its own. */
static void take_next_bin(Spoilt *s) {
    const BevShape *shape = &s->problem->shape;
    int64_t image = shape->feat_h * shape->feat_w, bins = shape->depth_bins;
    for (int64_t camera = 0; camera < shape->cameras; camera++) {
        float *first = s->values[0] + camera * bins * image;
        memmove(first, first + image, (size_t)((bins - 1) * image) * sizeof *first);
    }
}

static void miss_last_channel(Spoilt *s) {
    int64_t channels = s->problem->shape.channels;
    for (int64_t pixel = 0; pixel < s->problem->feat.rows; pixel++)
        s->values[1][pixel * channels + channels - 1] = 0;
}

/* Ends the dot product of grad_out and features one channel early. */
static void shorten_dot(Spoilt *s) {
    const BevMap *map = &s->problem->map;
    int64_t c = s->problem->shape.channels - 1;
    for (int64_t t = 0; t < map->points; t++)
        s->values[0][map->ranks_depth[t]] -=
            weight_of(map, t) * bev_tensor_at(&s->problem->grad_out, map->ranks_bev[t], c) *
            bev_tensor_at(&s->problem->feat, map->ranks_feat[t], c);
}

/* Stores the sums of the last point's pixel without this point, its last bin. */
static void lose_last_bin(Spoilt *s) {
    const BevMap *map = &s->problem->map;
    int64_t t = map->points - 1, channels = s->problem->shape.channels;
    for (int64_t c = 0; c < channels; c++)
        s->values[1][map->ranks_feat[t] * channels + c] -=
            weight_of(map, t) * bev_tensor_at(&s->problem->depth, 0, map->ranks_depth[t]) *
            bev_tensor_at(&s->problem->grad_out, map->ranks_bev[t], c);
}

/* The first bin without a point, else the last bin, keeps an old value (7). */
static void keep_one_old_bin(Spoilt *s) {
    const BevMap *map = &s->problem->map;
    int64_t bins = s->problem->depth.row_len, i = 0;
    bool *reached = calloc((size_t)bins, sizeof *reached);
    for (int64_t t = 0; reached && t < map->points; t++)
        reached[map->ranks_depth[t]] = true;
    while (reached && i < bins - 1 && reached[i])
        i++;
    s->values[0][i] = 7;
    free(reached);
}

static void set_one_nan(Spoilt *s) {
    s->values[1][s->problem->map.ranks_feat[0] * s->problem->shape.channels] = NAN;
}

static void flip_sign(Spoilt *s) {
    for (int64_t i = 0; i < s->problem->depth.row_len; i++)
        s->values[0][i] = -s->values[0][i];
}

static BevTraffic bytes(const BevProblem *problem) {
    return bev_traffic(bev_kernel_find("cpu_grad_owner"), problem);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define WEIGHTED (1u << BEV_BILINEAR | 1u << BEV_LATTICE)
#define INJECTED_BUGS(D)                                                                           \
    D(1, "dropped-point", "One point, the last of all, is left out.",                              \
      drop_point, NULL, FINE, BEV_ALL_ALIGNS, NULL)                                                \
    D(2, "swapped-cells", "Two points far from each other read each other's cells of grad_out.",   \
      swap_cells, NULL, FINE, BEV_ALL_ALIGNS, NULL)                                                \
    D(3, "added-twice", "One point is added twice, the next one not at all.",                      \
      add_one_twice, NULL, FINE, BEV_ALL_ALIGNS, NULL)                                             \
    D(4, "no-weights", "The weights of bilinear points are forgotten.",                            \
      forget_weights, NULL, FINE, WEIGHTED, NULL)                                                  \
    D(5, "neighbour-bin", "Every bin of depth has the gradient of the next bin.",                  \
      NULL, take_next_bin, FINE, BEV_ALL_ALIGNS, "grad_depth")                                     \
    D(6, "last-channel", "The gradient of every pixel's last channel is never summed.",            \
      NULL, miss_last_channel, FINE, BEV_ALL_ALIGNS, "grad_feat")                                  \
    D(7, "short-dot", "The dot products of grad_depth end a channel early.",                       \
      NULL, shorten_dot, FINE, BEV_ALL_ALIGNS, "grad_depth")                                       \
    D(8, "last-bin", "One pixel's gradient is stored before its last bin is added.",               \
      NULL, lose_last_bin, FINE, BEV_ALL_ALIGNS, "grad_feat")                                      \
    D(9, "not-cleared", "A bin of depth that no point reaches keeps what was there.",              \
      NULL, keep_one_old_bin, FINE, BEV_ALL_ALIGNS, "grad_depth")                                  \
    D(10, "one-nan", "One gradient of a feature is not a number.",                                 \
      NULL, set_one_nan, ALWAYS, BEV_ALL_ALIGNS, "grad_feat")                                      \
    D(11, "wrong-sign", "The gradient of depth has the other sign.",                               \
      NULL, flip_sign, ALWAYS, BEV_ALL_ALIGNS, "grad_depth")                                       \
    D(12, "transposed", "Cell (x, y) of grad_out is read from x * ny + y.",                        \
      injected_transpose_grid, NULL, FINE, BEV_ALL_ALIGNS, NULL)

#define ROW(number, word, sentence, in_map, in_gradients, a, where_it_is, wrong)                   \
    {.name = word, .what = sentence, .gate_a = CAUGHT_##a, .gate_c = CAUGHT_ALWAYS,                \
     .output = wrong,                                                                              \
     .kernel = {.name = "grad_bug_" #number, .title = "BUG " #number,                              \
                .idea = "Correct gradients with one injected bug: find it in the gates, in the "   \
                        "bins of a pixel and in training.",                                        \
                .where = BEV_CPU, .direction = BEV_BACKWARD, .dtypes = BEV_UNSCALED_DTYPES,        \
                .aligns = where_it_is, .deterministic = true, .wrong_on_purpose = true,            \
                .prepare = prepare_##number, .release = injected_release,                          \
                .workspace_bytes = injected_workspace_bytes, .launch = injected_launch,            \
                .bytes = bytes}},
/* clang-format on */

INJECTED_BUGS(PREPARE)

const InjectedBug injected_grad_bugs[] = {INJECTED_BUGS(ROW)};
const int injected_grad_bug_count = sizeof injected_grad_bugs / sizeof *injected_grad_bugs;
