/* SPDX-License-Identifier: MIT */
#include "src/scene/grad_out.h"

#include "src/base/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3 };

bool grad_out_read(GradOutFile *grad, FILE *file, const char *path, Err *err) {
    const NpyArray *array = &grad->array;
    char shape[128];
    void *values;
    *grad = (GradOutFile){.path = path, .first = -1};
    if (!npy_read_file(file, path, NPY_F4, &grad->array, &values, err))
        return false;
    grad->values = values;
    npy_shape_text(array, shape, sizeof shape);
    if (array->rank != AXES || array->count < 1) {
        grad_out_free(grad);
        return err_set(err, ERR_FAILED, path, "",
                       "grad_out has the shape %s, must be (ny, nx, channels)", shape);
    }
    for (int64_t i = 0; i < array->count; i++) {
        grad->nan += isnan(grad->values[i]) != 0;
        grad->infinite += isinf(grad->values[i]) != 0;
        if (!isfinite(grad->values[i]) && grad->first < 0)
            grad->first = i;
    }
    return true;
}

bool grad_out_load(GradOutFile *grad, const char *path, Err *err) {
    FILE *file = data_open(path, err);
    *grad = (GradOutFile){.first = -1};
    bool ok = file && grad_out_read(grad, file, path, err);
    if (file)
        fclose(file);
    return ok;
}

void grad_out_free(GradOutFile *grad) {
    free(grad->values);
    grad->values = NULL;
}

bool grad_out_check_shape(const GradOutFile *grad, const BevShape *shape, Err *err) {
    const int64_t want[AXES] = {shape->ny, shape->nx, shape->channels};
    char has[128];
    if (!memcmp(grad->array.shape, want, sizeof want))
        return true;
    npy_shape_text(&grad->array, has, sizeof has);
    return err_set(err, ERR_FAILED, grad->path, "",
                   "grad_out has the shape %s, must be (ny, nx, channels) = (%lld, %lld, %lld)",
                   has, (long long)want[0], (long long)want[1], (long long)want[2]);
}

void grad_out_describe(const GradOutFile *grad, char *text, size_t size) {
    text[0] = '\0';
    if (grad->first >= 0)
        snprintf(text, size,
                 "%s: grad_out: %lld of %lld values are NaN, %lld infinite, the first at %s",
                 grad->path, (long long)grad->nan, (long long)grad->array.count,
                 (long long)grad->infinite, npz_place("", &grad->array, grad->first).text);
}
