/* bevscope train: gradient descent on depth, until a smeared street is sharp. */
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/base/data.h"
#include "src/base/json_fields.h"
#include "src/base/progress.h"
#include "src/train/trainer.h"
#include "src/view/bev/decode.h"
#include "src/view/bev/raster.h"
#include "src/view/bev/slice_content.h"
#include "src/view/draw/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAIN_START, TRAIN_END, TRAIN_TARGET, TRAIN_GRIDS };

enum { PAGE_W = 1500, GAP = 30, HEAD_H = 92, CAPTION_H = 44 };
enum { LOSS, DEPTH_ERROR, CURVES };

typedef struct {
    char subtitle[200];
    const Workload *workload;
    const float *grids[TRAIN_GRIDS]; /* (cell, c) */
    char captions[TRAIN_GRIDS][96];
    const TrainStep *steps;
    int step_count;
    FigureTheme theme;
    Image pictures[TRAIN_GRIDS];
    Image wrong[TRAIN_TARGET]; /* how far start and end are from the true grid */
    double *x, *y[CURVES];     /* one allocation */
    PlotSeries series[CURVES];
    ChartSpec curve;
} Drawing;

static const double PANEL_W = (PAGE_W - 2 * MARGIN - (TRAIN_GRIDS - 1) * GAP) / (double)TRAIN_GRIDS;

static double panel_h(const Drawing *drawing) {
    Slice slice = slice_of(&drawing->workload->scene.shape, SLICE_MAX);
    return PANEL_W * (double)slice.nx / (double)slice.ny;
}

/* ---- the grids ------------------------------------------------------------------------------- */

/* The picture of a grid. `range` and `full_mass` are found where they are still empty: grids that
 * are drawn one after the other have the same colours, and can be compared. */
static bool render(const Drawing *drawing, const float *grid, const Embedding *embedding,
                   ValueRange *range, double *full_mass, Image *image, Err *err) {
    const BevShape *shape = &drawing->workload->scene.shape;
    Slice slice = slice_of(shape, SLICE_MAX);
    ViewKind view = embedding ? VIEW_COLOR : VIEW_NORM;
    BevContent content = {.nx = slice.nx,
                          .ny = slice.ny,
                          .channels = shape->channels,
                          .embedding = embedding,
                          .full_mass = *full_mass,
                          .pooled = grid};
    CellField field = {0};
    bool ok = slice_content(&slice, &content, err) && decode_view(view, &content, &field, err);
    free(content.shown);
    if (ok && view == VIEW_NORM && range->lo == range->hi)
        ok = range_auto((const CellField *const[]){&field}, 1, range, err);
    if (ok && view == VIEW_COLOR)
        *full_mass = field.full_mass;
    RasterStyle style =
        raster_style(view == VIEW_NORM ? colormap_find(views[view].colormap) : NULL, *range, true);
    ok = ok && raster_render(&field, &style, image, err);
    cell_field_free(&field);
    return ok;
}

/* Colours are as strong as in the grid of the true depth. */
static bool render_grids(Drawing *drawing, const Embedding *embedding, Err *err) {
    ValueRange range = {0};
    double full_mass = 0;
    bool ok = true;
    for (int i = TRAIN_TARGET; ok && i >= TRAIN_START; i--)
        ok = render(drawing, drawing->grids[i], embedding, &range, &full_mass,
                    &drawing->pictures[i], err);
    return ok;
}

/* |grid - true grid| of each cell, in one range, that of the start: to the eye a grid that is
 * nearly right looks like one that is smeared. */
static bool render_wrong(Drawing *drawing, Err *err) {
    const BevShape *shape = &drawing->workload->scene.shape;
    size_t count = (size_t)(shape->ny * shape->nx * shape->channels);
    ValueRange range = {0};
    double full_mass = 0;
    float *difference = malloc(count * sizeof *difference);
    bool ok = difference || err_set(err, ERR_FAILED, "train", "", "out of memory");
    for (int i = TRAIN_START; ok && i < TRAIN_TARGET; i++) {
        for (size_t v = 0; v < count; v++)
            difference[v] = drawing->grids[i][v] - drawing->grids[TRAIN_TARGET][v];
        ok = render(drawing, difference, NULL, &range, &full_mass, &drawing->wrong[i], err);
    }
    free(difference);
    return ok;
}

static bool render_all(Drawing *drawing, Err *err) {
    Embedding embedding;
    if (!workload_embedding(drawing->workload, &embedding, err))
        return false;
    bool ok = render_grids(drawing, embedding.channels >= EMBED_DIMS ? &embedding : NULL, err);
    embedding_free(&embedding);
    return ok && render_wrong(drawing, err);
}

/* ---- the curve ------------------------------------------------------------------------------- */

static const double LEAST_SHOWN = 1e-9;

