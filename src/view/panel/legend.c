/* SPDX-License-Identifier: MIT */
/* Two panels. Legend: what the picture's colours mean, by classes, a colour bar, or components.
 * Cell: the cell under the mouse or pinned, its value, and its points. */
#include "src/view/bev/strip.h"
#include "src/view/draw/ticks.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

/* Draws a row of a legend: a square in the colour, and the colour's meaning. */
static void draw_key(Sheet *sheet, Area *area, Rgb color, const char *text) {
    Area row = area_row(area);
    sheet_key(sheet, &row, ink_rgb(color), 0x25a0);
    sheet_line(sheet, row, cell_style(INK_TEXT), text);
}

/* Draws the colours and names of the classes, in as many rows as needed. */
static void draw_classes(Sheet *sheet, Area *area) {
    Area row = area_row(area);
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const uint8_t *c = world_classes[class].color;
        const char *name = world_classes[class].name;
        if (3 + sheet_width(sheet, name) > row.w && row.x > area->x)
            row = area_row(area);
        sheet_key(sheet, &row, ink_rgb((Rgb){c[0], c[1], c[2]}), 0x25a0);
        sheet_line(sheet, row, cell_style(INK_MUTED), name);
        area_columns(&row, sheet_width(sheet, name) + 2);
    }
}

/* ---- colour bar ------------------------------------------------------------------------------ */

/* Draws a colour bar. `map` NULL: the colours go from the background to white, by strength. */
static void draw_bar(Sheet *sheet, Area row, const Colormap *map, bool light) {
    const PanelTheme *theme = &panel_themes[light];
    Image bar;
    Err ignored; /* without memory the place stays empty */
    int w, h;
    sheet_pixels(sheet, row, &w, &h);
    if (row.h < 1 || w < 1 || !image_init(&bar, w, h, &ignored))
        return;
    for (int i = 0; i < w * h; i++) {
        double t = (i % w + 0.5) / w;
        Rgb strong = rgb_blend(theme->background, theme->line, decode_strength(t));
        image_set(&bar, i % w, i / w, map ? colormap_on(map, t, light) : strong);
    }
    sheet_picture(sheet, row, &bar);
    image_free(&bar);
}

/* Draws exact numbers at the ends of a colour bar, and round numbers between them where they have
 * room. */
static void draw_labels(Sheet *sheet, Area row, const ValueRange *range) {
    enum { EACH_W = 10 };
    CellStyle style = cell_style(INK_MUTED);
    const Ticks ticks = ticks_of(range->logarithmic, range->lo, range->hi, row.w / EACH_W);
    const int between = ticks.exponent ? 0 : ticks.count; /* the row has no place for "x 10^3" */
    const ShortText lo = short_text("%s%.3g", range->below ? "< " : "", range->lo);
    const ShortText hi = short_text("%.3g%s", range->hi, range->above ? " <" : "");
    int free_from = row.x + sheet_line(sheet, row, style, lo.text) + 1;
    int end = row.x + row.w - sheet_width(sheet, hi.text);
    sheet_right(sheet, row, style, hi.text);
    for (int i = 0; i < between; i++) {
        int w = sheet_width(sheet, ticks.label[i]);
        int x = row.x + (int)lround(range_position(range, ticks.at[i]) * row.w) - w / 2;
        if (x < free_from || x + w >= end)
            continue;
        sheet_line(sheet, (Area){x, row.y, w, 1}, style, ticks.label[i]);
        free_from = x + w + 1;
    }
}

/* Returns the cell with the largest value, or -1. */
static int64_t largest_cell(const CellField *field) {
    int64_t largest = -1;
    float largest_size = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        if (field->state[cell] == CELL_VALUE && fabsf(field->value[cell]) > largest_size) {
            largest = cell;
            largest_size = fabsf(field->value[cell]);
        }
    return largest;
}

/* Returns what a colour bar shows: the unit, the scale, and whose range the bar has. */
static ShortText scale_text(const BevPicture *bev) {
    const ValueRange *range = &bev->range;
    const bool both_signs = range->lo < 0 && range->logarithmic;
    const char *scale = range->logarithmic ? ", logarithmic" : "";
    const char *signs = !both_signs       ? ""
                        : bev->difference ? "; orange: more, blue: less"
                                          : "; orange: too large, blue: too small";
    const char *whose = bev->locked        ? " (range locked)"
                        : bev->of_baseline ? " (the baseline's range)"
                                           : "";
    return short_text("%s%s%s%s", views[bev->field.view].unit, scale, signs, whose);
}

