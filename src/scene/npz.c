#include "src/scene/npz.h"

#include "kernels/codec.h"
#include "src/base/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

static bool refuse_zip(const Npz *npz, const char *what, Err *err) {
    return err_set(err, ERR_FAILED, npz->where, "", "%s", what);
}

static void stream_free(struct NpzStream *stream);

/* ---- opening --------------------------------------------------------------------------------- */

/* Deflate compresses by a factor of 1032 at most. */
static bool size_is_possible(const struct zip_stat *stat) {
    return stat->comp_method == ZIP_CM_STORE ? stat->size == stat->comp_size
                                             : stat->size / 1032 <= stat->comp_size;
}

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
        return err_set(err, ERR_FAILED, where, "",
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
    member->stored = stat.comp_method == ZIP_CM_STORE;
    npz->count++;
    return true;
}

/* Takes ownership of the source. */
static bool open_source(Npz *npz, zip_source_t *source, Err *err) {
    if (!source)
        return refuse_zip(npz, "out of memory", err);
    zip_error_t error;
    zip_error_init(&error);
    npz->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (!npz->zip) {
        err_set(err, ERR_FAILED, npz->where, "", "broken zip: %s", zip_error_strerror(&error));
        zip_source_free(source);
    }
    zip_error_fini(&error);
    if (!npz->zip)
        return false;
    zip_int64_t count = zip_get_num_entries(npz->zip, 0);
    bool ok = count >= 0 && count <= NPZ_MAX_MEMBERS;
    if (!ok)
        refuse_zip(npz, "broken zip: not as many entries as declared", err);
    for (zip_int64_t i = 0; ok && i < count; i++)
        ok = add_member(npz, (zip_uint64_t)i, err);
    if (!ok)
        npz_close(npz);
    return ok;
}

static void init(Npz *npz, const char *where) {
    memset(npz, 0, sizeof *npz);
    size_t length = strlen(where), most = sizeof npz->where - 1;
    snprintf(npz->where, sizeof npz->where, "%s", length > most ? where + length - most : where);
}

bool npz_open_memory(Npz *npz, const void *bytes, size_t length, const char *where, Err *err) {
    init(npz, where);
    const ZipBytes archive = {bytes ? bytes : "", -1, length};
    if (!zip_check_directory(&archive, npz->where, err))
        return false;
    return open_source(npz, zip_source_buffer_create(bytes, length, 0, NULL), err);
}

static bool check_file(const Npz *npz, int fd, uint64_t max_bytes, Err *err) {
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return refuse_zip(npz, "not a regular file", err);
    uint64_t length = (uint64_t)status.st_size;
    if (length > max_bytes)
        return err_set(err, ERR_FAILED, npz->where, "", "%llu bytes, must be at most %llu",
                       (unsigned long long)length, (unsigned long long)max_bytes);
    return zip_check_directory(&(ZipBytes){NULL, fd, length}, npz->where, err);
}

