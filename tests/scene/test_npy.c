/* SPDX-License-Identifier: MIT */
/* The header of one array: each type and shape that is written is read again, and what is odd or
 * wrong in a header's text is said in one line. */
#include "src/scene/npz.h"
#include "tests/support/golden.h"
#include "tests/support/refused.h"

static bool read_text(const char *text, size_t length, NpyArray *array) {
    return keep_line(npy_read_header(text, length, "a.npy", array, &err));
}

static bool comes_back(const NpyArray *array) {
    char header[NPY_WRITTEN_BYTES];
    NpyArray again;
    size_t length = npy_write_header(array, header);
    size_t bytes = length + (size_t)array->count * npy_element_bytes(array);
    return length % 64 == 0 && header[length - 1] == '\n' &&
           npy_read_start(header, length, bytes, "a.npy", &again, &err) && again.start == length &&
           again.type == array->type && again.rank == array->rank && again.count == array->count &&
           again.characters == array->characters &&
           !memcmp(again.shape, array->shape, sizeof again.shape);
}

static void test_written(void) {
    for (int type = 0; type < NPY_TYPE_COUNT; type++) {
        bool text = type == NPY_S || type == NPY_U;
        NpyArray array = {(NpyType)type, 0, {0}, 1, text ? 31 : 1, 0, 0};
        bool ok = comes_back(&array);
        for (array.rank = 1; ok && array.rank <= NPY_MAX_RANK; array.rank++) {
            array.shape[array.rank - 1] = array.rank + 1;
            array.count *= array.rank + 1;
            ok = comes_back(&array);
        }
        tap_ok(ok, "%s, 0 to %d axes, is read as it was written", npy_types[type].name,
               NPY_MAX_RANK);
    }
}

static void begin(void) {}

static void play(const char *header, FILE *text) {
    NpyArray array;
    bool read = read_text(header, strlen(header), &array);
    fprintf(text, "    %s\n", read ? "read" : line);
}

/* tests/scene/scripts/npy.headers; and a header with a zero byte behind it, where strlen() ends. */
TAP_SUITE(npy_scripts) {
    static const char zero[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\0x";
    NpyArray array;
    check_scripts("scene", "headers", begin, play);
    tap_said(!read_text(zero, sizeof zero - 1, &array) && refused_with("a.npy: ", "no dictionary"),
             "a zero byte");
}

TAP_SUITE(npy) {
    test_written();
}
