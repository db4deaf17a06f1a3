/* Moving cameras through the library, on the CPU: random rigs that are flipped, scaled and turned,
 * three aligns, both roundings, batches; the map that was made again has the sums and gradients of
 * the formula. What cannot be is refused. */
#include "tests/lib/moving_case.h"

static BevpoolPlan *moving_plan(BevpoolMap *map, int64_t channels, int32_t direction) {
    BevpoolPlan *plan = NULL;
    BevpoolOptions options = {.size = sizeof options, .channels = channels, .direction = direction};
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan on moving cameras");
    return plan;
}

/* Runs a plan on the case's arrays; `a` and `b` receive its outputs. */
static void run_moving(const BevpoolPlan *plan, const MovingCase *m, const void *memory, float *out,
                       float *grad_depth, float *grad_feat) {
    BevpoolCall call = {.size = sizeof call, .map = memory};
    void *arrays[BEVPOOL_ROLES] = {[BEVPOOL_DEPTH] = m->depth,
                                   [BEVPOOL_FEAT] = m->feat,
                                   [BEVPOOL_OUT] = out,
                                   [BEVPOOL_GRAD_OUT] = m->grad_out,
                                   [BEVPOOL_GRAD_DEPTH] = grad_depth,
                                   [BEVPOOL_GRAD_FEAT] = grad_feat};
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++)
        call.tensors[role] = (BevpoolTensor){arrays[role], bevpool_plan_bytes(plan, role), 0, 0};
    call.workspace_bytes = bevpool_plan_workspace_bytes(plan);
    call.workspace = lib_aligned(call.workspace_bytes);
    fine(bevpool_run(plan, &call, &error), "a launch");
    free(call.workspace);
}

static void test_random_rigs(void) {
    enum { CASES = 120, CHANNELS = 8 };
    double worst = 0;
    int seen = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        MovingCase m = moving_case(seed, CHANNELS), later = moving_case(seed + CASES, CHANNELS);
        BevpoolMap *map = NULL;
        fine(bevpool_map_moving(&map, &m.frustum, BEVPOOL_CPU, &error), "a moving map");
        BevpoolPlan *forward = moving_plan(map, CHANNELS, BEVPOOL_FORWARD);
        BevpoolPlan *backward = moving_plan(map, CHANNELS, BEVPOOL_BACKWARD);
        size_t bytes = bevpool_plan_map_bytes(forward);
        void *memory = lib_aligned(bytes);
        float *out = malloc((size_t)(m.cells * CHANNELS) * sizeof *out);
        float *grad_depth = malloc((size_t)m.depths * sizeof *grad_depth);
        float *grad_feat = malloc((size_t)(m.feats * CHANNELS) * sizeof *grad_feat);
        memset(memory, 0xa5, bytes);
        for (int step = 0; step < 2; step++) { /* other poses first: nothing of them stays */
            const BevpoolPose *poses = step ? m.poses : later.poses;
            fine(bevpool_plan_update(forward, poses, memory, bytes, NULL, &error), "an update");
        }
        run_moving(forward, &m, memory, out, NULL, NULL);
        run_moving(backward, &m, memory, NULL, grad_depth, grad_feat);
        worst = fmax(worst, moving_error(out, m.out, m.cells * CHANNELS));
        worst = fmax(worst, moving_error(grad_depth, m.grad_depth, m.depths));
        worst = fmax(worst, moving_error(grad_feat, m.grad_feat, m.feats * CHANNELS));
        for (int64_t i = 0; i < m.cells * CHANNELS; i += CHANNELS)
            seen += m.out[i] != 0;
        free(memory), free(out), free(grad_depth), free(grad_feat);
        bevpool_plan_destroy(forward), bevpool_plan_destroy(backward), bevpool_map_destroy(map);
        moving_free(&m), moving_free(&later);
    }
    tap_ok(worst < 2e-5 && seen > 10000,
           "%d random rigs, made again each: error %.1e of the largest; %d cells", CASES, worst,
           seen);
}

