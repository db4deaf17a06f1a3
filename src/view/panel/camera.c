/* SPDX-License-Identifier: MIT */
/* The camera views: a strip of all cameras, and one camera, larger. The larger view is of the
 * camera that a shown step reads; backward of the camera that feeds the loss most; else of the
 * selected camera. Backward: the depths of a pixel. Operator scenes have bars, and no cameras. */
#include "src/view/bev/strip.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The strip has the same height in every scene: that of six cameras of the usual shape. */
enum { USUAL_CAMERAS = 6 };
static const double usual_aspect = 128.0 / 352; /* height over width */

static int camera_w(int w, int cameras) {
    return (w - cameras + 1) / cameras;
}

int cameras_rows(int w) {
    return 1 + (int)lround(camera_w(w, USUAL_CAMERAS) * usual_aspect / 2);
}

ShortText camera_text(const Rig *rig, int64_t camera) {
    if (rig && camera < rig->camera_count)
        return short_text("%.31s", rig->cameras[camera].name);
    return short_text("camera %lld", (long long)camera);
}

static int64_t plane_of(const BevShape *shape) {
    return shape->feat_h * shape->feat_w;
}

/* ---- a view ---------------------------------------------------------------------------------- */

/* Paints the square of a feature pixel (h, w) in a view. The square is at least one pixel large. */
static void mark_pixel(Image *view, const Frustum *frustum, double w, double h, Rgb color) {
    const double side_x = fmax((double)view->w / frustum->feat_w, 1);
    const double side_y = fmax((double)view->h / frustum->feat_h, 1);
    const double middle_x = (frustum_u_px(frustum, w) + 0.5) / frustum->input_w * view->w;
    const double middle_y = (frustum_v_px(frustum, h) + 0.5) / frustum->input_h * view->h;
    const int left = (int)(middle_x - side_x / 2), top = (int)(middle_y - side_y / 2);
    const double right = fmin(left + side_x, view->w), bottom = fmin(top + side_y, view->h);
    for (int y = top > 0 ? top : 0; y < bottom; y++)
        for (int x = left > 0 ? left : 0; x < right; x++)
            image_set(view, x, y, color);
}

/* Mixes a view with the ink of dirt: its camera has dropped out and gives no points. */
static void dim_view(Image *view) {
    for (int y = 0; y < view->h; y++)
        for (int x = 0; x < view->w; x++)
            image_set(view, x, y, rgb_mix(image_get(view, x, y), panel_theme.dirt, 0.8));
}

/* Draws a camera's view as large as the area has room, and notes the view's place for the mouse.
 * Feature pixels of shown points are marked. `chosen` is marked in white; -1: none is chosen. */
static void view_draw(Sheet *sheet, Area area, const PanelData *data, int camera, int64_t chosen) {
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    const Frustum frustum = frame_frustum(frame);
    LiveContribution lit[LIVE_MAX_CONTRIBUTIONS];
    const int lit_count = frame->rig ? live_lit(data->live, data->state, lit) : 0;
    const Box box = sheet_box(sheet, area);
    Image view;
    Err ignored; /* without memory the place stays empty */
    int w, h;
    sheet_pixels(sheet, area, &w, &h);
    w = (int)fmin(w, round((double)h * frustum.input_w / frustum.input_h));
    h = (int)fmin(h, round((double)w * frustum.input_h / frustum.input_w));
    if (w < 1 || h < 1 || !image_scale(&data->picture->cameras[camera], w, h, &view, &ignored))
        return;
    if (!(data->live->job.camera_mask >> camera & 1))
        dim_view(&view);
    for (int i = 0; i < lit_count; i++)
        if (lit[i].camera == camera)
            mark_pixel(&view, &frustum, lit[i].w, lit[i].h, panel_theme.mark);
    if (chosen >= 0 && chosen / plane_of(shape) == camera)
        mark_pixel(&view, &frustum, (double)(chosen % shape->feat_w),
                   (double)(chosen % plane_of(shape) / shape->feat_w), panel_theme.line);
    sheet_picture(sheet, area, &view);
    if (sheet->spots)
        sheet->spots->cameras[camera] = (Box){box.x, box.y, w, sheet->pixels ? h : ceil(h / 2.0)};
    if (camera < data->state->scene.camera_count)
        sheet_spot(sheet, area, ACTION_CAMERA, 0, data->state->scene.cameras[camera]);
    image_free(&view);
}

/* Returns the feature pixel that is looked at: backward the brightest, else the one whose dropped
 * points are explained. -1: none. */