/* Draws a colour bar with its numbers and its meaning, or why all cells have the same colour. */
static void draw_scale(Sheet *sheet, Area *area, const PanelData *data) {
    const BevPicture *bev = &data->picture->bev;
    const ValueRange *range = &bev->range;
    const bool values_differ = range->hi > range->lo;
    draw_bar(sheet, area_row(area), bev->colormap, bev->light);
    if (area->h > 0 && values_differ)
        draw_labels(sheet, area_row(area), range);
    ShortText text = scale_text(bev);
    if (bev->difference && pooled_alike(data->live))
        text = short_text("both by %s", data->live->stand_in->title);
    else if (!values_differ && bev->difference)
        text = short_text("both are equal");
    else if (!values_differ)
        text = isnan(range->lo) ? short_text("no cell has a value")
                                : short_text("every cell with a value has %.3g", range->lo);
    sheet_say(sheet, area, INK_MUTED, text.text);
}

/* Returns where the error or difference is the largest: "largest 3.18, cell 100, 95". If the kernel
 * was judged at another moment, adds that moment's error. "": no cell has a difference. */
static ShortText largest_text(const PanelData *data) {
    const BevPicture *bev = &data->picture->bev;
    const CellField *field = &bev->field;
    const bool both_signs = bev->range.lo < 0 && bev->range.logarithmic;
    const int64_t cell = both_signs && !bev->chosen ? largest_cell(field) : -1;
    if (cell < 0)
        return (ShortText){""};
    ShortText text = short_text("largest %.3g, cell %s", field->value[cell],
                                state_cell_place(data->state, cell).text);
    const LiveAccuracy *judged = live_judged_elsewhere(data->live);
    if (field->view == VIEW_ERROR && judged)
        text_add(text.text, sizeof text.text, "; %s %s (:time %g)",
                 text_of_unit(UNIT_ERROR, judged->max_abs).text,
                 live_judged_text(&data->state->scene, judged).text, judged->time_s);
    return text;
}

/* Draws the meaning of red, green and blue: three channels, or three principal components. */
static void draw_components(Sheet *sheet, Area *area, const CellField *field, bool channels) {
    static const Rgb inks[3] = {{230, 60, 60}, {60, 190, 80}, {70, 110, 240}};
    for (int k = 0; k < 3; k++) {
        const double share = 100 * field->explained[k];
        const ShortText text =
            channels ? short_text("channel %lld: %.3g to %.3g", (long long)field->rgb.channel[k],
                                  field->rgb.lo[k], field->rgb.hi[k])
                     : short_text(isnan(share) ? "component %d"
                                               : "component %d: %.1f %% of the variance",
                                  k + 1, share);
        draw_key(sheet, area, inks[k], text.text);
    }
}

/* Draws what the view shows, and the meaning of its colours, of brightness and of fainter cells. */
void legend_draw(Sheet *sheet, Area area, const PanelData *data) {
    const BevPicture *bev = &data->picture->bev;
    const CellField *field = &bev->field;
    const ViewInfo *view = &views[field->view];
    const ShortText title =
        bev->view == VIEW_CHANNEL && !bev->difference
            ? short_text("Channel %lld", (long long)data->picture->channel)
            : short_text("%s", bev->difference ? "Difference A \u2212 B" : view->title);
    area = sheet_title(sheet, area, title.text,
                       view->legend == LEGEND_BAR ? largest_text(data).text : "");
    sheet_say(sheet, &area, INK_TEXT,
              !bev->difference             ? view->idea
              : field->view == VIEW_POINTS ? "points in A less points in B"
                                           : "signed, of the channel that differs most");
    if (view->legend == LEGEND_CLASSES)
        draw_classes(sheet, &area);
    else if (view->legend == LEGEND_BAR)
        draw_scale(sheet, &area, data);
    else if (view->legend != LEGEND_BRIGHTNESS)
        draw_components(sheet, &area, field, view->legend == LEGEND_CHANNELS);
    if (isfinite(field->full_mass)) {
        const ShortText mass = short_text("%s: more accumulated depth weight, 0 to %.2g and more",
                                          bev->light ? "darker" : "brighter", field->full_mass);
        sheet_origin(sheet, ORIGIN_MASS, NULL);
        draw_bar(sheet, area_row(&area), NULL, bev->light);
        sheet_say(sheet, &area, INK_MUTED, mass.text);
    }
    if (raster_fills(field, bev->filled))
        sheet_say(sheet, &area, INK_MUTED,
                  field->view == VIEW_CLASS ? "fainter: empty cells, as the nearest"
                  : field->color            ? "fainter: empty cells, the mean around them"
                                            : "fainter: empty cells, interpolated");
    const ShortText faults = short_text("cells that are not a number: %lld, infinite: %lld",
                                        (long long)field->nan_cells, (long long)field->inf_cells);
    if (field->nan_cells || field->inf_cells)
        draw_key(sheet, &area, panel_theme.bad, faults.text);
}

