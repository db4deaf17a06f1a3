/* bevscope export: a scene's tensors and map as a .npz file, and the output of a kernel. */
#include "kernels/clean.h"
#include "src/cli/export_pooled.h"

static bool check_options(const Options *options, Err *err) {
    const char *const needless[] = {options->kernel, options->dtype, options->direction};
    static const char *const names[] = {"--kernel", "--dtype", "--direction"};
    for (int i = 0; i < 3; i++)
        if (needless[i] && !options->pooled)
            return err_set(err, ERR_USAGE, names[i], "add --pooled FILE.npy",
                           "the scene's own tensors are those of no kernel");
    if (options->argument_count < 2 && !options->pooled)
        return err_set(err, ERR_USAGE, "export", "add OUT.npz or --pooled FILE.npy",
                       "no file is named");
    return select_single(options, "one align is written", "call it once for each", err);
}

/* Writes OUT.npz. */
static bool write_tensors(const Options *options, Workload *workload, const BevMap *map,
                          Err *err) {
    const BevShape *shape = &workload->scene.shape;
    long long cameras = shape->cameras, h = shape->feat_h, w = shape->feat_w;
    if (!scene_write_npz(options->arguments[1], &workload->scene, &workload->features, map,
                         options->half, err))
        return false;
    clean_print(stdout, options->arguments[1]);
    printf(": depth (%lld, %lld, %lld, %lld), feat (%lld, %lld, %lld, %lld), %lld points, "
           "%lld intervals\n",
           cameras, (long long)shape->depth_bins, h, w, cameras, h, w, (long long)shape->channels,
           (long long)map->points, (long long)map->intervals);
    return true;
}

bool cmd_export(const Options *options, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    Workload workload;
    if (!check_options(options, err) ||
        !select_open(&workload, options->arguments[0], &workload_options, err))
        return false;
    BevAlign align = options->align ? (BevAlign)choices_find(CHOICE_ALIGN, options->align)
                     : workload.scene.has_rig || !workload.scene.map.weights ? BEV_NEAREST
                                                                             : BEV_BILINEAR;
    bool photos = options->argument_count >= 2 && !options->bare;
    const BevMap *map = (!photos || scene_take_photos(&workload.scene, options->time_s, err)) &&
                                select_use_fault(options, &workload, err)
                            ? workload_map(&workload, align, err)
                            : NULL;
    if (map)
        select_say_if_empty(options->arguments[0], align, map->points);
    bool ok = map && (!options->pooled || export_pooled(options, &workload, align, err)) &&
              (options->argument_count < 2 || write_tensors(options, &workload, map, err));
    workload_close(&workload);
    return ok;
}
