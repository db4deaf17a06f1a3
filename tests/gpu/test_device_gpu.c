/* SPDX-License-Identifier: MIT */
/* What only a GPU can show: maps built there, channels-first buffers, the same bits in every run,
 * elements beyond 2^31, too little memory, and an error that ends CUDA for the process. Skipped
 * without a GPU. */
#include "kernels/codec.h"
#include "src/run/cuda/device.h"
#include "src/live/live_gpu.h"
#include "src/live/pipeline.h"
#include "src/base/random.h"
#include "src/scene/scatter.h"
#include "tests/gpu/on_gpu.h"
#include "tests/support/later.h"
#include "tests/support/maps.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

static Err err; /* why a step failed */

enum { SEED = 7 };

static void test_map(const char *name, BevAlign align, uint32_t cameras) {
    Scene scene;
    BevMap want = {0}, built = {0}, got = {0};
    ScatterGpu *builder = NULL;
    Staging memory = {.memory = NULL};
    double first_us = 0, again_us = 0;
    bool ok = scene_load(name, &scene, &err) &&
              scatter_build(&scene.rig, align, cameras, NULL, &want, &err) &&
              scatter_cuda_open(&builder, &scene.rig, align, &err) &&
              scatter_cuda_build(builder, &scene.rig, cameras, &built, &first_us, &err) &&
              scatter_cuda_build(builder, &scene.rig, cameras, &built, &again_us, &err) &&
              scatter_cuda_download(&built, &got, &memory, &err);
    tap_ok(ok_or_note(ok, &err) && same_map(&want, &got),
           "%s, %s, cameras %x: the map is the host's, bit for bit", name, bev_aligns[align].name,
           cameras);
    tap_note("%lld points in %.0f us, the first time %.0f us", (long long)got.points, again_us,
             first_us);
    scatter_cuda_close(builder);
    scatter_free(&want);
    staging_give(&memory);
    scene_free(&scene);
}

/* Maps of a rig after one camera was turned and another switched off, as in the live display. */
static void test_live_map(BevAlign align) {
    static State state;
    static LiveData live;
    static const char *const scenes[] = {"canonical"};
    const StateMenu menu = {.scenes = {scenes, 1}, .where = 1u << BEV_CUDA};
    Pipeline *pipeline = NULL;
    live_init(&live);
    state_init(&state, &menu, 0);
    state.job.config = (KernelConfig){bev_kernel_find("v4"), BEV_FP16, align};
    state.job.baseline = state.job.config;
    state.job.camera_mask = ~4u;
    bool ok = pipeline_open(&pipeline, &err);
    for (int i = 0; ok && i < 2; i++) {
        BevMap want = {0};
        state.job.serial++;
        state.job.camera_errors[1].yaw_deg = 1.5 + i;
        ok = pipeline_run(pipeline, &state, (PipelineNeeds){.draft = true}, &live, &err);
        const BuiltMap *built = ok ? pipeline_inputs(pipeline)->map : NULL;
        ok = ok && scatter_build(&built->rig, align, ~4u, NULL, &want, &err) &&
             same_map(&want, &built->map) && built->intervals.stats.points == want.points;
        scatter_free(&want);
    }
    tap_ok(ok_or_note(ok, &err), "%s: the live display's map of bent cameras is the host's",
           bev_aligns[align].name);
    tap_note("in %.0f us", live.stages_us[STAGE_MAP].value);
    pipeline_close(pipeline);
}

/* The output of one run; the caller frees it. NULL with a note on failure. */
static void *run_once(const BevKernel *kernel, const BevProblem *problem) {
    Session *session = NULL;
    void *codes = malloc(bev_tensor_bytes(&problem->out));
    bool ok = codes && session_open(&session, kernel, problem, &err) &&
              session_poison(session, &err) && session_run(session, &err) &&
              session_read(session, codes, &err);
    session_close(session);
    if (ok_or_note(ok, &err))
        return codes;
    free(codes);
    return NULL;
}

/* v2 and v2_chw add the same products in the same order. */
static void test_layout(const BevProblem *problem) {
    void *last = run_once(bev_kernel_find("v2_bevdet"), problem);
    void *first = run_once(bev_kernel_find("v2_chw"), problem);
    tap_ok(last && first && !memcmp(last, first, bev_tensor_bytes(&problem->out)),
           "channels first gives the bits of channels last, %s", bev_dtypes[problem->dtype].name);
    free(last);
    free(first);
}

