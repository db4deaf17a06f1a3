/* SPDX-License-Identifier: MIT */
/* The TensorRT plugin in CUDA graphs and on two streams at once. With the argument "small" on a
 * small scene, for the sanitizers. */
#include "src/scene/scatter.h"
#include "tests/gpu/trt_case.h"

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

/* A dynamic map in a graph: the same graph pools what the arrays hold at each replay. */
static void test_changing_map(const HostProblem *host) {
    const BevProblem *view = &host->view;
    TrtFields fields = {view->align, TRT_NHWC, NULL, false, false};
    TrtPlugin *plugin = trt_host_make(view, &fields);
    Case c = case_of(host, TRT_NHWC, plugin);
    Graph graph = captured(enqueue_again, &(Enqueued){plugin, &c}, 1);
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
    scatter_free(&other.map);
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
    g = captured(enqueue_again, &(Enqueued){plugin, &c}, 3);
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

TAP_SUITE(trt_streams) {
    const bool small = getenv("SMALL") != NULL; /* for compute-sanitizer, which is slow */
    const char *reason = nothing_to_test();
    if (reason)
        tap_skip_suite(reason);
    for (int align = BEV_NEAREST; align <= BEV_BILINEAR; align++) {
        OpenProblem *opened = open_problem(small ? "toy" : "canonical", BEV_FP16, (BevAlign)align,
                                           0, BEV_FORWARD);
        test_changing_map(&opened->problem);
        test_static_graph(&opened->problem);
        test_streams(&opened->problem, true, small ? 3 : 100);
        test_streams(&opened->problem, false, small ? 3 : 100);
        close_problem(opened);
    }
}
