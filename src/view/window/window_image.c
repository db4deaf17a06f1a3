/* SPDX-License-Identifier: MIT */
/* Arranges the parts of the window and draws them in order. */
#include "src/view/window/window_image.h"

#include "src/view/bev/strip.h"
#include "src/view/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

/* The colour of marks on the probed cell. No class and no colour map has this colour. */
static const Rgb window_mark = {255, 196, 0};

typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture; /* NULL: nothing is computed yet */
    PanelData data;         /* state, live and picture for panels */
    WindowLayout layout;
    Spots *spots; /* NULL: the picture takes no clicks */
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the visible part of the grid, and the whole grid */
} WindowView;

/* Heights of rows in pixels. The text of a row is two thirds as high. */
enum {
    CAPTION_ROW = 42,
    USUAL_ROW = 21, /* text of 14 pixels, 2 % of a window of 720 */
    LARGE_ROW = 28,
    STRIP_ROW = 16
};

/* ---- layout --------------------------------------------------------------------------------- */

enum {
    SIDE_FROM_W = 760,  /* narrower windows have a side column only where the BEV leaves room */
    SIDE_LEAST_W = 160, /* least width of a side column beside the BEV */
    SIDE_LEAST_H = 200, /* least height of a side column under the BEV */
    STRIP_FROM_H = 430, /* lower windows have no strip */
    TIME_BAR = 6,       /* height between header and strip */
    BARS_H = 100,       /* height of an operator scene's bars, in place of cameras */
    CAMERA_MAX_W = 320,
    AXIS_LEFT = 62,
    AXIS_BOTTOM = 42
};

double window_share(double w, double h) {
    return fmin(w / 1280, h / 720);
}

/* Places the camera strip, or the bars of an operator. The strip is left out where it has no room.
 * Returns the y below the strip. */
static double place_strip(const LiveFrame *frame, double top, WindowLayout *layout) {
    double w = layout->w - 2 * WINDOW_MARGIN, h = BARS_H;
    if (layout->h < STRIP_FROM_H || (!frame->bars && !frame->rig))
        return top;
    if (!frame->bars) {
        const Frustum *frustum = &frame->rig->frustum;
        double camera_w = fmin(w / frame->rig->camera_count, CAMERA_MAX_W);
        h = STRIP_ROW * (1 + round(camera_w * frustum->input_h / frustum->input_w / STRIP_ROW));
        if (camera_w < 40 || h > layout->h / 3)
            return top;
    }
    layout->strip = (Box){WINDOW_MARGIN, top, w, h};
    return top + h + WINDOW_GAP;
}

/* Returns the picture's width over its height, seen from above or from the side. */
static double picture_aspect(const LiveFrame *frame, const Slice *slice) {
    if (frame->rig) {
        Grid grid = slice_grid(slice, &frame->rig->grid);
        return (grid.y_max_m - grid.y_min_m) / (grid.x_max_m - grid.x_min_m) /
               slice_stretch(slice, &grid);
    }
    return slice->nx > 0 ? (double)slice->ny / (double)slice->nx / slice_stretch(slice, NULL) : 1;
}

/* Places the BEV in `room`, and computes the cells that the viewport shows. */
static void place_bev(const State *state, const LiveFrame *frame, Box room, WindowLayout *layout) {
    Slice slice = live_slice(frame, state->job.slice);
    double aspect = picture_aspect(frame, &slice), w = fmin(room.w, room.h * aspect),
           h = w / aspect;
    layout->bev = (Box){floor(room.x), floor(room.y), fmax(floor(w), 1), fmax(floor(h), 1)};
    const Viewport *viewport = &state->viewport;
    double zoom = viewport->zoom > 1 ? viewport->zoom : 1;
    double half_x = (double)slice.nx / zoom / 2, half_y = (double)slice.ny / zoom / 2;
    double x = zoom > 1 ? viewport->center_x : (double)slice.nx / 2;
    double y = zoom > 1 ? viewport->center_y : (double)slice.ny / 2;
    layout->x_lo = x - half_x;
    layout->x_hi = x + half_x;
    layout->y_lo = y - half_y;
    layout->y_hi = y + half_y;
}

