/* SPDX-License-Identifier: MIT */
/* The probed cell and the points in it. */
#include "src/view/bev/strip.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

/* ---- a cell --------------------------------------------------------------------------------- */

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
static void contribution_row(Table *table, const Rig *rig, const LiveContribution *one) {
    bool named = rig && one->camera < rig->camera_count;
    table_cell(table, 0, named ? rig->cameras[one->camera].name : "camera");
    table_cell(table, 1, short_text("%d, %d", one->w, one->h).text);
    table_number(table, 2, rig ? "%.1f m" : "bin %.0f",
                 rig ? frustum_depth_m(&rig->frustum, one->depth_bin) : one->depth_bin);
    table_cell(table, 3, short_text("%.4f", one->depth).text);
    table_cell(table, 4, short_text("%.3f", one->weight).text);
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
static void contributions(Sheet *sheet, Area area, const PanelData *data) {
    const LiveProbe *probe = &data->live->probe;
    int room = area.h - 1, matter = points_that_matter(probe), shown = matter;
    bool more = matter > room || matter < probe->points; /* the last row says so */
    Table table;
    if (room < 2)
        return;
    if (more && shown >= room)
        shown = room - 1;
    table_begin(&table, sheet, area, columns, COLUMNS, NULL);
    for (int i = 0; i < shown; i++)
        contribution_row(&table, data->live->frame.rig, &probe->contributions[i]);
    bool near_0 = shown == matter && matter < probe->contribution_count;
    if (shown < probe->points)
        sheet_paragraph(sheet, area_below(area, shown + 1), INK_TEXT,
                        short_text("and %lld more, %s", (long long)(probe->points - shown),
                                   near_0 ? "near 0" : "none heavier")
                            .text);
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

/* Writes who sends the points: "352 points: front 176, back 176; depth bins 1 to 4, 2.0 to 3.5 m".
 */
static void senders_text(const PanelData *data, char *text, size_t size) {
    const LiveProbe *probe = &data->live->probe;
    const Rig *rig = data->live->frame.rig;
    if (probe->interval < 0) {
        snprintf(text, size, "no point falls into it");
        return;
    }
    int senders = 0;
    snprintf(text, size, "%lld points", (long long)probe->points);
    for (int i = 0; rig && i < rig->camera_count; i++)
        if (probe->of_camera[i])
            text_add(text, size, "%s %s %lld", senders++ ? "," : ":", rig->cameras[i].name,
                     (long long)probe->of_camera[i]);
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
    sheet_say(
        sheet, &area, INK_TEXT,
        short_text("norm  %s %.6g   FP64 %.6g", dtype, probe->value, probe->fp64_original).text);
    if (live_probe_empty(probe))
        sheet_say(sheet, &area, INK_TEXT,
                  "each has probability 0 and adds nothing; a kernel reads it all the same: "
                  "the map is made before any depth is known");
    if (probe->channel >= 0)
        sheet_say(sheet, &area, INK_TEXT,
                  short_text("channel %lld  %s %.6g   FP64 %.6g", (long long)probe->channel, dtype,
                             probe->channel_value, probe->channel_fp64)
                      .text);
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
        contributions(sheet, area, data);
}
