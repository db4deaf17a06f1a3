/* SPDX-License-Identifier: MIT */
/* Is it right? The largest error of each format on one logarithmic axis, beside the published
 * limit. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_ROWS = 3, LEAST_ROWS = 3, NAMED_W = 70 };
static const double LEAST = 1e-7, MOST = 10, LIMIT = 1e-2;

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
    int limit = column_at(area, LIMIT), row = 0;
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

/* Writes two verdicts: whether the kernel adds up what it reads, then whether the format is within
 * NVIDIA's tolerance. The short text has the last alone. */
static void verdict_text(const PanelData *data, BevDtype dtype, bool brief, char *text,
                         size_t size) {
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const double error = live_largest_error(accuracy);
    const bool pass = error <= LIMIT;
    const char *name = bev_dtypes[dtype].title;
    char when[48] = "";
    const UnitText number = text_of_unit(UNIT_ERROR, error);
    live_error_when(&data->state->scene, accuracy, when, sizeof when);
    const bool format_fails = accuracy->gate_b == LIVE_FAIL || accuracy->moments.fails;
    const char *fails = !accuracy->source || accuracy->stale ? "being judged"
                        : accuracy->gate_a == LIVE_FAIL      ? "gate A fails: the kernel is wrong"
                        : format_fails                       ? "gate B fails: the format"
                        : accuracy->gate_c == LIVE_FAIL      ? "gate C fails: the kernel is wrong"
                        : !isfinite(error)                   ? "not judged: too large"
                                                             : NULL;
    if (fails)
        snprintf(text, size, "%.*s", brief ? (int)strcspn(fails, ":") : 40, fails);
    else if (brief)
        snprintf(text, size, "%s: %s, %s 1e-2", name, number.text, pass ? "within" : "above");
    else
        snprintf(text, size, "%s%s, %s 1e-2, %s%s, rel L2 %.2g",
                 !accuracy->gate_a   ? "gate B passes, A and C run"
                 : !accuracy->gate_c ? "gates A, B pass, C runs: right for "
                                     : "gates pass: right for ",
                 accuracy->gate_a ? name : "", pass ? "within" : "too coarse for", number.text,
                 when, fmax(accuracy->rel_l2, accuracy->moments.rel_l2));
}

void right_draw(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *selected = &data->live->accuracy[config->dtype];
    const char *title = "Is it right?";
    int free_from[LABEL_ROWS] = {area.x, area.x, area.x};
    bool on_limit[LABEL_ROWS] = {false}, sentence = area.h >= LABEL_ROWS + 3;
    char note[200], verdict[160];
    sheet->origin.dtype = config->dtype;
    verdict_text(data, config->dtype, !sentence, verdict, sizeof verdict);
    ShortText moment = {""};
    if (selected->source && scene_moves(&data->state->scene))
        moment = live_moment_text(&data->state->scene, selected->time_s);
    snprintf(note, sizeof note, "%s on this %s: largest error against FP64%s%s",
             config->kernel->title, config->kernel->where == BEV_CPU ? "CPU" : "GPU",
             moment.text[0] ? ", " : "", moment.text);
    if (!sentence)
        snprintf(note, sizeof note, "%s", verdict);
    if (sentence && sheet_width(sheet, title) + sheet_width(sheet, note) + 4 > area.w)
        snprintf(note, sizeof note, "%s on this %s", config->kernel->title,
                 config->kernel->where == BEV_CPU ? "CPU" : "GPU");
    if (sheet_width(sheet, title) + sheet_width(sheet, note) + 4 > area.w)
        note[0] = '\0';
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
            sheet_sign(sheet, column_at(area, LIMIT), area.y + 1 + row,
                       sheet->pixels ? '|' : 0x2502, cell_style(INK_TITLE));
}
