/* SPDX-License-Identifier: MIT */
#include "src/accuracy/sensitivity.h"

#include "kernels/codec.h"
#include "src/accuracy/fp64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sensitive_names[TENSOR_COUNT] = {"depth", "features", "output", "all", "mixed"};

/* The state of sensitivity_run, and the arrays of a problem. */
typedef struct {
    void (*emit)(const SensitivityRow *, void *);
    void *context;
    const BevDtype *mixed;
    double *want, *got;  /* the grid in FP64, of the original and of the decoded values */
    float *depth, *feat; /* the decoded tensors */
    float *values;       /* the grid that is judged */
    float *group;        /* a group of channels of `values` */
    double *group_want;  /* these channels of `want` */
    int32_t *terms;
} Sensitivity;

static void arrays_free(Sensitivity *all) {
    free(all->want);
    free(all->got);
    free(all->depth);
    free(all->feat);
    free(all->values);
    free(all->group);
    free(all->group_want);
    free(all->terms);
}

static size_t count_of(const BevTensor *tensor) {
    return (size_t)(tensor->rows * tensor->row_len);
}

static bool arrays_init(Sensitivity *all, const HostProblem *problem, Err *err) {
    const BevProblem *view = &problem->view;
    const size_t grid = count_of(&view->out), rows = (size_t)view->out.rows;
    all->got = malloc(grid * sizeof *all->got);
    all->values = malloc(grid * sizeof *all->values);
    all->depth = malloc(count_of(&view->depth) * sizeof *all->depth);
    all->feat = malloc(count_of(&view->feat) * sizeof *all->feat);
    all->group = malloc(rows * SENSITIVITY_GROUP * sizeof *all->group);
    all->group_want = malloc(rows * SENSITIVITY_GROUP * sizeof *all->group_want);
    if (!all->got || !all->values || !all->depth || !all->feat || !all->group || !all->group_want)
        return err_no_memory(err, "sensitivity", "choose a smaller scene");
    all->want = fp64_of(problem, err);
    all->terms = all->want ? gate_terms(view, err) : NULL;
    if (!all->terms)
        return false;
    bev_tensor_decode(&view->depth, 0, view->depth.rows, all->depth);
    bev_tensor_decode(&view->feat, 0, view->feat.rows, all->feat);
    return true;
}

/* Returns the error of a grid in FP32 with `channels` channels. */
static FormatError error_of(const BevProblem *problem, int64_t channels, const float *values,
                            const double *want, const int32_t *terms) {
    BevProblem judged = *problem;
    judged.out =
        (BevTensor){.dtype = BEV_FP32, .rows = problem->out.rows, .row_len = channels, .scale = 1};
    return format_error(&judged, values, want, terms);
}

/* Emits a row for each group of channels. Pooling does not mix channels. */
static void emit_groups(const Sensitivity *all, const BevProblem *problem, SensitivityRow row) {
    const int64_t channels = problem->out.row_len, rows = problem->out.rows;
    const double bytes = row.bytes / (double)channels;
    for (int64_t first = 0; first < channels; first += SENSITIVITY_GROUP) {
        int64_t count = channels - first < SENSITIVITY_GROUP ? channels - first : SENSITIVITY_GROUP;
        for (int64_t i = 0; i < rows; i++) {
            memcpy(all->group + i * count, all->values + i * channels + first,
                   (size_t)count * sizeof *all->group);
            memcpy(all->group_want + i * count, all->want + i * channels + first,
                   (size_t)count * sizeof *all->group_want);
        }
        row.first_channel = first;
        row.channels = count;
        row.bytes = bytes * (double)count;
        row.error = error_of(problem, count, all->group, all->group_want, all->terms);
        all->emit(&row, all->context);
    }
}

