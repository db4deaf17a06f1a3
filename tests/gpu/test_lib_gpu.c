/* SPDX-License-Identifier: MIT */
/* libbevpool on a GPU: the bits of the program's sessions for every kernel and format, layouts, one
 * plan on eight streams, CUDA graphs, bad input, and the time beside that of `bench`. With the
 * argument "streams" streams and layouts alone, for the sanitizers. */
#include "src/base/clock.h"
#include "src/run/cuda/device.h"
#include "src/scene/scatter.h"
#include "tests/gpu/lib_gpu.h"
#include "tests/support/maps.h"

static Err err; /* why a step failed */

enum { GPU = 0 };

/* What the program's own session computes; the caller frees it. */
static void *session_output_of(const BevKernel *kernel, const HostProblem *host) {
    Session *session;
    char skipped[REFUSAL_SIZE];
    tap_need(session_open_or_skip(&session, kernel, &host->view, skipped, &err), "a session");
    if (!session)
        return NULL;
    void *codes = malloc(bev_output_bytes(&host->view) + 1);
    tap_need(session_run(session, &err) && session_read(session, codes, &err), "its launch");
    session_close(session);
    return codes;
}

/* -1: the kernel refuses; else whether library and session agree. */
static int same_bits(const BevKernel *kernel, const HostProblem *host) {
    void *expected = session_output_of(kernel, host);
    if (!expected)
        return -1;
    Ready ready = ready_on(host, GPU, kernel->name, BEVPOOL_CHANNELS_LAST);
    fine(bevpool_run(ready.plan, &ready.call, &error), "a launch");
    bool same = is_output(&ready.call, expected);
    ready_free(&ready);
    free(expected);
    return same;
}

/* A case as a problem of the kernel's direction. False: there are no gradients in that format. */
static bool encode(HostProblem *host, CaseData *data, BevDtype dtype, BevAlign align,
                   BevDirection direction, float **grad_out) {
    const BevShape *shape = &data->shape;
    if (direction == BEV_BACKWARD && !(scaleless_dtypes & 1u << dtype))
        return false;
    tap_need(problem_encode_for_gpu(host, shape, dtype, align, &data->features, &data->map, &err),
             "a problem");
    *grad_out = NULL;
    if (direction == BEV_FORWARD)
        return true;
    *grad_out = random_grad_out(shape, 5);
    tap_need(*grad_out && problem_set_grad_out(host, *grad_out, &err), "a gradient of the output");
    return true;
}

static void test_bits(const BevKernel *kernel) {
    int compared = 0, differ = 0;
    for (int number = 0; number < case_count(); number++) {
        Case c = case_at(number);
        CaseData data;
        BevAlign align = number % 2 ? BEV_BILINEAR : BEV_NEAREST;
        if (c.config || !case_build(&c, align, 1, 7, &data, &err))
            continue;
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
            HostProblem host;
            float *grad_out;
            if (!encode(&host, &data, (BevDtype)dtype, align, kernel->direction, &grad_out))
                continue;
            int same = same_bits(kernel, &host);
            compared += same >= 0;
            differ += same == 0;
            problem_free(&host);
            free(grad_out);
        }
        case_free(&data);
    }
    tap_ok(compared > 5 && !differ, "%s: %d problems, %d differ from the program's session",
           kernel->name, compared, differ);
}

enum { STREAMS = 8 };
static int rounds = 50;

/* One plan on eight streams at once, each with an output and a workspace of its own. */
static void test_streams(const HostProblem *host, BevpoolPlan *plan, const void *expected) {
    BevpoolCall calls[STREAMS];
    bool same = true;
    for (int i = 0; i < STREAMS; i++) {
        cudaStream_t stream;
        calls[i] = gpu_call(host, plan);
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        calls[i].stream = stream;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < STREAMS; i++)
            fine(bevpool_run(plan, &calls[i], &error), "a launch");
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        same = same && is_output(&calls[i], expected);
        cudaStreamDestroy((cudaStream_t)calls[i].stream);
        call_free(&calls[i]);
    }
    tap_ok(same, "one plan on %d streams, %d launches each, %zu bytes of workspace: the same bits",
           STREAMS, rounds, bevpool_plan_workspace_bytes(plan));
}

