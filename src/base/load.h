/* SPDX-License-Identifier: MIT */
/* Measures the share of the cores that other programs take. Large shares disturb measurements. */
#pragma once

typedef struct {
    int cores;
    double busy_s; /* time that the cores have worked, summed over the cores */
    double own_s;  /* CPU time of this process and its children */
    double wall_s;
} Load;

/* The machine counts as busy from this share of the cores. */
#define LOAD_BUSY 0.25

/* Reads the current times. */
Load load_now(void);

/* Returns the share of the cores, 0 to 1, that other programs took since `then`. A child process
 * counts as part of this process once it has been waited for. */
double load_of_others(const Load *then);
