/* What the CPU kernels share: inputs decoded to FP32 once a launch, a row of sums for each thread,
 * the list of empty cells. All that a launch writes lies in the problem's workspace. */
#pragma once

#include "kernels/bevpool.h"
#include "kernels/vector.h"

enum {
    CPU_ALL_DTYPES = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16 | 1u << BEV_FP8 |
                     1u << BEV_NVFP4 | 1u << BEV_INT8 | 1u << BEV_INT8_FP16,
    CPU_ALL_ALIGNS = 1u << BEV_NEAREST | 1u << BEV_BILINEAR | 1u << BEV_LATTICE,
    CPU_GRAD_DTYPES = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16, /* of gradients */
    CPU_CHUNK =
        64, /* intervals a thread takes at a time: few requests, long intervals still spread */
};

/* The inputs as FP32, so that every format runs the same loops: the problem's own arrays where the
 * format is FP32, else scratch that cpu_stage_fill() writes in each launch. Scales are applied, but
 * not those of INT8: FP32 adds whole numbers below 2^24 exactly, and cpu_put() scales the sum. */
typedef struct {
    const float *depth, *feat; /* same layout as the tensors; rows of feat have no padding */
    float *depth_scratch, *feat_scratch;
    float *sums;     /* (thread, channels) */
    float *own_sums; /* the rest of the workspace: the kernel's own */
    int threads;
    int64_t channels;
} CpuStage;

/* Makes a plan of `bytes`, zero but for its first member, an int: the threads that its launches
 * use, bev_threads(). */
bool cpu_plan_new(BevPlan **plan, size_t bytes, const char *kernel, Err *err);
void cpu_plan_free(BevPlan *plan); /* of a plan without memory of its own */

/* Bytes of workspace that a stage takes for a team of `threads`, with `own_sums` floats for the
 * kernel itself. */
size_t cpu_stage_bytes(const BevProblem *problem, int threads, int64_t own_sums);

/* The stage of one launch, laid out in problem->workspace, for a plan of so many threads. */
CpuStage cpu_stage(const BevProblem *problem, int planned);

/* The functions below are called by every thread of a team of stage->threads. A launch is one
 * parallel region: each further region would wake the team once more, which takes milliseconds on a
 * busy machine. */

/* Decodes the inputs, each thread its share. All are decoded on return. */
void cpu_stage_fill(const CpuStage *stage, const BevProblem *problem);

/* Stores finished sums of channels [first, first + count) of a cell. INT8 scales them in place. */
void cpu_put(const BevProblem *problem, int64_t cell, int64_t first, int64_t count, float *sums);

/* The number of the calling thread in its team. */
int cpu_thread(void);

/* The row of sums that belongs to the calling thread. */
float *cpu_sums(const CpuStage *stage);

/* Sets every cell of `out` to zero, which is code 0 in every format. All are zero on return. */
void cpu_clear(const CpuStage *stage, const BevTensor *out);

/* The cells without a point, as runs of neighbours, for kernels that write each cell once. */
typedef struct {
    int32_t first, count;
} CpuRun;

typedef struct {
    int64_t count;
    CpuRun *runs;
} CpuEmpty;

bool cpu_empty_init(CpuEmpty *empty, const BevProblem *problem, Err *err);
void cpu_empty_free(CpuEmpty *empty);

/* Sets those cells to zero; the team shares the work. All are zero on return. */
void cpu_empty_clear(const CpuEmpty *empty, const BevTensor *out);

/* sums[c] += scale * feat[c]: the inner loop of all kernels. */
CPU_INLINE void cpu_add_scaled(float *restrict sums, const float *restrict feat, float scale,
                               int64_t channels) {
    CPU_SIMD
    for (int64_t c = 0; c < channels; c++)
        sums[c] += scale * feat[c];
}
