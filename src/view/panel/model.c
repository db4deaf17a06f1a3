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
        snprintf(text, sizeof text, "%s %s%s", brief ? "loads" : term_names[term],
                 prediction_about(predicted), text_of_figure(UNIT_US, p.term_us[term]).text);
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
    snprintf(text, size, "%s on %s: %s%s, %.*s", predicted->title, on.text,
             prediction_about(predicted), text_of_figure(UNIT_US, p.latency_us).text,
             (int)strcspn(reason, ":"), reason);
}

/* Writes the predicted traffic: "L2 hits 95.2 % of lookups, DRAM 1.2 MB, 3.8 sectors a request". */
static void prediction_memory(const State *state, const LiveData *live, char *text, size_t size) {
    const PredictedKernel *predicted = prediction_kernel(state, live);
    if (!predicted) {
        snprintf(text, size, "%s", model_follows(&live->job.config) ? "L2 hits n/a" : "");
        return;
    }
    Prediction p = prediction_of(state, live, predicted);
    const char *about = prediction_about(predicted);
    snprintf(text, size, "L2 hits %s%.1f %% of lookups, DRAM %s%s, %s", about, 100 * p.hit_rate,
             about, text_of_unit(UNIT_BYTES, prediction_dram_bytes(p)).text,
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
    return input.model ? chart_make(&input, &err) : NULL;
}

/* Returns the chart of the panel; `show model` prints the panel where no chart is chosen. */
static Chart chart_of(const State *state) {
    return state->chart != CHART_NONE ? state->chart : CHART_MRC;
}

int model_want(Sheet *sheet, const PanelData *data, int width) {
    (void)width;
    ChartSpec *spec = spec_of(sheet, data, chart_of(data->state), 0);
    int rows = spec ? sheet_chart_rows(sheet, spec) : CHART_CELLS_LEAST;
    free(spec);
    return rows + MODEL_WORDS;
}

/* The origin of each chart's figures, a column of its row. */
#define CHART(id, word, title, idea, replays, topic) [CHART_##id] = ORIGIN_##topic,
static const OriginTopic chart_topics[CHART_COUNT] = {CHARTS(CHART)};
#undef CHART

void model_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveData *live = data->live;
    bool unfollowed = live->job.config.kernel && !model_follows(&live->job.config);
    const char *note = unfollowed ? "model, not of this kernel" : model_whose(live);
    Chart chart = chart_of(data->state);
    ChartSpec *spec = spec_of(sheet, data, chart, area.h);
    if (!spec) {
        area = sheet_title(sheet, area, charts[chart].title, note);
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   sheet->pixels ? "simulating the kernel's memory accesses ..." : "n/a");
        return;
    }
    int rows = area.h - MODEL_WORDS;
    sheet_origin(sheet, chart_topics[chart], NULL);
    sheet_chart(sheet, (Area){area.x, area.y, area.w, rows}, spec,
                spec->source ? spec->source : note);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    draw_words(sheet, (Area){area.x, area.y + rows, area.w, MODEL_WORDS}, data);
    free(spec);
}

void curve_draw(Sheet *sheet, Area area, const PanelData *data) {
    ChartSpec *spec = spec_of(sheet, data, CHART_MRC, area.h);
    if (spec)
        sheet_chart(sheet, area, spec, model_whose(data->live));
    else
        sheet_title(sheet, area, charts[CHART_MRC].title, "being simulated");
    free(spec);
}
