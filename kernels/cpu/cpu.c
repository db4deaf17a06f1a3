/* SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include "kernels/codec.h"
#include "kernels/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) {
    return 0;
}
#endif

enum { LINE = 64 }; /* bytes of a cache line, which sums of two threads never share */

/* Returns the floats between the rows of sums of two threads: whole cache lines. */
static int64_t sums_stride(int64_t channels) {
    int64_t line = LINE / (int64_t)sizeof(float);
    return (channels + line - 1) / line * line;
}

/* Returns the floats that a decoded tensor takes, in whole cache lines. FP32 tensors are used
 * without decoding and take 0. */
static int64_t decoded_floats(const BevTensor *tensor) {
    return tensor->dtype == BEV_FP32 ? 0 : sums_stride(tensor->rows * tensor->row_len);
}

void *cpu_keep(CpuArrays *arrays, void *array) {
    assert(arrays->count < CPU_MOST_ARRAYS);
    arrays->failed |= !array;
    return arrays->array[arrays->count++] = array;
}

void *cpu_take(CpuArrays *arrays, int64_t count, size_t size) {
    return cpu_keep(arrays, malloc(((size_t)count + 1) * size));
}

void *cpu_take_zeroed(CpuArrays *arrays, int64_t count, size_t size) {
    return cpu_keep(arrays, calloc((size_t)count + 1, size));
}

void cpu_free(const CpuArrays *arrays) {
    for (int i = 0; i < arrays->count; i++)
        free(arrays->array[i]);
}

bool cpu_prepare(const BevProblem *problem, BevPlan **plan, size_t bytes, CpuBuild *build,
                 const char *kernel, Err *err) {
    CpuPlan *made = calloc(1, bytes);
    *plan = (BevPlan *)made;
    if (made)
        made->threads = bev_threads();
    if (made && (!build || build(*plan, problem)))
        return true;
    cpu_release(*plan);
    *plan = NULL;
    return err_no_memory(err, kernel, "choose a smaller scene");
}

void cpu_release(BevPlan *plan) {
    if (plan)
        cpu_free(&((const CpuPlan *)plan)->arrays);
    free(plan);
}

bool cpu_prepare_threads(const BevProblem *problem, BevPlan **plan, Err *err) {
    return cpu_prepare(problem, plan, sizeof(CpuPlan), NULL, "a kernel's plan", err);
}

int cpu_plan_threads(const BevPlan *plan) {
    return ((const CpuPlan *)plan)->threads;
}

size_t cpu_stage_bytes(const BevProblem *problem, int threads, int64_t own_sums) {
    int64_t count = threads * sums_stride(problem->shape.channels) +
                    decoded_floats(&problem->depth) + decoded_floats(&problem->feat) + own_sums;
    return (size_t)count * sizeof(float);
}

size_t cpu_workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return cpu_stage_bytes(problem, cpu_plan_threads(plan), 0);
}

CpuStage cpu_stage(const BevProblem *problem, int planned) {
    int threads = bev_team(planned);
    const BevTensor *depth = &problem->depth, *feat = &problem->feat;
    float *next = problem->workspace;
    CpuStage stage = {.threads = threads, .channels = problem->shape.channels, .sums = next};
    next += threads * sums_stride(stage.channels);
    stage.depth = depth->dtype == BEV_FP32 ? depth->data : next;
    next += decoded_floats(depth);
    stage.feat = feat->dtype == BEV_FP32 ? feat->data : next;
    stage.own_sums = next + decoded_floats(feat);
    return stage;
}

/* Splits `tensor` into `parts` runs of rows and decodes run number `part` into `values`. INT8 and
 * UINT8 codes become whole numbers, without scales. FP32 needs no decoding. */
static void decode_part(const BevTensor *tensor, int part, int parts, float *values) {
    int64_t first = tensor->rows * part / parts, last = tensor->rows * (part + 1) / parts;
    BevTensor codes = *tensor;
    if (codes.dtype == BEV_FP32)
        return;
    if (bev_is_whole(codes.dtype) || codes.dtype == BEV_UINT8) {
        codes.scale = 1;
        codes.channel_scales = NULL;
    }
    bev_tensor_decode(&codes, first, last - first, values + first * tensor->row_len);
}

void cpu_stage_fill(const CpuStage *stage, const BevProblem *problem) {
    if (problem->feat.dtype == BEV_FP32 && problem->depth.dtype == BEV_FP32)
        return;
    /* The depth tensor is one long row, which cannot be split among threads. So it is read as rows
     * of one image line each. Depth formats have no blocks, so that the bytes are the same. */
    BevTensor depth = problem->depth;
    depth.row_len = problem->shape.feat_w;
    depth.rows = problem->depth.row_len / depth.row_len;
#pragma omp for schedule(static, 1)
    for (int part = 0; part < stage->threads; part++) {
        decode_part(&problem->feat, part, stage->threads, stage->feat);
        decode_part(&depth, part, stage->threads, stage->depth);
    }
}