/* (cells, C) -> (C, cells), codes of 2 bytes. */
static void *transposed(const void *codes, const BevTensor *out) {
    const uint16_t *from = codes;
    uint16_t *to = malloc(bev_tensor_bytes(out) + 1);
    for (int64_t cell = 0; cell < out->rows; cell++)
        for (int64_t c = 0; c < out->row_len; c++)
            to[c * out->rows + cell] = from[cell * out->row_len + c];
    return to;
}

static void test_layout(const HostProblem *host, const void *expected) {
    Ready ready = ready_on(host, GPU, NULL, BEVPOOL_CHANNELS_FIRST);
    void *first = transposed(expected, &host->view.out);
    fine(bevpool_run(ready.plan, &ready.call, &error), "a launch");
    tap_ok(is_output(&ready.call, first), "output with channels first");
    free(first);
    ready_free(&ready);
}

static void test_refuses(const HostProblem *host, BevpoolPlan *plan, const void *expected) {
    BevpoolCall call = gpu_call(host, plan), bad = call;
    bad.tensors[BEVPOOL_FEAT].data = host->view.feat.data;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "feat: ");
    bad = call;
    bad.tensors[BEVPOOL_OUT].data = (char *)bad.tensors[BEVPOOL_OUT].data + 2;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_BAD_ARGUMENT, "out: does not begin");
    BevpoolMap *map;
    BevpoolShape shape = lib_case_shape(&host->view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host->view.map);
    refused(bevpool_map_from_arrays(&map, &shape, &arrays, 99, 0, &error), BEVPOOL_NO_DEVICE, "99");
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    cudaStreamSynchronize(stream); /* not allowed: the capture fails */
    bad = call;
    bad.stream = stream;
    refused(bevpool_run(plan, &bad, &error), BEVPOOL_DEVICE_FAILED, "capture");
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    fine(bevpool_run(plan, &bad, &error), "a launch after that");
    CUDA(cudaStreamSynchronize(stream));
    tap_ok(is_output(&bad, expected), "the next launch on that stream is right");
    cudaStreamDestroy(stream);
    call_free(&call);
}

typedef struct {
    BevpoolPlan *plan;
    BevpoolCall *call;
} Launch;

static void launch(void *context, cudaStream_t stream) {
    const Launch *launched = context;
    launched->call->stream = stream;
    fine(bevpool_run(launched->plan, launched->call, &error), "a launch while a graph is captured");
}

static void test_time(const HostProblem *host, BevpoolPlan *plan, const void *expected) {
    BevpoolCall call = gpu_call(host, plan);
    double us = time_launches(launch, &(Launch){plan, &call}, true);
    double bench_us = time_kernel(&host->view, "v4");
    tap_ok(is_output(&call, expected), "a graph of %d launches: the same bits", IN_GRAPH);
    tap_ok(us < 1.02 * bench_us, "V4 through the library %.3f us, as bench times it %.3f us", us,
           bench_us);
    call_free(&call);
}

enum { ARRAYS = 6 };

/* The arrays, and how many elements each has; 0: NULL. */
static void **list(BevpoolArrays *a, int64_t count[ARRAYS]) {
    static void *pointers[ARRAYS];
    const void *const arrays[ARRAYS] = {a->ranks_depth,     a->ranks_feat,       a->ranks_bev,
                                        a->interval_starts, a->interval_lengths, a->weights};
    for (int i = 0; i < ARRAYS; i++) {
        count[i] = arrays[i] ? (i == 3 || i == 4 ? a->intervals : a->points) : 0;
        pointers[i] = (void *)(uintptr_t)arrays[i];
    }
    return pointers;
}

