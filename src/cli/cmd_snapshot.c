/* SPDX-License-Identifier: MIT */
/* bevscope snapshot: one frame of the display, without its threads, drawn as a figure. */
#include "src/base/progress.h"
#include "src/base/ref.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/live/timed_kernel.h"
#include "src/view/bev/strip.h"
#include "src/view/figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The values of --timing. */
typedef enum { LATENCY_RECORDED, LATENCY_MEASURED, LATENCY_OFF } LatencyWanted;

/* The inputs of a scene, and the grid that was pooled from them. */
typedef struct {
    Workload workload;
    FrameInputs inputs;
    Runner runner;
} Side;

/* All data of the figure. The program ends after it, and so does their memory. */
typedef struct {
    const Options *options;
    unsigned where;
    RecordedSet recorded; /* empty if no recorded latency is shown */
    GradOutFile grad_out; /* the file of --grad-out */
    Side a, b;            /* `b`: the second kernel or scene of a comparison */
    CameraViews views;
    Photos photos;
    PictureFile file;
    StateMenu menu;
    const char *scenes[2];
    State state;
    LiveData live;
    char title[160], subtitle[256];
} Snapshot;

/* ---- options --------------------------------------------------------------------------------- */

static bool check_options(const Options *options, Err *err) {
    const char *leave = "leave it out";
    if (!options->backward)
        return options_refuse(options, "cell,loss", "add --backward", "only backward has a loss",
                              err) &&
               options_refuse(options, "pixel,grad-out", "add --backward",
                              "only backward has gradients", err);
    return (!options->grad_out ||
            options_refuse(options, "cell,loss", leave,
                           "the gradient of the output comes from a file", err)) &&
           options_refuse(options, "compare,table", leave, "a backward figure shows one run",
                          err) &&
           options_refuse(options, "strip,lidar", leave, "backward lights the camera views itself",
                          err);
}

static bool choose_channels(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    State *state = &snapshot->state;
    int64_t channels = snapshot->a.workload.seen->shape.channels;
    state->rgb = rgb_from(0, channels);
    state->channel = options->channel;
    if (options->rgb && !options->view)
        state->view = VIEW_RGB;
    if (options->rgb && !rgb_parse(options->rgb, &state->rgb))
        return err_set(err, ERR_USAGE, "--rgb", "such as 0,1,2 or 0:0:1,1:0:1,2:0:1",
                       "'%s' is not three channels", options->rgb);
    const int64_t chosen[] = {state->rgb.channel[0], state->rgb.channel[1], state->rgb.channel[2],
                              state->channel};
    for (int i = 0; i < 4; i++)
        if (chosen[i] >= channels)
            return err_set(err, ERR_USAGE, i < 3 ? "--rgb" : "--channel", "",
                           "%lld is not below the %lld channels", (long long)chosen[i],
                           (long long)channels);
    return true;
}

static bool choose_slice(Snapshot *snapshot, Err *err) {
    const char *word = snapshot->options->slice;
    Slice whole = slice_of(&snapshot->a.workload.seen->shape, SLICE_MAX);
    int *slice = &snapshot->state.job.slice;
    *slice = SLICE_MAX;
    const bool known = !word || slice_parse(word, whole.slices, slice);
    const bool only_slice = known && *slice == 0;
    if (word && whole.slices == 1 && !only_slice)
        return err_set(err, ERR_USAGE, "--slice", "leave it out",
                       "'%s': this grid is flat, nz is 1", word);
    return known || err_set(err, ERR_USAGE, "--slice", "max, side or a number",
                            "'%s' is no slice: 0 to %lld", word, (long long)whole.slices - 1);
}

