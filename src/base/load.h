/* Share of the cores that other programs take. A measured time says nothing while that share is
 * large. */
#pragma once

typedef struct {
    int cores;
    double busy_s, own_s, wall_s; /* of the cores; of this process and its children; of the clock */
} Load;

/* From this share of the cores on, the machine counts as busy. */
#define LOAD_BUSY 0.25

Load load_now(void);

/* The share of the cores that other programs took since `then`, 0 to 1. Children count as this
 * process's own once they have been waited for. */
double load_of_others(const Load *then);
