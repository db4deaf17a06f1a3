/* SPDX-License-Identifier: MIT */
/* libbevpool and devices: maps of calibrations that a GPU builds, lives without end, pointers and
 * streams that cannot be used, two GPUs, and a GPU that failed. */
#include "src/lib/lib_internal.h"
#include "src/run/cuda/device.h"
#include "tests/gpu/lib_gpu.h"
#include "tests/support/maps.h"
#include "tests/support/memory.h"
#include "src/scene/scatter.h"

#include <pthread.h>
#include <time.h>

static HostProblem host;
static void *expected; /* the output of GPU 0 */

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void *output_of(const BevpoolCall *call) {
    void *codes = malloc(call->tensors[BEVPOOL_OUT].bytes);
    CUDA(cudaMemcpy(codes, call->tensors[BEVPOOL_OUT].data, call->tensors[BEVPOOL_OUT].bytes,
                    cudaMemcpyDeviceToHost));
    return codes;
}

enum { MOST_BATCH = 3, BUILDS = 5 };

static BevMap built(const BevpoolRig *rigs, int64_t batch, int32_t align, int32_t device,
                    double *us) {
    BevpoolMap *map = NULL;
    *us = 1e9;
    for (int i = 0; i < BUILDS; i++) {
        bevpool_map_destroy(map);
        double begun = now_us();
        fine(bevpool_map_from_rigs(&map, rigs, batch, align, device, &error), "a map of rigs");
        double took = now_us() - begun;
        *us = took < *us ? took : *us;
    }
    BevMap copy = fetched(map);
    bevpool_map_destroy(map);
    return copy;
}

/* Different calibrations, one a sample: each camera stands a little higher than in the one before.
 * `lift_m` moves the first. */
static void test_maps(const char *name, int64_t batch, double lift_m) {
    BevpoolCamera cameras[MOST_BATCH][RIG_MAX_CAMERAS];
    BevpoolRig rigs[MOST_BATCH];
    Scene *scene = load_scene(name);
    for (int64_t b = 0; b < batch; b++) {
        lib_rig_from(&scene->rig, cameras[b], &rigs[b]);
        for (int i = 0; i < rigs[b].camera_count; i++)
            cameras[b][i].position_m[2] += lift_m + 0.1 * (double)b;
    }
    for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
        double cpu_us, gpu_us;
        BevMap cpu = built(rigs, batch, align, BEVPOOL_CPU, &cpu_us);
        BevMap gpu = built(rigs, batch, align, 0, &gpu_us);
        tap_ok(same_map(&cpu, &gpu) && (cpu.points > 0) == (lift_m < 100),
               "%s, batch %lld, %s: the GPU's map of %lld points is the CPU's, bit for bit", name,
               (long long)batch, bev_aligns[align].name, (long long)gpu.points);
        tap_note("CPU %.0f us, GPU %.0f us with its memory", cpu_us, gpu_us);
        scatter_free(&cpu);
        scatter_free(&gpu);
    }
    drop_scene(scene);
}

/* Against the CPU's: sizes whose rows are whole vectors and sizes whose are not. */
static void test_transposing(size_t bytes) {
    static const int64_t sizes[][3] = {{1, 16384, 80}, {3, 64, 64}, {2, 80, 208},  {5, 33, 7},
                                       {1, 1, 100},    {2, 96, 1},  {40000, 2, 4}, {1, 8, 65}};
    int differ = 0, count = sizeof sizes / sizeof *sizes;
    for (int i = 0; i < count; i++) {
        const int64_t *s = sizes[i];
        size_t all = (size_t)(s[0] * s[1] * s[2]) * bytes;
        uint8_t *from = malloc(all), *want = malloc(all), *got = malloc(all);
        for (size_t k = 0; k < all; k++)
            from[k] = (uint8_t)(k * 2654435761u >> 13);
        void *on = on_device(from, all), *to = on_device(NULL, all);
        fine(lib_transpose(BEVPOOL_CPU, from, want, bytes, s[0], s[1], s[2], NULL, &error), "CPU");
        fine(lib_transpose(0, on, to, bytes, s[0], s[1], s[2], NULL, &error), "GPU");
        CUDA(cudaMemcpy(got, to, all, cudaMemcpyDeviceToHost));
        differ += memcmp(got, want, all) != 0;
        cudaFree(on), cudaFree(to);
        free(from), free(want), free(got);
    }
    tap_ok(!differ, "transposing elements of %zu bytes: %d of %d sizes differ from the CPU's",
           bytes, differ, count);
}

