/* A mutator for .npz, for libFuzzer: it unpacks the archive, changes an array's header or data, a
 * name, or the list of arrays, and packs it again with right lengths and CRCs. A quarter of the
 * changes are made to the packed bytes: the directory, its entries, the end record. */
#include "src/scene/scene.h"
#include "tests/scene/zipmaker.h"

#include <stdbool.h>
#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { MEMBERS = 32, MOST_BYTES = 1 << 16, NAME = 24, LOCAL = 30, CENTRAL = 46, PREFIX = 10 };

/* The name of array i as a file; past the last one none that is known. */
static const char *name_of(size_t i) {
    static char text[NAME];
    SceneArrayHelp help;
    snprintf(text, sizeof text, "%.19s.npy", scene_array_help((int)i, &help) ? help.name : "other");
    return text;
}

typedef struct {
    char name[NAME];
    uint8_t *bytes; /* MOST_BYTES of them */
    size_t length;
} Member;

/* Memory of all members, allocated once: allocation under the address sanitizer is slow. */
static uint8_t memory[MEMBERS][MOST_BYTES], scratch[2 * MOST_BYTES];

typedef struct {
    Member members[MEMBERS];
    size_t count;
    uint8_t *free[MEMBERS]; /* parts of `memory`, the first `left` */
    size_t left;
    uint64_t random;
} Archive;

static size_t below(Archive *archive, size_t count) {
    archive->random = archive->random * 6364136223846793005u + 1442695040888963407u;
    return count ? (size_t)(archive->random >> 33) % count : 0;
}