/* libzip gets the same open file that is checked, so that nobody can exchange it in between. */
bool npz_open_file(Npz *npz, const char *path, uint64_t max_bytes, Err *err) {
    init(npz, path);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return err_set(err, ERR_FAILED, npz->where, "", "cannot open: %s", strerror(errno));
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
    for (int i = 0; i < npz->count; i++)
        stream_free(npz->kept[i]);
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

/* ---- reading a member ------------------------------------------------------------------------ */

typedef struct NpzStream {
    zip_file_t *file;
    uint64_t left;
    bool stored;
    char where[256];
} Stream;

static bool stream_open(Stream *stream, const Npz *npz, int member, Err *err) {
    const NpzMember *row = &npz->members[member];
    snprintf(stream->where, sizeof stream->where, "%s: %s", npz->where, row->name);
    stream->left = row->bytes;
    stream->stored = row->stored;
    stream->file = zip_fopen_index(npz->zip, (zip_uint64_t)member, 0);
    return stream->file ||
           err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s", zip_strerror(npz->zip));
}

/* Reads exactly `count` bytes. Never inflates beyond the declared size (zip bombs). */
static bool stream_read(Stream *stream, void *to, size_t count, Err *err) {
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

/* Passes over `count` bytes. */
static bool stream_skip(Stream *stream, uint64_t count, Err *err) {
    unsigned char passed[16 * 1024];
    if (stream->stored && count > 0 && count <= stream->left) {
        if (zip_fseek(stream->file, (zip_int64_t)count, SEEK_CUR) != 0)
            return err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s",
                           zip_file_strerror(stream->file));
        stream->left -= count;
        return true;
    }
    for (uint64_t piece; count > 0; count -= piece) {
        piece = count < sizeof passed ? count : sizeof passed;
        if (!stream_read(stream, passed, (size_t)piece, err))
            return false;
    }
    return true;
}

/* At the end of the data reads past it, where libzip verifies the checksum. */
static bool stream_finish(Stream *stream, Err *err) {
    char more;
    if (stream->left > 0)
        return true;
    zip_int64_t got = zip_fread(stream->file, &more, 1);
    if (got < 0)
        return err_set(err, ERR_FAILED, stream->where, "the file is damaged", "%s",
                       zip_file_strerror(stream->file));
    return got == 0 || err_set(err, ERR_FAILED, stream->where, "",
                               "has more data than its directory entry says");
}

static void stream_close(Stream *stream) {
    if (stream->file)
        zip_fclose(stream->file);
}

static void stream_free(Stream *stream) {
    if (stream)
        stream_close(stream);
    free(stream);
}

static bool read_header(Stream *stream, NpyArray *array, Err *err) {
    unsigned char prefix[NPY_PREFIX_BYTES] = {0};
    size_t start_at, length;
    if (!stream_read(stream, prefix, 10, err) ||
        (prefix[6] > 1 && !stream_read(stream, prefix + 10, 2, err)) ||
        !npy_read_prefix(prefix, stream->where, &start_at, &length, err))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return err_set(err, ERR_FAILED, stream->where, "", "out of memory");
    bool ok = stream_read(stream, text, length, err) &&
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
    bool ok = stream_open(&stream, npz, member, err) && read_header(&stream, array, err);
    stream_close(&stream);
    return ok;
}

/* ---- elements -------------------------------------------------------------------------------- */

double npy_element(NpyType type, const unsigned char *bytes) {
    union {
        uint16_t f2;
        float f4;
        double f8;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
    } value;
    memcpy(&value, bytes, npy_types[type].bytes);
    return type == NPY_F2   ? bev_fp16_decode(value.f2)
           : type == NPY_F4 ? value.f4
           : type == NPY_F8 ? value.f8
           : type == NPY_I4 ? value.i4
           : type == NPY_U1 ? value.u1
                            : (double)value.i8; /* beyond 2^53 rounded, but still above int32 */
}

NpzPlace npz_place(const char *name, const NpyArray *array, int64_t i) {
    int64_t index[NPY_MAX_RANK] = {0};
    for (int axis = array->rank - 1; axis >= 0; axis--) {
        index[axis] = i % array->shape[axis];
        i /= array->shape[axis];
    }
    NpzPlace place;
    size_t size = sizeof place.text, used = (size_t)snprintf(place.text, size, "%s", name);
    for (int axis = 0; axis < array->rank && used < size; axis++)
        used += (size_t)snprintf(place.text + used, size - used, "%s%lld%s", axis ? ", " : "[",
                                 (long long)index[axis], axis == array->rank - 1 ? "]" : "");
    return place;
}

/* Where npz_read puts what it converts. */
typedef struct {
    const Npz *npz;
    const NpzPart *part;
    NpyType type;
    void *elements;
} Converted;

/* Converts elements [first, first + count) from their bytes in the file. */
static bool convert(void *context, int64_t first, int64_t count, const unsigned char *bytes,
                    Err *err) {
    const Converted *to = context;
    const NpzPart *part = to->part;
    NpyType from = part->array->type;
    for (int64_t i = 0, at = first - part->first; i < count; i++, at++) {
        double value = npy_element(from, bytes + (size_t)i * npy_types[from].bytes);
        if (to->type == NPY_F4)
            ((float *)to->elements)[at] = (float)value;
        else if (to->type == NPY_F8)
            ((double *)to->elements)[at] = value;
        else if (value >= INT32_MIN && value <= INT32_MAX)
            ((int32_t *)to->elements)[at] = (int32_t)value;
        else
            return data_refuse(
                err, to->npz->where,
                npz_place(to->npz->members[part->member].name, part->array, first + i).text, "",
                "%.0f does not fit int32", value);
    }
    return true;
}

static bool read_pieces(Stream *stream, const NpzPart *part, int64_t most, NpzTake *take,
                        void *context, Err *err) {
    size_t size = npy_element_bytes(part->array);
    unsigned char *bytes = malloc((size_t)most * size + 1);
    bool ok = bytes || err_set(err, ERR_FAILED, stream->where, "", "out of memory");
    for (int64_t done = 0; ok && done < part->count; done += most) {
        int64_t count = part->count - done < most ? part->count - done : most;
        ok = stream_read(stream, bytes, (size_t)count * size, err) &&
             take(context, part->first + done, count, bytes, err);
    }
    free(bytes);
    return ok;
}

/* Opens a member behind its header, which must be the one that was checked. */
static Stream *open_elements(const Npz *npz, const NpzPart *part, Err *err) {
    const NpyArray *array = part->array;
    NpyArray again;
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        err_set(err, ERR_FAILED, npz->where, "", "out of memory");
        return NULL;
    }
    if (stream_open(stream, npz, part->member, err) && read_header(stream, &again, err)) {
        if (again.type == array->type && again.count == array->count &&
            again.characters == array->characters)
            return stream;
        err_set(err, ERR_FAILED, stream->where, "", "the file changed while it was read");
    }
    stream_free(stream);
    return NULL;
}

