/* SPDX-License-Identifier: MIT */
/* Tensor scenes that cannot be read: headers of arrays, their elements, sets of arrays, by
 * tests/scene/scripts/npz.arrays. */
#include "tests/scene/npz_arrays.h"
#include "tests/support/golden.h"

/* Carries out one change of the arrays: of a type or shape, an element, or which arrays there are.
 */
static void change(const char *edit) {
    static char name[64], to[64]; /* the arrays keep them */
    int element, count = 0;
    double value;
    if (sscanf(edit, " only %d", &count) == 1)
        array_count = count;
    else if (sscanf(edit, " without %63s", name) == 1)
        drop(name);
    else if (sscanf(edit, " %63[^[ ][%d] %lf", name, &element, &value) == 3)
        get(name)->values[element] = value;
    else if (sscanf(edit, " %63s is %63s", name, to) == 2)
        get(name)->name = to;
    else if (sscanf(edit, " %63s %63s %d", name, to, &count) >= 2) {
        Array *array = get(name);
        *(to[0] == '(' ? &array->shape : &array->descr) = to;
        if (count)
            array->count = count > 0 ? count : 0;
    }
}

static void begin(void) {
    read_base_once();
}

static void play(const char *edits, FILE *text) {
    char each[200], *edit;
    snprintf(each, sizeof each, "%s", edits);
    start("");
    add_weights();
    add_car();
    for (edit = strtok(each, ";"); edit; edit = strtok(NULL, ";"))
        change(edit);
    bool read = read_arrays();
    const bool refused = !read && refused_with("net.npz", "");
    fprintf(text, "    %s\n", read ? "read" : refused ? line : "not refused in one line");
}

/* The first bytes of an .npy: magic, version, length of the header. */
static void test_prefix(void) {
    const struct {
        const char *title, *bytes;
        size_t length;
        const char *words;
    } prefixes[] = {
        {"wrong magic", "\x93NUMPX\1\0\4\0{}  ", 14, "wrong magic"},
        {"version 4", "\x93NUMPY\4\0\4\0\0\0{}  ", 16, "npy version 4"},
        {"a header beyond the data", "\x93NUMPY\1\0\5\0{}  ", 14, "truncated"},
        {"an empty member", "", 0, "truncated"},
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        ZipMaker zip = {0};
        zip_stored(&zip, "depth.npy", prefixes[i].bytes, prefixes[i].length);
        refuses_zip(&zip, prefixes[i].title, prefixes[i].words);
    }
}

/* Of a header alone: there are no such arrays. */
static void test_output(void) {
    start("cal");
    reshape("bev_shape", "(2,)", 2);
    get("bev_shape")->values[0] = get("bev_shape")->values[1] = 4096;
    reshape("feat", "(2, 2, 3, 100)", 0);
    get("feat")->extra = (size_t)2 * 2 * 3 * 100 * 4;
    refuses("an output of 6.7 GB", "at most 2.147e+09");
}

TAP_SUITE(npz_refused_scripts) {
    begin();
    long mark = memory_mark();
    check_scripts("scene", "arrays", begin, play);
    test_prefix();
    test_output();
    tap_within_1_mb(mark, "all refused");
}
