/* SPDX-License-Identifier: MIT */
#include "src/scene/problem.h"

#include "kernels/regime.h"
#include "kernels/codec.h"
#include "kernels/threads.h"
#include "src/base/data.h"
#include "src/base/random.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* bytes of a cache line: an aligned row keeps its vectors within one line */

static size_t tensor_bytes(const BevTensor *tensor) {
    return (bev_code_bytes(tensor->dtype, tensor->rows, tensor->row_len) / LINE + 1) * LINE;
}

static void tensor_clear(BevTensor *tensor) {
    memset(tensor->data, 0, tensor_bytes(tensor));
}

static bool tensor_init(BevTensor *tensor, BevDtype dtype, int64_t rows, int64_t row_len) {
    *tensor = (BevTensor){.dtype = dtype, .rows = rows, .row_len = row_len, .scale = 1};
    tensor->data = aligned_alloc(LINE, tensor_bytes(tensor));
    size_t scale_bytes = bev_block_scale_bytes(dtype, rows, row_len);
    if (scale_bytes)
        tensor->block_scales = calloc(1, scale_bytes);
    return tensor->data && (tensor->block_scales || !scale_bytes);
}

static void tensor_free(BevTensor *tensor) {
    free(tensor->data);
    free(tensor->block_scales);
    free(tensor->channel_scales);
}

/* Allocates a problem. The output's memory is not cleared. */
static bool allocate_problem(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                             BevAlign align, const BevMap *map, Err *err) {
    memset(problem, 0, sizeof *problem);
    BevProblem *view = &problem->view;
    const BevDtypeInfo *format = &bev_dtypes[dtype];
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    *view = (BevProblem){.shape = *shape, .dtype = dtype, .align = align, .map = *map};
    bool ok = tensor_init(&view->depth, format->depth, 1, pixels * shape->depth_bins);
    ok = tensor_init(&view->feat, dtype, pixels, shape->channels) && ok;
    ok = tensor_init(&view->out, format->out, shape->nx * shape->ny, shape->channels) && ok;
    if (bev_is_whole(dtype)) { /* one scale for each channel of the features */
        float *scales = malloc((size_t)shape->channels * sizeof *scales);
        view->feat.channel_scales = scales;
        ok = ok && scales;
        for (int64_t c = 0; scales && c < shape->channels; c++)
            scales[c] = 1;
    }
    if (!ok) {
        problem_free(problem);
        return err_no_memory(err, "problem", "choose a smaller scene");
    }
    tensor_clear(&view->depth);
    tensor_clear(&view->feat);
    return true;
}

bool problem_init(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                  const BevMap *map, Err *err) {
    bool ok = allocate_problem(problem, shape, dtype, align, map, err);
    if (ok)
        tensor_clear(&problem->view.out);
    return ok;
}

void problem_free(HostProblem *problem) {
    tensor_free(&problem->view.depth);
    tensor_free(&problem->view.feat);
    tensor_free(&problem->view.out);
    tensor_free(&problem->view.grad_out);
    tensor_free(&problem->view.grad_depth);
    tensor_free(&problem->view.grad_feat);
    free(problem->own_weights);
    free(problem->pooled_fp32);
    memset(problem, 0, sizeof *problem);
}

