#include "src/train/trainer.h"

#include "kernels/codec.h"
#include "kernels/threads.h"
#include "src/base/clock.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_STRIDE = 1, FASTER = 1.1, SLOWER = 0.5;

struct Trainer {
    TrainKernels kernels;
    BevShape shape;
    Features now;                      /* depth is the trainer's, feat the truth's */
    const float *truth;                /* (camera, depth, h, w) */
    float *logits, *before, *gradient; /* (camera, depth, h, w); `before`: of the last kept step */
    float *kept_depth;                 /* of that step */
    float *target, *pooled, *kept,
        *grad_out; /* (cell, c); `kept`: of the last step that was kept */
    void *codes;   /* both gradients, as the kernel wrote them */
    HostProblem forward, backward;
    Session *pools, *returns;
    double target_square, kept_loss, rate;
    int step;
};

/* ---- softmax --------------------------------------------------------------------------------- */

/* Runs of one bin's pixels of one camera: neighbours in memory. */
static int64_t plane(const BevShape *shape) {
    return shape->feat_h * shape->feat_w;
}

/* depth = softmax of logits over the bins of pixel `first`, which lie `stride` apart. */
static void softmax(const float *logits, float *depth, int64_t bins, int64_t stride) {
    float largest = -FLT_MAX, sum = 0;
    for (int64_t k = 0; k < bins; k++)
        largest = fmaxf(largest, logits[k * stride]);
    for (int64_t k = 0; k < bins; k++)
        sum += depth[k * stride] = expf(logits[k * stride] - largest);
    for (int64_t k = 0; k < bins; k++)
        depth[k * stride] /= sum;
}

/* gradient: of depth in, of logits out. */
static void softmax_back(const float *depth, float *gradient, int64_t bins, int64_t stride) {
    float mean = 0;
    for (int64_t k = 0; k < bins; k++)
        mean += depth[k * stride] * gradient[k * stride];
    for (int64_t k = 0; k < bins; k++)
        gradient[k * stride] = depth[k * stride] * (gradient[k * stride] - mean);
}

static void all_softmax(Trainer *t) {
    int64_t bins = t->shape.depth_bins, stride = plane(&t->shape);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t i = 0; i < t->shape.cameras * stride; i++) {
        int64_t first = i / stride * bins * stride + i % stride;
        softmax(t->logits + first, t->now.depth + first, bins, stride);
    }
}

static void all_softmax_back(Trainer *t) {
    int64_t bins = t->shape.depth_bins, stride = plane(&t->shape);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t i = 0; i < t->shape.cameras * stride; i++) {
        int64_t first = i / stride * bins * stride + i % stride;
        softmax_back(t->now.depth + first, t->gradient + first, bins, stride);
    }
}

/* ---- one step -------------------------------------------------------------------------------- */

static size_t depths(const Trainer *t) {
    return features_depth_count(&t->shape);
}

static int64_t outputs(const Trainer *t) {
    return t->shape.nx * t->shape.ny * t->shape.channels;
}

/* Pools the depth of now into `pooled`. */
static bool pool(Trainer *t, double *us, Err *err) {
    const void *codes;
    if (!problem_update(&t->forward, &t->now, err) || !session_update(t->pools, err))
        return false;
    double begun = clock_us();
    if (!session_run(t->pools, err))
        return false;
    *us = clock_us() - begun;
    if (!session_output(t->pools, &codes, err))
        return false;
    problem_output(&t->forward.view, codes, t->pooled);
    return true;
}

static bool set_grad_out(Trainer *t, Err *err) {
    const BevShape *shape = &t->shape;
    GradOut grad_out = {t->grad_out, shape->ny, shape->nx, shape->channels};
    return problem_set_grad_out(&t->backward, &grad_out, err);
}

/* The gradient of the loss with respect to depth, but for the factor 2 / |target|^2, which the rate
 * absorbs: without it the values keep to the range of FP16. */
static bool bring_back(Trainer *t, double *us, Err *err) {
    if (!problem_update(&t->backward, &t->now, err) || !set_grad_out(t, err) ||
        !session_update(t->returns, err))
        return false;
    double begun = clock_us();
    if (!session_run(t->returns, err))
        return false;
    *us = clock_us() - begun;
    if (!session_read(t->returns, t->codes, err))
        return false;
    BevTensor grad_depth = t->backward.view.grad_depth;
    grad_depth.data = t->codes;
    bev_tensor_decode(&grad_depth, 0, 1, t->gradient);
    all_softmax_back(t);
    return true;
}

/* Fills grad_out and returns the loss. */
static double compare(Trainer *t) {
    double square = 0;
#pragma omp parallel for simd num_threads(bev_threads()) schedule(static) reduction(+ : square)
    for (int64_t i = 0; i < outputs(t); i++) {
        float difference = t->pooled[i] - t->target[i];
        t->grad_out[i] = difference;
        square += (double)difference * difference;
    }
    return square / t->target_square;
}

static double depth_error(const Trainer *t) {
    double sum = 0;
#pragma omp parallel for simd num_threads(bev_threads()) schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < depths(t); i++)
        sum += fabsf(t->now.depth[i] - t->truth[i]);
    return sum / 2 / (double)(t->shape.cameras * plane(&t->shape));
}

static double largest(const float *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)values[i]));
    return most;
}

/* Moves along the gradient of the step that was kept last. */
static void descend(Trainer *t) {
    float rate = (float)t->rate;
#pragma omp parallel for simd num_threads(bev_threads()) schedule(static)
    for (size_t i = 0; i < depths(t); i++)
        t->logits[i] = t->before[i] - rate * t->gradient[i];
    all_softmax(t);
}

