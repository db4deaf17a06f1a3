/* SPDX-License-Identifier: MIT */
/* FP64 pooling for every frame has the bits of the reference. */
#include "src/accuracy/fp64.h"
#include "tests/support/scenes.h"

#include <math.h>

static void test_same_bits(const char *scene, BevAlign align) {
    OpenProblem *opened = open_problem(scene, BEV_FP32, align, 0, BEV_FORWARD);
    const BevMap *map = &opened->view->map;
    size_t bytes = (size_t)(opened->view->out.rows * opened->view->out.row_len) * sizeof(double);
    double *fast = malloc(bytes), *obvious = malloc(bytes);
    fp64_pool(&opened->view->shape, map, opened->workload.features, NULL, fast);
    bev_reference(opened->view, obvious, NULL);
    tap_ok(map->points > 0 && !memcmp(fast, obvious, bytes),
           "%s, %s: fast FP64 pooling has the reference's bits", scene, bev_aligns[align].name);
    free(fast);
    free(obvious);
    close_problem(opened);
}

/* What pruning changes is the sum of the points that are left out, at the cell where it is most. */
static void test_prune_change(const char *scene, BevAlign align) {
    const Prune prune = {.below = 0.02};
    OpenProblem *opened = open_problem(scene, BEV_FP32, align, 0, BEV_FORWARD);
    Workload *workload = &opened->workload;
    BuiltMap whole = {.map = opened->view->map}, kept = {.whole = &whole, .prune = prune};
    const Features *features = workload->features;
    const BevShape *shape = &opened->view->shape;
    Pruned pruned;
    Err err;
    tap_need(scatter_prune(&whole.map, shape, features->depth, &prune, &kept.map, &pruned, &err),
             "a pruned map");
    const int64_t values = shape->nx * shape->ny * shape->channels;
    double *left_out = calloc((size_t)values, sizeof *left_out), most = 0;
    for (int64_t i = 0; i < whole.map.points; i++) {
        double depth = features->depth[whole.map.ranks_depth[i]];
        depth *= whole.map.weights ? whole.map.weights[i] : 1;
        for (int64_t c = 0; c < shape->channels; c++) {
            int64_t value = whole.map.ranks_bev[i] * shape->channels + c;
            if (fabs(features->depth[whole.map.ranks_depth[i]]) < prune.below)
                left_out[value] +=
                    depth * features->feat[whole.map.ranks_feat[i] * shape->channels + c];
        }
    }
    for (int64_t i = 0; i < values; i++)
        most = fmax(most, fabs(left_out[i]));
    double change = fp64_prune_change(&kept, workload->seen);
    tap_ok(most > 0 && pruned.points_kept < pruned.points && fabs(change - most) <= 1e-12 * most,
           "%s, %s: pruning below 0.02 changes an output by up to %.3g", scene,
           bev_aligns[align].name, change);
    tap_ok(isnan(fp64_prune_change(&whole, workload->seen)), "a whole map has no such change");
    free(left_out);
    scatter_free(&kept.map);
    close_problem(opened);
}

TAP_SUITE(fp64) {
    test_prune_change("asymmetric", BEV_NEAREST);
    test_prune_change("asymmetric", BEV_BILINEAR);
    test_same_bits("asymmetric", BEV_NEAREST);
    test_same_bits("asymmetric", BEV_BILINEAR);
}
