/* SPDX-License-Identifier: MIT */
/* Prepares, arranges and draws the figure's page: panels, their overlays and axes, and blocks. */
#include "src/view/figure/figure.h"

#include "src/view/bev/strip.h"
#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>

/* The space for the BEV: one large panel, or three in a row on a page of at most 2,400 units. */
enum { PANEL_TARGET = 1000, PANEL_MAX = 1100, COMPARE_TARGET = 640, COMPARE_MAX = 720 };

Figure figure_of(const FigureSpec *spec) {
    const LiveFrame *frame = &spec->live->frame;
    const Slice slice = live_slice(frame, spec->state->job.slice);
    int nx = (int)slice.nx, ny = (int)slice.ny;
    Grid grid = {.x_max_m = nx, .y_max_m = ny, .nx = nx, .ny = ny};
    if (frame->rig)
        grid = slice_grid(&slice, &frame->rig->grid);
    return (Figure){.spec = spec,
                    .frame = frame,
                    .theme = &themes[spec->state->light ? THEME_LIGHT : THEME_DARK],
                    .over = &panel_themes[spec->picture && spec->picture->bev.light],
                    .slice = slice,
                    .grid = grid,
                    .stretch = slice_stretch(&slice, &grid)};
}

/* Returns the units for a metre, so that a panel is at most `max` units large. If a size near
 * `target` makes every cell a whole number of units in both directions, that size is chosen. */
static double choose_scale(double w_m, double h_m, double cell_w_m, double cell_h_m, double target,
                           double max) {
    double longest = fmax(w_m, h_m), fallback = target / longest;
    for (int k = (int)floor(max / longest * cell_w_m); k >= 1; k--) {
        double units = k / cell_w_m, other = units * cell_h_m;
        if (units * longest < 0.7 * target)
            break;
        if (units * longest <= max && fabs(other - round(other)) < 1e-6 * other)
            return units;
    }
    return fallback;
}

static void size_panels(Figure *figure) {
    const Grid *grid = &figure->grid;
    const bool compare = figure->panel_count > 1;
    const double target = compare ? COMPARE_TARGET : PANEL_TARGET;
    const double max = compare ? COMPARE_MAX : PANEL_MAX;
    const double h_m = grid->x_max_m - grid->x_min_m, w_m = grid->y_max_m - grid->y_min_m;
    const double units = choose_scale(w_m, h_m, w_m / grid->ny, h_m / grid->nx, target, max);
    figure->panel_w = fmax(round(units * w_m), 1);
    figure->panel_h = fmax(round(units * h_m * figure->stretch), 1);
    bool above = figure->frame->rig && figure->slice.slice != SLICE_SIDE;
    figure->ring_step_m = above ? panel_ring_step(figure) : 0;
}

/* Draws a frame around a feature pixel of a camera. The camera's view is at `box`. */
static void draw_pixel_frame(Pen *pen, const LiveFrame *frame, int64_t pixel, Box box) {
    const Frustum frustum = frame_frustum(frame);
    int64_t plane = frame->shape.feat_h * frame->shape.feat_w;
    double w = box.w / frustum.feat_w, h = box.h / frustum.feat_h;
    double u = frustum_u_px(&frustum, (int)(pixel % frustum.feat_w)) + 0.5;
    double v = frustum_v_px(&frustum, (int)(pixel % plane / frustum.feat_w)) + 0.5;
    Box mark = {box.x + u / frustum.input_w * box.w - w / 2,
                box.y + v / frustum.input_h * box.h - h / 2, w, h};
    if (pen->measuring)
        return;
    pen_clip(pen, box);
    pen_frame(pen, mark, (Rgb){0, 0, 0}, 1, 4);
    pen_frame(pen, mark, (Rgb){255, 255, 255}, 1, 2);
    cairo_restore(pen->cr);
}

/* ---- axes: numbers to the left and below, titles that name the direction -------------------- */

enum { TICK = 5, LABEL_GAP = 5, LABEL_SPACE = 34, TITLE_SPACE = 24, PX_PER_TICK = 80 };
enum { TITLE_H = 110 }; /* a panel as high as this has a title at its side */
enum { AXES_BOTTOM = TICK + LABEL_GAP + SIZE_SMALL + 6 + SIZE_SMALL + 6 };