static void swap(float **a, float **b) {
    float *was = *a;
    *a = *b;
    *b = was;
}

/* A step that raised the loss is taken back: the gradient is still that of the one before. */
static bool judge(Trainer *t, TrainStep *step, Err *err) {
    step->taken_back = t->step > 0 && step->loss > t->kept_loss;
    if (step->taken_back) {
        t->rate *= SLOWER;
        return true;
    }
    t->kept_loss = step->loss;
    swap(&t->pooled, &t->kept);
    memcpy(t->before, t->logits, depths(t) * sizeof *t->logits);
    memcpy(t->kept_depth, t->now.depth, depths(t) * sizeof *t->kept_depth);
    if (!bring_back(t, &step->backward_us, err))
        return false;
    double steepest = largest(t->gradient, depths(t));
    if (!isfinite(steepest))
        return err_set(err, ERR_FAILED, "train", "choose another number format",
                       "the gradient at step %d is not finite", t->step);
    t->rate = t->step ? t->rate * FASTER : steepest > 0 ? FIRST_STRIDE / steepest : 0;
    return true;
}

bool trainer_step(Trainer *t, TrainStep *step, Err *err) {
    double begun = clock_us();
    *step = (TrainStep){.step = t->step, .rate = t->rate};
    if (t->step)
        descend(t);
    if (!pool(t, &step->forward_us, err))
        return false;
    step->loss = compare(t);
    step->depth_error = depth_error(t);
    if (!isfinite(step->loss))
        return err_set(err, ERR_FAILED, "train", "choose another number format",
                       "the loss at step %d is not finite", t->step);
    if (!judge(t, step, err))
        return false;
    t->step++;
    step->softmax_us = clock_us() - begun - step->forward_us - step->backward_us;
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool allocate(Trainer *t, Err *err) {
    size_t grid = (size_t)outputs(t) * sizeof(float), depth = depths(t) * sizeof(float);
    t->now.depth = malloc(depth);
    t->logits = malloc(depth);
    t->before = malloc(depth);
    t->gradient = malloc(depth);
    t->kept_depth = malloc(depth);
    t->target = malloc(grid);
    t->pooled = malloc(grid);
    t->kept = malloc(grid);
    t->grad_out = calloc(1, grid);
    return (t->now.depth && t->logits && t->before && t->gradient && t->kept_depth && t->target &&
            t->pooled && t->kept && t->grad_out) ||
           err_set(err, ERR_FAILED, "train", "choose a smaller scene", "out of memory");
}

/* Bins without any probability stay possible: their logit is that of LEAST. */
static void begin_at(Trainer *t, const float *depth) {
    static const float LEAST = 1e-6f;
    for (size_t i = 0; i < depths(t); i++)
        t->logits[i] = logf(fmaxf(depth[i], LEAST));
    all_softmax(t);
}

static bool open_sessions(Trainer *t, const BevMap *map, Err *err) {
    const TrainKernels *k = &t->kernels;
    return problem_encode(&t->forward, &t->shape, k->dtype, k->align, &t->now, map, err) &&
           problem_encode(&t->backward, &t->shape, k->dtype, k->align, &t->now, map, err) &&
           set_grad_out(t, err) &&
           session_open(&t->pools, k->forward, &t->forward.view, err) &&
           session_open(&t->returns, k->backward, &t->backward.view, err);
}

/* Pools the true depth. */
static bool find_target(Trainer *t, Err *err) {
    double us;
    memcpy(t->now.depth, t->truth, depths(t) * sizeof *t->truth);
    if (!pool(t, &us, err))
        return false;
    memcpy(t->target, t->pooled, (size_t)outputs(t) * sizeof *t->target);
    for (int64_t i = 0; i < outputs(t); i++)
        t->target_square += (double)t->target[i] * t->target[i];
    return t->target_square > 0 || err_set(err, ERR_FAILED, "train", "choose another scene",
                                           "the true depth puts nothing into the grid");
}

bool trainer_open(Trainer **trainer, const TrainKernels *kernels, const BevShape *shape,
                  const BevMap *map, const Features *truth, const Features *start, Err *err) {
    Trainer *t = calloc(1, sizeof *t);
    *trainer = NULL;
    if (!t)
        return err_set(err, ERR_FAILED, "train", "", "out of memory");
    t->kernels = *kernels;
    t->shape = *shape;
    t->truth = truth->depth;
    t->now.feat = truth->feat;
    bool ok = allocate(t, err);
    if (ok)
        memcpy(t->now.depth, t->truth, depths(t) * sizeof *t->truth);
    ok = ok && open_sessions(t, map, err) && find_target(t, err);
    t->codes = ok ? malloc(bev_output_bytes(&t->backward.view)) : NULL;
    ok = ok && (t->codes || err_set(err, ERR_FAILED, "train", "", "out of memory"));
    if (!ok) {
        trainer_close(t);
        return false;
    }
    begin_at(t, start->depth);
    *trainer = t;
    return true;
}

void trainer_close(Trainer *t) {
    if (!t)
        return;
    session_close(t->pools);
    session_close(t->returns);
    problem_free(&t->forward);
    problem_free(&t->backward);
    free(t->now.depth), free(t->logits), free(t->before), free(t->gradient);
    free(t->kept_depth);
    free(t->target), free(t->pooled), free(t->kept), free(t->grad_out), free(t->codes);
    free(t);
}

const float *trainer_pooled(const Trainer *t) {
    return t->kept;
}

const float *trainer_target(const Trainer *t) {
    return t->target;
}

const float *trainer_depth(const Trainer *t) {
    return t->kept_depth;
}
