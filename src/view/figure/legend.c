/* SPDX-License-Identifier: MIT */
/* Draws the meaning of a panel's colours (classes, a colour bar, or a note) and of its lines. */
#include "src/view/figure/figure_internal.h"
#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 24, SWATCH = 14, BAR_HEIGHT = 16, HEADING_ROW = 28 };
enum { CHIP_W = 28, CHIP_H = 17, POINT = 10, LABEL_GAP = 10 };

static double heading_row(Pen *pen, double x, double top, double w, const char *text) {
    TextStyle style = style_heading(pen);
    pen_text(pen, x, top + SIZE_HEADING, w, &style, text);
    return HEADING_ROW;
}

static void draw_swatch(Pen *pen, double x, double row_top, Rgb color) {
    Box box = {x, row_top + (ROW - SWATCH) / 2.0, SWATCH, SWATCH};
    pen_fill(pen, box, color, 1);
    pen_frame(pen, box, pen->theme->muted, 0.6, 1);
}

static void draw_row_text(Pen *pen, double x, double row_top, double w, const char *text) {
    TextStyle style = style_body(pen);
    pen_text(pen, x, row_top + ROW / 2.0 + 0.36 * SIZE_BODY, w, &style, text);
}

/* Draws a swatch with its text. Returns the height. */
static double swatch_row(Pen *pen, double x, double top, double w, Rgb color, const char *text) {
    draw_swatch(pen, x, top, color);
    draw_row_text(pen, x + SWATCH + 8, top, w - SWATCH - 8, text);
    return ROW;
}

static const Rgb rgb_inks[3] = {{230, 60, 60}, {60, 190, 80}, {70, 110, 240}};

/* Draws the classes, in two columns of swatches where there is room. */
static double class_rows(Pen *pen, double x, double top, double w) {
    int columns = w >= 300 ? 2 : 1, rows = (CLASS_COUNT + columns - 1) / columns;
    double column_w = w / columns;
    for (int class = 0; class < CLASS_COUNT; class ++) {
        double cx = x + class / rows * column_w, cy = top + class % rows * ROW;
        const uint8_t *color = world_classes[class].color;
        swatch_row(pen, cx, cy, column_w - 8, (Rgb){color[0], color[1], color[2]},
                   world_classes[class].title);
    }
    return rows * ROW;
}

/* ---- colour bar ----------------------------------------------------------------------------- */

/* Returns a colour of the bar. Without a map, from the background to white, by strength. */
static Rgb color_at(const Colormap *map, double t) {
    return map ? colormap_at(map, t)
               : rgb_blend(panel_theme.background, (Rgb){255, 255, 255}, decode_strength(t));
}

/* Draws the colour bar as a picture of one row, so that its steps have no seams. */
static void draw_color_bar(Pen *pen, Box bar, const Colormap *map) {
    uint8_t pixels[4 * COLORMAP_ENTRIES];
    Image row = {.w = COLORMAP_ENTRIES, .h = 1, .rgba = pixels};
    for (int i = 0; i < row.w; i++)
        image_set(&row, i, 0, color_at(map, (i + 0.5) / row.w));
    pen_picture(pen, bar, &row);
    pen_frame(pen, bar, pen->theme->muted, 0.6, 1);
}

/* Draws a pointed end. It shows that the values of some cells lie beyond the end's number. */
static void draw_pointed_end(Pen *pen, Box bar, bool right, Rgb color) {
    if (pen->measuring)
        return;
    double x = right ? bar.x + bar.w + 1 : bar.x - 1, tip = right ? POINT - 1 : 1 - POINT;
    cairo_move_to(pen->cr, x, bar.y - 1);
    cairo_line_to(pen->cr, x + tip, bar.y + bar.h / 2);
    cairo_line_to(pen->cr, x, bar.y + bar.h + 1);
    cairo_close_path(pen->cr);
    pen_color(pen, color, 1);
    cairo_fill(pen->cr);
}

