#include "src/accuracy/fp64.h"

#include "kernels/vector.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

CPU_CLONES
void fp64_pool_interval(const BevShape *shape, const BevMap *map, const Features *features,
                        int64_t interval, double *row) {
    const int64_t channels = shape->channels;
    int64_t first = map->interval_starts[interval];
    memset(row, 0, (size_t)channels * sizeof *row);
    for (int64_t t = first; t < first + map->interval_lengths[interval]; t++) {
        double weight = map->weights ? map->weights[t] : 1;
        double share = weight * features->depth[map->ranks_depth[t]];
        const float *feat = features->feat + map->ranks_feat[t] * channels;
        CPU_SIMD
        for (int64_t c = 0; c < channels; c++)
            row[c] += share * feat[c];
    }
}

void fp64_pool(const BevShape *shape, const BevMap *map, const Features *features, double *out) {
    fp64_pool_or_give_up(shape, map, features, NULL, out);
}

bool fp64_pool_or_give_up(const BevShape *shape, const BevMap *map, const Features *features,
                          const GiveUp *give_up, double *out) {
    enum { SOME = 64 }; /* intervals that a thread takes at once */
    int64_t cells = shape->nx * shape->ny;
    atomic_bool unwanted = false;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t cell = 0; cell < cells; cell++)
            memset(out + cell * shape->channels, 0, (size_t)shape->channels * sizeof *out);
#pragma omp for schedule(dynamic, SOME)
        for (int64_t i = 0; i < map->intervals; i++) {
            if (i % SOME == 0 && given_up(give_up))
                unwanted = true;
            if (unwanted)
                continue;
            int64_t cell = map->ranks_bev[map->interval_starts[i]];
            fp64_pool_interval(shape, map, features, i, out + cell * shape->channels);
        }
    }
    return !unwanted;
}

int64_t map_interval_of(const BevMap *map, int64_t cell) {
    for (int64_t i = 0; i < map->intervals; i++)
        if (map->ranks_bev[map->interval_starts[i]] == cell)
            return i;
    return -1;
}

double *fp64_of(Workload *workload, BevAlign align, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    const BevMap *map = workload_map(workload, align, err);
    if (!map)
        return NULL;
    double *out = malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof *out);
    if (out)
        fp64_pool(shape, map, &workload->features, out);
    else
        err_set(err, ERR_FAILED, "FP64 reference", "choose a smaller scene", "out of memory");
    return out;
}

double *fp64_view_of(Workload *workload, BevAlign align, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    const BevMap *map = workload_map(workload, align, err);
    if (!map)
        return NULL;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    HostProblem original = {.view = {
        .shape = *shape,
        .map = *map,
        .depth = {.rows = 1,
                  .row_len = pixels * shape->depth_bins,
                  .data = workload->features.depth,
                  .scale = 1},
        .feat = {.rows = pixels,
                 .row_len = shape->channels,
                 .data = workload->features.feat,
                 .scale = 1},
    }};
    double *out = malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof *out);
    if (!out)
        err_set(err, ERR_FAILED, "FP64 reference", "choose a smaller scene", "out of memory");
    else if (problem_turn_view(&original, err))
        bev_reference(&original.view, out, NULL);
    return out;
}

double *fp64_gradients_of(Workload *workload, BevAlign align, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    const BevMap *map = workload_map(workload, align, err);
    if (!map)
        return NULL;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    int64_t depths = pixels * shape->depth_bins, feats = pixels * shape->channels;
    const BevProblem problem = {
        .shape = *shape,
        .direction = BEV_BACKWARD,
        .map = *map,
        .depth = {.rows = 1, .row_len = depths, .data = workload->features.depth, .scale = 1},
        .feat = {.rows = pixels,
                 .row_len = shape->channels,
                 .data = workload->features.feat,
                 .scale = 1},
        .grad_out = {.rows = shape->nx * shape->ny,
                     .row_len = shape->channels,
                     .data = workload->grad_out,
                     .scale = 1},
    };
    double *grads = malloc((size_t)(depths + feats) * sizeof *grads);
    if (grads)
        bev_reference_backward(&problem, grads, grads + depths, NULL, NULL);
    else
        err_set(err, ERR_FAILED, "FP64 reference", "choose a smaller scene", "out of memory");
    return grads;
}