/* Places the side column beside the BEV, or else under the BEV. Without room there is no column. */
static void place_side(double bottom, WindowLayout *layout) {
    const Box *bev = &layout->bev;
    double x = bev->x + bev->w + 2 * WINDOW_GAP + 8, y = bev->y + bev->h + AXIS_BOTTOM + WINDOW_GAP;
    Box beside = {x, bev->y - 4, layout->w - WINDOW_MARGIN - x, bottom - bev->y + 4};
    Box under = {bev->x, y, bev->w, bottom - y};
    if (beside.w >= SIDE_LEAST_W)
        layout->side = beside;
    else if (under.h >= SIDE_LEAST_H)
        layout->side = under;
}

/* Whether a tour shows the pictures alone. */
static bool pictures_alone(const State *state) {
    return state->tours && state->page == PAGE_BEV;
}

void window_layout(const State *state, const LiveData *live, double w, double h,
                   WindowLayout *layout) {
    memset(layout, 0, sizeof *layout);
    layout->w = fmax(w, WINDOW_MIN_EDGE);
    layout->h = fmax(h, WINDOW_MIN_EDGE);
    bool tall = layout->h >= 240, wide = layout->w >= SIDE_FROM_W && !pictures_alone(state);
    double inner = layout->w - 2 * WINDOW_MARGIN, top = WINDOW_MARGIN, bottom = layout->h;
    if (tall) {
        layout->header = (Box){WINDOW_MARGIN, top, inner, WINDOW_LINE};
        top += WINDOW_LINE + WINDOW_GAP / 2.0;
        layout->time = (Box){WINDOW_MARGIN, top - TIME_BAR, inner, TIME_BAR};
    }
    if (tall && state->bare)
        bottom -= WINDOW_GAP;
    else if (tall) {
        bottom -= WINDOW_LINE + 4;
        layout->keys = (Box){0, bottom, layout->w, layout->h - bottom};
        bottom -= WINDOW_LINE;
        layout->log = (Box){WINDOW_MARGIN, bottom, inner, WINDOW_LINE};
    }
    top = place_strip(&live->frame, top, layout);
    double left = tall ? WINDOW_MARGIN + AXIS_LEFT : WINDOW_MARGIN;
    double side = wide ? WINDOW_SIDE_W + 2 * WINDOW_GAP : 0;
    double right = layout->w - WINDOW_MARGIN - side - (tall ? 8 : 0);
    bottom -= tall ? AXIS_BOTTOM : WINDOW_MARGIN;
    place_bev(state, &live->frame, (Box){left, top + 4, right - left, bottom - top - 4}, layout);
    if (pictures_alone(state)) /* the BEV stands in the middle */
        layout->bev.x = fmax(floor((layout->w - layout->bev.w) / 2), layout->bev.x);
    else
        place_side(bottom + (tall ? AXIS_BOTTOM : 0), layout);
}

static Grid visible_part(Grid grid, const WindowLayout *at) {
    if (!grid.nx)
        return grid;
    double dx = (grid.x_max_m - grid.x_min_m) / grid.nx;
    double dy = (grid.y_max_m - grid.y_min_m) / grid.ny;
    Grid part = grid;
    part.x_min_m = grid.x_min_m + at->x_lo * dx;
    part.x_max_m = grid.x_min_m + at->x_hi * dx;
    part.y_min_m = grid.y_min_m + at->y_lo * dy;
    part.y_max_m = grid.y_min_m + at->y_hi * dy;
    return part;
}

