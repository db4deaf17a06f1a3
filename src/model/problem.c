#include "src/model/problem.h"

#include "kernels/codec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static bool tensor_init(BevTensor *tensor, BevDtype dtype, int64_t rows, int64_t row_len) {
    *tensor = (BevTensor){.dtype = dtype, .rows = rows, .row_len = row_len, .scale = 1};
    tensor->data = calloc(1, bev_code_bytes(dtype, rows, row_len));
    size_t scale_bytes = bev_block_scale_bytes(dtype, rows, row_len);
    if (scale_bytes)
        tensor->block_scales = calloc(1, scale_bytes);
    return tensor->data && (tensor->block_scales || !scale_bytes);
}

static void tensor_free(BevTensor *tensor) {
    free(tensor->data);
    free(tensor->block_scales);
}

bool problem_init(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                  const BevMap *map, Err *err) {
    memset(problem, 0, sizeof *problem);
    problem->out_largest = NAN;
    BevProblem *view = &problem->view;
    const BevDtypeInfo *format = &bev_dtypes[dtype];
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    *view = (BevProblem){.shape = *shape, .dtype = dtype, .align = align, .map = *map};
    bool ok = tensor_init(&view->depth, format->depth, 1, pixels * shape->depth_bins);
    ok = tensor_init(&view->feat, dtype, pixels, shape->channels) && ok;
    ok = tensor_init(&view->out, format->out, shape->nx * shape->ny, shape->channels) && ok;
    if (ok)
        return true;
    problem_free(problem);
    return err_set(err, ERR_FAILED, "problem", "choose a smaller scene", "out of memory");
}

void problem_free(HostProblem *problem) {
    if (!problem)
        return;
    tensor_free(&problem->view.depth);
    tensor_free(&problem->view.feat);
    tensor_free(&problem->view.out);
    free(problem->own_weights);
    memset(problem, 0, sizeof *problem);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static float largest_abs(const float *values, int64_t count) {
    float largest = 0;
    for (int64_t i = 0; i < count; i++) {
        float magnitude = fabsf(values[i]);
        if (magnitude > largest && magnitude <= FLT_MAX)
            largest = magnitude;
    }
    return largest;
}

/* Largest magnitude that still rounds to a finite value of the format: half a step, in the last
 * place of the largest, above it. */
static double reach(BevDtype dtype) {
    int exponent;
    frexp(bev_dtypes[dtype].largest, &exponent);
    return bev_dtypes[dtype].largest + ldexp(bev_dtypes[dtype].unit_roundoff, exponent - 1);
}

static int64_t count_saturated(const BevTensor *tensor, const float *values) {
    int64_t saturated = 0, blocks = (tensor->row_len + BEV_BLOCK - 1) / BEV_BLOCK;
    double limit = reach(tensor->dtype) * tensor->scale;
    int64_t values_count = tensor->rows * tensor->row_len;
#pragma omp parallel for schedule(static) reduction(+ : saturated)
    for (int64_t i = 0; i < values_count; i++) {
        double magnitude = fabs((double)values[i]), unit = 1;
        if (tensor->block_scales) {
            int64_t row = i / tensor->row_len, block = i % tensor->row_len / BEV_BLOCK;
            unit = bev_e4m3_decode(tensor->block_scales[row * blocks + block]);
        }
        saturated += magnitude > limit * unit && magnitude <= FLT_MAX;
    }
    return saturated;
}

static int64_t encode(BevTensor *tensor, const float *values) {
    tensor->scale =
        bev_tensor_scale(tensor->dtype, largest_abs(values, tensor->rows * tensor->row_len));
    bev_tensor_encode(tensor, values);
    return tensor->dtype == BEV_FP32 ? 0 : count_saturated(tensor, values);
}

static bool pool_fp32(const BevProblem *problem, Err *err) {
    const BevVariant *variant = bev_variant_find("cpu_v3");
    BevPlan *plan = NULL;
    bool ok = variant->prepare(problem, &plan, err) && variant->launch(problem, plan, NULL, err);
    variant->release(plan);
    return ok;
}

/* The largest value that pooling the originals gives. */
static bool find_out_largest(HostProblem *problem, Err *err) {
    const BevProblem *view = &problem->view;
    BevProblem original = *view;
    int64_t outputs = view->out.rows * view->out.row_len;
    original.dtype = original.depth.dtype = original.feat.dtype = original.out.dtype = BEV_FP32;
    original.depth.scale = original.feat.scale = original.out.scale = 1; /* of the last update */
    original.depth.data = problem->features.depth;
    original.feat.data = problem->features.feat;
    original.out.data = malloc((size_t)outputs * sizeof(float));
    bool ok = original.out.data ||
              err_set(err, ERR_FAILED, "problem", "choose a smaller scene", "out of memory");
    ok = ok && pool_fp32(&original, err);
    if (ok)
        problem->out_largest = largest_abs(original.out.data, outputs);
    free(original.out.data);
    return ok;
}

/* The output's scale, where its format has one. */
static bool calibrate_out(HostProblem *problem, Err *err) {
    BevTensor *out = &problem->view.out;
    if (bev_tensor_scale(out->dtype, FLT_MAX) == 1)
        return true;
    if (isnan(problem->out_largest) && !find_out_largest(problem, err))
        return false;
    out->scale = bev_tensor_scale(out->dtype, (float)problem->out_largest);
    return true;
}

static bool encode_all(HostProblem *problem, const Features *features, Err *err) {
    problem->features = *features;
    problem->saturated = encode(&problem->view.depth, features->depth);
    problem->saturated += encode(&problem->view.feat, features->feat);
    return calibrate_out(problem, err);
}

bool problem_update(HostProblem *problem, const Features *features, Err *err) {
    problem->out_largest = NAN;
    return encode_all(problem, features, err);
}

bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err) {
    return problem_encode_known(problem, shape, dtype, align, features, map, NAN, err);
}

bool problem_encode_known(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                          BevAlign align, const Features *features, const BevMap *map,
                          double out_largest, Err *err) {
    if (!problem_init(problem, shape, dtype, align, map, err))
        return false;
    problem->out_largest = out_largest;
    if (encode_all(problem, features, err))
        return true;
    problem_free(problem);
    return false;
}

void problem_output(const BevProblem *problem, float *values) {
    bev_tensor_decode(&problem->out, 0, problem->out.rows, values);
}