static int64_t chosen_pixel(const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    return frame->gradients.grad_feat ? frame_gradient_pixel(frame, data->state->pixel)
                                      : dropped_pixel(data->state, data->live);
}

/* ---- the strip of all cameras ---------------------------------------------------------------- */

/* Draws a camera's name and its faults, or the faults alone where both have no room. Faults are not
 * told while a lesson asks about them, nor of a camera that a tour has not shown yet. */
static void draw_camera_name(Sheet *sheet, Area row, const PanelData *data, int camera) {
    const State *state = data->state;
    const SceneFacts *scene = &state->scene;
    const bool chosen = camera == state->camera;
    const char *name = camera < scene->camera_count ? scene->cameras[camera] : "";
    char text[128], faults[96] = ""; /* faults begin with ", " */
    const bool not_shown_yet = state->tours && camera >= state_seeing(state);
    const bool faulty = !not_shown_yet && !lesson_asks(&state->lesson) &&
                        camera_faults(&data->live->job, camera, faults, sizeof faults);
    snprintf(text, sizeof text, "%.30s%s", name, faulty ? faults : "");
    if (sheet_width(sheet, text) > row.w)
        snprintf(text, sizeof text, "%.*s", row.w, faulty ? faults + strlen(", ") : "");
    const Ink ink = faulty ? INK_BAD : chosen ? INK_ACCENT : INK_MUTED;
    sheet_line(sheet, row, chosen ? cell_bold(ink) : cell_style(ink), text);
}

void cameras_draw(Sheet *sheet, Area area, const PanelData *data) {
    if (data->state->scene.has_operator) {
        panel_draw(sheet, area, &operator_panel, data);
        return;
    }
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    int count = data->picture ? data->picture->camera_count : 0;
    int64_t chosen = count ? chosen_pixel(data) : -1;
    for (int i = 0; i < count; i++) {
        Area at = {area.x + i * (area.w + 1) / count, area.y, camera_w(area.w, count), area.h};
        draw_camera_name(sheet, at, data, i);
        sheet_figure(sheet, at);
        view_draw(sheet, area_below(at, 1), data, i, chosen);
    }
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   data->picture ? "no camera views in this scene" : "");
}

/* ---- one camera ------------------------------------------------------------------------------ */

/* Returns the camera of the larger view: that of `pixel`, backward or if no step has points; else
 * that of the step's first point; else the selected one. *points: how many points the step has. */
static int shown_camera(const PanelData *data, int64_t pixel, int *points) {
    const LiveFrame *frame = &data->live->frame;
    const StepPoint *list[LIVE_MAX_CONTRIBUTIONS];
    int camera = data->state->camera;
    *points = live_step_points(data->live, data->state, list);
    if (*points)
        camera = (int)step_pixel(&frame->shape, list[0]->depth).camera;
    if (pixel >= 0 && (!*points || frame->gradients.grad_feat))
        camera = (int)(pixel / plane_of(&frame->shape));
    return camera < frame->shape.cameras ? camera : 0; /* a frame of fewer cameras is still shown */
}

enum { EXPLAINED = 2 }; /* rows under the view: why points of a pixel are dropped */

int camera_want(Sheet *sheet, const PanelData *data, int width) {
    const BevShape *shape = &data->live->frame.shape;
    (void)sheet;
    int rows = shape->feat_w > 0 ? (int)(width * shape->feat_h / shape->feat_w / 2) : 0;
    return 1 + rows + (dropped_pixel(data->state, data->live) >= 0 ? EXPLAINED : 0);
}

/* Returns what the view shows: pixels with a gradient, points of a step, or values of pixels. */
static ShortText note_text(const PanelData *data, int points) {
    const LiveFrame *frame = &data->live->frame;
    if (frame->gradients.grad_feat)
        return short_text("%lld of all %lld pixels",
                          (long long)gradient_count(&frame->shape, frame->gradients.grad_feat),
                          (long long)(frame->shape.cameras * plane_of(&frame->shape)));
    if (points || data->state->job.steps)
        return short_text(points ? "%d point%s" : "no points now", points, points == 1 ? "" : "s");
    const bool named = data->state->strip != STRIP_IMAGE && frame->rig;
    return short_text("%s", named ? strip_names[data->state->strip] : "");
}

