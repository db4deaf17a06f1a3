/* SPDX-License-Identifier: MIT */
/* Draws lines over the cells: range rings, fields of view, outlines of the true solids, and the ego
 * vehicle. The lines are thin and translucent, so that the cells stay readable. */
#include "src/view/figure/figure_internal.h"
#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>

/* The size of the default rig's vehicle (nuScenes), in metres from the middle of the rear axle. */
static const double ego_front_m = 3.4, ego_rear_m = -0.7, ego_half_width_m = 0.87;

static bool lies_inside(Box outer, Box inner, double margin) {
    return inner.x >= outer.x + margin && inner.y >= outer.y + margin &&
           inner.x + inner.w <= outer.x + outer.w - margin &&
           inner.y + inner.h <= outer.y + outer.h - margin;
}

/* Labels a ring at the first direction, between usual cameras, where the label fits the panel. */
static void ring_label(Pen *pen, const Figure *figure, const FigurePanel *panel, double radius_m,
                       int decimals) {
    static const double bearings_deg[] = {-30, 30, -150, 150, -90, 90, 0, 180, -60, 60};
    char number[24], text[32];
    ticks_number(radius_m, decimals, number, sizeof number);
    snprintf(text, sizeof text, "%s m", number);
    TextStyle style = style_over(figure->over, SIZE_SMALL, ALIGN_CENTER);
    for (size_t i = 0; i < sizeof bearings_deg / sizeof *bearings_deg; i++) {
        double angle = bearings_deg[i] * M_PI / 180, px, py;
        panel_point(figure, panel, radius_m * cos(angle), radius_m * sin(angle), &px, &py);
        py += 0.35 * SIZE_SMALL;
        if (lies_inside(panel->box, pen_text_box(pen, px, py, 80, &style, text), 4)) {
            pen_text(pen, px, py, 80, &style, text);
            return;
        }
    }
}

/* Draws the circles, or their labels. */
static void draw_rings(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labels) {
    double step = figure->ring_step_m, nearest, farthest, px, py;
    if (!(step > 0))
        return;
    panel_distances(&figure->grid, &nearest, &farthest);
    int decimals = step < 1 ? (int)ceil(-log10(step)) : 0;
    panel_point(figure, panel, 0, 0, &px, &py);
    for (double i = fmax(1, ceil(nearest / step)); i * step < farthest; i++) {
        if (labels) {
            ring_label(pen, figure, panel, i * step, decimals);
            continue;
        }
        cairo_new_sub_path(pen->cr);
        cairo_arc(pen->cr, px, py, i * step * panel_px_per_m(figure), 0, 2 * M_PI);
        pen_stroke(pen, figure->over->line, 0.28, 1);
    }
}

bool overlay_column(const Figure *figure, int camera, double u_px, double from_m[2],
                    double direction[2]) {
    const Rig *rig = figure->frame->rig;
    double origin[3], ray[3];
    camera_ray(&rig->cameras[camera], u_px, rig->frustum.input_h / 2.0, origin, ray);
    double length = hypot(ray[0], ray[1]);
    if (!(length > 1e-6))
        return false;
    for (int i = 0; i < 2; i++) {
        from_m[i] = origin[i];
        direction[i] = ray[i] / length;
    }
    return true;
}

static void draw_fields_of_view(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const Rig *rig = figure->frame->rig;
    double reach_m = 4 * (panel->box.w + panel->box.h) / panel_px_per_m(figure);
    double edges[2] = {0, rig->frustum.input_w - 1};
    for (int c = 0; c < rig->camera_count; c++)
        for (int e = 0; e < 2; e++) {
            double at[2], direction[2], x0, y0, x1, y1;
            if (!overlay_column(figure, c, edges[e], at, direction))
                continue;
            panel_point(figure, panel, at[0], at[1], &x0, &y0);
            panel_point(figure, panel, at[0] + reach_m * direction[0],
                        at[1] + reach_m * direction[1], &x1, &y1);
            pen_line(pen, x0, y0, x1, y1, figure->over->line, 0.22, 1);
        }
}

