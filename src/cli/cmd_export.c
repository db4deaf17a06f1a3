/* SPDX-License-Identifier: MIT */
/* bevscope export: writes a scene's tensors and map as a .npz file, and the results of a kernel. */
#include "kernels/clean.h"
#include "kernels/codec.h"
#include "src/base/data.h"
#include "src/base/progress.h"
#include "src/cli/selection.h"

#include <stdlib.h>
#include <string.h>

/* The results of the kernels, until they are written. */
typedef struct {
    const Options *options;
    Pooled forward, backward; /* backward.config.kernel NULL: no gradients are wanted */
} Export;

static bool choose_kernels(Export *export, BevAlign align, Err *err) {
    const Options *options = export->options;
    const char *name = options->pooled;
    int direction = choices_or(CHOICE_DIRECTION, options->direction, BEV_FORWARD);
    unsigned where;
    if (!data_has_suffix(name, ".npy"))
        return err_set(err, ERR_USAGE, name, "name it FILE.npy", "--pooled writes .npy files");
    if (!select_devices(options->device, &where, err))
        return false;
    KernelConfig *forward = &export->forward.config, *backward = &export->backward.config;
    *forward =
        (KernelConfig){NULL, (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP32), align};
    *backward = *forward;
    if (direction != BEV_FORWARD)
        forward->kernel = select_both_ways(options, where, &backward->kernel, err);
    else if (options->kernel)
        forward->kernel = select_kernel(options->kernel, where, err);
    else
        forward->kernel = select_best(where);
    return forward->kernel != NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes a tensor as float32 in NumPy's format 1.0, and begins the printed line about the file. */
static bool write_npy(const char *path, const BevTensor *tensor, int rank, const int64_t *shape,
                      Err *err) {
    NpyArray array = {.type = NPY_F4, .rank = rank, .count = tensor->rows * tensor->row_len};
    memcpy(array.shape, shape, (size_t)rank * sizeof *shape);
    size_t values = (size_t)array.count * sizeof(float);
    char *bytes = malloc(NPY_WRITTEN_BYTES + values);
    if (!bytes)
        return err_no_memory(err, path, "choose a smaller grid");
    size_t header = npy_write_header(&array, bytes);
    bev_tensor_decode(tensor, 0, tensor->rows, (float *)(bytes + header));
    bool ok = data_write(path, bytes, header + values, err);
    free(bytes);
    progress_hide();
    if (ok)
        clean_print(stdout, path);
    if (ok)
        printf(": %s", npy_shape_text(&array).text);
    return ok;
}

/* Lists the axes of a grid: (ny, nx, c), or (nz, ny, nx, c) with slices. Returns their number. */
static int grid_axes(const BevShape *shape, int64_t axes[4]) {
    Slice whole = slice_of(shape, SLICE_MAX);
    const int64_t all[4] = {whole.slices, whole.rows, shape->nx, shape->channels};
    const int first = whole.slices == 1 ? 1 : 0; /* a flat grid has no axis of slices */
    const int rank = 4 - first;
    memcpy(axes, all + first, (size_t)rank * sizeof *all);
    return rank;
}

/* Writes NAME-grad_out.npy, NAME-grad_depth.npy and NAME-grad_feat.npy. --pooled is NAME.npy. */
static bool write_gradients(const Export *export, Err *err) {
    const Pooled *pass = &export->backward;
    const BevProblem *view = &pass->problem.view;
    const BevShape *s = &view->shape;
    BevTensor depth = view->grad_depth, feat = view->grad_feat;
    depth.data = pass->codes;
    feat.data = (char *)pass->codes + bev_tensor_bytes(&depth);
    int64_t out_axes[4];
    int out_rank = grid_axes(s, out_axes);
    const int64_t depth_axes[] = {s->cameras, s->depth_bins, s->feat_h, s->feat_w};
    const int64_t feat_axes[] = {s->cameras, s->feat_h, s->feat_w, s->channels};
    const struct {
        const char *what;
        const BevTensor *tensor;
        int rank;
        const int64_t *axes;
    } files[] = {{"grad_out", &view->grad_out, out_rank, out_axes},
                 {"grad_depth", &depth, 4, depth_axes},
                 {"grad_feat", &feat, 4, feat_axes}};
    for (int i = 0; i < 3; i++) {
        const char *name = export->options->pooled;
        char path[PATH_MAX + 32];
        const int stem_length = (int)(strlen(name) - strlen(".npy"));
        snprintf(path, sizeof path, "%.*s-%s.npy", stem_length, name, files[i].what);
        if (!write_npy(path, files[i].tensor, files[i].rank, files[i].axes, err))
            return false;
        printf(i ? ", by %s\n" : ", random\n", pass->config.kernel->name);
    }
    return true;
}

static bool write_results(const Export *export, Err *err) {
    const Pooled *pass = &export->forward;
    const BevProblem *view = &pass->problem.view;
    BevTensor out = view->out;
    out.data = pass->codes;
    int64_t axes[4];
    int rank = grid_axes(&view->shape, axes);
    if (!write_npy(export->options->pooled, &out, rank, axes, err))
        return false;
    printf(", pooled by %s, %s, %s\n", pass->config.kernel->name,
           ranges_format(pass->problem.features.scales, pass->config.dtype).text,
           bev_aligns[pass->config.align].title);
    return !export->backward.config.kernel || write_gradients(export, err);
}

/* Refuses options that have no effect without --pooled, and a call that names no file. */
static bool check_export(const Options *options, Err *err) {
    if (!options->pooled &&
        !options_refuse(options, "kernel,dtype,direction", "add --pooled FILE.npy",
                        "the scene's own tensors are those of no kernel", err))
        return false;
    if (options->argument_count < 2 && !options->pooled)
        return err_set(err, ERR_USAGE, "export", "add OUT.npz or --pooled FILE.npy",
                       "no file is named");
    return select_single(options, "one align is written", "call it once for each", err);
}

/* Writes the tensors, the map and the calibration. The rig has the calibration error of --yaw,
 * --pitch and the other options of a camera. */
static bool write_tensors(const Options *options, Workload *workload, const BevMap *map, Err *err) {
    const BevShape *shape = &workload->seen->shape;
    const char *path = options->arguments[1];
    long long cameras = shape->cameras, h = shape->feat_h, w = shape->feat_w;
    Scene scene = *workload->scene;
    const Rig right = inputs_rig_at(workload->seen);
    static Photos taken; /* the photographs of a world */
    bool ok = true;
    scene.shape = *shape;
    scene.channels = shape->channels;
    scene.photos = workload_photos(workload);
    if (scene.has_world && !options->bare && !scene.photos.srgb) {
        ok = photos_of_world(&right, &scene.world, options->time_s, &taken, err);
        scene.photos = taken;
    }
    scene.rig = workload_rig(workload);
    ok = ok && scene_write_npz(path, &scene, workload->features, map, options->half, err);
    if (!ok)
        return false;
    progress_hide();
    clean_print(stdout, path);
    printf(": depth (%lld, %lld, %lld, %lld), feat (%lld, %lld, %lld, %lld), %lld points, "
           "%lld intervals\n",
           cameras, (long long)shape->depth_bins, h, w, cameras, h, w, (long long)shape->channels,
           (long long)map->points, (long long)map->intervals);
    return true;
}

bool cmd_export(const Options *options, Err *err) {
    static Workload workload;
    static Export export;
    if (!check_export(options, err) || !select_open(&workload, options->arguments[0], options, err))
        return false;
    const BevAlign usual = workload_has_align(&workload, BEV_NEAREST) ? BEV_NEAREST : BEV_BILINEAR;
    const BevAlign align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, (int)usual);
    if (!select_use_fault(options, &workload, err))
        return false;
    const BevMap *map = workload_map(&workload, align, err);
    if (!map)
        return false;
    select_say_if_empty(options->arguments[0], align, map->points,
                        &workload.maps[align]->intervals.pruned);
    export.options = options;
    if (options->pooled) { /* all results exist before the first is written */
        if (!choose_kernels(&export, align, err) || !pool_workload(&workload, &export.forward, err))
            return false;
        if (export.backward.config.kernel && !pool_workload(&workload, &export.backward, err))
            return false;
        if (!write_results(&export, err))
            return false;
    }
    return options->argument_count < 2 || write_tensors(options, &workload, map, err);
}