static uint32_t le(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static void add_member(Archive *archive, const char *name, size_t name_length, const uint8_t *bytes,
                       size_t length) {
    if (archive->count == MEMBERS || length > MOST_BYTES)
        return;
    Member *member = &archive->members[archive->count++];
    snprintf(member->name, sizeof member->name, "%.*s", (int)name_length, name);
    member->bytes = archive->free[--archive->left];
    memcpy(member->bytes, bytes, length);
    member->length = length;
}

static void inflate_member(Archive *archive, const char *name, size_t name_length,
                           const uint8_t *bytes, size_t length) {
    z_stream stream = {.next_in = (uint8_t *)bytes,
                       .avail_in = (unsigned)length,
                       .next_out = scratch,
                       .avail_out = MOST_BYTES};
    if (inflateInit2(&stream, -MAX_WBITS) == Z_OK) {
        if (inflate(&stream, Z_FINISH) == Z_STREAM_END)
            add_member(archive, name, name_length, scratch, stream.total_out);
        inflateEnd(&stream);
    }
}

/* The entries of the directory that are whole. */
static void unpack_zip(Archive *archive, const uint8_t *data, size_t size) {
    for (size_t at = 0; at + CENTRAL <= size; at++) {
        if (memcmp(data + at, "PK\1\2", 4) != 0)
            continue;
        size_t offset = le(data + at + 42, 4), name = le(data + at + 28, 2);
        if (at + CENTRAL + name > size || offset > size || offset + LOCAL > size)
            continue;
        size_t begin = offset + LOCAL + le(data + offset + 26, 2) + le(data + offset + 28, 2);
        size_t length = le(data + at + 20, 4);
        if (begin > size || length > size - begin)
            continue;
        bool stored = le(data + at + 10, 2) == 0;
        (stored ? add_member : inflate_member)(archive, (const char *)data + at + CENTRAL, name,
                                               data + begin, length);
    }
}

/* The other form of the corpus: see fuzz_npz.c. */
static void unpack_list(Archive *archive, const uint8_t *data, size_t size) {
    for (size_t at = 0; at + 3 <= size;) {
        const char *name = name_of(data[at] % MEMBERS);
        size_t length = le(data + at + 1, 2);
        at += 3;
        if (length > size - at)
            length = size - at;
        add_member(archive, name, strlen(name), data + at, length);
        at += length;
    }
}

/* ---- mutations ------------------------------------------------------------------------------- */

static size_t header_end(const Member *member) {
    size_t end = member->length >= PREFIX ? PREFIX + le(member->bytes + 8, 2) : member->length;
    return end < member->length ? end : member->length;
}

/* The text of the header; its length is put right. */
static void mutate_header(Member *member) {
    size_t end = header_end(member), tail = member->length - end;
    if (end <= PREFIX || tail + PREFIX + 512 > MOST_BYTES)
        return;
    uint8_t *rest = scratch, text[512];
    size_t length = end - PREFIX < sizeof text ? end - PREFIX : sizeof text;
    memcpy(rest, member->bytes + end, tail);
    memcpy(text, member->bytes + PREFIX, length);
    length = LLVMFuzzerMutate(text, length, sizeof text);
    memcpy(member->bytes + PREFIX, text, length);
    member->bytes[8] = (uint8_t)length;
    member->bytes[9] = (uint8_t)(length >> 8);
    memcpy(member->bytes + PREFIX + length, rest, tail);
    member->length = PREFIX + length + tail;
}

static void mutate_data(Member *member) {
    size_t begin = header_end(member);
    size_t tail =
        LLVMFuzzerMutate(member->bytes + begin, member->length - begin, MOST_BYTES - begin);
    member->length = begin + tail;
}

static void mutate_list(Archive *archive) {
    size_t chosen = below(archive, archive->count), other = below(archive, archive->count);
    Member *member = &archive->members[chosen], swapped = *member;
    switch (below(archive, 4)) {
    case 0:
        snprintf(member->name, sizeof member->name, "%s", name_of(below(archive, MEMBERS)));
        break;
    case 1:
        *member = archive->members[other];
        archive->members[other] = swapped;
        break;
    case 2:
        archive->free[archive->left++] = member->bytes;
        *member = archive->members[--archive->count];
        break;
    default:
        add_member(archive, name_of(below(archive, MEMBERS)), NAME, archive->members[other].bytes,
                   archive->members[other].length);
    }
}

static void mutate(Archive *archive) {
    Member *member = &archive->members[below(archive, archive->count)];
    size_t kind = below(archive, 8);
    if (kind < 3)
        mutate_header(member);
    else if (kind < 6)
        mutate_data(member);
    else if (kind < 7)
        member->length = LLVMFuzzerMutate(member->bytes, member->length, MOST_BYTES);
    else
        mutate_list(archive);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* zlib's is ten times as fast as zipmaker's. */
static uint32_t crc_of(const Member *member) {
    return (uint32_t)crc32(0, member->bytes, (unsigned)member->length);
}

static void pack_deflated(ZipMaker *zip, const Member *member) {
    z_stream stream = {.next_in = member->bytes,
                       .avail_in = (unsigned)member->length,
                       .next_out = scratch,
                       .avail_out = sizeof scratch};
    deflateInit2(&stream, 1, Z_DEFLATED, -9, 1, Z_DEFAULT_STRATEGY); /* small tables: quick */
    deflate(&stream, Z_FINISH);
    zip_entry(zip, member->name, scratch, stream.total_out, 8, 0, (uint32_t)member->length,
              crc_of(member));
    deflateEnd(&stream);
}

static Buffer pack(Archive *archive) {
    ZipMaker zip = {0};
    bool deflated = below(archive, 8) == 0;
    for (size_t i = 0; i < archive->count; i++) {
        const Member *member = &archive->members[i];
        if (deflated)
            pack_deflated(&zip, member);
        else
            zip_entry(&zip, member->name, member->bytes, member->length, 0, 0,
                      (uint32_t)member->length, crc_of(member));
    }
    zip_end(&zip);
    return zip.archive;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static Archive archive;
    archive.count = 0;
    archive.random = seed;
    for (archive.left = 0; archive.left < MEMBERS; archive.left++)
        archive.free[archive.left] = memory[archive.left];
    bool is_zip = size >= 2 && memcmp(data, "PK", 2) == 0;
    if (below(&archive, 4) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    (is_zip ? unpack_zip : unpack_list)(&archive, data, size);
    if (!archive.count)
        return LLVMFuzzerMutate(data, size, max_size);
    for (size_t left = 1 + below(&archive, 3); left > 0 && archive.count; left--)
        mutate(&archive);
    Buffer packed = pack(&archive);
    size_t length = packed.length <= max_size ? packed.length : size;
    if (packed.length <= max_size)
        memcpy(data, packed.bytes, packed.length);
    free(packed.bytes);
    return length;
}
