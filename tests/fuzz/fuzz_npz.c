/* SPDX-License-Identifier: MIT */
/* Fuzz target: tensor scenes from any bytes. Input that starts like a zip is read unchanged. Other
 * input is a list of arrays that are put into a valid zip first: a fuzzer cannot guess a CRC and
 * would never get past the zip. Each array is: a byte for its name, the length of its .npy (16
 * bits, little-endian, at most what is left), the .npy. */
#include "tests/fuzz/fuzz.h"
#include "tests/scene/zipmaker.h"

enum { NAMES = 32 }; /* also some that are unknown, as corpora count by it */

static Buffer wrap(const uint8_t *data, size_t size) {
    ZipMaker zip = {0};
    bool used[NAMES] = {false};
    for (size_t at = 0; at + 3 <= size;) {
        size_t name = data[at] % NAMES, length = data[at + 1] | (size_t)data[at + 2] << 8;
        SceneArrayHelp help;
        char file[64];
        at += 3;
        if (length > size - at)
            length = size - at;
        snprintf(file, sizeof file, "%s.npy",
                 scene_array_help((int)name, &help) ? help.name : "unknown");
        if (!used[name]) /* duplicate names are tested with real zips */
            zip_stored(&zip, file, data + at, length);
        used[name] = true;
        at += length;
    }
    zip_end(&zip);
    return zip.archive;
}

FUZZ_TARGET(npz, 24) {
    bool is_zip = size >= 2 && memcmp(data, "PK", 2) == 0;
    Buffer archive = is_zip ? (Buffer){0} : wrap(data, size);
    FILE *file = is_zip ? file_of(data, size) : file_of(archive.bytes, archive.length);
    Scene scene;
    Err err = {0};
    if (scene_read_npz(file, "fuzz.npz", &scene, &err))
        check_accepted(&scene);
    else
        check_refusal(&scene, &err);
    free(archive.bytes);
    return 0;
}
