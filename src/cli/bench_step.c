/* SPDX-License-Identifier: MIT */
/* bevscope bench --stage step: times a training step by calls of the library. Each step has a new
 * calibration, because augmentation turns and scales the BEV. The parts of a step are the map, the
 * pooling and the gradients. On a GPU each part is a CUDA graph, and so is the whole step. */
#include "config.h"
#include "src/base/clock.h"
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

enum { ALIGNMENT = 256, MOST_SAMPLES = 200 }; /* ALIGNMENT: of map and workspace, in bytes */
typedef struct {
    const Rig *rig;
    int32_t device; /* BEVPOOL_CPU or a GPU */
    BevpoolMap *map;
    BevpoolPlan *plans[BEV_DIRECTION_COUNT];
    BevpoolCall calls[BEV_DIRECTION_COUNT];
    void *maps[BEV_DIRECTION_COUNT]; /* memory of each map; NULL: backward uses the forward map */
    BevpoolPose poses[RIG_MAX_CAMERAS];
    void *device_poses; /* a copy on the GPU */
    Part enqueued;      /* the part that enqueue_part gives to a GPU */
    uint64_t seed;
    /* All memory of the device: the tensors, workspaces and maps of both directions, and poses. */
    void *blocks[2 * BEVPOOL_ROLES + 5];
    int block_count;
} StepBench;

/* Turns an error of the library into an error of this program. */
static bool check_status(BevpoolStatus status, const BevpoolError *error, Err *err) {
    return !status || err_set(err, ERR_FAILED, "--stage step", "", "%s", error->text);
}

/* Allocates memory of the device, and copies `from` into this memory. `from` NULL: nothing is
 * copied. close_step frees the memory. */
static bool allocate_block(StepBench *bench, void **memory, const void *from, size_t bytes,
                           Err *err) {
#ifdef HAVE_CUDA
    if (bench->device != BEVPOOL_CPU && !device_take(memory, from, bytes, err))
        return false;
#endif
    if (bench->device == BEVPOOL_CPU) {
        *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
        if (!*memory)
            return err_no_memory(err, "--stage step", "choose a smaller scene");
        if (from)
            memcpy(*memory, from, bytes);
    }
    bench->blocks[bench->block_count++] = *memory;
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
    return check_status(bevpool_map_moving(&bench->map, &frustum, bench->device, &error), &error,
                        err);
}

/* Makes the plan of a direction, and the call with its arrays. Copies the problem's inputs. */
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
    if (!check_status(bevpool_plan_create(&bench->plans[direction], bench->map, &options, &error),
                      &error, err))
        return false;
    const BevpoolPlan *plan = bench->plans[direction];
    *call =
        (BevpoolCall){.size = sizeof *call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    bool ok = allocate_block(bench, &call->workspace, NULL, call->workspace_bytes, err);
    for (int32_t role = 0; ok && role < BEVPOOL_ROLES; role++) {
        size_t bytes = bevpool_plan_bytes(plan, role);
        call->tensors[role] = (BevpoolTensor){NULL, bytes, options.dtype, 0};
        ok = !bytes || allocate_block(bench, &call->tensors[role].data, inputs[role], bytes, err);
    }
    const bool uses_forward_map = bench->device == BEVPOOL_CPU && direction == BEV_BACKWARD;
    if (ok && !uses_forward_map)
        ok =
            allocate_block(bench, &bench->maps[direction], NULL, bevpool_plan_map_bytes(plan), err);
    call->map = bench->maps[uses_forward_map ? BEV_FORWARD : direction];
    return ok;
}

static void close_step(StepBench *bench) {
    for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++)
        bevpool_plan_destroy(bench->plans[direction]);
    bevpool_map_destroy(bench->map);
    for (int i = 0; i < bench->block_count; i++) {
#ifdef HAVE_CUDA
        if (bench->device != BEVPOOL_CPU) {
            device_give(bench->blocks[i]);
            continue;
        }
#endif
        free(bench->blocks[i]);
    }
}

