/* SPDX-License-Identifier: MIT */
/* A CUDA kernel of your own. It is right, and slow.
 *
 *     bevscope try pool.cu           judges it, then times it beside the ladder
 *
 * IDEA    One thread an interval and channel: neighbouring threads own neighbouring channels.
 * WHO     out is 0 before the launch, which is in blocks of 256 threads, at least as many in all as
 *         there are intervals times channels. Threads beyond that must do nothing.
 * TRY     Two channels a thread. A warp an interval. Which loads can go ahead of their use?
 *
 * What p holds: p.points, p.intervals, p.channels, p.cells, and the arrays of samples/try/pool.h. */
#include "pool.h"

extern "C" __global__ void pool(Pool p) {
    long thread = blockIdx.x * (long)blockDim.x + threadIdx.x;
    long interval = thread / p.channels, c = thread % p.channels;
    if (interval >= p.intervals)
        return;
    long first = p.interval_starts[interval], end = first + p.interval_lengths[interval];
    float sum = 0;
    for (long t = first; t < end; t++)
        sum += p.depth[p.ranks_depth[t]] * p.feat[p.ranks_feat[t] * p.channels + c];
    p.out[p.ranks_bev[first] * p.channels + c] = sum;
}