static void test_update(Workload *workload, BevDtype dtype, BevAlign align) {
    Features later = later_features(&workload->seen->shape, workload->features);
    HostProblem problem = {.own_weights = NULL};
    bool ok = workload_problem(workload, dtype, align, &problem, &err);
    int good = 0, tried = 0;
    for (int i = 0; ok && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where != BEV_CUDA || !kernel->deterministic ||
            bev_unsupported(kernel, &problem.view))
            continue;
        void *want =
            problem_update(&problem, &later, &err) ? run_once(kernel, &problem.view) : NULL;
        bool same = want && ok_or_note(
            updated_gives(kernel, &problem, workload->features, &later, want, &err), &err);
        if (!same)
            tap_note("%s does not", kernel->name);
        good += same;
        tried++;
        free(want);
    }
    if (ok && !tried)
        tap_skip(bev_dtypes[dtype].name, "no kernel of the GPU has this format");
    else
        tap_ok(ok_or_note(ok, &err) && tried > 1 && good == tried,
           "%s, %s: later values give the bits of a fresh session, %d of %d kernels",
           bev_dtypes[dtype].name, bev_aligns[align].name, good, tried);
    problem_free(&problem);
    free(later.depth);
    free(later.feat);
}

static void test_kernels(const BevKernel *kernel, const BevProblem *problem) {
    CudaFunction kernels[8];
    int count = 0;
    Session *session;
    bool ok = session_open(&session, kernel, problem, &err) &&
              session_functions(session, kernels, 8, &count, &err) && count > 0;
    session_close(session);
    for (int i = 0; i < count; i++) {
        const CudaFunction *k = &kernels[i];
        ok = ok && k->registers > 0 && k->threads > 0 && k->blocks > 0 && k->occupancy > 0 &&
             k->occupancy <= 1 && strstr(k->name, "kernel");
        tap_note("%s: %lld x %d threads, %d registers, %lld bytes local, %lld shared, %.0f %%",
                 k->name, (long long)k->blocks, k->threads, k->registers, (long long)k->local_bytes,
                 (long long)k->shared_bytes, k->occupancy * 100);
    }
    tap_ok(ok_or_note(ok, &err), "%s: its kernels and what they take", kernel->name);
}

/* ---- what the dashboard shows of a GPU
 * ----------------------------------------------------------- */

static void test_live(void) {
    Timing small, large;
    bool ok = device_time_copy(1 << 20, &timing_quick, &small, &err) &&
              device_time_copy(1 << 28, &timing_quick, &large, &err);
    tap_ok(ok_or_note(ok, &err) && small.median_us > 0 && large.median_us > 4 * small.median_us,
           "more takes longer to copy");
    LiveGpu *gpu = live_gpu_open();
    LiveDevice near = {.where = BEV_CPU}, far = {.where = BEV_CPU};
    LiveMemory memory = {.known = true, .footprint = {.out = 1e6}};
    if (gpu) {
        int row;
        live_gpu_probe(gpu, &row);
        live_gpu_describe(gpu, &memory, &near);
        memory.footprint.out = 1e12;
        live_gpu_describe(gpu, &memory, &far);
    }
    tap_ok(near.where == BEV_CUDA && near.name[0] && near.driver[0] && near.cuda[0] &&
               near.l2_bytes.value > 0 && near.memory_bytes.value > near.l2_bytes.value,
           "the device is described");
    tap_ok(far.ceiling_gb_s.value > 0 && near.ceiling_gb_s.value > 0.8 * far.ceiling_gb_s.value,
           "copies within the L2 are not slower: %.0f and %.0f GB/s", near.ceiling_gb_s.value,
           far.ceiling_gb_s.value);
    live_gpu_close(gpu);
}

enum { WIDE_ROWS = 2200000, WIDE_CHANNELS = 1024, WIDE_POINTS = 64 };

/* Points are in the last rows and cells only: an index that overflows reads zeros or lands outside.
 */
