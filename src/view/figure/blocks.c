/* SPDX-License-Identifier: MIT */
/* The blocks of the figure's page, except the legend: title, camera views, the run, panels. */
#include "src/scales/ranges.h"
#include "src/state/live_text.h"
#include "src/view/bev/gradient_strip.h"
#include "src/view/bev/strip.h"
#include "src/view/figure/figure_internal.h"
#include "src/view/panel/pen_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- title and subtitle --------------------------------------------------------------------- */

static void describe_figure(const Figure *figure, char *text, size_t size) {
    const FigureSpec *spec = figure->spec;
    const char *view = views[spec->picture->bev.view].title;
    char channel[32] = "", slice[64], a[128], b[128];
    slice_describe(&figure->slice, figure->frame->rig ? &figure->frame->rig->grid : NULL, slice,
                   sizeof slice);
    live_side_label(spec->live, false, a, sizeof a);
    live_side_label(spec->live, true, b, sizeof b);
    if (spec->picture->bev.view == VIEW_CHANNEL)
        snprintf(channel, sizeof channel, " %lld", (long long)spec->picture->channel);
    if (spec->difference)
        snprintf(text, size, "%s%s: A is %s, B %s", view, channel, a, b);
    else
        snprintf(text, size, "%s%s of the bird\u2019s-eye-view grid, %s%spooled by %s", view,
                 channel, slice, slice[0] ? ", " : "", a);
}

/* Writes the result, as the title: what differs, which pixels feed a loss, or how long pooling
 * takes, where no other machine's CPU recorded it. */
static void result_text(const Figure *figure, char *text, size_t size) {
    const LiveData *live = figure->spec->live;
    const LiveFrame *frame = figure->frame;
    const KernelConfig *config = &live->job.config;
    const LiveKernel *row = live_kernel(live, config->kernel);
    const LiveAccuracy *accuracy = &live->accuracy[config->dtype];
    const bool elsewhere = config->kernel->where == BEV_CPU && row && row->recorded_on[0];
    char label[128], result[160], points[32], us[32], error[32];
    kernel_config_label(config, label, sizeof label);
    unit_text(UNIT_COUNT, (double)live->intervals.stats.points, points, sizeof points);
    if (figure->spec->difference)
        comparison_text(figure->spec->state, live, result, sizeof result);
    else if (frame->gradients.grad_feat) {
        snprintf(text, size, "%lld of %lld pixels feed the loss",
                 (long long)gradient_count(&frame->shape, frame->gradients.grad_feat),
                 (long long)(frame->shape.cameras * frame->shape.feat_h * frame->shape.feat_w));
        return;
    } else if (row && row->median_us.source && !elsewhere) {
        figure_text(UNIT_US, row->median_us.value, us, sizeof us);
        snprintf(result, sizeof result, "%s points in %s%s, %s", points, us,
                 config->kernel->where == BEV_CPU ? " on a CPU" : "",
                 source_names[row->median_us.source]);
    } else
        snprintf(result, sizeof result, "%s points", points);
    size_t used = (size_t)snprintf(text, size, "%s: %s", label, result);
    unit_text(UNIT_ERROR, accuracy->max_abs, error, sizeof error);
    if (!figure->spec->difference && accuracy->source && isfinite(accuracy->max_abs) && used < size)
        snprintf(text + used, size - used, ", largest error %s", error);
}

double header_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    TextStyle title = {.size = SIZE_TITLE, .bold = true, .color = pen->theme->text};
    TextStyle subtitle = {.size = SIZE_HEADING, .color = pen->theme->muted};
    char result[384], what[384], text[640];
    result_text(figure, result, sizeof result);
    describe_figure(figure, what, sizeof what);
    snprintf(text, sizeof text, "%s%s%s", spec->title ? "" : spec->scene, spec->title ? "" : ": ",
             spec->subtitle ? spec->subtitle : what);
    pen_text(pen, x, top + SIZE_TITLE, w, &title, spec->title ? spec->title : result);
    double second = top + SIZE_TITLE + 10 + SIZE_HEADING + 4;
    pen_text(pen, x, second, w, &subtitle, text);
    return second + 6 - top;
}

