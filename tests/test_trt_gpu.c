/* The TensorRT plugin on a GPU, driven as an engine drives it: real data against FP64 (gate A) in
 * all formats, layouts and aligns, maps that stay and maps that change, CUDA graphs, two streams at
 * once, every tactic, the builder's rehearsal on memory without a map, and the time beside the bare
 * kernel. With the argument "small" without the timings, for the sanitizers. */
#include "src/accuracy/gates.h"
#include "src/lib/bevpool.h"
#include "src/run/cuda/device.h"
#include "src/run/session.h"
#include "src/scene/workload.h"
#include "tests/tap.h"
#include "tests/trt_host.h"

#include "kernels/codec.h"

#include <cuda_runtime_api.h>

#define CUDA(call) tap_need((call) == cudaSuccess, #call)

/* ---- a problem on the device ----------------------------------------------------------------- */

typedef struct {
    const HostProblem *host;
    TrtLayout layout;
    void *inputs[TRT_INPUTS];
    void *out, *workspace;
    size_t out_bytes, workspace_bytes;
    double *reference, *abs_sum;
    int32_t *points;
} Case;

static size_t code_bytes(const BevTensor *t) {
    return (size_t)bev_dtypes[t->dtype].bits / 8;
}

/* (rows, columns) -> (columns, rows), `count` times. */
static void transpose(const char *from, char *to, size_t bytes, int64_t count, int64_t rows,
                      int64_t columns) {
    for (int64_t o = 0; o < count;
         o++, from += (size_t)(rows * columns) * bytes, to += (size_t)(rows * columns) * bytes)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++)
                memcpy(to + (size_t)(c * rows + r) * bytes,
                       from + (size_t)(r * columns + c) * bytes, bytes);
}

static void *on_device(const void *host, size_t bytes) {
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, bytes + 1));
    if (bytes)
        CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static void *feat_on_device(const HostProblem *host, TrtLayout layout) {
    const BevTensor *feat = &host->view.feat;
    const BevShape *s = &host->view.shape;
    size_t bytes = bev_tensor_bytes(feat);
    if (layout != TRT_NCHW)
        return on_device(feat->data, bytes);
    char *first = malloc(bytes + 1);
    transpose(feat->data, first, code_bytes(feat), s->cameras, s->feat_h * s->feat_w, s->channels);
    void *memory = on_device(first, bytes);
    free(first);
    return memory;
}

static void map_to_device(void *inputs[TRT_INPUTS], const BevMap *map) {
    size_t points = (size_t)map->points * 4, intervals = (size_t)map->intervals * 4;
    const void *arrays[] = {map->ranks_depth,     map->ranks_feat,       map->ranks_bev,
                            map->interval_starts, map->interval_lengths, map->weights};
    for (int i = 0; i < 6; i++)
        if (arrays[i])
            CUDA(cudaMemcpy(inputs[i + 2], arrays[i], i == 3 || i == 4 ? intervals : points,
                            cudaMemcpyHostToDevice));
}

static void judge_by(Case *c, const BevProblem *problem) {
    Err err;
    free(c->points);
    c->points = gate_terms(problem, &err);
    tap_need(c->points != NULL, "terms");
    gate_reference(problem, c->reference, c->abs_sum);
}

static Case case_of(const HostProblem *host, TrtLayout layout, const TrtPlugin *plugin) {
    const BevProblem *view = &host->view;
    Case c = {.host = host, .layout = layout, .out_bytes = bev_tensor_bytes(&view->out)};
    size_t values = (size_t)gate_values(view) * sizeof(double);
    c.inputs[0] = on_device(view->depth.data, bev_tensor_bytes(&view->depth));
    c.inputs[1] = feat_on_device(host, layout);
    for (int i = 2; i < TRT_INPUTS; i++)
        CUDA(cudaMalloc(&c.inputs[i], (size_t)view->map.points * 4 + 1));
    map_to_device(c.inputs, &view->map);
    c.workspace_bytes = trt_host_workspace(plugin);
    CUDA(cudaMalloc(&c.out, c.out_bytes + 1));
    CUDA(cudaMalloc(&c.workspace, c.workspace_bytes + 1));
    CUDA(cudaMemset(c.out, 0xff, c.out_bytes));
    CUDA(cudaMemset(c.workspace, 0xff, c.workspace_bytes));
    c.reference = malloc(values);
    c.abs_sum = malloc(values);
    tap_need(c.reference && c.abs_sum, "memory");
    judge_by(&c, view);
    return c;
}

