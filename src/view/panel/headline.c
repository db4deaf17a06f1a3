/* Four large figures, legible from some metres away. */
#include "src/state/live_text.h"
#include "src/view/panel/panel.h"

#include "kernels/injected_bugs.h"
#include "kernels/regime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIXELS_W = 3, PIXELS_H = 5 };

/* Five rows of three pixels, the topmost first. */
typedef struct {
    char glyph;
    uint8_t rows[PIXELS_H];
} BigGlyph;

static const BigGlyph big_glyphs[] = {
    {'0', {7, 5, 5, 5, 7}}, {'1', {2, 6, 2, 2, 7}}, {'2', {7, 1, 7, 4, 7}}, {'3', {7, 1, 7, 1, 7}},
    {'4', {5, 5, 7, 1, 1}}, {'5', {7, 4, 7, 1, 7}}, {'6', {7, 4, 7, 5, 7}}, {'7', {7, 1, 1, 2, 2}},
    {'8', {7, 5, 7, 5, 7}}, {'9', {7, 5, 7, 1, 7}}, {'-', {0, 0, 7, 0, 0}}, {'e', {0, 7, 7, 4, 7}},
};

static bool big_pixel(char glyph, int column, int row) {
    if (glyph == '.' || glyph == ',')
        return column == 0 && row == PIXELS_H - 1;
    for (size_t i = 0; i < sizeof big_glyphs / sizeof *big_glyphs; i++)
        if (big_glyphs[i].glyph == glyph && row < PIXELS_H)
            return big_glyphs[i].rows[row] >> (PIXELS_W - 1 - column) & 1;
    return false;
}

/* zoom 1: a pixel is one column and half a row; 2: two columns and one row; 4: twice that. */
static int big_rows(int zoom) {
    return (PIXELS_H * zoom + 1) / 2;
}

static void big_glyph(Sheet *sheet, int x, int y, int zoom, char glyph, CellStyle style) {
    for (int row = 0; row < big_rows(zoom); row++)
        for (int column = 0; column < PIXELS_W * zoom; column++) {
            int top = row * 2 / zoom, bottom = (row * 2 + 1) / zoom;
            bool upper = big_pixel(glyph, column / zoom, top);
            bool lower = big_pixel(glyph, column / zoom, bottom);
            if (upper || lower)
                sheet_sign(sheet, x + column, y + row,
                           upper && lower ? 0x2588
                           : upper        ? 0x2580
                                          : 0x2584,
                           style);
        }
}

/* A point is one pixel wide. Returns the columns used; on a quiet sheet they are only counted. */
static int big_text(Sheet *sheet, int x, int y, int zoom, const char *text, CellStyle style) {
    int start = x;
    for (; *text; text++) {
        if (sheet)
            big_glyph(sheet, x, y, zoom, *text, style);
        x += (*text == '.' || *text == ',' ? 1 : PIXELS_W) * zoom + 1;
    }
    return x - start - 1;
}

/* ---- the four figures ----------------------------------------------------------------------- */

typedef struct {
    const char *title;
    char number[24], unit[16], note[128], short_note[64]; /* for where the note has no room */
    Ink ink;
    OriginTopic origin;
} BigFigure;

/* "7.10 µs" becomes number and unit. */
static void split(const char *text, BigFigure *figure) {
    size_t digits = strcspn(text, " ");
    snprintf(figure->number, sizeof figure->number, "%.*s", (int)digits, text);
    snprintf(figure->unit, sizeof figure->unit, "%s", text[digits] ? text + digits + 1 : "");
}

static BigFigure latency_figure(const PanelData *data) {
    BigFigure figure = {
        .title = "LATENCY", .short_note = "median", .ink = INK_ACCENT, .origin = ORIGIN_LATENCY};
    const LiveKernel *row = live_kernel(data->live, data->state->job.config.kernel);
    Reading median = live_latency(data->live, row);
    char text[32];
    reading_text(UNIT_US, &median, text, sizeof text);
    split(text, &figure);
    size_t used = strlen(figure.unit);
    if (reading_mark(&median)[0])
        snprintf(figure.unit + used, sizeof figure.unit - used, " %s", reading_mark(&median));
    char origin[48] = "n/a";
    if (row)
        latency_origin(row, origin, sizeof origin);
    if (median.source)
        snprintf(figure.note, sizeof figure.note, "median, %s", origin);
    else
        snprintf(figure.note, sizeof figure.note, "%s",
                 unknown_reason(UNKNOWN_LATENCY, data->live, row, BEV_FP32));
    if (injected_bug_of(data->state->job.config.kernel)) {
        snprintf(figure.note, sizeof figure.note, "injected bug: not timed");
        figure.ink = INK_BAD;
    }
    return figure;
}