/* Makes the poses of a step: the BEV is turned, scaled and flipped at random, as BEVDet does. */
static bool make_poses(StepBench *bench, Err *err) {
    enum { MOST_TURN_DEG = 22 };
    double turn = (2 * random_unit(&bench->seed) - 1) * MOST_TURN_DEG * M_PI / 180;
    double scale = 0.95 + 0.1 * random_unit(&bench->seed);
    double side = random_below(&bench->seed, 2) ? -scale : scale;
    const double bev[4][4] = {{scale * cos(turn), -scale * sin(turn), 0, 0},
                              {side * sin(turn), side * cos(turn), 0, 0},
                              {0, 0, scale, 0},
                              {0, 0, 0, 1}};
    BevpoolError error = {0};
    for (int i = 0; i < bench->rig->camera_count; i++) {
        const Camera *own = &bench->rig->cameras[i];
        const ImageCut *cut = &own->cut;
        const double image[9] = {
            cut->resize_x, 0, -cut->crop_x, 0, cut->resize_y, -cut->crop_y, 0, 0, 1};
        BevpoolCamera camera;
        memcpy(camera.intrinsics, own->intrinsics, sizeof camera.intrinsics);
        memcpy(camera.rotation, own->rotation, sizeof camera.rotation);
        memcpy(camera.position_m, own->position_m, sizeof camera.position_m);
        if (!check_status(bevpool_pose(&bench->poses[i], &camera, image, *bev, &error), &error,
                          err))
            return false;
    }
    return true;
}

/* Runs one part of the step; on a GPU the part is only enqueued in `stream`. PART_MAP makes the
 * maps of both directions from the poses. PART_STEP runs all parts in order. */
static bool run_part(StepBench *bench, Part part, void *stream, Err *err) {
    const BevpoolPose *poses = bench->device_poses ? bench->device_poses : bench->poses;
    BevpoolError error;
    BevpoolStatus status = BEVPOOL_OK;
    if (part == PART_STEP) {
        bool ok = true;
        for (Part each = 0; ok && each < PART_STEP; each++)
            ok = run_part(bench, each, stream, err);
        return ok;
    }
    if (part == PART_MAP) {
        for (int i = 0; !status && i < BEV_DIRECTION_COUNT; i++)
            if (bench->maps[i])
                status =
                    bevpool_plan_update(bench->plans[i], poses, bench->maps[i],
                                        bevpool_plan_map_bytes(bench->plans[i]), stream, &error);
    } else {
        const BevDirection direction = part == PART_FORWARD ? BEV_FORWARD : BEV_BACKWARD;
        bench->calls[direction].stream = stream;
        status = bevpool_run(bench->plans[direction], &bench->calls[direction], &error);
    }
    return check_status(status, &error, err);
}

#ifdef HAVE_CUDA
static bool enqueue_part(void *context, void *stream, Err *err) {
    StepBench *bench = context;
    return run_part(bench, bench->enqueued, stream, err);
}
#endif

/* Times each part, and the step as one graph. All launches have the same calibration. */
static bool time_on_gpu(StepBench *bench, const TimingOptions *options, Timing timings[PARTS],
                        Err *err) {
#ifdef HAVE_CUDA
    bool ok = make_poses(bench, err) &&
              allocate_block(bench, &bench->device_poses, bench->poses, sizeof bench->poses, err);
    for (bench->enqueued = 0; ok && bench->enqueued < PARTS; bench->enqueued++)
        ok = device_time(enqueue_part, bench, options, &timings[bench->enqueued], err);
    return ok;
#else
    (void)bench, (void)options, (void)timings;
    return err_set(err, ERR_DEVICE, "--stage step", "", "this build has no CUDA");
#endif
}

