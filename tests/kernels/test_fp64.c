/* SPDX-License-Identifier: MIT */
/* FP64 pooling for every frame has the bits of the reference. */
#include "src/accuracy/fp64.h"
#include "tests/support/scenes.h"

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

TAP_SUITE(fp64) {
    test_same_bits("asymmetric", BEV_NEAREST);
    test_same_bits("asymmetric", BEV_BILINEAR);
}
