/* SPDX-License-Identifier: MIT */
/* The probed cell and the points in it. */
#include "src/view/bev/strip.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

/* Rows of a panel from above; those without room are left out. */
typedef struct {
    Sheet *sheet;
    Area area; /* the rest of the panel */
} Lines;

static void say_line(Lines *lines, const char *text) {
    int rows = sheet_paragraph(lines->sheet, lines->area, INK_TEXT, text);
    lines->area = area_below(lines->area, rows);
}

/* ---- a cell --------------------------------------------------------------------------------- */

/* Writes the probed cell's place: in cells, and in metres if the scene has a rig. */
static void where_text(const PanelData *data, char *text, size_t size) {
    const LiveFrame *frame = &data->live->frame;
    const Slice slice = live_slice(frame, data->state->job.slice);
    int64_t x = data->live->probe.cell % frame->nx, row = data->live->probe.cell / frame->nx;
    int64_t y = row % slice.rows, z = row / slice.rows;
    int n = snprintf(text, size, "cell x %lld, y %lld", (long long)x, (long long)y);
    if (slice.slices > 1)
        n += snprintf(text + n, size - (size_t)n, ", z %lld", (long long)z);
    if (!frame->rig || n < 0 || (size_t)n >= size)
        return;
    double at_m[2]; /* forward, to the left */
    grid_center(&frame->rig->grid, data->live->probe.cell, at_m);
    snprintf(text + n, size - (size_t)n, ":  %.2f m %s, %.2f m %s", fabs(at_m[0]),
             at_m[0] < 0 ? "back" : "forward", fabs(at_m[1]), at_m[1] < 0 ? "right" : "left");
}

static const Column columns[] = {{"camera", 14, 0, true},
                                 {"pixel", 8, 0, false},
                                 {"depth", 8, 0, false},
                                 {"probability", 11, 1, false},
                                 {"weight", 7, 2, false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Draws a point of the probed cell: its camera, pixel, distance, depth and weight. */
static void contribution_row(Table *table, const Rig *rig, const LiveContribution *one) {
    char text[48];
    bool named = rig && one->camera < rig->camera_count;
    table_cell(table, 0, named ? rig->cameras[one->camera].name : "camera");
    snprintf(text, sizeof text, "%d, %d", one->w, one->h);
    table_cell(table, 1, text);
    if (rig)
        snprintf(text, sizeof text, "%.1f m", frustum_depth_m(&rig->frustum, one->depth_bin));
    else
        snprintf(text, sizeof text, "bin %d", one->depth_bin);
    table_cell(table, 2, text);
    snprintf(text, sizeof text, "%.4f", one->depth);
    table_cell(table, 3, text);
    snprintf(text, sizeof text, "%.3f", one->weight);
    table_cell(table, 4, text);
    table->y++;
}

/* Returns the number of points that bring at least a hundredth of what the heaviest one brings. */
static int points_that_matter(const LiveProbe *probe) {
    const LiveContribution *all = probe->contributions;
    int count = 1;
    while (count < probe->contribution_count &&
           all[count].depth * all[count].weight > 0.01F * all[0].depth * all[0].weight)
        count++;
    return count < probe->contribution_count ? count : probe->contribution_count;
}

/* Draws the heaviest points of the probed cell, and how many more it has. */
static void contributions(Lines *lines, const PanelData *data) {
    const LiveProbe *probe = &data->live->probe;
    int room = lines->area.h - 1, matter = points_that_matter(probe), shown = matter;
    bool more = matter > room || matter < probe->points; /* the last row says so */
    Table table;
    if (room < 2)
        return;
    if (more && shown >= room)
        shown = room - 1;
    table_begin(&table, lines->sheet, lines->area, columns, COLUMNS, NULL);
    for (int i = 0; i < shown; i++)
        contribution_row(&table, data->live->frame.rig, &probe->contributions[i]);
    lines->area = area_below(lines->area, shown + 1);
    if (shown < probe->points) {
        char text[64];
        snprintf(text, sizeof text, "and %lld more, %s", (long long)(probe->points - shown),
                 shown == matter && matter < probe->contribution_count ? "near 0" : "none heavier");
        say_line(lines, text);
    }
}

/* Writes how many pixels have a gradient of the loss, or why the gradients are unknown. */
static void loss_text(const LiveFrame *frame, char *text, size_t size) {
    const LiveGradients *gradients = &frame->gradients;
    if (!gradients->grad_feat)
        snprintf(text, size, "loss: %s", gradients->text);
    else
        snprintf(text, size, "loss on %s: %lld pixels would have to change",
                 !gradients->loss->inside      ? "all cells"
                 : gradients->loss->count == 1 ? "this cell"
                                               : "the yellow cells",
                 (long long)gradient_count(&frame->shape, gradients->grad_feat));
}

/* Writes what happened to the points of the explained pixel. */
static void dropped(Lines *lines, const PanelData *data) {
    int64_t pixel = dropped_pixel(data->state, data->live);
    const LiveFrame *frame = &data->live->frame;
    char text[256];
    if (pixel < 0)
        return;
    sheet_origin(lines->sheet, ORIGIN_MAP, NULL);
    dropped_text(frame->rig, frame->features->depth, pixel, text, sizeof text);
    say_line(lines, text);
    sheet_origin(lines->sheet, ORIGIN_PICTURE, NULL);
}

/* Writes who sends the points: "352 points: front 176, back 176; depth bins 1 to 4, 2.0 to 3.5 m".
 */
static void senders_text(const PanelData *data, char *text, size_t size) {
    const LiveProbe *probe = &data->live->probe;
    const Rig *rig = data->live->frame.rig;
    if (probe->interval < 0) {
        snprintf(text, size, "no point falls into it");
        return;
    }
    const char *separator = ":";
    snprintf(text, size, "%lld points", (long long)probe->points);
    for (int i = 0; rig && i < rig->camera_count; i++) {
        if (!probe->of_camera[i])
            continue;
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

/* Draws the probed cell: its place, points, and norm beside FP64. */
static void readout(Lines *lines, const PanelData *data) {
    const LiveProbe *probe = &data->live->probe;
    const LiveFrame *frame = &data->live->frame;
    const char *dtype = bev_dtypes[data->live->job.config.dtype].title;
    char text[256];
    where_text(data, text, sizeof text);
    say_line(lines, text);
    senders_text(data, text, sizeof text);
    say_line(lines, text);
    snprintf(text, sizeof text, "norm  %s %.6g   FP64 %.6g", dtype, probe->value,
             probe->fp64_original);
    say_line(lines, text);
    if (live_probe_empty(probe))
        say_line(lines, "each has probability 0 and adds nothing; a kernel reads it all the same: "
                        "the map is made before any depth is known");
    if (probe->channel >= 0) {
        snprintf(text, sizeof text, "channel %lld  %s %.6g   FP64 %.6g", (long long)probe->channel,
                 dtype, probe->channel_value, probe->channel_fp64);
        say_line(lines, text);
    }
    if (frame->gradients.loss) {
        sheet_origin(lines->sheet, ORIGIN_GRADIENTS, NULL);
        loss_text(frame, text, sizeof text);
        say_line(lines, text);
    }
    sheet_origin(lines->sheet, ORIGIN_PICTURE, NULL);
    dropped(lines, data);
    if (data->state->pinned && !frame->gradients.grad_depth && probe->contribution_count)
        contributions(lines, data);
}

void cell_draw(Sheet *sheet, Area area, const PanelData *data) {
    const char *title = data->state->pinned ? "Pinned cell" : "Cell";
    Lines lines = {sheet, sheet_title(sheet, area, title, "")};
    readout(&lines, data);
}
