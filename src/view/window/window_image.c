/* SPDX-License-Identifier: MIT */
/* Arranges the parts of the window and draws them in order. */
#include "src/view/window/window_image.h"

#include "src/view/window/window_internal.h"

#include <math.h>
#include <string.h>

/* ---- layout --------------------------------------------------------------------------------- */

enum {
    SIDE_FROM_W = 760,  /* narrower windows have a side column only where the BEV leaves room */
    SIDE_LEAST_W = 160, /* least width of a side column beside the BEV */
    SIDE_LEAST_H = 200, /* least height of a side column under the BEV */
    STRIP_FROM_H = 430, /* lower windows have no strip */
    TIME_BAR = 6,       /* height between header and strip */
    STRIP_ROW = 16,
    BARS_H = 100, /* height of an operator scene's bars, in place of cameras */
    CAMERA_MAX_W = 320,
    AXIS_LEFT = 62,
    AXIS_BOTTOM = 42
};

double window_share(double w, double h) {
    return fmin(w / 1280, h / 720);
}

/* Places the camera strip, a row of names over whole rows of pictures, or an operator's bars. The
 * strip is left out where it has no room. Returns the y below it. */
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

/* Places the side column beside the BEV, else under it; without room there is no column. */
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
    if (pictures_alone(state)) /* in the middle */
        layout->bev.x = fmax(floor((layout->w - layout->bev.w) / 2), layout->bev.x);
    else
        place_side(bottom + (tall ? AXIS_BOTTOM : 0), layout);
}

/* Returns the visible part of the grid. */
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

/* Describes the picture as a figure: the whole grid, and the part of the grid that is visible. */
static void prepare_view(WindowView *view) {
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
    Box box = pane->point == PANEL_BEV     ? at->bev
              : pane->point == PANEL_STRIP ? at->strip
              : pane->point == PANEL_LOG   ? at->log
                                           : (Box){.w = 0};
    if (pane->open && box.w > 0)
        pen_frame(view->pen, box, window_mark, 1, 3);
}

/* ---- drawing -------------------------------------------------------------------------------- */

double window_wipe_x(const WindowLayout *at, const State *state) {
    double left = (1 - state->wipe) * (double)state_slice(state).ny;
    return at->bev.x + (at->y_hi - left) / (at->y_hi - at->y_lo) * at->bev.w;
}

/* Notes where the picture stands. */
static void note_places(Spots *spots, const State *state, const WindowLayout *at) {
    spots_clear(spots);
    spots_add_figure(spots, at->bev, &(Origin){.topic = ORIGIN_PICTURE});
    if (!spots)
        return;
    spots->bev = at->bev;
    spots->x_lo = at->x_lo, spots->x_hi = at->x_hi;
    spots->y_lo = at->y_lo, spots->y_hi = at->y_hi;
    if (state->compare == COMPARE_WIPE)
        spots->wipe_x = window_wipe_x(at, state);
}

/* The parts in drawing order. Later parts cover earlier ones. */
static void (*const parts[])(const WindowView *view) = {
    window_draw_strip,      window_draw_bev,    window_draw_over_bev, window_draw_side,
    window_draw_chart_over, frame_pointed_part, window_draw_race,     window_draw_header,
    window_draw_log,        window_draw_keys,   window_draw_floats};

bool window_paint(cairo_t *cr, double w, double h, const State *state, const LiveData *live,
                  const Picture *picture, Spots *spots, const GiveUp *give_up, Err *err) {
    Pen pen;
    WindowView view = {
        .state = state, .live = live, .picture = picture, .spots = spots, .pen = &pen};
    window_layout(state, live, w, h, &view.layout);
    note_places(spots, state, &view.layout);
    prepare_view(&view);
    pen_init(&pen, cr, view.visible.theme, NULL);
    pen_fill(&pen, (Box){0, 0, view.layout.w, view.layout.h}, pen.theme->page, 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (given_up(give_up))
            return false;
        parts[i](&view);
    }
    if (pen.failed) {
        *err = pen.err;
        return false;
    }
    if (cairo_status(cr) == CAIRO_STATUS_SUCCESS)
        return true;
    return err_set(err, ERR_FAILED, "picture", "choose a smaller window", "cairo: %s",
                   cairo_status_to_string(cairo_status(cr)));
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
    Pen pen;
    WindowView view = {.state = state, .live = live, .picture = picture, .pen = &pen};
    const Box whole = {0, 0, w / scale, h / scale};
    cairo_t *cr = pen_begin(image, w, h, err);
    if (!cr)
        return false;
    cairo_scale(cr, scale, scale);
    place_bev(state, &live->frame, whole, &view.layout);
    view.layout.bev = whole;
    prepare_view(&view);
    pen_init(&pen, cr, view.visible.theme, NULL);
    window_draw_bev(&view);
    window_draw_over_bev(&view);
    return pen_finish(cr, !pen.failed && pen_status(cairo_status(cr), "picture", err), image);
}
