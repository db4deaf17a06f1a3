#include "src/cli/snapshot_backward.h"

#include "src/view/bev/gradient_strip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_DISTANCE_M = 15;

/* ---- kernels --------------------------------------------------------------------------------- */

/* The row of `word` on that device in that direction, if it can be launched; without a word the
 * default. */
static const BevKernel *row(const char *word, BevWhere where, BevDirection direction) {
    const BevKernel *kernel =
        word ? kernel_named(where, direction, word) : bev_default(where, direction);
    return kernel && kernel->launch ? kernel : NULL;
}

const BevKernel *snapshot_backward_kernels(const Options *options, unsigned where,
                                           const BevKernel **backward, Err *err) {
    const char *word = options->kernel;
    const BevKernel *named = word ? bev_kernel_find(word) : NULL;
    for (int device = BEV_CUDA; device >= BEV_CPU; device--) {
        if (!(where & 1u << device) ||
            (named && named->where != (BevWhere)device && where & 1u << named->where))
            continue;
        const BevKernel *there = row(word, (BevWhere)device, BEV_FORWARD);
        const BevKernel *back = row(word, (BevWhere)device, BEV_BACKWARD);
        if (!there && !back)
            continue;
        if (backward)
            *backward = back ? back : bev_default((BevWhere)device, BEV_BACKWARD);
        return there ? there : bev_default((BevWhere)device, BEV_FORWARD);
    }
    err_set(err, ERR_DEVICE, word ? word : "snapshot", "see bevscope --list",
            "this kernel does not run on %s",
            where == 1u << BEV_CPU ? "the CPU" : "the chosen device");
    return NULL;
}

/* ---- the loss -------------------------------------------------------------------------------- */

bool snapshot_backward_views(const BevShape *shape, CameraViews *seen, Err *err) {
    size_t pixels = (size_t)(shape->cameras * shape->feat_h * shape->feat_w);
    *seen = (CameraViews){.cameras = shape->cameras,
                          .h = shape->feat_h,
                          .w = shape->feat_w,
                          .color = calloc(pixels, 3 * sizeof *seen->color)};
    return seen->color || err_set(err, ERR_FAILED, "camera views", "", "out of memory");
}

/* Whether the cell is part of the loss; a cell with NaN is. */
static bool is_inside(const float *row, int64_t channels) {
    for (int64_t c = 0; c < channels; c++)
        if (row[c] != 0)
            return true;
    return false;
}

/* The loss of a gradient from a file: sum(pooled * grad_out), over cells where that is not 0. */
static bool take_file(SnapshotBackward *backward, const BackwardInput *input, Err *err) {
    const BevShape *shape = &input->workload->seen->shape;
    GridLoss *loss = &backward->loss;
    int64_t cells = shape->nx * shape->ny, channels = shape->channels;
    if (!workload_draw_grad_out(input->workload, err))
        return false;
    size_t values = (size_t)(cells * channels);
    loss->inside = calloc((size_t)cells, 1);
    loss->grad_out = malloc(values * sizeof *loss->grad_out);
    if (!loss->inside || !loss->grad_out)
        return err_set(err, ERR_FAILED, "--grad-out", "choose a smaller scene", "out of memory");
    memcpy(loss->grad_out, input->workload->grad_out, values * sizeof *loss->grad_out);
    for (int64_t cell = 0; cell < cells; cell++) {
        loss->inside[cell] = is_inside(loss->grad_out + cell * channels, channels);
        loss->count += loss->inside[cell];
    }
    for (size_t i = 0; i < values; i++)
        loss->value += (double)input->pooled[i] * loss->grad_out[i];
    return true;
}

