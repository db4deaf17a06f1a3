/* SPDX-License-Identifier: MIT */
/* Draws over the picture of a BEV: true boxes, rings, fields of view, outlines and the vehicle. The
 * lines are thin and translucent, so that the cells stay readable. */
#include "src/view/figure/figure.h"

#include "src/base/hash.h"
#include "src/view/bev/strip.h"
#include "src/view/draw/ticks.h"

#include <math.h>

void panel_point(const FigurePanel *panel, double x_m, double y_m, double *px, double *py) {
    const Grid *grid = &panel->figure->grid;
    *px = panel->box.x + (grid->y_max_m - y_m) / (grid->y_max_m - grid->y_min_m) * panel->box.w;
    *py = panel->box.y + (grid->x_max_m - x_m) / (grid->x_max_m - grid->x_min_m) * panel->box.h;
}

/* Returns the pixels of a metre; 0: there is no rig, and no metres. */
static double panel_px_per_m(const Figure *figure) {
    const Grid *grid = &figure->grid;
    return figure->frame->rig ? figure->panel_w / (grid->y_max_m - grid->y_min_m) : 0;
}

enum { MIN_RING_PX = 72, MAX_RINGS = 64 };

/* Finds the distances from the ego vehicle to the nearest and the farthest cell. */
static void panel_distances(const Grid *grid, double *nearest, double *farthest) {
    double dx = fmax(fmax(grid->x_min_m, -grid->x_max_m), 0);
    double dy = fmax(fmax(grid->y_min_m, -grid->y_max_m), 0);
    *nearest = hypot(dx, dy);
    *farthest = hypot(fmax(fabs(grid->x_min_m), fabs(grid->x_max_m)),
                      fmax(fabs(grid->y_min_m), fabs(grid->y_max_m)));
}

double panel_ring_step(const Figure *figure) {
    double scale = panel_px_per_m(figure), nearest, farthest;
    if (!(scale > 0))
        return 0;
    double step = ticks_step(MIN_RING_PX / scale, 1);
    panel_distances(&figure->grid, &nearest, &farthest);
    return step < farthest && (farthest - nearest) / step < MAX_RINGS ? step : 0;
}

/* ---- the truth of the moment: boxes and LiDAR ------------------------------------------------ */

static const Rgb lidar_color = {0xff, 0x8f, 0xa3};

static void move_pen_to(Pen *pen, const FigurePanel *panel, double x_m, double y_m, bool line) {
    double px, py;
    panel_point(panel, x_m, y_m, &px, &py);
    (line ? cairo_line_to : cairo_move_to)(pen->cr, px, py);
}

/* Draws the outline, and a line from the centre to the middle of the front. */
static void draw_box(Pen *pen, const FigurePanel *panel, const TrueBox *box) {
    double corners[4][2];
    const double *center = box->center_m;
    photos_box_corners(box, corners);
    for (int i = 0; i < 4; i++)
        move_pen_to(pen, panel, corners[i][0], corners[i][1], i > 0);
    cairo_close_path(pen->cr);
    move_pen_to(pen, panel, center[0], center[1], false);
    move_pen_to(pen, panel, (corners[0][0] + corners[3][0]) / 2,
                (corners[0][1] + corners[3][1]) / 2, true);
    pen_stroke(pen, panel->figure->over->line, 0.75, 1);
}

/* Draws the LiDAR's points as squares, which cairo draws faster than circles. */
static void draw_sweep(Pen *pen, const FigurePanel *panel, const Photos *photos) {
    const double side = 1.2;
    pen_color(pen, lidar_color, 0.6);
    for (int64_t i = 0; i < photos->sweep_count; i++) {
        const float *p = photos->sweep_m + 3 * i;
        double px, py;
        panel_point(panel, p[0], p[1], &px, &py);
        if (px < panel->box.x || px >= panel->box.x + panel->box.w || py < panel->box.y ||
            py >= panel->box.y + panel->box.h)
            continue;
        cairo_rectangle(pen->cr, px - side / 2, py - side / 2, side, side);
        cairo_fill(pen->cr);
    }
}

static void draw_truth(Pen *pen, const FigurePanel *panel) {
    const Photos *photos = panel->figure->frame->photos;
    const unsigned truth = panel->figure->spec->state->truth;
    if (!photos)
        return;
    if (truth & TRUTH_LIDAR)
        draw_sweep(pen, panel, photos);
    cairo_save(pen->cr);
    cairo_set_line_join(pen->cr, CAIRO_LINE_JOIN_MITER);
    for (int64_t i = 0; truth & TRUTH_BOXES && i < photos->box_count; i++)
        draw_box(pen, panel, &photos->boxes[i]);
    cairo_restore(pen->cr);
}

