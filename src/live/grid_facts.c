/* SPDX-License-Identifier: MIT */
/* Facts of a pooled grid: its differences from the baseline's grid, the distances that objects have
 * moved in the grid, the same grid in FP64, and the points of one cell. */
#include "src/accuracy/fp64.h"
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* ---- differences and moved objects ----------------------------------------------------------- */

/* Returns the distance, seen from above, between a point of a camera's optical axis and the same
 * point by the other calibration. */
static double moved_m(const Rig *a, const Rig *b, int camera) {
    const double u = a->frustum.input_w / 2.0, v = a->frustum.input_h / 2.0;
    double from_a[3], along_a[3], from_b[3], along_b[3];
    camera_ray(&a->cameras[camera], u, v, from_a, along_a);
    camera_ray(&b->cameras[camera], u, v, from_b, along_b);
    const double dx = from_a[0] - from_b[0] + LIVE_MOVED_AT_M * (along_a[0] - along_b[0]);
    const double dy = from_a[1] - from_b[1] + LIVE_MOVED_AT_M * (along_a[1] - along_b[1]);
    return hypot(dx, dy);
}

/* Counts the cells that differ, and finds the largest difference of a value. */
static void count_differences(const PooledGrid *a, const PooledGrid *b, LiveDifference *found) {
    const BevShape *shape = &a->features->shape;
    float most = 0;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++) {
        const float *x = a->values + cell * shape->channels,
                    *y = b->values + cell * shape->channels;
        if (!memcmp(x, y, (size_t)shape->channels * sizeof *x))
            continue;
        found->cells++;
        for (int64_t c = 0; c < shape->channels; c++) {
            float apart = fabsf(x[c] - y[c]);
            most = apart > most ? apart : most;
        }
    }
    found->most = most;
}

void inputs_difference(const FrameInputs *inputs, LiveDifference *difference) {
    const PooledGrid *ours = inputs->pooled, *theirs = inputs->baseline;
    *difference = (LiveDifference){.known = theirs != NULL, .moved_m = NAN};
    if (!theirs)
        return;
    difference->alike = ours == theirs;
    if (!difference->alike)
        count_differences(ours, theirs, difference);
    const Rig *a = &ours->map->rig, *b = &theirs->map->rig;
    const int cameras = inputs->scene->scene.has_rig ? MIN(a->camera_count, b->camera_count) : 0;
    for (int i = 0; i < cameras; i++)
        difference->moved_m = fmax(difference->moved_m, moved_m(a, b, i));
}

bool inputs_objects(const PooledGrid *pooled, ObjectBand bands[OBJECT_BANDS]) {
    const SeenFeatures *features = pooled->features;
    const Objects *objects = &features->objects;
    ObjectError *errors = calloc((size_t)objects->count + 1, sizeof *errors);
    const Rig right = inputs_rig_at(features);
    bool ok = errors && objects_measure(objects, &right, &pooled->map->rig, &pooled->map->map,
                                        features->values.depth, errors);
    if (ok)
        objects_bands(errors, objects->count, bands);
    free(errors);
    return ok;
}

/* ---- FP64 ------------------------------------------------------------------------------------ */

static MemPool fp64_grids = MEM_POOL;

void inputs_free_fp64_memory(void) {
    mem_pool_empty(&fp64_grids);
}

static void fp64_destroy(void *contents) {
    Fp64Grid *grid = contents;
    mem_pool_give(&fp64_grids, grid->values,
                  inputs_grid_values(&grid->features->shape) * sizeof *grid->values);
    ref_drop(grid->map);
    ref_drop(grid->features);
}

bool inputs_fp64(Fp64Grid *have, const GiveUp *give_up, FrameInputs *next, Err *err) {
    if (have && have->features == next->features && have->map == next->map) {
        next->fp64_original = ref_keep(have);
        return true;
    }
    const BevShape *shape = &next->features->shape;
    Fp64Grid *grid = next->fp64_original = ref_new(sizeof *grid, fp64_destroy);
    if (grid) {
        grid->features = ref_keep(next->features);
        grid->map = ref_keep(next->map);
        grid->values = mem_pool_take(&fp64_grids, inputs_grid_values(shape) * sizeof *grid->values);
    }
    if (!grid || !grid->values)
        return err_no_memory(err, "FP64 grid", "choose a smaller scene");
    if (fp64_pool(shape, &next->map->map, &next->features->values, give_up, grid->values))
        return true;
    next->fp64_original = ref_swap(grid, NULL);
    return false;
}