static double axes_left(bool labelled) {
    return TICK + (labelled ? LABEL_GAP + LABEL_SPACE + TITLE_SPACE : 0);
}

/* Draws ticks on two sides, and their numbers at the left or below. `up`: of the upright axis. */
static void draw_ticks(Pen *pen, const FigurePanel *panel, bool up, bool labelled) {
    const Grid *grid = &panel->figure->grid;
    const Box box = panel->box;
    const int target = (int)fmin(fmax((up ? box.h : box.w) / PX_PER_TICK, 1), 12);
    Ticks ticks = up ? ticks_linear(grid->x_min_m, grid->x_max_m, target)
                     : ticks_linear(grid->y_min_m, grid->y_max_m, target);
    TextStyle style = aligned(style_muted(pen), up ? ALIGN_RIGHT : ALIGN_CENTER);
    for (int i = 0; i < ticks.count; i++) {
        double x, y, dx = up ? TICK : 0, dy = up ? 0 : TICK;
        panel_point(panel, up ? ticks.at[i] : 0, up ? 0 : ticks.at[i], &x, &y);
        double x0 = up ? box.x : x, y0 = up ? y : box.y;
        double x1 = up ? box.x + box.w : x, y1 = up ? y : box.y + box.h;
        pen_line(pen, x0 - dx, y0 - dy, x0, y0, pen->theme->muted, 1, 1);
        pen_line(pen, x1, y1, x1 + dx, y1 + dy, pen->theme->muted, 1, 1);
        if (labelled && up)
            pen_text(pen, x0 - TICK - LABEL_GAP, y + 0.35 * SIZE_SMALL, LABEL_SPACE, &style,
                     ticks.label[i]);
        else if (labelled)
            pen_text(pen, x, y1 + TICK + LABEL_GAP + 0.8 * SIZE_SMALL, PX_PER_TICK, &style,
                     ticks.label[i]);
    }
}

/* Whether x is known to go forward. A LiDAR stands above its cameras, and its x may go anywhere. */
static bool is_ego_frame(const Rig *rig) {
    bool above = true;
    for (int i = 0; i < rig->camera_count; i++)
        above = above && rig->cameras[i].position_m[2] >= 0;
    return above;
}

/* The names of the axes: in cells, in metres, in metres of the car's own frame. */
static const char *const axis_x[] = {"x (cells)", "x (m)", "x forward (m)"};
static const char *const axis_y[] = {"y (cells)", "y (m)", "y left (m)"};

void axes_draw(Pen *pen, const FigurePanel *panel, bool labelled) {
    const Figure *figure = panel->figure;
    const Rig *rig = figure->frame->rig;
    const bool side = figure->slice.slice == SLICE_SIDE;
    const int metres = rig ? 1 + is_ego_frame(rig) : 0;
    char up[48], to_left[48], to_top[48];
    snprintf(to_left, sizeof to_left, "\u2190 %s", side ? axis_x[metres] : axis_y[metres]);
    snprintf(to_top, sizeof to_top, "%s \u2192", axis_x[metres]);
    snprintf(up, sizeof up, metres ? "z up (m%s%.0d)" : "z (cells)", /* %.0d: no digit of 0 */
             figure->stretch > 1 ? ", times " : "", figure->stretch > 1 ? figure->stretch : 0);
    draw_ticks(pen, panel, true, labelled);
    draw_ticks(pen, panel, false, true);
    TextStyle style = aligned(style_muted(pen), ALIGN_CENTER);
    style.color = pen->theme->text;
    double bottom = panel->box.y + panel->box.h + AXES_BOTTOM - 0.3 * SIZE_SMALL;
    pen_text(pen, panel->box.x + panel->box.w / 2, bottom, fmax(panel->box.w, 110), &style,
             to_left);
    if (!labelled || panel->box.h < TITLE_H)
        return;
    style.upwards = true;
    pen_text(pen, panel->box.x - axes_left(true) + SIZE_SMALL, panel->box.y + panel->box.h / 2,
             panel->box.h, &style, side ? up : to_top);
}

/* ---- title and subtitle --------------------------------------------------------------------- */

