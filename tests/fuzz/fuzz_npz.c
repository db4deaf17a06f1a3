/* Fuzz target: tensor scenes from any bytes. Input that starts like a zip is read unchanged. Other
 * input is a list of arrays that are put into a valid zip first: a fuzzer cannot guess a CRC and
 * would never get past the zip. Each array is: a byte for its name, the length of its .npy (16
 * bits, little-endian, at most what is left), the .npy. */
#include "tests/fuzz/check_scene.h"
#include "tests/fuzz/fuzz.h"
#include "tests/scene/zipmaker.h"

static const char *const names[] = {
    "depth.npy",
    "feat.npy",
    "intrinsics.npy",
    "cam2ego.npy",
    "image_size.npy",
    "resize.npy",
    "crop.npy",
    "depth_range.npy",
    "grid.npy",
    "ranks_depth.npy",
    "ranks_feat.npy",
    "ranks_bev.npy",
    "bev_shape.npy",
    "weights.npy",
    "interval_starts.npy",
    "interval_lengths.npy",
    "images.npy",
    "camera_names.npy",
    "boxes.npy",
    "box_labels.npy",
    "lidar.npy",
    "timestamps.npy",
    "boxes_count.npy",
    "lidar_count.npy",
};
enum { NAMES = sizeof names / sizeof *names };

static Buffer wrap(const uint8_t *data, size_t size) {
    ZipMaker zip = {0};
    bool used[NAMES] = {false};
    for (size_t at = 0; at + 3 <= size;) {
        size_t name = data[at] % NAMES, length = data[at + 1] | (size_t)data[at + 2] << 8;
        at += 3;
        if (length > size - at)
            length = size - at;
        if (!used[name]) /* duplicate names are tested with real zips */
            zip_stored(&zip, names[name], data + at, length);
        used[name] = true;
        at += length;
    }
    zip_end(&zip);
    return zip.archive;
}

/* Reads a moment and returns how many there are; 0: it was refused. */
static int64_t read_moment(const void *bytes, size_t length, int64_t moment) {
    Scene scene;
    Err err = {0};
    bool ok = scene_read_npz(bytes, length, "fuzz.npz", moment, &scene, &err);
    int64_t moments = ok ? scene.moments : 0;
    if (ok)
        check_accepted(&scene);
    else
        check_refusal(&scene, &err);
    return moments;
}

FUZZ_TARGET(npz) {
    bool is_zip = size >= 2 && memcmp(data, "PK", 2) == 0;
    Buffer archive = is_zip ? (Buffer){0} : wrap(data, size);
    const void *bytes = is_zip ? data : archive.bytes;
    size_t length = is_zip ? size : archive.length;
    int64_t moments = read_moment(bytes, length, 0);
    if (moments > 1)
        read_moment(bytes, length, moments - 1);
    free(archive.bytes);
    return 0;
}
