/* The way back in the figure: cells of the loss, lit camera pictures, and the depth bins of the
 * pixel with the largest gradient. */
#include "src/view/bev/gradient_strip.h"
#include "src/view/draw/ticks.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

enum { HEADING_ROW = 28, RAMP_H = 16, RAMP_STEPS = 256, PLOT_H = 84, LINE_H = 18, FINDER = 40 };

static const Rgb halo = {10, 12, 15};

/* The colour of gradients on the page itself: gradient_light is too bright for white paper. */
static Rgb ink(const FigureSpec *spec) {
    const Rgb dark_amber = {0xa8, 0x5c, 0x00};
    return spec->theme == THEME_DARK ? gradient_light : dark_amber;
}

/* ---- the cells of the loss ------------------------------------------------------------------- */

static bool in_loss(const FigureSpec *spec, int64_t x, int64_t y) {
    if (x < 0 || y < 0 || x >= spec->nx || y >= spec->ny)
        return false;
    if (spec->slice.slices <= 1)
        return spec->backward->inside[y * spec->nx + x];
    SliceRun run = slice_run(&spec->slice, y * spec->nx + x);
    bool inside = false;
    for (int64_t i = 0; i < run.count && !inside; i++)
        inside = spec->backward->inside[run.first + i * run.step];
    return inside;
}

/* The side of a cell between corners (x, y) and (x + dx, y + dy) of the grid of cells. */
static void side(Pen *pen, const Figure *figure, const FigurePanel *panel, int64_t x, int64_t y,
                 int dx, int dy) {
    const Grid *grid = &figure->grid;
    double step_x = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double step_y = (grid->y_max_m - grid->y_min_m) / grid->ny, px, py;
    for (int end = 0; end < 2; end++) {
        panel_point(figure, panel, grid->x_min_m + (double)(x + end * dx) * step_x,
                    grid->y_min_m + (double)(y + end * dy) * step_y, &px, &py);
        if (end)
            cairo_line_to(pen->cr, px, py);
        else
            cairo_move_to(pen->cr, px, py);
    }
}

/* The sides between a cell of the loss and its neighbours outside. */
static void outline(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    const FigureSpec *spec = figure->spec;
    for (int64_t y = 0; y < spec->ny; y++)
        for (int64_t x = 0; x < spec->nx; x++) {
            if (!in_loss(spec, x, y))
                continue;
            if (!in_loss(spec, x - 1, y))
                side(pen, figure, panel, x, y, 0, 1);
            if (!in_loss(spec, x + 1, y))
                side(pen, figure, panel, x + 1, y, 0, 1);
            if (!in_loss(spec, x, y - 1))
                side(pen, figure, panel, x, y, 1, 0);
            if (!in_loss(spec, x, y + 1))
                side(pen, figure, panel, x, y + 1, 1, 0);
        }
}

void loss_draw(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    if (!figure->spec->backward || pen->measuring)
        return;
    double x0, y0, x1, y1;
    pen_clip(pen, panel->box);
    cairo_save(pen->cr);
    cairo_set_line_cap(pen->cr, CAIRO_LINE_CAP_SQUARE);
    outline(pen, figure, panel);
    cairo_path_extents(pen->cr, &x0, &y0, &x1, &y1);
    pen_stroke(pen, halo, 0.8, 4);
    outline(pen, figure, panel);
    pen_stroke(pen, gradient_light, 1, 2);
    if (x1 - x0 < FINDER && y1 - y0 < FINDER) { /* too small to be found: a ring around it */
        double radius = FINDER / 2.0;
        cairo_arc(pen->cr, (x0 + x1) / 2, (y0 + y1) / 2, radius, 0, 2 * M_PI);
        pen_stroke(pen, halo, 0.8, 4);
        cairo_arc(pen->cr, (x0 + x1) / 2, (y0 + y1) / 2, radius, 0, 2 * M_PI);
        pen_stroke(pen, gradient_light, 1, 2);
    }
    cairo_restore(pen->cr);
    cairo_restore(pen->cr);
}

