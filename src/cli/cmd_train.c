/* bevscope train: gradient descent on depth, until a smeared street is sharp. */
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/cli/train_page.h"

#include "src/base/progress.h"

#include <stdlib.h>
#include <string.h>

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
    k->backward = kernel_named(k->forward->where, BEV_BACKWARD, k->forward->title);
    if (!k->backward)
        k->backward = bev_default(k->forward->where, BEV_BACKWARD);
    k->dtype = options->dtype ? (BevDtype)choices_find(CHOICE_DTYPE, options->dtype) : BEV_FP32;
    k->align = options->align ? (BevAlign)choices_find(CHOICE_ALIGN, options->align) : BEV_NEAREST;
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
        json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:f}", "machine", output_this_machine(), "scene",
                  training->scene, "forward", k->forward->name, "backward", k->backward->name,
                  "dtype", bev_dtypes[k->dtype].name, "align", bev_aligns[k->align].name,
                  "start_temperature", training->temperature);
    bool ok = output_report(&to_screen, &table, root, err);
    report_free(&table);
    return ok;
}

static bool draw(const Training *training, bool svg, Err *err) {
    const Options *options = training->options;
    const TrainKernels *k = &training->kernels;
    const TrainStep *kept = &training->steps[training->count - 1];
    while (kept->taken_back)
        kept--;
    char subtitle[200];
    snprintf(subtitle, sizeof subtitle,
             "%.60s, %s, %s. Forward by %s, backward by %s. Plain gradient descent on depth alone.",
             training->scene, bev_dtypes[k->dtype].title, bev_aligns[k->align].title,
             k->forward->name, k->backward->name);
    TrainPage page = {.title = "From smeared to sharp",
                      .subtitle = subtitle,
                      .workload = &training->truth,
                      .grids = {training->first, trainer_pooled(training->trainer),
                                trainer_target(training->trainer)},
                      .steps = training->steps,
                      .step_count = training->count,
                      .theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme)};
    snprintf(page.captions[TRAIN_START], sizeof *page.captions,
             "Start: depth at temperature %g, loss %.3g", training->temperature,
             training->steps[0].loss);
    snprintf(page.captions[TRAIN_END], sizeof *page.captions, "After %d steps: loss %.3g",
             training->steps[training->count - 1].step, kept->loss);
    snprintf(page.captions[TRAIN_TARGET], sizeof *page.captions, "True depth");
    return train_page_write(&page, svg, options->output, err);
}

static bool begin(Training *training, Err *err) {
    Workload *truth = &training->truth;
    const BevMap *map = workload_map(truth, training->kernels.align, err);
    return map && trainer_open(&training->trainer, &training->kernels, &truth->scene.shape, map,
                               &truth->features, &training->start.features, err);
}

static bool train(Training *training, Err *err) {
    const Options *options = training->options;
    bool svg = false;
    if ((options->output && !output_picture(options, "train", &svg, err)) ||
        !choose_kernels(training, err) || !open_scenes(training, err) || !begin(training, err))
        return false;
    progress_begin("train", options->quiet);
    bool ok = descend(training, err);
    progress_end();
    return ok && report(training, err) && (!options->output || draw(training, svg, err));
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