static void test_wide(const BevKernel *kernel) {
    static int32_t ranks[WIDE_POINTS], starts[WIDE_POINTS], lengths[WIDE_POINTS];
    size_t elements = (size_t)WIDE_ROWS * WIDE_CHANNELS;
    BevProblem p = {.shape = {1, 1, 1, WIDE_ROWS, WIDE_CHANNELS, WIDE_ROWS, 1}, .dtype = BEV_FP8};
    p.depth = (BevTensor){.dtype = BEV_FP8, .rows = 1, .row_len = WIDE_ROWS, .scale = 1};
    p.feat = p.out =
        (BevTensor){.dtype = BEV_FP8, .rows = WIDE_ROWS, .row_len = WIDE_CHANNELS, .scale = 1};
    p.depth.data = calloc(1, WIDE_ROWS);
    p.feat.data = calloc(1, elements);
    p.out.data = NULL;
    uint8_t *depth = p.depth.data, *feat = p.feat.data;
    for (int t = 0; depth && feat && t < WIDE_POINTS; t++) {
        ranks[t] = WIDE_ROWS - WIDE_POINTS + t;
        starts[t] = t;
        lengths[t] = 1;
        depth[ranks[t]] = (uint8_t)bev_code(BEV_FP8, 1);
        memset(feat + (size_t)ranks[t] * WIDE_CHANNELS, (int)bev_code(BEV_FP8, (float)(t % 8 + 1)),
               WIDE_CHANNELS);
    }
    p.map =
        (BevMap){WIDE_POINTS, WIDE_POINTS, ranks, ranks, ranks, starts, lengths, NULL, NULL, NULL};
    uint8_t *codes = depth && feat ? run_once(kernel, &p) : NULL;
    /* Depth 1 and cell = row: the output is the features. */
    tap_ok(codes && !memcmp(codes, feat, elements), "%s: %.1f * 2^31 elements", kernel->name,
           (double)elements / 0x1p31);
    free(codes);
    free(depth);
    free(feat);
}

enum { TIMINGS = 60, LANE_SAMPLES = 5 };

typedef struct {
    const BevProblem *problem;
    atomic_bool stop;
    int opened, failed;
} Lane;

/* Opens, runs and closes every kernel again and again, as the live display does for its picture. */
static void *open_kernels(void *opaque) {
    Lane *lane = opaque;
    for (int i = 0; !atomic_load(&lane->stop); i = bev_kernels[i + 1] ? i + 1 : 0) {
        Session *session = NULL;
        if (bev_kernels[i]->where != BEV_CUDA || bev_unsupported(bev_kernels[i], lane->problem))
            continue;
        bool ok = session_open(&session, bev_kernels[i], lane->problem, &err) &&
                  session_run(session, &err);
        session_close(session);
        lane->failed += !ok_or_note(ok, &err);
        lane->opened++;
    }
    return NULL;
}

/* As in the live display, which times kernels with graphs while another thread pools pictures. */
static void test_two_lanes(const BevProblem *problem) {
    const TimingOptions options = {.samples = LANE_SAMPLES, .max_s = 0.05};
    Lane lane = {.problem = problem};
    pthread_t thread;
    int timed = 0;
    bool started = !pthread_create(&thread, NULL, open_kernels, &lane);
    for (int i = 0; started && i < TIMINGS; i++) {
        Session *session = NULL;
        Timing timing;
        bool ok = session_open(&session, bev_kernel_find("v4"), problem, &err) &&
                  session_time(session, CACHE_WARM, &options, &timing, &err);
        session_close(session);
        timed += ok_or_note(ok, &err);
    }
    atomic_store(&lane.stop, true);
    if (started)
        pthread_join(thread, NULL);
    tap_ok(timed == TIMINGS, "%d of %d timings beside another thread", timed, TIMINGS);
    tap_ok(lane.opened > 0 && !lane.failed, "which opened %d kernels, %d in vain", lane.opened,
           lane.failed);
}

static void test_memory(const BevProblem *problem) {
    Session *session = NULL;
    BevProblem huge = *problem; /* the output is never read on the host */
    huge.shape.nx = huge.shape.ny = 1 << 15;
    huge.shape.channels = 1024;
    huge.out.rows = (int64_t)1 << 30;
    huge.out.row_len = 1024;
    bool opened = session_open(&session, bev_kernel_find("v2_bevdet"), &huge, &err);
    session_close(session);
    char line[1024];
    err_line(&err, line, sizeof line);
    tap_note("%s", line);
    tap_ok(!opened && err.kind == ERR_DEVICE && strstr(line, "needs") && strstr(line, "are free"),
           "too little memory: says what is needed and what is free");
    free(run_once(bev_kernel_find("v2_bevdet"), problem));
    tap_ok(device_usable(&err), "and the device goes on");
}

