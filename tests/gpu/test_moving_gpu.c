/* Moving cameras on a GPU: random rigs, three aligns, both roundings, batches, FP32 and FP16: sums
 * and gradients of the formula; a map without room is empty and says so; two streams at once; a
 * CUDA graph of update and launch, replayed while the poses change. */
#include "src/run/cuda/device.h"
#include "tests/gpu/lib_gpu.h"
#include "tests/lib/moving_case.h"

enum { GPU = 0 };

/* A plan with all that its launches need on the GPU. */
typedef struct {
    BevpoolPlan *plan;
    BevpoolCall call;
    BevpoolPose *poses;
    void *memory;
    size_t bytes;
} OnGpu;

static void *gpu_copy(const void *from, size_t bytes) {
    void *to = NULL;
    CUDA(cudaMalloc(&to, bytes + 1));
    CUDA(cudaMemset(to, 0xa5, bytes));
    if (from)
        CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static OnGpu on_gpu(BevpoolMap *map, const MovingCase *m, int32_t direction) {
    OnGpu on = {0};
    BevpoolOptions options = {
        .size = sizeof options, .channels = m->channels, .direction = direction};
    fine(bevpool_plan_create(&on.plan, map, &options, &error), "a plan on moving cameras");
    on.bytes = bevpool_plan_map_bytes(on.plan);
    on.memory = gpu_copy(NULL, on.bytes);
    on.poses = gpu_copy(m->poses, sizeof m->poses);
    on.call = (BevpoolCall){.size = sizeof on.call, .map = on.memory};
    on.call.workspace_bytes = bevpool_plan_workspace_bytes(on.plan);
    on.call.workspace = gpu_copy(NULL, on.call.workspace_bytes);
    const void *arrays[BEVPOOL_ROLES] = {
        [BEVPOOL_DEPTH] = m->depth, [BEVPOOL_FEAT] = m->feat, [BEVPOOL_GRAD_OUT] = m->grad_out};
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        size_t bytes = bevpool_plan_bytes(on.plan, role);
        if (bytes)
            on.call.tensors[role] = (BevpoolTensor){gpu_copy(arrays[role], bytes), bytes, 0, 0};
    }
    return on;
}

static void gpu_free(OnGpu *on) {
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++)
        cudaFree(on->call.tensors[role].data);
    cudaFree(on->call.workspace), cudaFree(on->memory), cudaFree(on->poses);
    bevpool_plan_destroy(on->plan);
}

static void update_and_run(OnGpu *on, void *stream) {
    on->call.stream = stream;
    fine(bevpool_plan_update(on->plan, on->poses, on->memory, on->bytes, stream, &error),
         "an update");
    fine(bevpool_run(on->plan, &on->call, &error), "a launch");
}

/* Returns the error of an output, in units of its largest right value. */
static double error_of(const OnGpu *on, int32_t role, const double *right, int64_t count) {
    float *got = malloc((size_t)count * sizeof *got + 1);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(got, on->call.tensors[role].data, (size_t)count * sizeof *got,
                    cudaMemcpyDeviceToHost));
    double most = moving_error(got, right, count);
    free(got);
    return most;
}

static void test_random_rigs(int rigs) {
    const int64_t channels[] = {80, 64};
    double worst[3] = {0};
    for (int seed = 0; seed < rigs; seed++) {
        MovingCase m = moving_case((uint64_t)seed, channels[seed % 2]);
        BevpoolMap *map = NULL;
        fine(bevpool_map_moving(&map, &m.frustum, GPU, &error), "a moving map");
        OnGpu forward = on_gpu(map, &m, BEVPOOL_FORWARD);
        OnGpu backward = on_gpu(map, &m, BEVPOOL_BACKWARD);
        /* three turns: kernels, a graph that is recorded, and the graph */
        for (int turn = 0; turn < 3; turn++) {
            update_and_run(&forward, NULL);
            update_and_run(&backward, NULL);
        }
        double errors[3] = {
            error_of(&forward, BEVPOOL_OUT, m.out, m.cells * m.channels),
            error_of(&backward, BEVPOOL_GRAD_DEPTH, m.grad_depth, m.depths),
            error_of(&backward, BEVPOOL_GRAD_FEAT, m.grad_feat, m.feats * m.channels)};
        for (int i = 0; i < 3; i++) {
            if (!(errors[i] < 1e-5))
                tap_note("seed %d, align %d, array %d: error %g", seed, (int)m.frustum.align, i,
                         errors[i]);
            worst[i] = fmax(worst[i], errors[i]);
        }
        gpu_free(&forward), gpu_free(&backward), bevpool_map_destroy(map);
        moving_free(&m);
    }
    tap_ok(worst[0] < 1e-5 && worst[1] < 1e-5 && worst[2] < 1e-5,
           "%d random rigs: sums %.1e, gradients of depth %.1e, of features %.1e of the largest",
           rigs, worst[0], worst[1], worst[2]);
}

