/* SPDX-License-Identifier: MIT */
/* bevscope bench --stage step: a training step whose calibration is new each time, as augmentation
 * makes it: poses and map, pooling, gradients. The library's calls do the work. On a GPU each part,
 * and the step, is a CUDA graph of these calls. */
#include "config.h"
#include "src/base/clock.h"
#include "src/base/data.h"
#include "src/base/random.h"
#include "src/cli/records.h"
#include "src/cli/selection.h"
#include "src/lib/bevpool.h"
#include "src/run/backend.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { PART_MAP, PART_FORWARD, PART_BACKWARD, PART_STEP, PARTS } Part;
static const char *const part_names[PARTS] = {"map", "forward", "backward", "step"};

enum { ROOM = 256, MOST_SAMPLES = 200 }; /* ROOM: what map and workspace begin on a multiple of */

typedef struct {
    const Rig *rig;
    int32_t device; /* BEVPOOL_CPU or a GPU */
    BevpoolMap *map;
    BevpoolPlan *plans[BEV_DIRECTION_COUNT];
    BevpoolCall calls[BEV_DIRECTION_COUNT];
    void *maps[BEV_DIRECTION_COUNT]; /* memory; on the CPU both directions read one map */
    BevpoolPose poses[RIG_MAX_CAMERAS];
    void *poses_there; /* a copy on the GPU */
    uint64_t seed;
    void *taken[2 * BEVPOOL_ROLES + 5]; /* all memory of the device */
    int taken_count;
} StepBench;

static bool passed(BevpoolStatus status, const BevpoolError *error, Err *err) {
    return !status || err_set(err, ERR_FAILED, "--stage step", "", "%s", error->text);
}

/* Takes memory of the device, a copy of `from` if that is not NULL. It begins on a multiple of
 * ROOM. The bench frees it. */
static bool take(StepBench *bench, void **memory, const void *from, size_t bytes, Err *err) {
#ifdef HAVE_CUDA
    if (bench->device != BEVPOOL_CPU && !device_take(memory, from, bytes, err))
        return false;
#endif
    if (bench->device == BEVPOOL_CPU) {
        *memory = aligned_alloc(ROOM, (bytes + ROOM) / ROOM * ROOM);
        if (!*memory)
            return err_no_memory(err, "--stage step", "choose a smaller scene");
        if (from)
            memcpy(*memory, from, bytes);
    }
    bench->taken[bench->taken_count++] = *memory;
    return true;
}

static bool open_map(StepBench *bench, BevAlign align, Err *err) {
    const Frustum *f = &bench->rig->frustum;
    const Grid *g = &bench->rig->grid;
    const BevpoolFrustum frustum = {
        .size = sizeof frustum,
        .batch = 1,
        .cameras = bench->rig->camera_count,
        .align = (int32_t)align,
        .input_w = f->input_w,
        .input_h = f->input_h,
        .feat_w = f->feat_w,
        .feat_h = f->feat_h,
        .depth_bins = (int32_t)frustum_depth_bins(f),
        .depth_start_m = f->depth_start_m,
        .depth_step_m = f->depth_step_m,
        .depths_m = f->bins.count ? f->bins.m : NULL,
        .x_min_m = g->x_min_m,
        .x_max_m = g->x_max_m,
        .y_min_m = g->y_min_m,
        .y_max_m = g->y_max_m,
        .z_min_m = g->z_min_m,
        .z_max_m = g->z_max_m,
        .nx = g->nx,
        .ny = g->ny,
        .nz = grid_slices(g),
        .truncate = g->truncate,
    };
    BevpoolError error;
    return passed(bevpool_map_moving(&bench->map, &frustum, bench->device, &error), &error, err);
}

/* Makes the plan of a direction, and the call with its arrays: inputs are copies of the problem's.
 */
