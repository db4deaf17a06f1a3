/* SPDX-License-Identifier: MIT */
/* A view transform through the library, on the CPU: one tensor (B * N, D + C, H, W) read by strides
 * gives what pooling the softmax of its logits gives, in both layouts, and so do its gradients,
 * written by the same strides; and bad strides, temperatures and formats are refused. */
#include "tests/lib/lib_case.h"

#include <math.h>

enum { B = 2, N = 2, D = 5, C = 6, H = 3, W = 4, CELLS = 7, PIXELS = H * W };
enum { CAMERAS = B * N, DEPTHS = CAMERAS * D * PIXELS, OUT = B * CELLS * C };

static float x[CAMERAS * (D + C) * PIXELS], feats[CAMERAS * PIXELS * C];
static int32_t ranks_depth[DEPTHS], ranks_feat[DEPTHS], ranks_bev[DEPTHS];

static const BevpoolView whole = {.softmax = 1,
                                  .temperature = 0.5f,
                                  .depth_strides = {(D + C) * PIXELS, PIXELS, W, 1},
                                  .feat_strides = {(D + C) * PIXELS, PIXELS, W, 1}};

/* Every depth is a point; a sample's points fall into its own cells. */
static BevpoolMap *make_map(void) {
    const BevpoolShape shape = {B, N, D, H, W, 1, 1, CELLS};
    int32_t points = 0;
    for (int cell = 0; cell < B * CELLS; cell++)
        for (int32_t d = 0; d < DEPTHS; d++) {
            int camera = d / (D * PIXELS), pixel = d % PIXELS;
            if (camera / N * CELLS + d * 5 % CELLS != cell)
                continue;
            ranks_depth[points] = d;
            ranks_feat[points] = camera * PIXELS + pixel;
            ranks_bev[points++] = cell;
        }
    const BevpoolArrays arrays = {points, 0, ranks_depth, ranks_feat, ranks_bev, NULL, NULL, NULL};
    BevpoolMap *map = NULL;
    tap_need(!bevpool_map_from_arrays(&map, &shape, &arrays, BEVPOOL_CPU, 0, &error), error.text);
    return map;
}

/* Random x; what a softmax in double precision makes of its logits, and features channels last. */
static void fill(float *depths) {
    for (int i = 0; i < (int)(sizeof x / sizeof *x); i++)
        x[i] = (float)(i * 7919 % 1009) / 100 - 5;
    for (int camera = 0; camera < CAMERAS; camera++)
        for (int p = 0; p < PIXELS; p++) {
            const float *pixel = x + camera * (D + C) * PIXELS + p;
            double sum = 0;
            for (int d = 0; d < D; d++)
                sum += exp(pixel[d * PIXELS] / 0.5);
            for (int d = 0; d < D; d++)
                depths[(camera * D + d) * PIXELS + p] = (float)(exp(pixel[d * PIXELS] / 0.5) / sum);
            for (int c = 0; c < C; c++)
                feats[(camera * PIXELS + p) * C + c] = pixel[(D + c) * PIXELS];
        }
}

/* A plan, and its launch: `arrays` by role. */
static void launch(BevpoolMap *map, const BevpoolOptions *options, float *const *arrays) {
    BevpoolPlan *plan = NULL;
    tap_need(!bevpool_plan_create(&plan, map, options, &error), error.text);
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.workspace = lib_aligned(call.workspace_bytes);
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++)
        call.tensors[role] = (BevpoolTensor){arrays[role], bevpool_plan_bytes(plan, role), 0, 0};
    tap_need(!bevpool_run(plan, &call, &error), error.text);
    free(call.workspace);
    bevpool_plan_destroy(plan);
}

static BevpoolOptions options_of(const BevpoolView *view, int32_t direction, int32_t layout) {
    return (BevpoolOptions){.size = sizeof(BevpoolOptions),
                            .channels = C,
                            .dtype = BEVPOOL_FP32,
                            .direction = direction,
                            .out_layout = layout,
                            .view = view};
}

static void pool(BevpoolMap *map, const BevpoolView *view, int32_t layout, float *depth,
                 float *feat, float *out) {
    BevpoolOptions options = options_of(view, BEVPOOL_FORWARD, layout);
    memset(out, 0xff, OUT * sizeof *out);
    launch(map, &options,
           (float *[BEVPOOL_ROLES]){
               [BEVPOOL_DEPTH] = depth, [BEVPOOL_FEAT] = feat, [BEVPOOL_OUT] = out});
}

/* Where an output with channels last stands with channels first. */
static int channels_first(int i) {
    int b = i / (CELLS * C), cell = i / C % CELLS, c = i % C;
    return (b * C + c) * CELLS + cell;
}

