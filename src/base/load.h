/* What everybody else takes of the cores that this process may run on: how long something took says
 * nothing while that is much. */
#pragma once

typedef struct {
    int cores;
    double busy_s, own_s, wall_s; /* of the cores; of this process and its children; of the clock */
} Load;

/* From this share of the cores on, the machine counts as busy with other things. */
#define LOAD_BUSY 0.25

Load load_now(void);

/* The others' share of those cores since `then`, 0 to 1. Children are this process's own once they
 * have been waited for. */
double load_of_others(const Load *then);