/* The last test: it ends CUDA for this process. */
static void test_lasting_error(const BevProblem *problem) {
    Err later = {0};
    Session *session = NULL;
    BevProblem broken = *problem;
    broken.map.ranks_feat = malloc((size_t)broken.map.points * sizeof(int32_t));
    for (int64_t t = 0; t < broken.map.points; t++)
        broken.map.ranks_feat[t] = INT32_MAX;
    bool ok = session_open(&session, bev_kernel_find("v2_bevdet"), &broken, &err);
    tap_ok(ok_or_note(ok, &err), "a map that points outside is taken");
    ok = ok && !session_run(session, &err);
    char line[1024];
    err_line(&err, line, sizeof line);
    tap_note("%s", line);
    tap_ok(ok && err.kind == ERR_DEVICE && strstr(line, "not used again"),
           "an illegal address: says that CUDA is not used again");
    session_close(session);
    ok = session_open(&session, bev_kernel_find("v2_bevdet"), problem, &later);
    err_line(&later, line, sizeof line);
    tap_ok(!ok && strstr(line, "not used again"), "later sessions fail with the same reason");
    DeviceInfo info;
    tap_ok(!device_info(&info, &later) && !device_open(0, &later), "so does the device");
    free(broken.map.ranks_feat);
}

static void test_limits(void) {
    Limits limits;
    DeviceInfo info;
    if (!tap_ok(
            ok_or_note(device_info(&info, &err) && probe_limits(PROBE_ALL, &limits, &err), &err),
            "the device's limits"))
        return;
    const double *value = limits.value;
    for (int i = 0; i < LIMIT_COUNT; i++)
        tap_ok(value[i] > 0, "%s: %.4g %s", limit_infos[i].title, value[i], limit_infos[i].unit);
    double promised = info.dram_gb_s > 0 ? info.dram_gb_s : INFINITY;
    tap_ok(value[LIMIT_DRAM_READ] < 1.02 * promised && value[LIMIT_DRAM_COPY] < 1.02 * promised,
           "DRAM gives no more than it was built for, %.0f GB/s", promised);
    tap_ok(value[LIMIT_L2_READ] > value[LIMIT_DRAM_READ], "L2 gives more than DRAM");
    tap_ok(value[LIMIT_L2_KEPT] < 1.02e-6 * (double)info.l2_bytes &&
               value[LIMIT_L2_KEPT] > 0.3e-6 * (double)info.l2_bytes,
           "L2 keeps no more than it has, and a good part of it");
    tap_ok(value[LIMIT_HALF2] > 0.9 * value[LIMIT_FP32] && value[LIMIT_TENSOR] > value[LIMIT_HALF2],
           "half2 is no slower than FP32, tensor cores are faster than both");
    tap_ok(value[LIMIT_L1_LATENCY] < value[LIMIT_L2_LATENCY] &&
               value[LIMIT_L2_LATENCY] < value[LIMIT_DRAM_LATENCY],
           "the further the memory, the longer the wait");
}

TAP_SUITE(device_gpu) {
    if (!device_usable(&err)) {
        ok_or_note(false, &err);
        tap_skip_suite("no usable GPU");
    }
    for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
        test_map("canonical", (BevAlign)align, ~0u);
        test_map("xlarge", (BevAlign)align, ~0u);
        test_map("asymmetric", (BevAlign)align, ~0u);
        test_map("occupancy", (BevAlign)align, ~0u);
    }
    test_map("canonical", BEV_NEAREST, ~4u);
    test_map("canonical", BEV_BILINEAR, 0);
    test_live_map(BEV_NEAREST);
    test_live_map(BEV_BILINEAR);

    Workload workload;
    if (!ok_or_note(workload_open(&workload, "canonical", NULL, &err), &err))
        tap_need(false, "canonical opens");
    HostProblem problem;
    for (int dtype = BEV_FP32; dtype <= BEV_FP8; dtype++)
        if (tap_ok(workload_problem(&workload, (BevDtype)dtype, BEV_BILINEAR, &problem, &err),
                   "canonical, %s", bev_dtypes[dtype].name)) {
            test_layout(&problem.view);
            problem_free(&problem);
        }
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        test_update(&workload, (BevDtype)dtype, BEV_NEAREST);
        test_update(&workload, (BevDtype)dtype, BEV_BILINEAR);
    }
    tap_need(workload_problem(&workload, BEV_FP16, BEV_NEAREST, &problem, &err), "canonical");
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where != BEV_CUDA || bev_unsupported(kernel, &problem.view))
            continue;
        test_kernels(kernel, &problem.view);
        if (kernel->deterministic)
            check_same_bits(kernel, &problem.view);
        if (!kernel->channels_first && kernel->dtypes & 1u << BEV_FP8)
            test_wide(kernel);
    }
    test_live();
    test_limits();
    test_two_lanes(&problem.view);
    test_memory(&problem.view);
    test_lasting_error(&problem.view);
    problem_free(&problem);
    workload_close(&workload);
}
