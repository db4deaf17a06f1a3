/* SPDX-License-Identifier: MIT */
/* Chooses the magnitude at which a tensor is cut off. Magnitudes up to the cut are mapped onto a
 * format; larger ones saturate. */
#pragma once

#include "kernels/bevpool.h"
#include "src/scales/histogram.h"

/* How the cut is chosen. Entropy and mse try the upper edges of the linear histogram's bins, from
 * bin 128 on.
 *   max         the largest magnitude: nothing saturates
 *   percentile  the least bin edge with that many percent of all values, zeros included, below it
 *   entropy     the least Kullback-Leibler divergence of the values from the quantised values, as
 *               PyTorch Quantization and TensorRT define it. Saturated values count in the last
 *               bin. The filled bins of a code share the code's count evenly. The first bin counts
 *               as many values as the second. Of equally good cuts the largest is taken. INT8 codes
 *               have equal ranges of magnitudes; an FP8 code has the magnitudes that round to it
 *   mse         the least sum of squared errors of the bins' centres after quantisation; of
 *               equally good cuts the smallest is taken */
typedef enum {
    SCALE_MAX,
    SCALE_PERCENTILE,
    SCALE_ENTROPY,
    SCALE_MSE,
    SCALE_METHOD_COUNT
} ScaleMethod;

/* Names of the methods: "max", and "max-channel" for INT8 features with a scale a channel. NULL
 * ends the lists. */
extern const char *const scale_method_names[SCALE_METHOD_COUNT + 1];
extern const char *const scale_channel_names[SCALE_METHOD_COUNT + 1];

/* scale_exists returns whether tensors of this element format have a scale. scale_is_single returns
 * whether they have one scale and no block scales. A cut has an effect only on a single scale. */
bool scale_exists(BevDtype element);
bool scale_is_single(BevDtype element);

/* Returns the cut that the method chooses; 0 for an empty histogram. Entropy and mse depend on the
 * element format. Without a single scale they return the largest magnitude. */
double scale_cut(const Histogram *histogram, ScaleMethod method, double percentile,
                 BevDtype element);

/* The cost of quantising, as sums over values. A zeroed struct is an empty sum. */
typedef struct {
    double values, non_zero;
    double saturated;   /* values above the cut */
    double underflow;   /* values other than 0 that become 0 */
    double error, norm; /* sums of squares: of errors, and of the values before quantising */
} CutCost;

/* Adds the cost of quantising a histogram's values with this cut to `cost`. */
void scale_cut_cost(const Histogram *histogram, double cut, BevDtype element, CutCost *cost);
