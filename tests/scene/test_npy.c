/* SPDX-License-Identifier: MIT */
/* The header of one array: each type and shape that is written is read again, and what is odd or
 * wrong in a header's text is said in one line. */
#include "src/scene/npz.h"
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
        NpyArray array = {(NpyType)type, 0, {0}, 1, text ? 31 : 1, 0};
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

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DICT(descr_, order_, shape_)                                                               \
    "{'descr': " descr_ ", 'fortran_order': " order_ ", 'shape': " shape_ ", }"
#define HEADER(descr_, shape_) DICT("'" descr_ "'", "False", shape_)

static const struct {
    const char *title, *text, *words;
} refused[] = {
    {"a type of 288 letters", HEADER(LONG LONG LONG LONG, "(1,)"), "unknown dtype \"aaaa"},
    {"a length below 0", HEADER("|S-1", "(1,)"), "text of \"-1\" characters"},
    {"a length beyond all", HEADER("<U99999999999999999999", "(1,)"), "must be at most 1024"},
    {"an order that is missing", "{'descr': '<f4', 'fortran_order':", "no dictionary"},
    {"a shape that ends", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
     "not a tuple of whole"},
    {"a shape of words", HEADER("<f4", "(two, 3)"), "not a tuple of whole numbers"},
    {"keys in another order", "{'shape': (2,), 'descr': '<f4'}", "no dictionary"},
    {"double quotes", "{\"descr\": \"<f4\"}", "no dictionary"},
    {"a size of 2^63", HEADER("<f4", "(9223372036854775808,)"), "does not fit 64 bits"},
    {"Fortran order", DICT("'<f4'", "True", "(2, 3)"), "Fortran order...ascontiguousarray"},
    {"an order that is neither", DICT("'<f4'", "Maybe", "(2, 3, 2, 3)"), "fortran_order"},
    {"a structured type", DICT("[('a', '<f4')]", "False", "(2, 3, 2, 3)"), "structured dtype"},
    {"no dictionary", "hello", "no dictionary"},
    {"a string without an end", "{'descr': '<f4", "no dictionary"},
    {"a zero byte behind it", HEADER("<f4", "(1,)") "\0x", "no dictionary"},
};

static void test_refused(void) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        NpyArray array;
        bool zero = strstr(refused[i].title, "zero byte") != NULL; /* strlen would end there */
        bool read = read_text(refused[i].text, strlen(refused[i].text) + (zero ? 2 : 0), &array);
        tap_said(!read && refused_with("a.npy: ", refused[i].words), "%s", refused[i].title);
    }
}

TAP_SUITE(npy) {
    test_written();
    test_refused();
}