static double draw_end_label(Pen *pen, Box bar, bool right, double value, int exponent) {
    TextStyle style = aligned(style_muted(pen), right ? ALIGN_RIGHT : ALIGN_LEFT);
    char text[32];
    ticks_short(value, exponent, text, sizeof text);
    double x = right ? bar.x + bar.w : bar.x;
    pen_line(pen, x, bar.y + bar.h, x, bar.y + bar.h + 5, pen->theme->muted, 1, 1);
    return pen_text(pen, x, bar.y + bar.h + 8 + 0.8 * SIZE_SMALL, bar.w / 3, &style, text);
}

/* Labels the two ends with exact numbers. Writes round numbers between them where there is room. */
static void bar_labels(Pen *pen, Box bar, const ValueRange *range, int exponent) {
    int target = (int)fmax(bar.w / 80, 2);
    Ticks ticks = ticks_of(range->logarithmic, range->lo, range->hi, target);
    double left = bar.x + draw_end_label(pen, bar, false, range->lo, exponent) + LABEL_GAP;
    double right = bar.x + bar.w - draw_end_label(pen, bar, true, range->hi, exponent) - LABEL_GAP;
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    for (int i = 0; i < ticks.count; i++) {
        double x = bar.x + bar.w * range_position(range, ticks.at[i]);
        double half = pen_text_width(pen, &style, ticks.label[i]) / 2;
        pen_line(pen, x, bar.y + bar.h, x, bar.y + bar.h + 5, pen->theme->muted, 1, 1);
        if (x - half >= left && x + half <= right)
            pen_text(pen, x, bar.y + bar.h + 8 + 0.8 * SIZE_SMALL, 60, &style, ticks.label[i]);
    }
}

static void draw_equal_label(Pen *pen, Box bar, const ValueRange *range, int exponent,
                             bool difference) {
    char number[32], text[64] = "no cell has a value";
    if (difference)
        snprintf(text, sizeof text, "both are equal");
    else if (!isnan(range->lo)) {
        ticks_short(range->lo, exponent, number, sizeof number);
        snprintf(text, sizeof text, "every cell is %s", number);
    }
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    pen_text(pen, bar.x + bar.w / 2, bar.y + bar.h + 8 + 0.8 * SIZE_SMALL, bar.w, &style, text);
}

/* Returns the cell with the largest difference, or -1. */
static int64_t largest_cell(const CellField *field) {
    int64_t largest = -1;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        if (field->state[cell] == CELL_VALUE && field->value[cell] != 0 &&
            (largest < 0 || fabsf(field->value[cell]) > fabsf(field->value[largest])))
            largest = cell;
    return largest;
}

/* Writes where a difference is largest. The colour bar may end below this difference. */
static void largest_text(const Figure *figure, const CellField *field, char *text, size_t size) {
    int64_t cell = largest_cell(field);
    text[0] = '\0';
    if (cell < 0)
        return;
    const Grid *grid = &figure->grid;
    bool metres = figure->frame->rig != NULL;
    double dx = (grid->x_max_m - grid->x_min_m) / (double)field->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / (double)field->ny;
    /* cells are counted; in metres this is the middle of the cell */
    double center = metres ? 0.5 : 0;
    double x = grid->x_min_m + ((double)(cell % field->nx) + center) * dx;
    double y = grid->y_min_m + ((double)(cell / field->nx) + center) * dy;
    int exponent = ticks_exponent(fabs(field->value[cell]));
    char number[32], multiplier[40], at_x[32], at_y[32];
    ticks_short(field->value[cell], exponent, number, sizeof number);
    ticks_multiplier(exponent, multiplier, sizeof multiplier);
    ticks_number(x, metres, at_x, sizeof at_x);
    ticks_number(y, metres, at_y, sizeof at_y);
    const char *unit = metres ? " m" : "";
    bool side = figure->slice.slice == SLICE_SIDE;
    snprintf(text, size, "largest: %s%s%s at %s %s%s, %s %s%s", number, multiplier[0] ? " " : "",
             multiplier, side ? "z" : "x", at_x, unit, side ? "x" : "y", at_y, unit);
}

