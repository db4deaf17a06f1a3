/* SPDX-License-Identifier: MIT */
/* NumPy's arrays: .npy files of one array, and .npz archives of several arrays. */
#include "src/scene/npz.h"
#include "kernels/clean.h"
#include "kernels/codec.h"
#include "src/base/data.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "array files are little-endian; this code does not swap bytes"
#endif

const NpyTypeInfo npy_types[NPY_TYPE_COUNT] = {
    [NPY_F2] = {"<f2", "float16", 2}, [NPY_F4] = {"<f4", "float32", 4},
    [NPY_F8] = {"<f8", "float64", 8}, [NPY_I4] = {"<i4", "int32", 4},
    [NPY_I8] = {"<i8", "int64", 8},   [NPY_U1] = {"|u1", "uint8", 1},
    [NPY_U4] = {"<u4", "uint32", 4},  [NPY_S] = {"|S", "bytes", 1},
    [NPY_U] = {"<U", "str", 4},
};

#define SPACES " \n"

/* The first bytes: magic, version 1.0, and the length of the header's text. */
enum { PREFIX = 10 };
static const char magic[6] = "\x93NUMPY";

/* ---- the header's text: a Python dictionary of three keys in NumPy's order ------------------- */

/* Refuses a dtype, with a hint how to save the array instead. Returns false. */
static bool refuse_dtype(const char *descr, const char *where, Err *err) {
    const char *hint = "known: float16 to float64, int32, int64, uint8, uint32, str";
    const char *kind = "unknown dtype";
    if (strchr(descr, 'O')) {
        kind = "object dtype";
        hint = "objects are Python pickles, which are not read; save an array of numbers, or "
               "numpy.array(names, dtype=str)";
    } else if (descr[0] == '>') {
        kind = "big-endian dtype";
        hint = "save array.astype(array.dtype.newbyteorder('<'))";
    } else if (strchr(descr, 'V')) {
        kind = "raw dtype";
        hint = "bfloat16? save array.astype(numpy.float32)";
    }
    return err_set(err, ERR_FAILED, where, hint, "%s \"%.40s\"", kind, descr);
}

/* Whether `descr` is a dtype of this type. Texts have their length behind the type: "<U12". */
static bool is_dtype(const char *descr, int type) {
    const char *known = npy_types[type].descr;
    return type < NPY_S ? strcmp(descr, known) == 0 : strncmp(descr, known, 2) == 0;
}

/* Sets the array's type and its number of characters from a dtype such as "<f4" or "<U12". */
static bool parse_dtype(const char *descr, const char *where, NpyArray *array, Err *err) {
    int type = 0;
    while (type < NPY_TYPE_COUNT && !is_dtype(descr, type))
        type++;
    if (type == NPY_TYPE_COUNT)
        return refuse_dtype(descr, where, err);
    array->type = (NpyType)type;
    array->characters = 1;
    if (type < NPY_S)
        return true;
    char *end;
    long count = isdigit((unsigned char)descr[2]) ? strtol(descr + 2, &end, 10) : -1;
    BAD_FILE_IF(count < 0 || *end || count > NPY_MAX_TEXT, where, "",
                "text of \"%.40s\" characters, must be at most %d", descr + 2, NPY_MAX_TEXT);
    array->characters = (int)count;
    return true;
}

static const char *skip_spaces(const char *text) {
    return text + strspn(text, SPACES);
}

/* Reads the extents of a shape. Returns the text behind the closing bracket. NULL: an error. */
static const char *read_shape(const char *text, const char *where, NpyArray *array, Err *err) {
    text = skip_spaces(text);
    while (*text != ')') {
        char *number_end;
        errno = 0;
        const long long extent = strtoll(text, &number_end, 10);
        const char *end = skip_spaces(number_end), *problem = NULL;
        if (!isdigit((unsigned char)*text) || (*end != ',' && *end != ')'))
            problem = "broken npy header: shape is not a tuple of whole numbers";
        else if (array->rank == NPY_MAX_RANK)
            problem = "shape has more than 8 axes";
        else if (errno)
            problem = "shape has a size that does not fit 64 bits";
        if (problem) {
            err_set(err, ERR_FAILED, where, "", "%s", problem);
            return NULL;
        }
        array->shape[array->rank++] = extent;
        text = skip_spaces(*end == ',' ? end + 1 : end);
    }
    return text + 1;
}

