/* What the model predicts, in words; the same in terminal and window. */
#ifndef BEV_PREDICTION_TEXT_H
#define BEV_PREDICTION_TEXT_H

#include "src/state/live_data.h"

/* The kernel that stands for the selection on the what-if GPU, NULL where nothing is known (yet).
 */
const PredictedKernel *prediction_kernel(const State *state, const LiveData *live);

/* Its prediction there; only where the kernel is known. */
const Prediction *prediction_of(const State *state, const PredictedKernel *predicted);

/* "RTX A6000", "RTX A6000 with 16 MB of L2". */
void prediction_gpu(const State *state, char *text, size_t size);

/* "V3 LARGE on RTX A6000: 41.2 µs, the chain binds". */
void prediction_latency(const State *state, const LiveData *live, char *text, size_t size);

/* "3.8 sectors a request"; "n/a sectors a request" where no request was made. */
void prediction_sectors(const PredictedKernel *predicted, char *text, size_t size);

/* "L2 hits 95.2 % of reads, DRAM 1.2 MB, 3.8 sectors a request". */
void prediction_memory(const State *state, const LiveData *live, char *text, size_t size);

/* "Model, L2 warm. The CPU runs V3: its CUDA twin is meant." */
void prediction_origin(const LiveData *live, char *text, size_t size);

#endif