/* ---- rings, fields of view, outlines, the car ------------------------------------------------ */

static bool lies_inside(Box outer, Box inner, double margin) {
    return inner.x >= outer.x + margin && inner.y >= outer.y + margin &&
           inner.x + inner.w <= outer.x + outer.w - margin &&
           inner.y + inner.h <= outer.y + outer.h - margin;
}

/* Labels a ring at the first direction, between usual cameras, where the label fits the panel. */
static void ring_label(Pen *pen, const FigurePanel *panel, double radius_m, int decimals) {
    static const double bearings_deg[] = {-30, 30, -150, 150, -90, 90, 0, 180, -60, 60};
    const ShortText text = short_text("%s m", ticks_number(radius_m, decimals).text);
    TextStyle style = style_over(panel->figure->over, SIZE_SMALL, ALIGN_CENTER);
    for (size_t i = 0; i < sizeof bearings_deg / sizeof *bearings_deg; i++) {
        double angle = bearings_deg[i] * M_PI / 180, px, py;
        panel_point(panel, radius_m * cos(angle), radius_m * sin(angle), &px, &py);
        py += 0.35 * SIZE_SMALL;
        if (lies_inside(panel->box, pen_text_box(pen, px, py, 80, &style, text.text), 4)) {
            pen_text(pen, px, py, 80, &style, text.text);
            return;
        }
    }
}

/* Draws the rings, or only their labels, which stand over all other lines. */
static void draw_rings(Pen *pen, const FigurePanel *panel, bool labels) {
    const Figure *figure = panel->figure;
    double step = figure->ring_step_m, nearest, farthest, px, py;
    if (!(step > 0))
        return;
    panel_distances(&figure->grid, &nearest, &farthest);
    int decimals = step < 1 ? (int)ceil(-log10(step)) : 0;
    panel_point(panel, 0, 0, &px, &py);
    for (double i = fmax(1, ceil(nearest / step)); i * step < farthest; i++) {
        if (labels) {
            ring_label(pen, panel, i * step, decimals);
            continue;
        }
        pen_circle(pen, px, py, i * step * panel_px_per_m(figure), figure->over->line, 0.28, 1);
    }
}

/* Finds where the ray through the middle of an image column starts, and its direction on the
 * ground, a unit vector. Returns false if the ray points straight up or down. */