static double small_line(Pen *pen, double x, double top, double w, const char *text) {
    TextStyle style = style_muted(pen);
    if (!text[0])
        return 0;
    pen_text(pen, x, top + SIZE_SMALL, w, &style, text);
    return SIZE_SMALL + 8;
}

static double color_bar_rows(Pen *pen, const Figure *figure, const FigurePanel *panel, double x,
                             double top, double w) {
    const ViewInfo *view = &views[panel_field(panel)->view];
    const ValueRange *range = &panel->bev->range;
    double before = range->below ? POINT : 0, after = range->above ? POINT : 0;
    Box bar = {x + before, top, w - before - after, BAR_HEIGHT};
    int exponent = range->logarithmic ? 0 : ticks_exponent(fmax(fabs(range->lo), fabs(range->hi)));
    draw_color_bar(pen, bar, panel->bev->colormap);
    if (range->below)
        draw_pointed_end(pen, bar, false, colormap_at(panel->bev->colormap, 0));
    if (range->above)
        draw_pointed_end(pen, bar, true, colormap_at(panel->bev->colormap, 1));
    if (range->hi > range->lo)
        bar_labels(pen, bar, range, exponent);
    else
        draw_equal_label(pen, bar, range, exponent, panel->bev->difference);
    double y = top + BAR_HEIGHT + 8 + SIZE_SMALL + 6;
    char multiplier[40], text[192];
    ticks_multiplier(exponent, multiplier, sizeof multiplier);
    snprintf(text, sizeof text, "%s%s%s%s", multiplier, multiplier[0] ? " " : "", view->unit,
             range->lo < 0 && range->logarithmic
                 ? ", logarithmic; orange: too large, blue: too small"
             : range->logarithmic ? ", logarithmic scale"
                                  : "");
    y += small_line(pen, x, y, w, text);
    if (view->symmetric || panel->bev->difference) {
        largest_text(figure, panel_field(panel), text, sizeof text);
        y += small_line(pen, x, y, w, text);
    }
    return y - top;
}

/* ---- colour views --------------------------------------------------------------------------- */

static double strength_bar_rows(Pen *pen, const FigurePanel *panel, double left, double top,
                                double w) {
    Box bar = {left, top, w, BAR_HEIGHT};
    draw_color_bar(pen, bar, NULL);
    char full[48] = "n/a";
    if (isfinite(panel_field(panel)->full_mass))
        snprintf(full, sizeof full, "\u2265 median, %.2g", panel_field(panel)->full_mass);
    TextStyle style = style_muted(pen);
    double baseline = bar.y + bar.h + 6 + 0.8 * SIZE_SMALL, x = bar.x + 16;
    double end = bar.x + bar.w - pen_text_width(pen, &style, full);
    pen_text(pen, bar.x, baseline, x - bar.x, &style, "0");
    pen_text(pen, x, baseline, end - 8 - x, &style, "brightness: depth weight, pixels");
    pen_text(pen, end, baseline, bar.w, &style, full);
    return BAR_HEIGHT + 6 + SIZE_SMALL;
}

static double component_rows(Pen *pen, const FigurePanel *panel, double x, double top, double w) {
    for (int k = 0; k < 3; k++) {
        char text[96], share[32] = "n/a";
        if (!isnan(panel_field(panel)->explained[k]))
            snprintf(share, sizeof share, "%.1f %%", 100 * panel_field(panel)->explained[k]);
        snprintf(text, sizeof text, "Component %d: %s of %s", k + 1, share,
                 panel->letter ? "A\u2019s variance" : "the variance");
        swatch_row(pen, x, top + k * ROW, w, rgb_inks[k], text);
    }
    return 3 * ROW;
}