/* A stream at the begin of a part. NULL on failure. */
static Stream *open_part(Npz *npz, const NpzPart *part, Err *err) {
    uint64_t left = (uint64_t)(part->array->count - part->first) * npy_element_bytes(part->array);
    Stream *stream = npz->kept[part->member];
    npz->kept[part->member] = NULL;
    if (stream && stream->left < left) { /* it is beyond the part */
        stream_free(stream);
        stream = NULL;
    }
    if (!stream)
        stream = open_elements(npz, part, err);
    if (!stream || stream_skip(stream, stream->left - left, err))
        return stream;
    stream_free(stream);
    return NULL;
}

/* Keeps a deflated stream for the part behind this one; a stored one opens quickly anywhere. */
static void close_part(Npz *npz, const NpzPart *part, Stream *stream, bool ok) {
    if (ok && !stream->stored && stream->left > 0)
        npz->kept[part->member] = stream;
    else
        stream_free(stream);
}

bool npz_read_pieces(Npz *npz, const NpzPart *part, int64_t most, NpzTake *take, void *context,
                     Err *err) {
    Stream *stream = open_part(npz, part, err);
    if (!stream)
        return false;
    bool ok = read_pieces(stream, part, most, take, context, err) && stream_finish(stream, err);
    close_part(npz, part, stream, ok);
    return ok;
}

bool npz_read(Npz *npz, const NpzPart *part, NpyType type, void *elements, Err *err) {
    enum { PIECE = 2048 };
    Converted to = {npz, part, type, elements};
    if (part->array->type != type)
        return npz_read_pieces(npz, part, PIECE, convert, &to, err);
    size_t bytes = (size_t)part->count * npy_element_bytes(part->array);
    Stream *stream = open_part(npz, part, err);
    if (!stream)
        return false;
    bool ok = stream_read(stream, elements, bytes, err) && stream_finish(stream, err);
    close_part(npz, part, stream, ok);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

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
    bool ok = writer->zip != NULL;
    if (ok) {
        zip_source_keep(writer->source); /* keep it after zip_close, to read the bytes */
    } else {
        refuse_writing("start an archive", &error, err);
        zip_source_free(writer->source);
        writer->source = NULL;
    }
    zip_error_fini(&error);
    return ok;
}