/* Returns how far one can go from `at` by `step` until lo or hi: a multiple of the step. */
static double reach(double at, double step, double lo, double hi) {
    return step > 0 ? (hi - at) / step : step < 0 ? (lo - at) / step : INFINITY;
}

/* Few names on a large picture have room beside each other and between the numbers of the rings. */
void names_draw(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    enum { NAMES = 8, LEAST = 300 };
    const Rig *rig = figure->frame->rig;
    const Box box = panel->box;
    if (!rig || rig->camera_count > NAMES || box.w < LEAST || box.h < LEAST)
        return;
    const double edge = 1.2 * SIZE_SMALL; /* within it, and within the numbers of the rings */
    TextStyle style = style_over(figure->over, SIZE_SMALL, ALIGN_CENTER);
    style.bold = true;
    for (int c = 0; figure->slice.slice != SLICE_SIDE && c < rig->camera_count; c++) {
        double at[2], direction[2], x, y, to_x, to_y;
        if (!overlay_column(figure, c, (rig->frustum.input_w - 1) / 2.0, at, direction))
            continue;
        double half = pen_text_width(pen, &style, rig->cameras[c].name) / 2 + 4;
        panel_point(figure, panel, at[0], at[1], &x, &y);
        panel_point(figure, panel, at[0] + direction[0], at[1] + direction[1], &to_x, &to_y);
        double far = fmin(reach(x, to_x - x, box.x + half, box.x + box.w - half),
                          reach(y, to_y - y, box.y + edge, box.y + box.h - edge));
        if (far > 0 && isfinite(far) && 2 * half < box.w)
            pen_text(pen, x + far * (to_x - x), y + far * (to_y - y) + 0.35 * SIZE_SMALL, 2 * half,
                     &style, rig->cameras[c].name);
    }
}

/* Draws each outline with its own stroke and plain corners. One path of all takes twice as long. */
/* Draws buildings dimmer than what stands on the street. */
static void draw_outlines(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const World *world = figure->frame->world;
    cairo_save(pen->cr);
    cairo_set_line_join(pen->cr, CAIRO_LINE_JOIN_MITER);
    for (int solid = 0; solid < world->solid_count; solid++) {
        double corners[WORLD_CORNERS][2];
        int count = world_footprint(world, solid, figure->frame->time_s, corners);
        cairo_new_sub_path(pen->cr);
        for (int i = 0; i < count; i++) {
            double px, py;
            panel_point(figure, panel, corners[i][0], corners[i][1], &px, &py);
            cairo_line_to(pen->cr, px, py);
        }
        cairo_close_path(pen->cr);
        bool building = world->solids[solid].class == CLASS_BUILDING;
        pen_stroke(pen, figure->over->line, building ? 0.3 : 0.75, 1);
    }
    cairo_restore(pen->cr);
}

static void rounded_path(cairo_t *cr, double x0, double y0, double x1, double y1, double radius) {
    cairo_new_sub_path(cr);
    cairo_arc(cr, x1 - radius, y0 + radius, radius, -M_PI / 2, 0);
    cairo_arc(cr, x1 - radius, y1 - radius, radius, 0, M_PI / 2);
    cairo_arc(cr, x0 + radius, y1 - radius, radius, M_PI / 2, M_PI);
    cairo_arc(cr, x0 + radius, y0 + radius, radius, M_PI, 3 * M_PI / 2);
    cairo_close_path(cr);
}

/* Draws body and windscreen to scale. On a grid of a few metres only their outlines are drawn,
 * because the vehicle would hide the cells. */