/* An image of 100 pixels flipped left to right, and a BEV flipped along y: the pixel at the right
 * edge of the network's input is the left edge of the camera's, and y changes its sign. */
static void test_poses(void) {
    const BevpoolCamera camera = {{50, 0, 50, 0, 50, 20, 0, 0, 1},
                                  {0, 0, 1, -1, 0, 0, 0, -1, 0}, /* looks along x */
                                  {1, 2, 3}};
    const double image[9] = {-1, 0, 99, 0, 1, 0, 0, 0, 1};
    const double bev[16] = {1, 0, 0, 0, 0, -1, 0, 0.5, 0, 0, 1, 0, 0, 0, 0, 1};
    BevpoolPose pose;
    fine(bevpool_pose(&pose, &camera, image, bev, &error), "a pose");
    const double *m = pose.matrix, u = 99, v = 20, d = 10;
    double y = pose.origin_m[1] + d * (m[3] * u + m[4] * v + m[5]);
    /* u = 99 is original pixel 0: 50 px left of the middle, so 10 m to the left at 10 m. */
    tap_ok(fabs(y - (-(2 + 10) + 0.5)) < 1e-12 && fabs(pose.origin_m[1] + 1.5) < 1e-12,
           "a flipped image and a flipped BEV: y %g m", y);
    BevpoolCamera bad = camera;
    bad.intrinsics[0] = 0;
    refused(bevpool_pose(&pose, &bad, NULL, NULL, &error), BEVPOOL_BAD_MAP, "intrinsics");
    refused(bevpool_pose(&pose, &camera, (double[9]){0}, NULL, &error), BEVPOOL_BAD_MAP, "image");
    bad = camera;
    bad.position_m[2] = NAN;
    refused(bevpool_pose(&pose, &bad, NULL, NULL, &error), BEVPOOL_BAD_MAP, "not finite");
    bad_argument(bevpool_pose(&pose, NULL, NULL, NULL, &error), "camera is NULL");
}

/* Poses of all cameras at once are those of each. */
static void test_all_poses(void) {
    double numbers[MATRIX_NUMBERS];
    BevpoolPose right[4], got[4];
    for (int wide = 0; wide < 2; wide++) {
        BevpoolMatrices m = moving_matrices(numbers, wide, right);
        fine(bevpool_poses(&m, got, BEVPOOL_CPU, NULL, &error), "poses");
        double most = moving_pose_error(got, right);
        tap_ok(most < (wide ? 1e-12 : 1e-5), "poses of %s: error %.1e", wide ? "doubles" : "floats",
               most);
        m.bev_size = 5;
        bad_argument(bevpool_poses(&m, got, BEVPOOL_CPU, NULL, &error), "expected 3 or 4");
    }
}

/* A row of depths gives what the equal steps give that it lists. */
static void test_depths(void) {
    MovingCase m = moving_case(7, 8);
    double row[64];
    float *out[2];
    for (int i = 0; i < 2; i++) {
        BevpoolFrustum f = m.frustum;
        for (int bin = 0; bin < f.depth_bins; bin++)
            row[bin] = f.depth_start_m + bin * f.depth_step_m;
        f.depths_m = i && f.depth_bins > 1 ? row : NULL;
        BevpoolMap *map = NULL;
        fine(bevpool_map_moving(&map, &f, BEVPOOL_CPU, &error), "a moving map");
        BevpoolPlan *plan = moving_plan(map, 8, BEVPOOL_FORWARD);
        size_t bytes = bevpool_plan_map_bytes(plan);
        void *memory = lib_aligned(bytes);
        out[i] = malloc((size_t)m.cells * 8 * sizeof *out[i]);
        fine(bevpool_plan_update(plan, m.poses, memory, bytes, NULL, &error), "an update");
        run_moving(plan, &m, memory, out[i], NULL, NULL);
        free(memory);
        bevpool_plan_destroy(plan), bevpool_map_destroy(map);
    }
    tap_ok(!memcmp(out[0], out[1], (size_t)m.cells * 8 * sizeof **out), "a row of depths");
    free(out[0]), free(out[1]);
    moving_free(&m);
}