/* ---- the probed cell ------------------------------------------------------------------------- */

/* Writes the probed cell's place: in cells, and in metres if the scene has a rig. */
static ShortText where_text(const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    const Slice slice = live_slice(frame, data->state->job.slice);
    int64_t x = data->live->probe.cell % frame->nx, row = data->live->probe.cell / frame->nx;
    int64_t y = row % slice.rows, z = row / slice.rows;
    ShortText text =
        short_text(slice.slices > 1 ? "cell x %lld, y %lld, z %lld" : "cell x %lld, y %lld",
                   (long long)x, (long long)y, (long long)z);
    if (!frame->rig)
        return text;
    double at_m[2]; /* forward, to the left */
    grid_center(&frame->rig->grid, data->live->probe.cell, at_m);
    text_add(text.text, sizeof text.text, ":  %.2f m %s, %.2f m %s", fabs(at_m[0]),
             at_m[0] < 0 ? "back" : "forward", fabs(at_m[1]), at_m[1] < 0 ? "right" : "left");
    return text;
}

static const Column columns[] = {{"camera", 14, 0, true},
                                 {"pixel", 8, 0, false},
                                 {"depth", 8, 0, false},
                                 {"probability", 11, 1, false},
                                 {"weight", 7, 2, false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Draws a point of the probed cell: its camera, pixel, distance, depth and weight. */
static void draw_point(Table *table, const Rig *rig, const LiveContribution *point) {
    enum { CAMERA, PIXEL, DEPTH, PROBABILITY, WEIGHT }; /* columns */
    const bool named = rig && point->camera < rig->camera_count;
    table_cell(table, CAMERA, named ? rig->cameras[point->camera].name : "camera");
    table_cell(table, PIXEL, short_text("%d, %d", point->w, point->h).text);
    if (rig)
        table_number(table, DEPTH, "%.1f m", frustum_depth_m(&rig->frustum, point->depth_bin));
    else
        table_number(table, DEPTH, "bin %.0f", point->depth_bin);
    table_cell(table, PROBABILITY, short_text("%.4f", point->depth).text);
    table_cell(table, WEIGHT, short_text("%.3f", point->weight).text);
    table->y++;
}

/* Returns how many points are heavier than a hundredth of the first point, the heaviest one. */
static int count_heavy_points(const LiveProbe *probe) {
    const LiveContribution *all = probe->contributions;
    const int count = probe->contribution_count;
    int heavy = count < 1 ? 0 : 1;
    while (heavy < count &&
           all[heavy].depth * all[heavy].weight > 0.01F * all[0].depth * all[0].weight)
        heavy++;
    return heavy;
}

/* Draws the heaviest points of the probed cell. The last row tells how many points are left. */
static void draw_heavy_points(Sheet *sheet, Area area, const PanelData *data) {
    const LiveProbe *probe = &data->live->probe;
    const int room = area.h - 1, heavy = count_heavy_points(probe);
    const bool some_left = heavy > room || heavy < probe->points;
    const int shown = some_left && heavy >= room ? room - 1 : heavy;
    Table table;
    if (room < 2)
        return;
    table_begin(&table, sheet, area, columns, COLUMNS, NULL);
    for (int i = 0; i < shown; i++)
        draw_point(&table, data->live->frame.rig, &probe->contributions[i]);
    const bool rest_is_light = shown == heavy && heavy < probe->contribution_count;
    const char *weight = rest_is_light ? "near 0" : "none heavier";
    const ShortText rest = short_text("and %lld more, %s", (long long)(probe->points - shown),
                                      live_probe_empty(probe) ? "all 0" : weight);
    if (shown < probe->points)
        sheet_paragraph(sheet, area_below(area, shown + 1), INK_TEXT, rest.text);
}

/* Writes how many pixels have a gradient of the loss, or why the gradients are unknown. */
static ShortText loss_text(const LiveFrame *frame) {
    const LiveGradients *gradients = &frame->gradients;
    if (!gradients->grad_feat)
        return short_text("loss: %s", gradients->text);
    return short_text("loss on %s: %lld pixels would have to change",
                      !gradients->loss->inside      ? "all cells"
                      : gradients->loss->count == 1 ? "this cell"
                                                    : "the yellow cells",
                      (long long)gradient_count(&frame->shape, gradients->grad_feat));
}

/* Writes which cameras send the cell's points, and from which depths: "352 points: front 176, back
 * 176; depth bins 1 to 4, 2.0 to 3.5 m". */
static void senders_text(const PanelData *data, char *text, size_t size) {
    const LiveProbe *probe = &data->live->probe;
    const Rig *rig = data->live->frame.rig;
    if (probe->interval < 0) {
        snprintf(text, size, "no point falls into it");
        return;
    }
    const char *separator = ":"; /* before the first camera, else "," */
    snprintf(text, size, "%lld points", (long long)probe->points);
    for (int i = 0; rig && i < rig->camera_count; i++)
        if (probe->of_camera[i]) {
            text_add(text, size, "%s %s %lld", separator, rig->cameras[i].name,
                     (long long)probe->of_camera[i]);
            separator = ",";
        }
    const bool several = probe->bin_least != probe->bin_most;
    text_add(text, size, several ? "; depth bins %d to %d" : "; depth bin %d", probe->bin_least,
             probe->bin_most);
    if (rig)
        text_add(text, size, several ? ", %.1f to %.1f m" : ", %.1f m",
                 frustum_depth_m(&rig->frustum, probe->bin_least),
                 frustum_depth_m(&rig->frustum, probe->bin_most));
    if (rig && probe->points == data->state->shown.fullest_points)
        text_add(text, size, ": so near a camera, many pixels share a cell");
}

void cell_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveProbe *probe = &data->live->probe;
    const LiveFrame *frame = &data->live->frame;
    const char *dtype = bev_dtypes[data->live->job.config.dtype].title;
    const int64_t pixel = dropped_pixel(data->state, data->live);
    char text[256];
    area = sheet_title(sheet, area, data->state->pinned ? "Pinned cell" : "Cell", "");
    sheet_say(sheet, &area, INK_TEXT, where_text(data).text);
    senders_text(data, text, sizeof text);
    sheet_say(sheet, &area, INK_TEXT, text);
    const ShortText norm =
        short_text("norm  %s %.6g   FP64 %.6g", dtype, probe->value, probe->fp64_original);
    sheet_say(sheet, &area, INK_TEXT, norm.text);
    if (live_probe_empty(probe))
        sheet_say(sheet, &area, INK_TEXT,
                  "each has probability 0 and adds nothing; a kernel reads it all the same: "
                  "the map is made before any depth is known");
    const ShortText channel =
        short_text("channel %lld  %s %.6g   FP64 %.6g", (long long)probe->channel, dtype,
                   probe->channel_value, probe->channel_fp64);
    if (probe->channel >= 0)
        sheet_say(sheet, &area, INK_TEXT, channel.text);
    sheet_origin(sheet, ORIGIN_GRADIENTS, NULL);
    if (frame->gradients.loss)
        sheet_say(sheet, &area, INK_TEXT, loss_text(frame).text);
    sheet_origin(sheet, ORIGIN_MAP, NULL);
    if (pixel >= 0) {
        dropped_text(frame->rig, frame->features->depth, pixel, text, sizeof text);
        sheet_say(sheet, &area, INK_TEXT, text);
    }
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    if (data->state->pinned && !frame->gradients.grad_depth && probe->contribution_count)
        draw_heavy_points(sheet, area, data);
}