/* Pools with the row's tensor decoded, and all others as they were. `out` receives output codes. */
static void pool_with(const Sensitivity *all, const HostProblem *problem, const BevTensor *out,
                      SensitiveTensor tensor) {
    const BevProblem *view = &problem->view;
    const size_t count = count_of(out);
    const double *grid = all->want;
    Features features = problem->features;
    if (tensor == TENSOR_DEPTH || tensor >= TENSOR_ALL)
        features.depth = all->depth;
    if (tensor == TENSOR_FEATURES || tensor >= TENSOR_ALL)
        features.feat = all->feat;
    if (tensor != TENSOR_OUTPUT) {
        fp64_pool(&view->shape, &view->map, &features, NULL, all->got);
        grid = all->got;
    }
    for (size_t i = 0; i < count; i++)
        all->values[i] = (float)grid[i];
    if (tensor == TENSOR_OUTPUT || tensor >= TENSOR_ALL) {
        bev_tensor_encode(out, all->values);
        bev_tensor_decode(out, 0, out->rows, all->values);
    }
}

/* Pools, judges and emits a row. Emits the groups of channels of features and output, too. `stored`
 * has the three tensors as they are stored. */
static void emit_row(const Sensitivity *all, const char *scene, const Workload *workload,
                     const HostProblem *problem, const BevTensor *const stored[TENSOR_ALL],
                     SensitiveTensor tensor) {
    const BevProblem *view = &problem->view;
    SensitivityRow row = {.scene = scene,
                          .time_s = workload->job.time_s,
                          .dtype = view->dtype,
                          .align = view->align,
                          .tensor = tensor,
                          .grid_channels = view->out.row_len};
    snprintf(row.scales, sizeof row.scales, "%s",
             ranges_label(workload->features->scales, view->dtype));
    for (int i = 0; i < TENSOR_ALL; i++) {
        BevDtype dtype = stored[i]->dtype;
        row.stored[i] = i != TENSOR_OUTPUT && bev_is_whole(dtype) ? BEV_INT8 : dtype;
        if (tensor >= TENSOR_ALL || tensor == (SensitiveTensor)i)
            row.bytes += (double)bev_tensor_bytes(stored[i]);
    }
    pool_with(all, problem, stored[TENSOR_OUTPUT], tensor);
    row.error = error_of(view, view->out.row_len, all->values, all->want, all->terms);
    row.grid2 = row.error.want2;
    all->emit(&row, all->context);
    if (tensor == TENSOR_FEATURES || tensor == TENSOR_OUTPUT)
        emit_groups(all, view, row);
}

static bool visit_problem(void *context, const char *scene, Workload *workload,
                          const HostProblem *problem, Err *err) {
    const Sensitivity *run = context;
    const BevProblem *view = &problem->view;
    const BevTensor *const stored[] = {&view->depth, &view->feat, &view->out};
    Sensitivity all = {.emit = run->emit, .context = run->context};
    bool ok = arrays_init(&all, problem, err);
    for (int tensor = 0; ok && tensor <= TENSOR_ALL; tensor++)
        emit_row(&all, scene, workload, problem, stored, (SensitiveTensor)tensor);
    arrays_free(&all);
    return ok;
}

/* Emits the row of TENSOR_MIXED. `problem` has the features' format. */
static bool visit_mixed(void *context, const char *scene, Workload *workload,
                        const HostProblem *problem, Err *err) {
    const Sensitivity *run = context;
    const BevProblem *view = &problem->view;
    Sensitivity all = {.emit = run->emit, .context = run->context};
    HostProblem depth = {0}, out = {0};
    bool ok = workload_problem(workload, run->mixed[TENSOR_DEPTH], view->align, &depth, err) &&
              workload_problem(workload, run->mixed[TENSOR_OUTPUT], view->align, &out, err) &&
              arrays_init(&all, problem, err);
    if (ok) {
        const BevTensor *const stored[] = {&depth.view.depth, &view->feat, &out.view.out};
        bev_tensor_decode(&depth.view.depth, 0, depth.view.depth.rows, all.depth);
        emit_row(&all, scene, workload, problem, stored, TENSOR_MIXED);
    }
    problem_free(&depth);
    problem_free(&out);
    arrays_free(&all);
    return ok;
}

bool sensitivity_run(const BenchPlan *plan, const BevDtype *mixed,
                     void (*row)(const SensitivityRow *, void *), void *context, Err *err) {
    Sensitivity run = {.emit = row, .context = context, .mixed = mixed};
    BenchPlan once = *plan;
    if (mixed)
        once.dtypes = 1u << mixed[TENSOR_FEATURES];
    return plan_each_problem(plan, visit_problem, &run, err) &&
           (!mixed || plan_each_problem(&once, visit_mixed, &run, err));
}
