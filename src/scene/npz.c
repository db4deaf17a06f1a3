/* SPDX-License-Identifier: MIT */
#include "src/scene/npz.h"

#include "kernels/codec.h"
#include "src/base/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

static bool refuse_zip(const Npz *npz, const char *what, Err *err) {
    return err_set(err, ERR_FAILED, npz->where, "", "%s", what);
}

/* ---- the end of an archive ------------------------------------------------------------------- */

enum { END_BYTES = 22, LOCATOR_BYTES = 20, DIRECTORY_MAX_BYTES = 64 * 1024 };

/* The part of a file that libzip searches for end records. It allocates the entries of each. */
enum { TAIL_BYTES = 0xffff + END_BYTES + LOCATOR_BYTES };

/* An archive in memory, or an open file when `memory` is NULL. */
typedef struct {
    const unsigned char *memory;
    int fd;
    uint64_t length;
} ZipBytes;

static uint64_t little_endian(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static bool read_at(const ZipBytes *bytes, uint64_t offset, unsigned char *to, size_t count) {
    if (bytes->memory)
        memcpy(to, bytes->memory + offset, count);
    return bytes->memory || pread(bytes->fd, to, count, (off_t)offset) == (ssize_t)count;
}

/* Whether another end record stands before the last one. Array data does not look like one by
 * chance, because 10 bytes must match. */
static bool has_other_end(const unsigned char *tail, const unsigned char *last) {
    for (const unsigned char *at = tail;
         (at = memmem(at, (size_t)(last + 7 - at), "PK\5\6\0\0\0\0", 8)); at++)
        if (little_endian(at + 8, 2) == little_endian(at + 10, 2))
            return true;
    return false;
}

/* Checks that a directory has as many entries as declared. Otherwise libzip allocates 65,536
 * more. */
static bool check_entries(const Npz *npz, const unsigned char *directory, uint64_t size,
                          uint64_t declared, Err *err) {
    enum { ENTRY_BYTES = 46 };
    uint64_t at = 0, count = 0;
    for (; at + ENTRY_BYTES <= size && memcmp(directory + at, "PK\1\2", 4) == 0; count++)
        at += ENTRY_BYTES + little_endian(directory + at + 28, 2) +
              little_endian(directory + at + 30, 2) + little_endian(directory + at + 32, 2);
    return (count == declared && at == size) ||
           refuse_zip(npz, "broken zip: its directory has other entries than declared", err);
}

/* Checks the end of a zip archive: one end record, and the directory where it is declared. */
static bool check_tail(const Npz *npz, const ZipBytes *bytes, unsigned char *tail, size_t length,
                       Err *err) {
    const unsigned char *record = tail + length - END_BYTES;
    const uint64_t end = bytes->length - END_BYTES;
    if (length < END_BYTES || !read_at(bytes, bytes->length - length, tail, length) ||
        memcmp(record, "PK\5\6\0\0\0\0", 8) != 0 || little_endian(record + 20, 2) != 0)
        return refuse_zip(npz, "truncated zip: it does not end with its directory", err);
    if (length >= END_BYTES + LOCATOR_BYTES && !memcmp(record - LOCATOR_BYTES, "PK\6\7", 4))
        return refuse_zip(npz, "broken zip: a directory of zip64, which so small files lack", err);
    if (has_other_end(tail, record))
        return refuse_zip(npz, "broken zip: a second end record", err);
    const uint64_t count = little_endian(record + 10, 2), size = little_endian(record + 12, 4);
    const uint64_t offset = little_endian(record + 16, 4);
    if (count > NPZ_MAX_MEMBERS || size > DIRECTORY_MAX_BYTES)
        return err_set(err, ERR_FAILED, npz->where, "",
                       "zip directory of %llu entries in %llu bytes, must be at most %d in %d",
                       (unsigned long long)count, (unsigned long long)size, NPZ_MAX_MEMBERS,
                       DIRECTORY_MAX_BYTES);
    if (size > end || offset != end - size)
        return refuse_zip(npz, "truncated zip: the directory is not where it is declared", err);
    return (read_at(bytes, offset, tail, (size_t)size) ||
            refuse_zip(npz, "cannot read the zip directory", err)) &&
           check_entries(npz, tail, size, count, err);
}

/* Checks the end of an archive before libzip reads it. */
static bool check_archive_end(const Npz *npz, const ZipBytes *bytes, Err *err) {
    size_t length = bytes->length < TAIL_BYTES ? (size_t)bytes->length : TAIL_BYTES;
    /* This memory later holds the directory, which is not larger. */
    unsigned char *tail = malloc(length + 1);
    bool ok =
        tail ? check_tail(npz, bytes, tail, length, err) : refuse_zip(npz, "out of memory", err);
    free(tail);
    return ok;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Checks the compressed size of a member: deflate compresses by a factor of at most 1032. */
static bool size_is_possible(const struct zip_stat *stat) {
    return stat->comp_method == ZIP_CM_STORE ? stat->size == stat->comp_size
                                             : stat->size / 1032 <= stat->comp_size;
}

/* Adds an array of the archive to the list, if its name and its packing are known. */
static bool add_member(Npz *npz, zip_uint64_t index, Err *err) {
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    struct zip_stat stat;
    if (zip_stat_index(npz->zip, index, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & needed) != needed)
        return refuse_zip(npz, "broken zip: an entry without a name or a size", err);
    size_t length = strlen(stat.name);
    char where[256];
    snprintf(where, sizeof where, "%s: %.80s", npz->where, stat.name);
    if (length < 5 || length - 4 >= NPZ_MAX_NAME || strcmp(stat.name + length - 4, ".npy") != 0)
        return err_set(err, ERR_FAILED, where,
                       "save arrays, or tensors of a .pth, with numpy.savez",
                       "not an array: the name must end in .npy and be short");
    if (stat.encryption_method != ZIP_EM_NONE)
        return err_set(err, ERR_FAILED, where, "", "encrypted");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
        return err_set(err, ERR_FAILED, where, "use np.savez or np.savez_compressed",
                       "zip method %u, must be stored (0) or deflated (8)", stat.comp_method);
    if (!size_is_possible(&stat))
        return err_set(err, ERR_FAILED, where, "",
                       "declares %llu bytes, more than its %llu compressed bytes can hold",
                       (unsigned long long)stat.size, (unsigned long long)stat.comp_size);
    NpzMember *member = &npz->members[npz->count];
    snprintf(member->name, sizeof member->name, "%.*s", (int)(length - 4), stat.name);
    member->bytes = stat.size;
    npz->count++;
    return true;
}

static bool add_members(Npz *npz, Err *err) {
    zip_int64_t count = zip_get_num_entries(npz->zip, 0);
    if (count > NPZ_MAX_MEMBERS)
        return refuse_zip(npz, "broken zip: not as many entries as declared", err);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(npz->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (name && zip_name_locate(npz->zip, name, ZIP_FL_ENC_RAW) != i)
            return err_set(err, ERR_FAILED, npz->where, "", "%.80s is in the archive twice", name);
    }
    for (zip_int64_t i = 0; i < count; i++)
        if (!add_member(npz, (zip_uint64_t)i, err))
            return false;
    return true;
}

/* Takes ownership of the source. */
static bool open_source(Npz *npz, zip_source_t *source, Err *err) {
    if (!source)
        return refuse_zip(npz, "out of memory", err);
    zip_error_t error;
    zip_error_init(&error);
    npz->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    const bool no_memory = zip_error_code_zip(&error) == ZIP_ER_MEMORY;
    zip_error_fini(&error);
    if (!npz->zip) {
        zip_source_free(source);
        return refuse_zip(npz, no_memory ? "out of memory" : "broken zip: its directory is damaged",
                          err);
    }
    bool ok = add_members(npz, err);
    if (!ok)
        npz_close(npz);
    return ok;
}

static void init_archive(Npz *npz, const char *where) {
    memset(npz, 0, sizeof *npz);
    size_t length = strlen(where), most = sizeof npz->where - 1;
    snprintf(npz->where, sizeof npz->where, "%s", length > most ? where + length - most : where);
}

bool npz_open_memory(Npz *npz, const void *bytes, size_t length, const char *where, Err *err) {
    init_archive(npz, where);
    return check_archive_end(npz, &(ZipBytes){bytes, -1, length}, err) &&
           open_source(npz, zip_source_buffer_create(bytes, length, 0, NULL), err);
}

static bool check_file(const Npz *npz, int fd, uint64_t max_bytes, Err *err) {
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return refuse_zip(npz, "not a regular file", err);
    uint64_t length = (uint64_t)status.st_size;
    if (length > max_bytes)
        return err_set(err, ERR_FAILED, npz->where,
                       "save one moment a file, and depth and feat as float16",
                       "%llu bytes, must be at most %llu",
                       (unsigned long long)length, (unsigned long long)max_bytes);
    return check_archive_end(npz, &(ZipBytes){NULL, fd, length}, err);
}

/* Opens a file. libzip reads the same open file that was checked, so nobody can exchange it. */
bool npz_open_file(Npz *npz, const char *path, uint64_t max_bytes, Err *err) {
    init_archive(npz, path);
    Err why;
    FILE *file = data_open(path, &why);
    if (!file)
        return err_set(err, ERR_FAILED, npz->where, "", "%s", why.what);
    if (!check_file(npz, fileno(file), max_bytes, err)) {
        fclose(file);
        return false;
    }
    zip_source_t *source = zip_source_filep_create(file, 0, -1, NULL);
    if (!source)
        fclose(file);
    return open_source(npz, source, err);
}

void npz_close(Npz *npz) {
    if (!npz)
        return;
    if (npz->zip)
        zip_discard(npz->zip);
    memset(npz, 0, sizeof *npz);
}

int npz_find(const Npz *npz, const char *name) {
    for (int i = 0; i < npz->count; i++)
        if (strcmp(npz->members[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- the bytes of a member ------------------------------------------------------------------- */

/* One array in an archive, which is read from beginning to end. */
typedef struct {
    zip_file_t *file;
    uint64_t left;   /* bytes that have not been read yet */
    char where[256]; /* start of error messages */
} Stream;

static bool open_stream(Stream *stream, const Npz *npz, int member, Err *err) {
    const NpzMember *row = &npz->members[member];
    snprintf(stream->where, sizeof stream->where, "%s: %s", npz->where, row->name);
    stream->left = row->bytes;
    stream->file = zip_fopen_index(npz->zip, (zip_uint64_t)member, 0);
    return stream->file ||
           err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s", zip_strerror(npz->zip));
}

static void close_stream(Stream *stream) {
    if (stream->file)
        zip_fclose(stream->file);
}

/* Reads exactly `count` bytes. Never inflates beyond the declared size (zip bombs). */
static bool read_bytes(Stream *stream, void *to, size_t count, Err *err) {
    if (count > stream->left)
        return err_set(err, ERR_FAILED, stream->where, "", "truncated: %llu bytes left of %zu",
                       (unsigned long long)stream->left, count);
    for (char *at = to; count > 0;) {
        zip_int64_t got = zip_fread(stream->file, at, count);
        if (got < 0)
            return err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s",
                           zip_file_strerror(stream->file));
        if (got == 0)
            return err_set(err, ERR_FAILED, stream->where, "", "truncated: %llu bytes are missing",
                           (unsigned long long)stream->left);
        at += got;
        count -= (size_t)got;
        stream->left -= (uint64_t)got;
    }
    return true;
}

/* Reads past the end of the data. There libzip verifies the checksum. */
static bool finish_stream(Stream *stream, Err *err) {
    char more;
    zip_int64_t got = zip_fread(stream->file, &more, 1);
    if (got < 0)
        return err_set(err, ERR_FAILED, stream->where, "the file is damaged", "%s",
                       zip_file_strerror(stream->file));
    return got == 0 || err_set(err, ERR_FAILED, stream->where, "",
                               "has more data than its directory entry says");
}

/* ---- reading a member ------------------------------------------------------------------------ */

/* Reads the header of an array, and compares its size with the bytes that follow. */
static bool read_header(Stream *stream, NpyArray *array, Err *err) {
    unsigned char prefix[NPY_PREFIX_BYTES] = {0};
    size_t start_at, length;
    if (!read_bytes(stream, prefix, 10, err) ||
        (prefix[6] > 1 && !read_bytes(stream, prefix + 10, 2, err)) ||
        !npy_read_prefix(prefix, stream->where, &start_at, &length, err))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return err_set(err, ERR_FAILED, stream->where, "", "out of memory");
    bool ok = read_bytes(stream, text, length, err) &&
              npy_read_header(text, length, stream->where, array, err);
    free(text);
    if (!ok)
        return false;
    uint64_t needed = (uint64_t)array->count * npy_element_bytes(array);
    if (needed == stream->left)
        return true;
    char shape[128];
    npy_shape_text(array, shape, sizeof shape);
    return err_set(
        err, ERR_FAILED, stream->where, "", "shape %s of %s needs %llu bytes, but has %llu", shape,
        npy_types[array->type].name, (unsigned long long)needed, (unsigned long long)stream->left);
}

bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err) {
    Stream stream;
    bool ok = open_stream(&stream, npz, member, err) && read_header(&stream, array, err);
    close_stream(&stream);
    return ok;
}

/* ---- elements -------------------------------------------------------------------------------- */

double npy_element(NpyType type, const unsigned char *bytes) {
    union {
        uint16_t u2;
        float f4;
        double f8;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint32_t u4;
    } value;
    memcpy(&value, bytes, npy_types[type].bytes);
    switch (type) {
    case NPY_F2:
        return bev_fp16_decode(value.u2);
    case NPY_F4:
        return value.f4;
    case NPY_F8:
        return value.f8;
    case NPY_I4:
        return value.i4;
    case NPY_I8:
        return (double)value.i8; /* rounded beyond 2^53, but still above int32 */
    case NPY_U4:
        return value.u4;
    default:
        return value.u1;
    }
}

NpzPlace npz_place(const char *name, const NpyArray *array, int64_t i) {
    int64_t index[NPY_MAX_RANK] = {0};
    for (int axis = array->rank - 1; axis >= 0; axis--) {
        index[axis] = i % array->shape[axis];
        i /= array->shape[axis];
    }
    NpzPlace place;
    size_t size = sizeof place.text, used = (size_t)snprintf(place.text, size, "%s", name);
    for (int axis = 0; axis < array->rank; axis++) /* at most 8 times 22 bytes, which fit */
        used += (size_t)snprintf(place.text + used, size - used, "%s%lld%s", axis ? ", " : "[",
                                 (long long)index[axis], axis == array->rank - 1 ? "]" : "");
    return place;
}

/* Where npz_read puts converted elements. */
typedef struct {
    const Npz *npz;
    int member;
    const NpyArray *array;
    NpyType type;
    void *elements;
} Converted;

/* Converts elements [first, first + count) from their bytes in the file. An NpzTake. */
static bool convert_elements(void *context, int64_t first, int64_t count,
                             const unsigned char *bytes, Err *err) {
    const Converted *to = context;
    NpyType from = to->array->type;
    if (from == to->type) { /* same type: the array is in Fortran order */
        size_t size = npy_element_bytes(to->array);
        memcpy((char *)to->elements + (size_t)first * size, bytes, (size_t)count * size);
        return true;
    }
    for (int64_t i = 0, at = first; i < count; i++, at++) {
        double value = npy_element(from, bytes + (size_t)i * npy_types[from].bytes);
        if (to->type == NPY_F4)
            ((float *)to->elements)[at] = (float)value;
        else if (to->type == NPY_F8)
            ((double *)to->elements)[at] = value;
        else if (value >= INT32_MIN && value <= INT32_MAX)
            ((int32_t *)to->elements)[at] = (int32_t)value;
        else
            return data_refuse(err, to->npz->where,
                               npz_place(to->npz->members[to->member].name, to->array, at).text, "",
                               "%.0f does not fit int32", value);
    }
    return true;
}

/* Reads an array in parts of at most `most` elements, and hands each part to `take`. */
static bool take_in_order(Stream *stream, const NpyArray *array, int64_t most, NpzTake *take,
                          void *context, Err *err) {
    size_t size = npy_element_bytes(array);
    most = most < array->count ? most : array->count;
    unsigned char *bytes = malloc((size_t)most * size + 1);
    bool ok = bytes || err_set(err, ERR_FAILED, stream->where, "", "out of memory");
    for (int64_t done = 0; ok && done < array->count; done += most) {
        int64_t count = array->count - done < most ? array->count - done : most;
        ok = read_bytes(stream, bytes, (size_t)count * size, err) &&
             take(context, done, count, bytes, err);
    }
    free(bytes);
    return ok;
}

/* Takes an array in Fortran order. All must be in memory before the first is taken. */
static bool take_transposed(Stream *stream, const NpyArray *array, int64_t most, NpzTake *take,
                        void *context, Err *err) {
    size_t size = npy_element_bytes(array);
    if ((uint64_t)array->count * size > NPZ_MAX_FORTRAN_BYTES)
        return err_set(err, ERR_FAILED, stream->where, "save numpy.ascontiguousarray(array)",
                       "%llu bytes in Fortran order, must be at most %llu",
                       (unsigned long long)array->count * size,
                       (unsigned long long)NPZ_MAX_FORTRAN_BYTES);
    most = most < array->count ? most : array->count;
    unsigned char *bytes = malloc((size_t)array->count * size + 1);
    unsigned char *c_order = malloc((size_t)most * size + 1);
    bool ok = bytes && c_order ? read_bytes(stream, bytes, (size_t)array->count * size, err)
                              : err_set(err, ERR_FAILED, stream->where, "", "out of memory");
    for (int64_t done = 0; ok && done < array->count; done += most) {
        int64_t count = array->count - done < most ? array->count - done : most;
        for (int64_t i = 0; i < count; i++)
            memcpy(c_order + (size_t)i * size,
                   bytes + (size_t)npy_place(array, done + i) * size, size);
        ok = take(context, done, count, c_order, err);
    }
    free(c_order);
    free(bytes);
    return ok;
}

/* Checks that the header is still the same as at the first reading. */
static bool check_header_again(Stream *stream, const NpyArray *array, Err *err) {
    NpyArray again;
    return read_header(stream, &again, err) &&
           ((again.type == array->type && again.count == array->count &&
             again.characters == array->characters) ||
            err_set(err, ERR_FAILED, stream->where, "", "the file changed while it was read"));
}

bool npz_read_pieces(const Npz *npz, int member, const NpyArray *array, int64_t most, NpzTake *take,
                     void *context, Err *err) {
    Stream stream;
    bool ok = open_stream(&stream, npz, member, err) && check_header_again(&stream, array, err) &&
              (array->fortran ? take_transposed : take_in_order)(&stream, array, most, take,
                                                                 context, err) &&
              finish_stream(&stream, err);
    close_stream(&stream);
    return ok;
}

bool npz_read(const Npz *npz, int member, const NpyArray *array, NpyType type, void *elements,
              Err *err) {
    enum { PIECE = 1 << 14 };
    Converted to = {npz, member, array, type, elements};
    if (array->type == type && !array->fortran) {
        Stream stream;
        size_t bytes = (size_t)array->count * npy_element_bytes(array);
        bool ok = open_stream(&stream, npz, member, err) &&
                  check_header_again(&stream, array, err) &&
                  read_bytes(&stream, elements, bytes, err) && finish_stream(&stream, err);
        close_stream(&stream);
        return ok;
    }
    return npz_read_pieces(npz, member, array, PIECE, convert_elements, &to, err);
}
