/* SPDX-License-Identifier: MIT */
/* bevscope sensitivity: shows the error that the number format of one tensor, or of a group of its
 * channels, causes alone. The tensor with the largest error comes first. */
#include "src/accuracy/sensitivity.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"

#include <math.h>
#include <stdlib.h>

/* Returns the relative L2 error of a tensor or a group of channels. The norm of the whole grid
 * divides both errors, so that they can be compared. NaN: no value was compared. */
static double harm_of(const SensitivityRow *row) {
    if (!row->error.judged)
        return NAN;
    const bool exact = row->error.error2 == 0; /* also in a grid of zeros, whose norm is 0 */
    return exact ? 0 : sqrt(row->error.error2 / row->grid2);
}

static int compare_harm(const void *a, const void *b) {
    double x = harm_of(a), y = harm_of(b);
    x = isnan(x) ? INFINITY : x;
    y = isnan(y) ? INFINITY : y;
    return (x < y) - (x > y);
}

/* Returns the CUDA kernel whose latencies are shown. */
static const BevKernel *timed_kernel(void) {
    return bev_counterpart(bev_default(BEV_CPU, BEV_FORWARD), BEV_CUDA);
}

/* Adds the row of a tensor or group. `many`: a row stands for several moments. */
static void add_harm_row(Report *report, const RecordedSet *recorded, const SensitivityRow *row,
                         bool many) {
    const bool group = row->channels > 0, mixed = row->tensor == TENSOR_MIXED;
    const bool all = row->tensor == TENSOR_ALL;
    const KernelConfig timed = {timed_kernel(), row->dtype, row->align};
    const RecordedRow *found = NULL; /* only where all tensors have the same format */
    if (all)
        found = recorded_find(recorded, row->scene, row->grid_channels, &timed, NULL);
    const char *dtype = bev_dtypes[row->dtype].name;
    const ShortText three = short_text("%s, %s, %s", bev_dtypes[row->stored[TENSOR_DEPTH]].name,
                                       bev_dtypes[row->stored[TENSOR_FEATURES]].name,
                                       bev_dtypes[row->stored[TENSOR_OUTPUT]].name);
    const char *stored = all     ? dtype
                         : mixed ? three.text
                                 : bev_dtypes[row->stored[row->tensor]].name;
    report_row(report);
    add_text(report, "scene", "scene", row->scene);
    add_text(report, "tensor", "tensor", sensitive_names[row->tensor]);
    if (group)
        add_text(report, "channels", "channels",
                 short_text("%lld-%lld", (long long)row->first_channel,
                            (long long)(row->first_channel + row->channels - 1))
                     .text);
    add_text(report, "dtype", "dtype", mixed ? "mixed" : dtype);
    add_text(report, "stored", "stored", stored);
    add_text(report, "align", "align", bev_aligns[row->align].name);
    add_text(report, "scales", "scales", row->scales);
    add_mb(report, "mb", "MB", 3, row->bytes);
    if (!group)
        add_real(report, "recorded_us", "recorded us", 4, found ? found->median_us : NAN);
    add_real(report, "harm", group ? "of the grid" : "rel L2", 3, harm_of(row));
    add_real(report, "channels_l2", "L2 by channel", 3, row->error.channels_l2);
    add_real(report, "max_abs", "max abs", 3, row->error.max_abs);
    add_real(report, "cosine", "cosine", 8, row->error.cosine);
    add_int(report, "nan_count", NULL, row->error.nan_count);
    add_int(report, "left_out", NULL, row->error.left_out);
    add_int(report, "finite_count", NULL, row->error.finite_count);
    add_int(report, "moments", many ? "moments" : NULL, row->moments);
    add_real(report, "time_s", many ? "max abs at s" : NULL, 4, row->time_s);
}

static bool print_harms(const Options *options, const SensitivityRows *all, Err *err) {
    Report tensors = {.names_to = "align"}, groups = {.names_to = "align"};
    static RecordedSet recorded;
    bool many = false;
    recorded_load_samples(&recorded, NULL); /* after a failure there are no recordings */
    for (int i = 0; i < all->count; i++) {
        const SensitivityRow *row = &all->rows[i];
        many = many || row->moments > 1;
        if (!row->channels)
            output_left_out(row->scene, row->error.left_out, NAN, row->moments);
    }
    qsort(all->rows, (size_t)all->count, sizeof *all->rows, compare_harm);
    for (int i = 0; i < all->count; i++)
        add_harm_row(all->rows[i].channels ? &groups : &tensors, &recorded, &all->rows[i], many);
    const ShortText of_recorded =
        short_text("\nRecorded us: %s with all tensors in one format, on the machine that bench "
                   "--recorded names. MB: the three tensors, no indices.\n",
                   timed_kernel()->title);
    const OutputTable all_tables[] = {
        {.report = &tensors},
        {.above = of_recorded.text},
        {.above = "\nBy groups of channels:\n\n", .report = &groups, .key = "groups"}};
    return output_tables(options, all_tables, 3, json_object(), err);
}

/* Reads three formats, as in "int8,fp8,fp16". */
static bool read_mixed(const char *text, BevDtype mixed[TENSOR_ALL], Err *err) {
    char names[TENSOR_ALL][16], rest;
    bool ok = sscanf(text, "%15[^,],%15[^,],%15[^,]%c", names[0], names[1], names[2], &rest) == 3;
    for (int i = 0; ok && i < TENSOR_ALL; i++) {
        int found = choices_find(CHOICE_DTYPE, names[i]);
        ok = found >= 0;
        mixed[i] = (BevDtype)found;
    }
    return ok || err_set(err, ERR_USAGE, "--mixed",
                         "give those of depth, features and output, such as int8,int8,fp16",
                         "not three number formats: %.60s", text);
}

bool cmd_sensitivity(const Options *options, Err *err) {
    static SensitivityRows rows;
    BenchPlan plan;
    BevDtype mixed[TENSOR_ALL];
    const unsigned usual_formats = BEV_ALL_DTYPES & ~(1u << BEV_FP32); /* FP32 has no error here */
    Options here = *options;
    here.device = "cpu"; /* no kernel runs, so no GPU is searched */
    if (options->mixed && !read_mixed(options->mixed, mixed, err))
        return false;
    return select_plan(&here, usual_formats, 1u << BEV_NEAREST, NULL, 0, &plan, err) &&
           sensitivity_run(&plan, options->mixed ? mixed : NULL, &rows, err) &&
           print_harms(options, &rows, err);
}