/* ---- camera views, in the order of the rig -------------------------------------------------- */

enum { PICTURE_GAP = 12, NAME_SPACE = 20, MIN_PICTURE_W = 300, MAX_PICTURE_H = 240 };

/* Returns the number of columns: the most in which pictures are large enough to recognise a car. */
static int picture_columns(int64_t cameras, double w) {
    for (int64_t rows = 1; rows < cameras; rows++) {
        int64_t columns = (cameras + rows - 1) / rows;
        if ((w - PICTURE_GAP * (double)(columns - 1)) / (double)columns >= MIN_PICTURE_W)
            return (int)columns;
    }
    return 1;
}

static void draw_camera(Pen *pen, const Figure *figure, int camera, Box box) {
    const Rig *rig = figure->frame->rig;
    char number[32];
    snprintf(number, sizeof number, "camera %d", camera);
    bool named = rig && camera < rig->camera_count;
    TextStyle style = style_muted(pen);
    pen_text(pen, box.x, box.y + box.h + 5 + 0.8 * SIZE_SMALL, box.w, &style,
             named ? rig->cameras[camera].name : number);
    pen_picture(pen, box, &figure->spec->picture->cameras[camera]);
}

enum { KEY_H = 16, KEY_W = 160 };

/* Returns the strip's colour for a value from 0 to 1. */
static Rgb key_color(const Colormap *map, double t) {
    return map ? colormap_at(map, t) : gradient_lit((Rgb){128, 128, 128}, (float)(t * t));
}

/* Draws a bar of colours and its meaning. Without a map these are the colours of gradients. */
static double key_row(Pen *pen, const Colormap *map, const char *text, double x, double top,
                      double w) {
    enum { BAR_H = 10 };
    TextStyle style = style_muted(pen);
    for (int i = 0; i < KEY_W && !pen->measuring; i++)
        pen_fill(pen, (Box){x + i, top, 1, BAR_H}, key_color(map, i / (KEY_W - 1.0)), 1);
    pen_text(pen, x + KEY_W + 10, top + BAR_H, w - KEY_W - 10, &style, text);
    return KEY_H;
}

/* Draws the meaning of the colours over the camera views. */
static double strip_key(Pen *pen, const Figure *figure, double x, double top, double w) {
    const Picture *picture = figure->spec->picture;
    const Strip strip = picture->strip;
    char text[96];
    double y = top;
    if (figure->frame->gradients.grad_feat)
        y += key_row(pen, NULL, "norm of grad_feat, 0 to the largest", x, y, w);
    else if (strip != STRIP_IMAGE) {
        snprintf(text, sizeof text,
                 strip == STRIP_DROPPED ? "depth outside the grid, dropped: none to all of it"
                 : strip == STRIP_DEPTH ? "mean of the depth distribution, 0 to %.4g m"
                                        : "norm of the features, 0 to %.3g",
                 picture->camera_range.hi);
        y += key_row(pen, strip_colormap(strip), text, x, y, w);
    }
    if (picture->lidar) {
        snprintf(text, sizeof text, "LiDAR points by depth, 0 to %.4g m",
                 strip_lidar_range(figure->frame->rig).hi);
        y += key_row(pen, strip_colormap(STRIP_DEPTH), text, x, y, w);
    }
    return y - top;
}

double strip_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const int cameras = figure->spec->picture->camera_count;
    const Frustum frustum = frame_frustum(figure->frame);
    int64_t plane = figure->frame->shape.feat_h * figure->frame->shape.feat_w;
    int64_t pixel = frame_gradient_pixel(figure->frame, figure->spec->state->pixel);
    if (!cameras)
        return 0;
    int columns = picture_columns(cameras, w);
    int rows = (cameras + columns - 1) / columns;
    double aspect = (double)frustum.input_w / frustum.input_h;
    double picture_w = floor((w - PICTURE_GAP * (columns - 1)) / columns);
    picture_w = fmax(fmin(picture_w, round(MAX_PICTURE_H * aspect)), 1);
    double picture_h = fmax(round(picture_w / aspect), 1);
    double row_h = picture_h + NAME_SPACE + PICTURE_GAP / 2.0;
    for (int camera = 0; camera < cameras; camera++) {
        Box box = {x + camera % columns * (picture_w + PICTURE_GAP),
                   top + (double)(camera / columns) * row_h, picture_w, picture_h};
        draw_camera(pen, figure, camera, box);
        if (pixel >= 0 && pixel / plane == camera)
            pixel_draw(pen, figure->frame, pixel, box);
    }
    return rows * row_h + strip_key(pen, figure, x, top + rows * row_h, w);
}

