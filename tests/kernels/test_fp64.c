/* FP64 pooling for every frame has the bits of the reference. */
#include "src/accuracy/fp64.h"
#include "src/scene/workload.h"
#include "tests/support/tap.h"

static void test_same_bits(const char *scene, BevAlign align) {
    Workload workload;
    HostProblem problem;
    Err err;
    const BevMap *map = NULL;
    bool ok = workload_open(&workload, scene, NULL, &err) &&
              (map = workload_map(&workload, align, &err)) &&
              workload_problem(&workload, BEV_FP32, align, &problem, &err);
    const BevShape *shape = &workload.scene.shape;
    size_t bytes = (size_t)(shape->nx * shape->ny * shape->channels) * sizeof(double);
    double *fast = malloc(bytes), *obvious = malloc(bytes);
    if (ok) {
        fp64_pool(shape, map, &workload.features, fast);
        bev_reference(&problem.view, obvious, NULL);
    }
    tap_ok(ok && map->points > 0 && !memcmp(fast, obvious, bytes),
           "%s, %s: fast FP64 pooling has the reference's bits", scene, bev_aligns[align].name);
    free(fast);
    free(obvious);
    problem_free(&problem);
    workload_close(&workload);
}

TAP_SUITE(fp64) {
    test_same_bits("asymmetric", BEV_NEAREST);
    test_same_bits("asymmetric", BEV_BILINEAR);
}