/* Fills in the data of the panels, and the figures by which the parts draw over the BEV. */
static void prepare_view(WindowView *view) {
    view->data = (PanelData){.state = view->state, .live = view->live, .picture = view->picture};
    view->spec = (FigureSpec){
        .state = view->state, .live = view->live, .picture = view->picture, .outlines = true};
    view->whole = figure_of(&view->spec);
    view->whole.panel_w = view->layout.bev.w;
    view->whole.panel_h = view->layout.bev.h;
    view->visible = view->whole;
    view->visible.grid = visible_part(view->whole.grid, &view->layout);
    view->visible.ring_step_m = panel_ring_step(&view->visible);
}

/* Frames the part of the window that a lesson points at. */
static void frame_pointed_part(const WindowView *view) {
    const WindowLayout *at = &view->layout;
    const LessonPane *pane = &view->state->lesson;
    const Box *box = pane->point == PANEL_BEV     ? &at->bev
                     : pane->point == PANEL_STRIP ? &at->strip
                     : pane->point == PANEL_LOG   ? &at->log
                                                  : NULL; /* panels frame themselves */
    if (pane->open && box && box->w > 0)
        pen_frame(view->pen, *box, window_mark, 1, 3);
}

/* ---- the BEV: cells, wipe, probed cell, rays, axes ------------------------------------------- */

/* Returns the x where the wipe divides the picture. If a zoom hides the divider, x lies beyond the
 * edges of the picture. */
static double wipe_x_of(const WindowLayout *at, const State *state) {
    double left = (1 - state->wipe) * (double)state_slice(state).ny;
    return at->bev.x + (at->y_hi - left) / (at->y_hi - at->y_lo) * at->bev.w;
}

static bool has_bev(const WindowView *view) {
    return view->picture && view->picture->bev.ready &&
           !difference_missing(view->state, view->live).text[0];
}

/* Draws the part of the BEV within `clip`: one side of the wipe, or all. Pixels stay sharp. */
static void draw_raster(const WindowView *view, const Image *raster, Box clip) {
    const WindowLayout *at = &view->layout;
    const Box *bev = &at->bev;
    cairo_t *cr = view->pen->cr;
    cairo_surface_t *surface = pen_surface(raster);
    pen_clip(view->pen, clip);
    pen_fill(view->pen, *bev, panel_theme.background, 1);
    cairo_translate(cr, bev->x, bev->y);
    cairo_scale(cr, bev->w / (at->y_hi - at->y_lo), bev->h / (at->x_hi - at->x_lo));
    cairo_set_source_surface(cr, surface, at->y_hi - raster->w, at->x_hi - raster->h);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(surface);
}

static void wipe_label(const WindowView *view, double x, double room, TextAlign align,
                       bool baseline) {
    enum { LEAST_ROOM = 60 };
    if (room < LEAST_ROOM)
        return;
    TextStyle style = style_over(&panel_theme, SIZE_BODY, align);
    style.bold = true;
    pen_text(view->pen, x, view->layout.bev.y + view->layout.bev.h - 12, room, &style,
             live_side_label(view->live, baseline).text);
}

static void draw_wipe(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    double x = fmin(fmax(wipe_x_of(&view->layout, view->state), bev->x), bev->x + bev->w);
    draw_raster(view, &view->picture->bev.baseline, (Box){bev->x, bev->y, x - bev->x, bev->h});
    pen_line(view->pen, x, bev->y, x, bev->y + bev->h, panel_theme.halo, 0.8, 5);
    pen_line(view->pen, x, bev->y, x, bev->y + bev->h, panel_theme.line, 1, 2);
    pen_circle(view->pen, x, bev->y + bev->h / 2, 7, panel_theme.line, 1, 0);
    const bool of_baseline = true;
    wipe_label(view, x - 12, x - bev->x - 18, ALIGN_RIGHT, of_baseline);
    wipe_label(view, x + 12, bev->x + bev->w - x - 18, ALIGN_LEFT, !of_baseline);
}

