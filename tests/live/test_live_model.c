/* SPDX-License-Identifier: MIT */
/* The memory model behind the live display: what it says, what it keeps, and how its walks end. */
#include "src/live/live_model.h"
#include "src/base/ref.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */
static LiveModel *live_model;

typedef struct {
    Workload workload;
    BuiltMap *map; /* borrows the workload's */
} Scenery;

static Scenery toy;

static void keep_arrays(void *contents) {
    (void)contents;
}

static BuiltMap *wrap(const BevMap *map) {
    BuiltMap *built = ref_new(sizeof *built, keep_arrays);
    if (built)
        built->map = *map;
    return built;
}

static Scenery open_scenery(const char *scene) {
    Scenery scenery = {.map = NULL};
    const BevMap *map = NULL;
    need(workload_open(&scenery.workload, scene, NULL, &err) &&
             (map = workload_map(&scenery.workload, BEV_NEAREST, &err)),
         &err);
    scenery.map = wrap(map);
    return scenery;
}

static void close_scenery(Scenery *scenery) {
    ref_drop(scenery->map);
    workload_close(&scenery->workload);
}

/* problem_free() frees it. */
static HostProblem problem_of(const Scenery *scenery, BevDtype dtype) {
    HostProblem problem;
    need(problem_init(&problem, &scenery->workload.seen->shape, dtype, BEV_NEAREST,
                      &scenery->map->map, &err),
         &err);
    return problem;
}

static Profile profile_of(const BevKernel *kernel, const HostProblem *problem) {
    Profile profile;
    need(profile_make(kernel, &problem->view, NULL, &profile, &err), &err);
    return profile;
}

static void aim(const Scenery *scenery, const char *kernel, BevDtype dtype) {
    const KernelConfig config = {bev_kernel_find(kernel), dtype, BEV_NEAREST};
    need(live_model_aim(live_model, &scenery->workload.seen->shape, scenery->map, &config, 0, &err),
         &err);
}

static int step_all(ModelDepth depth) {
    int steps = 0;
    while (steps < 99 && live_model_step(live_model, depth, NULL))
        steps++;
    return steps;
}

static MemoryModel *known(void) {
    return live_model_known(live_model);
}

static int known_kernels(void) {
    int count = 0;
    for (int i = 0; i < known()->kernel_count; i++)
        count += known()->kernels[i].name != NULL;
    return count;
}

static void with_model(void (*test)(void)) {
    RecordedSet recorded;
    need(recorded_load_samples(&recorded, &err) && live_model_open(&live_model, &recorded, &err),
         &err);
    test();
    live_model_close(live_model);
    recorded_free(&recorded);
}

static void test_digest(void) {
    const BevKernel *row = bev_kernel_find("v2_do");
    HostProblem problem = problem_of(&toy, BEV_FP16);
    Profile profile = profile_of(row, &problem);
    aim(&toy, "cpu_v2_do", BEV_FP16);
    step_all(DEPTH_SELECTION);
    const MemoryModel *model = known();
    const int h200 = (int)(gpu_find("h200") - gpus);
    const PredictedKernel *digest =
        model_of_kernel(model, bev_kernel_find("cpu_v2_do"), &gpus[h200]);
    Gpu changed = gpus[h200];
    const Prediction own = predict(&profile, &changed, true);
    static const double sizes_mib[] = {1.0 / 32, 0.6875, 2.25, 7, 22, 256};
    bool as_counted = digest && digest->predicted[h200].latency_us == own.latency_us;
    for (size_t i = 0; as_counted && i < sizeof sizes_mib / sizeof *sizes_mib; i++) {
        const GpuEdit edit = {.l2_mib = sizes_mib[i]};
        changed.l2_bytes = sizes_mib[i] * (1 << 20);
        const Prediction there = model_predict(model, digest, h200, &edit);
        const Prediction counted = predict(&profile, &changed, true);
        as_counted = there.latency_us == counted.latency_us &&
                     prediction_dram_bytes(there) == prediction_dram_bytes(counted);
    }
    tap_ok(as_counted, "it keeps what the model predicts, for another L2 what regime counts");
    double formula = bev_traffic_total(bev_traffic(row, &problem.view));
    tap_ok(digest && bev_traffic_total(digest->requested) == formula,
           "requested bytes are the formula's");
    bool falls = digest != NULL;
    const L2Answer *l2 = digest ? digest->what_if_l2[0] : NULL;
    for (int i = 1; falls && i < MODEL_L2S; i++)
        falls = l2[i].misses <= 1.02 * l2[i - 1].misses + 1;
    tap_ok(falls && l2[MODEL_L2S - 1].misses == 0, "the curve falls, to nothing where all fits");
    profile_free(&profile);
    problem_free(&problem);
}