static void case_free(Case *c) {
    for (int i = 0; i < TRT_INPUTS; i++)
        cudaFree(c->inputs[i]);
    cudaFree(c->out);
    cudaFree(c->workspace);
    free(c->reference);
    free(c->abs_sum);
    free(c->points);
}

/* The output with channels last; the caller frees it. */
static void *fetch(const Case *c, void *out) {
    const BevTensor *t = &c->host->view.out;
    char *codes = malloc(c->out_bytes + 1), *last = malloc(c->out_bytes + 1);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(codes, out, c->out_bytes, cudaMemcpyDeviceToHost));
    if (c->layout == TRT_NCHW)
        transpose(codes, last, code_bytes(t), 1, t->row_len, t->rows);
    else
        memcpy(last, codes, c->out_bytes);
    free(codes);
    return last;
}

/* Passes gate A with the sums of `kernel`, NULL: of the least exact that there is. */
static bool passes(const Case *c, const BevProblem *problem, const char *kernel) {
    BevDtype accumulate = BEV_FP16;
    if (kernel)
        accumulate = bev_kernel_find(kernel)->accumulate[problem->dtype];
    void *codes = fetch(c, c->out);
    GateResult result =
        gate_kernel(problem, accumulate, codes, c->reference, c->abs_sum, c->points, NULL);
    if (result.verdict != GATE_PASS)
        tap_note("%lld of %lld wrong: got %g, want %g", (long long)result.bad,
                 (long long)result.checked, result.got, result.want);
    free(codes);
    return result.verdict == GATE_PASS;
}

static bool ran(bool enqueued) {
    if (!enqueued)
        tap_note("%s", trt_host_said());
    return enqueued;
}

static bool launch(TrtPlugin *plugin, const Case *c, void *stream) {
    return ran(
        trt_host_enqueue(plugin, (const void *const *)c->inputs, c->out, c->workspace, stream));
}

/* ---- right in every form --------------------------------------------------------------------- */

static const char *const layouts[] = {"nhwc", "nchw", "nchw packed"};

static void test_forms(const HostProblem *host) {
    const BevProblem *view = &host->view;
    int forms = 0, right = 0;
    for (int layout = TRT_NHWC; layout <= TRT_NCHW_PACKED; layout++)
        for (int fixed = 0; fixed < 2; fixed++) {
            TrtFields fields = {view->align, (TrtLayout)layout, NULL, fixed, false};
            TrtPlugin *plugin = trt_host_make(view, &fields);
            tap_need(plugin != NULL, trt_host_said());
            Case c = case_of(host, (TrtLayout)layout, plugin);
            bool ok = launch(plugin, &c, NULL) && passes(&c, view, NULL);
            if (!ok)
                tap_note("%s, %s map", layouts[layout], fixed ? "static" : "dynamic");
            forms++;
            right += ok;
            case_free(&c);
            trt_host_free(plugin);
        }
    tap_ok(right == forms, "%s, %s: %d of %d layouts and kinds of maps pass gate A against FP64",
           bev_dtypes[view->dtype].title, bev_aligns[view->align].name, right, forms);
}

/* Every kernel by name, and every tactic. */
static void test_kernels(const HostProblem *host) {
    const BevProblem *view = &host->view;
    TrtFields fields = {view->align, TRT_NHWC, NULL, true, false};
    TrtPlugin *all = trt_host_make(view, &fields);
    int named = 0, right = 0, count = trt_host_tactics(all);
    for (int i = 0; (fields.kernel = bevpool_kernel_name(0, BEVPOOL_FORWARD, i)); i++) {
        TrtPlugin *plugin = trt_host_make(view, &fields);
        if (!plugin)
            continue; /* does not fit */
        Case c = case_of(host, TRT_NHWC, plugin);
        bool ok = trt_host_set_tactic(all, named) && launch(all, &c, NULL) &&
                  passes(&c, view, fields.kernel);
        CUDA(cudaMemset(c.out, 0xff, c.out_bytes));
        ok = ok && launch(plugin, &c, NULL) && passes(&c, view, fields.kernel);
        if (!ok)
            tap_note("kernel %s", fields.kernel);
        named++;
        right += ok;
        case_free(&c);
        trt_host_free(plugin);
    }
    tap_ok(named == count && right == named, "%s: %d tactics, %d pass gate A as such and by name",
           bev_aligns[view->align].name, count, right);
    trt_host_free(all);
}

