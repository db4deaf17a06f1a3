/* SPDX-License-Identifier: MIT */
/* Writes archives. */
#include "src/scene/npz.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

static bool refuse_writing(const char *doing, zip_error_t *error, Err *err) {
    return err_set(err, ERR_FAILED, "npz", "", "cannot %s: %s", doing, zip_error_strerror(error));
}

bool npz_writer_open(NpzWriter *writer, Err *err) {
    zip_error_t error;
    *writer = (NpzWriter){0};
    zip_error_init(&error);
    writer->source = zip_source_buffer_create(NULL, 0, 0, &error);
    writer->zip =
        writer->source ? zip_open_from_source(writer->source, ZIP_TRUNCATE, &error) : NULL;
    bool ok = writer->zip || refuse_writing("start an archive", &error, err);
    if (ok) /* the source must live after zip_close, to read the bytes */
        zip_source_keep(writer->source);
    zip_error_fini(&error);
    return ok;
}

/* Puts header and elements into one block of memory, which the writer owns. In some failures libzip
 * frees a block that it was given, in others it does not. */
static zip_source_t *array_source(NpzWriter *writer, const NpyArray *array, const void *elements) {
    char header[NPY_WRITTEN_BYTES];
    size_t start = npy_write_header(array, header);
    size_t bytes = (size_t)array->count * npy_element_bytes(array);
    char *block = malloc(start + bytes);
    assert(writer->block_count < NPZ_MAX_MEMBERS);
    if (!block)
        return NULL;
    writer->blocks[writer->block_count++] = block;
    memcpy(block, header, start);
    if (bytes > 0)
        memcpy(block + start, elements, bytes);
    return zip_source_buffer(writer->zip, block, start + bytes, 0);
}

/* Adds an array to the archive, with a fixed date, so that equal scenes give equal files. */
static bool add_array(NpzWriter *writer, const char *name, const NpyArray *array,
                      const void *elements, Err *err) {
    enum { DATE_1980_01_01 = 1 << 5 | 1 };
    char file[NPZ_MAX_NAME + 4];
    snprintf(file, sizeof file, "%.*s.npy", NPZ_MAX_NAME - 1, name);
    zip_source_t *source = array_source(writer, array, elements);
    if (!source)
        return err_no_memory(err, name, "");
    zip_int64_t index = zip_file_add(writer->zip, file, source, ZIP_FL_ENC_UTF_8);
    if (index < 0)
        zip_source_free(source);
    return (index >= 0 &&
            zip_set_file_compression(writer->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
            zip_file_set_dostime(writer->zip, (zip_uint64_t)index, 0, DATE_1980_01_01, 0) == 0) ||
           refuse_writing("add an array", zip_get_error(writer->zip), err);
}

bool npz_writer_add(NpzWriter *writer, const char *name, NpyType type, int rank,
                    const int64_t *shape, const void *elements, Err *err) {
    NpyArray array = {.type = type, .rank = rank, .count = 1, .characters = 1};
    for (int i = 0; i < rank; i++) {
        array.shape[i] = shape[i];
        array.count *= shape[i];
    }
    return add_array(writer, name, &array, elements, err);
}

bool npz_writer_add_texts(NpzWriter *writer, const char *name, int64_t count, const char *texts,
                          size_t stride, Err *err) {
    NpyArray array = {NPY_U, 1, {count}, count, NPZ_TEXT, 0};
    uint32_t *codes = calloc((size_t)count * NPZ_TEXT + 1, sizeof *codes);
    for (int64_t i = 0; codes && i < count; i++)
        npz_text_codes(texts + (size_t)i * stride, codes + i * NPZ_TEXT);
    bool ok = codes ? add_array(writer, name, &array, codes, err) : err_no_memory(err, name, "");
    free(codes);
    return ok;
}

bool npz_writer_finish(NpzWriter *writer, char **bytes, size_t *length, Err *err) {
    zip_source_t *source = writer->source;
    struct zip_stat stat;
    if (zip_close(writer->zip) != 0)
        return refuse_writing("write the archive", zip_get_error(writer->zip), err);
    writer->zip = NULL;
    if (zip_source_stat(source, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) ||
        zip_source_open(source) != 0)
        return refuse_writing("read the archive", zip_source_error(source), err);
    *length = (size_t)stat.size;
    *bytes = malloc(*length);
    bool ok = *bytes && zip_source_read(source, *bytes, stat.size) == (zip_int64_t)stat.size;
    zip_source_close(source);
    return ok || err_no_memory(err, "npz", "");
}

void npz_writer_close(NpzWriter *writer) {
    if (writer->zip)
        zip_discard(writer->zip);
    if (writer->source)
        zip_source_free(writer->source);
    for (int i = 0; i < writer->block_count; i++)
        free(writer->blocks[i]);
}
