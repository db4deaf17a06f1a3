/* SPDX-License-Identifier: MIT */
/* The CPU kernels share this file: inputs that each launch decodes to FP32, and a row of sums for
 * each thread. Everything that a launch writes, except outputs, lies in the problem's workspace. */
#pragma once

#include "kernels/bevpool.h"
#include "kernels/vector.h"

enum {
    CPU_CHUNK = 64, /* intervals that a thread takes at a time */
    CPU_MOST_ARRAYS = 24,
};

/* The inputs as FP32, so that every format runs the same loops. FP32 inputs are the problem's own
 * arrays. Other inputs lie in scratch memory that cpu_stage_fill() writes in each launch. Scales
 * are applied, except those of INT8: FP32 adds whole numbers below 2^24 exactly, and
 * cpu_store_sums() scales the sum. */
typedef struct {
    float *depth, *feat; /* laid out as the tensors; rows of feat have no padding */
    float *sums;     /* (thread, channels), each row in whole cache lines */
    float *own_sums; /* the rest of the workspace, for the kernel itself */
    int threads;
    int64_t channels;
} CpuStage;

/* Arrays that are freed together. The struct begins as zeros. */
typedef struct {
    void *array[CPU_MOST_ARRAYS];
    int count;
    bool failed; /* memory was short */
} CpuArrays;

/* Return an array of `count` elements and one more, or what malloc gave, which cpu_free frees.
 * NULL: out of memory. */
void *cpu_keep(CpuArrays *arrays, void *array);
void *cpu_take(CpuArrays *arrays, int64_t count, size_t size);
void *cpu_take_zeroed(CpuArrays *arrays, int64_t count, size_t size);
void cpu_free(const CpuArrays *arrays);

/* The head of every plan. */
typedef struct {
    int threads; /* of each launch: bev_threads() */
    CpuArrays arrays;
} CpuPlan;

/* Makes a plan of `bytes` bytes, which `build` fills, and frees it. `build` (may be NULL) takes all
 * memory of a plan that begins as zeros, and returns false where memory is short. */
typedef bool CpuBuild(BevPlan *plan, const BevProblem *problem);
bool cpu_prepare(const BevProblem *problem, BevPlan **plan, size_t bytes, CpuBuild *build,
                 const char *kernel, Err *err);
void cpu_release(BevPlan *plan);

/* Defines the function `prepare` of a row by a call of cpu_prepare. */
#define CPU_PREPARE(build, kernel)                                                                 \
    static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {                     \
        return cpu_prepare(problem, plan, sizeof **plan, build, kernel, err);                      \
    }

/* Makes a plan that holds the number of threads and nothing else. Returns that number. */
bool cpu_prepare_threads(const BevProblem *problem, BevPlan **plan, Err *err);
int cpu_plan_threads(const BevPlan *plan);

/* Returns the bytes of workspace that a stage takes for a team of `threads`, with `own_sums` floats
 * for the kernel itself. */
size_t cpu_stage_bytes(const BevProblem *problem, int threads, int64_t own_sums);

/* The field workspace_bytes of kernels that need a stage and nothing else. */
size_t cpu_workspace_bytes(const BevProblem *problem, const BevPlan *plan);

/* Lays the stage of one launch out in problem->workspace. `planned`: the plan's threads. */
CpuStage cpu_stage(const BevProblem *problem, int planned);

/* Every thread of a team of stage->threads calls the functions below. A launch is one parallel
 * region: each further region would wake the team again, which takes milliseconds on a busy
 * machine. */

/* Decodes the inputs, each thread its share. On return all inputs are decoded. */
void cpu_stage_fill(const CpuStage *stage, const BevProblem *problem);

/* Encodes the finished sums of channels [first, first + count) of a cell into the output. For INT8
 * it scales `sums` in place. */
void cpu_store_sums(const BevProblem *problem, int64_t cell, int64_t first, int64_t count,
                    float *sums);

/* Encodes a whole tensor, on the calling thread. */
void cpu_encode_doubles(const BevTensor *tensor, const double *values);

/* Returns the number of the calling thread in its team. */
int cpu_thread(void);

/* Returns the row of sums of the calling thread. */
float *cpu_sums(const CpuStage *stage);

/* Sets every cell of `out` to zero: code 0 in every format. On return all cells are zero. */
void cpu_clear(const CpuStage *stage, const BevTensor *out);

/* Sets one cell to zero. */
void cpu_clear_cell(const BevTensor *out, int64_t cell);

/* FP32 sums in memory, (cell, c), to which all threads add by atomics. They are own_sums. */
size_t cpu_sums_bytes(const BevProblem *problem, const BevPlan *plan);

/* Adds channels [first, first + count) of point t to the sums. Each addition is one atomic. */
void cpu_sums_add(const CpuStage *stage, const BevMap *map, int64_t t, int64_t first,
                  int64_t count);

/* Runs a launch in one team: clears the sums, calls `add` in each thread, encodes the sums. */
typedef void CpuAddPoints(const CpuStage *stage, const BevMap *map);
bool cpu_sums_launch(const BevProblem *problem, const BevPlan *plan, CpuAddPoints *add);

/* Returns the traffic of a kernel that passes over all points once for each `tile` channels. With
 * `sums` each point reads and writes FP32 sums, which are cleared before and encoded after. */
BevTraffic cpu_passes_traffic(const BevProblem *problem, int64_t tile, BevSums sums);

/* Returns depth * weight of point t. */
CPU_INLINE float cpu_depth(const CpuStage *stage, const BevMap *map, int64_t t) {
    float depth = stage->depth[map->ranks_depth[t]];
    return map->weights ? depth * map->weights[t] : depth;
}

/* Adds scale * feat[c] to sums[c] for each channel: the inner loop of the CPU kernels. */
CPU_INLINE void cpu_add_scaled(float *restrict sums, const float *restrict feat, float scale,
                               int64_t channels) {
    CPU_SIMD
    for (int64_t c = 0; c < channels; c++)
        sums[c] += scale * feat[c];
}