/* ---- the run: kernel, device, latency, grid -------------------------------------------------- */

enum { ROW = 24, HEADING_ROW = 28, LABEL_W = 96, VALUE_MAX = 160 };

/* clang-format off */
typedef enum {
    RUN_KERNEL, RUN_SCALES, RUN_DEVICE, RUN_LATENCY, RUN_RECORDED, RUN_GRID, RUN_CHANNELS, RUN_COUNT
} RunRow;
/* clang-format on */
static const char *const run_labels[RUN_COUNT] = {"Kernel",   "Scales", "Device",  "Latency",
                                                  "Recorded", "Grid",   "Channels"};

static void grid_text(const Figure *figure, char *value) {
    const Rig *rig = figure->frame->rig;
    const Slice *slice = &figure->slice;
    const Grid *grid = rig ? &rig->grid : &figure->grid;
    double dx = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / grid->ny;
    int used = snprintf(value, VALUE_MAX, "%d \u00d7 %d cells", grid->nx, grid->ny);
    if (slice->slices > 1) {
        double dz = (grid->z_max_m - grid->z_min_m) / (double)slice->slices;
        used =
            snprintf(value, VALUE_MAX, "%lld \u00d7 %lld \u00d7 %lld cells",
                     (long long)slice->cells_x, (long long)slice->rows, (long long)slice->slices);
        if (rig && dx == dy && fabs(dx - dz) < 1e-9)
            snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
        else if (rig)
            snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g \u00d7 %.4g m",
                     dx, dy, dz);
        return;
    }
    if (rig && dx == dy)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
    else if (rig)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g m", dx, dy);
}

static void latency_text(const LiveData *live, const LiveKernel *row, char *value) {
    char time[32], origin[64];
    if (!row || !row->median_us.source) {
        snprintf(value, VALUE_MAX, "n/a: %s", unknown_reason(UNKNOWN_LATENCY, live, row, BEV_FP32));
        return;
    }
    figure_text(UNIT_US, row->median_us.value, time, sizeof time);
    latency_origin(row, origin, sizeof origin);
    snprintf(value, VALUE_MAX, "%s (%s)", time, origin);
}

/* Writes name and date of a recording's machine: "NVIDIA H200, 2026-11-24". */
static void recorded_text(const char *label, char *value) {
    const char *date = strrchr(label, ',');
    char machine[64];
    machine_text(label, machine, sizeof machine);
    snprintf(value, VALUE_MAX, "%s%s", machine, date ? date : "");
}

static void device_text(const LiveDevice *device, BevWhere where, char *value) {
    if (where == BEV_CPU && device->threads)
        snprintf(value, VALUE_MAX, "CPU, %d threads", device->threads);
    else
        snprintf(value, VALUE_MAX, "%s", device->name[0] ? device->name : "n/a");
}

/* Writes the value of a row for the selection or the baseline. "": the row is left out. */
static void run_text(const Figure *figure, RunRow which, bool baseline, char *value) {
    const LiveData *live = figure->spec->live;
    const KernelConfig *config = baseline ? &live->job.baseline : &live->job.config;
    const LiveKernel *row = baseline ? &live->baseline : live_kernel(live, config->kernel);
    const ScaleRanges *scales = figure->frame->features->scales;
    value[0] = '\0';
    if (which == RUN_KERNEL)
        kernel_config_label(config, value, VALUE_MAX);
    else if (which == RUN_SCALES && scales)
        snprintf(value, VALUE_MAX, "%s", ranges_label(scales, config->dtype));
    else if (which == RUN_DEVICE)
        device_text(&live->device, config->kernel->where, value);
    else if (which == RUN_LATENCY)
        latency_text(live, row, value);
    else if (which == RUN_RECORDED && row && row->recorded_on[0])
        recorded_text(row->recorded_on, value);
    else if (which == RUN_GRID)
        grid_text(figure, value);
    else if (which == RUN_CHANNELS)
        snprintf(value, VALUE_MAX, "%lld", (long long)figure->frame->channels);
}

