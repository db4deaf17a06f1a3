/* bevscope export: a scene's tensors and map as a .npz file. */
#include "kernels/clean.h"
#include "src/cli/selection.h"

bool cmd_export(const Options *options, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    Workload workload;
    if (!workload_open(&workload, options->arguments[0], &workload_options, err))
        return false;
    BevAlign align = options->align ? (BevAlign)choices_find(CHOICE_ALIGN, options->align)
                     : workload.scene.has_rig || !workload.scene.map.weights ? BEV_NEAREST
                                                                             : BEV_BILINEAR;
    const BevMap *map = workload_map(&workload, align, err);
    bool ok = map && (options->bare || scene_take_photos(&workload.scene, options->time_s, err)) &&
              scene_write_npz(options->arguments[1], &workload.scene, &workload.features,
                                     map, options->half, err);
    if (map)
        select_say_if_empty(options->arguments[0], align, map->points);
    const BevShape *shape = &workload.scene.shape;
    long long cameras = shape->cameras, h = shape->feat_h, w = shape->feat_w;
    if (ok)
        clean_print(stdout, options->arguments[1]);
    if (ok)
        printf(": depth (%lld, %lld, %lld, %lld), feat (%lld, %lld, %lld, %lld), %lld points, "
               "%lld intervals\n",
               cameras, (long long)shape->depth_bins, h, w, cameras, h, w,
               (long long)shape->channels, (long long)map->points, (long long)map->intervals);
    workload_close(&workload);
    return ok;
}