/* The arrays of nearest points by cell, of the CPU's map; the caller frees them. */
static BevpoolArrays arrays_on_gpu(const MovingCase *m, BevpoolShape *shape) {
    BevpoolMap *map = NULL;
    BevpoolPlan *plan = NULL;
    BevpoolOptions options = {.size = sizeof options, .channels = m->channels};
    fine(bevpool_map_moving(&map, &m->frustum, BEVPOOL_CPU, &error), "a map on the CPU");
    fine(bevpool_map_shape(map, shape, &error), "its shape");
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan on the CPU");
    size_t bytes = bevpool_plan_map_bytes(plan);
    char *memory = lib_aligned(bytes);
    fine(bevpool_plan_update(plan, m->poses, memory, bytes, NULL, &error), "an update");
    const int64_t *counts = (const int64_t *)(memory + 8); /* behind two words of flags */
    const size_t array = (size_t)(m->depths * 4 + 255) / 256 * 256, each = (size_t)counts[0] * 4;
    const size_t lists = (size_t)(m->cells < m->depths ? m->cells : m->depths);
    const char *first = memory + 256, *starts = first + 3 * array;
    BevpoolArrays arrays = {.points = counts[0],
                            .intervals = counts[1],
                            .ranks_depth = gpu_copy(first, each),
                            .ranks_feat = gpu_copy(first + array, each),
                            .ranks_bev = gpu_copy(first + 2 * array, each),
                            .interval_starts = gpu_copy(starts, (size_t)counts[1] * 4),
                            .interval_lengths = gpu_copy(starts + (lists * 4 + 255) / 256 * 256,
                                                         (size_t)counts[1] * 4)};
    free(memory);
    bevpool_plan_destroy(plan), bevpool_map_destroy(map);
    return arrays;
}

static void free_arrays(const BevpoolArrays *a) {
    const int32_t *arrays[] = {a->ranks_depth, a->ranks_feat, a->ranks_bev, a->interval_starts,
                               a->interval_lengths};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        cudaFree((void *)arrays[i]);
}

/* Updates by arrays, three times: kernels, a graph that is recorded, and the graph. Returns the
 * second word of the memory. */
static int32_t update_by_arrays(OnGpu *on, const BevpoolArrays *arrays) {
    int32_t flags[2] = {7, 7};
    for (int turn = 0; turn < 3; turn++)
        fine(bevpool_plan_update_arrays(on->plan, arrays, on->memory, on->bytes, NULL, &error),
             "an update of arrays");
    fine(bevpool_run(on->plan, &on->call, &error), "a launch");
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(flags, on->memory, sizeof flags, cudaMemcpyDeviceToHost));
    return flags[0] ? -1 : flags[1];
}

/* Arrays that change: sums and gradients as by poses; points in another order without intervals;
 * and a point that is wrong is left out and told. */
static void test_arrays(int rigs) {
    double worst = 0;
    bool clean = true, told = true;
    for (int seed = 0; seed < rigs; seed++) {
        BevpoolShape shape;
        BevpoolMap *map = NULL;
        MovingCase m = moving_case((uint64_t)seed, seed % 2 ? 64 : 80);
        if (m.frustum.align == BEVPOOL_NEAREST) {
            BevpoolArrays arrays = arrays_on_gpu(&m, &shape);
            fine(bevpool_map_changing(&map, &shape, m.depths, GPU, &error), "a map");
            OnGpu forward = on_gpu(map, &m, BEVPOOL_FORWARD);
            OnGpu backward = on_gpu(map, &m, BEVPOOL_BACKWARD);
            clean &= update_by_arrays(&forward, &arrays) == 0;
            worst = fmax(worst, error_of(&forward, BEVPOOL_OUT, m.out, m.cells * m.channels));
            BevpoolArrays any = arrays;
            any.interval_starts = any.interval_lengths = NULL;
            clean &= update_by_arrays(&backward, &any) == 0;
            worst = fmax(worst, error_of(&backward, BEVPOOL_GRAD_DEPTH, m.grad_depth, m.depths));
            worst = fmax(worst, error_of(&backward, BEVPOOL_GRAD_FEAT, m.grad_feat,
                                         m.feats * m.channels));
            const int32_t wrong[] = {-1, (int32_t)m.depths, (int32_t)m.cells};
            if (arrays.points) {
                const int32_t *spoilt = seed % 3 < 2 ? arrays.ranks_depth : arrays.ranks_bev;
                CUDA(cudaMemcpy((void *)spoilt, &wrong[seed % 3], 4, cudaMemcpyHostToDevice));
                told &= update_by_arrays(&forward, &arrays) == 1;
            }
            gpu_free(&forward), gpu_free(&backward), bevpool_map_destroy(map);
            free_arrays(&arrays);
        }
        moving_free(&m);
    }
    tap_ok(worst < 1e-5 && clean && told, "arrays that change, of %d rigs: error %.1e", rigs,
           worst);
}