/* A plan with channels first needs a workspace. */
static void test_workspace(void *host_memory) {
    Ready ready = ready_on(&host, 0, NULL, BEVPOOL_CHANNELS_FIRST);
    BevpoolCall bad = ready.call;
    bad.workspace = host_memory;
    refused(bevpool_run(ready.plan, &bad, &error), BEVPOOL_BAD_ARGUMENT,
            "workspace: is memory of the");
    bad.workspace = NULL;
    refused(bevpool_run(ready.plan, &bad, &error), BEVPOOL_WORKSPACE, "workspace: has 0 bytes");
    ready_free(&ready);
}

/* What is on a GPU, given to the CPU. */
static void test_for_cpu(const BevpoolCall *on_gpu) {
    BevpoolMap *map = map_of(&host, BEVPOOL_CPU), *other;
    BevpoolPlan *plan = plan_of(&host, map, NULL, BEVPOOL_CHANNELS_LAST);
    BevpoolCall call = lib_call(&host, plan), bad = call;
    bad.tensors[BEVPOOL_FEAT].data = on_gpu->tensors[BEVPOOL_FEAT].data;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "feat: is memory of a GPU");
    BevpoolShape shape = lib_case_shape(&host.view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host.view.map);
    arrays.ranks_feat = on_gpu->tensors[BEVPOOL_FEAT].data;
    refused(bevpool_map_from_arrays(&other, &shape, &arrays, BEVPOOL_CPU, 0, &error),
            BEVPOOL_BAD_ARGUMENT, "ranks_feat: is memory of a GPU");
    fine(bevpool_run(plan, &call, &error), "a launch on the CPU after that");
    lib_call_free(&call);
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
}

static void test_pointers(BevpoolPlan *plan) {
    BevpoolCall call = gpu_call(&host, plan), bad = call;
    void *memory = aligned_alloc(LIB_ALIGNMENT, 1 << 20), *freed;
    bad.tensors[BEVPOOL_OUT].data = memory;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "out: is memory of the host");
    CUDA(cudaMalloc(&freed, 32 << 20));
    CUDA(cudaFree(freed));
    bad.tensors[BEVPOOL_OUT].data = freed;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "out: is memory of the host");
    fine(bevpool_run(plan, &call, &error), "a launch after that");
    tap_ok(is_output(&call, expected), "the next launch is right");
    test_workspace(memory);
    free(memory);
    test_for_cpu(&call);
    call_free(&call);
}

enum { LIVES = 10000, WARM_LIVES = 500, MOST_KB = 1024 };

static void live(const BevpoolCall *call) {
    BevpoolMap *map = map_of(&host, 0);
    BevpoolPlan *plan = plan_of(&host, map, NULL, BEVPOOL_CHANNELS_LAST);
    bevpool_map_destroy(map);
    fine(bevpool_run(plan, call, &error), "a launch");
    CUDA(cudaStreamSynchronize(NULL));
    bevpool_plan_destroy(plan);
}

static void test_lives(const BevpoolCall *call) {
    size_t before, after, total;
    for (int i = 0; i < WARM_LIVES; i++)
        live(call);
    CUDA(cudaMemGetInfo(&before, &total));
    long mark = memory_mark();
    double begun = now_us();
    for (int i = 0; i < LIVES; i++)
        live(call);
    double us = (now_us() - begun) / LIVES;
    long grown = memory_growth_kb(mark);
    CUDA(cudaMemGetInfo(&after, &total));
    tap_ok(
        grown < MOST_KB && before <= after,
        "%d times a map, a plan, a launch: %ld kB more on the host, %lld on the GPU; %.0f us each",
        LIVES, grown, (long long)before - (long long)after, us);
}

enum { ROUNDS = 200 };

