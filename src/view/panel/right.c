/* SPDX-License-Identifier: MIT */
/* Is it right? The largest error of each format on one logarithmic axis, beside the published
 * limit. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_ROWS = 3, LEAST_ROWS = 3, NAMED_W = 70 };
static const double LEAST = 1e-7, MOST = 10;

static int column_at(Area area, double error) {
    double share = log(fmin(fmax(error, LEAST), MOST) / LEAST) / log(MOST / LEAST);
    return area.x + (int)lround(share * (area.w - 1));
}

/* Draws the powers of ten of the error axis. 1e-2, NVIDIA's tolerance, is bold. */
static void draw_axis(Sheet *sheet, Area area) {
    char text[16];
    int free_from = area.x;
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    for (int power = -7; power <= 1; power++) {
        int x = column_at(area, pow(10, power));
        snprintf(text, sizeof text, power == 0 ? "1" : power == 1 ? "10" : "1e%d", power);
        if (power == -2 && area.w >= NAMED_W)
            snprintf(text, sizeof text, "1e-2 NVIDIA");
        int w = sheet_width(sheet, text), at = x + w > area.x + area.w ? area.x + area.w - w : x;
        if (at < free_from || (power % 2 == 0 && power != -2))
            continue;
        free_from = at + w + 1;
        sheet_text(sheet, at, area.y, w, power == -2 ? cell_bold(INK_TITLE) : cell_style(INK_MUTED),
                   text);
    }
}

/* Draws a format: its sign at its error, its name beside the sign, in the first row where both
 * places are free. */
static void draw_format(Sheet *sheet, Area area, const PanelData *data, BevDtype dtype,
                        int free_from[LABEL_ROWS], bool on_limit[LABEL_ROWS]) {
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const bool selected = dtype == data->state->job.config.dtype;
    char text[24];
    const char *sign = selected ? "\u25cf" : "\u25cb";
    snprintf(text, sizeof text, "%s%s", sign, bev_dtypes[dtype].title);
    int x = column_at(area, accuracy->max_abs), w = sheet_width(sheet, text);
    int limit = column_at(area, LIVE_TOLERANCE), row = 0;
    bool left = x + w > area.x + area.w || (x < limit && x + w > limit);
    int begin = left ? x - w + 1 : x;
    while (row < LABEL_ROWS && begin < free_from[row])
        row++;
    if (row == LABEL_ROWS || 1 + row >= area.h)
        return;
    free_from[row] = begin + w + 1;
    on_limit[row] |= begin <= limit && limit < begin + w;
    CellStyle style = {.ink = selected ? INK_ACCENT : INK_TEXT,
                       .attributes = selected ? CELL_BOLD : 0};
    sheet_origin(sheet, ORIGIN_ERROR, NULL);
    sheet->origin.dtype = dtype;
    int y = area.y + 1 + row;
    if (left)
        snprintf(text, sizeof text, "%s%s", bev_dtypes[dtype].title, sign);
    sheet_right(sheet, begin, y, w, style, text);
    sheet_figure(sheet, (Area){begin, y, w, 1});
    sheet_spot(sheet, (Area){begin, y, w, 1}, ACTION_DTYPE, 0, bev_dtypes[dtype].name);
}

/* Returns what is wrong, or why there is no verdict. NULL: all gates that have run pass. */
static const char *fails_of(const LiveAccuracy *accuracy) {
    const bool format_fails = accuracy->gate_b == LIVE_FAIL || accuracy->moments.fails;
    return !accuracy->source || accuracy->stale          ? "being judged"
           : accuracy->gate_a == LIVE_FAIL               ? "gate A fails: the kernel is wrong"
           : format_fails                                ? "gate B fails: the format"
           : accuracy->gate_c == LIVE_FAIL               ? "gate C fails: the kernel is wrong"
           : !isfinite(live_largest_error(accuracy)) ? "not judged: too large"
                                                         : NULL;
}

/* Keeps the text if it fits into `width` and a longer one was not kept before. */
static bool keeps(const Sheet *sheet, int width, const char *text, char *kept, size_t size) {
    const bool fits = !kept[0] && sheet_width(sheet, text) <= width;
    if (fits)
        snprintf(kept, size, "%s", text);
    return fits;
}

/* Writes two verdicts into `width`: whether the kernel is correct, then whether the format is
 * within the tolerance. Where the width is small, the last alone; "" if nothing fits. */
