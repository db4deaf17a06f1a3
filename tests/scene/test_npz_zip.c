/* SPDX-License-Identifier: MIT */
/* The zip around the arrays: directories that lie, deflated members, any damage. Each read says so,
 * and none goes beyond what was checked. */
#include "tests/scene/npz_arrays.h"

static uint32_t le32(const unsigned char *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Offset in the archive of directory entry i. */
static size_t entry_at(Buffer archive, int i) {
    size_t at = le32(archive.bytes + archive.length - 6);
    while (i-- > 0)
        at += 46u + archive.bytes[at + 28] + archive.bytes[at + 30] + archive.bytes[at + 32];
    return at;
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Members of 100 bytes. A newer libzip itself refuses a stored member of two sizes. */
static const struct {
    const char *title, *name;
    int method, flags;
    uint32_t size;
    const char *words;
} odd_entries[] = {
    {"an encrypted member", "depth.npy", 0, 1, 88, "depth.npy...encrypted"},
    {"bzip2", "depth.npy", 12, 0, 100, "depth.npy...zip method 12"},
    {"stored, longer than it is", "depth.npy", 0, 0, 1000000, ""},
    {"a bomb beyond what deflate can", "depth.npy", 8, 0, 4000000000u,
     "depth.npy...4000000000 bytes, more than its 100 compressed bytes can hold"},
    {"not an array", "depth.txt", 0, 0, 100, "depth.txt...not an array"},
    {"a path", "../depth.npy", 0, 0, 100, "../depth"},
    {"a name of control codes", "\33[2Jdep.npy", 0, 0, 100, "?[2Jdep"},
    {"a name of 64 letters", A64 ".npy", 0, 0, 100, "aaaa.npy...be short"},
};

static void test_entries(void) {
    static const unsigned char data[100];
    for (size_t i = 0; i < sizeof odd_entries / sizeof *odd_entries; i++) {
        ZipMaker zip = {0};
        zip_entry(&zip, odd_entries[i].name, data, sizeof data, odd_entries[i].method,
                  odd_entries[i].flags, odd_entries[i].size, 0);
        refuses_zip(&zip, odd_entries[i].title, odd_entries[i].words);
    }
}

/* Names of 100 letters twice, and nothing. */
static void test_counts(void) {
    char name[120];
    memset(name, 'b', 100);
    name[100] = '\0';
    ZipMaker zip = {0};
    zip_stored(&zip, name, "", 0);
    zip_stored(&zip, name, "", 0);
    zip_end(&zip);
    refuses_bytes(zip.archive, "a long name twice", "");

    refuses_bytes((Buffer){NULL, 0, 0}, "no bytes at all", "");
}

static void test_members(void) {
    start("");
    add(*get("feat"));
    refuses("a member twice", "");

    ZipMaker zip = {0};
    for (int i = 0; i < 65; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%d.npy", i);
        zip_stored(&zip, name, "", 0);
    }
    refuses_zip(&zip, "65 members", "65 entries, must be at most 64");
}

enum { RUNS = 1 << 20, ZEROS = 1 + 258 * RUNS };

/* ZEROS zeros, deflated by the fixed code into one block: a zero, then RUNS times 258 of its like.
 */
static Buffer deflated_zeros(void) {
    Buffer data = {0};
    uint32_t held = 3 | 0x0c << 3, bits = 11; /* the last block, of that code; a literal zero */
    for (int i = 0; i < RUNS; i++, bits += 13) {
        for (; bits >= 8; bits -= 8, held >>= 8)
            buffer_add_le(&data, held & 0xff, 1);
        held |= 0xa3u << bits; /* length 258, distance 1 */
    }
    buffer_add_le(&data, held, 4); /* and the end: seven bits 0 */
    return data;
}

/* An archive whose depth is deflated into one stored block; its length by the directory is that and
 * `more`. */
static Buffer archive_of_depth(int more) {
    ZipMaker zip = {0};
    Buffer npy = make_npy(get("depth"));
    add_deflated(&zip, "depth.npy", npy, (uint32_t)((int)npy.length + more));
    free(npy.bytes);
    for (int i = 0; i < array_count; i++)
        if (strcmp(arrays[i].name, "depth") != 0)
            add_to(&zip, &arrays[i]);
    zip_end(&zip);
    return zip.archive;
}

static void test_deflated(void) {
    start("");
    Buffer archive = archive_of_depth(0);
    tap_ok(read_bytes(archive) && scene.tensors.depth[35] == 0.5f, "a deflated member");
    archive.bytes[le32(archive.bytes + entry_at(archive, 1) + 42) - 1] ^= 1; /* its last byte */
    refuses_bytes(archive, "a bit flipped in it", "depth...CRC");
    refuses_bytes(archive_of_depth(16), "16 bytes less than declared", "depth...but has 160");
    get("depth")->count = 35; /* of the 36 that shape and directory declare */
    refuses_bytes(archive_of_depth(4), "data that ends early", "depth...4 bytes are missing");
    start("");
    get("depth")->extra = 4000;
    refuses_bytes(archive_of_depth(-4000), "data that goes on", "depth...more data");

    /* A real zip bomb: 1.7 MB that inflate to the declared size. */
    Buffer zeros = deflated_zeros();
    ZipMaker zip = {0};
    zip_entry(&zip, "depth.npy", zeros.bytes, zeros.length, 8, 0, ZEROS, 0);
    zip_end(&zip);
    long mark = memory_mark();
    refuses_bytes(zip.archive, "258 MiB of zeros", "depth...wrong magic");
    tap_within_1_mb(mark, "refused");
    free(zeros.bytes);
}

static void test_damage(void) {
    enum { END_RECORD = 22, SIZE = 24, LENGTHS_END = 34, OFFSET = 42, NAME = 46 };
    start("");
    Buffer archive = make_archive();
    bool ok = true;
    size_t full = archive.length, entry = entry_at(archive, 0);
    for (archive.length = 0; ok && archive.length < full; archive.length++)
        ok = !read_bytes(archive) && refused_with("net.npz", "");
    tap_ok(ok, "every prefix is refused (%zu of %zu bytes)", archive.length, full);
    archive.length = full;
    size_t accepted = 0, bad_lines = 0, vital = 0;
    for (size_t i = 0; i < full; i++) {
        archive.bytes[i] ^= 0xff;
        bool read = read_bytes(archive);
        accepted += read;
        bad_lines += !read && !refused_with("net.npz", "");
        bool size = i >= entry + SIZE && i < entry + LENGTHS_END;
        bool offset = i >= entry + OFFSET && i < entry + NAME;
        vital += read && (i >= full - END_RECORD || size || offset);
        archive.bytes[i] ^= 0xff;
    }
    /* dates, versions and attributes of the 15 entries are never read */
    tap_ok(bad_lines == 0 && accepted < 15 * 32, "every flipped byte but %zu of %zu is refused",
           accepted, full);
    tap_ok(!vital, "all of the end record, of sizes, lengths and offsets are (%zu are not)", vital);
    free(archive.bytes);
}

TAP_SUITE(npz_zip) {
    read_base_once();
    long mark = memory_mark();
    test_entries();
    test_members();
    test_counts();
    tap_within_1_mb(mark, "all refused");
    test_deflated();
    test_damage();
}