/* What pruning would give is what `regime --prune 0.001` says of each kernel of the ladder. */
static void test_pruned(void) {
    const Prune prune = {.below = 1e-3};
    Scenery small = open_scenery("small"), pruned = small;
    const BevShape *shape = &small.workload.seen->shape;
    SeenFeatures *seen = small.workload.seen;
    BevMap map;
    Pruned left;
    need(scatter_prune(&small.map->map, shape, seen->values.depth, &prune, &map, &left, &err),
         &err);
    pruned.map = wrap(&map);
    aim(&small, "v4", BEV_FP16);
    tap_ok(!known()->pruned.tried && live_model_prune(live_model, seen, false, NULL) &&
               !live_model_prune(live_model, seen, false, NULL) &&
               live_model_prune(live_model, seen, true, NULL),
           "it is replayed once for each problem, unless it is asked for again");
    const PrunedModel told = known()->pruned;
    HostProblem problem = problem_of(&pruned, BEV_FP16);
    const int h200 = (int)(gpu_find("h200") - gpus);
    bool same = left.points_kept > 0 && told.count == PRUNED_KERNELS &&
                told.share == 1 - (double)left.points_kept / (double)left.points;
    for (int i = 0; i < told.count; i++) {
        const BevKernel *row = told.kernels[i].kernel;
        if (row->large_l2) /* V3: one of its forms */
            continue;
        Profile profile = profile_of(row, &problem);
        same &= told.kernels[i].latency_us[h200] == predict(&profile, &gpus[h200], true).latency_us;
        profile_free(&profile);
    }
    tap_ok(same, "%.0f %% of the points are light; the latencies are those of the pruned map",
           100 * told.share);
    problem_free(&problem);
    ref_drop(pruned.map);
    scatter_free(&map);
    close_scenery(&small);
}

static void test_ceilings(void) {
    const int h200 = (int)(gpu_find("h200") - gpus), a6000 = (int)(gpu_find("a6000") - gpus);
    Limits limits = limits_unknown();
    limits.value[LIMIT_DRAM_READ] = 4000;
    limits.value[LIMIT_L2_READ] = 8000;
    limits.value[LIMIT_FP32] = 60;
    aim(&toy, "cpu_v2_do", BEV_FP16);
    MemoryModel *before = ref_keep(known());
    FigureSource source = before->ceilings[h200].source;
    live_model_measured(live_model, h200, &limits);
    const MemoryModel *after = known();
    tap_ok(source != SOURCE_MEASURED && before->ceilings[h200].source == source,
           "without a probe no ceiling is measured, and what is known never changes");
    tap_ok(after->ceilings[h200].source == SOURCE_MEASURED &&
               after->ceilings[h200].dram_gb_s == 4000 && after->ceilings[h200].l2_gb_s == 8000 &&
               after->ceilings[h200].fp32_gflops == 60e3 &&
               after->ceilings[a6000].source != SOURCE_MEASURED,
           "ceilings that its probes found are that GPU's, as measured");
    aim(&toy, "cpu_v2_do", BEV_FP8);
    tap_ok(known()->ceilings[h200].source == SOURCE_MEASURED, "and those of the problems after it");
    ref_drop(before);
}

