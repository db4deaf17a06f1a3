#include "src/cli/train_page.h"

#include "src/base/data.h"
#include "src/view/bev/raster.h"
#include "src/view/bev/slice_content.h"
#include "src/view/chart/chart.h"

#include <math.h>
#include <stdlib.h>

enum { PAGE_W = 1500, GAP = 30, HEAD_H = 92, CAPTION_H = 44 };
enum { LOSS, DEPTH_ERROR, CURVES };

typedef struct {
    const TrainPage *page;
    Image pictures[TRAIN_GRIDS];
    Image wrong[TRAIN_TARGET]; /* how far start and end are from the true grid */
    double *x, *y[CURVES];
    PlotSeries series[CURVES];
    ChartSpec curve;
} Drawing;

static const double PANEL_W = (PAGE_W - 2 * MARGIN - (TRAIN_GRIDS - 1) * GAP) / (double)TRAIN_GRIDS;

static double panel_h(const TrainPage *page) {
    Slice slice = slice_of(&page->workload->scene.shape, SLICE_MAX);
    return PANEL_W * (double)slice.nx / (double)slice.ny;
}

/* ---- the grids ------------------------------------------------------------------------------- */

/* Colours are as strong as in the grid of the true depth: the three grids can be compared. */
static bool render(Drawing *drawing, const Embedding *embedding, Err *err) {
    const TrainPage *page = drawing->page;
    const BevShape *shape = &page->workload->scene.shape;
    Slice slice = slice_of(shape, SLICE_MAX);
    BevContent content = {
        .nx = slice.nx, .ny = slice.ny, .channels = shape->channels, .embedding = embedding};
    ViewKind view = embedding ? VIEW_COLOR : VIEW_NORM;
    ValueRange range = {0};
    bool ok = true;
    for (int i = TRAIN_TARGET; ok && i >= TRAIN_START; i--) {
        CellField field = {0};
        content.pooled = page->grids[i];
        ok = slice_content(&slice, &content, err) && decode_view(view, &content, &field, err);
        free(content.shown);
        content.shown = NULL;
        if (ok && i == TRAIN_TARGET && view == VIEW_NORM)
            ok = range_auto((const CellField *const[]){&field}, 1, &range, err);
        if (ok && i == TRAIN_TARGET && view == VIEW_COLOR)
            content.full_mass = field.full_mass;
        RasterStyle style =
            raster_style(view == VIEW_NORM ? colormap_find(views[view].colormap) : NULL, range,
                         true);
        ok = ok && raster_render(&field, &style, &drawing->pictures[i], err);
        cell_field_free(&field);
    }
    return ok;
}

/* |grid - true grid| of each cell, in one range, that of the start: to the eye a grid that is
 * nearly right looks like one that is smeared. */
static bool render_wrong(Drawing *drawing, Err *err) {
    const TrainPage *page = drawing->page;
    const BevShape *shape = &page->workload->scene.shape;
    size_t count = (size_t)(shape->ny * shape->nx * shape->channels);
    Slice slice = slice_of(shape, SLICE_MAX);
    ValueRange range = {0};
    float *difference = malloc(count * sizeof *difference);
    bool ok = difference || err_set(err, ERR_FAILED, "train", "", "out of memory");
    for (int i = TRAIN_START; ok && i < TRAIN_TARGET; i++) {
        BevContent content = {
            .nx = slice.nx, .ny = slice.ny, .channels = shape->channels, .pooled = difference};
        CellField field = {0};
        for (size_t v = 0; v < count; v++)
            difference[v] = page->grids[i][v] - page->grids[TRAIN_TARGET][v];
        ok = slice_content(&slice, &content, err) && decode_view(VIEW_NORM, &content, &field, err);
        free(content.shown);
        if (ok && i == TRAIN_START)
            ok = range_auto((const CellField *const[]){&field}, 1, &range, err);
        RasterStyle style = raster_style(colormap_find(views[VIEW_NORM].colormap), range, true);
        ok = ok && raster_render(&field, &style, &drawing->wrong[i], err);
        cell_field_free(&field);
    }
    free(difference);
    return ok;
}

static bool render_all(Drawing *drawing, Err *err) {
    Embedding embedding;
    if (!workload_embedding(drawing->page->workload, &embedding, err))
        return false;
    bool ok = render(drawing, embedding.channels >= EMBED_DIMS ? &embedding : NULL, err);
    embedding_free(&embedding);
    return ok && render_wrong(drawing, err);
}

/* ---- the curve ------------------------------------------------------------------------------- */

static const double LEAST_SHOWN = 1e-9;