void cpu_store_sums(const BevProblem *problem, int64_t cell, int64_t first, int64_t count,
                    float *sums) {
    BevTensor out = problem->out;
    if (bev_is_whole(problem->dtype)) {
        const float *scales = problem->feat.channel_scales + first;
        float factor = bev_tensors_factor(problem);
        CPU_SIMD
        for (int64_t c = 0; c < count; c++)
            sums[c] *= factor * scales[c];
        out.scale = 1; /* already in `factor` */
    }
    bev_span_encode(&out, cell, first, count, sums);
}

void cpu_encode_doubles(const BevTensor *tensor, const double *values) {
    enum { PIECE = 256 };
    float piece[PIECE];
    for (int64_t row = 0; row < tensor->rows; row++)
        for (int64_t first = 0; first < tensor->row_len; first += PIECE) {
            int64_t left = tensor->row_len - first, count = left < PIECE ? left : PIECE;
            for (int64_t c = 0; c < count; c++)
                piece[c] = (float)values[row * tensor->row_len + first + c];
            bev_span_encode(tensor, row, first, count, piece);
        }
}

int cpu_thread(void) {
    return omp_get_thread_num();
}

float *cpu_sums(const CpuStage *stage) {
    return stage->sums + cpu_thread() * sums_stride(stage->channels);
}

void cpu_clear(const CpuStage *stage, const BevTensor *out) {
    int64_t bytes = (int64_t)bev_tensor_bytes(out);
#pragma omp for schedule(static, 1)
    for (int part = 0; part < stage->threads; part++) {
        int64_t first = bytes * part / stage->threads, last = bytes * (part + 1) / stage->threads;
        memset((char *)out->data + first, 0, (size_t)(last - first));
    }
}

void cpu_clear_cell(const BevTensor *out, int64_t cell) {
    size_t row_bytes = bev_code_bytes(out->dtype, 1, out->row_len);
    memset((char *)out->data + (size_t)cell * row_bytes, 0, row_bytes);
}

/* ---- sums in memory -------------------------------------------------------------------------- */

size_t cpu_sums_bytes(const BevProblem *problem, const BevPlan *plan) {
    return cpu_stage_bytes(problem, cpu_plan_threads(plan),
                           problem->out.rows * problem->out.row_len);
}

void cpu_sums_add(const CpuStage *stage, const BevMap *map, int64_t t, int64_t first,
                  int64_t count) {
    float depth = cpu_depth(stage, map, t);
    const float *feat = stage->feat + map->ranks_feat[t] * stage->channels + first;
    float *sums = stage->own_sums + map->ranks_bev[t] * stage->channels + first;
    for (int64_t c = 0; c < count; c++) {
        float term = depth * feat[c];
#pragma omp atomic update
        sums[c] += term;
    }
}

bool cpu_sums_launch(const BevProblem *problem, const BevPlan *plan, CpuAddPoints *add) {
    const CpuStage laid_out = cpu_stage(problem, cpu_plan_threads(plan)), *stage = &laid_out;
    int64_t channels = stage->channels, cells = problem->out.rows;
#pragma omp parallel num_threads(stage->threads)
    {
        cpu_stage_fill(stage, problem);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < cells * channels; i++)
            stage->own_sums[i] = 0;
        add(stage, &problem->map);
#pragma omp barrier
#pragma omp for schedule(static)
        for (int64_t cell = 0; cell < cells; cell++)
            cpu_store_sums(problem, cell, 0, channels, stage->own_sums + cell * channels);
    }
    return true;
}

BevTraffic cpu_passes_traffic(const BevProblem *problem, int64_t tile, BevSums sums) {
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    int64_t channels = problem->shape.channels, passes = (channels + tile - 1) / tile;
    double terms = (double)problem->map.points * (double)channels;
    double outputs = (double)problem->out.rows * (double)channels;
    traffic.index *= (double)passes;
    traffic.depth *= (double)passes;
    traffic.weight *= (double)passes;
    if (sums != BEV_SUMS_OWNED) {
        traffic.out_read = (terms + outputs) * sizeof(float);
        traffic.out_write += (terms + outputs) * sizeof(float);
    }
    traffic.atomics = sums == BEV_SUMS_ATOMIC ? terms : 0;
    return traffic;
}