static void draw_ego_body(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    enum { SOLID_BELOW_PX = 60 };
    double x0, y0, x1, y1, ignored, screen_y0, screen_y1;
    panel_point(figure, panel, ego_front_m, ego_half_width_m, &x0, &y0);
    panel_point(figure, panel, ego_rear_m, -ego_half_width_m, &x1, &y1);
    panel_point(figure, panel, 2.3, 0, &ignored, &screen_y0);
    panel_point(figure, panel, 1.7, 0, &ignored, &screen_y1);
    double inset = 0.12 * (x1 - x0);
    Box screen = {x0 + inset, screen_y0, x1 - x0 - 2 * inset, screen_y1 - screen_y0};
    bool solid = x1 - x0 < SOLID_BELOW_PX;
    rounded_path(pen->cr, x0, y0, x1, y1, 0.25 * (x1 - x0));
    if (solid) {
        pen_color(pen, figure->over->halo, 0.55);
        cairo_fill_preserve(pen->cr);
    }
    pen_stroke(pen, figure->over->line, 1, 1.5);
    if (solid)
        pen_fill(pen, screen, figure->over->line, 0.9);
    else
        pen_frame(pen, screen, figure->over->line, 1, 1.5);
}

/* Draws an arrow that points forward from the bonnet. */
static void draw_front_arrow(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    double px, py;
    panel_point(figure, panel, ego_front_m, 0, &px, &py);
    double tip = py - 26, head = 9, half = 5;
    pen_line(pen, px, py - 3, px, tip + head, figure->over->halo, 0.7, 5);
    pen_line(pen, px, py - 3, px, tip + head, figure->over->line, 1, 2);
    cairo_move_to(pen->cr, px, tip);
    cairo_line_to(pen->cr, px - half, tip + head);
    cairo_line_to(pen->cr, px + half, tip + head);
    cairo_close_path(pen->cr);
    pen_color(pen, figure->over->halo, 0.7);
    cairo_set_line_width(pen->cr, 3);
    cairo_stroke_preserve(pen->cr);
    pen_color(pen, figure->over->line, 1);
    cairo_fill(pen->cr);
}

/* Draws the solids in the grid as seen from the side: boxes from foot to top. */
static void draw_side_outlines(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const World *world = figure->frame->world;
    const Grid *whole = &figure->frame->rig->grid;
    for (int solid = 0; solid < world->solid_count; solid++) {
        double corners[WORLD_CORNERS][2], lo = INFINITY, hi = -INFINITY, middle[2], x0, y0, x1, y1;
        int count = world_footprint(world, solid, figure->frame->time_s, corners);
        world_solid_center(world, solid, figure->frame->time_s, middle);
        for (int i = 0; i < count; i++) {
            lo = fmin(lo, corners[i][0]);
            hi = fmax(hi, corners[i][0]);
        }
        if (middle[1] < whole->y_min_m || middle[1] > whole->y_max_m)
            continue;
        double foot = world->solids[solid].z_m, top = foot + world->solids[solid].size_m[2];
        panel_point(figure, panel, top, hi, &x0, &y0);
        panel_point(figure, panel, foot, lo, &x1, &y1);
        pen_frame(pen, (Box){x0, y0, x1 - x0, y1 - y0}, figure->over->line, 0.6, 1);
    }
}

void overlay_draw(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    if (pen->measuring || !figure->frame->rig)
        return;
    pen_clip(pen, panel->box);
    if (figure->slice.slice == SLICE_SIDE) {
        if (figure->frame->world && figure->spec->outlines)
            draw_side_outlines(pen, figure, panel);
        cairo_restore(pen->cr);
        return;
    }
    draw_fields_of_view(pen, figure, panel);
    if (figure->frame->world && figure->spec->outlines)
        draw_outlines(pen, figure, panel);
    truth_draw(pen, figure, panel);
    draw_rings(pen, figure, panel, false);
    draw_ego_body(pen, figure, panel);
    draw_front_arrow(pen, figure, panel);
    draw_rings(pen, figure, panel, true);
    cairo_restore(pen->cr);
}