static bool fill_curve(Drawing *drawing, Err *err) {
    const TrainPage *page = drawing->page;
    size_t count = (size_t)page->step_count;
    double least = INFINITY, most = 0;
    drawing->x = malloc(count * sizeof(double));
    for (int c = 0; c < CURVES; c++)
        drawing->y[c] = malloc(count * sizeof(double));
    if (!drawing->x || !drawing->y[LOSS] || !drawing->y[DEPTH_ERROR])
        return err_set(err, ERR_FAILED, "train", "", "out of memory");
    int kept = 0;
    for (size_t i = 0; i < count; i++) {
        const TrainStep *step = &page->steps[i];
        if (step->taken_back)
            continue;
        drawing->x[kept] = step->step;
        drawing->y[LOSS][kept] = step->loss;
        drawing->y[DEPTH_ERROR][kept] = step->depth_error;
        for (int c = 0; c < CURVES; c++) {
            least = fmin(least, fmax(drawing->y[c][kept], LEAST_SHOWN));
            most = fmax(most, drawing->y[c][kept]);
        }
        kept++;
    }
    drawing->series[LOSS] = (PlotSeries){.name = "loss: |grid − true grid|² / |true grid|²",
                                         .x = drawing->x,
                                         .y = drawing->y[LOSS],
                                         .count = kept,
                                         .strong = true};
    drawing->series[DEPTH_ERROR] = (PlotSeries){.name = "share of depth in the wrong bin",
                                                .x = drawing->x,
                                                .y = drawing->y[DEPTH_ERROR],
                                                .count = kept,
                                                .color = 1};
    drawing->curve = (ChartSpec){
        .title = "What the descent does",
        .subtitle = "Steps that raised the loss were taken back; the curves leave them out.",
        .x = {.title = "step", .lo = 0, .hi = fmax(1, page->steps[count - 1].step)},
        .y = {.title = "loss, share",
              .log = true,
              .lo = least * 0.8,
              .hi = fmax(most, least) * 1.25},
        .series = drawing->series,
        .series_count = CURVES,
        .theme = page->theme,
    };
    return true;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void draw_page(Pen *pen, const void *context) {
    const Drawing *drawing = context;
    const TrainPage *page = drawing->page;
    TextStyle title = style_heading(pen), body = style_muted(pen), caption = style_body(pen);
    title.size = SIZE_TITLE;
    double w = PAGE_W - 2 * MARGIN, h = panel_h(page), top = HEAD_H + CAPTION_H;
    pen_text(pen, MARGIN, MARGIN + 6, w, &title, page->title);
    pen_text(pen, MARGIN, MARGIN + 34, w, &body, page->subtitle);
    for (int i = 0; i < TRAIN_GRIDS; i++) {
        double x = MARGIN + i * (PANEL_W + GAP);
        pen_text(pen, x, top - 14, PANEL_W, &caption, page->captions[i]);
        pen_picture(pen, (Box){x, top, PANEL_W, h}, &drawing->pictures[i]);
    }
    static const char *const wrong[TRAIN_TARGET] = {"Wrong at the start: |grid − true grid|",
                                                    "Wrong at the end, same colours"};
    double under = top + h + CAPTION_H;
    for (int i = 0; i < TRAIN_TARGET; i++) {
        double x = MARGIN + i * (PANEL_W + GAP);
        pen_text(pen, x, under - 14, PANEL_W, &caption, wrong[i]);
        pen_picture(pen, (Box){x, under, PANEL_W, h}, &drawing->wrong[i]);
    }
    double x = MARGIN + TRAIN_TARGET * (PANEL_W + GAP);
    plot_draw(pen, (Box){x, under - 26, PANEL_W, h + 26}, &drawing->curve);
}

static bool write_page(const Drawing *drawing, bool svg, const char *path, Err *err) {
    const TrainPage *page = drawing->page;
    PageSpec spec = {.w = PAGE_W,
                     .h = HEAD_H + 2 * (CAPTION_H + panel_h(page)) + MARGIN,
                     .theme = page->theme,
                     .draw = draw_page,
                     .context = drawing};
    uint8_t *bytes = NULL;
    size_t length = 0;
    Image image = {0};
    bool ok = svg ? page_svg(&spec, &bytes, &length, err)
                  : page_image(&spec, &image, err) && image_png(&image, &bytes, &length, err);
    ok = ok && data_write(path, bytes, length, err);
    image_free(&image);
    free(bytes);
    return ok;
}

bool train_page_write(const TrainPage *page, bool svg, const char *path, Err *err) {
    Drawing drawing = {.page = page};
    bool ok = render_all(&drawing, err) && fill_curve(&drawing, err) &&
              write_page(&drawing, svg, path, err);
    for (int i = 0; i < TRAIN_GRIDS; i++)
        image_free(&drawing.pictures[i]);
    for (int i = 0; i < TRAIN_TARGET; i++)
        image_free(&drawing.wrong[i]);
    free(drawing.x), free(drawing.y[LOSS]), free(drawing.y[DEPTH_ERROR]);
    return ok;
}