/* ---- graphs and streams ---------------------------------------------------------------------- */

typedef struct {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
} Graph;

static Graph captured(TrtPlugin *plugin, const Case *c, int launches) {
    Graph g;
    bool ok = true;
    CUDA(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(g.stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches; i++)
        ok = ok && ran(trt_host_again(plugin, (const void *const *)c->inputs, c->out, c->workspace,
                                      g.stream));
    CUDA(cudaStreamEndCapture(g.stream, &g.graph));
    CUDA(cudaGraphInstantiate(&g.replay, g.graph, 0));
    tap_need(ok, "enqueue while a graph is captured");
    return g;
}

static void graph_free(Graph *g) {
    cudaGraphExecDestroy(g->replay);
    cudaGraphDestroy(g->graph);
    cudaStreamDestroy(g->stream);
}

static void replay(const Graph *g) {
    CUDA(cudaGraphLaunch(g->replay, g->stream));
    CUDA(cudaStreamSynchronize(g->stream));
}

/* The map from its last point to its first, for a grid that is turned round. */
static BevMap turned(const BevMap *map, int64_t cells) {
    BevMap t = *map;
    size_t points = (size_t)map->points * 4 + 4, intervals = (size_t)map->intervals * 4 + 4;
    t.ranks_depth = malloc(points), t.ranks_feat = malloc(points), t.ranks_bev = malloc(points);
    t.interval_starts = malloc(intervals), t.interval_lengths = malloc(intervals);
    t.weights = map->weights ? malloc(points) : NULL;
    for (int64_t i = 0; i < map->points; i++) {
        int64_t from = map->points - 1 - i;
        t.ranks_depth[i] = map->ranks_depth[from];
        t.ranks_feat[i] = map->ranks_feat[from];
        t.ranks_bev[i] = (int32_t)cells - 1 - map->ranks_bev[from];
        if (t.weights)
            t.weights[i] = map->weights[from];
    }
    for (int64_t i = 0, start = 0; i < map->intervals; start += t.interval_lengths[i++]) {
        t.interval_starts[i] = (int32_t)start;
        t.interval_lengths[i] = map->interval_lengths[map->intervals - 1 - i];
    }
    return t;
}

static void turned_free(BevMap *map) {
    free(map->ranks_depth);
    free(map->ranks_feat);
    free(map->ranks_bev);
    free(map->interval_starts);
    free(map->interval_lengths);
    free(map->weights);
}

/* A dynamic map in a graph: the same graph pools what the arrays hold at each replay. */
static void test_changing_map(const HostProblem *host) {
    const BevProblem *view = &host->view;
    TrtFields fields = {view->align, TRT_NHWC, NULL, false, false};
    TrtPlugin *plugin = trt_host_make(view, &fields);
    Case c = case_of(host, TRT_NHWC, plugin);
    Graph graph = captured(plugin, &c, 1);
    replay(&graph);
    bool before = passes(&c, view, NULL);
    BevProblem other = *view;
    other.map = turned(&view->map, view->shape.nx * view->shape.ny);
    map_to_device(c.inputs, &other.map);
    judge_by(&c, &other);
    replay(&graph);
    bool after = passes(&c, &other, NULL);
    tap_ok(before && after,
           "%s, dynamic: captured at its first launch, replayed with two maps, both pass gate A",
           bev_aligns[view->align].name);
    turned_free(&other.map);
    graph_free(&graph);
    case_free(&c);
    trt_host_free(plugin);
}

static void test_static_graph(const HostProblem *host) {
    const BevProblem *view = &host->view;
    TrtFields fields = {view->align, TRT_NHWC, NULL, true, false};
    TrtPlugin *plugin = trt_host_make(view, &fields);
    Case c = case_of(host, TRT_NHWC, plugin);
    Graph g;
    CUDA(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(g.stream, cudaStreamCaptureModeGlobal));
    bool enqueued =
        trt_host_enqueue(plugin, (const void *const *)c.inputs, c.out, c.workspace, g.stream);
    CUDA(cudaStreamEndCapture(g.stream, &g.graph));
    cudaGraphDestroy(g.graph);
    cudaStreamDestroy(g.stream);
    const char *said = trt_host_said();
    tap_ok(!enqueued && strstr(said, "run once, then capture"),
           "%s, static, captured at its first launch: %s", bev_aligns[view->align].name, said);
    tap_need(launch(plugin, &c, NULL), "a launch");
    void *expected = fetch(&c, c.out);
    CUDA(cudaMemset(c.out, 0xff, c.out_bytes));
    g = captured(plugin, &c, 3);
    replay(&g);
    void *found = fetch(&c, c.out);
    tap_ok(!memcmp(expected, found, c.out_bytes), "%s, static: a graph gives the same bits",
           bev_aligns[view->align].name);
    free(expected);
    free(found);
    graph_free(&g);
    case_free(&c);
    trt_host_free(plugin);
}

enum { CONTEXTS = 2 };

/* Two contexts on two streams at once, as two inferences of one engine. */
static void test_streams(const HostProblem *host, bool fixed, int rounds) {
    const BevProblem *view = &host->view;
    TrtFields fields = {view->align, TRT_NHWC, fixed ? NULL : "v3_large_l2", fixed, false};
    TrtPlugin *plugins[CONTEXTS];
    Case c[CONTEXTS];
    cudaStream_t streams[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
        plugins[i] = i ? trt_host_clone(plugins[0]) : trt_host_make(view, &fields);
        c[i] = case_of(host, TRT_NHWC, plugins[i]);
        CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    }
    bool ok = true;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < CONTEXTS; i++)
            ok = ok && launch(plugins[i], &c[i], streams[i]);
    void *one = fetch(&c[0], c[0].out), *two = fetch(&c[1], c[1].out);
    ok = ok && !memcmp(one, two, c[0].out_bytes) && passes(&c[0], view, NULL);
    tap_ok(ok, "%s, %s: two contexts on two streams, %d launches each: the same bits, right",
           bev_aligns[view->align].name, fixed ? "static" : "dynamic", rounds);
    free(one);
    free(two);
    for (int i = 0; i < CONTEXTS; i++) {
        cudaStreamDestroy(streams[i]);
        case_free(&c[i]);
        trt_host_free(plugins[i]);
    }
}

