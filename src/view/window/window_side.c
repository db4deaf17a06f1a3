/* SPDX-License-Identifier: MIT */
/* Draws the window's panels: the column beside the picture, and the rows around it. */
#include "src/view/panel/pen_sheet.h"
#include "src/view/window/window_internal.h"

#include <math.h>

enum {
    /* Heights of rows in pixels. Their text is two thirds as high. */
    CAPTION_ROW = 42,
    USUAL_ROW = 21, /* text of 14 pixels, 2 % of a window of 720 */
    LARGE_ROW = 28,
    STRIP_ROW = 16
};

static PanelData data_of(const WindowView *view) {
    return (PanelData){.state = view->state, .live = view->live, .picture = view->picture};
}

/* Makes a sheet over `box`, with rows of that height, and draws all of it. Without width: nothing
 * is drawn. */
static void draw_sheet(const WindowView *view, Box box, double row_h, PanelDraw *draw) {
    const PanelData data = data_of(view);
    Sheet sheet = pen_sheet(view->pen, box, row_h, view->spots);
    if (box.w > 0)
        draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* Returns the y of the lower edge of all panels above the log. */
static double floor_of_panels(const WindowLayout *at) {
    return at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
}

/* Whether the column shows a chart. A pinned cell takes the chart's place. */
static bool has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

void window_draw_strip(const WindowView *view) {
    draw_sheet(view, view->layout.strip, STRIP_ROW, cameras_draw);
}

/* ---- the chart of the memory model: in the column, otherwise over the BEV -------------------- */

enum { LEAST_SIDE_H = 320 };

static bool chart_fits_column(const WindowView *view) {
    const Box *side = &view->layout.side;
    return side->w >= WINDOW_SIDE_W && side->h >= LEAST_SIDE_H;
}

void window_draw_chart_over(const WindowView *view) {
    static const Panel *const panels[] = {&model_panel, NULL};
    const WindowLayout *at = &view->layout;
    const PanelData data = data_of(view);
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!has_chart(view) || chart_fits_column(view))
        return;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, right - WINDOW_MARGIN, bottom - at->bev.y};
    double under = at->keys.w > 0 ? at->keys.y : at->h;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    Sheet sheet = pen_sheet(view->pen, box, SHEET_ROW, view->spots);
    stack_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, panels, NULL, &data);
}

void window_draw_race(const WindowView *view) {
    enum { ROWS = 34 };
    const WindowLayout *at = &view->layout;
    double top = at->header.w > 0 ? at->time.y + at->time.h + WINDOW_GAP : WINDOW_MARGIN;
    Box box = {WINDOW_MARGIN, top, at->w - 2 * WINDOW_MARGIN, floor_of_panels(at) - top};
    if (!view->state->race || view->state->lesson.open)
        return;
    pen_fill(view->pen, (Box){0, 0, at->w, at->h}, view->pen->theme->page, 1);
    spots_clear(view->spots);
    draw_sheet(view, box, fmax(box.h / ROWS, SHEET_ROW), race_page_draw);
}

/* ---- the column ----------------------------------------------------------------------------- */

void window_draw_side(const WindowView *view) {
    enum { SMALL_H = 300, SMALL_ROWS = 16, SMALLEST_ROW = 14 };
    const Box side = view->layout.side;
    if (has_chart(view) && !chart_fits_column(view))
        return;
    const double small = fmin(fmax(side.h / SMALL_ROWS, SMALLEST_ROW), SHEET_ROW);
    const double row_h = view->state->large ? LARGE_ROW : side.h < SMALL_H ? small : USUAL_ROW;
    draw_sheet(view, side, row_h, side_draw);
}

/* ---- rows around the picture ----------------------------------------------------------------- */

/* Returns a row in the middle of `box`, with a margin at the window's edge. */
static Box row_in(Box box, double row_h, double margin) {
    return (Box){box.x + margin, box.y + (box.h - row_h) / 2, box.w - 2 * margin, row_h};
}

void window_draw_header(const WindowView *view) {
    draw_sheet(view, view->layout.header, WINDOW_LINE, title_draw);
    draw_sheet(view, view->layout.time, view->layout.time.h, time_bar_draw);
}

/* Draws a caption in large letters over log and key bar. False: the state has no caption. */
static bool draw_caption(const WindowView *view) {
    const Box *log = &view->layout.log;
    Box band = {0, log->y, view->layout.w, view->layout.h - log->y};
    if (!view->state->caption[0] || log->w <= 0)
        return false;
    Box text = {WINDOW_MARGIN, band.y, band.w - 2 * WINDOW_MARGIN, band.h};
    Sheet sheet = pen_sheet(view->pen, text, CAPTION_ROW, NULL);
    /* bold text is an eighth wider than the sheet tells */
    while (sheet.row_h > SHEET_ROW &&
           sheet_width(&sheet, view->state->caption) * 9 / 8 > sheet.columns)
        sheet = pen_sheet(view->pen, text, sheet.row_h - 1, NULL);
    sheet.top += (band.h - sheet.row_h) / 2;
    pen_fill(view->pen, band, ink_color(INK_SELECTED, sheet.light, true), 1);
    caption_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
    return true;
}

void window_draw_log(const WindowView *view) {
    if (!view->state->caption[0])
        draw_sheet(view, row_in(view->layout.log, WINDOW_LINE - 1, 0), WINDOW_LINE - 1, log_draw);
}

void window_draw_keys(const WindowView *view) {
    Box bar = view->layout.keys, row = row_in(bar, SHEET_ROW, WINDOW_MARGIN);
    if (draw_caption(view) || bar.w <= 0)
        return;
    Sheet sheet = pen_sheet(view->pen, row, SHEET_ROW, view->spots);
    pen_fill(view->pen, bar, view->pen->theme->tint, 1);
    key_bar_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
}

void window_draw_floats(const WindowView *view) {
    enum { ROW = 20 };
    const WindowLayout *at = &view->layout;
    const PanelData data = data_of(view);
    const double bottom = floor_of_panels(at), margin = WINDOW_MARGIN;
    Box room = {margin, margin, at->w - 2 * margin, bottom - margin};
    Sheet sheet = pen_sheet(view->pen, room, ROW, view->spots);
    double w = sheet.column_w, h = sheet.row_h;
    Area whole = {0, 0, sheet.columns, sheet.rows};
    Area bev = {(int)((at->bev.x - WINDOW_GAP - room.x) / w), (int)((at->bev.y - room.y) / h),
                (int)ceil((at->bev.w + 2 * WINDOW_GAP) / w), (int)ceil(at->bev.h / h)};
    if (view->state->help)
        help_float(&sheet, whole, bev, &data);
    if (view->state->palette.open)
        palette_float(&sheet, whole, bev, &data);
}
