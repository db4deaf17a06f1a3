/* Gradient descent on depth, on the kernels of the table: a training step that means something.
 *
 * The parameters are one logit for each depth bin of each pixel; depth is their softmax over the
 * bins. The loss is the distance of the pooled grid to that of the true depth, |out - target|^2 /
 * |target|^2. Each step pools forward, takes grad_out = out - target back to grad_depth, that
 * through the softmax, and walks down:
 *
 *     grad_logit[k] = depth[k] * (grad_depth[k] - sum over bins j of depth[j] * grad_depth[j])
 *     logit -= rate * grad_logit
 *
 * The rate begins so that no logit changes by more than FIRST_STRIDE, grows by a tenth with each
 * step that lowers the loss, and is halved, and the step taken back, when one does not. Nothing
 * else helps the descent. */
#pragma once

#include "src/run/session.h"
#include "src/scene/problem.h"

typedef struct Trainer Trainer;

/* A step as it was taken. Times are those of the kernels, with the wait for their end; `softmax_us`
 * is all else: the softmax, its gradient, the loss. */
typedef struct {
    int step;           /* 0: the start, before any descent */
    bool taken_back;    /* the loss had risen: the logits are again those of the step before */
    double loss;        /* 0: the grid is that of the true depth */
    double depth_error; /* mean over pixels of half the sum of |depth - true depth|: 0 to 1 */
    double rate;        /* by which the step was taken */
    double forward_us, backward_us, softmax_us;
} TrainStep;

/* The kernels and what they run on. Both run on the same backend and have `dtype`. */
typedef struct {
    const BevKernel *forward, *backward;
    BevDtype dtype;
    BevAlign align;
} TrainKernels;

/* `truth` has the true depth, `start` the depth to begin at (of the same shape, smeared). Both and
 * the map must outlive the trainer. Fails as session_open does. */
bool trainer_open(Trainer **trainer, const TrainKernels *kernels, const BevShape *shape,
                  const BevMap *map, const Features *truth, const Features *start, Err *err);
void trainer_close(Trainer *trainer); /* accepts NULL */

/* Pools, and with each call but the first descends before. NaN or infinity in the loss is an error.
 */
bool trainer_step(Trainer *trainer, TrainStep *step, Err *err);

/* The grid of the last step that was kept, and that of the true depth, FP32 (cell, c). Owned by the
 * trainer, valid until its next step. */
const float *trainer_pooled(const Trainer *trainer);
const float *trainer_target(const Trainer *trainer);

/* The depth of the last step that was kept, (camera, depth, h, w). Owned by the trainer, valid
 * until its next step. */
const float *trainer_depth(const Trainer *trainer);
