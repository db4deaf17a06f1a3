/* SPDX-License-Identifier: MIT */
/* A kernel of your own. It is right, and slow.
 *
 *     bevscope try pool.c            judges it, then times it beside the ladder
 *
 * IDEA    The formula as it stands: clear the output, then go from point to point.
 * COST    Each point reads and writes a whole row of the output, for 12 bytes of indices.
 * TRY     Go from interval to interval instead, with the sum of a cell in a local array, and write
 *         each row once. Then give the intervals to all cores: #pragma omp parallel for.
 *         Then CFLAGS="-O3 -march=native" bevscope try pool.c
 *
 * p->points, p->intervals, p->channels, p->cells             how many there are
 * p->ranks_depth, p->ranks_feat, p->ranks_bev                [points]: of a depth, a row, a cell
 * p->interval_starts, p->interval_lengths                    [intervals]: points of one cell
 * p->depth, p->feat                                          values, rows of `channels` values
 * p->out                                                     a row for each cell: write them all */
#include "pool.h"

void pool(const Pool *p) {
    for (long i = 0; i < p->cells * p->channels; i++)
        p->out[i] = 0;
    for (long t = 0; t < p->points; t++)
        for (long c = 0; c < p->channels; c++)
            p->out[p->ranks_bev[t] * p->channels + c] +=
                p->depth[p->ranks_depth[t]] * p->feat[p->ranks_feat[t] * p->channels + c];
}