/* Returns the largest magnitude of the finite values. */
static float largest_abs(const float *values, int64_t count) {
    float largest = 0;
#pragma omp parallel for simd num_threads(bev_threads()) schedule(static) reduction(max : largest)
    for (int64_t i = 0; i < count; i++) {
        float magnitude = fabsf(values[i]);
        magnitude = magnitude <= FLT_MAX ? magnitude : 0;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

enum { SPAN = 4096 }; /* columns that a thread encodes at a time; a multiple of all block sizes */

/* Sets a tensor's scale so that the format can hold the magnitude `range`. Range 0 stands for the
 * largest magnitude of `values`. */
static void choose_scale(BevTensor *tensor, const float *values, double range) {
    if (!(range > 0) && scale_exists(tensor->dtype))
        range = largest_abs(values, tensor->rows * tensor->row_len);
    tensor->scale = bev_tensor_scale(tensor->dtype, (float)range);
}

/* Writes the largest magnitude of each channel's finite values. */
static void largest_of_channels(const BevTensor *feat, const float *values, float *largest) {
    memset(largest, 0, (size_t)feat->row_len * sizeof *largest);
    for (int64_t row = 0; row < feat->rows; row++, values += feat->row_len)
        for (int64_t c = 0; c < feat->row_len; c++) {
            const float magnitude = fabsf(values[c]);
            if (magnitude <= FLT_MAX && magnitude > largest[c])
                largest[c] = magnitude;
        }
}

/* Sets the scales of the features: one scale for each channel if the format and the ranges have
 * such scales, otherwise one scale for the tensor. */
static void choose_feat_scales(BevTensor *feat, const float *values, const ScaleRanges *ranges) {
    float *scales = feat->channel_scales;
    const bool listed = ranges && ranges->feat_channels.count > 0;
    const bool by_channel = scales && (listed || (ranges && ranges->ideal_by_channel));
    if (!by_channel) {
        for (int64_t c = 0; scales && c < feat->row_len; c++)
            scales[c] = 1;
        choose_scale(feat, values, ranges ? ranges->feat : 0);
        return;
    }
    if (!listed)
        largest_of_channels(feat, values, scales);
    for (int64_t c = 0; c < feat->row_len; c++) {
        const float range = listed ? (float)ranges->feat_channels.values[c] : scales[c];
        scales[c] = bev_tensor_scale(feat->dtype, range);
    }
    feat->scale = 1;
}

static void encode_tensor(BevTensor *tensor, const float *values) {
    int64_t row_len = tensor->row_len, spans = (row_len + SPAN - 1) / SPAN;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t i = 0; i < tensor->rows * spans; i++) {
        int64_t row = i / spans, first = i % spans * SPAN;
        int64_t count = row_len - first < SPAN ? row_len - first : SPAN;
        bev_span_encode(tensor, row, first, count, values + row * row_len + first);
    }
}

static const size_t KEPT_BYTES = 48 << 20; /* the most memory that pooled_fp32 keeps for updates */

/* Sets the output's scale if its format has one. The format can then hold the output's range, which
 * the features' ranges may give. Otherwise the range is the largest magnitude of an FP32 result. */
static bool calibrate_out(HostProblem *problem, Err *err) {
    BevTensor *out = &problem->view.out;
    BevProblem original = problem->view;
    int64_t outputs = out->rows * out->row_len;
    const ScaleRanges *ranges = problem->features.scales;
    bool given = ranges && ranges->out > 0;
    if (given)
        out->scale = bev_tensor_scale(out->dtype, (float)ranges->out);
    if (given || !scale_exists(out->dtype))
        return true;
    original.dtype = original.depth.dtype = original.feat.dtype = original.out.dtype = BEV_FP32;
    /* scales of the last encoding do not apply */
    original.depth.scale = original.feat.scale = original.out.scale = 1;
    original.depth.data = problem->features.depth;
    original.feat.data = problem->features.feat;
    if (!problem->pooled_fp32)
        problem->pooled_fp32 = malloc((size_t)outputs * sizeof *problem->pooled_fp32);
    original.out.data = problem->pooled_fp32;
    bool ok = original.out.data || err_no_memory(err, "problem", "choose a smaller scene");
    ok = ok && problem_pool(bev_counterpart(bev_v3(), BEV_CPU), &original, err);
    if (ok)
        out->scale = bev_tensor_scale(out->dtype, largest_abs(problem->pooled_fp32, outputs));
    if ((size_t)outputs * sizeof *problem->pooled_fp32 > KEPT_BYTES) {
        free(problem->pooled_fp32);
        problem->pooled_fp32 = NULL;
    }
    return ok;
}

bool problem_update(HostProblem *problem, const Features *features, Err *err) {
    problem->features = *features;
    const ScaleRanges *ranges = features->scales;
    choose_scale(&problem->view.depth, features->depth, ranges ? ranges->depth : 0);
    choose_feat_scales(&problem->view.feat, features->feat, ranges);
    encode_tensor(&problem->view.depth, features->depth);
    encode_tensor(&problem->view.feat, features->feat);
    return calibrate_out(problem, err);
}

bool problem_encode_for_gpu(HostProblem *problem, const BevShape *shape, BevDtype dtype,
                            BevAlign align, const Features *features, const BevMap *map, Err *err) {
    if (!allocate_problem(problem, shape, dtype, align, map, err))
        return false;
    if (problem_update(problem, features, err))
        return true;
    problem_free(problem);
    return false;
}

bool problem_encode(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                    const Features *features, const BevMap *map, Err *err) {
    bool ok = problem_encode_for_gpu(problem, shape, dtype, align, features, map, err);
    if (ok)
        tensor_clear(&problem->view.out);
    return ok;
}

enum { OUT_ROWS = 256 }; /* rows that a thread decodes at a time */

void tensor_decode(const BevTensor *like, const void *codes, float *values) {
    BevTensor tensor = *like;
    tensor.data = (void *)codes;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t row = 0; row < tensor.rows; row += OUT_ROWS)
        bev_tensor_decode(&tensor, row, tensor.rows - row < OUT_ROWS ? tensor.rows - row : OUT_ROWS,
                          values + row * tensor.row_len);
}

float *tensor_decoded(const BevTensor *like, const void *codes, Err *err) {
    float *values = malloc((size_t)(like->rows * like->row_len) * sizeof *values);
    if (values)
        tensor_decode(like, codes, values);
    else
        err_no_memory(err, "output", "choose a smaller scene");
    return values;
}

