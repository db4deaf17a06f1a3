/* SPDX-License-Identifier: MIT */
/* libbevpool on the CPU, forward and backward: two samples with two layers of cells, channels first
 * and last, every kernel, against sums of whole numbers, which are exact in every order. */
#include "tests/lib/lib_case.h"

/* 2 samples, 2 cameras each, 2 layers. Every third depth value is in no point, the others go to
 * cells in a pattern, a few to each. */
enum { B = 2, N = 2, D = 3, H = 2, W = 5, Z = 2, Y = 3, X = 4, C = 6 };
enum { DEPTHS = B * N * D * H * W, FEATS = B * N * H * W, CELLS = B * Z * Y * X };

typedef struct {
    int32_t depth[DEPTHS], feat[DEPTHS], cell[DEPTHS];
    int64_t points;
    float depths[DEPTHS], feats[FEATS][C], out[CELLS][C];
    float grad_out[CELLS][C], grad_depths[DEPTHS], grad_feats[FEATS][C];
} Small;

static void add_point(Small *s, int32_t depth, int32_t feat, int32_t cell) {
    s->depth[s->points] = depth;
    s->feat[s->points] = feat;
    s->cell[s->points++] = cell;
    for (int c = 0; c < C; c++) {
        s->out[cell][c] += s->depths[depth] * s->feats[feat][c];
        s->grad_depths[depth] += s->grad_out[cell][c] * s->feats[feat][c];
        s->grad_feats[feat][c] += s->grad_out[cell][c] * s->depths[depth];
    }
}

static void small_problem(Small *s) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < DEPTHS; i++)
        s->depths[i] = (float)(i % 7 - 3);
    for (int i = 0; i < FEATS; i++)
        for (int c = 0; c < C; c++)
            s->feats[i][c] = (float)((i * 5 + c * 3) % 11 - 5);
    for (int i = 0; i < CELLS; i++)
        for (int c = 0; c < C; c++)
            s->grad_out[i][c] = (float)((i * 3 + c * 7) % 9 - 4);
    for (int cell = 0; cell < CELLS; cell++)
        for (int i = 0; i < DEPTHS; i++) {
            int sample = i / (DEPTHS / B), own = i % (DEPTHS / B);
            if (i % 3 && cell == sample * (CELLS / B) + own * 7 % (CELLS / B))
                add_point(s, i, i / (D * H * W) * H * W + i % (H * W), cell);
        }
}

/* Rows of channels as (outer, C, rows / outer). */
static void channels_first(const float (*rows)[C], int outer, int count, float *to) {
    for (int o = 0; o < outer; o++)
        for (int c = 0; c < C; c++)
            for (int i = 0; i < count / outer; i++)
                *to++ = rows[o * (count / outer) + i][c];
}

/* The problem's arrays as the caller of one layout has them, and what it finds. */
typedef struct {
    float feats[FEATS * C], grad_out[CELLS * C]; /* given */
    float out[CELLS * C], grad_feats[FEATS * C]; /* expected */
    float found_out[CELLS * C], found_depths[DEPTHS], found_feats[FEATS * C];
} Caller;

static void as_caller(const Small *s, bool feat_first, bool out_first, Caller *to) {
    memset(to, 0xff, sizeof *to);
    memcpy(to->feats, s->feats, sizeof to->feats);
    memcpy(to->grad_feats, s->grad_feats, sizeof to->feats);
    memcpy(to->out, s->out, sizeof to->out);
    memcpy(to->grad_out, s->grad_out, sizeof to->out);
    if (feat_first) {
        channels_first(s->feats, B * N, FEATS, to->feats);
        channels_first(s->grad_feats, B * N, FEATS, to->grad_feats);
    }
    if (out_first) {
        channels_first(s->out, B, CELLS, to->out);
        channels_first(s->grad_out, B, CELLS, to->grad_out);
    }
}

/* One launch; whether it gives what the caller expects. */
static bool run(BevpoolMap *map, const BevpoolOptions *options, Small *s, Caller *to) {
    BevpoolPlan *plan;
    tap_need(!bevpool_plan_create(&plan, map, options, &error), "a plan");
    BevpoolCall call = {
        .size = sizeof call,
        .tensors = {[BEVPOOL_DEPTH] = {s->depths, sizeof s->depths, BEVPOOL_FP32, 1},
                    [BEVPOOL_FEAT] = {to->feats, sizeof to->feats, BEVPOOL_FP32, 1},
                    [BEVPOOL_OUT] = {to->found_out, sizeof to->out, BEVPOOL_FP32, 1},
                    [BEVPOOL_GRAD_OUT] = {to->grad_out, sizeof to->out, BEVPOOL_FP32, 1},
                    [BEVPOOL_GRAD_DEPTH] = {to->found_depths, sizeof s->depths, BEVPOOL_FP32, 1},
                    [BEVPOOL_GRAD_FEAT] = {to->found_feats, sizeof to->feats, BEVPOOL_FP32, 1}},
        .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.workspace = lib_aligned(call.workspace_bytes);
    memset(call.workspace, 0xff, call.workspace_bytes);
    bool right = !bevpool_run(plan, &call, &error);
    if (options->direction == BEVPOOL_FORWARD)
        right = right && !memcmp(to->found_out, to->out, sizeof to->out);
    else
        for (int i = 0; i < FEATS * C || i < DEPTHS; i++) /* -0 equals 0 */
            right = right && (i >= DEPTHS || to->found_depths[i] == s->grad_depths[i]) &&
                    (i >= FEATS * C || to->found_feats[i] == to->grad_feats[i]);
    free(call.workspace);
    bevpool_plan_destroy(plan);
    return right;
}

static void test_direction(BevpoolMap *map, Small *s, int32_t direction) {
    int32_t k = 0;
    for (; bevpool_kernel_name(BEVPOOL_CPU, direction, k); k++)
        for (int32_t layout = 0; layout < 4; layout++) {
            Caller caller;
            BevpoolOptions options = {
                .size = sizeof options,
                .channels = C,
                .direction = direction,
                .feat_layout = layout & 1 ? BEVPOOL_CHANNELS_FIRST : BEVPOOL_CHANNELS_LAST,
                .out_layout = layout & 2 ? BEVPOOL_CHANNELS_FIRST : BEVPOOL_CHANNELS_LAST,
                .kernel = bevpool_kernel_name(BEVPOOL_CPU, direction, k)};
            as_caller(s, options.feat_layout, options.out_layout, &caller);
            tap_ok(run(map, &options, s, &caller),
                   "%s: features with channels %s, output with channels %s", options.kernel,
                   options.feat_layout ? "first" : "last", options.out_layout ? "first" : "last");
        }
    tap_ok(k > 0, "%d kernels go %s", (int)k, bev_directions[direction].name);
}

TAP_SUITE(lib_layouts) {
    static Small s;
    small_problem(&s);
    const BevpoolShape shape = {B, N, D, H, W, Z, Y, X};
    BevpoolArrays arrays = {
        .points = s.points, .ranks_depth = s.depth, .ranks_feat = s.feat, .ranks_bev = s.cell};
    BevpoolMap *map = NULL;
    tap_need(!bevpool_map_from_arrays(&map, &shape, &arrays, BEVPOOL_CPU, 0, &error),
             "a map without intervals");
    test_direction(map, &s, BEVPOOL_FORWARD);
    test_direction(map, &s, BEVPOOL_BACKWARD);
    bevpool_map_destroy(map);
}
