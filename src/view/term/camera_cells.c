/* SPDX-License-Identifier: MIT */
/* A camera view: a sign for each feature pixel, or for a few of them. The view of the shown step,
 * with the pixels whose points the step takes; backward the camera that feeds the loss most, with
 * the pixels that feed it; else the selected camera, where the strip shows something over it. */
#include "src/view/bev/dropped.h"
#include "src/view/bev/strip.h"
#include "src/view/term/dashboard_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    DashSheet *dash;
    const PanelData *data;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count, camera;
    float *strength; /* backward: of all cameras' pixels; else NULL. free() it */
    float *values;   /* of the strip, of all cameras' pixels; NULL: the picture. free() it */
    ValueRange range;
    int64_t pixel; /* the chosen pixel, or -1 */
} Seen;

static int camera_of(const LiveFrame *frame, int64_t pixel) {
    return (int)(pixel / (frame->shape.feat_h * frame->shape.feat_w));
}

static Seen seen_of(Sheet *sheet, const PanelData *data) {
    Seen seen = {.dash = (DashSheet *)sheet, .data = data, .camera = data->state->camera};
    seen.count = live_step_points(data->live, data->state, seen.points);
    if (seen.count)
        seen.camera = (int)step_pixel(&data->live->frame.shape, seen.points[0]->depth).camera;
    const LiveFrame *frame = &data->live->frame;
    if (seen.camera >= frame->shape.cameras) /* a frame of fewer cameras is still shown */
        seen.camera = 0;
    Err ignored; /* then the picture is not lit */
    const StripInput input = {frame->rig, frame->features, frame->channels, frame->cameras, NULL};
    Strip strip = data->state->strip;
    seen.pixel = dropped_pixel(data->state, data->live);
    if (seen.pixel >= 0 && !seen.count)
        seen.camera = camera_of(frame, seen.pixel);
    if (!frame->gradients.grad_feat && strip != STRIP_IMAGE && frame->rig && frame->features)
        seen.values = strip_values(&input, strip, &seen.range, &ignored);
    if (!frame->gradients.grad_feat)
        return seen;
    seen.strength = gradient_strengths(&frame->shape, frame->gradients.grad_feat, &ignored);
    seen.pixel =
        seen.strength ? gradient_shown(&frame->shape, seen.strength, data->state->pixel) : -1;
    if (seen.pixel >= 0)
        seen.camera = camera_of(frame, seen.pixel);
    return seen;
}

enum { EXPLAINED = 2 }; /* rows of text under the picture of dropped points */

static int camera_want(Sheet *sheet, const PanelData *data, int width) {
    const BevShape *shape = &data->live->frame.shape;
    int explained = dropped_pixel(data->state, data->live) >= 0 ? EXPLAINED : 0;
    (void)sheet, (void)width;
    return 2 + (int)(shape->feat_h + 1) / 2 + explained;
}

/* The colour of a feature pixel: what the camera saw there. Where that is unknown: grey, lighter
 * for longer features. */
static Rgb pixel_color(const LiveFrame *frame, int camera, int64_t h, int64_t w) {
    const BevShape *shape = &frame->shape;
    const CameraViews *seen = frame->cameras;
    if (seen && seen->cameras) {
        int64_t y = (2 * h + 1) * seen->h / (2 * shape->feat_h);
        int64_t x = (2 * w + 1) * seen->w / (2 * shape->feat_w);
        return raster_camera_pixel(seen, camera, y, x);
    }
    double sum = 0;
    const float *row = frame->features->feat +
                       ((camera * shape->feat_h + h) * shape->feat_w + w) * shape->channels;
    for (int64_t c = 0; c < shape->channels; c++)
        sum += (double)row[c] * row[c];
    uint8_t grey = (uint8_t)(200 * (1 - exp(-sqrt(sum))));
    return (Rgb){grey, grey, grey};
}

static float at(const Seen *seen, const float *values, int64_t h, int64_t w) {
    const BevShape *shape = &seen->data->live->frame.shape;
    return values[(seen->camera * shape->feat_h + h) * shape->feat_w + w];
}

/* The pixel's colour; backward dimmed, or lit by its gradient; under the strip's value; white where
 * it is chosen. */
static Ink pixel_ink(const Seen *seen, int64_t h, int64_t w) {
    const BevShape *shape = &seen->data->live->frame.shape;
    int64_t pixel = (seen->camera * shape->feat_h + h) * shape->feat_w + w;
    bool chosen = pixel == (seen->values ? seen->pixel : seen->data->state->pixel);
    if (chosen && (seen->strength || seen->values))
        return INK_RGB | 0xffffff;
    Rgb color = pixel_color(&seen->data->live->frame, seen->camera, h, w);
    if (seen->values)
        color =
            strip_over(color, seen->data->state->strip, at(seen, seen->values, h, w), &seen->range);
    return ink_rgb(seen->strength ? gradient_lit(color, at(seen, seen->strength, h, w)) : color);
}

static bool is_lit(const Seen *seen, int64_t h, int64_t w) {
    if (seen->strength)
        return at(seen, seen->strength, h, w) > 0;
    if (seen->values && !seen->count) /* without colour: the larger half */
        return at(seen, seen->values, h, w) > seen->range.hi / 2;
    for (int i = 0; i < seen->count; i++) {
        StepPixel one = step_pixel(&seen->data->live->frame.shape, seen->points[i]->depth);
        if (one.camera == seen->camera && one.h == h && one.w == w)
            return true;
    }
    return false;
}

/* A sign: two squares above each other, as half blocks; without colour, lit squares only. Squares
 * are `scale` to a feature pixel. */