static BevpoolArrays arrays_to_gpu(BevpoolArrays host) {
    int64_t count[ARRAYS];
    void **from = list(&host, count), *to[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        to[i] = count[i] ? on_device(from[i], (size_t)count[i] * 4) : NULL;
    return (BevpoolArrays){host.points, host.intervals, to[0], to[1], to[2], to[3], to[4], to[5]};
}

static bool same_arrays(const BevpoolMap *one, const BevpoolMap *other) {
    BevMap a = fetched(one), b = fetched(other);
    bool same = same_map(&a, &b);
    scatter_free(&a);
    scatter_free(&b);
    return same;
}

/* Arrays on the GPU give the map, or the refusal, that the same arrays on the host give. */
static bool as_from_host(const BevpoolShape *shape, const BevpoolArrays *host, bool wanted) {
    BevpoolMap *of_host = NULL, *of_gpu = NULL;
    BevpoolError first = {0}, second = {0};
    BevpoolArrays there = arrays_to_gpu(*host);
    int64_t count[ARRAYS];
    BevpoolStatus a = bevpool_map_from_arrays(&of_host, shape, host, GPU, 0, &first);
    BevpoolStatus b = bevpool_map_from_arrays(&of_gpu, shape, &there, GPU, 0, &second);
    bool same = a == b && (a == BEVPOOL_OK) == wanted && !strcmp(first.text, second.text) &&
                (a || same_arrays(of_host, of_gpu));
    void **memory = list(&there, count);
    for (int i = 0; i < ARRAYS; i++)
        cudaFree(memory[i]);
    bevpool_map_destroy(of_host);
    bevpool_map_destroy(of_gpu);
    if (!same)
        tap_note("status %d \"%s\", of arrays on the GPU %d \"%s\"", a, first.text, b, second.text);
    return same;
}

static void test_arrays(const HostProblem *host) {
    const BevpoolShape shape = lib_case_shape(&host->view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host->view.map), found = arrays;
    const int64_t last = arrays.points - 1, last_interval = arrays.intervals - 1;
    const struct {
        int array;
        int64_t element;
        int32_t value;
    } faults[] = {{0, 5, -1},
                  {0, last, INT32_MAX},
                  {1, last, 0},
                  {1, 3, -1},
                  {2, last, INT32_MAX},
                  {2, last / 2, 0},
                  {2, 0, 1 << 20},
                  {3, 0, 1},
                  {3, last_interval, 0},
                  {3, 2, INT32_MIN},
                  {4, 1, INT32_MIN},
                  {4, last_interval, INT32_MAX},
                  {4, 0, 0},
                  {5, last / 3, 0x7f800000},
                  {5, 0, 0x7fc00000}};
    int64_t count[ARRAYS];
    int right = 0, tried = 0;
    tap_ok(as_from_host(&shape, &arrays, true), "a map of arrays on the GPU is that of the host's");
    found.interval_starts = found.interval_lengths = NULL;
    tap_ok(as_from_host(&shape, &found, true), "and so are intervals that it finds");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int32_t *array = list(&arrays, count)[faults[i].array];
        if (!array)
            continue;
        int32_t kept = array[faults[i].element];
        array[faults[i].element] = faults[i].value;
        right += as_from_host(&shape, &arrays, false);
        array[faults[i].element] = kept;
        tried++;
    }
    tap_ok(tried >= 13 && right == tried, "each of %d faults is refused in the same words", tried);
}

static void test_kernels(int32_t direction) {
    for (int k = 0; bevpool_kernel_name(GPU, direction, k); k++) {
        const BevKernel *kernel = bev_kernel_find(bevpool_kernel_name(GPU, direction, k));
        if (kernel->deterministic && !kernel->channels_first)
            test_bits(kernel);
    }
}

/* SMALL is for compute-sanitizer, which makes kernels slow: the streams, a few rounds. */
TAP_SUITE(lib_gpu) {
    const bool small = getenv("SMALL") != NULL;
    if (!device_open(GPU, &err))
        tap_skip_suite(err.what);
    for (int32_t d = BEVPOOL_FORWARD; d <= BEVPOOL_BACKWARD && !small; d++)
        test_kernels(d);
    rounds = small ? 3 : rounds;
    for (int align = BEV_NEAREST; align <= BEV_BILINEAR; align++) {
        OpenProblem *opened = open_problem("canonical", BEV_FP16, (BevAlign)align, 0, BEV_FORWARD);
        const HostProblem *host = &opened->problem;
        BevpoolMap *map = map_of(host, GPU);
        BevpoolPlan *plan = plan_of(host, map, NULL, BEVPOOL_CHANNELS_LAST);
        void *expected = session_output_of(bev_kernel_find("v4"), host);
        test_streams(host, plan, expected);
        test_layout(host, expected);
        if (!small) {
            test_refuses(host, plan, expected);
            test_arrays(host);
            test_time(host, plan, expected);
        }
        free(expected);
        bevpool_plan_destroy(plan);
        bevpool_map_destroy(map);
        close_problem(opened);
    }
}