static void verdict_text(const Sheet *sheet, int width, const PanelData *data, char *text,
                         size_t size) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *accuracy = &data->live->accuracy[config->dtype];
    const SceneFacts *scene = &data->state->scene;
    const LiveVerdict tolerance = live_tolerance(scene, accuracy);
    const char *name = bev_dtypes[config->dtype].title, *fails = fails_of(accuracy);
    const char *within = tolerance == LIVE_FAIL   ? ", above 1e-2"
                         : tolerance == LIVE_PASS ? ", within 1e-2"
                                                  : "";
    char at[64], moments[128], one[300], kernel[96];
    text[0] = '\0';
    if (fails) {
        keeps(sheet, width, fails, text, size);
        snprintf(one, sizeof one, "%.*s", (int)strcspn(fails, ":"), fails);
        keeps(sheet, width, one, text, size);
        return;
    }
    live_error_text(scene, accuracy, at, sizeof at);
    live_moments_text(scene, accuracy, moments, sizeof moments);
    snprintf(kernel, sizeof kernel, "%s %s", config->kernel->title,
             !accuracy->gate_a || !accuracy->gate_c ? "is being judged" : "is correct");
    snprintf(one, sizeof one, "%s. %s itself errs by %s%s%s", kernel, name, at, within, moments);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%s. %s: %s%s%s", kernel, name, at, within, moments);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%s. %s: %s%s", kernel, name, at, within);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%s. %s: %.*s%s", kernel, name, (int)strcspn(at, ","), at, within);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%.*s%s", (int)strcspn(at, ","), at, within);
    keeps(sheet, width, one, text, size);
}

/* Writes the head into `width`: the kernel, the moment of the dots, and the error at the moment
 * that is shown. */
static void note_text(const Sheet *sheet, int width, const PanelData *data, char *text,
                      size_t size) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *selected = &data->live->accuracy[config->dtype];
    const SceneFacts *scene = &data->state->scene;
    const char *where = config->kernel->where == BEV_CPU ? "CPU" : "GPU";
    char here[96] = "", one[200];
    ShortText moment = {""};
    const bool moves = selected->source && scene_moves(scene);
    text[0] = '\0';
    if (moves)
        moment = live_moment_text(scene, selected->time_s);
    if (moves && !data->state->playing && selected->moments.paused &&
        selected->moments.here_s == data->live->frame.time_s) {
        snprintf(here, sizeof here, "; here, at %s, %s",
                 live_moment_text(scene, selected->moments.here_s).text,
                 text_of_unit(UNIT_ERROR, selected->moments.here).text);
    }
    snprintf(one, sizeof one, "%s on this %s: errors against FP64%s%s%s", config->kernel->title,
             where, moves ? " at " : "", moment.text, here);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%s on this %s%s%s%s", config->kernel->title, where,
             moves ? ", at " : "", moment.text, here);
    keeps(sheet, width, one, text, size);
    if (here[0]) {
        snprintf(one, sizeof one, "at %s%s", moment.text, here);
        keeps(sheet, width, one, text, size);
    }
    snprintf(one, sizeof one, "%s on this %s%s%s", config->kernel->title, where,
             moves ? ", at " : "", moment.text);
    keeps(sheet, width, one, text, size);
    snprintf(one, sizeof one, "%s on this %s", config->kernel->title, where);
    keeps(sheet, width, one, text, size);
}

void right_draw(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *selected = &data->live->accuracy[config->dtype];
    const char *title = "Is it right?";
    int free_from[LABEL_ROWS] = {area.x, area.x, area.x};
    bool on_limit[LABEL_ROWS] = {false}, sentence = area.h >= LABEL_ROWS + 3;
    const int room = area.w - sheet_width(sheet, title) - 4;
    char note[200], verdict[300];
    sheet->origin.dtype = config->dtype;
    if (sentence)
        note_text(sheet, room, data, note, sizeof note);
    else
        verdict_text(sheet, room, data, note, sizeof note);
    verdict_text(sheet, area.w, data, verdict, sizeof verdict);
    if (area.h < LEAST_ROWS && !note[0]) /* no axis */
        sheet_line(sheet, area_below(area, 1), cell_style(INK_TEXT), verdict);
    area = sheet_title(sheet, area, title, note);
    if (area.h < LEAST_ROWS - 1)
        return;
    if (sentence)
        sheet_figures(sheet, (Area){area.x, area.y + LABEL_ROWS + 1, area.w, 1}, INK_TEXT, verdict);
    draw_axis(sheet, area);
    bool drawn[BEV_DTYPE_COUNT] = {false};
    for (int n = 0; n < BEV_DTYPE_COUNT; n++) { /* the smallest error first */
        int next = -1;
        for (int i = 0; i < BEV_DTYPE_COUNT; i++) {
            const LiveAccuracy *one = &data->live->accuracy[i];
            if (!drawn[i] && one->source && isfinite(one->max_abs) &&
                one->time_s == selected->time_s &&
                (next < 0 || one->max_abs < data->live->accuracy[next].max_abs))
                next = i;
        }
        if (next < 0)
            break;
        drawn[next] = true;
        draw_format(sheet, area, data, (BevDtype)next, free_from, on_limit);
    }
    for (int row = 0; row < LABEL_ROWS && 1 + row < area.h; row++)
        if (!on_limit[row])
            sheet_sign(sheet, column_at(area, LIVE_TOLERANCE), area.y + 1 + row,
                       sheet->pixels ? '|' : 0x2502, cell_style(INK_TITLE));
}
