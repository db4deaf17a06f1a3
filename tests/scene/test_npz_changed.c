/* Archives that change while they are open, or whose deflated members end early: each read says so,
 * and none goes beyond what was checked. */
#include "tests/scene/npz_arrays.h"

typedef struct {
    Buffer archive;
    Npz npz;
    NpyArray array; /* of its one member */
} Opened;

/* An archive of one array in memory, open, its header read. */
static bool open_one(Opened *opened, const Array *array, bool pack) {
    Err err = {0};
    ZipMaker zip = {0};
    deflated = pack;
    add_to(&zip, array);
    deflated = false;
    zip_end(&zip);
    opened->archive = zip.archive;
    return npz_open_memory(&opened->npz, zip.archive.bytes, zip.archive.length, "net.npz", &err) &&
           npz_read_array(&opened->npz, 0, &opened->array, &err);
}

static void close_one(Opened *opened) {
    npz_close(&opened->npz);
    free(opened->archive.bytes);
}

/* Overwrites bytes of the archive, which are there once. */
static bool change(Buffer archive, const char *from, const char *to, size_t length) {
    unsigned char *at = memmem(archive.bytes, archive.length, from, length);
    if (at)
        memcpy(at, to, length);
    return at != NULL;
}

/* Reads the member whole; the line is what was wrong. */
static bool read_one(Opened *opened, NpyType type) {
    static double elements[160];
    Err err = {0};
    bool ok = type == NPY_U
                  ? npz_read_texts(&opened->npz, 0, &opened->array, (char *)elements, 64, &err)
                  : npz_read(&opened->npz, 0, &opened->array, type, elements, &err);
    line[0] = '\0';
    if (!ok)
        err_line(&err, line, sizeof line);
    return ok;
}

/* Makes the header shorter: its last bytes become elements. */
static bool shorten_header(Buffer archive, int bytes) {
    unsigned char *at = memmem(archive.bytes, archive.length, "\x93NUMPY", 6);
    if (at)
        at[8] = (unsigned char)(at[8] - bytes);
    return at != NULL;
}

static void says(bool changed, bool read, const char *title, const char *words) {
    if (!tap_ok(changed && !read && !strncmp(line, "net.npz: a: ", 12) && strstr(line, words) &&
                    !strchr(line, '\n'),
                "%s", title))
        tap_note("got: %s", line[0] ? line : "accepted");
}

/* ---- changed --------------------------------------------------------------------------------- */

static void test_bytes(void) {
    static const Array array = {"a", "<f4", "(2,)", 2, {1, 2}, NULL, 0};
    static const struct {
        const char *title, *from, *to;
        size_t length;
        const char *words;
    } changes[] = {
        {"another type of the same size", "<f4", "<i4", 3, "the file changed while it was read"},
        {"another magic", "\x93NUMPY", "\x93NUMPX", 6, "wrong magic bytes"},
        {"a larger shape", "(2,)", "(3,)", 4, "needs 12 bytes, but has 8"},
        {"an element", "\0\0\x80\x3f", "\0\0\x80\x3e", 4, "CRC"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        Opened opened;
        tap_need(open_one(&opened, &array, false), "an archive of one array");
        bool changed = change(opened.archive, changes[i].from, changes[i].to, changes[i].length);
        says(changed, read_one(&opened, NPY_F4), changes[i].title, changes[i].words);
        close_one(&opened);
    }
}

/* The header becomes shorter by as much as the elements become longer: both are right alone. */
static void test_headers(void) {
    Opened opened;
    Array array = {"a", "<f4", "(4,)", 4, {1, 2, 3, 4}, NULL, 0};
    array.header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }    ";
    tap_need(open_one(&opened, &array, false), "four numbers");
    bool changed = change(opened.archive, "(4,)", "(5,)", 4) && shorten_header(opened.archive, 4);
    says(changed, read_one(&opened, NPY_F4), "a number more", "the file changed while it was read");
    close_one(&opened);
    array = (Array){"a", "<U5", "(2,)", 10, {'a'}, NULL, 0};
    array.header = "{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }        ";
    tap_need(open_one(&opened, &array, false), "two texts");
    changed = change(opened.archive, "<U5", "<U6", 3) && shorten_header(opened.archive, 8);
    says(changed, read_one(&opened, NPY_U), "longer texts", "the file changed while it was read");
    close_one(&opened);
}

/* ---- ends early ------------------------------------------------------------------------------ */

/* 64 numbers by header and directory, of which 20 were deflated. */
static void test_short(void) {
    static const NpyType types[] = {NPY_F4, NPY_F8};
    for (int fortran = 0; fortran < 2; fortran++)
        for (int i = 0; i < 2; i++) {
            Opened opened;
            Err err = {0};
            ZipMaker zip = {0};
            Array array = {"a", "<f4", "(8, 8)", 20, {1, 2, 3}, NULL, 0};
            if (fortran)
                array.header = "{'descr': '<f4', 'fortran_order': True, 'shape': (8, 8), }";
            Buffer npy = make_npy(&array);
            add_deflated(&zip, "a.npy", npy, (uint32_t)npy.length + 44 * 4);
            free(npy.bytes);
            zip_end(&zip);
            opened.archive = zip.archive;
            tap_need(npz_open_memory(&opened.npz, zip.archive.bytes, zip.archive.length, "net.npz",
                                     &err) &&
                         npz_read_array(&opened.npz, 0, &opened.array, &err),
                     "an archive whose data end early");
            says(true, read_one(&opened, types[i]), i ? "converted" : "as they are",
                 "bytes are missing");
            close_one(&opened);
        }
}

TAP_SUITE(npz_changed) {
    test_bytes();
    test_headers();
    test_short();
}