static void test_same(BevpoolMap *map) {
    static float depths[DEPTHS], want[OUT], last[OUT], first[OUT];
    fill(depths);
    pool(map, NULL, BEVPOOL_CHANNELS_LAST, depths, feats, want);
    pool(map, &whole, BEVPOOL_CHANNELS_LAST, x, x + D * PIXELS, last);
    pool(map, &whole, BEVPOOL_CHANNELS_FIRST, x, x + D * PIXELS, first);
    double worst = 0;
    int differ = 0;
    for (int i = 0; i < OUT; i++) {
        worst = fmax(worst, fabs(last[i] - want[i]));
        differ += last[i] != first[channels_first(i)];
    }
    tap_ok(worst < 1e-4, "logits and features in one tensor: %g from pooling their softmax", worst);
    tap_ok(!differ, "channels first: the same bits");
    BevpoolView copied = whole;
    copied.softmax = 0;
    memset(copied.depth_strides, 0, sizeof copied.depth_strides); /* dense */
    pool(map, &copied, BEVPOOL_CHANNELS_LAST, depths, x + D * PIXELS, last);
    tap_ok(!memcmp(last, want, sizeof want), "depths that are no logits: the bits of pooling");
    x[3 * PIXELS] = NAN;
    pool(map, &whole, BEVPOOL_CHANNELS_LAST, x, x + D * PIXELS, last);
    int seen = 0, spoilt = 0;
    for (int d = 0; d < D; d++)
        for (int t = 0; t < DEPTHS; t++)
            seen |= ranks_depth[t] == d * PIXELS ? 1 << ranks_bev[t] : 0;
    for (int i = 0; i < OUT; i++)
        spoilt |= isnan(last[i]) ? 1 << i / C : 0;
    tap_ok(spoilt == seen, "a NaN among the logits of a pixel: NaN in the cells that see it alone");
}

static void go_back(BevpoolMap *map, const BevpoolView *view, float *const arrays[BEVPOOL_ROLES]) {
    const BevpoolOptions options = options_of(view, BEVPOOL_BACKWARD, BEVPOOL_CHANNELS_FIRST);
    launch(map, &options, arrays);
}

static void test_back(BevpoolMap *map) {
    static float depths[DEPTHS], of_depths[DEPTHS], of_feats[sizeof feats / sizeof *feats];
    static float of_x[sizeof x / sizeof *x], grad[OUT];
    fill(depths);
    for (int i = 0; i < OUT; i++)
        grad[i] = (float)(i * 31 % 17) - 8;
    memset(of_x, 0xff, sizeof of_x);
    go_back(map, NULL,
            (float *[BEVPOOL_ROLES]){depths, feats, NULL, NULL, grad, of_depths, of_feats});
    go_back(map, &whole,
            (float *[BEVPOOL_ROLES]){x, x + D * PIXELS, NULL, NULL, grad, of_x, of_x + D * PIXELS});
    double worst = 0, of_feat = 0;
    for (int camera = 0; camera < CAMERAS; camera++)
        for (int p = 0; p < PIXELS; p++) {
            const float *d = depths + camera * D * PIXELS + p, *g = of_depths + (d - depths);
            const float *got = of_x + camera * (D + C) * PIXELS + p;
            double sum = 0;
            for (int bin = 0; bin < D; bin++)
                sum += (double)d[bin * PIXELS] * g[bin * PIXELS];
            for (int bin = 0; bin < D; bin++) {
                double want = d[bin * PIXELS] * (g[bin * PIXELS] - sum) / 0.5;
                worst = fmax(worst, fabs(got[bin * PIXELS] - want));
            }
            for (int c = 0; c < C; c++)
                of_feat = fmax(
                    of_feat, fabs(got[(D + c) * PIXELS] - of_feats[(camera * PIXELS + p) * C + c]));
        }
    tap_ok(worst < 1e-3 && of_feat < 1e-4,
           "gradients of logits: %g, of features: %g from those of "
           "pooling, the softmax's worked out here",
           worst, of_feat);
}

static void refuses(BevpoolMap *map, const BevpoolView *view, int32_t dtype, int32_t direction,
                    BevpoolStatus status, const char *words) {
    BevpoolOptions options = options_of(view, direction, BEVPOOL_CHANNELS_LAST);
    options.dtype = dtype;
    BevpoolPlan *plan = NULL;
    tap_ok(bevpool_plan_create(&plan, map, &options, &error) == status && !plan &&
               strstr(error.text, words),
           "%s: %s", bevpool_status_name(status), error.text);
}

static void test_refuses(BevpoolMap *map) {
    BevpoolView bad = whole;
    bad.depth_strides[1] = PIXELS - 1;
    refuses(map, &bad, BEVPOOL_FP32, 0, BEVPOOL_BAD_ARGUMENT, "view.depth_strides");
    refuses(map, &whole, BEVPOOL_FP8, 0, BEVPOOL_UNSUPPORTED, "FP8");
    refuses(map, &whole, BEVPOOL_FP8, BEVPOOL_BACKWARD, BEVPOOL_UNSUPPORTED, "FP8");
}

TAP_SUITE(lib_transform) {
    BevpoolMap *map = make_map();
    test_back(map);
    test_same(map);
    test_refuses(map);
    bevpool_map_destroy(map);
}