static void put_squares(Cells *cells, int x, int y, const Seen *seen, Area area, int scale) {
    const LiveFrame *frame = &seen->data->live->frame;
    const Ink mark = ink_rgb(panel_theme.mark);
    int64_t w = x / scale, upper = 2 * y / scale, lower = (2 * y + 1) / scale;
    bool below = lower < frame->shape.feat_h;
    bool up = is_lit(seen, upper, w), down = below && is_lit(seen, lower, w);
    bool steps = !seen->strength && seen->count;
    Ink ink = up && steps ? mark : pixel_ink(seen, upper, w);
    Ink paper = down && steps ? mark : below ? pixel_ink(seen, lower, w) : INK_DEFAULT;
    if (cells->color)
        cells_put(cells, area.x + x, area.y + y, 0x2580, (CellStyle){.ink = ink, .paper = paper});
    else
        cells_put(cells, area.x + x, area.y + y,
                  up && down ? 0x2588
                  : up       ? 0x2580
                  : down     ? 0x2584
                             : '.',
                  up || down ? cell_bold(INK_ACCENT) : cell_style(INK_MUTED));
}

/* Squares to a pixel: as many as there is room for. */
static int scale_of(const BevShape *shape, Area area) {
    enum { LARGEST = 4 };
    int scale = LARGEST;
    while (scale > 1 && (scale * shape->feat_w > area.w || scale * shape->feat_h > 2 * area.h))
        scale--;
    return scale;
}

/* Notes the place of the camera for the mouse; backward its pixels, too. */
static void note_place(const Seen *seen, Area used, int scale) {
    const LiveFrame *frame = &seen->data->live->frame;
    const BevShape *shape = &frame->shape;
    DashSpots *spots = seen->dash->spots;
    if (frame->rig && seen->camera < frame->rig->camera_count)
        sheet_spot(&seen->dash->sheet, used, ACTION_CAMERA, 0,
                   frame->rig->cameras[seen->camera].name);
    if (!spots || !(seen->strength || seen->pixel >= 0))
        return;
    spots->camera = used;
    spots->squares = scale;
    spots->first_pixel = seen->camera * shape->feat_h * shape->feat_w;
    spots->feat_w = shape->feat_w;
}

/* What happened to the points of the chosen pixel, in the last rows. Returns the rows. */
static int explain(Sheet *sheet, Area area, const Seen *seen) {
    enum { LEAST_PICTURE = 4 };
    const LiveFrame *frame = &seen->data->live->frame;
    char text[256];
    if (seen->strength || seen->count || seen->pixel < 0 || area.h < LEAST_PICTURE + EXPLAINED)
        return 0;
    sheet_origin(sheet, ORIGIN_MAP, NULL);
    dropped_text(frame->rig, frame->features->depth, seen->pixel, text, sizeof text);
    sheet_paragraph(sheet, (Area){area.x, area.y + area.h - EXPLAINED, area.w, EXPLAINED}, INK_TEXT,
                    text);
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    return EXPLAINED;
}

static void camera_draw(Sheet *sheet, Area area, const PanelData *data) {
    Cells *cells = sheet->surface;
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    Seen seen = seen_of(sheet, data);
    char title[64], note[48] = "";
    sheet_figure(sheet, area);
    if (frame->rig && seen.camera < frame->rig->camera_count)
        snprintf(title, sizeof title, "Camera %.31s", frame->rig->cameras[seen.camera].name);
    else
        snprintf(title, sizeof title, "Camera %d", seen.camera);
    snprintf(note, sizeof note, seen.count ? "%d point%s" : "no points now", seen.count,
             seen.count == 1 ? "" : "s");
    if (seen.strength)
        snprintf(note, sizeof note, "%lld of all %lld pixels",
                 (long long)gradient_count(shape, frame->gradients.grad_feat),
                 (long long)(shape->cameras * shape->feat_h * shape->feat_w));
    else if (seen.values && !seen.count)
        snprintf(note, sizeof note, "%s", strip_names[data->state->strip]);
    else if (!data->state->job.steps)
        note[0] = '\0';
    area = sheet_title(sheet, area, title, note);
    if (!frame->features || shape->feat_w <= 0) {
        cells_text(cells, area.x, area.y, area.w, cell_style(INK_MUTED), "n/a");
        free(seen.strength);
        free(seen.values);
        return;
    }
    area.h -= explain(sheet, area, &seen);
    int scale = scale_of(shape, area), columns = scale * (int)shape->feat_w;
    int rows = (scale * (int)shape->feat_h + 1) / 2;
    Area used = {area.x, area.y, columns < area.w ? columns : area.w,
                 rows < area.h ? rows : area.h};
    for (int y = 0; y < used.h; y++)
        for (int x = 0; x < used.w; x++)
            put_squares(cells, x, y, &seen, area, scale);
    note_place(&seen, used, scale);
    free(seen.strength);
    free(seen.values);
}

/* Operator scenes have bars in its place (src/view/panel/operator.c). */
static bool camera_shown(const PanelData *data) {
    const State *state = data->state;
    return !state->scene.has_operator &&
           (state->job.steps || state->job.config.kernel->direction == BEV_BACKWARD ||
            (state->strip != STRIP_IMAGE && data->live->frame.rig));
}

const Panel camera_panel = {.origin = ORIGIN_PICTURE,
                            .menu = "camera ",
                            .point = PANEL_STRIP,
                            .shown = camera_shown,
                            .fold = 8,
                            .grow = 2,
                            .height = 10,
                            .want = camera_want,
                            .draw = camera_draw};
