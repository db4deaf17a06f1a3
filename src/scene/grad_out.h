/* SPDX-License-Identifier: MIT */
/* Reads the output's gradient from a .npy file of shape (ny, nx, channels), made by numpy.save. */
#pragma once

#include "kernels/bevpool.h"
#include "src/scene/npz.h"

typedef struct {
    float *values; /* (ny, nx, channels) */
    NpyArray array;
    const char *path;      /* for messages, borrowed */
    int64_t nan, infinite; /* the numbers of NaN and of infinite values */
    int64_t first;         /* index of the first value that is not finite; -1: none */
} GradOutFile;

/* Read float16, float32 or float64 with three axes. Values beyond float32's range become infinite.
 * The data must have exactly the size in the header. Free with grad_out_free. */
bool grad_out_load(GradOutFile *grad, const char *path, Err *err);
bool grad_out_read(GradOutFile *grad, FILE *file, const char *path, Err *err);
void grad_out_free(GradOutFile *grad); /* accepts a zeroed struct */

/* Checks that the gradient has the shape of the output of a problem of this shape. */
bool grad_out_check_shape(const GradOutFile *grad, const BevShape *shape, Err *err);

/* Writes "FILE: 3 of 1024 values are NaN, 2 infinite, the first at [0, 4, 7]". "": none. */
void grad_out_describe(const GradOutFile *grad, char *text, size_t size);
