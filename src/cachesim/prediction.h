/* What the memory model says of a kernel on a GPU: values only. src/cachesim/predict.h makes them,
 * views show them, labelled as a model. */
#ifndef BEV_PREDICTION_H
#define BEV_PREDICTION_H

typedef enum { TERM_DRAM, TERM_L2, TERM_ISSUE, TERM_CHAIN, TERM_COUNT } LatencyTerm;
extern const char *const term_names[TERM_COUNT]; /* "DRAM", "L2", "issue", "chain" */

typedef struct {
    double hit_rate; /* of sectors looked up in L2, as counters have it; NaN: there are none */
    double dram_read_bytes, dram_write_bytes;
    double term_us[TERM_COUNT];
    LatencyTerm binding; /* the longest part */
    double launch_us;
    double latency_us; /* the parts, combined, and the launch */
} Prediction;

#endif