static bool fill_state(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const Workload *workload = &snapshot->a.workload;
    State *state = &snapshot->state;
    snapshot->scenes[0] = options->arguments[0];
    snapshot->scenes[1] = options->compare;
    snapshot->menu = (StateMenu){.scenes = {snapshot->scenes, 2}, .where = snapshot->where};
    bev_picture_menus(&snapshot->menu);
    state_init(state, &snapshot->menu, 0);
    state->job = workload->job;
    state->scene = workload->loaded->facts;
    ViewKind usual = VIEW_NORM; /* the features of a network have no colour */
    if (workload->seen->embedding.channels >= EMBED_DIMS)
        usual = VIEW_COLOR;
    else if (inputs_of_photos(workload->seen))
        usual = VIEW_RGB;
    state->view = choices_or(CHOICE_VIEW, options->view, (int)usual);
    state->light = choices_find(CHOICE_THEME, options->theme) == THEME_LIGHT;
    state->fill = !options->no_fill;
    state->truth = (unsigned)choices_or(CHOICE_TRUTH, options->truth, TRUTH_BOXES);
    state->strip = (Strip)choices_or(CHOICE_STRIP, options->strip, STRIP_IMAGE);
    state->lidar = options->lidar;
    if (options->colormap)
        state->colormap = 1 + (int)(colormap_find(options->colormap) - colormaps);
    return choose_slice(snapshot, err) && choose_channels(snapshot, err);
}

/* Chooses `*forward`, which pools, and the kernel of the figure, with --backward the backward
 * kernel. The default is the best kernel that runs here, in FP16, as networks are deployed. */
static bool choose_kernel(Snapshot *snapshot, KernelConfig *forward, Err *err) {
    const Options *options = snapshot->options;
    KernelConfig *config = &snapshot->state.job.config;
    if (!select_single(options, "a picture shows one", "use --compare for a second one", err))
        return false;
    const BevAlign usual =
        workload_has_align(&snapshot->a.workload, BEV_NEAREST) ? BEV_NEAREST : BEV_BILINEAR;
    *forward = (KernelConfig){select_best(snapshot->where),
                              (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16),
                              (BevAlign)choices_or(CHOICE_ALIGN, options->align, (int)usual)};
    const BevKernel *backward = NULL;
    if (options->backward)
        forward->kernel = select_both_ways(options, snapshot->where, &backward, err);
    else if (options->kernel)
        forward->kernel = select_kernel(options->kernel, snapshot->where, err);
    if (!forward->kernel)
        return false;
    *config = *forward;
    if (backward)
        config->kernel = backward;
    snapshot->state.job.baseline = kernel_config_baseline(config);
    return true;
}

/* Replaces kernel, format and align of `*config` by the words of a text: "fp8" or "v2,bilinear". */
static bool change_config(const char *words, unsigned where, KernelConfig *config, Err *err) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy, *word; (word = strtok_r(rest, ",/ ", &rest));) {
        int dtype = choices_find(CHOICE_DTYPE, word), align = choices_find(CHOICE_ALIGN, word);
        if (dtype >= 0)
            config->dtype = (BevDtype)dtype;
        else if (align >= 0)
            config->align = (BevAlign)align;
        else if (!choices_check(CHOICE_KERNEL, word, false, "compare", err) ||
                 !(config->kernel = select_kernel(word, where, err)))
            return false;
    }
    return true;
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* Pools the workload into the grid of a side. Computes FP64 if the figure shows errors. */
static bool pool_side(Snapshot *snapshot, Side *side, Workload *workload, const char *scene,
                      const KernelConfig *config, Err *err) {
    FrameInputs *inputs = &side->inputs;
    const BuiltMap *built = workload_built(workload, config->align, err);
    if (!built)
        return false;
    *inputs = frame_inputs_keep(&(FrameInputs){.scene = workload->loaded,
                                               .features = workload->seen,
                                               .map = workload->maps[config->align]});
    select_say_if_empty(scene, config->align, built->map.points, &built->intervals.pruned);
    return inputs_pool(&side->runner, inputs, config, NULL, &inputs->pooled, err) &&
           (!state_shows_errors(&snapshot->state) || inputs_fp64(NULL, NULL, inputs, err));
}

static bool compare_scenes(Snapshot *snapshot, const KernelConfig *config, Err *err) {
    const char *name = snapshot->options->compare;
    Workload *workload = &snapshot->a.workload, *other = &snapshot->b.workload;
    snapshot->state.job.other = 2; /* 1 + the index of --compare in snapshot->scenes */
    return select_open(other, name, snapshot->options, err) &&
           scene_check_same_grid(&workload->seen->shape, workload->scene->name, &other->seen->shape,
                                 name, err) &&
           select_use_fault(snapshot->options, other, err) &&
           pool_side(snapshot, &snapshot->b, other, name, config, err);
}