/* ---- one cell -------------------------------------------------------------------------------- */

int64_t inputs_probe_cell(const FrameInputs *inputs, const Job *job) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    Slice slice = slice_of(shape, job->slice);
    int64_t cell = job->probe_cell;
    if (cell < 0 || cell >= slice.nx * slice.ny)
        return -1;
    return slice_strongest(&slice, cell, map, shape->channels,
                           inputs->pooled ? inputs->pooled->values : NULL);
}

static int heavier_first(const void *a, const void *b) {
    const LiveContribution *x = a, *y = b;
    float left = x->depth * x->weight, right = y->depth * y->weight;
    return (left < right) - (left > right);
}

/* Counts the cell's points by camera, and finds the range of their depth bins. Lists the heaviest
 * contributions. A cell can have more points than the list holds. */
static bool list_contributions(const FrameInputs *inputs, LiveProbe *probe, Err *err) {
    const BevMap *map = &inputs->map->map;
    LiveContribution *all = malloc((size_t)probe->points * sizeof *all);
    if (!all)
        return err_no_memory(err, "cell", "choose a smaller scene");
    memset(probe->of_camera, 0, sizeof probe->of_camera);
    probe->bin_least = INT_MAX;
    probe->bin_most = 0;
    for (int64_t i = 0; i < probe->points; i++) {
        const int64_t point = map->interval_starts[probe->interval] + i;
        all[i] = live_contribution(&inputs->features->shape, &inputs->features->values,
                                   map->ranks_depth[point], map->weights ? map->weights[point] : 1);
        if (all[i].camera < RIG_MAX_CAMERAS)
            probe->of_camera[all[i].camera]++;
        probe->bin_least = MIN(probe->bin_least, all[i].depth_bin);
        probe->bin_most = MAX(probe->bin_most, all[i].depth_bin);
    }
    qsort(all, (size_t)probe->points, sizeof *all, heavier_first);
    probe->contribution_count = (int)MIN(probe->points, LIVE_MAX_CONTRIBUTIONS);
    memcpy(probe->contributions, all, (size_t)probe->contribution_count * sizeof *all);
    free(all);
    return true;
}

/* Compares the probed cell with FP64, and finds the channel that differs most. The values of a cell
 * are Euclidean norms over its channels. */
static bool compare_with_fp64(const FrameInputs *inputs, LiveProbe *probe, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    const float *got = inputs->pooled->values + probe->cell * shape->channels;
    double *want = calloc((size_t)shape->channels, sizeof *want);
    if (!want)
        return err_no_memory(err, "cell", "choose a smaller scene");
    if (probe->interval >= 0)
        fp64_pool_interval(shape, &inputs->map->map, &inputs->features->values, probe->interval,
                           want);
    double value = 0, fp64_original = 0, worst = -1;
    for (int64_t c = 0; c < shape->channels; c++) {
        value += (double)got[c] * got[c];
        fp64_original += want[c] * want[c];
        double difference = fabs(got[c] - want[c]);
        if (difference > worst || isnan(difference)) {
            worst = isnan(difference) ? INFINITY : difference;
            probe->channel = c;
            probe->channel_value = got[c];
            probe->channel_fp64 = want[c];
        }
    }
    probe->value = sqrt(value);
    probe->fp64_original = sqrt(fp64_original);
    free(want);
    return true;
}

bool inputs_probe(const FrameInputs *inputs, int64_t cell, LiveProbe *probe, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    probe->cell = cell >= 0 && cell < shape->nx * shape->ny ? cell : -1;
    probe->interval = -1;
    probe->points = probe->contribution_count = 0;
    if (probe->cell < 0)
        return true;
    probe->interval = map_interval_of(&inputs->map->map, cell);
    if (probe->interval >= 0) {
        probe->points = inputs->map->map.interval_lengths[probe->interval];
        if (!list_contributions(inputs, probe, err))
            return false;
    }
    return compare_with_fp64(inputs, probe, err);
}