static void test_refused(void) {
    MovingCase m = moving_case(3, 8);
    BevpoolFrustum f = m.frustum;
    BevpoolMap *map = NULL;
    f.size--;
    bad_argument(bevpool_map_moving(&map, &f, BEVPOOL_CPU, &error), "frustum.size");
    f = m.frustum, f.cameras = 33;
    bad_argument(bevpool_map_moving(&map, &f, BEVPOOL_CPU, &error), "frustum.cameras");
    f = m.frustum, f.x_max_m = f.x_min_m;
    refused(bevpool_map_moving(&map, &f, BEVPOOL_CPU, &error), BEVPOOL_BAD_MAP, "frustum");
    f = m.frustum, f.depth_step_m = NAN;
    refused(bevpool_map_moving(&map, &f, BEVPOOL_CPU, &error), BEVPOOL_BAD_MAP, "frustum");
    fine(bevpool_map_moving(&map, &m.frustum, BEVPOOL_CPU, &error), "a moving map");
    BevpoolPlan *plan = moving_plan(map, 8, BEVPOOL_FORWARD);
    size_t bytes = bevpool_plan_map_bytes(plan);
    char *memory = lib_aligned(bytes);
    bad_argument(bevpool_plan_update(plan, NULL, memory, bytes, NULL, &error), "poses is NULL");
    bad_argument(bevpool_plan_update(plan, m.poses, NULL, bytes, NULL, &error), "map memory");
    bad_argument(bevpool_plan_update(plan, m.poses, memory + 4, bytes, NULL, &error), "multiple");
    refused(bevpool_plan_update(plan, m.poses, memory, bytes - 1, NULL, &error), BEVPOOL_WORKSPACE,
            "map memory: has");
    BevpoolCall call = {.size = sizeof call};
    bad_argument(bevpool_run(plan, &call, &error), "map memory: is NULL");
    call.size = offsetof(BevpoolCall, map);
    bad_argument(bevpool_run(plan, &call, &error), "call.size");
    const BevpoolArrays arrays = {0};
    bad_argument(bevpool_plan_update_arrays(plan, &arrays, memory, bytes, NULL, &error),
                 "bevpool_map_changing makes one");
    free(memory);
    bevpool_plan_destroy(plan), bevpool_map_destroy(map);
    moving_free(&m);
}

/* What only a GPU does is refused on the CPU, and before that what is missing. */
static void test_refused_on_cpu(void) {
    const BevpoolShape shape = {1, 1, 2, 3, 4, 1, 5, 6};
    BevpoolShape none = shape;
    BevpoolPoints points = {.size = sizeof points};
    BevpoolPrepared prepared = {.size = sizeof prepared};
    BevpoolMap *map = NULL;
    size_t bytes;
    none.nx = 0;
    bad_argument(bevpool_map_changing(&map, &shape, -1, 0, &error), "most_entries is -1");
    refused(bevpool_map_changing(&map, &shape, 0, BEVPOOL_CPU, &error), BEVPOOL_UNSUPPORTED,
            "bevpool_map_from_arrays");
    bad_argument(bevpool_prepare(&none, &points, &prepared, NULL, 0, 0, NULL, &error), "shape.nx");
    refused(bevpool_prepare_bytes(&shape, BEVPOOL_CPU, &bytes, &error), BEVPOOL_UNSUPPORTED,
            "on a GPU");
    points.size--;
    bad_argument(bevpool_prepare(&shape, &points, &prepared, NULL, 0, 0, NULL, &error), "size");
}

TAP_SUITE(lib_moving) {
    test_poses();
    test_all_poses();
    test_random_rigs();
    test_depths();
    test_refused();
    test_refused_on_cpu();
}
