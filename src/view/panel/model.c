/* SPDX-License-Identifier: MIT */
/* Three panels of the memory model. Model: a chart, and below the chart the latency on the chosen
 * GPU with its terms. Curve: the miss ratio curve. Findings: what the user can do next, the largest
 * gain first. */
#include "src/view/chart/live_chart.h"
#include "src/view/panel/panel.h"

#include <stdlib.h>
#include <string.h>

enum { FULL_NAMES_W = 64, CHART_PIXELS_MOST = 60 };

/* Draws the terms of the latency. The terms overlap in time, so each has a bar of its own. */
static void draw_terms(Sheet *sheet, Area row, const char *about, const Prediction *p) {
    enum { WORDS_W = 24, BAR_FROM_W = 32 };
    const int w = row.w / TERM_COUNT;
    const bool brief = row.w < FULL_NAMES_W, bars = w >= BAR_FROM_W;
    for (int term = 0; term < TERM_COUNT; term++) {
        bool limits = term == (int)p->limiter;
        const bool loads = term == TERM_DEPENDENT_LOADS;
        const ShortText text = short_text("%s %s%s", brief && loads ? "loads" : term_names[term],
                                          about, text_of_figure(UNIT_US, p->term_us[term]).text);
        const int text_w = sheet_width(sheet, text.text);
        if (text_w > row.w)
            return;
        Area at = area_columns(&row, bars ? w - 1 : text_w + 1);
        sheet_line(sheet, at, limits ? cell_bold(INK_WARN) : cell_style(INK_TEXT), text.text);
        area_columns(&row, 1);
        if (bars)
            sheet_bar(sheet, area_behind(at, WORDS_W - 1), p->term_us[term], p->term_us[p->limiter],
                      limits ? INK_WARN : INK_MUTED);
    }
}

static void draw_unknown(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->live->job.config;
    const char *why = unknown_reason(UNKNOWN_MODEL, data->live, NULL, BEV_FP32);
    const bool follows = model_follows(config);
    const ShortText gpu = prediction_gpu(data->state);
    sheet_line(sheet, area, cell_bold(INK_ACCENT),
               follows ? short_text("%s on %s: n/a, %s", config->kernel->title, gpu.text, why).text
                       : why);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_TEXT), follows ? "L2 hits n/a" : "");
}

/* Draws three rows. Latency and limit: "V3 large-L2 on RTX A6000: 41.2 us, latency-bound". Traffic:
 * "L2 hits 95.2 % of lookups, DRAM 1.2 MB, 3.8 sectors a request". The terms of the latency. */
static void draw_words(Sheet *sheet, Area area, const PanelData *data) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    char reason[80];
    if (!predicted) {
        draw_unknown(sheet, area, data);
        return;
    }
    const Prediction p = prediction_of(data->state, data->live, predicted);
    const char *about = prediction_about(predicted);
    findings_reason(predicted, &p, 0, reason, sizeof reason);
    reason[strcspn(reason, ":")] = '\0';
    const ShortText us = text_of_figure(UNIT_US, p.latency_us), gpu = prediction_gpu(data->state);
    const ShortText latency =
        short_text("%s on %s: %s%s, %s", predicted->title, gpu.text, about, us.text, reason);
    sheet_line(sheet, area, cell_bold(INK_ACCENT), latency.text);
    ShortText traffic =
        short_text("L2 hits %s%.1f %% of lookups, DRAM %s%s, %s", about, 100 * p.hit_rate, about,
                   text_of_unit(UNIT_BYTES, prediction_dram_bytes(p)).text,
                   prediction_sectors(predicted).text);
    sheet_figures(sheet, area_below(area, 1), INK_TEXT, traffic.text);
    draw_terms(sheet, area_below(area, 2), about, &p);
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
    int rows = !spec           ? CHART_CELLS_LEAST
               : sheet->pixels ? CHART_PIXELS_MOST
                               : sheet->back->chart_rows(spec);
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

/* ---- what to do next ------------------------------------------------------------------------- */

enum { KEY_W = 6, WORD_W = 14, GAIN_W = 8, OTHER_W = 10, EFFECT_W = 18, SENTENCE_FROM_W = 76 };

/* Returns the gain: "V4 ~1.6 times as fast", in a narrow row "1.6 x". The gain of a removed cost
 * is not told while the kernel is replayed only in part. */
static ShortText gain_text(const Advice *advice, bool wide) {
    const char *colon = wide ? ": " : "";
    if (advice->estimate && advice->command.action == ACTION_EXPLAIN)
        return short_text("%s%s", colon, wide ? "its gain is being computed" : "follows");
    const ShortText of = advice->of ? short_text("%s ", advice->of) : (ShortText){""};
    return short_text("%s%s%s%.1f %s", colon, of.text, advice->estimate ? "~" : "",
                      advice->finding.gain, wide ? "times as fast" : "\u00d7");
}

/* Draws an advice: "Enter  an output in fewer bits: 1.6 times as fast  (opens a lesson)". A narrow
 * row has the gain in a column of its own. Enter opens the first advice, a click opens any. */
static void draw_advice(Sheet *sheet, Area row, const Advice *advice, bool first) {
    const Command *command = &advice->command;
    const bool wide = row.w >= SENTENCE_FROM_W;
    const int key_w = wide ? WORD_W : KEY_W, gain_w = advice->of ? OTHER_W : GAIN_W;
    const ShortText word = short_text(":%s %s", keys[command->action].word, command->argument);
    sheet_spot(sheet, row, command->action, 0, command->argument);
    const char *how = wide && sheet_width(sheet, word.text) < key_w ? word.text : "click";
    sheet_line(sheet, area_columns(&row, key_w), cell_style(first ? INK_ACCENT : INK_MUTED),
               first ? "Enter" : how);
    ShortText what = short_text("%s", advice->finding.advice);
    const ShortText gain = gain_text(advice, wide);
    char *aside = strstr(what.text, " (");
    const int room = row.w - (wide ? sheet_width(sheet, gain.text) : gain_w);
    if (aside && sheet_width(sheet, what.text) > room)
        *aside = '\0';
    Area advised = {row.x, row.y, room, 1};
    area_columns(&row, sheet_line(sheet, advised, cell_style(INK_TEXT), what.text));
    if (!wide)
        sheet_right(sheet, row, cell_bold(INK_TEXT), gain.text);
    else
        area_columns(&row, sheet_line(sheet, row, cell_bold(INK_TEXT), gain.text));
    if (wide && row.w >= EFFECT_W)
        sheet_right(sheet, row, cell_style(INK_MUTED),
                    command->action == ACTION_EXPLAIN ? "(opens a lesson)" : "(tries it)");
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Advice advice[FINDINGS_MAX + 1];
    const int count = live_advice(data->state, data->live, advice);
    area = sheet_title(
        sheet, area, "What to do next",
        short_text("estimated gain, model of %s", prediction_gpu(data->state).text).text);
    for (int i = 0; i < count && i < area.h; i++)
        draw_advice(sheet, (Area){area.x, area.y + i, area.w, 1}, &advice[i], i == 0);
    const MemoryModel *model = data->live->model;
    const KernelConfig *config = &data->state->job.config;
    const bool simulated = model && model->dtype == config->dtype && model->align == config->align;
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   simulated ? "no cost stands out: compare formats (d)" : "findings follow");
}
