/* SPDX-License-Identifier: MIT */
#include "src/accuracy/sensitivity.h"

#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"
#include "src/accuracy/fp64.h"

#include <stdlib.h>
#include <string.h>

const char *const sensitive_names[TENSOR_COUNT] = {"depth", "features", "output", "all", "mixed"};

/* The state of sensitivity_run, the problem that is visited, and the arrays of this problem. */
typedef struct {
    SensitivityRows *rows;
    const BevDtype *mixed; /* NULL: the rows of each tensor are wanted */
    const char *scene;
    Workload *workload;
    const HostProblem *problem;
    double *want, *got;  /* the grid in FP64, of the original and of the decoded values */
    float *depth, *feat; /* the decoded tensors */
    float *values;       /* the grid that is judged */
    float *group;        /* a group of channels of `values` */
    double *group_want;  /* these channels of `want` */
    int32_t *terms;
    CpuArrays arrays; /* all but `want` and `terms` */
} Sensitivity;

static int64_t element_count(const BevTensor *tensor) {
    return tensor->rows * tensor->row_len;
}

static bool arrays_init(Sensitivity *all, Err *err) {
    const BevProblem *view = &all->problem->view;
    const int64_t grid = element_count(&view->out), group = view->out.rows * SENSITIVITY_GROUP;
    CpuArrays *arrays = &all->arrays;
    all->got = cpu_take(arrays, grid, sizeof *all->got);
    all->values = cpu_take(arrays, grid, sizeof *all->values);
    all->depth = cpu_take(arrays, element_count(&view->depth), sizeof *all->depth);
    all->feat = cpu_take(arrays, element_count(&view->feat), sizeof *all->feat);
    all->group = cpu_take(arrays, group, sizeof *all->group);
    all->group_want = cpu_take(arrays, group, sizeof *all->group_want);
    if (arrays->failed)
        return err_no_memory(err, "sensitivity", "choose a smaller scene");
    all->want = fp64_of(all->problem, err);
    all->terms = all->want ? gate_terms(view, err) : NULL;
    if (!all->terms)
        return false;
    bev_tensor_decode(&view->depth, 0, view->depth.rows, all->depth);
    bev_tensor_decode(&view->feat, 0, view->feat.rows, all->feat);
    return true;
}

