/* SPDX-License-Identifier: MIT */
/* The camera views: all of them in a strip, or one of them, larger: that of the shown step,
 * backward the one that feeds the loss most, else the selected camera where the strip shows
 * something over it. */
#include "src/view/bev/strip.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The place is the same for every scene: as of six cameras of the usual shape. */
enum { USUAL_CAMERAS = 6 };
static const double usual_aspect = 128.0 / 352; /* height over width */

static int camera_w(int w, int cameras) {
    return (w - cameras + 1) / cameras;
}

int cameras_rows(int w) {
    return 1 + (int)lround(camera_w(w, USUAL_CAMERAS) * usual_aspect / 2);
}

static int64_t plane_of(const BevShape *shape) {
    return shape->feat_h * shape->feat_w;
}

/* ---- a view ---------------------------------------------------------------------------------- */

/* Paints a feature pixel of a view: a square, which is at least as large as the feature pixel. */
static void mark_pixel(Image *view, const Frustum *frustum, double w, double h, Rgb color) {
    double side_x = fmax((double)view->w / frustum->feat_w, 1);
    double side_y = fmax((double)view->h / frustum->feat_h, 1);
    int left = (int)((frustum_u_px(frustum, w) + 0.5) / frustum->input_w * view->w - side_x / 2);
    int top = (int)((frustum_v_px(frustum, h) + 0.5) / frustum->input_h * view->h - side_y / 2);
    for (int y = top > 0 ? top : 0; y < top + side_y && y < view->h; y++)
        for (int x = left > 0 ? left : 0; x < left + side_x && x < view->w; x++)
            image_set(view, x, y, color);
}

/* Marks the pixels of shown points, and in white the chosen feature pixel; -1: none. */
static void mark_view(Image *view, const PanelData *data, int camera, int64_t chosen) {
    const LiveFrame *frame = &data->live->frame;
    const Frustum frustum = frame_frustum(frame);
    const BevShape *shape = &frame->shape;
    LiveContribution lit[LIVE_MAX_CONTRIBUTIONS];
    int count = frame->rig ? live_lit(data->live, data->state, lit) : 0;
    for (int i = 0; i < count; i++)
        if (lit[i].camera == camera)
            mark_pixel(view, &frustum, lit[i].w, lit[i].h, panel_theme.mark);
    if (chosen >= 0 && chosen / plane_of(shape) == camera)
        mark_pixel(view, &frustum, (double)(chosen % shape->feat_w),
                   (double)(chosen % plane_of(shape) / shape->feat_w), panel_theme.line);
}

/* Draws a camera's view as large as the area has room, and notes its place for the mouse. */
static void view_draw(Sheet *sheet, Area area, const PanelData *data, int camera, int64_t chosen) {
    const Frustum frustum = frame_frustum(&data->live->frame);
    Image view;
    Err ignored; /* without memory the place stays empty */
    int w, h;
    sheet_pixels(sheet, area, &w, &h);
    w = (int)fmin(w, round((double)h * frustum.input_w / frustum.input_h));
    h = (int)fmin(h, round((double)w * frustum.input_h / frustum.input_w));
    if (w < 1 || h < 1 || !image_scale(&data->picture->cameras[camera], w, h, &view, &ignored))
        return;
    for (int i = 0; !(data->live->job.camera_mask >> camera & 1) && i < w * h; i++)
        image_set(&view, i % w, i / w,
                  rgb_mix(image_get(&view, i % w, i / w), panel_theme.dirt, 0.8));
    mark_view(&view, data, camera, chosen);
    sheet_picture(sheet, area, &view);
    sheet_camera(sheet, area, w, h, camera);
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

/* ---- all of them ----------------------------------------------------------------------------- */

static void draw_name(Sheet *sheet, Area row, const PanelData *data, int camera) {
    const SceneFacts *scene = &data->state->scene;
    bool chosen = camera == data->state->camera;
    char text[128], faults[96] = "";
    bool unborn = data->state->tours && camera >= state_seeing(data->state); /* `see` goes on */
    bool off = !unborn && !lesson_asks(&data->state->lesson) &&
               camera_faults(&data->live->job, camera, faults, sizeof faults);
    snprintf(text, sizeof text, "%.30s%s",
             camera < scene->camera_count ? scene->cameras[camera] : "", off ? faults : "");
    if (sheet_width(sheet, text) > row.w)
        snprintf(text, sizeof text, "%.*s", row.w, off ? faults + 2 : "");
    Ink ink = off ? INK_BAD : chosen ? INK_ACCENT : INK_MUTED;
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
        draw_name(sheet, at, data, i);
        sheet_figure(sheet, at);
        view_draw(sheet, area_below(at, 1), data, i, chosen);
    }
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   data->picture ? "no camera views in this scene" : "");
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* Returns the camera that is shown, and how many points of a step it has. */
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

enum { EXPLAINED = 2 }; /* rows of text under the picture of dropped points */

int camera_want(Sheet *sheet, const PanelData *data, int width) {
    const BevShape *shape = &data->live->frame.shape;
    (void)sheet;
    int rows = shape->feat_w > 0 ? (int)(width * shape->feat_h / shape->feat_w / 2) : 0;
    return 1 + rows + (dropped_pixel(data->state, data->live) >= 0 ? EXPLAINED : 0);
}

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

/* Whether there are camera views. Operator scenes have bars in their place. */
bool camera_shown(const PanelData *data) {
    const State *state = data->state;
    return !state->scene.has_operator &&
           (state->job.steps || state->job.config.kernel->direction == BEV_BACKWARD ||
            (state->strip != STRIP_IMAGE && data->live->frame.rig));
}

/* ---- an operator scene ----------------------------------------------------------------------- */

void operator_draw(Sheet *sheet, Area area, const PanelData *data) {
    const OperatorSpec *spec = &data->state->scene.operator_spec;
    const OperatorBars *bars = data->live->frame.bars;
    char text[160];
    area = sheet_title(sheet, area, "No cameras", operator_kinds[spec->kind].title);
    operator_describe(spec, text, sizeof text);
    int rows = sheet_paragraph_rows(sheet, area, INK_TEXT, text);
    if (rows < area.h || !bars)
        sheet_paragraph(sheet, area, INK_TEXT, text);
    area = area_below(area, rows);
    if (!bars || area.h < 1)
        return;
    operator_bars_title(spec, bars, text, sizeof text);
    if (area.h > 2 && sheet_width(sheet, text) <= area.w) {
        sheet_line(sheet, area, cell_style(INK_MUTED), text);
        area = area_below(area, 1);
    }
    double *heights = malloc((size_t)bars->count * sizeof *heights);
    for (int i = 0; heights && i < bars->count; i++)
        heights[i] = operator_bar_height(bars, i);
    if (heights)
        sheet_bars(sheet, area, heights, bars->count, INK_ACCENT);
    free(heights);
}
