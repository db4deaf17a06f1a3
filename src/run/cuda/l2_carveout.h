/* A part of the L2 taken away from everybody: set aside for persisting accesses, and filled with
 * lines that nobody uses. What is left behaves like a smaller L2. One for the process, as it is one
 * for the device. Only in builds with CUDA. */
#ifndef BEV_L2_CARVEOUT_H
#define BEV_L2_CARVEOUT_H

#include "kernels/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets `bytes` of the open device's L2 aside, or a little more where the driver rounds up; 0 gives
 * all of it back. Fails with one line where the driver refuses: a GPU that cannot, a MIG slice,
 * more than it allows. */
bool l2_carveout_set(int64_t bytes, Err *err);

/* What the driver granted; 0: nothing is set aside. */
int64_t l2_carveout_bytes(void);

/* How much of it the unused lines still held when they were last looked at: after the sample before
 * the last one that was timed. Told by the latency of loads from them. */
bool l2_carveout_held(double *bytes, Err *err);

#ifdef __cplusplus
}
#endif
#endif