static void test_edited(const MemoryModel *model, const PredictedKernel *kernel,
                        const Scenery *scenery) {
    static const GpuEdit edits[] = {{.dram_gb_s = 300},
                                    {.sms = 40, .clock_ghz = 1},
                                    {.l2_mib = 24, .dram_gb_s = 300},
                                    {.l2_mib = 5, .dram_gb_s = 300},
                                    {.l2_mib = 0.05, .sms = 10}};
    enum { EDITS = sizeof edits / sizeof *edits };
    const int a6000 = (int)(gpu_find("a6000") - gpus);
    HostProblem problem = problem_of(scenery, BEV_FP16);
    Profile profile = profile_of(kernel->kernel, &problem);
    double worst = 0;
    int changed = 0;
    for (int i = 0; i < EDITS; i++) {
        Gpu gpu = gpu_edited(&gpus[a6000], &edits[i]);
        double want = predict(&profile, &gpu, true).latency_us;
        double got = model_predict(model, kernel, a6000, &edits[i]).latency_us;
        changed += got != kernel->predicted[a6000].latency_us;
        worst = fmax(worst, fabs(got / want - 1));
    }
    tap_ok(worst < 0.01 && changed == EDITS,
           "changed GPUs are predicted as from the whole profile, to %.2f %%", 100 * worst);
    profile_free(&profile);
    problem_free(&problem);
}

/* The screen shows estimates until the replays are complete: no bar may change much. */
static void test_estimates(void) {
    static const char *const names[] = {"v2", "v2_do", "v3_small_l2", "v3_large_l2", "v4"};
    Scenery canonical = open_scenery("canonical");
    double first_us[5][MODEL_GPUS], worst = 0;
    aim(&canonical, "cpu_v4", BEV_FP16);
    step_all(DEPTH_ESTIMATE);
    for (int i = 0; i < 5; i++)
        for (int gpu = 0; gpu < gpu_count; gpu++)
            first_us[i][gpu] =
                model_kernel(known(), bev_kernel_find(names[i]))->predicted[gpu].latency_us;
    bool told = live_model_tells(live_model);
    live_model_step(live_model, DEPTH_SELECTION, NULL);
    tap_ok(!model_kernel(known(), bev_kernel_find("v2"))->estimate &&
               model_kernel(known(), bev_kernel_find("v2_do"))->estimate,
           "after the selection the article's V2 is counted first");
    step_all(DEPTH_SELECTION);
    for (int i = 0; i < 5; i++) {
        const PredictedKernel *kernel = model_kernel(known(), bev_kernel_find(names[i]));
        for (int gpu = 0; gpu < gpu_count; gpu++) {
            bool small = gpus[gpu].sms < 40; /* its L2 misses sectors again and again */
            double off = fabs(log(first_us[i][gpu] / kernel->predicted[gpu].latency_us));
            worst = fmax(worst, small ? 0 : off);
        }
        tap_note("%s: %.1f, then %.1f us", names[i], first_us[i][0],
                 kernel->predicted[0].latency_us);
        told &= !kernel->estimate;
    }
    tap_ok(told && exp(worst) < 1.25, "estimates are within %.2f times of the replays", exp(worst));
    close_scenery(&canonical);
}

static void test_published_v2(void) {
    Scenery canonical = open_scenery("small");
    aim(&canonical, "v2", BEV_FP16);
    step_all(DEPTH_SELECTION);
    aim(&canonical, "cpu_v2_bevdet", BEV_FP16);
    step_all(DEPTH_SELECTION);
    const MemoryModel *model = known();
    const PredictedKernel *tiles = model_kernel(model, bev_kernel_find("v2"));
    const PredictedKernel *v2 = model_of_kernel(model, bev_kernel_find("cpu_v2_bevdet"), &gpus[0]);
    tap_ok(tiles && fabs(tiles->rank_bytes / model->gather.index - 10) < 1e-9,
           "the article's V2 reads its ranks ten times: %.1f MB for %.2f",
           tiles ? tiles->rank_bytes * 1e-6 : NAN, model->gather.index * 1e-6);
    tap_ok(v2 && tiles && v2->kernel == bev_kernel_find("v2_bevdet") &&
               v2->rank_bytes < tiles->rank_bytes / 3,
           "BEVDet's V2 is another row, and reads fewer indices");
    test_edited(model, v2, &canonical);
    close_scenery(&canonical);
}

static int possible_kernels(const Scenery *scenery, BevDtype dtype) {
    HostProblem problem = problem_of(scenery, dtype);
    int count = 0;
    for (int i = 0; traced_kernel(i); i++)
        count += !bev_refuses(traced_kernel(i), &problem.view);
    problem_free(&problem);
    return count;
}

/* V2, V2+DO, the two forms of V3, V4; all but V4 are estimated first. */
enum { TOLD = 5, STEPS = 2 * TOLD - 1 };