static void describe_figure(const Figure *figure, char *text, size_t size) {
    const FigureSpec *spec = figure->spec;
    const char *view = views[spec->picture->bev.view].title;
    const Rig *rig = figure->frame->rig;
    char channel[32] = "";
    const ShortText slice = slice_describe(&figure->slice, rig ? &rig->grid : NULL);
    const ShortText a = live_side_label(spec->live, false);
    if (spec->picture->bev.view == VIEW_CHANNEL)
        snprintf(channel, sizeof channel, " %lld", (long long)spec->picture->channel);
    if (spec->difference)
        snprintf(text, size, "%s%s: A is %s, B %s", view, channel, a.text,
                 live_side_label(spec->live, true).text);
    else
        snprintf(text, size, "%s%s of the bird\u2019s-eye-view grid, %s%spooled by %s", view,
                 channel, slice.text, slice.text[0] ? ", " : "", a.text);
}

/* Writes the result, which is the title: what differs, how many pixels feed a loss, or how long
 * pooling takes. A time that the CPU of another machine recorded is left out. */
static void result_text(const Figure *figure, char *text, size_t size) {
    const LiveData *live = figure->spec->live;
    const LiveFrame *frame = figure->frame;
    const KernelConfig *config = &live->job.config;
    const LiveKernel *row = live_kernel(live, config->kernel);
    const LiveAccuracy *accuracy = &live->accuracy[config->dtype];
    const bool elsewhere =
        config->kernel->where == BEV_CPU && row && row->median_us.source == SOURCE_RECORDED;
    char result[160];
    const ShortText points = text_of_unit(UNIT_COUNT, (double)live->intervals.stats.points);
    if (figure->spec->difference)
        comparison_text(figure->spec->state, live, result, sizeof result);
    else if (frame->gradients.grad_feat) {
        snprintf(text, size, "%lld of %lld pixels feed the loss",
                 (long long)gradient_count(&frame->shape, frame->gradients.grad_feat),
                 (long long)(frame->shape.cameras * frame->shape.feat_h * frame->shape.feat_w));
        return;
    } else if (row && row->median_us.source && !elsewhere)
        snprintf(result, sizeof result, "%s points in %s%s, %s", points.text,
                 text_of_figure(UNIT_US, row->median_us.value).text,
                 config->kernel->where == BEV_CPU ? " on a CPU" : "",
                 source_names[row->median_us.source]);
    else
        snprintf(result, sizeof result, "%s points", points.text);
    snprintf(text, size, "%s: %s", kernel_config_label(config).text, result);
    if (figure->spec->difference || !accuracy->source || !isfinite(accuracy->max_abs))
        return;
    const SceneFacts *scene = &figure->spec->state->scene;
    text_add(text, size, ", largest error %s", text_of_unit(UNIT_ERROR, accuracy->max_abs).text);
    if (scene_moves(scene))
        text_add(text, size, " at %s", live_moment_text(scene, accuracy->time_s).text);
}

/* Blocks are `w` wide and drawn below `top`. They return their height. */
static double header_block(Pen *pen, const Figure *figure, double x, double top, double w) {
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

/* Returns the number of columns for camera pictures: as many as keep a car recognisable. */
static int picture_columns(int64_t cameras, double w) {
    for (int64_t rows = 1; rows < cameras; rows++) {
        int64_t columns = (cameras + rows - 1) / rows;
        if ((w - PICTURE_GAP * (double)(columns - 1)) / (double)columns >= MIN_PICTURE_W)
            return (int)columns;
    }
    return 1;
}

static void draw_camera(Pen *pen, const Figure *figure, int camera, Box box) {
    TextStyle style = style_muted(pen);
    pen_text(pen, box.x, box.y + box.h + 5 + 0.8 * SIZE_SMALL, box.w, &style,
             camera_text(figure->frame->rig, camera).text);
    pen_picture(pen, box, &figure->spec->picture->cameras[camera]);
}

enum { KEY_H = 16, KEY_W = 160 };

/* Draws a bar of colours and its meaning. Without a map these are the colours of gradients. */
static double key_row(Pen *pen, const Colormap *map, const char *text, double x, double top,
                      double w) {
    enum { BAR_H = 10 };
    TextStyle style = style_muted(pen);
    for (int i = 0; i < KEY_W && !pen->measuring; i++) {
        double t = i / (KEY_W - 1.0);
        Rgb color = map ? colormap_at(map, t) : gradient_lit((Rgb){128, 128, 128}, (float)(t * t));
        pen_fill(pen, (Box){x + i, top, 1, BAR_H}, color, 1);
    }
    pen_text(pen, x + KEY_W + 10, top + BAR_H, w - KEY_W - 10, &style, text);
    return KEY_H;
}

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
                 figure->frame->rig->frustum.depth_stop_m);
        y += key_row(pen, strip_colormap(STRIP_DEPTH), text, x, y, w);
    }
    return y - top;
}

