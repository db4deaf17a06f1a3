/* SPDX-License-Identifier: MIT */
#include "src/cli/output_chart.h"
#include "src/cli/selection.h"

#include "src/base/units.h"
#include "src/run/machine.h"
#include "src/view/term/cells_sheet.h"
#include "src/view/term/chart_cells.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 80, MAX_BARS = 16 };

static const double TIMED_LAUNCHES = 8; /* the fewest launches of a timing, warm-up included */

void try_progress(const char *what) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s", what, what[0] ? " ..." : "");
}

/* ---- the ladder ------------------------------------------------------------------------------ */

typedef struct {
    const BevKernel *kernel; /* NULL: the learner's kernel */
    Timing timing;
} TimedRow;

/* Whether a kernel is compared: a correct one of the learner's device, but not the reference. */
static bool is_compared(const BevKernel *kernel, bool cuda) {
    bool stands =
        cuda ? kernel->where == BEV_CUDA : kernel->where == BEV_CPU && kernel->counterpart;
    return stands && bev_is_listed(kernel) && !kernel->wrong_on_purpose;
}

/* Times the kernels that the user's kernel is compared with, and then that kernel. */
static bool time_ladder(const Options *options, const TryKernel *kernel, const BevProblem *problem,
                        double limit_s, TimedRow *rows, int *count, Err *err) {
    const TimingOptions *timing = options->quick ? &timing_quick : &timing_default;
    limit_s = TIMED_LAUNCHES * limit_s + timing->max_s;
    bool ok = true;
    *count = 0;
    for (int i = 0; ok && bev_kernels[i] && *count < MAX_BARS - 1; i++)
        if (is_compared(bev_kernels[i], kernel->cuda) &&
            !bev_unsupported(bev_kernels[i], problem)) {
            try_progress(bev_kernels[i]->title);
            rows[*count].kernel = bev_kernels[i];
            ok = try_time(kernel, bev_kernels[i], problem, timing, limit_s,
                          &rows[(*count)++].timing, err);
        }
    try_progress("yours");
    rows[*count].kernel = NULL;
    ok = ok && try_time(kernel, NULL, problem, timing, limit_s, &rows[(*count)++].timing, err);
    try_progress("");
    return ok;
}

static int compare_latencies(const void *a, const void *b) {
    double x = ((const TimedRow *)a)->timing.median_us, y = ((const TimedRow *)b)->timing.median_us;
    return (x > y) - (x < y);
}

/* ---- the chart ------------------------------------------------------------------------------- */

typedef struct {
    ChartSpec spec;
    PlotBar bars[MAX_BARS];
    char subtitle[300];
} Standing;

static const char *const part_names[] = {"ladder", "yours"};
enum { LADDER, YOURS };

/* Returns the end of the axis. The bar of a much slower kernel is cut for readability. */
static double axis_end(const TimedRow *rows, int count) {
    double ladder = 0, all = 0;
    for (int i = 0; i < count; i++) {
        all = fmax(all, rows[i].timing.median_us);
        if (rows[i].kernel)
            ladder = fmax(ladder, rows[i].timing.median_us);
    }
    return 1.02 * fmin(all, 6 * ladder);
}

/* Fills the chart. The rows are in ascending order. */
static void fill_standing(Standing *s, const char *scene, const BevProblem *problem, bool cuda,
                          const TimedRow *rows, int count) {
    Machine machine;
    char on[160];
    const Timing *v2 = NULL;
    double end_us = axis_end(rows, count), unit_us = end_us < 2000 ? 1 : 1000;
    machine_read(&machine);
    for (int i = 0; i < count; i++)
        if (rows[i].kernel && rows[i].kernel->is_baseline)
            v2 = &rows[i].timing;
    for (int i = 0; i < count; i++) {
        const BevKernel *kernel = rows[i].kernel;
        const Timing *timing = &rows[i].timing;
        PlotBar *bar = &s->bars[i];
        *bar = (PlotBar){.label = kernel ? kernel->title : "yours", .strong = !kernel};
        bar->parts[kernel ? LADDER : YOURS] = timing->median_us / unit_us;
        char latency[32], times[32] = "";
        double ratio = v2 ? timing_ratio(v2, timing) : NAN;
        figure_text(UNIT_US, timing->median_us, latency, sizeof latency);
        if (isfinite(ratio))
            snprintf(times, sizeof times, ", %.2f times V2", ratio);
        snprintf(bar->text, sizeof bar->text, "%s%s%s", latency, timing->settled ? "" : "?", times);
    }
    if (cuda)
        snprintf(on, sizeof on, "%s", machine.gpu[0] ? machine.gpu : "the first GPU");
    else
        snprintf(on, sizeof on, "%s, %d threads", machine.cpu, machine.threads);
    snprintf(s->subtitle, sizeof s->subtitle,
             "%.60s, C = %lld, FP32, nearest, caches warm; measured on %s", scene,
             (long long)problem->shape.channels, on);
    s->spec =
        (ChartSpec){.title = "Your kernel beside the ladder",
                    .subtitle = s->subtitle,
                    .note = "Medians of launches in a row, every kernel in a process of its own; "
                            "shorter is better. "
                            "Times V2: its speed as a multiple of V2's. ?: did not settle, "
                            "and has no such ratio.",
                    .x = {.title = unit_us > 1 ? "ms" : "µs", .lo = 0, .hi = end_us / unit_us},
                    .part_names = part_names,
                    .part_count = 2,
                    .bars = s->bars,
                    .bar_count = count};
}

static bool print_standing(const Standing *s, Err *err) {
    Cells cells = {0};
    int rows = chart_cells_want(&s->spec) + 1;
    if (!cells_init(&cells, COLUMNS, rows, err))
        return false;
    cells.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    Sheet sheet = cells_sheet(&cells);
    chart_cells_draw(&sheet, (Area){0, 0, COLUMNS, rows}, &s->spec, "measured");
    char *text = cells_to_text(&cells);
    cells_free(&cells);
    if (!text)
        return err_no_memory(err, "try", "");
    fputs(text, stdout);
    free(text);
    help_wrapped(stdout, s->subtitle, 0, 0);
    help_wrapped(stdout, s->spec.note, 0, 0);
    return true;
}

bool try_ladder(const Options *options, const TryKernel *kernel, const char *scene,
                const BevProblem *problem, double limit_s, Err *err) {
    TimedRow rows[MAX_BARS];
    Standing standing = {.bars = {{0}}};
    int count;
    if (!time_ladder(options, kernel, problem, limit_s, rows, &count, err))
        return false;
    qsort(rows, (size_t)count, sizeof *rows, compare_latencies);
    fill_standing(&standing, scene, problem, kernel->cuda, rows, count);
    return print_standing(&standing, err) &&
           (!options->output || output_chart(options, &standing.spec, options->output, err));
}
