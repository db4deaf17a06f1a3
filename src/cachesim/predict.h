/* From a kernel's stream and a GPU's published facts to DRAM bytes and a latency: four parts that
 * overlap, and the launch. A model, to be shown as such. The constants it needs beyond data sheets
 * stand in predict.c, each with its source. Parts overlap, but not perfectly: they are combined as
 * the root of the sum of their squares, between the longest and the sum. That form was chosen with
 * 18 recorded H200 latencies in view (samples/experiments/ladder.md): the longest part alone was
 * off by more than 30 % on three of them, this on none. One constant comes from a recorded latency,
 * none from the published ones of the other two GPUs. */
#ifndef BEV_PREDICT_H
#define BEV_PREDICT_H

#include "src/cachesim/trace.h"
#include "src/cachesim/gpus.h"
#include "src/cachesim/prediction.h"

/* What a kernel does with a problem, on any GPU. */
typedef struct {
    const AccessPattern *pattern;
    BevDtype dtype;
    int tile;
    TraceCounts counts;
    ReuseCurves whole, divided; /* in an L2 of one partition, and of two */
    double cleared_bytes;       /* by a launch of its own before the kernel; 0: none */
    double encoded;             /* sums, by another after it, into so many bytes; 0: none */
    double encoded_bytes;
} Profile;

/* Walks the stream; a tenth of a second a million accesses at most. `watch` may be NULL. */
bool profile_make(const AccessPattern *pattern, const BevProblem *problem, const TraceWatch *watch,
                  Profile *profile, Err *err);
void profile_free(Profile *profile);

/* Whether some lines stood for all. */
bool profile_is_sampled(const Profile *profile);

/* With the L2 as the run before left it, or empty (`warm` false). */
Prediction predict(const Profile *profile, const Gpu *gpu, bool warm);

/* The ceilings that the model takes a GPU to have. */
double predict_dram_gbps(const Gpu *gpu);
double predict_l2_gbps(const Gpu *gpu);
double predict_fp32_gflops(const Gpu *gpu);

/* The latency if the longest walk took `walk` times as long. */
double predict_replaying(const Prediction *prediction, double walk);

/* The `walk` with which V2+DO takes as long as published, in the geometric mean over `count`
 * configurations; the one thing ever fitted. The model walks our maps; how long the longest
 * interval of the article's is was not published, and V2+DO is the kernel that waits for nothing
 * else. Between 0 and 16; NaN without any. */
double predict_calibration(const Prediction *predictions, const double *known_us, int count);

#endif