static bool open_plan(StepBench *bench, const BevProblem *p, BevDirection direction, Err *err) {
    BevpoolCall *call = &bench->calls[direction];
    const void *const inputs[BEVPOOL_ROLES] = {[BEVPOOL_DEPTH] = p->depth.data,
                                               [BEVPOOL_FEAT] = p->feat.data,
                                               [BEVPOOL_GRAD_OUT] = p->grad_out.data};
    const BevpoolOptions options = {.size = sizeof options,
                                    .channels = p->shape.channels,
                                    .dtype = (int32_t)p->dtype,
                                    .direction = (int32_t)direction};
    BevpoolError error;
    if (!passed(bevpool_plan_create(&bench->plans[direction], bench->map, &options, &error), &error,
                err))
        return false;
    const BevpoolPlan *plan = bench->plans[direction];
    *call = (BevpoolCall){.size = sizeof *call,
                          .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    bool ok = take(bench, &call->workspace, NULL, call->workspace_bytes, err);
    for (int32_t role = 0; ok && role < BEVPOOL_ROLES; role++) {
        size_t bytes = bevpool_plan_bytes(plan, role);
        call->tensors[role] = (BevpoolTensor){NULL, bytes, options.dtype, 0};
        ok = !bytes || take(bench, &call->tensors[role].data, inputs[role], bytes, err);
    }
    bool shared = bench->device == BEVPOOL_CPU && direction == BEV_BACKWARD;
    ok = ok && (shared || take(bench, &bench->maps[direction], NULL, bevpool_plan_map_bytes(plan),
                               err));
    call->map = bench->maps[shared ? BEV_FORWARD : direction];
    return ok;
}

static void close_step(StepBench *bench) {
    for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++)
        bevpool_plan_destroy(bench->plans[direction]);
    bevpool_map_destroy(bench->map);
    for (int i = 0; i < bench->taken_count; i++) {
#ifdef HAVE_CUDA
        if (bench->device != BEVPOOL_CPU) {
            device_give(bench->taken[i]);
            continue;
        }
#endif
        free(bench->taken[i]);
    }
}

/* Makes the poses of a step: the BEV is turned, scaled and flipped at random, as BEVDet does. */
static bool make_poses(StepBench *bench, Err *err) {
    enum { MOST_TURN_DEG = 22 };
    double turn = (2 * random_unit(&bench->seed) - 1) * MOST_TURN_DEG * M_PI / 180;
    double scale = 0.95 + 0.1 * random_unit(&bench->seed);
    double side = random_below(&bench->seed, 2) ? -scale : scale;
    const double bev[16] = {
        scale * cos(turn), -scale * sin(turn), 0, 0, side * sin(turn), side * cos(turn), 0, 0, 0, 0,
        scale,             0,                  0, 0, 0,                1};
    BevpoolError error = {0};
    for (int i = 0; i < bench->rig->camera_count; i++) {
        const Camera *own = &bench->rig->cameras[i];
        const ImageCut *cut = &own->cut;
        const double image[9] = {cut->resize_x, 0, -cut->crop_x, 0, cut->resize_y, -cut->crop_y,
                                 0,             0, 1};
        BevpoolCamera camera;
        memcpy(camera.intrinsics, own->intrinsics, sizeof camera.intrinsics);
        memcpy(camera.rotation, own->rotation, sizeof camera.rotation);
        memcpy(camera.position_m, own->position_m, sizeof camera.position_m);
        if (!passed(bevpool_pose(&bench->poses[i], &camera, image, bev, &error), &error, err))
            return false;
    }
    return true;
}