static bool fill_curve(Drawing *drawing, Err *err) {
    size_t count = (size_t)drawing->step_count;
    double least = INFINITY, most = 0;
    drawing->x = malloc((1 + CURVES) * count * sizeof *drawing->x);
    if (!drawing->x)
        return err_set(err, ERR_FAILED, "train", "", "out of memory");
    for (int c = 0; c < CURVES; c++)
        drawing->y[c] = drawing->x + (size_t)(1 + c) * count;
    int kept = 0;
    for (size_t i = 0; i < count; i++) {
        const TrainStep *step = &drawing->steps[i];
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
        .x = {.title = "step", .lo = 0, .hi = fmax(1, drawing->steps[count - 1].step)},
        .y = {.title = "loss, share",
              .log = true,
              .lo = least * 0.8,
              .hi = fmax(most, least) * 1.25},
        .series = drawing->series,
        .series_count = CURVES,
        .theme = drawing->theme,
    };
    return true;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void draw_page(Pen *pen, const void *context) {
    const Drawing *drawing = context;
    TextStyle title = style_heading(pen), body = style_muted(pen), caption = style_body(pen);
    title.size = SIZE_TITLE;
    double w = PAGE_W - 2 * MARGIN, h = panel_h(drawing), top = HEAD_H + CAPTION_H;
    pen_text(pen, MARGIN, MARGIN + 6, w, &title, "From smeared to sharp");
    pen_text(pen, MARGIN, MARGIN + 34, w, &body, drawing->subtitle);
    for (int i = 0; i < TRAIN_GRIDS; i++) {
        double x = MARGIN + i * (PANEL_W + GAP);
        pen_text(pen, x, top - 14, PANEL_W, &caption, drawing->captions[i]);
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

static bool write_page(const Drawing *drawing, const char *path, Err *err) {
    PageSpec spec = {.w = PAGE_W,
                     .h = HEAD_H + 2 * (CAPTION_H + panel_h(drawing)) + MARGIN,
                     .theme = drawing->theme,
                     .draw = draw_page,
                     .context = drawing};
    uint8_t *bytes = NULL;
    size_t length = 0;
    bool ok = page_file(&spec, output_is_svg(path), &bytes, &length, err) &&
              data_write(path, bytes, length, err);
    free(bytes);
    return ok;
}

static const double USUAL_TEMPERATURE = 10;

typedef struct {
    const Options *options;
    TrainKernels kernels;
    double temperature; /* of the depth to start from */
    Workload truth, start;
    const char *scene;
    Trainer *trainer;
    TrainStep *steps;
    int count;
    float *first; /* the grid at the start */
} Training;

/* ---- what to train --------------------------------------------------------------------------- */

/* The backward row of the forward row's title, else the default. */
static bool choose_kernels(Training *training, Err *err) {
    const Options *options = training->options;
    TrainKernels *k = &training->kernels;
    unsigned where;
    if (!select_devices(options->device, &where, err) ||
        !select_single(options, "one training at a time", "", err))
        return false;
    k->forward = options->kernel ? select_kernel(options->kernel, where, err) : select_best(where);
    if (!k->forward)
        return false;
    if (k->forward->direction != BEV_FORWARD)
        return err_set(err, ERR_USAGE, "--kernel", "its backward row is found by its title",
                       "'%s' goes backward: name a forward kernel", options->kernel);
    k->backward = kernel_in_direction(k->forward, BEV_BACKWARD);
    k->dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP32);
    k->align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, BEV_NEAREST);
    return true;
}

static bool open_scenes(Training *training, Err *err) {
    const char *scene = training->scene;
    WorkloadOptions workload = select_workload(training->options);
    workload.temperature = 0;
    if (!select_open(&training->truth, scene, &workload, err))
        return false;
    if (!training->truth.scene.has_world)
        return err_set(err, ERR_USAGE, "train", "choose a .json world or a sample",
                       "'%s' holds tensors: their depth cannot be smeared", scene);
    workload.temperature = training->temperature;
    return select_open(&training->start, scene, &workload, err);
}

/* ---- training -------------------------------------------------------------------------------- */

static bool descend(Training *training, Err *err) {
    int total = (int)training->options->steps + 1;
    size_t grid = (size_t)(training->truth.scene.shape.nx * training->truth.scene.shape.ny *
                           training->truth.scene.shape.channels);
    training->steps = calloc((size_t)total, sizeof *training->steps);
    training->first = malloc(grid * sizeof *training->first);
    if (!training->steps || !training->first)
        return err_set(err, ERR_FAILED, "train", "choose fewer steps", "out of memory");
    progress_step("descending", 0, 1);
    progress_plan(total);
    for (; training->count < total; training->count++) {
        if (!trainer_step(training->trainer, &training->steps[training->count], err))
            return false;
        if (!training->count)
            memcpy(training->first, trainer_pooled(training->trainer), grid * sizeof(float));
        progress_done(1);
    }
    return true;
}

/* For people: steps 0, 1, 2, 5, 10, 20, 50 and so on, and the last. */
static bool is_round(int step, int last) {
    int power = 1;
    while (power * 10 <= step)
        power *= 10;
    return step == last || step == 0 || step == power || step == 2 * power || step == 5 * power;
}

static bool report(const Training *training, Err *err) {
    bool all = !output_printer(training->options);
    Report table = {.names_to = "step"};
    for (int i = 0; i < training->count; i++) {
        const TrainStep *step = &training->steps[i];
        if (!all && !is_round(i, training->count - 1))
            continue;
        report_row(&table);
        report_add(&table, "step", "step", 0, cell_int(step->step));
        report_add(&table, "loss", "loss", 3, cell_real(step->loss));
        report_add(&table, "depth_error", "depth in wrong bin", 3, cell_real(step->depth_error));
        report_add(&table, "taken_back", "taken back", 0, cell_bool(step->taken_back));
        report_add(&table, "rate", NULL, 3, cell_real(step->rate));
        report_add(&table, "forward_us", "forward us", 4, cell_real(step->forward_us));
        report_add(&table, "backward_us", "backward us", 4,
                   cell_if(!step->taken_back, cell_real(step->backward_us)));
        report_add(&table, "softmax_us", "all else us", 4, cell_real(step->softmax_us));
    }
    /* The picture has --output; the table always goes to standard output. */
    Options to_screen = *training->options;
    to_screen.output = NULL;
    const TrainKernels *k = &training->kernels;
    json_t *root =
        json_pack("{s:o, s:o, s:s, s:s, s:s, s:s, s:f}", "machine", output_this_machine(), "scene",
                  fields_text(training->scene), "forward", k->forward->name, "backward",
                  k->backward->name, "dtype", bev_dtypes[k->dtype].name, "align",
                  bev_aligns[k->align].name, "start_temperature", training->temperature);
    bool ok = output_report(&to_screen, &table, root, err);
    report_free(&table);
    return ok;
}

/* The picture: the grid at the start, at the end and of the true depth, with the curve of the loss.
 */
static bool draw(const Training *training, Err *err) {
    const Options *options = training->options;
    const TrainKernels *k = &training->kernels;
    const TrainStep *kept = &training->steps[training->count - 1];
    while (kept->taken_back)
        kept--;
    Drawing drawing = {.workload = &training->truth,
                       .grids = {training->first, trainer_pooled(training->trainer),
                                 trainer_target(training->trainer)},
                       .captions = {[TRAIN_TARGET] = "True depth"},
                       .steps = training->steps,
                       .step_count = training->count,
                       .theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme)};
    snprintf(drawing.subtitle, sizeof drawing.subtitle,
             "%.60s, %s, %s. Forward by %s, backward by %s. Plain gradient descent on depth alone.",
             training->scene, bev_dtypes[k->dtype].title, bev_aligns[k->align].title,
             k->forward->name, k->backward->name);
    snprintf(drawing.captions[TRAIN_START], sizeof *drawing.captions,
             "Start: depth at temperature %g, loss %.3g", training->temperature,
             training->steps[0].loss);
    snprintf(drawing.captions[TRAIN_END], sizeof *drawing.captions, "After %d steps: loss %.3g",
             training->steps[training->count - 1].step, kept->loss);
    bool ok = render_all(&drawing, err) && fill_curve(&drawing, err) &&
              write_page(&drawing, options->output, err);
    for (int i = 0; i < TRAIN_GRIDS; i++)
        image_free(&drawing.pictures[i]);
    for (int i = 0; i < TRAIN_TARGET; i++)
        image_free(&drawing.wrong[i]);
    free(drawing.x);
    return ok;
}

static bool begin(Training *training, Err *err) {
    Workload *truth = &training->truth;
    const BevMap *map = workload_map(truth, training->kernels.align, err);
    return map && trainer_open(&training->trainer, &training->kernels, &truth->scene.shape, map,
                               &truth->features, &training->start.features, err);
}

static bool train(Training *training, Err *err) {
    const Options *options = training->options;
    if ((options->output && !output_picture(options, "train", err)) ||
        !choose_kernels(training, err) || !open_scenes(training, err) || !begin(training, err))
        return false;
    progress_begin("train", options->quiet);
    bool ok = descend(training, err);
    progress_end();
    return ok && report(training, err) && (!options->output || draw(training, err));
}

bool cmd_train(const Options *options, Err *err) {
    Training training = {.options = options,
                         .scene = options->argument_count ? options->arguments[0] : "canonical",
                         .temperature =
                             options->temperature > 0 ? options->temperature : USUAL_TEMPERATURE};
    bool ok = train(&training, err);
    trainer_close(training.trainer);
    workload_close(&training.truth);
    workload_close(&training.start);
    free(training.steps);
    free(training.first);
    return ok;
}