static double strip_block(Pen *pen, const Figure *figure, double x, double top, double w) {
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
            draw_pixel_frame(pen, figure->frame, pixel, box);
    }
    return rows * row_h + strip_key(pen, figure, x, top + rows * row_h, w);
}

/* ---- the run: kernel, device, latency, grid -------------------------------------------------- */

enum { ROW = 24, HEADING_ROW = 28, LABEL_W = 96, VALUE_MAX = 160 };

/* clang-format off */
typedef enum {
    RUN_KERNEL, RUN_SCALES, RUN_DEVICE, RUN_LATENCY, RUN_GRID, RUN_CHANNELS, RUN_COUNT
} RunRow;
/* clang-format on */
static const char *const run_labels[RUN_COUNT] = {"Kernel",  "Scales", "Drawn on",
                                                  "Latency", "Grid",   "Channels"};

static void grid_text(const Figure *figure, char *value) {
    const Rig *rig = figure->frame->rig;
    const Slice *slice = &figure->slice;
    const Grid *grid = rig ? &rig->grid : &figure->grid;
    double dx = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / grid->ny;
    double dz = slice->slices > 1 ? (grid->z_max_m - grid->z_min_m) / (double)slice->slices : dx;
    if (slice->slices > 1)
        snprintf(value, VALUE_MAX, "%lld \u00d7 %lld \u00d7 %lld cells", (long long)slice->cells_x,
                 (long long)slice->rows, (long long)slice->slices);
    else
        snprintf(value, VALUE_MAX, "%d \u00d7 %d cells", grid->nx, grid->ny);
    if (rig)
        text_add(value, VALUE_MAX,
                 dx == dy && fabs(dx - dz) < 1e-9 ? " of %.4g m"
                 : slice->slices > 1              ? " of %.4g \u00d7 %.4g \u00d7 %.4g m"
                                                  : " of %.4g \u00d7 %.4g m",
                 dx, dy, dz);
}

/* Writes the value of a row for the selection or the baseline. "": the row is left out. */
static void run_text(const Figure *figure, RunRow which, bool baseline, char *value) {
    const LiveData *live = figure->spec->live;
    const KernelConfig *config = baseline ? &live->job.baseline : &live->job.config;
    const LiveKernel *row = baseline ? &live->baseline : live_kernel(live, config->kernel);
    const ScaleRanges *scales = figure->frame->features->scales;
    value[0] = '\0';
    if (which == RUN_KERNEL)
        snprintf(value, VALUE_MAX, "%s", kernel_config_label(config).text);
    else if (which == RUN_SCALES && scales)
        snprintf(value, VALUE_MAX, "%s", ranges_label(scales, config->dtype));
    else if (which == RUN_DEVICE && config->kernel->where == BEV_CPU && live->device.threads)
        snprintf(value, VALUE_MAX, "CPU, %d threads", live->device.threads);
    else if (which == RUN_DEVICE)
        snprintf(value, VALUE_MAX, "%s", live->device.name[0] ? live->device.name : "n/a");
    else if (which == RUN_LATENCY && (!row || !row->median_us.source))
        snprintf(value, VALUE_MAX, "n/a: %s", unknown_reason(UNKNOWN_LATENCY, live, row, BEV_FP32));
    else if (which == RUN_LATENCY) {
        const bool recorded = row->median_us.source == SOURCE_RECORDED && row->recorded_on[0];
        const ShortText us = text_of_figure(UNIT_US, row->median_us.value);
        if (recorded)
            snprintf(value, VALUE_MAX, "%s, recorded on %s", us.text,
                     machine_text(row->recorded_on).text);
        else
            snprintf(value, VALUE_MAX, "%s (%s)", us.text, latency_origin(row).text);
    } else if (which == RUN_GRID)
        grid_text(figure, value);
    else if (which == RUN_CHANNELS)
        snprintf(value, VALUE_MAX, "%lld", (long long)figure->frame->channels);
}