/* Draws the texts in the upper left corner: the slice, and how the two sides differ. */
static void draw_corner(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const Rig *rig = view->live->frame.rig;
    char text[96];
    if (bev_picture_alike(&view->picture->bev))
        snprintf(text, sizeof text, "both are equal");
    else
        comparison_text(view->state, view->live, text, sizeof text);
    const ShortText slice = slice_describe(&view->whole.slice, rig ? &rig->grid : NULL);
    TextStyle style = style_over(&panel_theme, SIZE_BODY, ALIGN_LEFT);
    style.bold = true;
    double top = bev->y + SIZE_BODY + 12;
    pen_text(view->pen, bev->x + 12, top, bev->w - 24, &style, slice.text);
    pen_text(view->pen, bev->x + 12, slice.text[0] ? top + 1.5 * SIZE_BODY : top, bev->w - 24,
             &style, text);
}

static void outline_cell(const WindowView *view, int64_t cell) {
    const WindowLayout *at = &view->layout;
    int64_t place = slice_place(&view->whole.slice, cell), nx = view->whole.slice.nx;
    double w = at->bev.w / (at->y_hi - at->y_lo), h = at->bev.h / (at->x_hi - at->x_lo);
    if (place < 0)
        return;
    Box box = {at->bev.x + (at->y_hi - (double)(place / nx) - 1) * w,
               at->bev.y + (at->x_hi - (double)(place % nx) - 1) * h, w, h};
    pen_frame(view->pen, box, panel_theme.halo, 0.9, 4);
    pen_frame(view->pen, box, window_mark, 1, 2);
}

/* Draws a line from the camera to the frustum point. A larger contribution is drawn stronger. */
static void draw_ray(const WindowView *view, const LiveContribution *one, double share) {
    const Rig *rig = view->live->frame.rig;
    const double *from = rig->cameras[one->camera].position_m;
    const FigurePanel panel = {.figure = &view->visible, .box = view->layout.bev};
    double to[3], x0, y0, x1, y1;
    rig_point(rig, one->camera, one->depth_bin, one->h, one->w, to);
    const bool from_side = view->whole.slice.slice == SLICE_SIDE;
    const int up = from_side ? 2 : 0, left = from_side ? 0 : 1; /* axes of the drawing: x, y, z */
    panel_point(&panel, from[up], from[left], &x0, &y0);
    panel_point(&panel, to[up], to[left], &x1, &y1);
    pen_line(view->pen, x0, y0, x1, y1, window_mark, 0.15 + 0.85 * share, 1 + 1.5 * share);
}

static void draw_rays(const WindowView *view) {
    enum { MAX_RAYS = 96 };
    LiveContribution list[LIVE_MAX_CONTRIBUTIONS];
    int count = live_lit(view->live, view->state, list);
    const int rays = view->live->frame.rig ? (int)fmin(count, MAX_RAYS) : 0;
    const bool of_step = view->live->frame.steps != NULL; /* a step's points are drawn alike */
    double heaviest = 1e-30;
    for (int i = 0; i < count; i++)
        heaviest = fmax(heaviest, list[i].depth * list[i].weight);
    for (int i = 0; i < rays; i++)
        draw_ray(view, &list[i], of_step ? 1 : sqrt(list[i].depth * list[i].weight / heaviest));
}

/* Draws rays to the probed cell, and outlines the cell. With steps, these are the rays of the shown
 * step, whose cells are outlined, too. */
static void draw_probe(const WindowView *view) {
    const LiveSteps *steps = view->live->frame.steps;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count = live_step_points(view->live, view->state, points);
    int64_t cell = steps ? steps->cell : view->live->probe.cell;
    if (cell < 0)
        return;
    pen_clip(view->pen, view->layout.bev);
    draw_rays(view);
    for (int i = 0; i < count; i++)
        outline_cell(view, points[i]->cell);
    outline_cell(view, cell);
    cairo_restore(view->pen->cr);
}

