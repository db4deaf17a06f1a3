/* Fuzz target: a gradient of the output, a .npy file, from any bytes. */
#include "src/scene/grad_out.h"
#include "tests/fuzz/check_scene.h"
#include "tests/fuzz/fuzz.h"

static void check_values(const GradOutFile *file) {
    const int64_t *shape = file->array.shape;
    int64_t odd = 0, first = -1;
    char text[256];
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

FUZZ_TARGET(npy) {
    GradOutFile file;
    Err err = {0};
    char line[800];
    if (grad_out_read(&file, data, size, "fuzz.npy", &err)) {
        check_values(&file);
        grad_out_free(&file);
        return 0;
    }
    err_line(&err, line, sizeof line);
    must(err.kind == ERR_FAILED && err.what[0] && !file.values, "a refusal says what is wrong",
         line);
    must(strncmp(err.where, "fuzz", 4) == 0, "a refusal names the file", line);
    for (const char *c = line; *c; c++)
        must((unsigned char)*c >= 0x20 && *c != 0x7f, "one line without control codes", line);
    return 0;
}
