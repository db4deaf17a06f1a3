/* The memory model behind the live display: what it says, what it keeps, and how its walks end. */
#include "src/live/live_model.h"
#include "src/base/ref.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

/* ---- a scene and its map --------------------------------------------------------------------- */

typedef struct {
    Workload workload;
    BuiltMap *map; /* borrows the workload's */
} Scenery;

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
    need(problem_init(&problem, &scenery->workload.scene.shape, dtype, BEV_NEAREST,
                      &scenery->map->map, &err),
         &err);
    return problem;
}

static Profile profile_of(const BevKernel *kernel, const HostProblem *problem) {
    Profile profile;
    need(profile_make(kernel, &problem->view, NULL, &profile, &err), &err);
    return profile;
}

static void aim(LiveModel *live_model, const Scenery *scenery, const char *kernel, BevDtype dtype) {
    const KernelConfig config = {bev_kernel_find(kernel), dtype, BEV_NEAREST};
    need(live_model_aim(live_model, &scenery->workload.scene.shape, scenery->map, &config, &err),
         &err);
}

static int step_all(LiveModel *live_model, ModelDepth depth) {
    int steps = 0;
    while (steps < 99 && live_model_step(live_model, depth, NULL))
        steps++;
    return steps;
}

static int known_kernels(const MemoryModel *model) {
    int count = 0;
    for (int i = 0; i < model->kernel_count; i++)
        count += model->kernels[i].name != NULL;
    return count;
}

