/* SPDX-License-Identifier: MIT */
/* libbevpool on a GPU: the bits of the program's sessions for every kernel and format, layouts, one
 * plan on eight streams, CUDA graphs, bad input, and the time beside that of `bench`. With the
 * argument "streams" streams and layouts alone, for the sanitizers. */
#include "src/run/cuda/device.h"
#include "tests/gpu/lib_gpu.h"

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
    if (direction == BEV_BACKWARD && !(backward_dtypes & 1u << dtype))
        return false;
    tap_need(problem_encode_for_gpu(host, shape, dtype, align, &data->features, &data->map, &err),
             "a problem");
    *grad_out = NULL;
    if (direction == BEV_FORWARD)
        return true;
    *grad_out = random_grad_out(shape, 5);
    const GradOut grads = {*grad_out, shape->ny, shape->nx, shape->channels};
    tap_need(*grad_out && problem_set_grad_out(host, &grads, &err), "a gradient of the output");
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
        OpenProblem *opened =
            open_problem("canonical", BEV_FP16, (BevAlign)align, 0, BEV_FORWARD);
        const HostProblem *host = &opened->problem;
        BevpoolMap *map = map_of(host, GPU);
        BevpoolPlan *plan = plan_of(host, map, NULL, BEVPOOL_CHANNELS_LAST);
        void *expected = session_output_of(bev_kernel_find("v4"), host);
        test_streams(host, plan, expected);
        test_layout(host, expected);
        if (!small) {
            test_refuses(host, plan, expected);
            test_time(host, plan, expected);
        }
        free(expected);
        bevpool_plan_destroy(plan);
        bevpool_map_destroy(map);
        close_problem(opened);
    }
}
