/* SPDX-License-Identifier: MIT */
#include "src/scene/npz.h"

#include "src/base/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Adds an array of the archive to the list, if its name and its packing are known. */
static bool add_member(Npz *npz, zip_uint64_t index, Err *err) {
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    struct zip_stat stat;
    if (zip_stat_index(npz->zip, index, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & needed) != needed)
        return err_set(err, ERR_FAILED, npz->where, "",
                       "broken zip: an entry without a name or a size");
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
    /* deflate compresses by a factor of at most 1032 */
    if (stat.comp_method == ZIP_CM_STORE ? stat.size != stat.comp_size
                                         : stat.size / 1032 > stat.comp_size)
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
        return err_set(err, ERR_FAILED, npz->where, "", "a zip of %lld entries, must be at most %d",
                       (long long)count, NPZ_MAX_MEMBERS);
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
        return err_no_memory(err, npz->where, "");
    zip_error_t error;
    zip_error_init(&error);
    npz->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    const bool no_memory = zip_error_code_zip(&error) == ZIP_ER_MEMORY;
    zip_error_fini(&error);
    if (npz->zip && add_members(npz, err))
        return true;
    if (npz->zip) {
        npz_close(npz);
        return false;
    }
    zip_source_free(source);
    return no_memory ? err_no_memory(err, npz->where, "")
                     : err_set(err, ERR_FAILED, npz->where, "",
                               "truncated zip, or one with a damaged directory");
}

static void init_archive(Npz *npz, const char *where) {
    memset(npz, 0, sizeof *npz);
    size_t length = strlen(where), most = sizeof npz->where - 1;
    snprintf(npz->where, sizeof npz->where, "%s", length > most ? where + length - most : where);
}

bool npz_open_memory(Npz *npz, const void *bytes, size_t length, const char *where, Err *err) {
    init_archive(npz, where);
    return open_source(npz, zip_source_buffer_create(bytes, length, 0, NULL), err);
}

/* Opens a regular file. */
bool npz_open_file(Npz *npz, const char *path, uint64_t max_bytes, Err *err) {
    init_archive(npz, path);
    Err why;
    struct stat status;
    FILE *file = data_open(path, &why);
    if (!file)
        return err_set(err, ERR_FAILED, npz->where, "", "%s", why.what);
    uint64_t length = fstat(fileno(file), &status) == 0 ? (uint64_t)status.st_size : 0;
    zip_source_t *source = length <= max_bytes ? zip_source_filep_create(file, 0, -1, NULL) : NULL;
    if (!source)
        fclose(file);
    if (length > max_bytes)
        return err_set(err, ERR_FAILED, npz->where,
                       "save one moment a file, and depth and feat as float16",
                       "%llu bytes, must be at most %llu", (unsigned long long)length,
                       (unsigned long long)max_bytes);
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

/* ---- reading a member ------------------------------------------------------------------------ */

static bool read_header(Stream *stream, NpyArray *array, Err *err) {
    unsigned char prefix[NPY_PREFIX_BYTES];
    size_t length;
    if (!read_bytes(stream, prefix, sizeof prefix, err) ||
        !npy_read_prefix(prefix, stream->where, &length, err))
        return false;
    char text[UINT16_MAX + 1];
    text[length] = '\0';
    return read_bytes(stream, text, length, err) &&
           npy_read_header(text, length, stream->where, array, err) &&
           npy_check_bytes(array, stream->left, stream->where, err);
}

bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err) {
    Stream stream;
    bool ok = open_stream(&stream, npz, member, err) && read_header(&stream, array, err);
    close_stream(&stream);
    return ok;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Reads all elements behind the header, which npz_read_array has checked, as the file's bytes. */
static bool read_elements(const Npz *npz, int member, const NpyArray *array, void *bytes,
                          Err *err) {
    Stream stream;
    NpyArray again;
    char more;
    size_t size = (size_t)array->count * npy_element_bytes(array);
    bool ok = open_stream(&stream, npz, member, err) && read_header(&stream, &again, err) &&
              read_bytes(&stream, bytes, size, err);
    /* libzip verifies the checksum where the data ends */
    zip_int64_t got = ok ? zip_fread(stream.file, &more, 1) : 0;
    if (got)
        ok = err_set(err, ERR_FAILED, stream.where, "the file is damaged", "%s",
                     got < 0 ? zip_file_strerror(stream.file)
                             : "has more data than its directory entry says");
    close_stream(&stream);
    return ok;
}

bool npz_read(const Npz *npz, int member, const NpyArray *array, NpyType type, void *elements,
              Err *err) {
    if (array->type == type)
        return read_elements(npz, member, array, elements, err);
    void *bytes = malloc((size_t)array->count * npy_element_bytes(array) + 1);
    bool ok = (bytes || err_no_memory(err, npz->where, "")) &&
              read_elements(npz, member, array, bytes, err) &&
              npy_convert(array, bytes, type, elements, npz->where, npz->members[member].name, err);
    free(bytes);
    return ok;
}
