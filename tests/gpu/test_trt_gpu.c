/* SPDX-License-Identifier: MIT */
/* The TensorRT plugin on a GPU, driven as an engine drives it: real data against FP64 (gate A) in
 * all formats, layouts and aligns, with maps that stay and maps that change, every tactic, the
 * builder's rehearsal on memory without a map, and the time beside the bare kernel. With the
 * argument "small" without the timings, for the sanitizers. */
#include "src/lib/bevpool.h"
#include "tests/gpu/trt_case.h"

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
    tap_ok(right == forms, "%s, %s%s: %d of %d layouts and kinds of maps pass gate A against FP64",
           bev_dtypes[view->dtype].title, bev_aligns[view->align].name,
           view->stage == BEV_VIEW ? ", from logits" : "", right, forms);
}

/* Field softmax: the problem's depths are logits from here on. */
static void test_transform(HostProblem *host) {
    Err err = {0};
    tap_need(problem_turn_view(host, &err), err.what);
    host->view.view.temperature = 1; /* the plugin has none */
    test_forms(host);
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
        Enqueued enqueued = {plugin, &c};
        tap_need(launch(plugin, &c, NULL), "a launch");
        double bare = time_kernel(view, forms[i].kernel);
        double graph = time_launches(enqueue_again, &enqueued, true);
        double eager = time_launches(enqueue_again, &enqueued, false);
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
            OpenProblem *opened = open_problem(small ? "toy" : "canonical", (BevDtype)dtype,
                                               (BevAlign)align, 0, BEV_FORWARD);
            test_forms(&opened->problem);
            if (dtype == BEV_FP16) {
                test_kernels(&opened->problem);
                test_rehearsal(&opened->problem);
                if (!small)
                    test_time(&opened->problem);
            }
            if (scaleless_dtypes & 1u << dtype)
                test_transform(&opened->problem);
            close_problem(opened);
        }
}