static LiveModel *open_model(void) {
    LiveModel *live_model;
    need(live_model_open(&live_model, &err), &err);
    return live_model;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void test_digest(const Scenery *toy) {
    const BevKernel *row = bev_kernel_find("v2_do");
    HostProblem problem = problem_of(toy, BEV_FP16);
    Profile profile = profile_of(row, &problem);
    LiveModel *live_model = open_model();
    aim(live_model, toy, "cpu_v2_do", BEV_FP16);
    step_all(live_model, DEPTH_SELECTION);
    const MemoryModel *model = live_model_known(live_model);
    const int h200 = (int)(gpu_find("h200") - gpus);
    const PredictedKernel *known =
        model_of_kernel(model, bev_kernel_find("cpu_v2_do"), &gpus[h200]);
    Gpu small = gpus[h200];
    Prediction own = predict(&profile, &small, true);
    small.l2_bytes = 2 << 20;
    Prediction shrunk = predict(&profile, &small, true);
    const GpuEdit smaller = {.l2_mib = 2};
    tap_ok(known && known->predicted[h200].latency_us == own.latency_us &&
               fabs(model_predict(model, known, h200, &smaller).latency_us - shrunk.latency_us) <
                   1e-9,
           "it keeps what the model predicts, also for another L2");
    double formula = bev_traffic_total(bev_traffic(row, &problem.view));
    tap_ok(known && bev_traffic_total(known->requested) == formula,
           "requested bytes are the formula's");
    bool falls = known != NULL;
    for (int i = 1; falls && i < MODEL_SIZES; i++)
        falls = known->miss_ratio[i] <= known->miss_ratio[i - 1] + 0.02;
    tap_ok(falls && known->miss_ratio[MODEL_SIZES - 1] == 0,
           "the curve falls, to nothing where all fits");
    profile_free(&profile);
    problem_free(&problem);
    live_model_close(live_model);
}

static void test_ceilings(const Scenery *toy) {
    LiveModel *live_model = open_model();
    const int h200 = (int)(gpu_find("h200") - gpus), a6000 = (int)(gpu_find("a6000") - gpus);
    Limits limits = limits_unknown();
    limits.value[LIMIT_DRAM_READ] = 4000;
    limits.value[LIMIT_L2_READ] = 8000;
    limits.value[LIMIT_FP32] = 60;
    aim(live_model, toy, "cpu_v2_do", BEV_FP16);
    MemoryModel *before = ref_keep(live_model_known(live_model));
    FigureSource source = before->ceilings[h200].source;
    live_model_measured(live_model, h200, &limits);
    const MemoryModel *after = live_model_known(live_model);
    tap_ok(source != SOURCE_MEASURED && before->ceilings[h200].source == source,
           "without a probe no ceiling is measured, and what is known never changes");
    tap_ok(after->ceilings[h200].source == SOURCE_MEASURED &&
               after->ceilings[h200].dram_gbps == 4000 && after->ceilings[h200].l2_gbps == 8000 &&
               after->ceilings[h200].fp32_gflops == 60e3 &&
               after->ceilings[a6000].source != SOURCE_MEASURED,
           "ceilings that its probes found are that GPU's, as measured");
    aim(live_model, toy, "cpu_v2_do", BEV_FP8);
    tap_ok(live_model_known(live_model)->ceilings[h200].source == SOURCE_MEASURED,
           "and those of the problems after it");
    Timeline timeline = {.source = SOURCE_MEASURED, .scene = "toy"};
    int shown = live_model_known(live_model)->timelines.count;
    live_model_timeline(live_model, &timeline);
    const Timelines *timelines = &live_model_known(live_model)->timelines;
    tap_ok(timelines->count == 1 && timelines->list[0].source == SOURCE_MEASURED &&
               before->timelines.count == shown,
           "a time line measured here takes the place of the %d recorded ones", shown);
    ref_drop(before);
    live_model_close(live_model);
}

/* Other figures than the table's: the same as a prediction from the whole profile. */
static void test_edited(const MemoryModel *model, const PredictedKernel *kernel,
                        const Scenery *scenery) {
    static const GpuEdit edits[] = {{.dram_gbps = 300},
                                    {.sms = 40, .clock_ghz = 1},
                                    {.l2_mib = 24, .dram_gbps = 300},
                                    {.l2_mib = 5, .dram_gbps = 300},
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

static void test_published_v2(void) {
    Scenery canonical = open_scenery("small");
    LiveModel *live_model = open_model();
    aim(live_model, &canonical, "v2_tiles", BEV_FP16);
    step_all(live_model, DEPTH_SELECTION);
    aim(live_model, &canonical, "cpu_v2", BEV_FP16);
    step_all(live_model, DEPTH_SELECTION);
    const MemoryModel *model = live_model_known(live_model);
    const PredictedKernel *published = model_kernel(model, bev_kernel_find("v2_tiles"));
    const PredictedKernel *v2 = model_of_kernel(model, bev_kernel_find("cpu_v2"), &gpus[0]);
    tap_ok(published && fabs(published->rank_bytes / model->gather.index - 10) < 1e-9,
           "the published V2 reads its ranks ten times: %.1f MB for %.2f",
           published ? published->rank_bytes * 1e-6 : NAN, model->gather.index * 1e-6);
    tap_ok(v2 && published && v2->kernel == bev_kernel_find("v2") &&
               v2->rank_bytes < published->rank_bytes / 3 &&
               !strcmp(published->title, "V2 as published"),
           "V2 is the kernel of that name, and V2 as published another row");
    test_edited(model, v2, &canonical);
    live_model_close(live_model);
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

/* ---- how much of it -------------------------------------------------------------------------- */

static void test_depth(const Scenery *toy) {
    LiveModel *live_model = open_model();
    const BevKernel *v3 = bev_kernel_find("cpu_v3");
    aim(live_model, toy, "cpu_v3", BEV_FP16);
    const MemoryModel *model = live_model_known(live_model);
    tap_ok(model && known_kernels(model) == 0 && !model_of_kernel(model, v3, &gpus[0]),
           "before the first replay no kernel is known");
    int steps = step_all(live_model, DEPTH_SELECTION);
    model = live_model_known(live_model);
    tap_ok(steps == 2 && known_kernels(model) == 2 && model_of_kernel(model, v3, &gpus[0]),
           "V3 is two kernels: which one depends on the L2");
    tap_ok(!strcmp(model_of_kernel(model, v3, &gpus[0])->name, "v3_large_l2"),
           "where an interval is long it is the one that loads ahead");
    step_all(live_model, DEPTH_KERNELS);
    model = live_model_known(live_model);
    tap_ok(known_kernels(model) == possible_kernels(toy, BEV_FP16) &&
               !model->formats[BEV_FP8].known,
           "then every kernel, in this format");
    tap_ok(step_all(live_model, DEPTH_FORMATS) == 2 * (BEV_DTYPE_COUNT - 1) &&
               live_model_known(live_model)->formats[BEV_NVFP4].known,
           "then V3 in every other format");
    aim(live_model, toy, "cpu_v3", BEV_NVFP4);
    tap_ok(step_all(live_model, DEPTH_KERNELS) < 99 &&
               known_kernels(live_model_known(live_model)) == possible_kernels(toy, BEV_NVFP4) &&
               possible_kernels(toy, BEV_NVFP4) < possible_kernels(toy, BEV_FP16),
           "what has no kernel for a format is tried once");
    live_model_close(live_model);
}

/* ---- what it keeps --------------------------------------------------------------------------- */

static void test_cache(const Scenery *toy) {
    LiveModel *live_model = open_model();
    aim(live_model, toy, "cpu_v2_do", BEV_FP16);
    step_all(live_model, DEPTH_SELECTION);
    const MemoryModel *first = live_model_known(live_model);
    aim(live_model, toy, "cpu_v2_do", BEV_FP8);
    tap_ok(live_model_known(live_model) != first && step_all(live_model, DEPTH_SELECTION) == 1,
           "another format is another problem");
    Scenery again = *toy;
    again.map = wrap(&toy->map->map);
    aim(live_model, &again, "cpu_v2_do", BEV_FP16);
    tap_ok(live_model_known(live_model) == first && step_all(live_model, DEPTH_SELECTION) == 0,
           "going back costs nothing, even by a map that was built anew");
    BevMap moved = toy->map->map;
    int32_t *ranks = malloc((size_t)moved.points * sizeof *ranks);
    memcpy(ranks, moved.ranks_feat, (size_t)moved.points * sizeof *ranks);
    ranks[0] = ranks[0] ? 0 : 1;
    moved.ranks_feat = ranks;
    Scenery other = *toy;
    other.map = wrap(&moved);
    aim(live_model, &other, "cpu_v2_do", BEV_FP16);
    tap_ok(live_model_known(live_model) != first, "one rank that differs makes another problem");
    live_model_close(live_model);
    ref_drop(again.map);
    ref_drop(other.map);
    free(ranks);
}

/* ---- how a walk ends ------------------------------------------------------------------------- */

static bool never(void *context) {
    ++*(int *)context;
    return false;
}

static void test_ended(const Scenery *toy) {
    int asked = 0;
    const TraceWatch watch = {.go_on = never, .context = &asked};
    LiveModel *live_model = open_model();
    aim(live_model, toy, "cpu_v2_do", BEV_FP16);
    bool more = live_model_step(live_model, DEPTH_SELECTION, &watch);
    tap_ok(more && asked > 0 && known_kernels(live_model_known(live_model)) == 0,
           "a walk that is told to end leaves nothing behind");
    tap_ok(step_all(live_model, DEPTH_SELECTION) == 1 &&
               known_kernels(live_model_known(live_model)) == 1,
           "and is walked to its end the next time");
    live_model_close(live_model);
}

TAP_SUITE(live_model) {
    Scenery toy = open_scenery("toy");
    test_digest(&toy);
    test_ceilings(&toy);
    test_published_v2();
    test_depth(&toy);
    test_cache(&toy);
    test_ended(&toy);
    close_scenery(&toy);
}
