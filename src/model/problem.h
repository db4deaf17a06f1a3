/* From a scene to what a kernel sees: features encoded, map built, output sized and scaled. */
#ifndef BEV_PROBLEM_H
#define BEV_PROBLEM_H

#include "src/model/scene.h"

/* A problem in host memory that owns its arrays. `features` are the FP32 originals, for gate B. */
typedef struct {
    BevProblem view; /* hand `&hosted.view` to the kernels */
    Features features;
    bool owns_features, owns_map;
    int64_t saturated; /* values clipped by the format while encoding */
} HostProblem;

/* Encodes `features` (borrowed: must outlive the problem) with `dtype` and borrows `map`.
 * Scales: depth and feat from their largest absolute value; the output's from the FP32 pooling
 * result (calibration by maximum), 1 where the output format has no scale. */
bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err);

/* The whole way from a scene: renders or takes its tensors, builds or takes its map. A scene with
 * index arrays only accepts only the align its map has (weights or not). */
bool problem_build(HostProblem *problem, const Scene *scene, BevDtype dtype, BevAlign align,
                   double time_s, Err *err);

void problem_free(HostProblem *problem);

/* Decodes the output into `values` (nx * ny * channels FP32). */
void problem_output(const BevProblem *problem, float *values);

#endif
