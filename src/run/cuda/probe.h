/* Small kernels that do one thing and nothing else, as fast as the open device can: what they reach
 * are its limits. Only in builds with CUDA. */
#ifndef BEV_PROBE_H
#define BEV_PROBE_H

#include "kernels/err.h"
#include "src/cachesim/limits.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds out the limits whose bits (1u << Limit) are set, the fastest of a few runs each; the others
 * stay unknown. All of them take some tenths of a second, the bandwidths alone a tenth. */
bool probe_limits(unsigned which, Limits *limits, Err *err);

enum { PROBE_ALL = (1 << LIMIT_COUNT) - 1 };

#ifdef __cplusplus
}
#endif
#endif
