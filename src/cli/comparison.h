/* The model beside what was published and what was recorded, over the six configurations, with its
 * errors. */
#ifndef BEV_COMPARISON_H
#define BEV_COMPARISON_H

#include "src/cli/laboratory.h"

enum { COMPARISON_ROWS = 128 };

typedef struct {
    const Gpu *gpu;
    const char *config, *kernel; /* the published column, or the recorded kernel */
    BevDtype dtype;
    double known_us;
    bool recorded; /* else published */
    Prediction model;
    double calibrated_us; /* NaN: no column of V2+DO to calibrate with */
} ComparisonRow;

typedef struct {
    ComparisonRow rows[COMPARISON_ROWS];
    int count;
    double calibration;  /* of chains on the RTX PRO 6000: predict_with_chain */
    int calibrated_from; /* so many figures of V2+DO */
} Comparison;

/* Walks the streams of all six on all cores, half a minute of one; or, if `quick`, of canonical. */
bool comparison_make(const LabGpus *known, bool quick, Comparison *comparison, Err *err);

/* Rows off by more than `factor` either way, of those that are recorded or published; calibrated
 * where that is possible and `calibrated` asked for. */
int comparison_off(const Comparison *comparison, bool recorded, bool calibrated, double factor,
                   int *of);

/* Pairs of kernels on one configuration whose order the model has right, of the recorded rows. */
int comparison_order(const Comparison *comparison, int *of);

#endif
