/* Latency over time, of the selection and its baseline. */
#include "src/view/bev/stats.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <string.h>

/* A recorded latency is one figure, without a history. */
bool course_shown(const PanelData *data) {
    const LiveKernel *selected = live_kernel(data->live, data->live->job.config.kernel);
    return selected && selected->median_us.source != SOURCE_RECORDED && selected->history_count > 1;
}

/* 90 % of the values lie below: one slow launch must not flatten the curve. */
static double usual_us(const LiveKernel *row) {
    float values[LIVE_HISTORY];
    if (!row || !row->history_count)
        return 0;
    size_t count = (size_t)row->history_count;
    memcpy(values, row->history_us, count * sizeof *values);
    return nth_smallest(values, count, (count - 1) * 9 / 10);
}

static double newest_min(const LiveKernel *row) {
    return row && row->history_count ? row->history_min[row->history_count - 1] : 0;
}

static double oldest_min(const LiveKernel *row, double now_min) {
    return row && row->history_count ? row->history_min[0] : now_min;
}

/* Room above the usual latencies, up to a number of two digits. */
static double axis_top_us(double usual) {
    double top = 1.3 * usual, digit = usual > 0 ? pow(10, floor(log10(top)) - 1) : 1;
    return fmax(ceil(top / digit), 1) * digit;
}

/* The newest measurement of both kernels stands at 0. */
static PlotSeries series_of(const LiveKernel *row, bool selected, double x[LIVE_HISTORY],
                            double y[LIVE_HISTORY], double top_us, double now_min) {
    for (int i = 0; i < row->history_count; i++) {
        x[i] = row->history_min[i] - now_min;
        y[i] = fmin(row->history_us[i], top_us);
    }
    return (PlotSeries){.name = row->kernel->title,
                        .x = x,
                        .y = y,
                        .count = row->history_count,
                        .strong = selected,
                        .baseline = !selected};
}

static const double LEAST_MIN = 0.5; /* the shortest axis */

void course_draw(Sheet *sheet, Area area, const PanelData *data) {
    const Job *job = &data->live->job;
    const LiveKernel *rows[] = {live_kernel(data->live, job->baseline.kernel),
                                live_kernel(data->live, job->config.kernel)};
    double top_us = axis_top_us(fmax(usual_us(rows[0]), usual_us(rows[1])));
    double now_min = fmax(newest_min(rows[0]), newest_min(rows[1]));
    double first = fmin(oldest_min(rows[0], now_min), oldest_min(rows[1], now_min)) - now_min;
    double x[2][LIVE_HISTORY], y[2][LIVE_HISTORY];
    PlotSeries series[2];
    int count = 0;
    for (int i = rows[0] == rows[1]; i < 2; i++)
        if (rows[i] && rows[i]->history_count)
            series[count++] = series_of(rows[i], i == 1, x[i], y[i], top_us, now_min);
    const ChartSpec spec = {.title = "Latency over time",
                            .x = {.title = "minutes", .lo = fmin(first, -LEAST_MIN), .hi = 0},
                            .y = {.title = "µs", .lo = 0, .hi = top_us},
                            .series = series,
                            .series_count = count,
                            .theme = sheet->light ? THEME_LIGHT : THEME_DARK};
    sheet_chart(sheet, area, &spec, "");
}