/* Pools the second side, which --compare names. `config` is the configuration of the first side. */
static bool pool_comparison(Snapshot *snapshot, KernelConfig config, Err *err) {
    const char *with = snapshot->options->compare;
    Side *a = &snapshot->a, *b = &snapshot->b;
    struct stat status;
    /* Whether --compare names a file or a folder, and not a kernel, format or align. */
    const bool scene = strchr(with, '/') || data_has_suffix(with, ".npz") ||
                       data_has_suffix(with, ".json") || stat(with, &status) == 0;
    snapshot->state.compare = COMPARE_WIPE;
    bool ok = scene ? compare_scenes(snapshot, &config, err)
                    : change_config(with, snapshot->where, &config, err) &&
                          pool_side(snapshot, b, &a->workload, snapshot->options->arguments[0],
                                    &config, err);
    snapshot->state.job.baseline = config;
    a->inputs.baseline = ref_keep(b->inputs.pooled);
    return ok;
}

/* ---- the backward pass ----------------------------------------------------------------------- */

/* Makes the loss of --grad-out: sum(pooled * grad_out) over the cells where grad_out is not 0. */
static bool loss_of_file(Workload *workload, const float *pooled, GridLoss *loss, Err *err) {
    const BevShape *shape = &workload->seen->shape;
    int64_t cells = shape->nx * shape->ny, channels = shape->channels;
    if (!workload_draw_grad_out(workload, err))
        return false;
    size_t values = (size_t)(cells * channels);
    *loss = (GridLoss){.kind = LOSS_COUNT,
                       .class = CLASS_COUNT,
                       .inside = calloc((size_t)cells, 1),
                       .grad_out = workload->grad_out};
    if (!loss->inside)
        return err_no_memory(err, "--grad-out", "choose a smaller scene");
    for (size_t i = 0; i < values; i++) {
        loss->inside[i / (size_t)channels] |= loss->grad_out[i] != 0; /* true for NaN */
        loss->value += (double)pooled[i] * loss->grad_out[i];
    }
    for (int64_t cell = 0; cell < cells; cell++)
        loss->count += loss->inside[cell];
    return true;
}

/* Makes the loss on --cell, or on a cell with strong features. `*reason`: why on this cell. */
static bool loss_of_cell(Snapshot *snapshot, GridLoss *loss, const char **reason, Err *err) {
    static const double usual_distance_m = 15;
    const Options *options = snapshot->options;
    const GridContent content = inputs_content(&snapshot->a.inputs);
    const LossKind kind = (LossKind)choices_or(CHOICE_LOSS, options->loss, LOSS_CELL);
    bool at_distance = true;
    int64_t cell = options->cell ? 0 : grid_strongest(&content, usual_distance_m, &at_distance);
    *reason = at_distance ? " (chosen: the strongest features about 15 m away)"
                          : " (chosen: the strongest features of all)";
    if (options->cell)
        *reason = "";
    if (cell < 0)
        return err_set(err, ERR_USAGE, "--backward", "choose another scene",
                       "nothing is pooled into any cell, so there is no gradient");
    return (!options->cell ||
            select_cell(options->cell, &snapshot->a.workload.seen->shape, &cell, err)) &&
           grid_loss_make(loss, &content, kind, cell, err);
}

/* Writes the cells of a loss: "cell 128,100, 15.1 m away, and the cells of its object (car): 34" */
static void name_cells(const GridLoss *loss, const Scene *scene, char *text, size_t size) {
    const char *class = loss->class < CLASS_COUNT ? world_classes[loss->class].name : "";
    if (loss->kind == LOSS_COUNT) {
        snprintf(text, size, "%lld cells", (long long)loss->count);
        return;
    }
    snprintf(text, size, "cell %s", cell_place(&scene->shape, loss->cell, ",").text);
    if (scene->has_rig) {
        double center[2];
        grid_center(&scene->rig.grid, loss->cell, center);
        text_add(text, size, ", %.1f m away", hypot(center[0], center[1]));
    }
    const char *which =
        loss->kind == LOSS_BOX ? "the cells of its object" : "all cells of its class";
    if (loss->kind != LOSS_CELL)
        text_add(text, size, ", and %s (%s): %lld", which, class, (long long)loss->count);
}

