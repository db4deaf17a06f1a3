/* libbevpool's option `prune` on a GPU: which kernel serves it, the bound of what is left out, that
 * something is, and the same bits where nothing may be. */
#include "src/accuracy/gates.h"
#include "src/run/cuda/device.h"
#include "tests/gpu/lib_gpu.h"

enum { GPU = 0 };
static const float PRUNE = 1e-3f;

/* What a plan of that kernel pools; the caller frees it. `chosen`: the kernel's name. */
static void *pooled(const HostProblem *host, const char *kernel, float prune, char chosen[32]) {
    const BevpoolTensor *out;
    BevpoolOptions options = {.size = sizeof options,
                              .channels = host->view.shape.channels,
                              .dtype = (int32_t)host->view.dtype,
                              .kernel = kernel,
                              .prune = prune};
    Ready ready = {.map = map_of(host, GPU)};
    fine(bevpool_plan_create(&ready.plan, ready.map, &options, &error), "a plan");
    snprintf(chosen, 32, "%s", bevpool_plan_kernel(ready.plan));
    ready.call = gpu_call(host, ready.plan);
    fine(bevpool_run(ready.plan, &ready.call, &error), "a launch");
    out = &ready.call.tensors[BEVPOOL_OUT];
    void *codes = malloc(out->bytes + 1);
    CUDA(cudaMemcpy(codes, out->data, out->bytes, cudaMemcpyDeviceToHost));
    ready_free(&ready);
    return codes;
}

static bool equal(const HostProblem *host, const void *a, const void *b) {
    return !memcmp(a, b, bev_output_bytes(&host->view));
}

static bool within_bound(const HostProblem *host, const BevKernel *kernel, const void *codes) {
    Err err;
    BevProblem view = host->view;
    size_t values = (size_t)gate_values(&view);
    double *reference = malloc(values * sizeof *reference), *sums = malloc(values * sizeof *sums);
    int32_t *terms = gate_terms(&view, &err);
    tap_need(reference && sums && terms, "memory");
    gate_reference(&view, reference, sums);
    view.prune = PRUNE;
    GateResult a =
        gate_kernel(&view, kernel->accumulate[view.dtype], codes, reference, sums, terms, NULL);
    free(reference), free(sums), free(terms);
    return gate_passes(&a, &view.map);
}

static void test_prune(BevDtype dtype, BevAlign align, const char *wanted) {
    OpenProblem *opened = open_problem("small", dtype, align, 0, BEV_FORWARD);
    const HostProblem *host = &opened->problem;
    char some_by[32], plain_by[32], zeros_by[32];
    void *some = pooled(host, NULL, PRUNE, some_by);
    void *zeros = pooled(host, wanted, 0, zeros_by);
    const BevKernel *kernel = bev_kernel_find(some_by);
    void *plain = pooled(host, kernel->skips, 0, plain_by);
    tap_ok(!strcmp(some_by, wanted) && within_bound(host, kernel, some),
           "%s %s: %s serves it, within gate A and what is left out", bev_dtypes[dtype].name,
           bev_aligns[align].name, some_by);
    tap_ok(!equal(host, some, plain), "%s leaves something out", some_by);
    if (!strcmp(wanted, "v4_skip")) /* compaction adds in another order */
        tap_ok(equal(host, zeros, plain), "%s without a threshold: the bits of %s", zeros_by,
               plain_by);
    free(some), free(zeros), free(plain);
    close_problem(opened);
}

TAP_SUITE(lib_gpu_prune) {
    Err err;
    if (!device_open(GPU, &err))
        tap_skip_suite(err.what);
    for (int align = BEV_NEAREST; align <= BEV_BILINEAR; align++) {
        test_prune(BEV_FP32, (BevAlign)align, "v4_skip");
        test_prune(BEV_FP16, (BevAlign)align, "v4_skip");
        test_prune(BEV_BF16, (BevAlign)align, "v4_skip");
        test_prune(BEV_FP8, (BevAlign)align, "v3_compact");
    }
}
