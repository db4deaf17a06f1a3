/* SPDX-License-Identifier: MIT */
/* libbevpool and bad input: a status and a text that names what is wrong, never a crash. */
#include "tests/lib/small_map.h"

#include <math.h>

static float weights[] = {1, 1, 1};
enum { CHANNELS = 4 };

static BevpoolMap *try_map(BevpoolArrays arrays, BevpoolShape its_shape, BevpoolStatus *status) {
    BevpoolMap *map = (BevpoolMap *)&error; /* must not stay */
    *status = bevpool_map_from_arrays(&map, &its_shape, &arrays, BEVPOOL_CPU, 0, &error);
    if ((*status == BEVPOOL_OK) != (map != NULL))
        tap_ok(false, "the handle is NULL after an error, and only then");
    return map;
}

static void map_refused(BevpoolArrays arrays, BevpoolShape its_shape, BevpoolStatus wanted,
                        const char *words) {
    BevpoolStatus status;
    bevpool_map_destroy(try_map(arrays, its_shape, &status));
    refused(status, wanted, words);
}

#define MAP_WITH(change, wanted, words)                                                            \
    do {                                                                                           \
        BevpoolArrays a = arrays_of();                                                             \
        BevpoolShape s = shape;                                                                    \
        change;                                                                                    \
        map_refused(a, s, wanted, words);                                                          \
    } while (0)

static void test_maps(void) {
    BevpoolArrays arrays = arrays_of();
    BevpoolMap *map;
    bad_argument(bevpool_map_from_arrays(NULL, &shape, &arrays, -1, 0, &error), "map is NULL");
    bad_argument(bevpool_map_from_arrays(&map, &shape, &arrays, -1, 64, &error), "flags");
    bad_argument(bevpool_map_from_arrays(&map, &shape, &arrays, -7, 0, &error), "device -7");
    refused(bevpool_map_from_arrays(&map, &shape, &arrays, 99, 0, &error), BEVPOOL_NO_DEVICE,
            "device 99");
    MAP_WITH(s.nx = 0, BEVPOOL_BAD_ARGUMENT, "shape.nx is 0");
    MAP_WITH(s.batch = 0, BEVPOOL_BAD_ARGUMENT, "shape.batch is 0");
    MAP_WITH(s.cameras = 1 << 20; s.depth_bins = 1 << 20, BEVPOOL_BAD_ARGUMENT, "exceeds int32");
    MAP_WITH(s.batch = INT64_MAX, BEVPOOL_BAD_ARGUMENT, "exceeds int32");
    MAP_WITH(a.points = -1, BEVPOOL_BAD_MAP, "points: -1");
    MAP_WITH(a.intervals = 9, BEVPOOL_BAD_MAP,
             "intervals: 9, expected 1 to 3, at most one a point");
    MAP_WITH(a.ranks_feat = NULL, BEVPOOL_BAD_ARGUMENT, "ranks_feat is NULL");
    MAP_WITH(a.interval_lengths = NULL, BEVPOOL_BAD_ARGUMENT, "interval_lengths is NULL");
    MAP_WITH(a.ranks_bev = (int32_t *)((char *)ranks_bev + 1), BEVPOOL_BAD_ARGUMENT,
             "ranks_bev does not begin on a multiple of 4");
}

/* Every lie of an element: scatter_foreign_defects in tests/scene. Here that the library asks. */
static void test_lies(void) {
    MAP_WITH(weights[1] = NAN; a.weights = weights, BEVPOOL_BAD_MAP, "weights[1]");
    ranks_bev[0] = 1;
    map_refused(arrays_of(), shape, BEVPOOL_BAD_MAP, "ranks_bev");
    MAP_WITH(a.interval_starts = a.interval_lengths = NULL, BEVPOOL_BAD_MAP, "sort points by cell");
    ranks_bev[0] = 0;
}

/* After the change both are right again. */
#define RIGS_WITH(change, batch, wanted, words)                                                    \
    do {                                                                                           \
        change;                                                                                    \
        refused(bevpool_map_from_rigs(&map, rigs, batch, 0, -1, &error), wanted, words);           \
        rigs[0] = rigs[1] = right;                                                                 \
    } while (0)