/* Returns the error of an FP32 grid with `channels` channels. */
static FormatError grid_error(const Sensitivity *all, int64_t channels, const float *values,
                              const double *want) {
    BevProblem judged = all->problem->view;
    judged.out =
        (BevTensor){.dtype = BEV_FP32, .rows = judged.out.rows, .row_len = channels, .scale = 1};
    return format_error(&judged, values, want, all->terms);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_same_row(const SensitivityRow *a, const SensitivityRow *b) {
    return a->dtype == b->dtype && a->align == b->align && a->tensor == b->tensor &&
           a->first_channel == b->first_channel && a->channels == b->channels &&
           !strcmp(a->scene, b->scene);
}

/* Adds the error of a moment to the row of the same tensor and group at other moments. */
static bool add_moment(SensitivityRows *all, const SensitivityRow *moment, Err *err) {
    for (int i = all->count; i-- > 0;) {
        SensitivityRow *sum = &all->rows[i];
        if (!is_same_row(sum, moment))
            continue;
        if (moment->error.max_abs > sum->error.max_abs)
            sum->time_s = moment->time_s;
        format_error_add(&sum->error, &moment->error);
        sum->grid2 += moment->grid2;
        sum->moments++;
        return true;
    }
    SensitivityRow *more = realloc(all->rows, (size_t)(all->count + 1) * sizeof *more);
    if (!more)
        return err_no_memory(err, "sensitivity", "choose fewer scenes");
    all->rows = more;
    more[all->count++] = *moment;
    return true;
}

/* Adds a row for each group of channels. Pooling does not mix channels. */
static bool add_groups(const Sensitivity *all, SensitivityRow row, Err *err) {
    const int64_t channels = row.grid_channels, rows = all->problem->view.out.rows;
    const double bytes = row.bytes / (double)channels;
    bool ok = true;
    for (int64_t first = 0; ok && first < channels; first += SENSITIVITY_GROUP) {
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
        row.error = grid_error(all, count, all->group, all->group_want);
        ok = add_moment(all->rows, &row, err);
    }
    return ok;
}

/* Pools into all->values. `tensor` is decoded from its format, all other tensors are originals.
 * `out` is memory for the codes of the output. */
static void pool_with_format(const Sensitivity *all, const BevTensor *out, SensitiveTensor tensor) {
    const BevProblem *view = &all->problem->view;
    const double *grid = all->want;
    Features features = all->problem->features;
    if (tensor == TENSOR_DEPTH || tensor >= TENSOR_ALL)
        features.depth = all->depth;
    if (tensor == TENSOR_FEATURES || tensor >= TENSOR_ALL)
        features.feat = all->feat;
    if (tensor != TENSOR_OUTPUT) {
        fp64_pool(&view->shape, &view->map, &features, NULL, all->got);
        grid = all->got;
    }
    for (int64_t i = 0; i < element_count(out); i++)
        all->values[i] = (float)grid[i];
    if (tensor == TENSOR_OUTPUT || tensor >= TENSOR_ALL) {
        bev_tensor_encode(out, all->values);
        bev_tensor_decode(out, 0, out->rows, all->values);
    }
}

/* Pools, judges and adds a row. For features and output the groups of channels follow. `stored`
 * has the three tensors as they are stored. */
static bool add_row(const Sensitivity *all, const BevTensor *const stored[TENSOR_ALL],
                    SensitiveTensor tensor, Err *err) {
    const BevProblem *view = &all->problem->view;
    SensitivityRow row = {.dtype = view->dtype,
                          .align = view->align,
                          .tensor = tensor,
                          .grid_channels = view->out.row_len,
                          .moments = 1,
                          .time_s = all->workload->job.time_s};
    snprintf(row.scene, sizeof row.scene, "%s", all->scene);
    snprintf(row.scales, sizeof row.scales, "%s",
             ranges_label(all->workload->features->scales, view->dtype));
    for (int i = 0; i < TENSOR_ALL; i++) {
        BevDtype dtype = stored[i]->dtype;
        row.stored[i] = i != TENSOR_OUTPUT && bev_is_whole(dtype) ? BEV_INT8 : dtype;
        if (tensor >= TENSOR_ALL || tensor == (SensitiveTensor)i)
            row.bytes += (double)bev_tensor_bytes(stored[i]);
    }
    pool_with_format(all, stored[TENSOR_OUTPUT], tensor);
    row.error = grid_error(all, row.grid_channels, all->values, all->want);
    row.grid2 = row.error.want2;
    const bool grouped = tensor == TENSOR_FEATURES || tensor == TENSOR_OUTPUT;
    return add_moment(all->rows, &row, err) && (!grouped || add_groups(all, row, err));
}

/* Adds the row of TENSOR_MIXED. The problem has the features' format. */
static bool add_mixed(const Sensitivity *all, Err *err) {
    const BevProblem *view = &all->problem->view;
    HostProblem depth = {0}, out = {0};
    bool ok = workload_problem(all->workload, all->mixed[TENSOR_DEPTH], view->align, &depth, err) &&
              workload_problem(all->workload, all->mixed[TENSOR_OUTPUT], view->align, &out, err);
    if (ok) {
        const BevTensor *const stored[] = {&depth.view.depth, &view->feat, &out.view.out};
        bev_tensor_decode(&depth.view.depth, 0, depth.view.depth.rows, all->depth);
        ok = add_row(all, stored, TENSOR_MIXED, err);
    }
    problem_free(&depth);
    problem_free(&out);
    return ok;
}

/* Adds the rows of each tensor alone and of all three, or the row of the mixed formats. */
static bool visit_problem(void *context, const char *scene, Workload *workload,
                          const HostProblem *problem, Err *err) {
    const BevProblem *view = &problem->view;
    const BevTensor *const stored[] = {&view->depth, &view->feat, &view->out};
    Sensitivity all = *(const Sensitivity *)context;
    all.scene = scene;
    all.workload = workload;
    all.problem = problem;
    bool ok = arrays_init(&all, err);
    for (SensitiveTensor tensor = 0; ok && !all.mixed && tensor <= TENSOR_ALL; tensor++)
        ok = add_row(&all, stored, tensor, err);
    ok = ok && (!all.mixed || add_mixed(&all, err));
    cpu_free(&all.arrays);
    free(all.want);
    free(all.terms);
    return ok;
}

bool sensitivity_run(const BenchPlan *plan, const BevDtype *mixed, SensitivityRows *rows,
                     Err *err) {
    Sensitivity run = {.rows = rows};
    if (!plan_each_problem(plan, visit_problem, &run, err))
        return false;
    BenchPlan once = *plan;
    run.mixed = mixed;
    once.dtypes = mixed ? 1u << mixed[TENSOR_FEATURES] : 0;
    return !mixed || plan_each_problem(&once, visit_problem, &run, err);
}