/* Times steps up to options->samples and options->max_s, but at least LEAST_SAMPLES steps. */
static bool time_on_cpu(StepBench *bench, const TimingOptions *options, Timing timings[PARTS],
                        Err *err) {
    enum { LEAST_SAMPLES = 5 };
    const double settles = 0.15; /* the noise that other launches on the CPU may have */
    const int most = options->samples < MOST_SAMPLES ? options->samples : MOST_SAMPLES;
    const double end_us = clock_us() + options->max_s * 1e6;
    static double samples[PARTS][MOST_SAMPLES];
    int count = 0;
    for (int step = 0; count < LEAST_SAMPLES || (count < most && clock_us() < end_us); step++) {
        const double begun_us = clock_us();
        double before_us = begun_us;
        if (!make_poses(bench, err))
            return false;
        for (Part part = 0; part < PART_STEP; part++) {
            if (!run_part(bench, part, NULL, err))
                return false;
            const double after_us = clock_us();
            samples[part][count] = after_us - before_us;
            before_us = after_us;
        }
        samples[PART_STEP][count] = before_us - begun_us;
        count = step; /* step 0 warms up: its samples are overwritten by step 1 */
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

static bool add_step_rows(void *context, const char *scene, Workload *workload,
                          const HostProblem *problem, Err *err) {
    StepRows *rows = context;
    Report *report = &rows->report;
    const TimingOptions *options = &rows->plan->timing;
    const bool on_cpu = rows->device == BEVPOOL_CPU;
    const Rig rig = workload_rig(workload);
    StepBench bench = {.rig = &rig, .device = rows->device, .seed = 1};
    Timing timings[PARTS];
    bool ok = rig.camera_count || err_set(err, ERR_USAGE, scene, "choose a scene with cameras",
                                          "no calibration to move");
    ok = ok && open_map(&bench, problem->view.align, err) &&
         open_plan(&bench, &problem->view, BEV_FORWARD, err) &&
         open_plan(&bench, &problem->view, BEV_BACKWARD, err) &&
         (on_cpu ? time_on_cpu(&bench, options, timings, err)
                 : time_on_gpu(&bench, options, timings, err));
    for (int part = 0; ok && part < PARTS; part++) {
        const Timing *timing = &timings[part];
        report_row(report);
        add_text(report, "stage", NULL, "step");
        add_text(report, "scene", "scene", scene);
        add_text(report, "dtype", "dtype", bev_dtypes[problem->view.dtype].name);
        add_text(report, "align", "align", bev_aligns[problem->view.align].name);
        add_text(report, "device", NULL, on_cpu ? "cpu" : "cuda");
        add_text(report, "part", "part", part_names[part]);
        add_real(report, "median_us", "median us", 4, timing->median_us);
        add_real(report, "p95_us", "p95 us", 4, timing->p95_us);
        add_real(report, "noise", "noise/median", 2, timing->noise);
        add_bool(report, "settled", "settled", timing->settled);
        add_real(report, "share", "of the step", 2,
                 timing->median_us / timings[PART_STEP].median_us);
    }
    close_step(&bench);
    return ok;
}

static bool measure_steps(const Options *options, StepRows *rows, Err *err) {
    static const char *const usual[] = {"canonical"};
    BenchPlan plan;
    Options backward = *options; /* a backward problem has the inputs of all parts of the step */
    backward.stage = NULL;
    backward.direction = bev_directions[BEV_BACKWARD].name;
    if (!select_plan(&backward, 1u << BEV_FP32, 1u << BEV_NEAREST, usual, 1, &plan, err))
        return false;
    rows->device = plan.where & 1u << BEV_CPU ? BEVPOOL_CPU : 0;
    plan.moments = 1;
    plan.timing = options->quick ? timing_quick : timing_default;
    rows->plan = &plan;
    return plan_each_problem(&plan, add_step_rows, rows, err);
}

/* Adds the recorded steps of this program and of its peers. */
static bool add_recorded_rows(Report *report, Err *err) {
    static const ReportColumn columns[] = {{"scene", "scene", 0},    {"batch", "batch", 0},
                                           {"way", "map", 0},        {"dtype", "dtype", 0},
                                           {"launch", "launch", 0},  {"median_us", "median us", 4},
                                           {"peak_mb", "peak MB", 3}};
    char path[4096];
    json_error_t wrong;
    if (!data_path("samples/recorded/compare/step-h200.json", path, sizeof path, err))
        return false;
    json_t *file = json_load_file(path, 0, &wrong), *row;
    size_t i;
    report_columns(report, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(file, "results"), i, row) report_add_object(report, row);
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
    return (options->recorded ? add_recorded_rows(&rows.report, err)
                              : measure_steps(options, &rows, err)) &&
           output_report(options, &rows.report, json_pack("{ss}", "stage", "step"), err);
}