static void test_rigs(void) {
    BevpoolCamera camera = {{100, 0, 50, 0, 100, 50, 0, 0, 1}, {0, 0, 1, -1, 0, 0, 0, -1, 0}, {0}};
    const BevpoolRig right = {sizeof right, &camera, 1,   100, 100, 1,  0,  0, 100, 100, 10, 10, 1,
                              20,           1,       -20, 20,  -20, 20, -5, 5, 40,  40,  0};
    BevpoolMap *map = NULL;
    BevpoolRig rigs[2] = {right, right};
    BevpoolStatus status = bevpool_map_from_rigs(&map, rigs, 2, 0, BEVPOOL_CPU, &error);
    tap_ok(status == BEVPOOL_OK && !error.text[0], "a right pair of rigs is taken: %s", error.text);
    bevpool_map_destroy(map);
    bad_argument(bevpool_map_from_rigs(&map, NULL, 1, 0, -1, &error), "rigs");
    bad_argument(bevpool_map_from_rigs(&map, rigs, 0, 0, -1, &error), "batch");
    bad_argument(bevpool_map_from_rigs(&map, rigs, INT64_MAX, 0, -1, &error), "expected 1 to 214");
    bad_argument(bevpool_map_from_rigs(&map, rigs, 1, 9, -1, &error), "align");
    RIGS_WITH(rigs[1].nz = -1, 2, BEVPOOL_BAD_ARGUMENT, "nz is -1");
    RIGS_WITH(rigs[1].nz = 2, 2, BEVPOOL_BAD_MAP, "rigs[1] has");
    RIGS_WITH(rigs[1].size = 3, 2, BEVPOOL_BAD_ARGUMENT, "size");
    RIGS_WITH(rigs[0].cameras = NULL, 1, BEVPOOL_BAD_ARGUMENT, "cameras");
    RIGS_WITH(rigs[0].camera_count = 33, 1, BEVPOOL_BAD_ARGUMENT, "count");
    RIGS_WITH(rigs[0].resize = NAN, 1, BEVPOOL_BAD_MAP, "rigs[0]");
    RIGS_WITH(camera.rotation[0] = 5, 1, BEVPOOL_BAD_MAP, "rigs[0]");
}

typedef struct {
    BevpoolOptions options; /* of 4 channels where they name none */
    const char *words;
} BadPlan;

static void plan_refused(BevpoolMap *map, const BadPlan *bad, BevpoolStatus wanted) {
    BevpoolPlan *plan = (BevpoolPlan *)&error;
    BevpoolOptions options = bad->options;
    options.size = sizeof options;
    options.channels = options.channels ? options.channels : CHANNELS;
    refused(bevpool_plan_create(&plan, map, &options, &error), wanted, bad->words);
    if (plan)
        tap_ok(false, "the handle is NULL after an error");
}

static void test_plans(BevpoolMap *map) {
    const BevpoolView cold = {.softmax = 1, .temperature = 3e-39f};
    BevpoolPlan *plan;
    BevpoolOptions options = {.size = 0};
    bad_argument(bevpool_plan_create(&plan, NULL, &options, &error), "map");
    bad_argument(bevpool_plan_create(&plan, map, &options, &error), "options.size is 0");
    options = (BevpoolOptions){.size = sizeof options};
    bad_argument(bevpool_plan_create(&plan, map, &options, &error), "options.channels is 0");
    const BadPlan arguments[] = {
        {{.channels = INT64_C(1) << 32}, "is 4294967296, expected 1 to 2147483647"},
        {{.view = &cold}, "view.temperature is 3e-39, expected a finite number of 1.17549e-38"},
        {{.dtype = 17}, "options.dtype is 17"},
        {{.direction = 2}, "direction is 2"},
        {{.out_layout = -1}, "out_layout is -1"},
    };
    const BadPlan unsupported[] = {
        {{.kernel = "v9"}, "kernel v9"},
        {{.kernel = "v\033[31m\n9"}, "kernel v?[31m?9"},
        {{.kernel = "cpu_race"}, "cpu_race"},
        {{.kernel = "v4"}, "kernel v4"},
        {{.dtype = BEVPOOL_FP8, .direction = BEVPOOL_BACKWARD}, "gradients"},
        {{.dtype = BEVPOOL_NVFP4, .feat_layout = BEVPOOL_CHANNELS_FIRST}, "NVFP4"},
    };
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        plan_refused(map, &arguments[i], BEVPOOL_BAD_ARGUMENT);
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        plan_refused(map, &unsupported[i], BEVPOOL_UNSUPPORTED);
    bevpool_plan_destroy(NULL);
    bevpool_map_destroy(NULL);
    fine(bevpool_warm_up(BEVPOOL_CPU, BEVPOOL_FORWARD, &error), "the CPU has nothing to load");
    bad_argument(bevpool_warm_up(BEVPOOL_CPU, 2, &error), "direction is 2");
    bad_argument(bevpool_warm_up(-2, BEVPOOL_BACKWARD, &error), "device -2");
    tap_ok(!bevpool_plan_kernel(NULL) && !bevpool_plan_workspace_bytes(NULL) &&
               !bevpool_plan_bytes(NULL, 0) && !bevpool_kernel_name(BEVPOOL_CPU, 0, 1000) &&
               !bevpool_kernel_name(BEVPOOL_CPU, 0, -1) && !bevpool_kernel_name(-7, 0, 0),
           "questions about nothing have an answer");
}

