/* SPDX-License-Identifier: MIT */
/* A small scene for tests of .npz: its arrays, which a test changes, the archive of them, and what
 * reading it says. */
#pragma once

#include "kernels/codec.h"
#include "src/scene/npz.h"
#include "src/scene/scene.h"
#include "tests/scene/zipmaker.h"
#include "tests/support/memory.h"
#include "tests/support/refused.h"

#include <math.h>

/* ---- a small scene: 2 cameras, 3 bins, 2 x 3 features of 4 channels, 3 x 4 cells ------------- */

typedef struct {
    const char *name, *descr, *shape;
    int count;
    double values[160];
    const char *header; /* replaces the header made from descr and shape */
    size_t extra;       /* bytes beyond the elements */
} Array;

static const Array base[] = {
    {"depth", "<f4", "(2, 3, 2, 3)", 36, .values = {[5] = 0.25, [7] = 1, [35] = 0.5}},
    {"feat", "<f4", "(2, 2, 3, 4)", 48, .values = {[0] = 1, [1] = -2.5, [47] = 100}},
    {"intrinsics", "<f8", "(2, 3, 3)", 18,
     .values = {60, 0, 48, 0, 60, 30, 0, 0, 1, 50, 0, 48, 0, 50, 30, 0, 0, 1}},
    {"cam2ego", "<f8", "(2, 4, 4)", 32,
     .values = {0, 0, 1,  1.5, -1, 0, 0, 0.25, 0, -1, 0, 1.25, 0, 0, 0, 1,
                0, 0, -1, -1,  1,  0, 0, 0,    0, -1, 0, 1.25, 0, 0, 0, 1}},
    {"image_size", "<i8", "(2,)", 2, .values = {32, 48}},
    {"resize", "<f8", "()", 1, .values = {0.5}},
    {"crop", "<i8", "(4,)", 4, .values = {0, 10, 48, 42}},
    {"depth_range", "<f4", "(3,)", 3, .values = {1, 4, 1}},
    {"grid", "<f8", "(3, 3)", 9, .values = {-4, 4, 2, -3, 3, 2, -5, 5, 10}},
    {"ranks_depth", "<i4", "(5,)", 5, .values = {5, 7, 0, 35, 1}},
    {"ranks_feat", "<i4", "(5,)", 5, .values = {5, 1, 0, 11, 1}},
    {"ranks_bev", "<i4", "(5,)", 5, .values = {1, 1, 4, 11, 11}},
    {"interval_starts", "<i4", "(3,)", 3, .values = {0, 2, 3}},
    {"interval_lengths", "<i4", "(3,)", 3, .values = {2, 1, 2}},
    {"bev_shape", "<i8", "(5,)", 5, .values = {1, 1, 3, 4, 4}},
};
enum { BASE = sizeof base / sizeof *base, CALIBRATION = 2, INDEX = 9 };
#define INDEX_ARRAYS "ranks_depth ranks_feat ranks_bev interval_starts interval_lengths"

/* What a car saw besides: 2 photographs of 2 x 3 pixels, the shape of image_size. */
static const Array car[] = {
    {"images", "|u1", "(2, 2, 3, 3)", 36, .values = {[0] = 200, [4] = 100, [35] = 255}},
    {"camera_names", "<U5", "(2,)", 10, .values = {'l', 'e', 0xe9, 't', 0, 'a', 7, 'b', 0, 0}},
    {"boxes", "<f4", "(2, 7)", 14, .values = {3, -2, 1, 4, 2, 1.5, 0.5, 0, 0, 0, 0.5, 0.5, 2, 0}},
    {"box_labels", "|S3", "(2,)", 6, .values = {'c', 'a', 'r', 'm', 0, 0}},
    {"lidar", "<f4", "(3, 4)", 12, .values = {1, 2, 3, 9, NAN, 0, 0, 9, -4, -5, -6, 9}},
    {"timestamps", "<f8", "(2,)", 2, .values = {10, 10.5}},
};
enum { CAR = sizeof car / sizeof *car };

static Array arrays[BASE + CAR + 4];
static int array_count;

/* The base without the arrays of a group: "cal" or "idx"; or without none. */
static inline void start(const char *without) {
    array_count = 0;
    for (int i = 0; i < BASE; i++) {
        bool calibration = i >= CALIBRATION && i < INDEX, index = i >= INDEX;
        if (!(calibration && strcmp(without, "cal") == 0) &&
            !(index && strcmp(without, "idx") == 0))
            arrays[array_count++] = base[i];
    }
}

static inline Array *get(const char *name) {
    for (int i = 0; i < array_count; i++)
        if (strcmp(arrays[i].name, name) == 0)
            return &arrays[i];
    return NULL;
}