/* Makes the subtitle, and prints loss, kernels and pixels on standard output. */
static void describe_backward(Snapshot *snapshot, const GridLoss *loss, const BevKernel *forward,
                              const char *reason, int64_t pixel) {
    const Scene *scene = snapshot->a.workload.scene;
    const LiveFrame *frame = &snapshot->live.frame;
    const BevShape *shape = &frame->shape;
    int64_t plane = shape->feat_h * shape->feat_w, place = pixel % plane;
    bool of_file = loss->kind == LOSS_COUNT;
    char cells[160], note[160];
    name_cells(loss, scene, cells, sizeof cells);
    snprintf(snapshot->subtitle, sizeof snapshot->subtitle,
             of_file ? "Backward: %s of a gradient from a file"
                     : "Backward: the loss is half the squared norm of what is pooled into %s",
             cells);
    progress_hide();
    printf("loss     %.4g, over %s%s\n", loss->value, cells, reason);
    printf("kernels  %s, back by %s\n", forward->name, snapshot->state.job.config.kernel->name);
    snprintf(note, sizeof note, "camera %lld", (long long)(pixel / plane));
    printf("pixels   %lld of %lld feed it; the %s: %s, column %lld, row %lld\n",
           (long long)gradient_count(shape, frame->gradients.grad_feat),
           (long long)(shape->cameras * plane),
           snapshot->options->pixel ? "chosen one" : "brightest",
           scene->has_rig ? scene->rig.cameras[pixel / plane].name : note,
           (long long)(place % shape->feat_w), (long long)(place / shape->feat_w));
}

/* Chooses the pixel whose gradients are shown: by --pixel, or by the largest gradient. */
static bool choose_pixel(Snapshot *snapshot, int64_t *pixel, Err *err) {
    const Options *options = snapshot->options;
    const Scene *scene = snapshot->a.workload.scene;
    const LiveFrame *frame = &snapshot->live.frame;
    if (options->pixel &&
        !select_pixel(options->pixel, &frame->shape, scene->has_rig ? &scene->rig : NULL,
                      &snapshot->state.pixel, err))
        return false;
    *pixel = frame_gradient_pixel(frame, snapshot->state.pixel);
    if (*pixel < 0 && options->grad_out)
        return err_set(err, ERR_USAGE, "--grad-out", "choose a pixel with --pixel",
                       "no pixel has a finite gradient that is not 0");
    return *pixel >= 0 ||
           err_set(err, ERR_USAGE, "--cell", "choose a brighter cell, or --dtype fp32",
                   "all gradients of its loss are 0 in %s",
                   bev_dtypes[snapshot->state.job.config.dtype].title);
}

/* Computes the gradients of the loss that the options choose, and describes the result. */
static bool run_backward(Snapshot *snapshot, const KernelConfig *forward, Err *err) {
    Side *a = &snapshot->a;
    const char *reason = "";
    int64_t pixel;
    const KernelConfig *backward = &snapshot->state.job.config;
    if (!inputs_gradients_new(&a->inputs, backward, &a->inputs.gradients, err))
        return false;
    GridLoss *loss = &a->inputs.gradients->loss;
    const bool has_loss = snapshot->options->grad_out
                              ? loss_of_file(&a->workload, a->inputs.pooled->values, loss, err)
                              : loss_of_cell(snapshot, loss, &reason, err);
    if (!has_loss || !inputs_gradients(&a->runner, a->inputs.gradients, err))
        return false;
    inputs_fill_frame(&a->inputs, &snapshot->live.frame);
    if (!choose_pixel(snapshot, &pixel, err))
        return false;
    describe_backward(snapshot, loss, forward->kernel, reason, pixel);
    return true;
}

/* ---- figures of the run ---------------------------------------------------------------------- */

static bool time_kernel(Session *session, LiveKernel *row, Err *err) {
    Timing timing;
    if (!session_time(session, CACHE_WARM, &timing_quick, &timing, err))
        return false;
    *row = (LiveKernel){.kernel = row->kernel,
                        .median_us = reading(timing.median_us, SOURCE_MEASURED),
                        .p95_us = reading(timing.p95_us, SOURCE_MEASURED),
                        .p99_us = reading(timing.p99_us, SOURCE_MEASURED),
                        .unsettled = !timing.settled};
    return true;
}