/* ---- camera pictures ------------------------------------------------------------------------- */

/* Without a rig a picture has a pixel for each feature. */
static Frustum frustum_of(const FigureSpec *spec) {
    int w = (int)spec->backward->shape.feat_w, h = (int)spec->backward->shape.feat_h;
    Frustum plain = {.input_w = w, .input_h = h, .feat_w = w, .feat_h = h};
    return spec->rig ? spec->rig->frustum : plain;
}

bool lit_camera(const FigureSpec *spec, int64_t camera, Image *image, Err *err) {
    const Frustum frustum = frustum_of(spec);
    return gradient_camera(spec->cameras, &frustum, spec->backward->strength, camera, image, err);
}

/* Where the footprint of element `at` of linspace(0, input - 1, count) begins, as a share of the
 * picture. Its end is where the next one begins. */
static double edge_of(double at, int input, int count) {
    if (count == 1)
        return at > 0;
    double px = (at - 0.5) * (input - 1) / (count - 1) + 0.5;
    return fmin(fmax(px / input, 0), 1);
}

void strongest_draw(Pen *pen, const FigureSpec *spec, int64_t camera, Box box) {
    if (!spec->backward)
        return;
    const BevShape *shape = &spec->backward->shape;
    int64_t pixel = spec->backward->pixel - camera * shape->feat_h * shape->feat_w;
    if (pixel < 0 || pixel >= shape->feat_h * shape->feat_w)
        return;
    const Frustum frustum = frustum_of(spec);
    double w = (double)(pixel % shape->feat_w), h = (double)(pixel / shape->feat_w);
    double x0 = edge_of(w, frustum.input_w, frustum.feat_w);
    double x1 = edge_of(w + 1, frustum.input_w, frustum.feat_w);
    double y0 = edge_of(h, frustum.input_h, frustum.feat_h);
    double y1 = edge_of(h + 1, frustum.input_h, frustum.feat_h);
    Box frame = {box.x + x0 * box.w, box.y + y0 * box.h, (x1 - x0) * box.w, (y1 - y0) * box.h};
    const Rgb white = {255, 255, 255};
    Box outer = {frame.x - 1.5, frame.y - 1.5, frame.w + 3, frame.h + 3};
    pen_frame(pen, outer, halo, 1, 1.5);
    pen_frame(pen, frame, white, 1, 1.5);
}

/* ---- the legend of the pictures -------------------------------------------------------------- */

/* From the dimmed picture to the full light; the mix follows the square root, and so do the
 * labels. */
static double ramp(Pen *pen, double x, double top, double w) {
    uint8_t pixels[4 * RAMP_STEPS];
    const Rgb grey = {128, 128, 128};
    Image row = {.w = RAMP_STEPS, .h = 1, .rgba = pixels};
    for (int i = 0; i < row.w; i++) {
        float share = ((float)i + 0.5F) / (float)row.w;
        image_set(&row, i, 0, gradient_lit(grey, share * share));
    }
    Box bar = {x + 1, top, w - 2, RAMP_H};
    pen_picture(pen, bar, &row);
    pen_frame(pen, bar, pen->theme->muted, 0.6, 1);
    static const char *const labels[] = {"0", "25 %", "largest"};
    static const TextAlign aligns[] = {ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT};
    for (int i = 0; i < 3; i++) {
        double at = bar.x + bar.w * i / 2.0;
        TextStyle style = aligned(style_muted(pen), aligns[i]);
        pen_line(pen, at, bar.y + bar.h, at, bar.y + bar.h + 5, pen->theme->muted, 1, 1);
        pen_text(pen, at, bar.y + bar.h + 8 + 0.8 * SIZE_SMALL, bar.w / 3, &style, labels[i]);
    }
    return RAMP_H + 8 + SIZE_SMALL + 8;
}