/* ---- the builder's rehearsal ----------------------------------------------------------------- */

/* Memory without a map: zeros, ones, and numbers far outside. */
static void test_rehearsal(const HostProblem *host) {
    const BevProblem *view = &host->view;
    static const int fills[] = {0, 1, 0x7f, 0xff};
    int runs = 0, fine = 0;
    for (int fixed = 0; fixed < 2; fixed++)
        for (int f = 0; f < 4; f++) {
            TrtFields fields = {view->align, TRT_NHWC, NULL, fixed, true};
            TrtPlugin *plugin = trt_host_make(view, &fields);
            Case c = case_of(host, TRT_NHWC, plugin);
            for (int i = 2; i < TRT_INPUTS; i++)
                CUDA(cudaMemset(c.inputs[i], fills[f], (size_t)view->map.points * 4));
            for (int t = 0; t < trt_host_tactics(plugin); t++, runs++) {
                bool ok = trt_host_set_tactic(plugin, t) && launch(plugin, &c, NULL) &&
                          launch(plugin, &c, NULL);
                fine += ok && cudaDeviceSynchronize() == cudaSuccess;
            }
            case_free(&c);
            trt_host_free(plugin);
        }
    tap_ok(runs > 20 && fine == runs, "%s: %d of %d tactics can be timed where memory holds no map",
           bev_aligns[view->align].name, fine, runs);
}

