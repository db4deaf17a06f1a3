/* SPDX-License-Identifier: MIT */
/* The camera views of the terminal, as half blocks: all of them in a strip, or one of them, larger:
 * that of the shown step, backward the one that feeds the loss most, else the selected camera where
 * the strip shows something over it. */
#include "src/state/live_text.h"
#include "src/view/bev/dropped.h"
#include "src/view/term/dashboard_internal.h"

#include <math.h>
#include <stdio.h>

/* The place is the same for every scene: as of six cameras of the usual shape. */
enum { USUAL_CAMERAS = 6 };
static const double usual_aspect = 0.4; /* height over width */

static int camera_w(int w, int cameras) {
    return (w - cameras + 1) / cameras;
}

int strip_cells_rows(int w) {
    return 1 + (int)lround(camera_w(w, USUAL_CAMERAS) * usual_aspect / 2);
}

/* The mean colour of pixels from (x0, y0) to (x1, y1), at least one. */
static Rgb mean_of(const Image *image, double x0, double y0, double x1, double y1) {
    int left = (int)x0, top = (int)y0, sum[3] = {0}, count = 0;
    int right = (int)fmax(ceil(x1), left + 1), bottom = (int)fmax(ceil(y1), top + 1);
    for (int y = top; y < bottom && y < image->h; y++)
        for (int x = left; x < right && x < image->w; x++, count++) {
            Rgb color = image_get(image, x, y);
            sum[0] += color.r, sum[1] += color.g, sum[2] += color.b;
        }
    count = count ? count : 1;
    return (Rgb){(uint8_t)(sum[0] / count), (uint8_t)(sum[1] / count), (uint8_t)(sum[2] / count)};
}

/* Whether a point of the shown step or of the probed cell comes from this pixel of the strip. */
static bool is_lit(const LiveContribution *lit, int count, const Frustum *frustum, int camera,
                   double x, double y, double w, double h) {
    for (int i = 0; i < count; i++) {
        double u = (frustum_u_px(frustum, lit[i].w) + 0.5) / frustum->input_w;
        double v = (frustum_v_px(frustum, lit[i].h) + 0.5) / frustum->input_h;
        if (lit[i].camera == camera && u >= x && u < x + w && v >= y && v < y + h)
            return true;
    }
    return false;
}

/* Draws what fits into `area` of a view that is w columns and h half rows large. Pixels of shown
 * points have the mark's colour, a chosen feature pixel is white. */
static void draw_view(Cells *cells, Area area, int w, int h, const DashSheet *dash,
                      const PanelData *data, int camera, int64_t chosen) {
    const Image *image = &dash->picture->cameras[camera];
    const Frustum frustum = frame_frustum(&data->live->frame);
    LiveContribution lit[LIVE_MAX_CONTRIBUTIONS];
    int count = data->live->frame.rig ? live_lit(data->live, data->state, lit) : 0;
    bool dirty = !(data->live->job.camera_mask >> camera & 1);
    double step_x = 1.0 / w, step_y = 1.0 / h;
    for (int y = 0; y < area.h; y++)
        for (int x = 0; x < area.w; x++) {
            Rgb two[2];
            bool marked = false;
            for (int k = 0; k < 2; k++) {
                double left = x * step_x, top = (2 * y + k) * step_y;
                int64_t pixel =
                    (camera * frustum.feat_h + (int)((top + step_y / 2) * frustum.feat_h)) *
                        frustum.feat_w +
                    (int)((left + step_x / 2) * frustum.feat_w);
                bool is_marked = is_lit(lit, count, &frustum, camera, left, top, step_x, step_y);
                two[k] = mean_of(image, left * image->w, top * image->h, (left + step_x) * image->w,
                                 (top + step_y) * image->h);
                if (dirty)
                    two[k] = rgb_mix(two[k], panel_theme.dirt, 0.8);
                if (is_marked || pixel == chosen)
                    two[k] = is_marked ? panel_theme.mark : panel_theme.line;
                marked |= is_marked;
            }
            cells_half_block(cells, area.x + x, area.y + y, two[0], two[1], false);
            if (marked && !cells->color)
                cells_put(cells, area.x + x, area.y + y, 0x2588, cell_bold(INK_ACCENT));
        }
}

static void draw_name(Sheet *sheet, Area row, const PanelData *data, int camera) {
    const SceneFacts *scene = &data->state->scene;
    bool chosen = camera == data->state->camera;
    char text[128], faults[96] = "";
    bool off = !lesson_asks(&data->state->lesson) &&
               camera_faults(&data->live->job, camera, faults, sizeof faults);
    snprintf(text, sizeof text, "%.30s%s",
             camera < scene->camera_count ? scene->cameras[camera] : "", off ? faults : "");
    if (sheet_width(sheet, text) > row.w)
        snprintf(text, sizeof text, "%.*s", row.w, off ? faults + 2 : "");
    Ink ink = off ? INK_BAD : chosen ? INK_ACCENT : INK_MUTED;
    sheet_text(sheet, row.x, row.y, row.w, chosen ? cell_bold(ink) : cell_style(ink), text);
}

void strip_cells_draw(DashSheet *dash, Area area, const PanelData *data) {
    Sheet *sheet = &dash->sheet;
    const SceneFacts *scene = &data->state->scene;
    if (scene->has_operator) {
        panel_draw(sheet, area, &operator_panel, data);
        return;
    }
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    int count = dash->picture ? dash->picture->camera_count : 0;
    for (int i = 0; i < count; i++) {
        Area at = {area.x + i * (area.w + 1) / count, area.y, camera_w(area.w, count), area.h};
        draw_name(sheet, at, data, i);
        Area view = area_below(at, 1);
        draw_view(sheet->surface, view, view.w, 2 * view.h, dash, data, i, -1);
        sheet_figure(sheet, at);
        if (i < scene->camera_count)
            sheet_spot(sheet, at, ACTION_CAMERA, 0, scene->cameras[i]);
    }
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   dash->picture ? "no camera views in this scene" : "");
}