static void test_depth(void) {
    const BevKernel *v3 = bev_kernel_find("cpu_v3");
    aim(&toy, "cpu_v3", BEV_FP16);
    const MemoryModel *model = known();
    tap_ok(model && known_kernels() == 0 && !model_of_kernel(model, v3, &gpus[0]),
           "before the first replay no kernel is known");
    int steps = step_all(DEPTH_SELECTION);
    model = known();
    tap_ok(steps == STEPS && known_kernels() == TOLD && model_of_kernel(model, v3, &gpus[0]),
           "V3 is two kernels: which one depends on the L2");
    tap_ok(!strcmp(model_of_kernel(model, v3, &gpus[0])->name, "v3_large_l2"),
           "where an interval is long it is the one that loads ahead");
    step_all(DEPTH_KERNELS);
    model = known();
    tap_ok(known_kernels() == possible_kernels(&toy, BEV_FP16) &&
               !model_in_format(model, BEV_FP8, v3, &gpus[0]),
           "then every kernel, in this format");
    tap_ok(step_all(DEPTH_FORMATS) == 2 * (BEV_DTYPE_COUNT - 1) &&
               model_in_format(known(), BEV_NVFP4, v3, &gpus[0]),
           "then V3 in every other format");
    const BevKernel *v4 = bev_kernel_find("cpu_v4");
    aim(&toy, "cpu_v4", BEV_FP16);
    tap_ok(step_all(DEPTH_FORMATS) == BEV_DTYPE_COUNT - 1 &&
               model_in_format(known(), BEV_FP8, v4, &gpus[0]) &&
               !model_in_format(known(), BEV_FP8, bev_kernel_find("cpu_v2_do"), &gpus[0]),
           "and another selection in place of it");
    aim(&toy, "cpu_v3", BEV_NVFP4);
    tap_ok(step_all(DEPTH_KERNELS) < 99 && known_kernels() == possible_kernels(&toy, BEV_NVFP4) &&
               possible_kernels(&toy, BEV_NVFP4) < possible_kernels(&toy, BEV_FP16),
           "what has no kernel for a format is tried once");
}

static void test_cache(void) {
    aim(&toy, "cpu_v2_do", BEV_FP16);
    step_all(DEPTH_SELECTION);
    const MemoryModel *first = known();
    aim(&toy, "cpu_v2_do", BEV_FP8);
    tap_ok(known() != first && step_all(DEPTH_SELECTION) == STEPS,
           "another format is another problem");
    Scenery again = toy;
    again.map = wrap(&toy.map->map);
    aim(&again, "cpu_v2_do", BEV_FP16);
    tap_ok(known() == first && step_all(DEPTH_SELECTION) == 0,
           "going back costs nothing, even by a map that was built anew");
    BevMap moved = toy.map->map;
    int32_t *ranks = malloc((size_t)moved.points * sizeof *ranks);
    memcpy(ranks, moved.ranks_feat, (size_t)moved.points * sizeof *ranks);
    ranks[0] = ranks[0] ? 0 : 1;
    moved.ranks_feat = ranks;
    Scenery other = toy;
    other.map = wrap(&moved);
    aim(&other, "cpu_v2_do", BEV_FP16);
    tap_ok(known() != first, "one rank that differs makes another problem");
    ref_drop(again.map);
    ref_drop(other.map);
    free(ranks);
}

static bool never(void *context) {
    ++*(int *)context;
    return false;
}

static void test_ended(void) {
    int asked = 0;
    const TraceWatch watch = {.go_on = never, .context = &asked};
    aim(&toy, "cpu_v2_do", BEV_FP16);
    bool more = live_model_step(live_model, DEPTH_SELECTION, &watch);
    tap_ok(more && asked > 0 && known_kernels() == 0,
           "a walk that is told to end leaves nothing behind");
    tap_ok(step_all(DEPTH_SELECTION) == STEPS && known_kernels() == TOLD,
           "and is walked to its end the next time");
}

TAP_SUITE(live_model) {
    void (*const tests[])(void) = {test_digest,       test_pruned, test_ceilings, test_estimates,
                                   test_published_v2, test_depth,  test_cache,    test_ended};
    toy = open_scenery("toy");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        with_model(tests[i]);
    close_scenery(&toy);
}
