/* A gradient of the output from a .npy file, as a training loop saves it: numpy.save of an array of
 * the shape (ny, nx, channels). */
#pragma once

#include "kernels/bevpool.h"
#include "src/scene/npz.h"

typedef struct {
    float *values; /* (ny, nx, channels) */
    NpyArray array;
    char where[128];       /* the end of the path, for messages */
    int64_t nan, infinite; /* number of its values that are not finite: NaN, infinite */
    int64_t first;         /* the first that is no finite number; -1: none */
} GradOutFile;

/* Reads float16, float32 or float64 of three axes; what float32 cannot hold becomes infinite. The
 * data must have exactly the size that the header says. Free with grad_out_free. */
bool grad_out_load(GradOutFile *file, const char *path, Err *err);
bool grad_out_read(GradOutFile *file, const void *bytes, size_t length, const char *where,
                   Err *err);
void grad_out_free(GradOutFile *file); /* accepts a zeroed one */

/* Whether it has the shape of the output of such a problem. */
bool grad_out_fits(const GradOutFile *file, const BevShape *shape, Err *err);

/* "FILE: 3 of 1024 values are NaN, 2 infinite, the first at [0, 4, 7]"; "": all are finite. */
void grad_out_describe(const GradOutFile *file, char *text, size_t size);
