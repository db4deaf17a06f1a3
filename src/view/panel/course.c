/* Latency over time, of the selection and its baseline; the selection's tail, and the sensors. */
#include "src/view/bev/stats.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A recorded latency is one figure, without a history. */
static bool course_shown(const PanelData *data) {
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

static void chart_draw(Sheet *sheet, Area area, const PanelData *data) {
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

enum { TAIL_TEXT = 256, LINE_ROWS = 2 };

/* "p50 5.10 µs, p90 5.30 µs, ..., 12,345 launches one by one, 32 min" */
static void tail_text(const LiveTail *tail, char text[TAIL_TEXT]) {
    char number[32];
    int at = 0;
    for (int i = 0; i < TAIL_QUANTILES; i++) {
        figure_text(UNIT_US, tail->quantile_us[i], number, sizeof number);
        at +=
            snprintf(text + at, TAIL_TEXT - (size_t)at, "%s %s, ", tail_quantiles[i].title, number);
    }
    unit_text(UNIT_COUNT, (double)tail->launches, number, sizeof number);
    snprintf(text + at, TAIL_TEXT - (size_t)at, "%s single launches, %.0f min", number,
             tail->minutes);
}

static bool holds(const LiveTail *tail) {
    return tail->held > 0;
}

/* "1,980 MHz (least 1,695), at most 71°C, throttle power cap 12 of 1,920 s" */
static void sensors_text(const LiveTail *tail, char text[TAIL_TEXT]) {
    int at = isfinite(tail->clock_mhz) ? snprintf(text, TAIL_TEXT, "%.0f MHz (least %.0f)",
                                                  tail->clock_mhz, tail->least_clock_mhz)
                                       : snprintf(text, TAIL_TEXT, "clock n/a");
    at += isfinite(tail->temperature_c)
              ? snprintf(text + at, TAIL_TEXT - (size_t)at, ", at most %.0f\u00b0C",
                         tail->temperature_c)
              : snprintf(text + at, TAIL_TEXT - (size_t)at, ", temperature n/a");
    at += snprintf(text + at, TAIL_TEXT - (size_t)at, ", throttle %s",
                   tail->throttle[0] ? tail->throttle : "n/a");
    if (holds(tail))
        at +=
            snprintf(text + at, TAIL_TEXT - (size_t)at, " %d of %d s", tail->held, tail->readings);
    if (tail->missing)
        snprintf(text + at, TAIL_TEXT - (size_t)at, ": %s", tail->missing);
}

/* A line of figures in so many rows; in one row as many of them as there is room for. */
static int line_rows(Sheet *sheet, int width, const char *text) {
    return sheet_paragraph_rows(sheet, (Area){0, 0, width, LINE_ROWS}, INK_TEXT, text);
}

static void line_draw(Sheet *sheet, Area area, Ink ink, char text[TAIL_TEXT]) {
    if (area.h > 1)
        sheet_paragraph(sheet, area, ink, text);
    else
        sheet_figures(sheet, area, ink, text);
}

static int tail_rows(Sheet *sheet, const LiveTail *tail, int width) {
    char text[TAIL_TEXT];
    int rows = 0;
    if (!tail->launches)
        return 0;
    tail_text(tail, text);
    rows += line_rows(sheet, width, text);
    sensors_text(tail, text);
    return rows + line_rows(sheet, width, text);
}

static void tail_draw(Sheet *sheet, Area area, const LiveTail *tail) {
    bool roomy = tail_rows(sheet, tail, area.w) <= area.h;
    char text[TAIL_TEXT];
    sheet_origin(sheet, ORIGIN_TAIL, NULL);
    tail_text(tail, text);
    int rows = roomy ? line_rows(sheet, area.w, text) : 1;
    line_draw(sheet, (Area){area.x, area.y, area.w, rows}, INK_TEXT, text);
    sheet_origin(sheet, ORIGIN_DEVICE, NULL);
    sensors_text(tail, text);
    line_draw(sheet, (Area){area.x, area.y + rows, area.w, roomy ? area.h - rows : 1},
              holds(tail) ? INK_WARN : INK_MUTED, text);
}

enum { CHART_ROWS = 9 };

static int course_want(Sheet *sheet, const PanelData *data, int width) {
    return CHART_ROWS + tail_rows(sheet, &data->live->tail, width);
}

/* Where rows are few, the tail alone. */
static void course_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveTail *tail = &data->live->tail;
    int under = tail_rows(sheet, tail, area.w), chart = area.h - under;
    if (!under || chart >= CHART_CELLS_LEAST)
        chart_draw(sheet, (Area){area.x, area.y, area.w, chart}, data);
    else
        chart = sheet_title(sheet, area, "Latency over time", "").y - area.y;
    if (under)
        tail_draw(sheet, (Area){area.x, area.y + chart, area.w, area.h - chart}, tail);
}

const Panel course_panel = {.origin = ORIGIN_LATENCY,
                            .menu = "kernel ",
                            .point = PANEL_NONE,
                            .fold = 1,
                            .spare = true,
                            .grow = 8,
                            .height = 3,
                            .want = course_want,
                            .shown = course_shown,
                            .draw = course_draw};