static float depth[4], feat[2][CHANNELS], out[2][CHANNELS];
static _Alignas(256) char workspace[1 << 16];

static BevpoolCall call_of(void) {
    BevpoolCall call = {
        .size = sizeof call, .workspace = workspace, .workspace_bytes = sizeof workspace};
    call.tensors[BEVPOOL_DEPTH] = (BevpoolTensor){depth, sizeof depth, BEVPOOL_FP32, 1};
    call.tensors[BEVPOOL_FEAT] = (BevpoolTensor){feat, sizeof feat, BEVPOOL_FP32, 1};
    call.tensors[BEVPOOL_OUT] = (BevpoolTensor){out, sizeof out, BEVPOOL_FP32, 1};
    return call;
}

static void call_refused(const BevpoolPlan *plan, BevpoolCall call, BevpoolStatus wanted,
                         const char *words) {
    refused(bevpool_run(plan, &call, &error), wanted, words);
}

#define CALL_WITH(change, wanted, words)                                                           \
    do {                                                                                           \
        BevpoolCall call = call_of();                                                              \
        BevpoolTensor *t = call.tensors;                                                           \
        change;                                                                                    \
        (void)t;                                                                                   \
        call_refused(plan, call, wanted, words);                                                   \
    } while (0)

static void test_calls(BevpoolMap *map) {
    BevpoolOptions options = {.size = sizeof options, .channels = CHANNELS};
    BevpoolPlan *plan = NULL;
    BevpoolCall right = call_of();
    tap_need(!bevpool_plan_create(&plan, map, &options, &error), "a plan");
    size_t needed = bevpool_plan_workspace_bytes(plan);
    tap_ok(!bevpool_run(plan, &right, &error) && !bevpool_run(plan, &right, NULL) && needed > 0 &&
               needed < sizeof workspace,
           "a right call runs, with %zu bytes of workspace", needed);
    bad_argument(bevpool_run(NULL, &right, &error), "plan is NULL");
    CALL_WITH(call.size = 1, BEVPOOL_BAD_ARGUMENT, "call.size is 1");
    CALL_WITH(t[BEVPOOL_DEPTH].data = NULL, BEVPOOL_BAD_ARGUMENT, "depth: is NULL");
    CALL_WITH(t[BEVPOOL_FEAT].bytes = 16, BEVPOOL_BAD_ARGUMENT, "feat: has 16 bytes, expected 32");
    CALL_WITH(t[BEVPOOL_FEAT].dtype = BEVPOOL_FP16, BEVPOOL_BAD_ARGUMENT, "feat: has dtype 1");
    CALL_WITH(t[BEVPOOL_OUT].data = (char *)out + 2, BEVPOOL_BAD_ARGUMENT, "out: does not begin");
    CALL_WITH(t[BEVPOOL_DEPTH].scale = 2, BEVPOOL_BAD_ARGUMENT, "depth: has scale 2");
    CALL_WITH(call.workspace = NULL, BEVPOOL_WORKSPACE, "workspace: has 0 bytes, needs");
    CALL_WITH(call.workspace_bytes = needed - 1, BEVPOOL_WORKSPACE, "workspace: has");
    CALL_WITH(call.workspace = workspace + 16, BEVPOOL_WORKSPACE, "workspace: does not begin");
    bevpool_plan_destroy(plan);
}

TAP_SUITE(lib_refuses) {
    BevpoolStatus status;
    test_maps();
    test_lies();
    test_rigs();
    BevpoolMap *map = try_map(arrays_of(), shape, &status);
    tap_need(status == BEVPOOL_OK, "the right map");
    test_plans(map);
    test_calls(map);
    bevpool_map_destroy(map);
}
