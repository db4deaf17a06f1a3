/* SPDX-License-Identifier: MIT */
/* Makes the input of a kernel from features and a scatter map: encoded tensors, an output tensor
 * and its scale. Backward, the encoded gradient of the output, and two output gradients. */
#pragma once

#include "src/scene/features.h"
#include "src/scene/npz.h"

/* A problem in host memory that owns its tensors. */
typedef struct {
    BevProblem view;       /* the problem as kernels see it */
    Features features;     /* the FP32 originals, borrowed; gate B compares with them */
    float *own_weights;    /* replaces the borrowed map's weights; NULL: not replaced */
    float *pooled_fp32;    /* FP32 result that sets the output's scale; kept for updates; or NULL */
    const float *grad_out; /* backward: the FP32 original, borrowed; NULL: not set */
} HostProblem;

/* Allocates zeroed tensors with scale 1 in format `dtype`. Borrows `map`. */
bool problem_init(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                  const BevMap *map, Err *err);

/* Allocates the tensors and encodes `features` with `dtype`. Borrows `features` and `map`, which
 * must outlive the problem. The scales keep the ranges of `features->scales`. Without ranges they
 * keep the largest magnitudes, for the output that of the FP32 pooling result. No vehicle knows
 * these beforehand. Formats without a scale have scale 1. */
bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err);

/* Encodes a problem as problem_encode does, for a kernel on a GPU. The output's memory is not
 * cleared, because no CPU kernel writes it: clearing 26 MB takes milliseconds. */
bool problem_encode_for_gpu(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                            BevAlign align, const Features *features, const BevMap *map, Err *err);

/* Encodes other features of the same shape into the existing tensors. session_update sends them. */
bool problem_update(HostProblem *problem, const Features *features, Err *err);

/* The formats of gradients and of view transforms, as a bit mask: formats without a scale. */
extern const unsigned scaleless_dtypes;

/* Turns an encoded problem into one of stage VIEW, where depth holds logits at a temperature of
 * 1/128. At that temperature exponentials overflow unless the largest logit is subtracted first.
 * Fails with ERR_USAGE where the format is not in scaleless_dtypes. */
bool problem_turn_view(HostProblem *problem, Err *err);

/* ---- view and backward ----------------------------------------------------------------------- */

/* Turns a problem, encoded or of zeros, into a backward problem. Allocates grad_out, grad_depth and
 * grad_feat with zeros, and frees the output's memory. Fails with ERR_USAGE where the format is not
 * in scaleless_dtypes. After a failure the problem stays valid and forward. */
bool problem_turn_backward(HostProblem *problem, Err *err);

/* Turns the problem backward if it is forward, and encodes grad_out, FP32 (ny, nx, channels). The
 * reference reads grad_out, too: it must outlive the problem. NaN and infinite values are kept. May
 * be called again with other values, which session_update then copies to the session. */
bool problem_set_grad_out(HostProblem *problem, const float *grad_out, Err *err);

enum { GRAD_OUT_SEED = 14 }; /* seed of the random grad_out for verifying and timing */

/* Returns random values from -1 to 1 for an output of `shape`. Free them. NULL: no memory. */
float *random_grad_out(const BevShape *shape, uint64_t seed);

/* The output's gradient of a .npy file of shape (ny, nx, channels), made by numpy.save. */
typedef struct {
    float *values; /* (ny, nx, channels) */
    NpyArray array;
    const char *path;      /* for messages, borrowed */
    int64_t nan, infinite; /* the numbers of NaN and of infinite values */
    int64_t first;         /* index of the first value that is not finite; -1: none */
} GradOutFile;

/* Reads float16, float32 or float64 with three axes. Values beyond float32's range become infinite.
 * The data must have exactly the size in the header. Takes over `file`; NULL: `err` says already
 * why. Free with grad_out_free. */
bool grad_out_read(GradOutFile *grad, FILE *file, const char *path, Err *err);
void grad_out_free(GradOutFile *grad); /* accepts a zeroed struct */

/* Checks that the gradient has the shape of the output of a problem of this shape. */
bool grad_out_check_shape(const GradOutFile *grad, const BevShape *shape, Err *err);

/* Writes "FILE: 3 of 1024 values are NaN, 2 infinite, the first at [0, 4, 7]". "": none. */
void grad_out_describe(const GradOutFile *grad, char *text, size_t size);

void problem_free(HostProblem *problem);

/* Runs a CPU kernel once on host memory: prepares, allocates scratch, launches and releases. */
bool problem_pool(const BevKernel *kernel, const BevProblem *problem, Err *err);

/* Decode codes of a tensor like `like` to FP32 `values`, or to memory to free (NULL: failed). */
void tensor_decode(const BevTensor *like, const void *codes, float *values);
float *tensor_decoded(const BevTensor *like, const void *codes, Err *err);