/* Draws the reason why there is no BEV, in its place. */
static void draw_reason(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const ShortText alike = difference_missing(view->state, view->live);
    const char *reason = alike.text[0]               ? alike.text
                         : view->picture             ? view->picture->bev.reason
                         : view->live->error_text[0] ? view->live->error_text
                         : view->state->waiting[0]   ? view->state->waiting
                                                     : "computing the first picture";
    TextStyle style = aligned(style_body(view->pen), ALIGN_CENTER);
    pen_fill(view->pen, *bev, view->pen->theme->tint, 1);
    pen_text(view->pen, bev->x + bev->w / 2, bev->y + bev->h / 2, bev->w, &style, reason);
}

static void draw_bev_part(const WindowView *view) {
    if (!has_bev(view)) {
        draw_reason(view);
        return;
    }
    draw_raster(view, &view->picture->bev.image, view->layout.bev);
    if (view->picture->bev.baseline.rgba)
        draw_wipe(view);
}

/* Draws a note over the old picture while the new one is being computed. */
static void draw_waiting(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const char *text = view->state->waiting;
    TextStyle style = {
        .size = SIZE_SMALL, .bold = true, .color = view->pen->theme->text, .align = ALIGN_CENTER};
    double w = fmin(pen_text_width(view->pen, &style, text) + 24, bev->w), h = 2 * style.size;
    if (!text[0])
        return;
    Box box = {bev->x + (bev->w - w) / 2, bev->y + (bev->h - h) / 2, w, h};
    pen_fill(view->pen, box, view->pen->theme->page, 0.9);
    pen_text(view->pen, bev->x + bev->w / 2, box.y + h / 2 + style.size / 3, w, &style, text);
}

static void draw_over_bev_part(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    if (!has_bev(view))
        return;
    const FigurePanel panel = {.figure = &view->visible, .bev = &view->picture->bev, .box = *bev};
    overlay_draw(view->pen, &panel);
    const bool strong = true, labelled = true;
    loss_draw(view->pen, &panel, !strong);
    draw_probe(view);
    draw_corner(view);
    draw_waiting(view);
    pen_frame(view->pen, *bev, view->pen->theme->muted, 1, 1);
    if (view->layout.header.w > 0)
        axes_draw(view->pen, &panel, labelled);
}

/* ---- panels: the column beside the picture, and the rows around it --------------------------- */

/* Draws a panel on a sheet that fills `box`. If the box has no width, draws nothing. */
static void draw_sheet(const WindowView *view, Box box, double row_h, PanelDraw *draw) {
    Sheet sheet = pen_sheet(view->pen, box, row_h, view->spots);
    if (box.w > 0)
        draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &view->data);
}

/* Returns the y where the panels end, above the log. */
static double floor_of_panels(const WindowLayout *at) {
    return at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
}

/* Whether the chart of the memory model stands over the BEV, because the side column is too small
 * for it. A pinned cell takes the chart's place. */
static bool chart_covers_bev(const WindowView *view) {
    enum { LEAST_SIDE_H = 320 };
    const Box *side = &view->layout.side;
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel && (side->w < WINDOW_SIDE_W || side->h < LEAST_SIDE_H);
}

static void draw_chart_over_part(const WindowView *view) {
    static const Panel *const panels[] = {&model_panel, NULL};
    const WindowLayout *at = &view->layout;
    double bottom = at->log.w > 0 ? at->log.y : at->h, under = at->keys.w > 0 ? at->keys.y : at->h;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, at->w - 2 * WINDOW_MARGIN, bottom - at->bev.y};
    if (!chart_covers_bev(view))
        return;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    Sheet sheet = pen_sheet(view->pen, box, SHEET_ROW, view->spots);
    stack_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, panels, NULL, &view->data);
}

