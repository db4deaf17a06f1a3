/* SPDX-License-Identifier: MIT */
/* The camera strip of the terminal: all camera views in a row of half blocks. */
#include "src/state/live_text.h"
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

static void draw_view(Cells *cells, Area area, const DashSheet *dash, const PanelData *data,
                      int camera) {
    const Image *image = &dash->picture->cameras[camera];
    const Frustum frustum = frame_frustum(&data->live->frame);
    LiveContribution lit[LIVE_MAX_CONTRIBUTIONS];
    int count = data->live->frame.rig ? live_lit(data->live, data->state, lit) : 0;
    bool dirty = !(data->live->job.camera_mask >> camera & 1);
    double step_x = 1.0 / area.w, step_y = 0.5 / area.h;
    for (int y = 0; y < area.h; y++)
        for (int x = 0; x < area.w; x++) {
            Rgb two[2];
            for (int k = 0; k < 2; k++) {
                double left = x * step_x, top = (2 * y + k) * step_y;
                two[k] = mean_of(image, left * image->w, top * image->h, (left + step_x) * image->w,
                                 (top + step_y) * image->h);
                if (dirty)
                    two[k] = rgb_mix(two[k], panel_theme.dirt, 0.8);
                if (is_lit(lit, count, &frustum, camera, left, top, step_x, step_y))
                    two[k] = panel_theme.mark;
            }
            cells_half_block(cells, area.x + x, area.y + y, two[0], two[1], false);
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
        draw_view(sheet->surface, area_below(at, 1), dash, data, i);
        sheet_figure(sheet, at);
        if (i < scene->camera_count)
            sheet_spot(sheet, at, ACTION_CAMERA, 0, scene->cameras[i]);
    }
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   dash->picture ? "no camera views in this scene" : "");
}
