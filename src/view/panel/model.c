/* SPDX-License-Identifier: MIT */
/* The memory model of the selection: the state's chart, and below it the latency on the what-if
 * GPU, with its terms. */
#include "src/view/chart/live_chart.h"
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_NAMES_W = 64 };

/* Draws the terms of the latency. They overlap in time: each has a bar of its own. */
static void draw_terms(Sheet *sheet, Area row, const PanelData *data) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    int w = row.w / TERM_COUNT, bar_w = w >= 32 ? w - 24 : 0, x = row.x;
    if (!predicted)
        return;
    Prediction p = prediction_of(data->state, data->live, predicted);
    for (int term = 0; term < TERM_COUNT; term++) {
        bool limits = term == (int)p.limiter;
        CellStyle style = limits ? cell_bold(INK_WARN) : cell_style(INK_TEXT);
        char text[48];
        bool brief = term == TERM_DEPENDENT_LOADS && row.w < FULL_NAMES_W;
        snprintf(text, sizeof text, "%s %s", brief ? "loads" : term_names[term],
                 text_of_figure(UNIT_US, p.term_us[term]).text);
        if (sheet_width(sheet, text) > row.x + row.w - x)
            return;
        sheet_text(sheet, x, row.y, row.x + row.w - x, style, text);
        if (bar_w)
            sheet_bar(sheet, x + 23, row.y, bar_w, p.term_us[term], p.term_us[p.limiter],
                      limits ? INK_WARN : INK_MUTED);
        x += bar_w ? w : sheet_width(sheet, text) + 2;
    }
}

/* Writes the latency and its limit: "V3 large-L2 on RTX A6000: 41.2 us, latency-bound". */
static void prediction_latency(const State *state, const LiveData *live, char *text, size_t size) {
    const PredictedKernel *predicted = prediction_kernel(state, live);
    char reason[80];
    const ShortText on = prediction_gpu(state);
    if (!predicted && !model_follows(&live->job.config)) {
        snprintf(text, size, "%s", unknown_reason(UNKNOWN_MODEL, live, NULL, BEV_FP32));
        return;
    }
    if (!predicted) {
        snprintf(text, size, "%s on %s: n/a, %s", live->job.config.kernel->title, on.text,
                 unknown_reason(UNKNOWN_MODEL, live, NULL, BEV_FP32));
        return;
    }
    Prediction p = prediction_of(state, live, predicted);
    findings_reason(predicted, &p, 0, reason, sizeof reason);
    snprintf(text, size, "%s on %s: %s, %.*s", predicted->title, on.text,
             text_of_figure(UNIT_US, p.latency_us).text, (int)strcspn(reason, ":"), reason);
}

/* Writes the predicted traffic: "L2 hits 95.2 % of lookups, DRAM 1.2 MB, 3.8 sectors a request". */
static void prediction_memory(const State *state, const LiveData *live, char *text, size_t size) {
    const PredictedKernel *predicted = prediction_kernel(state, live);
    if (!predicted) {
        snprintf(text, size, "%s", model_follows(&live->job.config) ? "L2 hits n/a" : "");
        return;
    }
    Prediction p = prediction_of(state, live, predicted);
    snprintf(text, size, "L2 hits %.1f %% of lookups, DRAM %s, %s", 100 * p.hit_rate,
             text_of_unit(UNIT_BYTES, prediction_dram_bytes(p)).text,
             prediction_sectors(predicted).text);
}

static void draw_words(Sheet *sheet, Area area, const PanelData *data) {
    char text[160];
    prediction_latency(data->state, data->live, text, sizeof text);
    sheet_line(sheet, area, cell_bold(INK_ACCENT), text);
    prediction_memory(data->state, data->live, text, sizeof text);
    sheet_figures(sheet, (Area){area.x, area.y + 1, area.w, 1}, INK_TEXT, text);
    draw_terms(sheet, (Area){area.x, area.y + 2, area.w, 1}, data);
}

/* Returns the spec of a chart; NULL: nothing is predicted yet, or no memory. free() it. */
static ChartSpec *spec_of(const Sheet *sheet, const PanelData *data, Chart chart, int rows) {
    enum { BOX_ROWS = 24 };
    Err err;
    FigureTheme theme = data->state->light ? THEME_LIGHT : THEME_DARK;
    ChartRoom room = sheet->pixels && rows >= BOX_ROWS ? ROOM_BOX : ROOM_LOW;
    ChartInput input = chart_live_input(data->state, data->live, room, theme);
    input.chart = chart;
    bool chosen = input.model && input.chart != CHART_NONE;
    return chosen ? chart_make(&input, &err) : NULL;
}

int model_want(Sheet *sheet, const PanelData *data, int width) {
    (void)width;
    ChartSpec *spec = spec_of(sheet, data, data->state->chart, 0);
    int rows = spec ? sheet_chart_rows(sheet, spec) : CHART_CELLS_LEAST;
    free(spec);
    return rows + MODEL_WORDS;
}

/* Writes "V2 CHW, recorded: H200, 2026-11-20" of a label such as "NVIDIA H200, ..., 2026-11-20". A
 * GPU that is known has its short title, another one the label's text up to the comma. */
static void timeline_note(const PanelData *data, char *text, size_t size) {
    const BevKernel *row = model_row(data->live->job.config.kernel);
    const Timeline *t = timeline_find(&data->live->model->timelines, data->state->scene.name,
                                      row ? row->name : NULL);
    if (!t) {
        snprintf(text, size, "not recorded");
        return;
    }
    const Gpu *gpu = gpu_of_device(t->label);
    const BevKernel *kernel = bev_kernel_find(t->kernel);
    const char *device = gpu ? gpu->title : t->label, *date = strrchr(t->label, ' ');
    snprintf(text, size, "%s, recorded: %.*s,%s", kernel ? kernel->title : t->kernel,
             (int)strcspn(device, ","), device, date ? date : "");
}

void model_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveData *live = data->live;
    bool unfollowed = live->job.config.kernel && !model_follows(&live->job.config);
    const char *note = unfollowed ? "model, not of this kernel" : model_whose(live);
    ChartSpec *spec = spec_of(sheet, data, data->state->chart, area.h);
    if (!spec) {
        area = sheet_title(sheet, area, chart_title(data->state->chart), note);
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   sheet->pixels ? "simulating the kernel's memory accesses ..." : "n/a");
        return;
    }
    int rows = area.h - MODEL_WORDS;
    bool network = data->state->chart == CHART_NETWORK;
    bool timeline = data->state->chart == CHART_TIMELINE;
    char when[120];
    timeline_note(data, when, sizeof when);
    sheet_origin(sheet, network ? ORIGIN_NETWORK : timeline ? ORIGIN_TIMELINE : ORIGIN_CHART, NULL);
    sheet_chart(sheet, (Area){area.x, area.y, area.w, rows}, spec,
                network    ? "published, and model"
                : timeline ? when
                           : note);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    draw_words(sheet, (Area){area.x, area.y + rows, area.w, MODEL_WORDS}, data);
    free(spec);
}

void curve_draw(Sheet *sheet, Area area, const PanelData *data) {
    ChartSpec *spec = spec_of(sheet, data, CHART_MRC, area.h);
    if (spec)
        sheet_chart(sheet, area, spec, model_whose(data->live));
    else
        sheet_title(sheet, area, chart_title(CHART_MRC), "being simulated");
    free(spec);
}
