/* SPDX-License-Identifier: MIT */
#include "src/accuracy/fp64.h"
#include "src/accuracy/gates.h"

#include "kernels/threads.h"
#include "kernels/vector.h"

#include <math.h>
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

bool fp64_pool(const BevShape *shape, const BevMap *map, const Features *features,
               const GiveUp *give_up, double *out) {
    enum { PORTION = 64 }; /* intervals that a thread takes at once */
    int64_t cells = shape->nx * shape->ny;
    atomic_bool unwanted = false;
#pragma omp parallel num_threads(bev_threads())
    {
#pragma omp for schedule(static)
        for (int64_t cell = 0; cell < cells; cell++)
            memset(out + cell * shape->channels, 0, (size_t)shape->channels * sizeof *out);
#pragma omp for schedule(dynamic, PORTION)
        for (int64_t i = 0; i < map->intervals; i++) {
            if (i % PORTION == 0 && given_up(give_up))
                unwanted = true;
            if (unwanted)
                continue;
            int64_t cell = map->ranks_bev[map->interval_starts[i]];
            fp64_pool_interval(shape, map, features, i, out + cell * shape->channels);
        }
    }
    return !unwanted;
}

double fp64_prune_change(const BuiltMap *map, const SeenFeatures *seen) {
    const BevShape *shape = &seen->shape;
    const int64_t count = shape->nx * shape->ny * shape->channels;
    double most = 0;
    if (!map->whole || map->balance)
        return NAN;
    double *all = malloc((size_t)count * sizeof *all), *kept = malloc((size_t)count * sizeof *kept);
    if (all && kept) {
        fp64_pool(shape, &map->whole->map, &seen->values, NULL, all);
        fp64_pool(shape, &map->map, &seen->values, NULL, kept);
        for (int64_t i = 0; i < count; i++)
            most = fmax(most, fabs(all[i] - kept[i])); /* fmax leaves out NaN */
    }
    free(all);
    free(kept);
    return all && kept ? most : NAN;
}

int64_t map_interval_of(const BevMap *map, int64_t cell) {
    for (int64_t i = 0; i < map->intervals; i++)
        if (map->ranks_bev[map->interval_starts[i]] == cell)
            return i;
    return -1;
}

double *fp64_of(const HostProblem *problem, Err *err) {
    const BevProblem *view = &problem->view;
    BevProblem original = *view; /* with the original FP32 values as inputs */
    BevTensor *const tensors[] = {&original.depth, &original.feat, &original.grad_out};
    const float *const values[] = {problem->features.depth, problem->features.feat,
                                   problem->grad_out};
    for (int i = 0; i < 3; i++)
        *tensors[i] = (BevTensor){.rows = tensors[i]->rows,
                                  .row_len = tensors[i]->row_len,
                                  .data = (void *)values[i],
                                  .scale = 1};
    double *const no_abs_sum = NULL; /* gate A alone needs the S of gates.h */
    double *out = malloc((size_t)gate_values(view) * sizeof *out);
    if (!out)
        err_no_memory(err, "FP64 reference", "choose a smaller scene");
    else if (view->direction == BEV_FORWARD && view->stage == BEV_POOL)
        fp64_pool(&view->shape, &view->map, &problem->features, NULL, out);
    else
        gate_reference(&original, out, no_abs_sum);
    return out;
}