double run_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    int sides = figure->spec->difference ? 2 : 1;
    double column_w = (w - LABEL_W) / sides, y = top;
    TextStyle head = style_heading(pen), label = style_body(pen), style = style_body(pen);
    label.color = pen->theme->muted;
    pen_text(pen, x, y + SIZE_HEADING, LABEL_W, &head, "Run");
    for (int side = 0; sides > 1 && side < sides; side++)
        pen_text(pen, x + LABEL_W + side * column_w, y + SIZE_HEADING, column_w, &head,
                 figure->panels[side].letter);
    y += HEADING_ROW;
    for (RunRow row = 0; row < RUN_COUNT; row++) {
        double baseline = y + ROW / 2.0 + 0.36 * SIZE_BODY;
        bool shared = row >= RUN_GRID, some = false;
        for (int side = 0; side < (shared ? 1 : sides); side++) {
            char value[VALUE_MAX];
            run_text(figure, row, side, value);
            some = some || value[0];
            pen_text(pen, x + LABEL_W + side * column_w, baseline,
                     shared ? w - LABEL_W : column_w - 12, &style, value);
        }
        if (some) {
            pen_text(pen, x, baseline, LABEL_W - 8, &label, run_labels[row]);
            y += ROW;
        }
    }
    return y - top;
}

/* ---- lines over the picture ------------------------------------------------------------------ */

double lines_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const LiveFrame *frame = figure->frame;
    const Photos *photos = frame->photos;
    const unsigned truth = figure->spec->state->truth;
    const double step = figure->ring_step_m;
    bool side = figure->slice.slice == SLICE_SIDE;
    bool outlines = frame->world && figure->spec->outlines;
    char text[512] = "", rings[48] = "";
    TextStyle head = style_heading(pen), style = style_muted(pen);
    if (!frame->rig || (side && !outlines))
        return 0;
    if (step > 0)
        snprintf(rings, sizeof rings, "rings every %g m; ", step);
    int used =
        side ? 0
             : snprintf(text, sizeof text,
                        "%sedges of the cameras\u2019 fields of view; ego vehicle to scale", rings);
    if (outlines)
        used += snprintf(text + used, sizeof text - (size_t)used, "%soutlines of the true solids",
                         used ? "; " : "");
    if (!side && photos && photos->box_count && truth & TRUTH_BOXES)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "; true boxes, a line to their front");
    if (!side && photos && photos->sweep_count && truth & TRUTH_LIDAR)
        snprintf(text + used, sizeof text - (size_t)used, "; dots: LiDAR, %lld points",
                 (long long)photos->sweep_count);
    pen_text(pen, x, top + SIZE_HEADING, w, &head, "Lines");
    return HEADING_ROW + pen_paragraph(pen, x, top + HEADING_ROW, w, &style, text);
}

/* ---- panels of the display ------------------------------------------------------------------- */

double panel_block(Pen *pen, const Figure *figure, const Panel *panel, const BevPicture *bev,
                   double x, double top, double w) {
    enum { PANEL_ROW = 20, PANEL_H = 2000 };
    const Picture picture = {.channel = figure->spec->picture->channel, .bev = *bev};
    const PanelData data = {.state = figure->spec->state,
                            .live = figure->spec->live,
                            .picture = &picture,
                            .still = true};
    if (panel != &legend_panel && !panel->shown(&data))
        return 0;
    Sheet sheet = pen_sheet(pen, (Box){x, top, w, PANEL_H}, PANEL_ROW, NULL);
    int rows = panel_want(&sheet, panel, &data, sheet.columns);
    if (!pen->measuring)
        panel_draw(&sheet, (Area){0, 0, sheet.columns, rows}, panel, &data);
    return rows * PANEL_ROW;
}