/* ---- backward -------------------------------------------------------------------------------- */

const unsigned scaleless_dtypes = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16;

bool problem_turn_view(HostProblem *problem, Err *err) {
    BevProblem *view = &problem->view;
    const BevShape *s = &view->shape;
    int64_t pixels = s->feat_h * s->feat_w;
    if (!(scaleless_dtypes & 1u << view->dtype))
        return err_set(err, ERR_USAGE, "view", "choose --dtype fp32, fp16 or bf16",
                       "a view transform does not read %s", bev_dtypes[view->dtype].title);
    view->stage = BEV_VIEW;
    view->view = (BevView){
        .softmax = true,
        .temperature = 1.0f / 128,
        .depth = {s->depth_bins * pixels, pixels, s->feat_w, 1},
        .feat = {pixels * s->channels, 1, s->feat_w * s->channels, s->channels},
    };
    return true;
}

bool problem_turn_backward(HostProblem *problem, Err *err) {
    BevProblem *view = &problem->view;
    BevTensor *depth = &view->grad_depth, *feat = &view->grad_feat;
    if (!(scaleless_dtypes & 1u << view->dtype))
        return err_set(err, ERR_USAGE, "gradients", "choose fp32, fp16 or bf16",
                       "there are none in %s", bev_dtypes[view->dtype].title);
    if (!tensor_init(depth, view->dtype, view->depth.rows, view->depth.row_len) ||
        !tensor_init(feat, view->dtype, view->feat.rows, view->feat.row_len)) {
        tensor_free(depth);
        tensor_free(feat);
        *depth = *feat = (BevTensor){0};
        return err_no_memory(err, "gradients", "choose a smaller scene");
    }
    tensor_clear(depth);
    tensor_clear(feat);
    assert(view->out.dtype == view->dtype); /* holds for all scaleless_dtypes */
    view->grad_out = view->out;             /* grad_out takes over the output's memory */
    view->grad_out.scale = 1;
    tensor_clear(&view->grad_out);
    view->out.data = NULL;
    view->direction = BEV_BACKWARD;
    return true;
}

bool problem_set_grad_out(HostProblem *problem, const float *grad_out, Err *err) {
    if (problem->view.direction == BEV_FORWARD && !problem_turn_backward(problem, err))
        return false;
    problem->grad_out = grad_out;
    encode_tensor(&problem->view.grad_out, grad_out);
    return true;
}

float *random_grad_out(const BevShape *shape, uint64_t seed) {
    int64_t count = shape->ny * shape->nx * shape->channels;
    float *values = malloc((size_t)count * sizeof *values + 1);
    for (int64_t i = 0; values && i < count; i++)
        values[i] = (float)(2 * random_unit(&seed) - 1);
    return values;
}

/* ---- the gradient of a file ------------------------------------------------------------------ */

enum { AXES = 3 };

bool grad_out_read(GradOutFile *grad, FILE *file, const char *path, Err *err) {
    const NpyArray *array = &grad->array;
    void *values;
    *grad = (GradOutFile){.path = path, .first = -1};
    if (!npy_read_file(file, path, NPY_F4, &grad->array, &values, err))
        return false;
    grad->values = values;
    if (array->rank != AXES || array->count < 1) {
        grad_out_free(grad);
        return err_set(err, ERR_FAILED, path, "",
                       "grad_out has the shape %s, must be (ny, nx, channels)",
                       npy_shape_text(array).text);
    }
    for (int64_t i = 0; i < array->count; i++) {
        grad->nan += isnan(grad->values[i]) != 0;
        grad->infinite += isinf(grad->values[i]) != 0;
        if (!isfinite(grad->values[i]) && grad->first < 0)
            grad->first = i;
    }
    return true;
}

void grad_out_free(GradOutFile *grad) {
    free(grad->values);
    grad->values = NULL;
}

bool grad_out_check_shape(const GradOutFile *grad, const BevShape *shape, Err *err) {
    const int64_t want[AXES] = {shape->ny, shape->nx, shape->channels};
    return !memcmp(grad->array.shape, want, sizeof want) ||
           err_set(err, ERR_FAILED, grad->path, "",
                   "grad_out has the shape %s, must be (ny, nx, channels) = (%lld, %lld, %lld)",
                   npy_shape_text(&grad->array).text, (long long)want[0], (long long)want[1],
                   (long long)want[2]);
}

void grad_out_describe(const GradOutFile *grad, char *text, size_t size) {
    text[0] = '\0';
    if (grad->first >= 0)
        snprintf(text, size,
                 "%s: grad_out: %lld of %lld values are NaN, %lld infinite, the first at %s",
                 grad->path, (long long)grad->nan, (long long)grad->array.count,
                 (long long)grad->infinite, npz_place("", &grad->array, grad->first).text);
}