/* Times the kernels of both sides, and for the table all kernels on the inputs of the first. */
static bool time_all_kernels(Snapshot *snapshot, Err *err) {
    LiveData *live = &snapshot->live;
    const KernelConfig *shown = &snapshot->state.job.config;
    bool ok = !snapshot->options->compare ||
              time_kernel(snapshot->b.runner.session, &live->baseline, err);
    for (int i = 0; ok && i < live->kernel_count; i++) {
        LiveKernel *row = &live->kernels[i];
        const bool runs_here = snapshot->where & 1u << row->kernel->where;
        const KernelConfig config = {row->kernel, shown->dtype, shown->align};
        Runner runner = {.session = NULL};
        PooledGrid *grid = NULL;
        if (row->kernel == shown->kernel)
            ok = time_kernel(snapshot->a.runner.session, row, err);
        else if (snapshot->options->table && !row->skipped && runs_here)
            ok = inputs_pool(&runner, &snapshot->a.inputs, &config, NULL, &grid, err) &&
                 time_kernel(runner.session, row, err);
        ref_drop(grid);
        runner_clear(&runner);
    }
    return ok;
}

/* Fills the latencies by --timing, and for the table the accuracy. */
static bool fill_latencies(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const Job *job = &snapshot->state.job;
    LatencyWanted latency = (LatencyWanted)choices_find(CHOICE_TIMING, options->timing);
    LiveData *live = &snapshot->live;
    LiveAccuracy *accuracy = &live->accuracy[job->config.dtype];
    if (latency == LATENCY_RECORDED && !recorded_load_samples(&snapshot->recorded, err))
        return false;
    timed_kernel_fill_recorded(&snapshot->recorded, &snapshot->a.inputs, job, live);
    if (snapshot->state.job.other)
        timed_kernel_show_recorded(recorded_scene(&snapshot->recorded, &snapshot->b.inputs),
                                   job->baseline.dtype, job->baseline.align, &live->baseline);
    if (latency == LATENCY_MEASURED && !time_all_kernels(snapshot, err))
        return false;
    if (!options->table)
        return true;
    if (!background_accuracy(&snapshot->a.inputs, &job->config, accuracy, err))
        return false;
    output_left_out(options->arguments[0], accuracy->left_out, NAN, 1);
    return true;
}

/* ---- cameras and LiDAR ----------------------------------------------------------------------- */

/* Fills the camera pictures: photographs, or rendered views of the world. Gradients and values of
 * features are drawn on black pictures, a pixel for each feature, if there are no others. */
static bool fill_cameras(Snapshot *snapshot, Err *err) {
    enum { PIXELS_PER_FEATURE = 12 };
    const Scene *scene = snapshot->a.workload.scene;
    LiveFrame *frame = &snapshot->live.frame;
    bool of_values = snapshot->state.strip != STRIP_IMAGE;
    if (of_values && !scene->has_rig)
        return err_set(err, ERR_USAGE, "--strip", "export the scene with its calibration",
                       "this scene came without its cameras");
    if (frame->cameras)
        return true;
    frame->cameras = &snapshot->views;
    if (scene->has_world) {
        const SeenFeatures *seen = snapshot->a.inputs.features;
        const Rig rig = inputs_rig_at(seen);
        const Frustum *frustum = &scene->rig.frustum;
        return camera_views_render(&rig, &scene->world, PIXELS_PER_FEATURE * frustum->feat_h,
                                   PIXELS_PER_FEATURE * frustum->feat_w, seen->time_s,
                                   &snapshot->views, err);
    }
    if (snapshot->options->backward || of_values) {
        const BevShape *s = &frame->shape;
        const size_t pixels = (size_t)(s->cameras * s->feat_h * s->feat_w);
        snapshot->views = (CameraViews){.cameras = s->cameras,
                                        .h = s->feat_h,
                                        .w = s->feat_w,
                                        .color = calloc(pixels, 3 * sizeof(float))};
        return snapshot->views.color || err_no_memory(err, "camera views", "");
    }
    if (scene->has_operator)
        return err_set(err, ERR_USAGE, "--cameras", "leave it out",
                       "this scene is an operator: it has no cameras");
    return err_set(err, ERR_USAGE, "--cameras", "leave it out, or add the array images",
                   "tensors from a file have no camera pictures");
}