/* The time of a plan and its first launch, until the GPU is done. */
static double first_ms(const HostProblem *host, BevpoolMap *map) {
    double begun = clock_ms();
    BevpoolPlan *plan = plan_of(host, map, NULL, BEVPOOL_CHANNELS_LAST);
    double ms = clock_ms() - begun;
    BevpoolCall call = gpu_call(host, plan);
    for (int role = 0; role < BEVPOOL_ROLES; role++)
        if (call.tensors[role].bytes)
            CUDA(cudaMemset(call.tensors[role].data, 0, call.tensors[role].bytes));
    CUDA(cudaStreamSynchronize(NULL));
    begun = clock_ms();
    fine(bevpool_run(plan, &call, &error), "a launch");
    CUDA(cudaStreamSynchronize(NULL));
    ms += clock_ms() - begun;
    call_free(&call);
    bevpool_plan_destroy(plan);
    return ms;
}

/* A process of its own, as the code is loaded once. On a quiet host it takes 0.3 to 2 ms, without a
 * warm-up 6. */
TAP_SUITE(lib_gpu_warm) {
    enum { FIRST_MS = 5 };
    if (getenv("SMALL"))
        tap_skip_suite("under a sanitizer times say nothing");
    if (cudaFree(NULL) != cudaSuccess) /* creates the context */
        tap_skip_suite("no GPU");
    for (int32_t d = BEVPOOL_FORWARD; d <= BEVPOOL_BACKWARD; d++) {
        OpenProblem *opened = open_problem("canonical", BEV_FP16, BEV_NEAREST, 0, (BevDirection)d);
        const HostProblem *host = &opened->problem;
        BevpoolMap *map = map_of(host, GPU);
        double begun = clock_ms();
        fine(bevpool_warm_up(GPU, d, &error), "a warm-up");
        double warm_up_ms = clock_ms() - begun, first = first_ms(host, map);
        double second = first_ms(host, map);
        tap_ok(first < FIRST_MS,
               "%s: a warm-up of %.2f ms; then the first plan and launch take "
               "%.2f ms, the second %.2f",
               d ? "backward" : "forward", warm_up_ms, first, second);
        bevpool_map_destroy(map);
        close_problem(opened);
    }
}

enum { FIRST, LAST, APART, FORMS }; /* one tensor, channels first or last; two, channels last */

static BevStrides strides_of(const BevShape *s, int form, int64_t channels) {
    int64_t pitch = form == APART ? channels : s->depth_bins + s->channels;
    int64_t pixels = s->feat_h * s->feat_w;
    return form == FIRST ? (BevStrides){pitch * pixels, pixels, s->feat_w, 1}
                         : (BevStrides){pitch * pixels, 1, pitch * s->feat_w, pitch};
}

/* Copies FP16 codes between two orders of memory, (camera, channel, h, w) each. */
static void reorder(const BevShape *s, int64_t channels, const uint16_t *from, BevStrides f,
                    uint16_t *to, BevStrides t) {
    for (int64_t i = 0; i < s->cameras * channels * s->feat_h * s->feat_w; i++) {
        int64_t x = i % s->feat_w, y = i / s->feat_w % s->feat_h;
        int64_t pixels = s->feat_h * s->feat_w, c = i / pixels % channels;
        int64_t camera = i / pixels / channels;
        to[camera * t.camera + c * t.channel + y * t.row + x * t.column] =
            from[camera * f.camera + c * f.channel + y * f.row + x * f.column];
    }
}

/* Runs a view in that form. `arrays` by role, depths (camera, bin, h, w) and features (camera, h,
 * w, c), receive what it writes. */
