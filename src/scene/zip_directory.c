#include "src/scene/npz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    END_BYTES = 22,
    END64_LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    DIRECTORY_MAX_BYTES = 64 * 1024,
    /* the part that libzip searches: a comment of 64 KiB and the records before it */
    TAIL_BYTES = 0xffff + END_BYTES + END64_LOCATOR_BYTES
};

static bool refuse(const char *where, const char *what, Err *err) {
    return err_set(err, ERR_FAILED, where, "", "%s", what);
}

static uint32_t le16(const unsigned char *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t le32(const unsigned char *bytes) {
    return le16(bytes) | le16(bytes + 2) << 16;
}

static bool read_at(const ZipBytes *bytes, uint64_t offset, unsigned char *to, size_t count) {
    if (bytes->memory)
        memcpy(to, bytes->memory + offset, count);
    return bytes->memory || pread(bytes->fd, to, count, (off_t)offset) == (ssize_t)count;
}

/* Finds an end record before the last one, or a zip64 one, that libzip would use instead. Array
 * data does not look like one by chance: 10 bytes would have to match. */
static bool has_other_end(const unsigned char *tail, size_t length) {
    const unsigned char *at = tail, *last = tail + length - END_BYTES;
    for (; (at = memmem(at, (size_t)(last + 7 - at), "PK\5\6\0\0\0\0", 8)); at++)
        if (le16(at + 8) == le16(at + 10))
            return true;
    return length >= END_BYTES + END64_LOCATOR_BYTES &&
           memcmp(tail + length - END_BYTES - END64_LOCATOR_BYTES, "PK\6\7", 4) == 0;
}

static bool check_entries(const char *where, const unsigned char *directory, size_t size, int count,
                          uint64_t archive, Err *err) {
    const unsigned char *entries[NPZ_MAX_MEMBERS];
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        const unsigned char *entry = entries[i] = directory + at;
        if (at + ENTRY_BYTES > size || memcmp(entry, "PK\1\2", 4) != 0)
            return refuse(where, "broken zip: fewer directory entries than declared", err);
        at += ENTRY_BYTES + le16(entry + 28) + le16(entry + 30) + le16(entry + 32);
        if (at > size)
            return refuse(where, "broken zip: an entry ends outside the directory", err);
        if (le32(entry + 20) > archive)
            return refuse(where, "broken zip: an entry is longer than the file", err);
        size_t length = le16(entry + 28);
        for (int k = 0; k < i; k++)
            if (le16(entries[k] + 28) == length &&
                memcmp(entries[k] + ENTRY_BYTES, entry + ENTRY_BYTES, length) == 0)
                return err_set(err, ERR_FAILED, where, "", "%.*s is in the archive twice",
                               length < 80 ? (int)length : 80, (const char *)entry + ENTRY_BYTES);
    }
    return at == size || refuse(where, "broken zip: more directory entries than declared", err);
}

static bool check_tail(const char *where, const ZipBytes *bytes, unsigned char *tail, Err *err) {
    size_t length = bytes->length < TAIL_BYTES ? (size_t)bytes->length : TAIL_BYTES;
    if (length < END_BYTES || !read_at(bytes, bytes->length - length, tail, length) ||
        memcmp(tail + length - END_BYTES, "PK\5\6", 4) != 0)
        return refuse(where, "truncated zip: it does not end with its directory", err);
    if (has_other_end(tail, length))
        return refuse(where, "broken zip: a second end record, or a zip64 one", err);
    const unsigned char *end = tail + length - END_BYTES;
    uint32_t count = le16(end + 10), size = le32(end + 12), offset = le32(end + 16);
    if (le32(end + 4) != 0 || le16(end + 8) != count || le16(end + 20) != 0)
        return refuse(where, "broken zip: several disks, or a comment", err);
    if (count > NPZ_MAX_MEMBERS || size > DIRECTORY_MAX_BYTES)
        return err_set(err, ERR_FAILED, where, "",
                       "zip directory of %u entries in %u bytes, must be at most %d in %d", count,
                       size, NPZ_MAX_MEMBERS, DIRECTORY_MAX_BYTES);
    if ((uint64_t)offset + size != bytes->length - END_BYTES)
        return refuse(where, "truncated zip: the directory is not where it is declared", err);
    if (!read_at(bytes, offset, tail, size))
        return refuse(where, "cannot read the zip directory", err);
    return check_entries(where, tail, size, (int)count, bytes->length, err);
}

bool zip_check_directory(const ZipBytes *bytes, const char *where, Err *err) {
    unsigned char *tail = malloc(TAIL_BYTES);
    bool ok = tail ? check_tail(where, bytes, tail, err) : refuse(where, "out of memory", err);
    free(tail);
    return ok;
}