static bool make_loss(SnapshotBackward *backward, const BackwardInput *input, Err *err) {
    const Options *options = input->options;
    if (options->grad_out)
        return take_file(backward, input, err);
    const Scene *scene = input->workload->scene;
    const BevShape *shape = &input->workload->seen->shape;
    const BevMap *map = workload_map(input->workload, input->forward.align, err);
    if (!map)
        return false;
    const GridContent content = {.nx = shape->nx,
                                 .ny = shape->ny,
                                 .channels = shape->channels,
                                 .pooled = input->pooled,
                                 .map = map,
                                 .rig = scene->has_rig ? &scene->rig : NULL,
                                 .world = scene->has_world ? &scene->world : NULL,
                                 .time_s = options->time_s,
                                 .embedding = input->embedding};
    bool there = true;
    int64_t cell = options->cell ? 0 : grid_strongest(&content, USUAL_DISTANCE_M, &there);
    snprintf(backward->choice, sizeof backward->choice,
             options->cell ? ""
             : there       ? " (chosen: the strongest features about 15 m away)"
                           : " (chosen: the strongest features of all)");
    if (cell < 0)
        return err_set(err, ERR_USAGE, "--backward", "choose another scene",
                       "nothing is pooled into any cell, so there is no gradient");
    int kind = choices_or(CHOICE_LOSS, options->loss, LOSS_CELL);
    return (!options->cell || select_cell(options->cell, shape, &cell, err)) &&
           grid_loss_make(&backward->loss, &content, (LossKind)kind, cell, err);
}

/* ---- the gradients --------------------------------------------------------------------------- */

/* The depth of the strongest pixel and its gradient, one number for each bin, and which bins fall
 * into a cell of the loss. */
static bool take_bins(SnapshotBackward *backward, const float *depth, Err *err) {
    const BevProblem *view = &backward->run.problem.view;
    const BevMap *map = &view->map;
    FigureBackward *figure = &backward->figure;
    int64_t plane = view->shape.feat_h * view->shape.feat_w, bins = view->shape.depth_bins;
    float *grads = tensor_decoded(&view->grad_depth, backward->run.codes, err);
    figure->depth = backward->bins = malloc((size_t)bins * 2 * sizeof *backward->bins);
    figure->grad_depth = backward->bins + bins;
    figure->reaches = backward->reaches = calloc((size_t)bins, 1);
    bool ok =
        grads && ((backward->bins && backward->reaches) ||
                  err_set(err, ERR_FAILED, "gradients", "choose a smaller scene", "out of memory"));
    for (int64_t d = 0; ok && d < bins; d++) {
        int64_t at = (figure->pixel / plane * bins + d) * plane + figure->pixel % plane;
        backward->bins[d] = depth[at];
        backward->bins[bins + d] = grads[at];
    }
    for (int64_t t = 0; ok && t < map->points; t++)
        if (map->ranks_feat[t] == figure->pixel && backward->loss.inside[map->ranks_bev[t]] &&
            (!map->weights || map->weights[t] != 0))
            backward->reaches[map->ranks_depth[t] / plane % bins] = 1;
    free(grads);
    return ok;
}

