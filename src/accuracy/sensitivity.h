/* SPDX-License-Identifier: MIT */
/* Measures the error that the number format of one tensor causes alone. The tensor is encoded and
 * decoded with the scales of the problem. Nothing else is rounded: all other tensors stay FP32,
 * sums are FP64, and no kernel runs. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/run/bench.h"

/* TENSOR_ALL: all three tensors have the same format, as a kernel stores them. TENSOR_MIXED: each
 * of the three tensors has its own format. */
typedef enum {
    TENSOR_DEPTH,
    TENSOR_FEATURES,
    TENSOR_OUTPUT,
    TENSOR_ALL,
    TENSOR_MIXED,
    TENSOR_COUNT
} SensitiveTensor;
extern const char *const sensitive_names[TENSOR_COUNT]; /* "depth", "features", "output" ... */

enum { SENSITIVITY_GROUP = 16 }; /* channels */

/* The error of a tensor, or of a group of its channels, in a format on a scene. */
typedef struct {
    char scene[300];
    BevDtype dtype;              /* the format; in TENSOR_MIXED the format of the features */
    BevDtype stored[TENSOR_ALL]; /* the number format in which each tensor is stored */
    BevAlign align;
    char scales[64]; /* the label of the format's scales: ranges_label() */
    SensitiveTensor tensor;
    int64_t first_channel, channels; /* the group of channels; channels 0: the whole tensor */
    int64_t grid_channels;
    double bytes; /* bytes of the tensor or group as stored */
    int moments;
    double time_s;     /* the moment of the largest error */
    FormatError error; /* the error of the grid, or of the group's channels, at all moments */
    double grid2;      /* the sum of the squares of all values of the grid, in FP64 */
} SensitivityRow;

typedef struct {
    SensitivityRow *rows; /* the caller frees the rows, also after a failure */
    int count;
} SensitivityRows;

/* Adds a row for each scene, format and tensor of the plan. Rows for groups of channels follow the
 * rows of features and of output. The error of a group counts only the group's channels of the
 * grid. The plan's kernels and timing options are not used. `mixed` has the formats of depth,
 * features and output for a further row of each scene. `mixed` NULL: no further row. */
bool sensitivity_run(const BenchPlan *plan, const BevDtype *mixed, SensitivityRows *rows, Err *err);