static BigFigure speedup_figure(const PanelData *data) {
    BigFigure figure = {
        .title = "SPEED-UP", .number = "n/a", .ink = INK_GOOD, .origin = ORIGIN_SPEEDUP};
    const LiveSpeedup *speedup = &data->live->speedup;
    const KernelConfig *baseline = &data->state->job.baseline;
    char from[80];
    speedup_origin(data->live, from, sizeof from);
    const char *pinned = data->state->job.baseline_pinned ? ", pinned" : "";
    if (speedup->ratio.source == SOURCE_RECORDED)
        snprintf(figure.short_note, sizeof figure.short_note, "recorded elsewhere over %s",
                 baseline->kernel->title);
    else
        snprintf(figure.short_note, sizeof figure.short_note, "over %s %s%s",
                 baseline->kernel->title, bev_dtypes[baseline->dtype].title, pinned);
    snprintf(figure.note, sizeof figure.note, "over %s %s%s%s%s", baseline->kernel->title,
             bev_dtypes[baseline->dtype].title, pinned, from[0] ? ", " : "", from);
    speedup_text(&speedup->ratio, figure.number, figure.unit);
    if (data->live->timed && speedup->ratio.source == SOURCE_RECORDED)
        figure.ink = INK_MUTED;
    return figure;
}

static BigFigure footprint_figure(const PanelData *data) {
    BigFigure figure = {
        .title = "FOOTPRINT", .number = "n/a", .ink = INK_FEATURES, .origin = ORIGIN_SHAPES};
    const LiveMemory *memory = &data->live->memory;
    const Reading *l2 = &data->live->device.l2_bytes;
    if (!memory->known)
        return figure;
    double total = bev_footprint_total(memory->footprint);
    char text[32];
    unit_text(UNIT_BYTES, total, text, sizeof text);
    split(text, &figure);
    if (l2->source)
        snprintf(figure.note, sizeof figure.note, "%s: %.0f %% of the %s",
                 bev_regimes[bev_regime(total, l2->value)].name, 100 * total / l2->value,
                 data->live->device.where == BEV_CUDA ? "L2" : "L3");
    else
        snprintf(figure.note, sizeof figure.note, "each array once, computed");
    return figure;
}

static BigFigure error_figure(const PanelData *data) {
    BigFigure figure = {.title = "MAX ERROR", .ink = INK_TEXT, .origin = ORIGIN_ERROR};
    BevDtype dtype = data->state->job.config.dtype;
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const LiveKernel *row = live_kernel(data->live, data->state->job.config.kernel);
    bool known = accuracy->source != SOURCE_UNKNOWN;
    unit_text(UNIT_ERROR, known ? accuracy->max_abs : NAN, figure.number, sizeof figure.number);
    snprintf(figure.unit, sizeof figure.unit, "%s", live_accuracy_mark(data->live, dtype));
    const char *scales = scales_name(data->state, data->live->job.scales);
    snprintf(figure.short_note, sizeof figure.short_note,
             scale_exists(dtype) ? "scales %.48s" : "against FP64", scales);
    if (!known)
        snprintf(figure.note, sizeof figure.note, "%s",
                 unknown_reason(UNKNOWN_ACCURACY, data->live, row, dtype));
    else
        snprintf(figure.note, sizeof figure.note, "%.48s%s, %s", figure.short_note,
                 accuracy->stale                            ? ", stale"
                 : live_accuracy_mark(data->live, dtype)[0] ? ", another moment"
                                                            : "",
                 accuracy->atol_1e2 == LIVE_PASS   ? "within 1e-2"
                 : accuracy->atol_1e2 == LIVE_FAIL ? "above 1e-2: no gate"
                                                   : "not judged");
    return figure;
}

/* In large glyphs where these exist and have room; else as bold text. */
static void figure_draw(Sheet *sheet, Area area, int zoom, const BigFigure *figure) {
    sheet_figure(sheet, area);
    sheet_line(sheet, area, cell_style(INK_MUTED), figure->title);
    int rows = big_rows(zoom);
    CellStyle style = cell_style(figure->ink);
    Sheet quiet = sheet_quiet(sheet);
    int width = big_text(&quiet, 0, 0, zoom, figure->number, style),
        unit_w = sheet_width(sheet, figure->unit);
    bool large = !sheet->ascii && figure->number[0] != 'n' && width + 1 + unit_w <= area.w;
    int y = area.y + 1;
    if (large) {
        big_text(sheet, area.x, y, zoom, figure->number, style);
        sheet_text(sheet, area.x + width + 1, y + rows - 1, unit_w, cell_bold(figure->ink),
                   figure->unit);
    } else {
        char text[48];
        snprintf(text, sizeof text, "%s %s", figure->number, figure->unit);
        sheet_text(sheet, area.x, y + rows / 2, area.w, cell_bold(figure->ink), text);
    }
    const char *note =
        sheet_width(sheet, figure->note) <= area.w ? figure->note : figure->short_note;
    if (sheet_width(sheet, note) <= area.w)
        sheet_text(sheet, area.x, y + rows, area.w, cell_style(INK_MUTED), note);
}