/* ---- time ------------------------------------------------------------------------------------ */

enum { IN_GRAPH = 200, SAMPLES = 25 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds a launch: the median, of replays of a graph of many, or of as many enqueues. */
static double time_plugin(TrtPlugin *plugin, const Case *c, bool graph) {
    cudaEvent_t begin, end;
    double us[SAMPLES];
    tap_need(launch(plugin, c, NULL), "a launch");
    Graph g = captured(plugin, c, IN_GRAPH);
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int i = -10; i < SAMPLES; i++) {
        float ms;
        CUDA(cudaEventRecord(begin, g.stream));
        if (graph)
            CUDA(cudaGraphLaunch(g.replay, g.stream));
        for (int n = 0; !graph && n < IN_GRAPH; n++)
            trt_host_again(plugin, (const void *const *)c->inputs, c->out, c->workspace, g.stream);
        CUDA(cudaEventRecord(end, g.stream));
        CUDA(cudaStreamSynchronize(g.stream));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 0)
            us[i] = (double)ms * 1e3 / IN_GRAPH;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    graph_free(&g);
    qsort(us, SAMPLES, sizeof *us, compare);
    return us[SAMPLES / 2];
}

static double time_kernel(const HostProblem *host, const char *kernel) {
    Err err;
    Session *session;
    Timing timing;
    tap_need(session_open(&session, bev_kernel_find(kernel), &host->view, &err) &&
                 session_time(session, CACHE_WARM, &timing_default, &timing, &err),
             "a timing of bench");
    session_close(session);
    return timing.median_us;
}

static void test_time(const HostProblem *host) {
    const BevProblem *view = &host->view;
    static const struct {
        const char *kernel;
        bool fixed;
        TrtLayout layout;
        double more_us; /* what it may take more than the bare kernel; 0: shown, not judged */
    } forms[] = {{"v4", true, TRT_NHWC, 1.5},
                 {"v4", true, TRT_NCHW_PACKED, 1.5},
                 {"v4", true, TRT_NCHW, 0},
                 {"v3_large_l2", false, TRT_NHWC, 0}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        TrtFields fields = {view->align, forms[i].layout, forms[i].kernel, forms[i].fixed, false};
        TrtPlugin *plugin = trt_host_make(view, &fields);
        Case c = case_of(host, forms[i].layout, plugin);
        double bare = time_kernel(host, forms[i].kernel);
        double graph = time_plugin(plugin, &c, true), eager = time_plugin(plugin, &c, false);
        tap_ok(forms[i].more_us == 0 || graph < bare + forms[i].more_us,
               "%s, %s, %s, %s map: %.2f us in a graph, %.2f one by one; the bare kernel %.2f",
               bev_aligns[view->align].name, forms[i].kernel, layouts[forms[i].layout],
               forms[i].fixed ? "static" : "dynamic", graph, eager, bare);
        case_free(&c);
        trt_host_free(plugin);
    }
}

int main(int argc, char **argv) {
    Err err;
    bool small = argc > 1 && !strcmp(argv[1], "small");
    if (!device_open(0, &err))
        return tap_skip_all(err.what);
    const char *reason = trt_host_open();
    if (reason)
        return tap_skip_all(reason);
    for (int align = BEV_NEAREST; align <= BEV_BILINEAR; align++)
        for (int dtype = BEV_FP32; dtype <= BEV_FP8; dtype++) {
            Workload workload;
            HostProblem host;
            WorkloadOptions options = {0};
            tap_need(workload_open(&workload, small ? "toy" : "canonical", &options, &err) &&
                         workload_problem(&workload, (BevDtype)dtype, (BevAlign)align, &host, &err),
                     "a problem");
            test_forms(&host);
            if (dtype == BEV_FP16) {
                test_kernels(&host);
                test_changing_map(&host);
                test_static_graph(&host);
                test_streams(&host, true, small ? 3 : 100);
                test_streams(&host, false, small ? 3 : 100);
                test_rehearsal(&host);
                if (!small)
                    test_time(&host);
            }
            problem_free(&host);
            workload_close(&workload);
        }
    return tap_done();
}