/* Draws the camera's view, and below it why points of a chosen pixel are dropped, if they are. */
void camera_draw(Sheet *sheet, Area area, const PanelData *data) {
    enum { LEAST_PICTURE = 4 };
    const LiveFrame *frame = &data->live->frame;
    const int64_t pixel = frame->features ? chosen_pixel(data) : -1;
    int points, camera = shown_camera(data, pixel, &points);
    const bool named = frame->rig && camera < frame->rig->camera_count;
    const ShortText title = named ? short_text("Camera %s", frame->rig->cameras[camera].name)
                                  : short_text("Camera %d", camera);
    char text[256];
    sheet_figure(sheet, area);
    area = sheet_title(sheet, area, title.text, note_text(data, points).text);
    if (!frame->features || !data->picture || camera >= data->picture->camera_count)
        return;
    bool explains = !frame->gradients.grad_feat && !points && pixel >= 0;
    if (explains && area.h >= LEAST_PICTURE + EXPLAINED) {
        area.h -= EXPLAINED;
        sheet_origin(sheet, ORIGIN_MAP, NULL);
        dropped_text(frame->rig, frame->features->depth, pixel, text, sizeof text);
        sheet_paragraph(sheet, (Area){area.x, area.y + area.h, area.w, EXPLAINED}, INK_TEXT, text);
        sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    }
    view_draw(sheet, area, data, camera, pixel);
}

/* Whether the larger view tells anything that the strip of all cameras does not. */
bool camera_shown(const PanelData *data) {
    const State *state = data->state;
    const bool backward = state->job.config.kernel->direction == BEV_BACKWARD;
    const bool strip_has_values = state->strip != STRIP_IMAGE && data->live->frame.rig;
    return !state->scene.has_operator && (state->job.steps || backward || strip_has_values);
}

/* ---- backward: the loss, what its gradient reaches, the depths of a pixel -------------------- */

enum { HEAD_ROWS = 4, NAME_W = 8, VALUE_W = 13 };

/* Returns the cells of a loss: "all cells", "the cell", or "14 cells, car". */
static ShortText loss_cells_text(const GridLoss *loss) {
    if (!loss->inside)
        return short_text("all cells");
    if (loss->count <= 1)
        return short_text("the cell");
    const bool named = loss->class < CLASS_COUNT;
    return short_text("%lld cells%s%s", (long long)loss->count, named ? ", " : "",
                      named ? world_classes[loss->class].name : "");
}

/* Returns "loss 12.3, half the squared norm of 14 cells, car", or a shorter text without room. */
static ShortText loss_text(const Sheet *sheet, const GridLoss *loss, int width) {
    const bool from_file = loss->inside && loss->kind == LOSS_COUNT;
    const ShortText value = loss->inside ? short_text(" %.3g", loss->value) : (ShortText){""};
    const ShortText cells = loss_cells_text(loss);
    const ShortText brief = short_text("loss%s, of %s", value.text, cells.text);
    const ShortText whole = short_text(from_file ? "loss%s, a gradient from a file, of %s"
                                                 : "loss%s, half the squared norm of %s",
                                       value.text, cells.text);
    return sheet_width(sheet, whole.text) > width ? brief : whole;
}

/* Draws a depth bin: the depth, the gradient and a bar. Negative gradients have another colour. */
static void draw_bin(Sheet *sheet, Area line, const PanelData *data, int64_t bin, double value,
                     double largest) {
    const Rig *rig = data->live->frame.rig;
    const ShortText name = rig ? short_text("%.1f m", frustum_depth_m(&rig->frustum, bin))
                               : short_text("bin %lld", (long long)bin);
    sheet_right(sheet, area_columns(&line, NAME_W), cell_style(INK_MUTED), name.text);
    sheet_right(sheet, area_columns(&line, VALUE_W), cell_style(INK_TEXT),
                short_text("%+.3g", value).text);
    sheet_bar(sheet, area_behind(line, 1), fabs(value), largest, value < 0 ? INK_WARN : INK_ACCENT);
}

/* Returns the gradient of a pixel's first depth bin. Each further bin lies a plane behind. */
static const float *bins_of(const LiveFrame *frame, int64_t pixel) {
    const int64_t plane = plane_of(&frame->shape);
    const int64_t camera = pixel / plane, in_plane = pixel % plane;
    return frame->gradients.grad_depth + camera * frame->shape.depth_bins * plane + in_plane;
}