/* ---- one view -------------------------------------------------------------------------------- */

/* The view that is shown, how many points of a step it has, and a pixel that is explained; -1:
 * none. */
typedef struct {
    int camera, points;
    int64_t pixel;
} Shown;

static Shown shown_of(const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    Shown shown = {data->state->camera, live_step_points(data->live, data->state, points),
                   frame->gradients.grad_feat ? frame_gradient_pixel(frame, data->state->pixel)
                                              : dropped_pixel(data->state, data->live)};
    if (shown.points)
        shown.camera = (int)step_pixel(&frame->shape, points[0]->depth).camera;
    if (shown.pixel >= 0 && (!shown.points || frame->gradients.grad_feat))
        shown.camera = (int)(shown.pixel / (frame->shape.feat_h * frame->shape.feat_w));
    if (shown.camera >= frame->shape.cameras) /* a frame of fewer cameras is still shown */
        shown.camera = 0;
    return shown;
}

enum { EXPLAINED = 2 }; /* rows of text under the picture of dropped points */

static int camera_want(Sheet *sheet, const PanelData *data, int width) {
    int explained = dropped_pixel(data->state, data->live) >= 0 ? EXPLAINED : 0;
    (void)sheet, (void)width;
    return 2 + (int)(data->live->frame.shape.feat_h + 1) / 2 + explained;
}

/* Half blocks to a feature pixel: as many as there is room for. */
static int scale_of(const BevShape *shape, Area area) {
    enum { LARGEST = 4 };
    int scale = LARGEST;
    while (scale > 1 && (scale * shape->feat_w > area.w || scale * shape->feat_h > 2 * area.h))
        scale--;
    return scale;
}

/* Notes the place of the camera for the mouse; where a pixel is explained its pixels, too. */
static void note_place(DashSheet *dash, const LiveFrame *frame, const Shown *shown, Area used,
                       int scale) {
    const BevShape *shape = &frame->shape;
    DashSpots *spots = dash->spots;
    if (frame->rig && shown->camera < frame->rig->camera_count)
        sheet_spot(&dash->sheet, used, ACTION_CAMERA, 0, frame->rig->cameras[shown->camera].name);
    if (!spots || !(frame->gradients.grad_feat || shown->pixel >= 0))
        return;
    spots->camera = used;
    spots->squares = scale;
    spots->first_pixel = shown->camera * shape->feat_h * shape->feat_w;
    spots->feat_w = shape->feat_w;
}

/* What happened to the points of the chosen pixel, in the last rows. Returns the rows. */
static int explain(Sheet *sheet, Area area, const LiveFrame *frame, const Shown *shown) {
    enum { LEAST_PICTURE = 4 };
    char text[256];
    if (frame->gradients.grad_feat || shown->points || shown->pixel < 0 ||
        area.h < LEAST_PICTURE + EXPLAINED)
        return 0;
    sheet_origin(sheet, ORIGIN_MAP, NULL);
    dropped_text(frame->rig, frame->features->depth, shown->pixel, text, sizeof text);
    sheet_paragraph(sheet, (Area){area.x, area.y + area.h - EXPLAINED, area.w, EXPLAINED}, INK_TEXT,
                    text);
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    return EXPLAINED;
}

static void note_text(const PanelData *data, const Shown *shown, char *text, size_t size) {
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    text[0] = '\0';
    if (frame->gradients.grad_feat)
        snprintf(text, size, "%lld of all %lld pixels",
                 (long long)gradient_count(shape, frame->gradients.grad_feat),
                 (long long)(shape->cameras * shape->feat_h * shape->feat_w));
    else if (shown->points || data->state->job.steps)
        snprintf(text, size, shown->points ? "%d point%s" : "no points now", shown->points,
                 shown->points == 1 ? "" : "s");
    else if (data->state->strip != STRIP_IMAGE && frame->rig)
        snprintf(text, size, "%s", strip_names[data->state->strip]);
}

static void camera_draw(Sheet *sheet, Area area, const PanelData *data) {
    DashSheet *dash = (DashSheet *)sheet;
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    const Shown shown = shown_of(data);
    char title[64], note[48];
    sheet_figure(sheet, area);
    snprintf(title, sizeof title, "Camera %d", shown.camera);
    if (frame->rig && shown.camera < frame->rig->camera_count)
        snprintf(title, sizeof title, "Camera %.31s", frame->rig->cameras[shown.camera].name);
    note_text(data, &shown, note, sizeof note);
    area = sheet_title(sheet, area, title, note);
    bool drawn = dash->picture && shown.camera < dash->picture->camera_count;
    if (!drawn)
        sheet_line(sheet, area, cell_style(INK_MUTED), "n/a");
    if (!frame->features || shape->feat_w <= 0)
        return;
    area.h -= explain(sheet, area, frame, &shown);
    int scale = scale_of(shape, area), w = scale * (int)shape->feat_w,
        h = scale * (int)shape->feat_h, rows = (h + 1) / 2;
    Area used = {area.x, area.y, w < area.w ? w : area.w, rows < area.h ? rows : area.h};
    if (drawn)
        draw_view(sheet->surface, used, w, h, dash, data, shown.camera, shown.pixel);
    note_place(dash, frame, &shown, used, scale);
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