/* Poses that a kernel makes of matrices on the GPU. */
static void test_all_poses(void) {
    double numbers[MATRIX_NUMBERS];
    BevpoolPose right[4], got[4], *poses = gpu_copy(NULL, sizeof got);
    BevpoolMatrices m = moving_matrices(numbers, true, right);
    char *there = gpu_copy(numbers, sizeof numbers);
    const void **arrays[] = {&m.sensor2ego, &m.intrinsics, &m.image_rotation,
                             &m.image_translation, &m.bev};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = there + ((const char *)*arrays[i] - (char *)numbers);
    fine(bevpool_poses(&m, poses, GPU, NULL, &error), "poses");
    CUDA(cudaMemcpy(got, poses, sizeof got, cudaMemcpyDeviceToHost));
    double most = moving_pose_error(got, right);
    tap_ok(most < 1e-12, "poses by a kernel: error %.1e", most);
    cudaFree(poses), cudaFree(there);
}

/* A map with room for one entry is empty, says so, and writes zeros. */
static void test_full(void) {
    MovingCase m = moving_case(2, 80);
    BevpoolMap *map = NULL;
    int32_t flags = 7;
    m.frustum.most_entries = 1;
    fine(bevpool_map_moving(&map, &m.frustum, GPU, &error), "a moving map");
    OnGpu on = on_gpu(map, &m, BEVPOOL_FORWARD);
    update_and_run(&on, NULL);
    double *zeros = calloc((size_t)(m.cells * m.channels), sizeof *zeros);
    bool empty = error_of(&on, BEVPOOL_OUT, zeros, m.cells * m.channels) == 0;
    CUDA(cudaMemcpy(&flags, on.memory, sizeof flags, cudaMemcpyDeviceToHost));
    tap_ok(empty && flags == 1, "a map without room: zeros, flag %d", (int)flags);
    free(zeros);
    gpu_free(&on), bevpool_map_destroy(map), moving_free(&m);
}

/* Update and launch as one graph; each replay reads the poses that are there then. Two streams
 * replay two of them at once. */
static void test_graphs(int replays) {
    enum { STREAMS = 2, STEPS = 5 };
    cudaStream_t streams[STREAMS];
    cudaGraphExec_t graphs[STREAMS];
    MovingCase steps[STREAMS][STEPS];
    OnGpu on[STREAMS];
    BevpoolMap *maps[STREAMS];
    double worst = 0;
    for (int s = 0; s < STREAMS; s++) {
        cudaGraph_t graph;
        for (int i = 0; i < STEPS; i++) {
            steps[s][i] = moving_case((uint64_t)(11 + s), 80);
            moving_state += (uint64_t)i * 977; /* other poses of the same sizes */
            for (int c = 0; i && c < MOVING_CAMERAS * MOVING_SAMPLES; c++)
                steps[s][i].poses[c] = moving_pose(&steps[s][i].frustum);
            memset(steps[s][i].out, 0, (size_t)(steps[s][i].cells * 80) * sizeof(double));
            moving_solve(&steps[s][i]);
        }
        fine(bevpool_map_moving(&maps[s], &steps[s][0].frustum, GPU, &error), "a moving map");
        on[s] = on_gpu(maps[s], &steps[s][0], BEVPOOL_FORWARD);
        CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        update_and_run(&on[s], streams[s]);
        CUDA(cudaStreamSynchronize(streams[s]));
        CUDA(cudaStreamBeginCapture(streams[s], cudaStreamCaptureModeThreadLocal));
        update_and_run(&on[s], streams[s]);
        CUDA(cudaStreamEndCapture(streams[s], &graph));
        CUDA(cudaGraphInstantiate(&graphs[s], graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    for (int replay = 0; replay < replays; replay++) {
        for (int s = 0; s < STREAMS; s++) {
            CUDA(cudaMemcpyAsync(on[s].poses, steps[s][replay % STEPS].poses,
                                 sizeof steps[s][0].poses, cudaMemcpyHostToDevice, streams[s]));
            CUDA(cudaGraphLaunch(graphs[s], streams[s]));
        }
        for (int s = 0; replay % 50 < STEPS && s < STREAMS; s++) {
            const MovingCase *m = &steps[s][replay % STEPS];
            worst = fmax(worst, error_of(&on[s], BEVPOOL_OUT, m->out, m->cells * m->channels));
        }
    }
    tap_ok(worst < 1e-5, "graphs of update and launch, %d times on two streams: error %.1e",
           replays, worst);
    for (int s = 0; s < STREAMS; s++) {
        cudaGraphExecDestroy(graphs[s]);
        cudaStreamDestroy(streams[s]);
        gpu_free(&on[s]), bevpool_map_destroy(maps[s]);
        for (int i = 0; i < STEPS; i++)
            moving_free(&steps[s][i]);
    }
}

/* SMALL is for compute-sanitizer, which makes kernels slow. */
TAP_SUITE(moving_gpu) {
    const bool small = getenv("SMALL") != NULL;
    Err err = {0};
    if (!device_open(GPU, &err))
        tap_skip_suite(err.what);
    test_random_rigs(small ? 20 : 1000);
    test_arrays(small ? 20 : 300);
    test_all_poses();
    test_full();
    test_graphs(small ? 20 : 1000);
}