/* Draws the bins with the largest gradients of one pixel, in the order of their depths. */
static void draw_bins(Sheet *sheet, Area area, const PanelData *data, int64_t pixel) {
    const BevShape *shape = &data->live->frame.shape;
    const int64_t plane = plane_of(shape);
    const float *grads = bins_of(&data->live->frame, pixel);
    double largest = 0, least = gradient_threshold(grads, shape->depth_bins, plane, area.h);
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        largest = fmax(largest, fabs(grads[bin * plane]));
    for (int64_t bin = 0; bin < shape->depth_bins && area.h > 0; bin++)
        if (fabs(grads[bin * plane]) > least)
            draw_bin(sheet, area_row(&area), data, bin, grads[bin * plane], largest);
}

/* Returns the rows that the panel wants. On a screen, where the mouse chooses the pixel, the number
 * never changes. A printed page has a row for each depth bin with a gradient. */
int gradients_want(Sheet *sheet, const PanelData *data, int width) {
    enum { MOST_BINS = 8, WITHOUT = 3 };
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    int bins = 0;
    (void)sheet, (void)width;
    if (!frame->gradients.grad_depth)
        return WITHOUT;
    if (!data->still)
        return HEAD_ROWS + MOST_BINS;
    int64_t pixel = frame_gradient_pixel(frame, data->state->pixel);
    for (int64_t bin = 0; pixel >= 0 && bin < shape->depth_bins; bin++)
        bins += bins_of(frame, pixel)[bin * plane_of(shape)] != 0;
    return HEAD_ROWS + (bins < MOST_BINS ? bins : MOST_BINS);
}

/* Draws how many pixels the loss reaches, and the depth gradients of the chosen pixel. */
static void draw_reach(Sheet *sheet, Area area, const PanelData *data, const float *strength) {
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    const int64_t plane = plane_of(shape);
    int64_t pixel = gradient_shown(shape, strength, data->state->pixel);
    int64_t count = gradient_count(shape, frame->gradients.grad_feat);
    sheet_line(sheet, area, cell_bold(INK_TITLE),
               short_text("%lld pixels would have to change", (long long)count).text);
    if (pixel < 0 || area.h < 2)
        return;
    const int64_t w = pixel % shape->feat_w, h = pixel % plane / shape->feat_w;
    const ShortText head = short_text(
        "%s: %s %lld, %lld, its grad_depth", pixel == data->state->pixel ? "mouse" : "most",
        camera_text(frame->rig, pixel / plane).text, (long long)w, (long long)h);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_MUTED), head.text);
    draw_bins(sheet, area_below(area, 2), data, pixel);
}

void gradients_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveGradients *gradients = &data->live->frame.gradients;
    const BevKernel *by = data->live->job.config.kernel;
    Err err;
    const ShortText by_kernel = short_text("by %s", by ? by->title : "n/a");
    area =
        sheet_title(sheet, area, "Gradients of a loss", gradients->grad_feat ? by_kernel.text : "");
    if (!gradients->grad_feat) {
        sheet_paragraph(sheet, area, INK_MUTED, gradients->text ? gradients->text : "n/a");
        return;
    }
    const ShortText loss = loss_text(sheet, gradients->loss, area.w);
    sheet_line(sheet, area_row(&area), cell_style(INK_TEXT), loss.text);
    float *strength = gradient_strengths(&data->live->frame.shape, gradients->grad_feat, &err);
    if (strength)
        draw_reach(sheet, area, data, strength);
    else
        sheet_line(sheet, area, cell_style(INK_MUTED), "n/a: no pixel has a finite gradient");
    free(strength);
}

/* ---- an operator scene ----------------------------------------------------------------------- */

void operator_draw(Sheet *sheet, Area area, const PanelData *data) {
    const OperatorSpec *spec = &data->state->scene.operator_spec;
    const OperatorBars *bars = data->live->frame.bars;
    const ShortText text = operator_describe(spec);
    area = sheet_title(sheet, area, "No cameras", operator_kinds[spec->kind].title);
    int rows = sheet_paragraph_rows(sheet, area, text.text);
    if (rows < area.h || !bars)
        sheet_paragraph(sheet, area, INK_TEXT, text.text);
    area = area_below(area, rows);
    if (!bars || area.h < 1)
        return;
    const ShortText title = operator_bars_title(spec, bars);
    if (area.h > 2 && sheet_width(sheet, title.text) <= area.w)
        sheet_line(sheet, area_row(&area), cell_style(INK_MUTED), title.text);
    double heights[OPERATOR_BARS];
    for (int i = 0; i < bars->count; i++)
        heights[i] = operator_bar_height(bars, i);
    sheet_bars(sheet, area, heights, bars->count, INK_ACCENT);
}