/* Sets the number of elements. Refuses a shape whose bytes do not fit 64 bits. */
static bool count_elements(const char *where, NpyArray *array, Err *err) {
    int64_t bytes = (int64_t)npy_element_bytes(array);
    array->count = 1;
    bool wraps = false;
    for (int i = 0; i < array->rank; i++)
        wraps |= __builtin_mul_overflow(array->count, array->shape[i], &array->count) ||
                 __builtin_mul_overflow(bytes, array->shape[i], &bytes);
    return !wraps ||
           err_set(err, ERR_FAILED, where, "", "shape %s: the product does not fit 64 bits",
                   npy_shape_text(array).text);
}

bool npy_read_header(const char *text, size_t length, const char *where, NpyArray *array,
                     Err *err) {
    char descr[64] = "", order[8] = "";
    int shape_start = 0; /* stays 0 if the text has another form */
    *array = (NpyArray){.rank = 0};
    BAD_FILE_IF(sscanf(text, " { 'descr' : %1[[]", order) == 1, where, "save one array per field",
                "structured dtype");
    sscanf(text, " { 'descr' : '%63[^']' , 'fortran_order' : %7[A-Za-z] , 'shape' : (%n", descr,
           order, &shape_start);
    if (descr[0] && !parse_dtype(descr, where, array, err))
        return false;
    BAD_FILE_IF(!strcmp(order, "True"), where, "save numpy.ascontiguousarray(array)",
                "an array in Fortran order");
    const bool c_order = !strcmp(order, "False");
    const char *end = text + shape_start;
    if (shape_start && c_order) {
        end = read_shape(end, where, array, err);
        if (!end)
            return false;
    }
    end += strspn(end, " ,\n");
    const bool ends_here = *end == '}' && skip_spaces(end + 1) == text + length;
    BAD_FILE_IF(!c_order || !ends_here, where, "write it with numpy.save",
                "broken npy header: no dictionary of descr, fortran_order and shape");
    return count_elements(where, array, err);
}

ShortText npy_shape_text(const NpyArray *array) {
    ShortText text = {"("};
    for (int i = 0; i < array->rank; i++)
        text_add(text.text, sizeof text.text, i ? ", %lld" : "%lld", (long long)array->shape[i]);
    /* Python writes a comma behind a single element */
    text_add(text.text, sizeof text.text, array->rank == 1 ? ",)" : ")");
    return text;
}

bool npy_read_start(const char *start, size_t got, uint64_t bytes, const char *where,
                    NpyArray *array, Err *err) {
    char text[NPY_START];
    BAD_FILE_IF(got < PREFIX || memcmp(start, magic, sizeof magic), where, "",
                "not an .npy array: %s", got < PREFIX ? "truncated" : "wrong magic bytes");
    BAD_FILE_IF(start[6] != 1, where, "", "npy version %d, must be 1", start[6]);
    size_t length = (unsigned char)start[8] | (size_t)(unsigned char)start[9] << 8;
    BAD_FILE_IF(length > got - PREFIX, where, "", "truncated: its header has no end");
    memcpy(text, start + PREFIX, length);
    text[length] = '\0';
    if (!npy_read_header(text, length, where, array, err))
        return false;
    array->start = PREFIX + length;
    const uint64_t needed = (uint64_t)array->count * npy_element_bytes(array);
    return needed == bytes - array->start ||
           err_set(err, ERR_FAILED, where, "", "shape %s of %s needs %llu bytes, but has %llu",
                   npy_shape_text(array).text, npy_types[array->type].name,
                   (unsigned long long)needed, (unsigned long long)(bytes - array->start));
}

