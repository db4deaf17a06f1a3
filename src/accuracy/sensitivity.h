/* What the number format of one tensor costs by itself. The tensor is encoded and decoded with the
 * scales of the problem, all else stays FP32, and sums are FP64: no kernel is needed, and no
 * rounding but that of the tensor is in the figures. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/run/bench.h"

/* TENSOR_ALL: the three together, as a kernel of the format stores them; TENSOR_MIXED: together,
 * each as a format of its own stores it. */
typedef enum {
    TENSOR_DEPTH,
    TENSOR_FEATURES,
    TENSOR_OUTPUT,
    TENSOR_ALL,
    TENSOR_MIXED,
    TENSOR_COUNT
} SensitiveTensor;
extern const char
    *const sensitive_names[TENSOR_COUNT]; /* "depth", "features", "output", "all" ... */

enum { SENSITIVITY_GROUP = 16 }; /* channels */

typedef struct {
    const char *scene;
    double time_s;
    BevDtype dtype;              /* of TENSOR_MIXED that of the features */
    BevDtype stored[TENSOR_ALL]; /* what the format has for each tensor */
    BevAlign align;
    char scales[64]; /* by which the format is scaled: ranges_label() */
    SensitiveTensor tensor;
    int64_t first_channel, channels; /* of a group; channels 0: the whole tensor */
    FormatError error;               /* of a group: of its channels, against these alone */
    int64_t grid_channels;
    double grid2; /* sum of the squares of the whole grid in FP64 */
    double bytes; /* as stored */
} SensitivityRow;

/* Calls `row` for each moment, format and tensor of the plan; after features and output for each
 * group of their channels, whose errors reach these channels of the grid alone. Of the plan it uses
 * scenes, moments, dtypes, aligns and workload. `mixed`, unless NULL: formats of depth, features
 * and output, which make a further row of each moment. */
bool sensitivity_run(const BenchPlan *plan, const BevDtype *mixed,
                     void (*row)(const SensitivityRow *row, void *context), void *context,
                     Err *err);