/* Does one part, all but PART_STEP; a GPU's is enqueued. */
static bool run_part(StepBench *bench, Part part, void *stream, Err *err) {
    BevpoolError error;
    const BevpoolPose *poses = bench->poses_there ? bench->poses_there : bench->poses;
    bool ok = true;
    for (int i = 0; ok && part == PART_MAP && i < BEV_DIRECTION_COUNT; i++)
        ok = !bench->maps[i] ||
             passed(bevpool_plan_update(bench->plans[i], poses, bench->maps[i],
                                        bevpool_plan_map_bytes(bench->plans[i]), stream, &error),
                    &error, err);
    if (part == PART_MAP)
        return ok;
    BevpoolCall *call = &bench->calls[part - PART_FORWARD];
    call->stream = stream;
    return passed(bevpool_run(bench->plans[part - PART_FORWARD], call, &error), &error, err);
}

#ifdef HAVE_CUDA
typedef struct {
    StepBench *bench;
    Part first, last;
} Enqueued;

static bool enqueue_parts(void *context, void *stream, Err *err) {
    const Enqueued *work = context;
    bool ok = true;
    for (Part part = work->first; ok && part <= work->last; part++)
        ok = run_part(work->bench, part, stream, err);
    return ok;
}
#endif

/* Times each part, and all of them as one graph, with one calibration. */
static bool time_on_gpu(StepBench *bench, const TimingOptions *options, Timing timings[PARTS],
                        Err *err) {
#ifdef HAVE_CUDA
    bool ok = make_poses(bench, err) && take(bench, &bench->poses_there, bench->poses,
                                             sizeof bench->poses, err);
    for (Part part = 0; ok && part < PARTS; part++) {
        Enqueued work = {bench, part == PART_STEP ? 0 : part, part == PART_STEP ? part - 1 : part};
        ok = device_time(enqueue_parts, &work, options, &timings[part], err);
    }
    return ok;
#else
    (void)bench, (void)options, (void)timings;
    return err_set(err, ERR_DEVICE, "--stage step", "", "this build has no CUDA");
#endif
}

static bool time_steps(StepBench *bench, const TimingOptions *options, Timing timings[PARTS],
                       Err *err) {
    enum { LEAST_SAMPLES = 5 };
    const double settles = 0.15; /* as other launches on the CPU */
    static double samples[PARTS][MOST_SAMPLES];
    if (bench->device != BEVPOOL_CPU)
        return time_on_gpu(bench, options, timings, err);
    double begun_us = clock_us(), at_us[PARTS];
    int count = -1; /* the first step warms up */
    for (; count < LEAST_SAMPLES || (count < options->samples && count < MOST_SAMPLES &&
                                     clock_us() - begun_us < options->max_s * 1e6);
         count++) {
        double before_us = clock_us(), first_us = before_us;
        if (!make_poses(bench, err))
            return false;
        for (Part part = 0; part < PART_STEP; part++) {
            if (!run_part(bench, part, NULL, err))
                return false;
            at_us[part] = clock_us();
        }
        for (int part = 0; part < PART_STEP && count >= 0; part++) {
            samples[part][count] = at_us[part] - before_us;
            before_us = at_us[part];
        }
        if (count >= 0)
            samples[PART_STEP][count] = before_us - first_us;
    }
    for (int part = 0; part < PARTS; part++)
        timing_summarize(samples[part], count, settles, &timings[part]);
    return true;
}

/* ---- the tables ------------------------------------------------------------------------------ */

typedef struct {
    Report report;
    const BenchPlan *plan;
    int32_t device;
} StepRows;

