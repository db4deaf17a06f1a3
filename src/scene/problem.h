/* Makes the input of a kernel from features and a scatter map: encoded tensors, an output tensor
 * and its scale; backward the encoded gradient of the output, and two gradients as outputs. */
#pragma once

#include "src/scene/features.h"

/* A problem in host memory that owns its tensors. */
typedef struct {
    BevProblem view;    /* the kernels' view of it */
    Features features;  /* the FP32 originals, borrowed; gate B compares with them */
    float *own_weights; /* replaces the borrowed map's weights; NULL: not replaced */
    float
        *pooled_fp32; /* FP32 pooling, from which the output is scaled; kept for updates; or NULL */
    const float *grad_out; /* backward: the FP32 original, borrowed; NULL: not set */
    int64_t grad_out_nan, grad_out_infinite; /* of its values */
} HostProblem;

/* Allocates tensors of zeros with scale 1 for `dtype`. Borrows `map`. Free with problem_free. */
bool problem_init(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                  const BevMap *map, Err *err);

/* Allocates the tensors and encodes `features` with `dtype`. Borrows `features` and `map`, which
 * must outlive the problem. Scales keep the ranges of `features->scales`; without them the largest
 * magnitudes, of the output that of the FP32 pooling result, which no vehicle knows beforehand. 1
 * for formats without a scale. */
bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err);

/* The same for a kernel on a GPU. Nothing on the CPU writes the output, so that its memory is left
 * as the system gives it: clearing 26 MB takes milliseconds. */
bool problem_encode_for_gpu(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                            BevAlign align, const Features *features, const BevMap *map, Err *err);

/* Encodes other features of the same shape into the existing tensors; session_update takes them
 * over. */
bool problem_update(HostProblem *problem, const Features *features, Err *err);

/* ---- view ------------------------------------------------------------------------------------ */

/* The formats of a view transform, as a bit mask: those without a scale. */
extern const unsigned view_dtypes;

/* Turns an encoded problem into one of stage VIEW: depth then holds logits, at a temperature of
 * 1/128. At that temperature exponentials overflow unless the largest logit is subtracted first.
 * Fails with ERR_USAGE where the format is none of view_dtypes. */
bool problem_turn_view(HostProblem *problem, Err *err);

/* ---- backward -------------------------------------------------------------------------------- */

/* The formats that gradients may have, as a bit mask: those without a scale. */
extern const unsigned backward_dtypes;

/* Turns a problem, encoded or of zeros, into one of the way back: grad_out, grad_depth and
 * grad_feat are allocated, with zeros, and the output's memory is given back. Fails with ERR_USAGE
 * where the format is none of backward_dtypes. The problem stays valid, and forward, after a
 * failure. */
bool problem_turn_backward(HostProblem *problem, Err *err);

/* The gradient of a loss with respect to the output: FP32 (ny, nx, channels). */
typedef struct {
    const float *values;
    int64_t ny, nx, channels;
} GradOut;

/* Turns the problem backward, if it is not yet, and encodes grad_out, which must outlive the
 * problem. Fails with ERR_USAGE where its shape is not the output's. Counts NaN and infinite
 * values, which are kept, and clipped ones. May be called again with other values: session_update
 * takes them over. */
bool problem_set_grad_out(HostProblem *problem, const GradOut *grad_out, Err *err);

/* Reports in a line how many values of grad_out are NaN or infinite; "": none. */
void problem_describe_grad_out(const HostProblem *problem, char *text, size_t size);

enum { GRAD_OUT_SEED = 14 }; /* of the random grad_out that is verified and timed */

/* Random values from -1 to 1 for an output of `shape`; the caller frees them. NULL: no memory. */
float *random_grad_out(const BevShape *shape, uint64_t seed);

void problem_free(HostProblem *problem);

/* Runs a CPU kernel once on host memory: prepares, gives it scratch, launches and releases. */
bool problem_pool(const BevKernel *kernel, const BevProblem *problem, Err *err);

/* Decodes `codes`, an output of the problem, into `values`, FP32 (ny, nx, channels). */
void problem_output(const BevProblem *problem, const void *codes, float *values);

/* The same of any tensor like `like`, stored at `codes`. The caller frees. NULL: no memory. */
float *tensor_decoded(const BevTensor *like, const void *codes, Err *err);
