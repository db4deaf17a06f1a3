/* The TensorRT plugin on a GPU, driven as an engine drives it: real data against FP64 (gate A) in
 * all formats, layouts and aligns, with maps that stay and maps that change, every tactic, the
 * builder's rehearsal on memory without a map, and the time beside the bare kernel. With the
 * argument "small" without the timings, for the sanitizers. */
#include "src/lib/bevpool.h"
#include "src/run/session.h"
#include "tests/gpu/trt_case.h"

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

TAP_SUITE(trt_gpu) {
    const bool small = getenv("SMALL") != NULL; /* for compute-sanitizer, which is slow */
    const char *reason = nothing_to_test();
    if (reason)
        tap_skip_suite(reason);
    for (int align = BEV_NEAREST; align <= BEV_BILINEAR; align++)
        for (int dtype = BEV_FP32; dtype <= BEV_FP8; dtype++) {
            Workload workload;
            HostProblem host;
            problem_open(small ? "toy" : "canonical", (BevDtype)dtype, (BevAlign)align, &workload,
                         &host);
            test_forms(&host);
            if (dtype == BEV_FP16) {
                test_kernels(&host);
                test_rehearsal(&host);
                if (!small)
                    test_time(&host);
            }
            problem_free(&host);
            workload_close(&workload);
        }
}
