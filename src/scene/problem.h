/* From features and a map to what a kernel sees: values encoded, output sized and scaled. */
#ifndef BEV_PROBLEM_H
#define BEV_PROBLEM_H

#include "src/scene/features.h"

/* A problem in host memory that owns its tensors. `features` are the FP32 originals, for gate B. */
typedef struct {
    BevProblem view;    /* hand `&hosted.view` to the kernels */
    Features features;  /* borrowed */
    float *own_weights; /* in place of the borrowed map's weights; else NULL */
    int64_t saturated;  /* finite values that the format's range clipped while encoding */
    float *pooled_fp32; /* from which the output is scaled, kept for updates; NULL: not needed */
} HostProblem;

/* Allocates tensors of zeros with scale 1 for `dtype` and borrows `map`. Free with problem_free. */
bool problem_init(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                  const BevMap *map, Err *err);

/* Encodes `features` (borrowed: must outlive the problem) with `dtype` and borrows `map`.
 * Scales: depth and feat from their largest absolute value; the output's from the FP32 pooling
 * result (calibration by maximum), 1 where the output format has no scale. */
bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err);

/* The same for a kernel on a GPU. Nothing on the CPU writes the output, so that its memory is left as
 * the system gives it: clearing 26 MB takes milliseconds. */
bool problem_encode_for_gpu(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                            BevAlign align, const Features *features, const BevMap *map, Err *err);

/* Encodes other features of the same shape into the tensors that are there; session_update takes
 * them over. */
bool problem_update(HostProblem *problem, const Features *features, Err *err);

void problem_free(HostProblem *problem);

/* Decodes `codes`, an output of the problem, into `values` (nx * ny * channels FP32). */
void problem_output(const BevProblem *problem, const void *codes, float *values);

#endif
