/* From a rung's stream and a GPU's published facts to DRAM bytes and a latency: the longest of four
 * parts that overlap, plus the launch. A model, to be shown as such. It knows nothing of any
 * measurement of the problem at hand; the constants it needs beyond data sheets stand in predict.c,
 * each with its source. */
#ifndef BEV_PREDICT_H
#define BEV_PREDICT_H

#include "src/bench/stream.h"
#include "src/model/gpus.h"

/* What a rung does with a problem, on any GPU. */
typedef struct {
    const StreamRung *rung;
    BevDtype dtype;
    int tile;
    StreamCounts counts;
    ReuseCurve cold, warm;
    double cleared_bytes; /* by a launch of its own before the kernel; 0: none */
} Profile;

/* Walks the stream; about a tenth of a second a million accesses. */
bool profile_make(const StreamRung *rung, const BevProblem *problem, Profile *profile, Err *err);
void profile_free(Profile *profile);

typedef enum { PART_DRAM, PART_L2, PART_ISSUE, PART_CHAIN, PART_COUNT } Part;
extern const char *const part_names[PART_COUNT];

typedef struct {
    double hit_rate; /* of the accesses that read; NaN: there are none */
    double dram_read_bytes, dram_write_bytes;
    double part_us[PART_COUNT];
    Part binding; /* the longest part */
    double launch_us;
    double latency_us; /* the binding part and the launch */
} Prediction;

/* With the L2 as the run before left it, or empty (`warm` false). */
Prediction predict(const Profile *profile, const Gpu *gpu, bool warm);

/* The ceilings that the model takes a GPU to have. */
double predict_dram_gbps(const Gpu *gpu);
double predict_l2_gbps(const Gpu *gpu);
double predict_fp32_gflops(const Gpu *gpu);

/* Factor that brings the model's V2+DO to the published one, over the configurations that were
 * published for the GPU (geometric mean of `count` ratios published / predicted); the one thing
 * ever fitted. NaN without any. */
double predict_calibration(const double *ratios, int count);

#endif