static double channel_rows(Pen *pen, const FigurePanel *panel, double x, double top, double w) {
    const RgbChoice *rgb = &panel_field(panel)->rgb;
    for (int k = 0; k < 3; k++) {
        char text[96];
        snprintf(text, sizeof text, "channel %lld: %.3g to %.3g", (long long)rgb->channel[k],
                 rgb->lo[k], rgb->hi[k]);
        swatch_row(pen, x, top + k * ROW, w, rgb_inks[k], text);
    }
    double y = top + 3 * ROW + 6;
    return isnan(panel_field(panel)->full_mass) ? 3 * ROW
                                                : y + strength_bar_rows(pen, panel, x, y, w) - top;
}

static double bad_cell_row(Pen *pen, const FigurePanel *panel, double x, double top, double w) {
    if (!panel_field(panel)->nan_cells && !panel_field(panel)->inf_cells)
        return 0;
    char nan[32], inf[32], text[128];
    unit_text(UNIT_COUNT, (double)panel_field(panel)->nan_cells, nan, sizeof nan);
    unit_text(UNIT_COUNT, (double)panel_field(panel)->inf_cells, inf, sizeof inf);
    snprintf(text, sizeof text, "cells that are not a number: %s, infinite: %s", nan, inf);
    return swatch_row(pen, x, top, w, panel_theme.bad, text);
}

static void legend_title(const Figure *figure, const FigurePanel *panel, char *text, size_t size) {
    const ViewKind view = panel->bev->view;
    if (panel->bev->difference)
        snprintf(text, size, "Difference A \u2212 B");
    else if (view == VIEW_CHANNEL)
        snprintf(text, size, "Channel %lld", (long long)figure->spec->picture->channel);
    else
        snprintf(text, size, "%s", views[view].title);
}

static const char *difference_idea(const FigurePanel *panel) {
    return panel_field(panel)->view == VIEW_POINTS ? "points in A less points in B"
                                                   : "signed, of the channel that differs most";
}

double legend_block(Pen *pen, const Figure *figure, const FigurePanel *panel, double x, double top,
                    double w) {
    const ViewInfo *view = &views[panel_field(panel)->view];
    char title[96];
    legend_title(figure, panel, title, sizeof title);
    double y = top + heading_row(pen, x, top, w, title);
    bool one_a_column = panel_field(panel)->view == VIEW_POINTS && figure->slice.slices > 1;
    y += small_line(pen, x, y - 4, w,
                    panel->bev->difference ? difference_idea(panel)
                    : one_a_column         ? "points of the strongest cell of each column"
                                           : view->idea);
    if (view->legend == LEGEND_CLASSES)
        y += class_rows(pen, x, y, w) + 12;
    if (view->legend == LEGEND_BAR)
        y += color_bar_rows(pen, figure, panel, x, y, w);
    else if (view->legend == LEGEND_COMPONENTS)
        y += component_rows(pen, panel, x, y, w);
    else if (view->legend == LEGEND_CHANNELS)
        y += channel_rows(pen, panel, x, y, w);
    else
        y += strength_bar_rows(pen, panel, x, y, w);
    if (raster_fills(panel_field(panel), panel->bev->filled))
        y += 4 + small_line(pen, x, y + 4, w,
                            panel_field(panel)->view == VIEW_CLASS
                                ? "dimmer: empty cells, as the nearest"
                            : panel_field(panel)->color
                                ? "dimmer: empty, the mean around; dark: hardly any"
                                : "dimmer: empty cells, interpolated");
    return y + bad_cell_row(pen, panel, x, y, w) - top;
}

/* ---- lines over the picture ----------------------------------------------------------------- */

