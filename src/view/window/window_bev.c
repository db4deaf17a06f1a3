/* SPDX-License-Identifier: MIT */
/* Draws the window's BEV with its axes, wipe, probed cell and rays. */
#include "src/view/bev/gradient_strip.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

enum { MAX_RAYS = 96 };

const Rgb window_mark = {255, 196, 0};

static bool has_bev(const WindowView *view) {
    return view->picture && view->picture->bev.ready;
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

/* ---- wipe ----------------------------------------------------------------------------------- */

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
    double x = fmin(fmax(window_wipe_x(&view->layout, view->state), bev->x), bev->x + bev->w);
    draw_raster(view, &view->picture->bev.baseline, (Box){bev->x, bev->y, x - bev->x, bev->h});
    pen_line(view->pen, x, bev->y, x, bev->y + bev->h, panel_theme.halo, 0.8, 5);
    pen_line(view->pen, x, bev->y, x, bev->y + bev->h, panel_theme.line, 1, 2);
    cairo_new_sub_path(view->pen->cr);
    cairo_arc(view->pen->cr, x, bev->y + bev->h / 2, 7, 0, 2 * M_PI);
    pen_color(view->pen, panel_theme.line, 1);
    cairo_fill(view->pen->cr);
    wipe_label(view, x - 12, x - bev->x - 18, ALIGN_RIGHT, true);
    wipe_label(view, x + 12, bev->x + bev->w - x - 18, ALIGN_LEFT, false);
}

/* Draws the upper left corner: the slice, and the difference between the two sides. */
static void draw_corner(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const Rig *rig = view->live->frame.rig;
    char text[96], slice[64];
    if (bev_picture_alike(&view->picture->bev))
        snprintf(text, sizeof text, "both are equal");
    else
        comparison_text(view->state, view->live, text, sizeof text);
    slice_describe(&view->whole.slice, rig ? &rig->grid : NULL, slice, sizeof slice);
    TextStyle style = style_over(&panel_theme, SIZE_BODY, ALIGN_LEFT);
    style.bold = true;
    double top = bev->y + SIZE_BODY + 12;
    pen_text(view->pen, bev->x + 12, top, bev->w - 24, &style, slice);
    pen_text(view->pen, bev->x + 12, slice[0] ? top + 1.5 * SIZE_BODY : top, bev->w - 24, &style,
             text);
}

/* ---- the probed cell ------------------------------------------------------------------------ */

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
    FigurePanel panel = {.box = view->layout.bev};
    double to[3], x0, y0, x1, y1;
    rig_point(rig, one->camera, one->depth_bin, one->h, one->w, to);
    int up = view->whole.slice.slice == SLICE_SIDE ? 2 : 0, left = up ? 0 : 1;
    panel_point(&view->visible, &panel, from[up], from[left], &x0, &y0);
    panel_point(&view->visible, &panel, to[up], to[left], &x1, &y1);
    pen_line(view->pen, x0, y0, x1, y1, window_mark, 0.15 + 0.85 * share, 1 + 1.5 * share);
}

/* Returns the strength of a point's mark, its share of the cell. All points of a step are alike. */
static double mark_strength(const WindowView *view, const LiveContribution *one, double heaviest) {
    return view->live->frame.steps ? 1 : sqrt(one->depth * one->weight / heaviest);
}

static double heaviest_contribution(const LiveContribution *list, int count) {
    double heaviest = 1e-30;
    for (int i = 0; i < count; i++)
        heaviest = fmax(heaviest, list[i].depth * list[i].weight);
    return heaviest;
}

static void draw_rays(const WindowView *view) {
    LiveContribution list[LIVE_MAX_CONTRIBUTIONS];
    int count = live_lit(view->live, view->state, list);
    double heaviest = heaviest_contribution(list, count);
    for (int i = 0; view->live->frame.rig && i < count && i < MAX_RAYS; i++)
        draw_ray(view, &list[i], mark_strength(view, &list[i], heaviest));
}

static void draw_probe(const WindowView *view) {
    const LiveProbe *probe = &view->live->probe;
    const LiveSteps *steps = view->live->frame.steps;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count = live_step_points(view->live, view->state, points);
    int64_t cell = steps ? steps->cell : probe->cell;
    if (cell < 0)
        return;
    pen_clip(view->pen, view->layout.bev);
    draw_rays(view);
    for (int i = 0; i < count; i++)
        outline_cell(view, points[i]->cell);
    outline_cell(view, cell);
    cairo_restore(view->pen->cr);
}

/* Draws, in place of the BEV, the reason why there is none. */
static void draw_reason(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const char *reason = view->picture               ? view->picture->bev.reason
                         : view->live->error_text[0] ? view->live->error_text
                         : view->state->waiting[0]   ? view->state->waiting
                                                     : "computing the first picture";
    TextStyle style = aligned(style_body(view->pen), ALIGN_CENTER);
    pen_fill(view->pen, *bev, view->pen->theme->tint, 1);
    pen_text(view->pen, bev->x + bev->w / 2, bev->y + bev->h / 2, bev->w, &style, reason);
}

void window_draw_bev(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    if (!has_bev(view)) {
        draw_reason(view);
        return;
    }
    draw_raster(view, &view->picture->bev.image, *bev);
    if (view->picture->bev.baseline.rgba)
        draw_wipe(view);
}

/* Draws a note over the old picture while the new one is being computed. */
static void draw_waiting(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    const char *text = view->state->waiting;
    TextStyle style = aligned(style_strong(view->pen), ALIGN_CENTER);
    double w = fmin(pen_text_width(view->pen, &style, text) + 24, bev->w), h = 2 * style.size;
    if (!text[0])
        return;
    Box box = {bev->x + (bev->w - w) / 2, bev->y + (bev->h - h) / 2, w, h};
    pen_fill(view->pen, box, view->pen->theme->page, 0.9);
    pen_text(view->pen, bev->x + bev->w / 2, box.y + h / 2 + style.size / 3, w, &style, text);
}

void window_draw_over_bev(const WindowView *view) {
    const Box *bev = &view->layout.bev;
    if (!has_bev(view))
        return;
    FigurePanel panel = {.bev = &view->picture->bev, .box = *bev};
    overlay_draw(view->pen, &view->visible, &panel);
    loss_draw(view->pen, &view->visible, &panel, false);
    draw_probe(view);
    draw_corner(view);
    draw_waiting(view);
    pen_frame(view->pen, *bev, view->pen->theme->muted, 1, 1);
    if (view->layout.header.w > 0)
        axes_draw(view->pen, &view->visible, &panel, true);
}