/* Header and elements in one block of memory. The writer owns it: libzip frees what it was given
 * in some of its failures, and not in others. */
static zip_source_t *array_source(NpzWriter *writer, const NpyArray *array, const void *elements) {
    char header[NPY_WRITTEN_BYTES];
    size_t start = npy_write_header(array, header);
    size_t bytes = (size_t)array->count * npy_element_bytes(array);
    char *block = malloc(start + bytes);
    if (!block || writer->block_count == NPZ_MAX_MEMBERS) {
        free(block);
        return NULL;
    }
    writer->blocks[writer->block_count++] = block;
    memcpy(block, header, start);
    if (bytes > 0)
        memcpy(block + start, elements, bytes);
    return zip_source_buffer(writer->zip, block, start + bytes, 0);
}

static bool add_array(NpzWriter *writer, const char *name, const NpyArray *array,
                      const void *elements, Err *err) {
    enum { DATE_1980_01_01 = 1 << 5 | 1 };
    char file[NPZ_MAX_NAME + 4];
    snprintf(file, sizeof file, "%.*s.npy", NPZ_MAX_NAME - 1, name);
    zip_source_t *source = array_source(writer, array, elements);
    if (!source)
        return err_set(err, ERR_FAILED, name, "", "out of memory");
    zip_int64_t index = zip_file_add(writer->zip, file, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return refuse_writing("add an array", zip_get_error(writer->zip), err);
    }
    if (zip_set_file_compression(writer->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(writer->zip, (zip_uint64_t)index, 0, DATE_1980_01_01, 0) != 0)
        return refuse_writing("add an array", zip_get_error(writer->zip), err);
    return true;
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
                          size_t size, Err *err) {
    NpyArray array = {NPY_U, 1, {count}, count, (int)size};
    uint32_t *codes = calloc((size_t)count * size + 1, sizeof *codes);
    if (!codes)
        return err_set(err, ERR_FAILED, name, "", "out of memory");
    for (int64_t i = 0; i < count; i++)
        npz_text_codes(texts + (size_t)i * size, codes + (size_t)i * size);
    bool ok = add_array(writer, name, &array, codes, err);
    free(codes);
    return ok;
}

static bool read_bytes(zip_source_t *source, char **bytes, size_t *length, Err *err) {
    struct zip_stat stat;
    if (zip_source_stat(source, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) ||
        zip_source_open(source) != 0)
        return refuse_writing("read the archive", zip_source_error(source), err);
    *length = (size_t)stat.size;
    *bytes = malloc(*length);
    bool ok = *bytes && zip_source_read(source, *bytes, stat.size) == (zip_int64_t)stat.size;
    zip_source_close(source);
    return ok || err_set(err, ERR_FAILED, "npz", "", "out of memory for %zu bytes", *length);
}

bool npz_writer_finish(NpzWriter *writer, char **bytes, size_t *length, Err *err) {
    *bytes = NULL;
    *length = 0;
    bool ok = zip_close(writer->zip) == 0;
    if (ok)
        writer->zip = NULL;
    else
        refuse_writing("write the archive", zip_get_error(writer->zip), err);
    ok = ok && read_bytes(writer->source, bytes, length, err);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    npz_writer_abort(writer);
    return ok;
}

void npz_writer_abort(NpzWriter *writer) {
    if (!writer)
        return;
    if (writer->zip)
        zip_discard(writer->zip);
    if (writer->source)
        zip_source_free(writer->source);
    for (int i = 0; i < writer->block_count; i++)
        free(writer->blocks[i]);
    memset(writer, 0, sizeof *writer);
}