/* Fills the LiDAR sweep of the moment. A file has this sweep, and for a world it is simulated. */
static bool fill_lidar(Snapshot *snapshot, Err *err) {
    const Scene *scene = snapshot->a.workload.scene;
    const State *state = &snapshot->state;
    Photos *photos = &snapshot->photos;
    if (!state->lidar && !(state->truth & TRUTH_LIDAR))
        return true;
    if (scene->has_world && !photos->sweep_count &&
        !photos_world_sweep(&scene->world, snapshot->options->time_s, photos, err))
        return false;
    return !state->lidar || (scene->has_rig && photos->sweep_count) ||
           err_set(err, ERR_USAGE, "--lidar", "choose a world, or a file with the array lidar",
                   scene->has_rig ? "this scene came without a LiDAR"
                                  : "this scene came without its cameras");
}

/* ---- one frame ------------------------------------------------------------------------------- */

static bool shows_cameras(const Options *options) {
    return options->cameras || options->strip || options->backward || options->lidar;
}

/* Fills the frame as the live display does, and adds latencies, cameras and LiDAR. */
static bool fill_frame(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const FrameInputs *inputs = &snapshot->a.inputs;
    const Fp64Grid *other = snapshot->b.inputs.fp64_original;
    LiveData *live = &snapshot->live;
    Machine machine;
    machine_read(&machine);
    live->job = snapshot->state.job;
    live->intervals = inputs->map->intervals;
    live->device =
        (LiveDevice){.where = live->job.config.kernel->where, .threads = machine.threads};
    snprintf(live->device.name, sizeof live->device.name, "%.90s",
             live->device.where == BEV_CPU ? machine.cpu : machine.gpu);
    inputs_fill_frame(inputs, &live->frame);
    inputs_difference(inputs, &live->difference);
    snapshot->photos = workload_photos(&snapshot->a.workload);
    live->frame.photos = &snapshot->photos;
    live->frame.baseline_fp64 = other ? other->values : NULL;
    return fill_lidar(snapshot, err) && (!shows_cameras(options) || fill_cameras(snapshot, err)) &&
           fill_latencies(snapshot, err);
}

static bool draw_snapshot(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    State *state = &snapshot->state;
    static BevPicture difference;
    const PictureFile *file = &snapshot->file;
    FigurePage page;
    static Picture *picture;
    picture = picture_of_figure(state, &snapshot->live, shows_cameras(options), err);
    FigureSpec spec = {.state = state,
                       .live = &snapshot->live,
                       .picture = picture,
                       .scene = snapshot->title,
                       .title = options->title,
                       .subtitle = options->backward ? snapshot->subtitle : NULL,
                       .outlines = !options->no_outlines,
                       .table = options->table};
    if (!picture)
        return false;
    if (options->compare) {
        state->compare = COMPARE_DIFFERENCE;
        spec.difference = &difference;
        if (!bev_picture_render(&difference, &picture->bev, state, &snapshot->live.frame, NULL,
                                err))
            return false;
    }
    figure_page(&spec, 1, &page);
    page.page.scale = file->w > 0 ? file->w * file->scale / page.page.w : 1;
    return output_page(&page.page, file->format, options->output, err);
}

bool cmd_snapshot(const Options *options, Err *err) {
    static Snapshot data, *const snapshot = &data;
    const char *scene = options->arguments[0];
    Workload *workload = &snapshot->a.workload;
    KernelConfig forward;
    snapshot->options = options;
    live_init(&snapshot->live);
    if (!check_options(options, err) || !select_grad_out(options, &snapshot->grad_out, err) ||
        !output_picture(options, options->output, "snapshot", &snapshot->file, err) ||
        !select_devices(options->device, &snapshot->where, err) ||
        !select_open(workload, scene, options, err))
        return false;
    workload->grad_file = options->grad_out ? &snapshot->grad_out : NULL;
    if (!select_use_fault(options, workload, err))
        return false;
    workload_title(workload, snapshot->title, sizeof snapshot->title);
    return fill_state(snapshot, err) && choose_kernel(snapshot, &forward, err) &&
           pool_side(snapshot, &snapshot->a, workload, scene, &forward, err) &&
           (!options->compare || pool_comparison(snapshot, forward, err)) &&
           (!options->backward || run_backward(snapshot, &forward, err)) &&
           fill_frame(snapshot, err) && draw_snapshot(snapshot, err);
}
