/* Where to cut a tensor's magnitudes off: what is kept is mapped onto a format, what lies above
 * saturates. */
#pragma once

#include "kernels/bevpool.h"
#include "src/scales/histogram.h"

/* How the magnitude that is kept is chosen. Candidates of the last two are the upper edges of the
 * linear histogram's bins, from bin 128 on.
 *   max         the largest magnitude: nothing saturates
 *   percentile  the least edge below which lie that many percent of all values, zeros too
 *   entropy     the least Kullback-Leibler divergence of the values from the quantised ones, as
 *               PyTorch Quantization and TensorRT define it: what saturates counts in the last bin,
 *               the bins of one code share their count evenly, without those that are empty, and
 *               the first bin counts as many as the second; of equals the largest. A code of a
 *               format of equal steps has an equal share of the range, one of FP8 the magnitudes
 *               that round to it
 *   mse         the least sum of squared errors after quantisation, of the bins' centres; of equals
 *               the smallest */
typedef enum {
    SCALE_MAX,
    SCALE_PERCENTILE,
    SCALE_ENTROPY,
    SCALE_MSE,
    SCALE_METHOD_COUNT
} ScaleMethod;

/* "max", and of INT8 features one a channel "max-channel"; NULL ends them. */
extern const char *const scale_method_names[SCALE_METHOD_COUNT + 1];
extern const char *const scale_channel_names[SCALE_METHOD_COUNT + 1];

/* Whether a tensor of this element format has a scale; whether it has one alone, on which a cut
 * bears, and none for each block. */
bool scale_exists(BevDtype element);
bool scale_is_single(BevDtype element);

/* The magnitude that is kept, 0 of an empty histogram. Entropy and mse depend on the element
 * format; where that has no single scale they take the largest. */
double scale_cut(const Histogram *histogram, ScaleMethod method, double percentile,
                 BevDtype element);

/* What quantising costs, as sums over values. Begins empty. */
typedef struct {
    double values, non_zero;
    double saturated;   /* values above the cut */
    double lost;        /* values other than 0 that become 0 */
    double error, norm; /* of squares: of the error, and of the values before */
} CutCost;

/* Adds what this cut costs the values of a histogram. */
void scale_cut_cost(const Histogram *histogram, double cut, BevDtype element, CutCost *cost);