static bool decode(SnapshotBackward *backward, const BackwardInput *input, Err *err) {
    const BevProblem *view = &backward->run.problem.view;
    const char *codes = backward->run.codes;
    float *grads =
        tensor_decoded(&view->grad_feat, codes + bev_tensor_bytes(&view->grad_depth), err);
    backward->strength = grads ? gradient_strengths(&view->shape, grads, err) : NULL;
    free(grads);
    if (!backward->strength)
        return false;
    const Options *options = input->options;
    const Scene *scene = input->workload->scene;
    backward->figure = (FigureBackward){
        .shape = view->shape,
        .inside = backward->loss.inside,
        .strength = backward->strength,
        .pixel = gradient_strongest(&view->shape, backward->strength),
        .chosen = options->pixel != NULL,
    };
    if (options->pixel && !select_pixel(options->pixel, &view->shape,
                                        scene->has_rig ? &scene->rig : NULL,
                                        &backward->figure.pixel, err))
        return false;
    if (backward->figure.pixel < 0 && options->grad_out)
        return err_set(err, ERR_USAGE, "--grad-out", "choose a pixel with --pixel",
                       "no pixel has a finite gradient that is not 0");
    if (backward->figure.pixel < 0)
        return err_set(err, ERR_USAGE, "--cell", "choose a brighter cell, or --dtype fp32",
                       "all gradients of its loss are 0 in %s", bev_dtypes[view->dtype].title);
    return take_bins(backward, input->workload->features->depth, err);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "cell 128,100, 15.1 m away"; "the 34 cells of a car"; "all 812 cells of class lane". */
static void name_cells(const SnapshotBackward *backward, const Scene *scene, char *text,
                       size_t size) {
    const GridLoss *loss = &backward->loss;
    const char *class = loss->class < CLASS_COUNT ? world_classes[loss->class].name : "";
    int used = snprintf(text, size, "cell %s", cell_place(&scene->shape, loss->cell, ",").text);
    if (scene->has_rig) {
        double center[2];
        grid_center(&scene->rig.grid, loss->cell, center);
        used += snprintf(text + used, size - (size_t)used, ", %.1f m away",
                         hypot(center[0], center[1]));
    }
    const char *which =
        loss->kind == LOSS_BOX ? "the cells of its object" : "all cells of its class";
    if (loss->kind != LOSS_CELL)
        snprintf(text + used, size - (size_t)used, ", and %s (%s): %lld", which, class,
                 (long long)loss->count);
}

static void describe(SnapshotBackward *backward, const BackwardInput *input,
                     const BevKernel *kernel) {
    const Scene *scene = input->workload->scene;
    const BevShape *shape = &input->workload->seen->shape;
    const FigureBackward *figure = &backward->figure;
    int64_t plane = shape->feat_h * shape->feat_w, place = figure->pixel % plane, lit = 0;
    bool file = input->options->grad_out != NULL;
    char cells[160], note[160];
    if (file)
        snprintf(cells, sizeof cells, "%lld cells", (long long)backward->loss.count);
    else
        name_cells(backward, scene, cells, sizeof cells);
    for (int64_t i = 0; i < shape->cameras * plane; i++)
        lit += figure->strength[i] > 0;
    snprintf(backward->kernels, sizeof backward->kernels, "%s, back by %s",
             input->forward.kernel->name, kernel->name);
    snprintf(backward->subtitle, sizeof backward->subtitle,
             file ? "The way back: %s of a gradient from a file"
                  : "The way back: the loss is half the squared norm of what is pooled into %s",
             cells);
    problem_describe_grad_out(&backward->run.problem, note, sizeof note);
    if (note[0] && !file)
        fprintf(stderr, "bevscope: %s\n", note);
    printf("loss     %.4g, over %s%s\n", backward->loss.value, cells, backward->choice);
    printf("kernels  %s\n", backward->kernels);
    snprintf(note, sizeof note, "camera %lld", (long long)(figure->pixel / plane));
    printf("pixels   %lld of %lld feed it; the %s: %s, column %lld, row %lld\n",
           (long long)lit, (long long)(shape->cameras * plane),
           input->options->pixel ? "chosen one" : "brightest",
           scene->has_rig ? scene->rig.cameras[figure->pixel / plane].name : note,
           (long long)(place % shape->feat_w), (long long)(place / shape->feat_w));
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool snapshot_backward_make(SnapshotBackward *backward, const BackwardInput *input, Err *err) {
    const BevShape *shape = &input->workload->seen->shape;
    KernelConfig config = input->forward;
    *backward = (SnapshotBackward){0};
    if (!snapshot_backward_kernels(input->options, input->where, &config.kernel, err) ||
        !make_loss(backward, input, err) ||
        !workload_problem(input->workload, config.dtype, config.align, &backward->run.problem, err))
        return false;
    const GradOut grad_out = {backward->loss.grad_out, shape->ny, shape->nx, shape->channels};
    backward->run.config = config;
    if (!problem_set_grad_out(&backward->run.problem, &grad_out, err) ||
        !pooled_launch(&backward->run, input->workload, input->scene, input->latency,
                       input->recorded, err) ||
        !decode(backward, input, err))
        return false;
    describe(backward, input, config.kernel);
    return true;
}

void snapshot_backward_free(SnapshotBackward *backward) {
    grid_loss_free(&backward->loss);
    pooled_free(&backward->run);
    free(backward->strength);
    free(backward->bins);
    free(backward->reaches);
    *backward = (SnapshotBackward){0};
}