static double legend(Pen *pen, const FigureSpec *spec, double x, double top, double w) {
    const FigureBackward *back = spec->backward;
    TextStyle head = style_heading(pen), small = style_muted(pen);
    int64_t per_camera = back->shape.feat_h * back->shape.feat_w, pixels = 0, cameras = 0;
    for (int64_t camera = 0; camera < back->shape.cameras; camera++) {
        int64_t lit = 0;
        for (int64_t i = 0; i < per_camera; i++)
            lit += back->strength[camera * per_camera + i] > 0;
        pixels += lit;
        cameras += lit > 0;
    }
    char text[256];
    snprintf(
        text, sizeof text,
        "%lld of %lld pixels, in %lld of %lld cameras, feed what is outlined. The brighter, the "
        "larger the norm of grad_feat, the gradient of the pixel\u2019s features.",
        (long long)pixels, (long long)(per_camera * back->shape.cameras), (long long)cameras,
        (long long)back->shape.cameras);
    pen_text(pen, x, top + SIZE_HEADING, w, &head, "Which pixels would have to change");
    double y = top + HEADING_ROW;
    y += ramp(pen, x, y, w);
    return y + pen_paragraph(pen, x, y, w, &small, text) - top;
}

/* ---- the bins of the strongest pixel --------------------------------------------------------- */

/* Bars of a value for each bin, up or down from 0. Bins that fall into the loss are in the colour
 * of gradients. */
static void bars(Pen *pen, const FigureSpec *spec, Box box, const float *values) {
    const FigureBackward *back = spec->backward;
    int64_t bins = back->shape.depth_bins;
    double lo = 0, hi = 0, step = box.w / (double)bins;
    for (int64_t d = 0; d < bins; d++) {
        lo = isfinite(values[d]) ? fmin(lo, values[d]) : lo;
        hi = isfinite(values[d]) ? fmax(hi, values[d]) : hi;
    }
    double unit = hi > lo ? box.h / (hi - lo) : 0, zero = box.y + hi * unit;
    for (int64_t d = 0; d < bins; d++) {
        bool pulled = back->reaches[d];
        double x = box.x + (double)d * step, h = isfinite(values[d]) ? values[d] * unit : 0;
        if (pulled)
            pen_fill(pen, (Box){x, box.y, step, box.h}, ink(spec), 0.12);
        pen_fill(pen, (Box){x + 0.1 * step, h > 0 ? zero - h : zero, 0.8 * step, fabs(h)},
                 pulled ? ink(spec) : pen->theme->accent, 1);
    }
    pen_line(pen, box.x, zero, box.x + box.w, zero, pen->theme->muted, 1, 1);
}

/* "depth distribution: at most 0.83" */
static void largest_text(const char *what, const float *values, int64_t bins, char *text,
                         size_t size) {
    double largest = 0;
    for (int64_t d = 0; d < bins; d++)
        if (fabs(values[d]) > fabs(largest))
            largest = values[d];
    int exponent = ticks_exponent(fabs(largest));
    char number[32], multiplier[40];
    ticks_short(largest, exponent, number, sizeof number);
    ticks_multiplier(exponent, multiplier, sizeof multiplier);
    snprintf(text, size, "%s: at most %s%s", what, number, multiplier);
}

/* Metres of a bin along the optical axis; its number without a rig. */
static double metres(const FigureSpec *spec, double bin) {
    const Frustum *frustum = spec->rig ? &spec->rig->frustum : NULL;
    return frustum ? frustum_depth_m(frustum, bin) : bin;
}