/* A thread with a GPU, and a map and a plan of its own there. */
static void *pool_there(void *context) {
    int device = *(int *)context;
    bool same = cudaSetDevice(device) == cudaSuccess;
    BevpoolMap *map = NULL;
    BevpoolPlan *plan = NULL;
    BevpoolError its_error;
    BevpoolShape shape = lib_case_shape(&host.view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host.view.map);
    BevpoolOptions options = {.size = sizeof options,
                              .channels = host.view.shape.channels,
                              .dtype = (int32_t)host.view.dtype};
    same = same && !bevpool_map_from_arrays(&map, &shape, &arrays, device, 0, &its_error) &&
           !bevpool_plan_create(&plan, map, &options, &its_error);
    BevpoolCall call = gpu_call(&host, plan);
    for (int i = 0; same && i < ROUNDS; i++)
        same = !bevpool_run(plan, &call, &its_error);
    same = same && is_output(&call, expected);
    call_free(&call);
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
    *(int *)context = same ? device : -1;
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[2];
    int devices[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        tap_need(!pthread_create(&threads[i], NULL, pool_there, &devices[i]), "a thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tap_ok(devices[0] == 0 && devices[1] == 1, "two threads, a GPU each: the same bits");
}

/* What belongs to one GPU, given to the other. */
static void test_two(BevpoolPlan *plan) {
    int current = -1;
    cudaStream_t stream;
    BevpoolMap *map = NULL;
    BevpoolShape shape = lib_case_shape(&host.view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host.view.map);
    BevpoolCall call = gpu_call(&host, plan), bad = call;
    CUDA(cudaSetDevice(1));
    refused(bevpool_run(plan, &call, &error), BEVPOOL_WRONG_DEVICE, "GPU 1");
    void *other = on_device(NULL, call.tensors[BEVPOOL_OUT].bytes);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaSetDevice(0));
    bad.tensors[BEVPOOL_OUT].data = other;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "out: is memory of another GPU");
    bad = call;
    bad.stream = stream;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_WRONG_DEVICE, "stream: it is of GPU 1");
    arrays.ranks_bev = other;
    refused(bevpool_map_from_arrays(&map, &shape, &arrays, 0, 0, &error), BEVPOOL_BAD_ARGUMENT,
            "ranks_bev: is memory of another GPU");
    map = map_of(&host, 1);
    BevpoolPlan *there = plan_of(&host, map, NULL, BEVPOOL_CHANNELS_LAST);
    CUDA(cudaGetDevice(&current));
    tap_ok(current == 0, "maps and plans of GPU 1 leave the thread's GPU as it was");
    refused(bevpool_run(there, &call, &error), BEVPOOL_WRONG_DEVICE, "GPU 0");
    bevpool_plan_destroy(there);
    bevpool_map_destroy(map);
    CUDA(cudaGetDevice(&current));
    fine(bevpool_run(plan, &call, &error), "a launch after that");
    tap_ok(current == 0 && is_output(&call, expected), "the next launch on GPU 0 is right");
    cudaFree(other);
    cudaStreamDestroy(stream);
    call_free(&call);
    test_threads();
}

/* Trusted ranks that lie make a kernel read foreign memory. From then on every call says so. */
TAP_SUITE(lib_devices_broken) {
    Err err;
    if (!device_open(0, &err))
        tap_skip_suite(err.what);
    int32_t far[] = {INT32_MAX, INT32_MAX}, zero[] = {0, 0}, one[] = {2};
    const BevpoolShape shape = {1, 1, 2, 1, 2, 1, 1, 2};
    const BevpoolArrays arrays = {2, 1, far, far, zero, zero, one, NULL};
    BevpoolOptions options = {.size = sizeof options, .channels = 8, .kernel = "v2_bevdet"};
    BevpoolMap *map, *other;
    BevpoolPlan *plan;
    fine(bevpool_map_from_arrays(&map, &shape, &arrays, 0, BEVPOOL_TRUST_MAP, &error), "a map");
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan");
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.workspace = on_device(NULL, call.workspace_bytes);
    for (int role = BEVPOOL_DEPTH; role <= BEVPOOL_OUT; role++) {
        size_t bytes = bevpool_plan_bytes(plan, role);
        call.tensors[role] = (BevpoolTensor){on_device(NULL, bytes), bytes, BEVPOOL_FP32, 0};
    }
    fine(bevpool_run(plan, &call, &error), "a launch that reads foreign memory is enqueued");
    tap_ok(cudaDeviceSynchronize() != cudaSuccess, "its stream fails");
    refused(bevpool_run(plan, &call, &error), BEVPOOL_DEVICE_FAILED, "CUDA error");
    BevpoolStatus status = bevpool_map_from_arrays(&other, &shape, &arrays, 0, 0, &error);
    tap_ok(status != BEVPOOL_OK && !other && strstr(error.text, "CUDA error"), "a map: %s: %s",
           bevpool_status_name(status), error.text);
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
    tap_ok(true, "plan and map can still be destroyed");
}

TAP_SUITE(lib_devices) {
    Err err;
    int count = 0;
    if (!device_open(0, &err))
        tap_skip_suite(err.what);
    test_maps("toy", 1, 0);
    test_maps("toy", 2, 1000);
    test_maps("canonical", 1, 0);
    test_maps("canonical", MOST_BATCH, 0);
    test_maps("occupancy", 2, 0);
    OpenProblem *toy = open_problem("toy", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    host = toy->problem;
    Ready ready = ready_on(&host, 0, NULL, BEVPOOL_CHANNELS_LAST);
    fine(bevpool_run(ready.plan, &ready.call, &error), "a launch");
    expected = output_of(&ready.call);
    test_pointers(ready.plan);
    for (size_t bytes = 1; bytes <= 4; bytes *= 2)
        test_transposing(bytes);
    CUDA(cudaGetDeviceCount(&count));
    if (count > 1)
        test_two(ready.plan);
    else
        tap_skip("what belongs to another GPU", "there is one GPU");
    test_lives(&ready.call);
    ready_free(&ready);
    free(expected);
    close_problem(toy);
}
