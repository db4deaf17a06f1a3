/* SPDX-License-Identifier: MIT */
/* The problem that a kernel of your own gets, in C or in CUDA: BEV pooling in FP32.
 *
 *     out[ranks_bev[t]][c] += depth[ranks_depth[t]] * feat[ranks_feat[t]][c]
 *
 * for every point t and every channel c. Points are sorted by cell: the points of one cell are an
 * interval. Interval i holds the points interval_starts[i] to
 * interval_starts[i] + interval_lengths[i] - 1. A cell without points has no interval. Arrays are
 * aligned to 4 bytes, not more. */
#pragma once

typedef struct {
    long points, intervals, channels, cells;
    const int *ranks_depth, *ranks_feat, *ranks_bev;     /* [points] */
    const int *interval_starts, *interval_lengths;       /* [intervals] */
    const float *depth;                                  /* one value for each pixel and bin */
    const float *feat;                                   /* rows of `channels` values */
    float *out;                                          /* [cells] rows of `channels` values */
} Pool;

#ifdef __CUDACC__
/* Yours, in a .cu file. Pointers are the device's, and out is 0 before the launch. At least
 * intervals * channels threads are launched, in blocks of 256. */
extern "C" __global__ void pool(Pool p);
#else
/* Yours, in a .c file. It must write every element of `out`, those of empty cells too: before the
 * call they are NaN. It may write nothing else. */
void pool(const Pool *p);
#endif
