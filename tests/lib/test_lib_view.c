/* SPDX-License-Identifier: MIT */
/* libbevpool on the CPU: maps that change between launches, plans asked for before there is a map.
 */
#include "tests/lib/small_map.h"

enum { CHANNELS = 2, POINTS = 3, CELLS = 2 };
static float depth[4] = {1, 2, 3, 4}, feat[2][CHANNELS] = {{1, 10}, {100, 1000}};

static BevpoolOptions options_of(const char *kernel) {
    return (BevpoolOptions){.size = sizeof(BevpoolOptions), .channels = CHANNELS, .kernel = kernel};
}

/* What the arrays say now, pooled by hand. */
static void pool_by_hand(float out[CELLS][CHANNELS]) {
    memset(out, 0, sizeof(float[CELLS][CHANNELS]));
    for (int t = 0; t < POINTS; t++)
        for (int c = 0; c < CHANNELS; c++)
            out[ranks_bev[t]][c] += depth[ranks_depth[t]] * feat[ranks_feat[t]][c];
}

static bool pools_right(const BevpoolPlan *plan) {
    float out[CELLS][CHANNELS], wanted[CELLS][CHANNELS];
    memset(out, 0xff, sizeof out);
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.tensors[BEVPOOL_DEPTH] = (BevpoolTensor){depth, sizeof depth, BEVPOOL_FP32, 0};
    call.tensors[BEVPOOL_FEAT] = (BevpoolTensor){feat, sizeof feat, BEVPOOL_FP32, 0};
    call.tensors[BEVPOOL_OUT] = (BevpoolTensor){out, sizeof out, BEVPOOL_FP32, 0};
    call.workspace = lib_aligned(call.workspace_bytes);
    bool ran = bevpool_run(plan, &call, &error) == BEVPOOL_OK;
    free(call.workspace);
    pool_by_hand(wanted);
    return ran && !memcmp(out, wanted, sizeof out);
}

static void test_follows(void) {
    BevpoolMap *map;
    BevpoolPlan *plan;
    BevpoolArrays arrays = arrays_of();
    BevpoolOptions options = options_of("reference");
    tap_need(!bevpool_map_view(&map, &shape, &arrays, BEVPOOL_CPU, &error), "a view");
    tap_need(!bevpool_plan_create(&plan, map, &options, &error), "a plan on it");
    BevpoolArrays seen;
    tap_ok(!bevpool_map_arrays(map, &seen, &error) && seen.ranks_bev == ranks_bev,
           "a view stands on the caller's arrays");
    bevpool_map_destroy(map); /* the plan keeps it */
    bool before = pools_right(plan);
    ranks_depth[0] = 2, ranks_depth[1] = 1;       /* other depths */
    ranks_bev[1] = 1, starts[1] = lengths[0] = 1; /* and the second point in the other cell */
    lengths[1] = 2;
    tap_ok(before && pools_right(plan), "one plan pools what the arrays hold at each launch");
    bevpool_plan_destroy(plan);
    tap_ok(ranks_depth[0] == 2 && lengths[1] == 2, "and leaves them to the caller");
}

static void test_refuses(void) {
    BevpoolMap *map;
    BevpoolPlan *plan;
    BevpoolArrays arrays = arrays_of(), bad = arrays;
    BevpoolOptions options = options_of("cpu_v3");
    tap_need(!bevpool_map_view(&map, &shape, &arrays, BEVPOOL_CPU, &error), "a view");
    refused(bevpool_plan_create(&plan, map, &options, &error), BEVPOOL_UNSUPPORTED,
            "cpu_v3: it prepares for one map");
    bevpool_map_destroy(map);
    bad.interval_starts = bad.interval_lengths = NULL;
    bad_argument(bevpool_map_view(&map, &shape, &bad, BEVPOOL_CPU, &error),
                 "interval_starts is NULL");
    bad.intervals = 0;
    refused(bevpool_map_view(&map, &shape, &bad, BEVPOOL_CPU, &error), BEVPOOL_BAD_MAP,
            "intervals: 0, expected 1 to");
    tap_ok(map == NULL, "the handle is NULL after an error");
}

static void test_check_refuses(void) {
    size_t bytes;
    BevpoolArrays arrays = arrays_of();
    BevpoolOptions options = options_of("v5");
    refused(bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, &error), BEVPOOL_UNSUPPORTED,
            "kernel v5");
    bad_argument(bevpool_plan_check(&shape, &arrays, &options, 8, &bytes, &error), "0x8");
    bad_argument(bevpool_plan_check(&shape, &arrays, &options, 0, NULL, &error),
                 "workspace_bytes is NULL");
}

/* Which kernels of a GPU fit, with a map that stays and with one that may change. */
static void test_check(void) {
    int kernels = 0, staying = 0, changing = 0;
    size_t most = 0, bytes, largest = 0;
    BevpoolArrays arrays = arrays_of();
    BevpoolOptions options = options_of(NULL);
    while ((options.kernel = bevpool_kernel_name(0, BEVPOOL_FORWARD, kernels))) {
        kernels++;
        staying += !bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, &error);
        largest = error.status == BEVPOOL_OK && bytes > largest ? bytes : largest;
        changing += !bevpool_plan_check(&shape, &arrays, &options, BEVPOOL_ON_VIEW, &bytes, &error);
    }
    if (!kernels) {
        refused(bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, &error),
                BEVPOOL_UNSUPPORTED, "no kernel of this build");
        return;
    }
    bool fits = !bevpool_plan_check(&shape, &arrays, &options, 0, &most, &error) &&
                !bevpool_plan_check(&shape, &arrays, &options, BEVPOOL_ON_VIEW, &bytes, &error);
    tap_ok(fits && most >= largest && most >= bytes,
           "without a name it is the most of all: %zu bytes", most);
    tap_ok(staying > changing && changing > 2, "%d of %d kernels fit, %d of them maps that change",
           staying, kernels, changing);
    options.kernel = "v3_large_l2";
    fits = !bevpool_plan_check(&shape, &arrays, &options, BEVPOOL_ON_VIEW, &bytes, &error);
    tap_ok(fits && bytes == CELLS * sizeof(int32_t),
           "v3_large_l2 finds the intervals in %zu bytes of workspace", bytes);
    float weights[POINTS] = {1, 1, 1};
    options.kernel = "bev_align";
    bool refuses = bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, &error);
    arrays.weights = weights;
    tap_ok(refuses && !bevpool_plan_check(&shape, &arrays, &options, 0, &bytes, &error),
           "bev_align fits maps with weights alone");
}

TAP_SUITE(lib_view) {
    test_follows();
    test_refuses();
    test_check_refuses();
    test_check();
}