/* 0: no room, as other panels need the rows. For a projector there are few other panels. */
static int zoom_for(const State *state, int columns, int rows) {
    if (state->large)
        return columns >= 104 && rows >= 36 ? 4 : columns >= 70 && rows >= 21 ? 2 : 0;
    if (columns < 100 || rows < 34)
        return 0;
    return columns >= 180 && rows >= 54 ? 2 : 1;
}

/* Rows of title, figures and note. */
int headline_height(const State *state, int columns, int rows) {
    int zoom = zoom_for(state, columns, rows);
    return zoom ? big_rows(zoom) + 2 : 0;
}

enum { FIGURES = 4, LARGE_FIGURES = 2 };

static void figures_of(const PanelData *data, BigFigure figures[FIGURES]) {
    figures[0] = latency_figure(data);
    figures[1] = speedup_figure(data);
    figures[2] = footprint_figure(data);
    figures[3] = error_figure(data);
}

void headline_draw(Sheet *sheet, Area area, const PanelData *data) {
    BigFigure figures[FIGURES];
    figures_of(data, figures);
    int count = data->state->large ? LARGE_FIGURES : FIGURES;
    int gap = 2, w = (area.w - (count - 1) * gap) / count;
    for (int i = 0; i < count; i++) {
        sheet_origin(sheet, figures[i].origin, NULL);
        sheet->origin.dtype = data->state->job.config.dtype;
        figure_draw(sheet, (Area){area.x + i * (w + gap), area.y, w, area.h},
                    zoom_for(data->state, sheet->columns, sheet->rows), &figures[i]);
    }
}

/* ---- the window's ---------------------------------------------------------------------------- */

enum { TIMES = 3, FIGURE_ROWS = TIMES + 3 }; /* the number's size; with title, note and a gap */

static void window_figure(Sheet *sheet, Area area, const BigFigure *figure) {
    sheet_line(sheet, area, cell_style(INK_MUTED), figure->title);
    Sheet big = sheet_magnified(sheet, (Area){area.x, area.y + 1, area.w, TIMES}, TIMES);
    int used = TIMES * sheet_text(&big, 0, 0, big.columns, cell_bold(figure->ink), figure->number);
    sheet_text(sheet, area.x + used, area.y + TIMES - 1, area.w - used, cell_bold(figure->ink),
               figure->unit);
    const char *note =
        sheet_width(sheet, figure->note) <= area.w ? figure->note : figure->short_note;
    sheet_text(sheet, area.x, area.y + 1 + TIMES, area.w, cell_style(INK_MUTED), note);
}

static void window_draw(Sheet *sheet, Area area, const PanelData *data) {
    BigFigure figures[FIGURES];
    figures_of(data, figures);
    int w = area.w / 2;
    for (int i = 0; i < FIGURES; i++) {
        sheet_origin(sheet, figures[i].origin, NULL);
        sheet->origin.dtype = data->state->job.config.dtype;
        Area at = {area.x + i % 2 * w, area.y + i / 2 * FIGURE_ROWS, w - 1, FIGURE_ROWS - 1};
        window_figure(sheet, at, &figures[i]);
    }
}

const Panel headline_panel = {.origin = ORIGIN_LATENCY,
                              .point = PANEL_HEADLINE,
                              .fold = 7,
                              .grow = 9,
                              .height = FIGURES / 2 * FIGURE_ROWS - 1,
                              .usual = FIGURES / 2 * FIGURE_ROWS - 1,
                              .draw = window_draw};

/* "11.0 us  3.34x over V2 FP16  10.2 MB footprint  0.021 max error": whole figures only. */
void headline_line_draw(Sheet *sheet, Area area, const PanelData *data) {
    BigFigure figures[FIGURES];
    figures_of(data, figures);
    const char *const words[FIGURES] = {"", figures[1].short_note, "footprint", "max error"};
    int x = area.x, gap = 3;
    for (int i = 0; i < FIGURES; i++) {
        char number[48];
        snprintf(number, sizeof number, "%s%s%s", figures[i].number,
                 figures[i].unit[0] && i != 1 ? " " : "", figures[i].unit);
        int number_w = sheet_width(sheet, number), words_w = sheet_width(sheet, words[i]);
        int w = number_w + (words_w ? 1 + words_w : 0);
        if (x + w > area.x + area.w)
            return;
        sheet_origin(sheet, figures[i].origin, NULL);
        sheet->origin.dtype = data->state->job.config.dtype;
        sheet_figure(sheet, (Area){x, area.y, w, 1});
        sheet_text(sheet, x, area.y, number_w, cell_bold(figures[i].ink), number);
        sheet_text(sheet, x + number_w + 1, area.y, words_w, cell_style(INK_MUTED), words[i]);
        x += w + gap;
    }
}