static void draw_race_part(const WindowView *view) {
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

static void draw_panels_part(const WindowView *view) {
    enum { SMALL_H = 300, SMALL_ROWS = 16, SMALLEST_ROW = 14 };
    const Box side = view->layout.side;
    draw_sheet(view, view->layout.strip, STRIP_ROW, cameras_draw);
    if (chart_covers_bev(view))
        return;
    const double small = fmin(fmax(side.h / SMALL_ROWS, SMALLEST_ROW), SHEET_ROW);
    const double row_h = view->state->large ? LARGE_ROW : side.h < SMALL_H ? small : USUAL_ROW;
    draw_sheet(view, side, row_h, side_draw);
}

/* Returns a row in the middle of `box`, with a margin at the window's edge. */
static Box row_in(Box box, double row_h, double margin) {
    return (Box){box.x + margin, box.y + (box.h - row_h) / 2, box.w - 2 * margin, row_h};
}

static void draw_rows_part(const WindowView *view) {
    draw_sheet(view, view->layout.header, WINDOW_LINE, title_draw);
    draw_sheet(view, view->layout.time, view->layout.time.h, time_bar_draw);
    if (!view->state->caption[0])
        draw_sheet(view, row_in(view->layout.log, WINDOW_LINE - 1, 0), WINDOW_LINE - 1, log_draw);
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

static void draw_keys_part(const WindowView *view) {
    Box bar = view->layout.keys, row = row_in(bar, SHEET_ROW, WINDOW_MARGIN);
    if (draw_caption(view) || bar.w <= 0)
        return;
    Sheet sheet = pen_sheet(view->pen, row, SHEET_ROW, view->spots);
    pen_fill(view->pen, bar, view->pen->theme->tint, 1);
    key_bar_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
}

static void draw_floats_part(const WindowView *view) {
    enum { ROW = 20 };
    const WindowLayout *at = &view->layout;
    const double bottom = floor_of_panels(at), margin = WINDOW_MARGIN;
    Box room = {margin, margin, at->w - 2 * margin, bottom - margin};
    Sheet sheet = pen_sheet(view->pen, room, ROW, view->spots);
    double w = sheet.column_w, h = sheet.row_h;
    Area whole = {0, 0, sheet.columns, sheet.rows};
    Area bev = {(int)((at->bev.x - WINDOW_GAP - room.x) / w), (int)((at->bev.y - room.y) / h),
                (int)ceil((at->bev.w + 2 * WINDOW_GAP) / w), (int)ceil(at->bev.h / h)};
    if (view->state->help)
        help_float(&sheet, whole, bev, &view->data);
    if (view->state->palette.open)
        palette_float(&sheet, whole, bev, &view->data);
}

/* ---- the tooltip: a box beside the place under the mouse ------------------------------------- */

enum { TIP_W = 420, TIP_PAD = 8, TIP_ROW = 17, TIP_ROWS = 12, PARTS = 4 };

/* Draws the texts of a tooltip and returns their rows. On a quiet sheet, only counts the rows. */
static int draw_texts(Sheet *sheet, const Tip *tip) {
    const struct {
        const char *text;
        Ink ink;
    } parts[PARTS] = {{tip->title, INK_ACCENT},
                      {tip->help, INK_TEXT},
                      {tip->meaning, INK_MUTED},
                      {tip->source, INK_TEXT}};
    int row = 0;
    for (int i = 0; i < PARTS; i++) {
        Area area = {0, row, sheet->columns, TIP_ROWS};
        if (parts[i].text[0])
            row += sheet_paragraph(sheet, area, parts[i].ink, parts[i].text);
    }
    return row;
}

/* The tooltip stands below the outline, or above it near the picture's lower edge. */
void window_tip_draw(Pen *pen, const Tip *tip, double w, double h) {
    double width = fmin(TIP_W, w - 2 * TIP_PAD);
    Sheet sheet = pen_sheet(pen, (Box){0, 0, width - 2 * TIP_PAD, h}, TIP_ROW, NULL);
    Sheet quiet = sheet_quiet(&sheet);
    Box box = {tip->box.x, tip->box.y + tip->box.h + 6, width, 0};
    box.h = draw_texts(&quiet, tip) * TIP_ROW + 2 * TIP_PAD;
    if (box.y + box.h > h)
        box.y = fmax(0, tip->box.y - box.h - 6);
    box.x = fmax(0, fmin(box.x, w - width));
    pen_fill(pen, box, pen->theme->page, 1);
    pen_frame(pen, (Box){box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1}, pen->theme->muted, 1, 1);
    sheet.left = box.x + TIP_PAD;
    sheet.top = box.y + TIP_PAD;
    draw_texts(&sheet, tip);
}

/* Notes where the BEV stands, which cells it shows, and where a wipe divides it. */
static void note_places(Spots *spots, const State *state, const WindowLayout *at) {
    spots_clear(spots);
    spots_add_figure(spots, at->bev, &(Origin){.topic = ORIGIN_PICTURE});
    if (!spots)
        return;
    spots->bev = at->bev;
    spots->x_lo = at->x_lo, spots->x_hi = at->x_hi;
    spots->y_lo = at->y_lo, spots->y_hi = at->y_hi;
    if (state->compare == COMPARE_WIPE)
        spots->wipe_x = wipe_x_of(at, state);
}

/* The parts in drawing order, those of the BEV first. Later parts cover earlier ones. */
enum { BEV_PARTS = 2 };
static void (*const parts[])(const WindowView *view) = {
    draw_bev_part,  draw_over_bev_part, draw_panels_part, draw_chart_over_part, frame_pointed_part,
    draw_race_part, draw_rows_part,     draw_keys_part,   draw_floats_part};

/* Draws the page and its first `count` parts. Returns false on an error, or when given up. */
static bool draw_parts(WindowView *view, cairo_t *cr, size_t count, const GiveUp *give_up,
                       Err *err) {
    Pen pen;
    view->pen = &pen;
    prepare_view(view);
    pen_init(&pen, cr, view->visible.theme, NULL);
    pen_fill(&pen, (Box){0, 0, view->layout.w, view->layout.h}, pen.theme->page, 1);
    for (size_t i = 0; i < count; i++) {
        if (given_up(give_up))
            return false;
        parts[i](view);
    }
    if (pen.failed)
        *err = pen.err;
    else if (cairo_status(cr) != CAIRO_STATUS_SUCCESS)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller window", "cairo: %s",
                       cairo_status_to_string(cairo_status(cr)));
    return !pen.failed;
}

bool window_paint(cairo_t *cr, double w, double h, const State *state, const LiveData *live,
                  const Picture *picture, Spots *spots, const GiveUp *give_up, Err *err) {
    WindowView view = {.state = state, .live = live, .picture = picture, .spots = spots};
    window_layout(state, live, w, h, &view.layout);
    note_places(spots, state, &view.layout);
    return draw_parts(&view, cr, sizeof parts / sizeof *parts, give_up, err);
}

bool window_image(int w, int h, double scale, const State *state, const LiveData *live,
                  const Picture *picture, Image *image, Err *err) {
    cairo_t *cr = pen_begin(image, w, h, err);
    if (!cr)
        return false;
    cairo_scale(cr, scale, scale);
    pen_keep_still(cairo_get_target(cr)); /* the pixels are those of a window */
    return pen_finish(
        cr, window_paint(cr, w / scale, h / scale, state, live, picture, NULL, NULL, err), image);
}

bool window_bev_image(int w, int h, double scale, const State *state, const LiveData *live,
                      const Picture *picture, Image *image, Err *err) {
    WindowView view = {.state = state, .live = live, .picture = picture};
    const Box whole = {0, 0, w / scale, h / scale};
    cairo_t *cr = pen_begin(image, w, h, err);
    if (!cr)
        return false;
    cairo_scale(cr, scale, scale);
    place_bev(state, &live->frame, whole, &view.layout);
    view.layout.bev = whole;
    return pen_finish(cr, draw_parts(&view, cr, BEV_PARTS, NULL, err), image);
}
