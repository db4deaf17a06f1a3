/* From profiles, which hold a count for every size of cache, to the few values that views need. */
#ifndef BEV_DIGEST_H
#define BEV_DIGEST_H

#include "src/cachesim/limits.h"
#include "src/cachesim/predict.h"
#include "src/cachesim/memory_model.h"

/* A model of that problem without any kernel so far; at most MODEL_GPUS GPUs. */
void digest_begin(MemoryModel *model, const BevProblem *problem, const Gpu *on, int count);

/* The ceilings of a GPU as its own probes found them, now or earlier, instead of the data sheet's.
 */
void digest_ceilings(MemoryModel *model, int gpu, const Limits *limits, FigureSource source);

/* Adds what was walked: a kernel of the model's own format, V3's two forms also of another one;
 * `problem` is what was walked. */
void digest_add(MemoryModel *model, const BevProblem *problem, const Profile *profile);

#endif