size_t npy_write_header(const NpyArray *array, char header[NPY_WRITTEN_BYTES]) {
    enum { ALIGN = 64 };
    char length[16] = "";
    if (array->type == NPY_S || array->type == NPY_U)
        snprintf(length, sizeof length, "%d", array->characters);
    int text = snprintf(header + PREFIX, NPY_WRITTEN_BYTES - PREFIX,
                        "{'descr': '%s%s', 'fortran_order': False, 'shape': %s, }",
                        npy_types[array->type].descr, length, npy_shape_text(array).text);
    size_t total = ((size_t)PREFIX + (size_t)text + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(header + PREFIX + text, ' ', total - PREFIX - (size_t)text);
    header[total - 1] = '\n';
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((total - PREFIX) & 0xff);
    header[9] = (char)((total - PREFIX) >> 8);
    return total;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double element_value(NpyType type, const unsigned char *bytes) {
    union {
        uint16_t f2;
        float f4;
        double f8;
        int32_t i4;
        int64_t whole;
    } value = {.whole = 0};
    memcpy(&value, bytes, npy_types[type].bytes);
    return type == NPY_F2   ? bev_fp16_decode(value.f2)
           : type == NPY_F4 ? value.f4
           : type == NPY_F8 ? value.f8
           : type == NPY_I4 ? value.i4
                            : (double)value.whole; /* rounded beyond 2^53, but above int32 */
}

ShortText npz_place(const char *name, const NpyArray *array, int64_t i) {
    ShortText place = short_text("%s", name);
    int64_t stride = array->count;
    for (int axis = 0; axis < array->rank; axis++) {
        stride /= array->shape[axis];
        text_add(place.text, sizeof place.text, "%s%lld", axis ? ", " : "[",
                 (long long)(i / stride % array->shape[axis]));
    }
    text_add(place.text, sizeof place.text, "%s", array->rank ? "]" : "");
    return place;
}

static void store_number(NpyType type, void *elements, int64_t i, double value) {
    if (type == NPY_F4)
        ((float *)elements)[i] = (float)value;
    else if (type == NPY_F8)
        ((double *)elements)[i] = value;
    else
        ((int32_t *)elements)[i] = (int32_t)value;
}

/* Converts elements as npz_read() says. Errors are reported in array `name` of file `where`. */
static bool convert_elements(const NpyArray *array, const unsigned char *bytes, NpyType type,
                             void *elements, const char *where, const char *name, Err *err) {
    for (int64_t i = 0; i < array->count; i++, bytes += npy_types[array->type].bytes) {
        double value = element_value(array->type, bytes);
        if (type == NPY_I4 && !(value >= INT32_MIN && value <= INT32_MAX))
            return data_refuse(err, where, npz_place(name, array, i).text, "",
                               "%.0f does not fit int32", value);
        store_number(type, elements, i, value);
    }
    return true;
}

/* ---- a file of one array --------------------------------------------------------------------- */

/* Reads the header of a file, and checks the type of its elements. */
static bool read_file_header(FILE *file, const char *where, NpyType type, NpyArray *array,
                             Err *err) {
    char start[NPY_START];
    const bool whole = type == NPY_I4; /* whole numbers are wanted */
    fseek(file, 0, SEEK_END);
    uint64_t bytes = (uint64_t)ftell(file);
    rewind(file);
    if (!npy_read_start(start, fread(start, 1, sizeof start, file), bytes, where, array, err))
        return false;
    fseek(file, (long)array->start, SEEK_SET);
    const bool is_whole = array->type >= NPY_I4 && array->type <= NPY_U4;
    return (whole ? is_whole : npy_is_float(array->type)) ||
           err_set(err, ERR_FAILED, where, whole ? "" : "save array.astype(numpy.float32)",
                   "dtype %s, must be %s", npy_types[array->type].name,
                   whole ? "any whole number" : "float16, float32 or float64");
}

bool npy_read_file(FILE *file, const char *where, NpyType type, NpyArray *array, void **elements,
                   Err *err) {
    bool ok = file && read_file_header(file, where, type, array, err);
    size_t size = ok ? (size_t)array->count * npy_element_bytes(array) : 0;
    void *bytes = malloc(size + 1);
    *elements = ok ? malloc((size_t)array->count * npy_types[type].bytes + 1) : NULL;
    ok = ok && ((bytes && *elements) || err_no_memory(err, where, ""));
    if (ok && fread(bytes, 1, size, file) != size)
        ok = err_set(err, ERR_FAILED, where, "", "cannot read its elements");
    ok = ok && convert_elements(array, bytes, type, *elements, where, "", err);
    free(bytes);
    if (file)
        fclose(file);
    if (!ok) {
        free(*elements);
        *elements = NULL;
    }
    return ok;
}

/* ---- opening an archive ---------------------------------------------------------------------- */

/* Adds an array of the archive to the list, if its name and its packing are known. */
static bool list_member(Npz *npz, zip_uint64_t index, Err *err) {
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    struct zip_stat stat;
    BAD_FILE_IF(zip_stat_index(npz->zip, index, ZIP_FL_ENC_RAW, &stat) != 0 ||
                    (stat.valid & needed) != needed,
                npz->where, "", "broken zip: an entry without a name or a size");
    const size_t length = strlen(stat.name);
    char where[256];
    snprintf(where, sizeof where, "%s: %.80s", npz->where, stat.name);
    const bool has_length = length >= 5 && length - 4 < NPZ_MAX_NAME;
    BAD_FILE_IF(!has_length || strcmp(stat.name + length - 4, ".npy") != 0, where,
                "save arrays, or tensors of a .pth, with numpy.savez",
                "not an array: the name must end in .npy and be short");
    BAD_FILE_IF(stat.encryption_method != ZIP_EM_NONE, where, "", "encrypted");
    BAD_FILE_IF(stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE, where,
                "use np.savez or np.savez_compressed",
                "zip method %u, must be stored (0) or deflated (8)", stat.comp_method);
    enum { DEFLATE_MOST = 1032 }; /* the largest factor by which deflate compresses */
    const bool stored = stat.comp_method == ZIP_CM_STORE;
    BAD_FILE_IF(stored ? stat.size != stat.comp_size : stat.size / DEFLATE_MOST > stat.comp_size,
                where, "", "declares %llu bytes, more than its %llu compressed bytes can hold",
                (unsigned long long)stat.size, (unsigned long long)stat.comp_size);
    NpzMember *member = &npz->members[npz->count];
    snprintf(member->name, sizeof member->name, "%.*s", (int)(length - 4), stat.name);
    member->bytes = stat.size;
    npz->count++;
    return true;
}

static bool list_members(Npz *npz, Err *err) {
    zip_int64_t count = zip_get_num_entries(npz->zip, 0);
    BAD_FILE_IF(count > NPZ_MAX_MEMBERS, npz->where, "",
                "a zip of %lld entries, must be at most %d", (long long)count, NPZ_MAX_MEMBERS);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(npz->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        BAD_FILE_IF(name && zip_name_locate(npz->zip, name, ZIP_FL_ENC_RAW) != i, npz->where, "",
                    "%.80s is in the archive twice", name);
        if (!list_member(npz, (zip_uint64_t)i, err))
            return false;
    }
    return true;
}

/* Opens the archive in a file. The archive takes the file over: closing the archive closes it. */
static bool open_archive(Npz *npz, FILE *file, Err *err) {
    enum { FROM_START = 0, WHOLE_FILE = -1 };
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_filep_create(file, FROM_START, WHOLE_FILE, &error);
    if (source)
        npz->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    else
        fclose(file);
    if (source && !npz->zip)
        zip_source_free(source);
    const bool no_memory = zip_error_code_zip(&error) == ZIP_ER_MEMORY;
    zip_error_fini(&error);
    if (no_memory)
        return err_no_memory(err, npz->where, "");
    return npz->zip || err_set(err, ERR_FAILED, npz->where, "",
                               "truncated zip, or one with a damaged directory");
}

bool npz_open(Npz *npz, FILE *file, const char *where, Err *err) {
    const size_t length = strlen(where), most = sizeof npz->where - 1;
    struct stat status;
    memset(npz, 0, sizeof *npz);
    snprintf(npz->where, sizeof npz->where, "%s", length > most ? where + length - most : where);
    if (fstat(fileno(file), &status) == 0 && (uint64_t)status.st_size > NPZ_MAX_BYTES) {
        fclose(file);
        return err_set(err, ERR_FAILED, npz->where,
                       "save one moment a file, and depth and feat as float16",
                       "%llu bytes, must be at most %llu", (unsigned long long)status.st_size,
                       (unsigned long long)NPZ_MAX_BYTES);
    }
    if (open_archive(npz, file, err) && list_members(npz, err))
        return true;
    npz_close(npz);
    return false;
}

void npz_close(Npz *npz) {
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

static ShortText member_place(const Npz *npz, int member) {
    return short_text("%s: %s", npz->where, npz->members[member].name);
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
static size_t read_member_bytes(zip_file_t *file, char *to, size_t count) {
    size_t done = 0;
    while (done < count) {
        const zip_int64_t got = zip_fread(file, to + done, count - done);
        if (got <= 0) /* the end, or an error */
            break;
        done += (size_t)got;
    }
    return done;
}

bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err) {
    char start[NPY_START];
    zip_file_t *file = open_member(npz, member, err);
    if (!file)
        return false;
    size_t got = read_member_bytes(file, start, sizeof start);
    zip_fclose(file);
    if (!npy_read_start(start, got, npz->members[member].bytes, member_place(npz, member).text,
                        array, err))
        return false;
    array->member = member;
    return true;
}

/* Reads all elements, as the file's bytes. Never inflates beyond the declared size (zip bombs). */
static bool read_elements(const Npz *npz, const NpyArray *array, void *bytes, Err *err) {
    const ShortText place = member_place(npz, array->member);
    char skipped[NPY_START], one_more;
    const size_t size = (size_t)array->count * npy_element_bytes(array);
    const size_t wanted = array->start + size;
    zip_file_t *file = open_member(npz, array->member, err);
    if (!file)
        return false;
    size_t got = read_member_bytes(file, skipped, array->start);
    got += read_member_bytes(file, bytes, size);
    /* Reads beyond the end, because libzip verifies the checksum where the data ends. */
    const bool more_left = got == wanted && zip_fread(file, &one_more, 1) > 0;
    const bool damaged = zip_error_code_zip(zip_file_get_error(file)) != ZIP_ER_OK;
    bool ok = true;
    if (damaged || more_left)
        ok = err_set(err, ERR_FAILED, place.text, "the file is damaged", "%s",
                     damaged ? zip_file_strerror(file)
                             : "has more data than its directory entry says");
    else if (got != wanted)
        ok = err_set(err, ERR_FAILED, place.text, "", "truncated: %zu bytes are missing",
                     wanted - got);
    zip_fclose(file);
    return ok;
}

bool npz_read(const Npz *npz, const NpyArray *array, NpyType type, void *elements, Err *err) {
    if (array->type == type)
        return read_elements(npz, array, elements, err);
    void *bytes = malloc((size_t)array->count * npy_element_bytes(array) + 1);
    bool ok = (bytes || err_no_memory(err, npz->where, "")) &&
              read_elements(npz, array, bytes, err) &&
              convert_elements(array, bytes, type, elements, npz->where,
                               npz->members[array->member].name, err);
    free(bytes);
    return ok;
}

/* ---- texts: numpy's bytes and str, and UTF-8 ------------------------------------------------- */

/* Writes a code point as UTF-8, or '?' for any other number. Returns the number of bytes. */
static int encode_utf8(uint32_t code, char text[4]) {
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code > 0x10ffff || surrogate)
        code = '?';
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    /* the number of bytes behind the first byte, of 6 bits each */
    const int followers = 1 + (code >= 0x800) + (code >= 0x10000);
    for (int i = followers; i > 0; i--) {
        text[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    const int first_mark = 0xff << (7 - followers) & 0xff;
    text[0] = (char)(first_mark | (int)code);
    return followers + 1;
}

/* Returns how many bytes follow the first byte of a character of UTF-8. */
static int utf8_followers(unsigned char first) {
    return (first >= 0x80) + (first >= 0xe0) + (first >= 0xf0);
}

/* Decodes UTF-8 into code points. `codes` has room for one code point for each byte of `text`. */
static void decode_utf8(const char *text, uint32_t *codes) {
    const unsigned char *next = (const unsigned char *)text;
    for (; *next; codes++) {
        const unsigned char first = *next++;
        int followers = utf8_followers(first);
        *codes = followers ? first & (0x3fu >> followers) : first;
        while (followers > 0 && (*next & 0xc0) == 0x80) {
            *codes = *codes << 6 | (*next & 0x3f);
            next++;
            followers--;
        }
    }
}

/* Writes a text as UTF-8 without the zeros at its end (NPY_U is encoded). Returns its bytes. */
static size_t text_to_utf8(const NpyArray *array, const unsigned char *bytes, char *text) {
    size_t used = 0, width = npy_types[array->type].bytes;
    int length = array->characters;
    while (length > 0 && !memcmp(bytes + (size_t)(length - 1) * width, "\0\0\0", width))
        length--;
    for (int i = 0; i < length; i++) {
        uint32_t code = bytes[i];
        if (array->type == NPY_U)
            memcpy(&code, bytes + 4 * (size_t)i, sizeof code);
        if (array->type == NPY_U && code)
            used += (size_t)encode_utf8(code, text + used);
        else
            text[used++] = code ? (char)code : '?'; /* a zero inside would end the text */
    }
    text[used] = '\0';
    return used;
}

static bool convert_texts(const Npz *npz, const NpyArray *array, const unsigned char *bytes,
                          char *texts, size_t stride, Err *err) {
    char text[4 * NPY_MAX_TEXT + 1];
    for (int64_t i = 0; i < array->count; i++, bytes += npy_element_bytes(array)) {
        size_t used = text_to_utf8(array, bytes, text);
        if (used >= NPZ_TEXT)
            return data_refuse(
                err, npz->where, npz_place(npz->members[array->member].name, array, i).text,
                "shorten it", "a text of %zu bytes, must be at most %d", used, NPZ_TEXT - 1);
        clean_text(text, texts + (size_t)i * stride, NPZ_TEXT);
    }
    return true;
}

bool npz_read_texts(const Npz *npz, const NpyArray *array, char *texts, size_t stride, Err *err) {
    void *bytes = malloc((size_t)array->count * npy_element_bytes(array) + 1);
    bool ok = (bytes || err_no_memory(err, npz->where, "")) &&
              read_elements(npz, array, bytes, err) &&
              convert_texts(npz, array, bytes, texts, stride, err);
    free(bytes);
    return ok;
}

/* ---- writing an archive ---------------------------------------------------------------------- */

static bool refuse_writing(const char *doing, zip_error_t *error, Err *err) {
    return err_set(err, ERR_FAILED, "npz", "", "cannot %s: %s", doing, zip_error_strerror(error));
}

/* Writes the elements of an entry in the type of its array. */
static void write_elements(const NpzEntry *entry, void *to) {
    const NpyArray *array = &entry->array;
    const char *from = entry->elements;
    const int64_t row = array->rank && array->count ? array->count / array->shape[0] : 1;
    /* Bytes from text to text, or from row to row. The numbers of a row have no gaps. */
    const int64_t stride = (int64_t)(entry->stride ? entry->stride : (size_t)row * sizeof(double));
    if (array->type == NPY_F2) {
        const float *values = entry->elements;
        for (int64_t i = 0; i < array->count; i++)
            ((uint16_t *)to)[i] = (uint16_t)bev_code(BEV_FP16, values[i]);
    } else if (array->type == NPY_U) {
        for (int64_t i = 0; i < array->count; i++)
            decode_utf8(from + i * stride, (uint32_t *)to + i * array->characters);
    } else if (entry->doubles) {
        for (int64_t i = 0; i < array->count; i++) {
            double value;
            const int64_t offset = i / row * stride + i % row * (int64_t)sizeof value;
            memcpy(&value, from + offset, sizeof value);
            store_number(array->type, to, i, value);
        }
    } else if (array->count > 0) {
        memcpy(to, from, (size_t)array->count * npy_element_bytes(array));
    }
}

/* Makes the bytes of a member: header and elements. The caller frees. NULL: no memory. */
static char *member_bytes(const NpzEntry *entry, size_t *length) {
    const NpyArray *array = &entry->array;
    size_t bytes = (size_t)array->count * npy_element_bytes(array);
    char *block = calloc(1, NPY_WRITTEN_BYTES + bytes);
    if (!block)
        return NULL;
    const size_t start = npy_write_header(array, block);
    write_elements(entry, block + start);
    *length = start + bytes;
    return block;
}

/* Adds a member to the archive, with a fixed date, so that equal scenes give equal files. */
static bool add_member(zip_t *zip, const char *name, const char *block, size_t length) {
    enum { DATE_1980_01_01 = 1 << 5 | 1 };
    char file[NPZ_MAX_NAME + 4];
    snprintf(file, sizeof file, "%.*s.npy", NPZ_MAX_NAME - 1, name);
    zip_source_t *source = zip_source_buffer(zip, block, length, 0);
    zip_int64_t index = source ? zip_file_add(zip, file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0)
        zip_source_free(source);
    return index >= 0 && zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(zip, (zip_uint64_t)index, 0, DATE_1980_01_01, 0) == 0;
}

/* Closes and frees the archive, whose bytes are in `source`, and writes them to a file. */
static bool write_archive(zip_t *zip, zip_source_t *source, const char *path, Err *err) {
    struct zip_stat stat;
    if (zip_close(zip) != 0) {
        refuse_writing("write the archive", zip_get_error(zip), err);
        zip_discard(zip);
        return false;
    }
    if (zip_source_stat(source, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) ||
        zip_source_open(source) != 0)
        return refuse_writing("read the archive", zip_source_error(source), err);
    char *bytes = malloc((size_t)stat.size);
    bool ok = (bytes && zip_source_read(source, bytes, stat.size) == (zip_int64_t)stat.size) ||
              err_no_memory(err, "npz", "");
    zip_source_close(source);
    ok = ok && data_write(path, bytes, (size_t)stat.size, err);
    free(bytes);
    return ok;
}

bool npz_write(const char *path, const NpzEntry *entries, int count, Err *err) {
    char *blocks[NPZ_MAX_MEMBERS] = {NULL}; /* libzip frees its blocks in some failures only */
    zip_error_t error;
    zip_error_init(&error);
    const void *no_bytes = NULL;
    zip_source_t *source = zip_source_buffer_create(no_bytes, 0, 0, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_TRUNCATE, &error) : NULL;
    bool ok = zip || refuse_writing("start an archive", &error, err);
    zip_error_fini(&error);
    if (ok)
        zip_source_keep(source); /* the source must live after zip_close, to read the bytes */
    for (int i = 0; ok && i < count; i++) {
        size_t length = 0;
        blocks[i] = member_bytes(&entries[i], &length);
        if (!blocks[i])
            ok = err_no_memory(err, entries[i].name, "");
        else if (!add_member(zip, entries[i].name, blocks[i], length))
            ok = refuse_writing("add an array", zip_get_error(zip), err);
    }
    if (ok)
        ok = write_archive(zip, source, path, err);
    else if (zip)
        zip_discard(zip);
    zip_source_free(source);
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    return ok;
}
