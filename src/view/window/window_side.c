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

/* Whether the column shows a chart. A pinned cell takes the chart's place. */
static bool has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

void window_draw_strip(const WindowView *view) {
    const PanelData data = data_of(view);
    const Box *box = &view->layout.strip;
    Sheet sheet = pen_sheet(view->pen, *box, STRIP_ROW, view->spots);
    if (box->w > 0)
        cameras_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* ---- the chart of the memory model: in the column, otherwise over the BEV -------------------- */

enum { LEAST_SIDE_H = 320 };

static bool chart_fits(const WindowView *view) {
    const Box *side = &view->layout.side;
    return side->w >= WINDOW_SIDE_W && side->h >= LEAST_SIDE_H;
}

void window_draw_chart_over(const WindowView *view) {
    static const Panel *const panels[] = {&model_panel, NULL};
    const WindowLayout *at = &view->layout;
    const PanelData data = data_of(view);
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!has_chart(view) || chart_fits(view))
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
    const PanelData data = data_of(view);
    double top = at->header.w > 0 ? at->time.y + at->time.h + WINDOW_GAP : WINDOW_MARGIN;
    double bottom = at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
    Box box = {WINDOW_MARGIN, top, at->w - 2 * WINDOW_MARGIN, bottom - top};
    if (!view->state->race || view->state->lesson.open)
        return;
    pen_fill(view->pen, (Box){0, 0, at->w, at->h}, view->pen->theme->page, 1);
    spots_clear(view->spots);
    Sheet sheet = pen_sheet(view->pen, box, fmax(box.h / ROWS, SHEET_ROW), view->spots);
    race_page_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* ---- the column ----------------------------------------------------------------------------- */

void window_draw_side(const WindowView *view) {
    enum { SMALL_H = 300, SMALL_ROWS = 16, SMALLEST_ROW = 14 };
    const PanelData data = data_of(view);
    const Box side = view->layout.side;
    if (side.w <= 0 || (has_chart(view) && !chart_fits(view)))
        return;
    const double small = fmin(fmax(side.h / SMALL_ROWS, SMALLEST_ROW), SHEET_ROW);
    const double row_h = view->state->large ? LARGE_ROW : side.h < SMALL_H ? small : USUAL_ROW;
    Sheet sheet = pen_sheet(view->pen, side, row_h, view->spots);
    side_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* ---- rows around the picture ----------------------------------------------------------------- */

/* Returns a row in the middle of `box`, with a margin at the window's edge. */
static Sheet row_in(const WindowView *view, Box box, double row_h, double margin) {
    Box row = {box.x + margin, box.y + (box.h - row_h) / 2, box.w - 2 * margin, row_h};
    return pen_sheet(view->pen, row, row_h, view->spots);
}

void window_draw_header(const WindowView *view) {
    const PanelData data = data_of(view);
    Sheet sheet = row_in(view, view->layout.header, WINDOW_LINE, 0);
    if (view->layout.header.w > 0)
        title_draw(&sheet, (Area){0, 0, sheet.columns, 1}, &data);
    const Box *time = &view->layout.time;
    Sheet bar = pen_sheet(view->pen, *time, time->h, view->spots);
    if (time->w > 0)
        time_bar_draw(&bar, (Area){0, 0, bar.columns, 1}, &data);
}

/* Draws a caption large over log and key bar. False: there is none. */
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
    const PanelData data = data_of(view);
    Sheet sheet = row_in(view, view->layout.log, WINDOW_LINE - 1, 0);
    if (view->layout.log.w > 0 && !view->state->caption[0])
        log_draw(&sheet, (Area){0, 0, sheet.columns, 1}, &data);
}

void window_draw_keys(const WindowView *view) {
    Box bar = view->layout.keys;
    Sheet sheet = row_in(view, bar, SHEET_ROW, WINDOW_MARGIN);
    if (draw_caption(view) || bar.w <= 0)
        return;
    pen_fill(view->pen, bar, view->pen->theme->tint, 1);
    key_bar_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
}

/* Returns the place between header and log, and the BEV with its axes. */
static Box room_and_picture(const WindowView *view, Box *picture) {
    const WindowLayout *at = &view->layout;
    double bottom = at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
    *picture = (Box){at->bev.x - WINDOW_GAP, at->bev.y, at->bev.w + 2 * WINDOW_GAP, at->bev.h};
    return (Box){WINDOW_MARGIN, WINDOW_MARGIN, at->w - 2 * WINDOW_MARGIN, bottom - WINDOW_MARGIN};
}

/* Draws what floats over the panels, as in the terminal. */
static void draw_float(const WindowView *view,
                       void (*draw)(Sheet *, Area, Area, const PanelData *)) {
    enum { ROW = 20 };
    const PanelData data = data_of(view);
    Box picture, room = room_and_picture(view, &picture);
    Sheet sheet = pen_sheet(view->pen, room, ROW, view->spots);
    double w = sheet.column_w, h = sheet.row_h;
    Area of = {(int)((picture.x - room.x) / w), (int)((picture.y - room.y) / h),
               (int)ceil(picture.w / w), (int)ceil(picture.h / h)};
    draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, of, &data);
}

void window_draw_help(const WindowView *view) {
    if (view->state->help)
        draw_float(view, help_float);
}

void window_draw_palette(const WindowView *view) {
    if (view->state->palette.open)
        draw_float(view, palette_float);
}