static bool ground_ray(const Figure *figure, int camera, double u_px, double from_m[2],
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

static void draw_fields_of_view(Pen *pen, const FigurePanel *panel) {
    const Figure *figure = panel->figure;
    const Rig *rig = figure->frame->rig;
    double reach_m = 4 * (panel->box.w + panel->box.h) / panel_px_per_m(figure);
    double edges[2] = {0, rig->frustum.input_w - 1};
    for (int camera = 0; camera < rig->camera_count; camera++)
        for (int edge = 0; edge < 2; edge++) {
            double at[2], direction[2], x0, y0, x1, y1;
            if (!ground_ray(figure, camera, edges[edge], at, direction))
                continue;
            panel_point(panel, at[0], at[1], &x0, &y0);
            panel_point(panel, at[0] + reach_m * direction[0], at[1] + reach_m * direction[1], &x1,
                        &y1);
            pen_line(pen, x0, y0, x1, y1, figure->over->line, 0.22, 1);
        }
}

/* Returns how many steps lead from `at` to lo or hi. A step of 0 leads to neither: INFINITY. */
static double reach(double at, double step, double lo, double hi) {
    return step > 0 ? (hi - at) / step : step < 0 ? (lo - at) / step : INFINITY;
}

void names_draw(Pen *pen, const FigurePanel *panel) {
    enum { NAMES = 8, LEAST = 300 };
    const Figure *figure = panel->figure;
    const Rig *rig = figure->frame->rig;
    const Box box = panel->box;
    if (!rig || rig->camera_count > NAMES || box.w < LEAST || box.h < LEAST)
        return;
    const double edge = 1.2 * SIZE_SMALL; /* names stand outside of the rings' numbers */
    TextStyle style = style_over(figure->over, SIZE_SMALL, ALIGN_CENTER);
    style.bold = true;
    for (int c = 0; figure->slice.slice != SLICE_SIDE && c < rig->camera_count; c++) {
        double at[2], direction[2], x, y, to_x, to_y;
        if (!ground_ray(figure, c, (rig->frustum.input_w - 1) / 2.0, at, direction))
            continue;
        double half = pen_text_width(pen, &style, rig->cameras[c].name) / 2 + 4;
        panel_point(panel, at[0], at[1], &x, &y);
        panel_point(panel, at[0] + direction[0], at[1] + direction[1], &to_x, &to_y);
        double far = fmin(reach(x, to_x - x, box.x + half, box.x + box.w - half),
                          reach(y, to_y - y, box.y + edge, box.y + box.h - edge));
        if (far > 0 && isfinite(far) && 2 * half < box.w)
            pen_text(pen, x + far * (to_x - x), y + far * (to_y - y) + 0.35 * SIZE_SMALL, 2 * half,
                     &style, rig->cameras[c].name);
    }
}

/* Draws the outlines of the true solids, buildings dimmer than others. Each outline has its own
 * stroke, because one path of all outlines takes cairo twice as long. */
static void draw_outlines(Pen *pen, const FigurePanel *panel) {
    const LiveFrame *frame = panel->figure->frame;
    const World *world = frame->world;
    cairo_save(pen->cr);
    cairo_set_line_join(pen->cr, CAIRO_LINE_JOIN_MITER);
    for (int solid = 0; solid < world->solid_count; solid++) {
        double corners[WORLD_CORNERS][2];
        int count = world_footprint(world, solid, frame->time_s, corners);
        for (int i = 0; i < count; i++)
            move_pen_to(pen, panel, corners[i][0], corners[i][1], i > 0);
        cairo_close_path(pen->cr);
        bool building = world->solids[solid].class == CLASS_BUILDING;
        pen_stroke(pen, panel->figure->over->line, building ? 0.3 : 0.75, 1);
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

/* Draws the vehicle's body and windscreen to scale. On a grid of a few metres a solid body would
 * hide many cells: there only the outlines are drawn. */
static void draw_ego_body(Pen *pen, const FigurePanel *panel) {
    enum { SOLID_BELOW_PX = 60 };
    double x0, y0, x1, y1, ignored, screen_y0, screen_y1;
    panel_point(panel, EGO_FRONT_M, EGO_HALF_WIDTH_M, &x0, &y0);
    panel_point(panel, EGO_REAR_M, -EGO_HALF_WIDTH_M, &x1, &y1);
    panel_point(panel, 2.3, 0, &ignored, &screen_y0);
    panel_point(panel, 1.7, 0, &ignored, &screen_y1);
    const PanelTheme *over = panel->figure->over;
    double inset = 0.12 * (x1 - x0);
    Box screen = {x0 + inset, screen_y0, x1 - x0 - 2 * inset, screen_y1 - screen_y0};
    bool solid = x1 - x0 < SOLID_BELOW_PX;
    rounded_path(pen->cr, x0, y0, x1, y1, 0.25 * (x1 - x0));
    if (solid) {
        pen_color(pen, over->halo, 0.55);
        cairo_fill_preserve(pen->cr);
    }
    pen_stroke(pen, over->line, 1, 1.5);
    if (solid)
        pen_fill(pen, screen, over->line, 0.9);
    else
        pen_frame(pen, screen, over->line, 1, 1.5);
}

static void draw_front_arrow(Pen *pen, const FigurePanel *panel) {
    const PanelTheme *over = panel->figure->over;
    double px, py;
    panel_point(panel, EGO_FRONT_M, 0, &px, &py);
    double tip = py - 26, head = 9, half = 5;
    pen_line(pen, px, py - 3, px, tip + head, over->halo, 0.7, 5);
    pen_line(pen, px, py - 3, px, tip + head, over->line, 1, 2);
    cairo_move_to(pen->cr, px, tip);
    cairo_line_to(pen->cr, px - half, tip + head);
    cairo_line_to(pen->cr, px + half, tip + head);
    cairo_close_path(pen->cr);
    pen_color(pen, over->halo, 0.7);
    cairo_set_line_width(pen->cr, 3);
    cairo_stroke_preserve(pen->cr);
    pen_color(pen, over->line, 1);
    cairo_fill(pen->cr);
}

/* Draws the true solids as seen from the side: boxes from foot to top. */
static void draw_side_outlines(Pen *pen, const FigurePanel *panel) {
    const LiveFrame *frame = panel->figure->frame;
    const World *world = frame->world;
    const Grid *whole = &frame->rig->grid;
    for (int solid = 0; solid < world->solid_count; solid++) {
        double corners[WORLD_CORNERS][2], lo = INFINITY, hi = -INFINITY, middle[2], x0, y0, x1, y1;
        int count = world_footprint(world, solid, frame->time_s, corners);
        world_solid_center(world, solid, frame->time_s, middle);
        for (int i = 0; i < count; i++) {
            lo = fmin(lo, corners[i][0]);
            hi = fmax(hi, corners[i][0]);
        }
        if (middle[1] < whole->y_min_m || middle[1] > whole->y_max_m)
            continue;
        double foot = world->solids[solid].z_m, top = foot + world->solids[solid].size_m[2];
        panel_point(panel, top, hi, &x0, &y0);
        panel_point(panel, foot, lo, &x1, &y1);
        pen_frame(pen, (Box){x0, y0, x1 - x0, y1 - y0}, panel->figure->over->line, 0.6, 1);
    }
}

/* Draws what the motion of the world does not change. `context` is the panel. */
static void draw_over_rig(Pen *pen, const void *context) {
    draw_fields_of_view(pen, context);
    draw_rings(pen, context, false);
    draw_ego_body(pen, context);
    draw_front_arrow(pen, context);
    draw_rings(pen, context, true);
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = hash_add(hash, bytes[i]);
    return hash;
}

/* Draws what does not move. Its pixels are kept while the key, made of all inputs, stays. */
static void draw_still(Pen *pen, const FigurePanel *panel) {
    const Figure *figure = panel->figure;
    uint64_t key = hash_bytes(HASH_BEGIN, &panel->box, sizeof panel->box);
    key = hash_bytes(key, &figure->grid, sizeof figure->grid);
    key = hash_bytes(key, &figure->over, sizeof figure->over);
    key = hash_bytes(key, figure->frame->rig, sizeof *figure->frame->rig);
    pen_still(pen, panel->box, key, draw_over_rig, panel);
}

void overlay_draw(Pen *pen, const FigurePanel *panel) {
    const Figure *figure = panel->figure;
    const bool side = figure->slice.slice == SLICE_SIDE;
    if (!figure->frame->rig)
        return;
    pen_clip(pen, panel->box);
    if (figure->frame->world && figure->spec->outlines)
        (side ? draw_side_outlines : draw_outlines)(pen, panel);
    if (!side) {
        draw_truth(pen, panel);
        draw_still(pen, panel);
    }
    cairo_restore(pen->cr);
}

/* ---- backward: the cells of the loss, and the chosen feature pixel --------------------------- */

static Box cell_box(const FigurePanel *panel, int64_t place) {
    const Figure *figure = panel->figure;
    const Grid whole = figure_of(figure->spec).grid;
    double step_x = (whole.x_max_m - whole.x_min_m) / whole.nx;
    double step_y = (whole.y_max_m - whole.y_min_m) / whole.ny, x0, y0, x1, y1;
    double x_m = whole.x_min_m + (double)(place % figure->slice.nx) * step_x;
    double y_m = whole.y_min_m + (double)(place / figure->slice.nx) * step_y;
    panel_point(panel, x_m + step_x, y_m + step_y, &x0, &y0);
    panel_point(panel, x_m, y_m, &x1, &y1);
    return (Box){x0, y0, x1 - x0, y1 - y0};
}

/* Fills the cells of the loss, each enlarged by a margin. Returns the box around all cells. */
static Box fill_cells(Pen *pen, const FigurePanel *panel, double margin, Rgb color, double alpha) {
    const Figure *figure = panel->figure;
    const uint8_t *inside = figure->frame->gradients.loss->inside;
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (int64_t cell = 0; cell < figure->frame->nx * figure->frame->ny; cell++) {
        int64_t place = inside[cell] ? slice_place(&figure->slice, cell) : -1;
        if (place < 0)
            continue;
        Box box = cell_box(panel, place);
        box = (Box){box.x - margin, box.y - margin, box.w + 2 * margin, box.h + 2 * margin};
        pen_fill(pen, box, color, alpha);
        left = fmin(left, box.x);
        right = fmax(right, box.x + box.w);
        top = fmin(top, box.y);
        bottom = fmax(bottom, box.y + box.h);
    }
    return (Box){left, top, right - left, bottom - top};
}

void loss_draw(Pen *pen, const FigurePanel *panel, bool strong) {
    enum { FINDER = 40, RIM = 2 };
    const GridLoss *loss = panel->figure->frame->gradients.loss;
    const Rgb halo = panel->figure->over->halo;
    if (!loss || !loss->inside)
        return;
    pen_clip(pen, panel->box);
    if (strong)
        fill_cells(pen, panel, RIM, halo, 1);
    Box all = fill_cells(pen, panel, 0, gradient_light, strong ? 1 : 0.55);
    const bool ring = strong && all.w > 0 && all.w < FINDER && all.h < FINDER;
    for (int rim = 1; ring && rim >= 0; rim--)
        pen_circle(pen, all.x + all.w / 2, all.y + all.h / 2, FINDER / 2.0,
                   rim ? halo : gradient_light, rim ? 0.8 : 1, rim ? 4 : 2);
    cairo_restore(pen->cr);
}