/* Draws a small sketch of the line on the panel's background. */
static void draw_chip(Pen *pen, double x, double row_top, const double *points, int count) {
    Box box = {x, row_top + (ROW - CHIP_H) / 2.0, CHIP_W, CHIP_H};
    pen_fill(pen, box, panel_theme.background, 1);
    pen_frame(pen, box, pen->theme->muted, 0.6, 1);
    for (int i = 0; i + 1 < count; i++)
        pen_line(pen, box.x + points[2 * i], box.y + points[2 * i + 1], box.x + points[2 * i + 2],
                 box.y + points[2 * i + 3], panel_theme.line, 0.8, 1);
}

/* The sketches in the chip's coordinates, CHIP_W x CHIP_H. */
static const double sketch_ring[] = {3, 13, 5, 9, 9, 6, 14, 4.5, 19, 6, 23, 9, 25, 13};
static const double sketch_field_of_view[] = {4, 3, 14, 14, 24, 3};
static const double sketch_ego[] = {11.5, 15,  11.5, 7,   14, 7, 14,   2.5, 12,   4.5, 14,   2.5,
                                    16,   4.5, 14,   2.5, 14, 7, 16.5, 7,   16.5, 15,  11.5, 15};
static const double sketch_box[] = {6.5, 4.5, 21.5, 4.5, 21.5, 12.5, 6.5, 12.5, 6.5, 4.5};

static const double sketch_true_box[] = {14,  8.5, 21.5, 8.5,  21.5, 4.5,  6.5,
                                         4.5, 6.5, 12.5, 21.5, 12.5, 21.5, 8.5};

static double line_row(Pen *pen, double x, double top, double w, const double *sketch, int points,
                       const char *text) {
    draw_chip(pen, x, top, sketch, points);
    draw_row_text(pen, x + CHIP_W + 10, top, w - CHIP_W - 10, text);
    return ROW;
}

double overlay_key_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const LiveFrame *frame = figure->frame;
    const unsigned truth = figure->spec->state->truth;
    bool side = figure->slice.slice == SLICE_SIDE;
    bool true_outlines = frame->world && figure->spec->outlines;
    if (!frame->rig || (side && !true_outlines))
        return 0;
    double y = top + heading_row(pen, x, top, w, "Lines"), step = figure->ring_step_m;
    char number[24], text[128];
    if (step > 0) {
        ticks_number(step, step < 1 ? (int)ceil(-log10(step)) : 0, number, sizeof number);
        snprintf(text, sizeof text, "range from the ego origin, every %s m", number);
        y += line_row(pen, x, y, w, sketch_ring, 7, text);
    }
    if (!side) {
        y += line_row(pen, x, y, w, sketch_field_of_view, 3,
                      "edges of the cameras\u2019 fields of view");
        y += line_row(pen, x, y, w, sketch_ego, 12, "ego vehicle to scale, arrow to its front");
    }
    if (frame->world && !frame->world->solid_count)
        y += line_row(pen, x, y, w, sketch_box, 5, "no objects: the world is empty");
    else if (true_outlines) {
        snprintf(text, sizeof text, "true outlines at t = %.2f s", frame->time_s);
        y += line_row(pen, x, y, w, sketch_box, 5, text);
    }
    if (!side && frame->photos && frame->photos->box_count && truth & TRUTH_BOXES)
        y += line_row(pen, x, y, w, sketch_true_box, 7, "true boxes, a line to their front");
    if (!side && frame->photos && frame->photos->sweep_count && truth & TRUTH_LIDAR) {
        char count[32];
        unit_text(UNIT_COUNT, (double)frame->photos->sweep_count, count, sizeof count);
        snprintf(text, sizeof text, "LiDAR, %s points", count);
        draw_swatch(pen, x + (CHIP_W - SWATCH) / 2.0, y, truth_lidar);
        draw_row_text(pen, x + CHIP_W + 10, y, w - CHIP_W - 10, text);
        y += ROW;
    }
    return y - top;
}