static inline void add(Array array) {
    arrays[array_count++] = array;
}

static inline void add_weights(void) {
    add((Array){"weights", "<f4", "(5,)", 5, {1, 0.5, 0.25, 1, 0.75}, NULL, 0});
}

static inline void add_car(void) {
    for (int i = 0; i < CAR; i++)
        add(car[i]);
}

/* Another shape of some arrays, with so many elements. */
static inline void reshape(const char *names, const char *shape, int count) {
    char list[80], *name;
    snprintf(list, sizeof list, "%s", names);
    for (name = strtok(list, " "); name; name = strtok(NULL, " ")) {
        get(name)->shape = shape;
        get(name)->count = count;
    }
}

static inline void drop(const char *name) {
    Array *array = get(name);
    *array = arrays[--array_count];
}

/* Of an unsupported type the elements do not matter. */
static inline size_t encode(const Array *array, int i, unsigned char bytes[8]) {
    const char kind = array->descr[1], digit = array->descr[2];
    double value = array->values[i];
    float single = (float)value;
    uint16_t half = (uint16_t)bev_code(BEV_FP16, single);
    int64_t whole = isfinite(value) ? (int64_t)value : 0;
    size_t size = kind == 'S' || kind == 'u'   ? 1
                  : kind == 'i' || kind == 'f' ? (size_t)(digit - '0')
                                               : 4;
    const void *from = kind != 'f' ? (void *)&whole /* of text an element is a character */
                       : size == 2 ? (void *)&half
                       : size == 4 ? (void *)&single
                                   : &value;
    memcpy(bytes, from, size);
    return size;
}

static inline Buffer make_npy(const Array *array) {
    Buffer npy = {0}, data = {0};
    char header[256];
    unsigned char element[8] = {0};
    for (int i = 0; i < array->count; i++)
        buffer_add(&data, element, encode(array, i, element));
    for (size_t i = 0; i < array->extra; i++)
        buffer_add(&data, "", 1);
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
             array->descr, array->shape);
    npy_add(&npy, array->header ? array->header : header, data.bytes, data.length);
    free(data.bytes);
    return npy;
}

/* Adds a member that is deflated into one block, which is not compressed: at most 64 KiB.
 * `declared`: its length by the directory. */
static inline void add_deflated(ZipMaker *zip, const char *file, Buffer npy, uint32_t declared) {
    Buffer block = {0};
    /* the last block, not compressed */
    buffer_add_fields(&block, "122", (uint64_t[]){1, npy.length, ~npy.length});
    buffer_add(&block, npy.bytes, npy.length);
    zip_entry(zip, file, block.bytes, block.length, 8, 0, declared,
              (uint32_t)crc32(0, npy.bytes, (uInt)npy.length));
    free(block.bytes);
}

static inline void add_to(ZipMaker *zip, const Array *array) {
    char file[80];
    Buffer npy = make_npy(array);
    snprintf(file, sizeof file, "%s.npy", array->name);
    zip_stored(zip, file, npy.bytes, npy.length);
    free(npy.bytes);
}

static inline ZipMaker make_zip(void) {
    ZipMaker zip = {0};
    for (int i = 0; i < array_count; i++)
        add_to(&zip, &arrays[i]);
    return zip;
}

static inline Buffer make_archive(void) {
    ZipMaker zip = make_zip();
    zip_end(&zip);
    return zip.archive;
}

static Scene scene; /* what was read last; the next reading frees it */

static inline bool read_bytes(Buffer bytes) {
    scene_free(&scene);
    return keep_line(scene_read_npz(file_of(bytes.bytes, bytes.length), "net.npz", &scene, &err));
}

static inline bool read_arrays(void) {
    Buffer archive = make_archive();
    bool ok = read_bytes(archive);
    free(archive.bytes);
    return ok;
}

/* Reads the base and drops it: the first scene can make libzip allocate for good, which is no
 * memory of what a test measures after it. */
static inline void read_base_once(void) {
    start("");
    read_arrays();
    scene_free(&scene);
}

static inline void refuses_bytes(Buffer archive, const char *title, const char *words) {
    tap_said(!read_bytes(archive) && refused_with("net.npz", words), "%s", title);
    free(archive.bytes);
}

static inline void refuses_zip(ZipMaker *zip, const char *title, const char *words) {
    zip_end(zip);
    refuses_bytes(zip->archive, title, words);
}

static inline void refuses(const char *title, const char *words) {
    refuses_bytes(make_archive(), title, words);
}

static inline bool accepts(const char *title) {
    return tap_said(read_arrays(), "%s", title);
}
