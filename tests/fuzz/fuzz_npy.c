/* SPDX-License-Identifier: MIT */
/* Fuzz target: a gradient of the output, a .npy file, from any bytes. */
#include "src/scene/problem.h"
#include "tests/fuzz/fuzz.h"

static void check_values(const GradOutFile *file) {
    const int64_t *shape = file->array.shape;
    int64_t odd = 0, first = -1;
    char text[256];
    fuzz_accepted++;
    for (int64_t i = 0; i < file->array.count; i++)
        if (!(file->values[i] - file->values[i] == 0)) {
            odd++;
            first = first < 0 ? i : first;
        }
    must(npy_is_float(file->array.type), "only fractions are taken", "");
    must(file->array.rank == 3 && file->array.count == shape[0] * shape[1] * shape[2], "three axes",
         "");
    must(odd == file->nan + file->infinite && first == file->first, "odd values are counted", "");
    grad_out_describe(file, text, sizeof text);
    must(!text[0] == !odd, "and told", text);
}

FUZZ_TARGET(npy, 4) {
    GradOutFile grad;
    Err err = {0};
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (!file)
        return 0;
    if (grad_out_read(&grad, file, "fuzz.npy", &err)) {
        check_values(&grad);
        grad_out_free(&grad);
    } else
        check_error(&err, !grad.values, NULL);
    return 0;
}
