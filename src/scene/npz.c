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

static NpzPlace member_place(const Npz *npz, int member) {
    NpzPlace place;
    snprintf(place.text, sizeof place.text, "%s: %s", npz->where, npz->members[member].name);
    return place;
}

/* Opens a member. NULL: it cannot be read. */
static zip_file_t *open_member(const Npz *npz, int member, Err *err) {
    zip_file_t *file = zip_fopen_index(npz->zip, (zip_uint64_t)member, 0);
    if (!file)
        err_set(err, ERR_FAILED, member_place(npz, member).text, "", "cannot read: %s",
                zip_strerror(npz->zip));
    return file;
}

/* Reads `count` bytes, or as many as there are. Returns their number. */
static size_t read_bytes(zip_file_t *file, char *to, size_t count) {
    size_t done = 0;
    for (zip_int64_t got = 1; done < count && got > 0; done += got > 0 ? (size_t)got : 0)
        got = zip_fread(file, to + done, count - done);
    return done;
}

bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err) {
    char start[NPY_START];
    zip_file_t *file = open_member(npz, member, err);
    if (!file)
        return false;
    size_t got = read_bytes(file, start, sizeof start);
    zip_fclose(file);
    return npy_read_start(start, got, npz->members[member].bytes, member_place(npz, member).text,
                          array, err);
}

/* Reads all elements, as the file's bytes. Never inflates beyond the declared size (zip bombs). */
static bool read_elements(const Npz *npz, int member, const NpyArray *array, void *bytes,
                          Err *err) {
    const NpzPlace place = member_place(npz, member);
    char skipped[NPY_START], more;
    size_t size = (size_t)array->count * npy_element_bytes(array);
    zip_file_t *file = open_member(npz, member, err);
    if (!file)
        return false;
    size_t got = read_bytes(file, skipped, array->start) + read_bytes(file, bytes, size);
    /* libzip verifies the checksum where the data ends */
    bool more_left = got == array->start + size && zip_fread(file, &more, 1) > 0;
    bool damaged = zip_error_code_zip(zip_file_get_error(file)) != ZIP_ER_OK;
    bool ok = damaged || more_left
                  ? err_set(err, ERR_FAILED, place.text, "the file is damaged", "%s",
                            damaged ? zip_file_strerror(file)
                                    : "has more data than its directory entry says")
                  : got == array->start + size ||
                        err_set(err, ERR_FAILED, place.text, "", "truncated: %zu bytes are missing",
                                array->start + size - got);
    zip_fclose(file);
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