static double depth_axis(Pen *pen, const FigureSpec *spec, double x, double top, double w) {
    double lo = metres(spec, -0.5);
    double hi = metres(spec, (double)spec->backward->shape.depth_bins - 0.5);
    Ticks ticks = ticks_linear(lo, hi, (int)fmax(w / 45, 2));
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    for (int i = 0; i < ticks.count; i++) {
        double at = x + w * (ticks.at[i] - lo) / (hi - lo);
        double half = pen_text_width(pen, &style, ticks.label[i]) / 2;
        pen_line(pen, at, top, at, top + 5, pen->theme->muted, 1, 1);
        if (at - half >= x && at + half <= x + w)
            pen_text(pen, at, top + 8 + 0.8 * SIZE_SMALL, 60, &style, ticks.label[i]);
    }
    style.color = pen->theme->text;
    double title = top + 8 + SIZE_SMALL + 6 + 0.8 * SIZE_SMALL;
    pen_text(pen, x + w / 2, title, w, &style,
             spec->rig ? "distance along the optical axis (m)" : "depth bin");
    return title + 8 - top;
}

/* What the picture shows, in a sentence. */
static void caption(const FigureSpec *spec, char *text, size_t size) {
    const FigureBackward *back = spec->backward;
    int64_t bins = back->shape.depth_bins, first = -1, last = -1, pulled = 0;
    double share = 0, all = 0;
    for (int64_t d = 0; d < bins; d++) {
        bool here = back->reaches[d];
        all += back->depth[d];
        share += here ? back->depth[d] : 0;
        pulled += here;
        first = here && first < 0 ? d : first;
        last = here ? d : last;
    }
    const char *unit = spec->rig ? " m" : "";
    char where[64] = "";
    if (pulled == 1)
        snprintf(where, sizeof where, "at %.4g%s", metres(spec, (double)first), unit);
    else if (pulled)
        snprintf(where, sizeof where, "from %.4g to %.4g%s", metres(spec, (double)first),
                 metres(spec, (double)last), unit);
    if (!pulled)
        snprintf(text, size, "None of this pixel\u2019s %lld bins falls into what is outlined.",
                 (long long)bins);
    else
        snprintf(text, size,
                 "%lld of this pixel\u2019s %lld bins, %s, fall%s into what is outlined: there it "
                 "keeps %.3g %% of its depth, and no other bin can change it.",
                 (long long)pulled, (long long)bins, where, pulled == 1 ? "s" : "",
                 all > 0 ? 100 * share / all : 0);
}

static double bins_of_strongest(Pen *pen, const FigureSpec *spec, double x, double top, double w) {
    const FigureBackward *back = spec->backward;
    const BevShape *shape = &back->shape;
    int64_t camera = back->pixel / (shape->feat_h * shape->feat_w);
    int64_t place = back->pixel % (shape->feat_h * shape->feat_w);
    TextStyle head = style_heading(pen), small = style_muted(pen), body = style_body(pen);
    char text[256], name[48];
    snprintf(name, sizeof name, "camera %lld", (long long)camera);
    snprintf(text, sizeof text, "%s: %s, column %lld, row %lld",
             back->chosen ? "The pixel chosen" : "The brightest",
             spec->rig ? spec->rig->cameras[camera].name : name, (long long)(place % shape->feat_w),
             (long long)(place / shape->feat_w));
    pen_text(pen, x, top + SIZE_HEADING, w, &head, text);
    double y = top + HEADING_ROW;
    const float *const values[] = {back->depth, back->grad_depth};
    static const char *const names[] = {"depth distribution",
                                        "grad_depth, how the loss follows each bin"};
    for (int i = 0; i < 2; i++) {
        largest_text(names[i], values[i], shape->depth_bins, text, sizeof text);
        pen_text(pen, x, y + 0.8 * SIZE_SMALL, w, &small, text);
        bars(pen, spec, (Box){x, y + LINE_H, w, PLOT_H}, values[i]);
        y += LINE_H + PLOT_H + (i ? 0 : 10);
    }
    y += depth_axis(pen, spec, x, y, w) + 4;
    caption(spec, text, sizeof text);
    return y + pen_paragraph(pen, x, y, w, &body, text) - top;
}

double gradient_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    if (!spec->backward)
        return 0;
    double y = top + legend(pen, spec, x, top, w) + 14;
    return y + bins_of_strongest(pen, spec, x, y, w) - top;
}