static bool add_problem(void *context, const char *scene, Workload *workload,
                        const HostProblem *problem, Err *err) {
    StepRows *rows = context;
    Report *report = &rows->report;
    const Rig rig = workload_rig(workload);
    StepBench bench = {.rig = &rig, .device = rows->device, .seed = 1};
    Timing timings[PARTS];
    bool ok = rig.camera_count || err_set(err, ERR_USAGE, scene, "choose a scene with cameras",
                                          "no calibration to move");
    ok = ok && open_map(&bench, problem->view.align, err) &&
         open_plan(&bench, &problem->view, BEV_FORWARD, err) &&
         open_plan(&bench, &problem->view, BEV_BACKWARD, err) &&
         time_steps(&bench, &rows->plan->timing, timings, err);
    for (int part = 0; ok && part < PARTS; part++) {
        const Timing *timing = &timings[part];
        report_row(report);
        add_text(report, "stage", NULL, "step");
        add_text(report, "scene", "scene", scene);
        add_text(report, "dtype", "dtype", bev_dtypes[problem->view.dtype].name);
        add_text(report, "align", "align", bev_aligns[problem->view.align].name);
        add_text(report, "device", NULL, rows->device == BEVPOOL_CPU ? "cpu" : "cuda");
        add_text(report, "part", "part", part_names[part]);
        add_real(report, "median_us", "median us", 4, timing->median_us);
        add_real(report, "p95_us", "p95 us", 4, timing->p95_us);
        add_real(report, "noise", "noise", 2, timing->noise);
        add_bool(report, "settled", "settled", timing->settled);
        add_real(report, "share", "of the step", 2,
                 timing->median_us / timings[PART_STEP].median_us);
    }
    close_step(&bench);
    return ok;
}

static bool measure(const Options *options, StepRows *rows, Err *err) {
    static const char *const usual[] = {"canonical"};
    BenchPlan plan;
    Options pooled = *options;
    pooled.stage = NULL;
    if (!select_plan(&pooled, 1u << BEV_FP32, 1u << BEV_NEAREST, &plan, err))
        return false;
    rows->device = plan.where & 1u << BEV_CPU ? BEVPOOL_CPU : 0;
    plan.scenes = options->argument_count ? options->arguments : usual;
    plan.scene_count = options->argument_count ? options->argument_count : 1;
    plan.moments = 1;
    plan.dtypes &= backward_dtypes;
    plan.directions = 1u << BEV_BACKWARD;
    plan.timing = options->quick ? timing_quick : timing_default;
    rows->plan = &plan;
    return (plan.dtypes || err_set(err, ERR_USAGE, "--dtype", "choose fp32, fp16 or bf16",
                                   "there are no gradients in %s", options->dtype)) &&
           plan_each_problem(&plan, add_problem, rows, err);
}

/* Adds the rows of samples/recorded/compare/step-h200.json, beside the peers' steps there. */
static bool add_recorded(Report *report, Err *err) {
    static const ReportColumn columns[] = {
        {"scene", "scene", 0},   {"batch", "batch", 0},   {"way", "map", 0},
        {"dtype", "dtype", 0},   {"launch", "launch", 0}, {"median_us", "median us", 4},
        {"peak_mb", "peak MB", 3}};
    char path[4096];
    json_error_t wrong;
    if (!data_path("samples/recorded/compare/step-h200.json", path, sizeof path, err))
        return false;
    json_t *file = json_load_file(path, 0, &wrong), *row;
    size_t i;
    report_columns(report, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(file, "results"), i, row) report_take(report, row);
    json_decref(file);
    return report->row_count || err_set(err, ERR_FAILED, path, "", "%s", wrong.text);
}

bool bench_step(const Options *options, Err *err) {
    static const char others[] = "kernel,direction,cache,single,once,against,fail,png,shard,scenes,"
                                 "keep-going,published,grad-out";
    static const char takes[] = "a step takes a scene, --dtype, --align, --quick or --recorded";
    if (!options_refuse(options, others, "leave it out", takes, err))
        return false;
    if (choices_find(CHOICE_FORMAT, options->format) < 0)
        return err_set(err, ERR_USAGE, "--format", "table, markdown, csv or json", "%s", takes);
    StepRows rows = {.report.names_to = options->recorded ? "launch" : "part"};
    bool ok = options->recorded ? add_recorded(&rows.report, err) : measure(options, &rows, err);
    ok = ok && output_report(options, &rows.report, json_pack("{ss}", "stage", "step"), err);
    report_free(&rows.report);
    return ok;
}