static void run_form(const HostProblem *host, BevpoolMap *map, int form, int32_t direction,
                     uint16_t *arrays[BEVPOOL_ROLES]) {
    const BevShape *s = &host->view.shape;
    int64_t pixels = s->feat_h * s->feat_w, bins = s->depth_bins, channels = s->channels;
    const BevStrides dense[] = {{bins * pixels, pixels, s->feat_w, 1},
                                {channels * pixels, 1, channels * s->feat_w, channels}};
    BevStrides given[] = {strides_of(s, form, bins), strides_of(s, form, channels)};
    BevpoolView view = {.softmax = 1};
    memcpy(view.depth_strides, &given[0], sizeof given[0]);
    memcpy(view.feat_strides, &given[1], sizeof given[1]);
    BevpoolOptions options = {.size = sizeof options,
                              .channels = channels,
                              .dtype = BEVPOOL_FP16,
                              .direction = direction,
                              .view = &view};
    BevpoolPlan *plan = NULL;
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan of a view");
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.workspace = on_device(NULL, call.workspace_bytes);
    uint16_t *ordered[BEVPOOL_ROLES] = {NULL};
    for (int role = 0; role < BEVPOOL_ROLES; role++) {
        size_t bytes = bevpool_plan_bytes(plan, role);
        bool feat = role == BEVPOOL_FEAT || role == BEVPOOL_GRAD_FEAT;
        bool strided = feat || role == BEVPOOL_DEPTH || role == BEVPOOL_GRAD_DEPTH;
        if (!bytes)
            continue;
        ordered[role] = calloc(1, bytes);
        if (strided)
            reorder(s, feat ? channels : bins, arrays[role], dense[feat], ordered[role],
                    given[feat]);
        else
            memcpy(ordered[role], arrays[role], bytes);
        call.tensors[role] =
            (BevpoolTensor){on_device(ordered[role], bytes), bytes, BEVPOOL_FP16, 1};
    }
    fine(bevpool_run(plan, &call, &error), "a launch of a view");
    for (int role = 0; role < BEVPOOL_ROLES; role++) {
        bool feat = role == BEVPOOL_GRAD_FEAT;
        if (!ordered[role])
            continue;
        CUDA(cudaMemcpy(ordered[role], call.tensors[role].data, call.tensors[role].bytes,
                        cudaMemcpyDeviceToHost));
        if (role == BEVPOOL_OUT)
            memcpy(arrays[role], ordered[role], call.tensors[role].bytes);
        if (feat || role == BEVPOOL_GRAD_DEPTH)
            reorder(s, feat ? channels : bins, ordered[role], given[feat], arrays[role],
                    dense[feat]);
        free(ordered[role]);
    }
    call_free(&call);
    bevpool_plan_destroy(plan);
}

/* What is read and written in another order has the same bits. */
TAP_SUITE(lib_gpu_orders) {
    static const char *const scenes[] = {"canonical", "large"}; /* bins in one round and in two */
    if (cudaFree(NULL) != cudaSuccess)
        tap_skip_suite("no GPU");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        OpenProblem *opened = open_problem(scenes[i], BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
        const BevProblem *problem = opened->view;
        BevpoolMap *map = map_of(&opened->problem, GPU);
        size_t depths = bev_tensor_bytes(&problem->depth), feats = bev_tensor_bytes(&problem->feat);
        size_t outs = bev_tensor_bytes(&problem->out);
        const size_t bytes[BEVPOOL_ROLES] = {depths, feats, 0, outs, outs, depths, feats};
        uint16_t *found[FORMS][BEVPOOL_ROLES];
        for (int form = 0; form < FORMS; form++) {
            for (int role = 0; role < BEVPOOL_ROLES; role++)
                found[form][role] = calloc(1, bytes[role] + 1);
            memcpy(found[form][BEVPOOL_DEPTH], problem->depth.data, depths);
            memcpy(found[form][BEVPOOL_FEAT], problem->feat.data, feats);
            run_form(&opened->problem, map, form, BEVPOOL_FORWARD, found[form]);
            memcpy(found[form][BEVPOOL_GRAD_OUT], found[FIRST][BEVPOOL_OUT], outs);
            run_form(&opened->problem, map, form, BEVPOOL_BACKWARD, found[form]);
            for (int role = BEVPOOL_OUT; role < BEVPOOL_ROLES; role++)
                tap_ok(!memcmp(found[form][role], found[FIRST][role], bytes[role]),
                       "%s: role %d of form %d has the bits of channels first", scenes[i], role,
                       form);
        }
        for (int form = 0; form < FORMS; form++)
            for (int role = 0; role < BEVPOOL_ROLES; role++)
                free(found[form][role]);
        bevpool_map_destroy(map);
        close_problem(opened);
    }
}