/* Draws the rows of the run. A comparison has two columns; grid and channels are of both sides. */
static double run_block(Pen *pen, const Figure *figure, double x, double top, double w) {
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

static double lines_block(Pen *pen, const Figure *figure, double x, double top, double w) {
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
    if (!side)
        snprintf(text, sizeof text,
                 "%sedges of the cameras\u2019 fields of view; ego vehicle to scale", rings);
    if (outlines)
        text_add(text, sizeof text, "%soutlines of the true solids", side ? "" : "; ");
    if (!side && photos && photos->box_count && truth & TRUTH_BOXES)
        text_add(text, sizeof text, "; true boxes, a line to their front");
    if (!side && photos && photos->sweep_count && truth & TRUTH_LIDAR)
        text_add(text, sizeof text, "; dots: LiDAR, %lld points", (long long)photos->sweep_count);
    pen_text(pen, x, top + SIZE_HEADING, w, &head, "Lines");
    return HEADING_ROW + pen_paragraph(pen, x, top + HEADING_ROW, w, &style, text);
}

/* ---- panels of the display ------------------------------------------------------------------- */

/* Draws a panel of the display, if it is visible. `bev`: of that picture. */
static double panel_block(Pen *pen, const Figure *figure, const Panel *panel, const BevPicture *bev,
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

/* ---- the page -------------------------------------------------------------------------------- */

enum { SIDE_W = 400, SIDE_TABLE_W = 620, PAGE_MIN = 1000, BLOCK_GAP = 28, TICK_SPACE = 6 };
enum { PANEL_TITLE = 28, COMPARE_GAP = 28, SLOT_MIN = 400 };

/* The blocks of the page, from top to bottom: a panel of the display, or a function. `column` is
 * the block's column below the pictures. Beside a single picture all blocks are one column. */
static const struct {
    const Panel *panel;
    double (*draw)(Pen *pen, const Figure *figure, double x, double top, double w);
    int column;
    bool of_table; /* only drawn if FigureSpec.table is set */
} blocks[] = {
    {&legend_panel, NULL, 0, false},    {&gradients_panel, NULL, 2, false},
    {NULL, lines_block, 0, false},      {NULL, run_block, 1, false},
    {&intervals_panel, NULL, 1, false}, {&kernels_panel, NULL, 2, true},
    {&accuracy_panel, NULL, 2, true},
};

/* Draws the blocks of a column (-1: all) below each other. Returns the y below them. A comparison
 * has a second legend, of its last picture. */
static double draw_column(Pen *pen, const Figure *figure, int column, double x, double top,
                          double w) {
    bool second = column == 2 && figure->panel_count > 1;
    const BevPicture *bev = figure->panels[second ? 2 : 0].bev;
    double y = top;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        bool here = column < 0 || blocks[i].column == column || (second && i == 0);
        if (!here || (blocks[i].of_table && !figure->spec->table))
            continue;
        double h = blocks[i].draw ? blocks[i].draw(pen, figure, x, y, w)
                                  : panel_block(pen, figure, blocks[i].panel, bev, x, y, w);
        y += h > 0 ? h + BLOCK_GAP : 0;
    }
    return y - BLOCK_GAP;
}

/* Draws the blocks beside the picture or below the pictures. Below three pictures, each picture has
 * a column of blocks. Returns the y below the blocks. */
static double draw_blocks(Pen *pen, const FigurePage *page) {
    const Figure *figure = &page->figure;
    const FigurePanel *panels = figure->panels;
    bool compare = figure->panel_count > 1;
    double left = panels[0].box.x, bottom = 0;
    double step = (page->page.w - MARGIN - left + GUTTER) / 3, w = step - GUTTER;
    if (!page->blocks_below)
        return draw_column(pen, figure, -1, page->side_x, page->side_top, page->side_w);
    if (compare)
        w = fmax(figure->panel_w, panels[1].box.x - left - COMPARE_GAP);
    for (int i = 0; i < 3; i++)
        bottom =
            fmax(bottom, draw_column(pen, figure, i, compare ? panels[i].box.x : left + i * step,
                                     page->side_top, w));
    return bottom;
}

static void panel_title(Pen *pen, const FigurePanel *panel) {
    const FigureSpec *spec = panel->figure->spec;
    TextStyle style = style_heading(pen);
    ShortText label = live_side_label(spec->live, panel->baseline);
    char text[192];
    if (!panel->letter)
        return;
    if (panel->bev->difference)
        comparison_text(spec->state, spec->live, label.text, sizeof label.text);
    snprintf(text, sizeof text, "%s   %s", panel->letter, label.text);
    pen_text(pen, panel->box.x, panel->box.y - TICK_SPACE - 8, fmax(panel->box.w, 100), &style,
             text);
}

/* ---- arrangement ---------------------------------------------------------------------------- */

/* Places the panels in a row from the left. Only the first panel has numbers on the upright axis.
 * Returns the right edge of the row. */
static double place_panels(Figure *figure, double top) {
    double x = MARGIN + axes_left(true);
    double gap = COMPARE_GAP + axes_left(false);
    double slot = figure->panel_count > 1 ? fmax(figure->panel_w, SLOT_MIN) : figure->panel_w;
    for (int i = 0; i < figure->panel_count; i++, x += slot + gap)
        figure->panels[i].box = (Box){x, top, figure->panel_w, figure->panel_h};
    return x - gap + TICK_SPACE;
}

/* Places all parts. The panels are placed twice, because the header's height needs their width. */
static void arrange_page(Pen *pen, FigurePage *page) {
    Figure *figure = &page->figure;
    bool compare = figure->panel_count > 1;
    page->blocks_below = compare || figure->panel_w > 1.6 * figure->panel_h;
    double right = place_panels(figure, 0); /* `top` is not known yet */
    double side_w = figure->spec->table ? SIDE_TABLE_W : SIDE_W;
    page->side_x = right + GUTTER;
    page->page.w =
        ceil(fmax(page->blocks_below ? right + MARGIN : page->side_x + side_w + MARGIN, PAGE_MIN));
    page->side_w = page->page.w - MARGIN - page->side_x;

    double w = page->page.w - 2 * MARGIN;
    page->strip_top = MARGIN + BLOCK_GAP + header_block(pen, figure, MARGIN, MARGIN, w);
    double strip_h = strip_block(pen, figure, MARGIN, page->strip_top, w);
    double top = ceil(page->strip_top + strip_h + (strip_h > 0 ? BLOCK_GAP : 0) + TICK_SPACE +
                      (compare ? PANEL_TITLE : 0));
    place_panels(figure, top);
    double bottom = top + figure->panel_h + AXES_BOTTOM;
    page->side_top = page->blocks_below ? bottom + BLOCK_GAP : top;
    page->page.h = ceil(fmax(bottom, draw_blocks(pen, page)) + MARGIN);
}

static void draw_page(Pen *pen, const void *context) {
    const FigurePage *page = context;
    const Figure *figure = &page->figure;
    double w = page->page.w - 2 * MARGIN;
    header_block(pen, figure, MARGIN, MARGIN, w);
    strip_block(pen, figure, MARGIN, page->strip_top, w);
    for (int i = 0; i < figure->panel_count; i++) {
        const FigurePanel *panel = &figure->panels[i];
        panel_title(pen, panel);
        pen_picture(pen, panel->box, panel->baseline ? &panel->bev->baseline : &panel->bev->image);
        loss_draw(pen, panel, true);
        overlay_draw(pen, panel);
        if (figure->panel_count == 1)
            names_draw(pen, panel);
        pen_frame(pen, panel->box, pen->theme->muted, 1, 1);
        axes_draw(pen, panel, i == 0);
    }
    draw_blocks(pen, page);
}

const PageSpec *figure_page(const FigureSpec *spec, double scale, FigurePage *page) {
    static const char *const letters[MAX_PANELS] = {"A", "B", "A \u2212 B"};
    Figure *figure = &page->figure;
    Pen pen;
    *figure = figure_of(spec);
    figure->panel_count = spec->difference ? MAX_PANELS : 1;
    for (int i = 0; i < figure->panel_count; i++)
        figure->panels[i] = (FigurePanel){.figure = figure,
                                          .bev = i == 2 ? spec->difference : &spec->picture->bev,
                                          .baseline = i == 1,
                                          .letter = spec->difference ? letters[i] : NULL};
    size_panels(figure);
    page->page = (PageSpec){.scale = scale,
                            .theme = spec->state->light ? THEME_LIGHT : THEME_DARK,
                            .draw = draw_page,
                            .context = page,
                            .title = spec->title ? spec->title : spec->scene};
    pen_open_measuring(&pen, figure->theme);
    arrange_page(&pen, page);
    pen_close(&pen);
    return &page->page;
}
