/* What the memory model says of a rung on a GPU: values only. src/cachesim/predict.h makes them, views
 * show them, labelled as a model. */
#ifndef BEV_PREDICTION_H
#define BEV_PREDICTION_H

typedef enum { PART_DRAM, PART_L2, PART_ISSUE, PART_CHAIN, PART_COUNT } Part;
extern const char *const part_names[PART_COUNT]; /* "DRAM", "L2", "issue", "chain" */

typedef struct {
    double hit_rate; /* of sectors looked up in L2, as counters have it; NaN: there are none */
    double dram_read_bytes, dram_write_bytes;
    double part_us[PART_COUNT];
    Part binding; /* the longest part */
    double launch_us;
    double latency_us; /* the parts, combined, and the launch */
} Prediction;

#endif
