/* One cell, looked at closely: the points that fell into it, and its value beside the truth. */
#include "src/live/frame_inputs_internal.h"

#include "src/accuracy/fp64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int heavier_first(const void *a, const void *b) {
    const LiveContribution *x = a, *y = b;
    float left = x->depth * x->weight, right = y->depth * y->weight;
    return (left < right) - (left > right);
}

static LiveContribution contribution(const FrameInputs *parts, int64_t point) {
    const BevShape *shape = &parts->features->shape;
    const BevMap *map = &parts->map->map;
    int64_t rank = map->ranks_depth[point];
    LiveContribution one = {
        .w = (int32_t)(rank % shape->feat_w),
        .h = (int32_t)(rank / shape->feat_w % shape->feat_h),
        .depth_bin = (int32_t)(rank / (shape->feat_w * shape->feat_h) % shape->depth_bins),
        .camera = (int)(rank / (shape->feat_w * shape->feat_h * shape->depth_bins)),
        .depth = parts->features->values.depth[rank],
        .weight = map->weights ? map->weights[point] : 1,
    };
    return one;
}

/* A cell can hold more points than the list: the heaviest stay. */
static bool list_contributions(const FrameInputs *parts, LiveProbe *probe, Err *err) {
    const BevMap *map = &parts->map->map;
    LiveContribution *all = malloc((size_t)probe->points * sizeof *all);
    if (!all)
        return no_memory("cell", err);
    for (int64_t i = 0; i < probe->points; i++)
        all[i] = contribution(parts, map->interval_starts[probe->interval] + i);
    qsort(all, (size_t)probe->points, sizeof *all, heavier_first);
    probe->contribution_count =
        (int)(probe->points < LIVE_MAX_CONTRIBUTIONS ? probe->points : LIVE_MAX_CONTRIBUTIONS);
    memcpy(probe->contributions, all, (size_t)probe->contribution_count * sizeof *all);
    free(all);
    return true;
}

static bool compare_with_fp64(const FrameInputs *parts, LiveProbe *probe, Err *err) {
    const BevShape *shape = &parts->features->shape;
    const float *got = parts->pooled->values + probe->cell * shape->channels;
    double *want = calloc((size_t)shape->channels, sizeof *want);
    if (!want)
        return no_memory("cell", err);
    if (probe->interval >= 0)
        fp64_pool_interval(shape, &parts->map->map, &parts->features->values, probe->interval,
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

bool probe_cell(const FrameInputs *parts, int64_t cell, LiveProbe *probe, Err *err) {
    const BevShape *shape = &parts->features->shape;
    probe->cell = cell >= 0 && cell < shape->nx * shape->ny ? cell : -1;
    probe->interval = -1;
    probe->points = probe->contribution_count = 0;
    if (probe->cell < 0)
        return true;
    probe->interval = map_interval_of(&parts->map->map, cell);
    if (probe->interval >= 0) {
        probe->points = parts->map->map.interval_lengths[probe->interval];
        if (!list_contributions(parts, probe, err))
            return false;
    }
    return compare_with_fp64(parts, probe, err);
}
