/* SPDX-License-Identifier: MIT */
/* Backward: the loss, what its gradient reaches, and the depths of the pixel that feeds it most. */
#include "src/view/bev/strip.h"
#include "src/view/bev/picture.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD_ROWS = 4, NAME_W = 8, VALUE_W = 13 };

/* "loss 12.3, half the squared norm of 14 cells, car"; shorter where that has no room. */
static ShortText loss_text(const Sheet *sheet, const GridLoss *loss, int width) {
    const bool given = loss->inside && loss->kind == LOSS_COUNT, named = loss->class < CLASS_COUNT;
    const ShortText value = loss->inside ? short_text(" %.3g", loss->value) : (ShortText){""};
    const ShortText cells =
        !loss->inside      ? short_text("all cells")
        : loss->count <= 1 ? short_text("the cell")
                           : short_text("%lld cells%s%s", (long long)loss->count, named ? ", " : "",
                                        named ? world_classes[loss->class].name : "");
    const ShortText text = short_text(given ? "loss%s, a gradient from a file, of %s"
                                            : "loss%s, half the squared norm of %s",
                                      value.text, cells.text);
    return sheet_width(sheet, text.text) > width
               ? short_text("loss%s, of %s", value.text, cells.text)
               : text;
}

/* Draws one bin: its depth, its gradient and a bar. A negative gradient has another colour. */
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

/* Returns the gradient of a pixel's first bin. The next bin's lies a plane behind it. */
static const float *bins_of(const LiveFrame *frame, int64_t pixel) {
    const int64_t plane = frame->shape.feat_h * frame->shape.feat_w;
    return frame->gradients.grad_depth + pixel / plane * frame->shape.depth_bins * plane +
           pixel % plane;
}

/* Draws the bins with the largest gradients of one pixel, in the order of their depths. */
static void draw_bins(Sheet *sheet, Area area, const PanelData *data, int64_t pixel) {
    const BevShape *shape = &data->live->frame.shape;
    const int64_t plane = shape->feat_h * shape->feat_w;
    const float *grads = bins_of(&data->live->frame, pixel);
    double largest = 0, least = gradient_threshold(grads, shape->depth_bins, plane, area.h);
    int shown = 0;
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        largest = fmax(largest, fabs(grads[bin * plane]));
    for (int64_t bin = 0; bin < shape->depth_bins && shown < area.h; bin++)
        if (fabs(grads[bin * plane]) > least)
            draw_bin(sheet, (Area){area.x, area.y + shown++, area.w, 1}, data, bin,
                     grads[bin * plane], largest);
}

/* Returns the rows: always the same on a screen, where the mouse chooses the pixel. A figure has as
 * many as there are bins. */
int gradients_want(Sheet *sheet, const PanelData *data, int width) {
    enum { MOST_BINS = 8, WITHOUT = 3 };
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    int64_t plane = shape->feat_h * shape->feat_w;
    int bins = 0;
    (void)sheet, (void)width;
    if (!frame->gradients.grad_depth)
        return WITHOUT;
    if (!data->still)
        return HEAD_ROWS + MOST_BINS;
    int64_t pixel = frame_gradient_pixel(frame, data->state->pixel);
    for (int64_t bin = 0; pixel >= 0 && bin < shape->depth_bins; bin++)
        bins += bins_of(frame, pixel)[bin * plane] != 0;
    return HEAD_ROWS + (bins < MOST_BINS ? bins : MOST_BINS);
}

/* Draws how many pixels the loss reaches, and the depth gradients of one of them. */
static void draw_reach(Sheet *sheet, Area area, const PanelData *data, const float *strength) {
    const LiveFrame *frame = &data->live->frame;
    const BevShape *shape = &frame->shape;
    int64_t plane = shape->feat_h * shape->feat_w;
    int64_t pixel = gradient_shown(shape, strength, data->state->pixel);
    int64_t count = gradient_count(shape, frame->gradients.grad_feat);
    sheet_line(sheet, area, cell_bold(INK_TITLE),
               short_text("%lld pixels would have to change", (long long)count).text);
    if (pixel < 0 || area.h < 2)
        return;
    const ShortText camera = frame->rig ? short_text("%s", frame->rig->cameras[pixel / plane].name)
                                        : short_text("camera %lld", (long long)(pixel / plane));
    sheet_line(sheet, area_below(area, 1), cell_style(INK_MUTED),
               short_text("%s: %s %lld, %lld, its grad_depth",
                          pixel == data->state->pixel ? "mouse" : "most", camera.text,
                          (long long)(pixel % shape->feat_w),
                          (long long)(pixel % plane / shape->feat_w))
                   .text);
    draw_bins(sheet, area_below(area, 2), data, pixel);
}

void gradients_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveGradients *gradients = &data->live->frame.gradients;
    const BevKernel *by = data->live->job.config.kernel;
    Err err;
    area =
        sheet_title(sheet, area, "Gradients of a loss",
                    gradients->grad_feat ? short_text("by %s", by ? by->title : "n/a").text : "");
    if (!gradients->grad_feat) {
        sheet_paragraph(sheet, area, INK_MUTED, gradients->text ? gradients->text : "n/a");
        return;
    }
    sheet_line(sheet, area, cell_style(INK_TEXT), loss_text(sheet, gradients->loss, area.w).text);
    float *strength = gradient_strengths(&data->live->frame.shape, gradients->grad_feat, &err);
    Area below = area_below(area, 1);
    if (strength && below.h > 0)
        draw_reach(sheet, below, data, strength);
    else if (!strength)
        sheet_line(sheet, below, cell_style(INK_MUTED), "n/a: no pixel has a finite gradient");
    free(strength);
}
