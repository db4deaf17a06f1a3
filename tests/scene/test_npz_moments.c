/* Several moments in one .npz: each is read as if it were alone, the others stay in the file, and
 * every kind of wrong file is refused. */
#include "src/scene/clip.h"
#include "tests/support/memory.h"
#include "tests/scene/npz_arrays.h"

#include <unistd.h>

/* ---- two moments of the small scene ---------------------------------------------------------- */

typedef struct {
    const char *array, *shape;
    int element; /* of the second moment; -1: no axis of moments */
    double value;
} Doubled;

/* The second moment differs from the first in one element of each array. */
static const Doubled doubled[] = {
    {"depth", "(2, 2, 3, 2, 3)", 7, 0.125},
    {"feat", "(2, 2, 2, 3, 4)", 47, -50},
    {"cam2ego", "(2, 2, 4, 4)", 3, 1.75},
    {"images", "(2, 2, 2, 3, 3)", 35, 77},
};
enum { DOUBLED = sizeof doubled / sizeof *doubled, FIRST_BOXES = 2, FIRST_SWEEP = 3 };

static void double_array(const Doubled *row) {
    Array *array = get(row->array);
    int count = array->count;
    memcpy(array->values + count, array->values, (size_t)count * sizeof *array->values);
    array->values[count + row->element] = row->value;
    array->shape = row->shape;
    array->count = 2 * count;
}

/* Moment 0: the two boxes and three LiDAR points of the scene alone; moment 1: one box and two
 * points more. */
static void add_rows(void) {
    static const double box[] = {9, 8, 1, 3, 2, 1, -0.25}, points[] = {7, 8, 9, 0, 4, 5, 6, 0};
    Array *boxes = get("boxes"), *labels = get("box_labels"), *lidar = get("lidar");
    memcpy(boxes->values + 14, box, sizeof box);
    boxes->shape = "(3, 7)";
    boxes->count = 21;
    labels->values[6] = 'b';
    labels->shape = "(3,)";
    labels->count = 9;
    memcpy(lidar->values + 12, points, sizeof points);
    lidar->shape = "(5, 4)";
    lidar->count = 20;
    arrays[array_count++] = (Array){"boxes_count", "<i8", "(2,)", 2, {FIRST_BOXES, 1}, NULL, 0};
    arrays[array_count++] = (Array){"lidar_count", "<i4", "(2,)", 2, {FIRST_SWEEP, 2}, NULL, 0};
}

static void start_clip(void) {
    start("");
    add_car();
    for (int i = 0; i < DOUBLED; i++)
        double_array(&doubled[i]);
    add_rows();
    moment = 0;
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void check_second(const Scene *scene) {
    const Photos *photos = &scene->photos;
    tap_ok(scene->moments == 2 && scene->shape.cameras == 2 && scene->shape.depth_bins == 3 &&
               scene->tensors.depth[7] == 0.125f && scene->tensors.depth[5] == 0.25f &&
               scene->tensors.feat[47] == -50 && scene->tensors.feat[1] == -2.5f,
           "its tensors");
    tap_ok(scene->rig.cameras[0].position_m[0] == 1.75 &&
               scene->rig.cameras[1].position_m[0] == -1 &&
               scene->rig.cameras[1].intrinsics[0] == 50,
           "its poses, and the intrinsics of all");
    tap_ok(photos->box_count == 1 && photos->boxes->center_m[0] == 9 &&
               photos->boxes->yaw == -0.25 && !strcmp(photos->boxes->label, "b"),
           "its box with its label");
    tap_ok(photos->sweep_count == 2 && photos->sweep_m[0] == 7 && photos->sweep_m[5] == 6,
           "its LiDAR points");
    tap_ok(photos->srgb[3 * (2 * 32 * 48 - 1) + 2] == 77 && photos->srgb[0] == 200 &&
               photos->has_time && photos->time_s == 10.5,
           "its photographs and its time");
    tap_ok(scene->has_map && scene->map.points == 5, "the map of all moments");
}

static void test_values(void) {
    Scene scene, alone;
    start_clip();
    moment = 1;
    if (accepts(&scene, "the second moment"))
        check_second(&scene);
    scene_free(&scene);
    deflated = true;
    if (accepts(&scene, "the second moment, deflated"))
        check_second(&scene);
    scene_free(&scene);
    deflated = false;

    moment = 0;
    bool ok = read_arrays(&scene);
    start("");
    add_car();
    ok = read_arrays(&alone) && ok;
    tap_ok(ok && scene.moments == 2 && alone.moments == 1 &&
               !memcmp(&scene.shape, &alone.shape, sizeof scene.shape) &&
               !memcmp(scene.tensors.depth, alone.tensors.depth, 36 * sizeof(float)) &&
               !memcmp(scene.tensors.feat, alone.tensors.feat, 48 * sizeof(float)) &&
               !memcmp(&scene.rig, &alone.rig, sizeof scene.rig) &&
               !memcmp(scene.photos.srgb, alone.photos.srgb, 2 * 32 * 48 * 3) &&
               scene.photos.box_count == FIRST_BOXES && scene.photos.sweep_count == 2,
           "the first moment is the scene alone");
    scene_free(&scene);
    scene_free(&alone);
}

/* What may be left out, and the other shapes. */
static void test_forms(void) {
    Scene scene;
    start_clip();
    drop("feat");
    get("bev_shape")->values[4] = 8;
    get("timestamps")->shape = "(2, 1)";
    moment = 1;
    if (accepts(&scene, "features of each moment's photographs"))
        tap_ok(scene.photo_features && scene.photos.time_s == 10.5, "and times (moment, 1)");
    scene_free(&scene);
    start_clip();
    get("timestamps")->shape = "(2, 2)";
    get("timestamps")->count = 4;
    get("timestamps")->values[2] = 20;
    get("timestamps")->values[3] = 21;
    get("boxes_count")->values[0] = 0;
    get("boxes_count")->values[1] = 3;
    if (accepts(&scene, "a moment without boxes"))
        tap_ok(scene.photos.box_count == 0 && scene.photos.time_s == 10.25, "has none");
    scene_free(&scene);
    moment = 1;
    if (accepts(&scene, "and the one behind it"))
        tap_ok(scene.photos.box_count == 3 && scene.photos.time_s == 20.5, "has all of them");
    scene_free(&scene);
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef struct {
    const char *title, *array, *shape;
    int count; /* 0: as it is */
    const char *first, *second;
} Form;

static const Form forms[] = {
    {"moments that differ", "feat", "(1, 2, 2, 3, 4)", 48, "feat: 1 moments", "depth has 2"},
    {"no moments", "depth", "(0, 2, 3, 2, 3)", -1, "depth: 0 moments", "1 to 10000"},
    {"moments too many", "depth", "(10001, 2, 3, 2, 3)", 0, "depth: shape (10001", "but has 288"},
    {"moments that wrap", "depth", "(4611686018427387904, 2, 3, 2, 3)", 0, "depth", "64 bits"},
    {"features of one moment", "feat", "(2, 2, 3, 4)", 48,
     "feat: shape (2, 2, 3, 4), must be (moments, cameras, feature rows, feature columns, "
     "channels), because depth (2, 2, 3, 2, 3) has an axis of moments",
     "without a batch axis"},
    {"images of one moment", "images", "(2, 2, 3, 3)", 36, "images: shape (2, 2, 3, 3)",
     "must be (moments, cameras, image rows, image columns, 3)"},
    {"images of another count", "images", "(4, 1, 2, 3, 3)", 0, "images: 4 moments", "has 2"},
    {"a camera less", "images", "(2, 1, 2, 3, 3)", 36, "images: 1 cameras", "has 2"},
    {"intrinsics of three moments", "intrinsics", "(3, 2, 3, 3)", 54, "intrinsics: 3 moments",
     "has 2"},
    {"a time less", "timestamps", "(1,)", 1, "timestamps: 1 moments", "has 2"},
    {"a grid a moment", "grid", "(2, 3, 3)", 18, "grid: shape (2, 3, 3), must be (3, 3), because",
     "an axis of moments"},
    {"a count less", "boxes_count", "(1,)", 1, "boxes_count: 1 moments", "has 2"},
    {"a table of counts", "lidar_count", "(2, 1)", 0, "lidar_count: shape (2, 1)",
     "must be (moments)"},
    {"boxes with the axis", "boxes", "(1, 3, 7)", 0, "boxes: shape (1, 3, 7)",
     "must be (boxes of all moments, 7) or (boxes of all moments, 9)"},
    {"a batch of clips", "depth", "(1, 2, 2, 3, 2, 3)", 0, "depth: shape (1, 2, 2, 3, 2, 3)",
     "must be (cameras"},
};

static const struct {
    const char *title, *array;
    int element;
    double value;
    const char *place, *words;
} elements[] = {
    {"NaN in a box", "boxes", 15, NAN, "boxes[2, 1]", "nan, must be finite"},
    {"a negative length", "boxes", 17, -4, "boxes[2, 3]", "-4 is outside 0 to 10000"},
    {"a pose's last row", "cam2ego", 44, 1, "cam2ego[1, 0, 3, 0]", "1, must be 0"},
    {"a pose that shears", "cam2ego", 48, 0.5, "moment 1: cameras[1].rotation", "not a rotation"},
    {"a time before time", "timestamps", 1, -1, "timestamps[1]", "-1 is outside 0 to 1e+12"},
    {"a negative count", "boxes_count", 1, -1, "boxes_count[1]", "-1 is outside 0 to 4096"},
    {"a count too large", "lidar_count", 0, 4000001, "lidar_count[0]", "outside 0 to 4000000"},
    {"a count beyond the rows", "boxes_count", 1, 4, "boxes_count[1]",
     "4, and 6 up to here, but boxes has 3 rows"},
    {"a row of no moment", "lidar_count", 1, 1, "lidar_count", "4 in all, but lidar has 5 rows"},
};

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *form = &forms[i];
        start_clip();
        get(form->array)->shape = form->shape;
        if (form->count)
            get(form->array)->count = form->count > 0 ? form->count : 0;
        refuses(form->title, form->first, form->second);
    }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        char place[64];
        start_clip();
        moment = 1;
        get(elements[i].array)->values[elements[i].element] = elements[i].value;
        snprintf(place, sizeof place, "net.npz: %s:", elements[i].place);
        refuses(elements[i].title, place, elements[i].words);
    }
    start_clip();
    moment = 2;
    refuses("a moment that is not there", "net.npz: depth: moment 2 is outside 0 to 1", "");
    moment = -1;
    refuses("a moment before the first", "net.npz: depth: moment -1 is outside 0 to 1", "");
}

static void test_sets(void) {
    start_clip();
    drop("boxes_count");
    refuses("boxes of unknown moments", "net.npz: boxes_count: is missing, but boxes is there",
            "how many rows each moment has");
    start_clip();
    drop("lidar");
    refuses("counts without rows", "net.npz: lidar_count: counts without lidar", "");
    start("");
    add_car();
    moment = 0;
    arrays[array_count++] = (Array){"boxes_count", "<i4", "(1,)", 1, {2}, NULL, 0};
    refuses("counts of one moment", "net.npz: boxes_count: only a file of several moments has it",
            "axis of moments");
    start("");
    get("feat")->shape = "(1, 2, 2, 3, 4)";
    refuses("a batch axis where depth has none", "net.npz: feat: shape (1, 2, 2, 3, 4)",
            "without a batch axis");
}

/* ---- files: only one moment is in memory ------------------------------------------------------
 */

enum { MOMENTS = 16, BINS = 64, SIDE = 64 }; /* of depth: 1 MiB a moment */

static Buffer long_clip(void) {
    ZipMaker zip = {0};
    Buffer npy = {0}, depth = {0};
    char header[128];
    for (int i = 0; i < MOMENTS * BINS * SIDE * SIDE; i++) {
        const float value = (float)(i / (BINS * SIDE * SIDE)) / MOMENTS;
        buffer_add(&depth, &value, sizeof value);
    }
    snprintf(header, sizeof header,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, %d, %d, %d), }\n", MOMENTS,
             BINS, SIDE, SIDE);
    npy_add(&npy, header, depth.bytes, depth.length);
    zip_stored(&zip, "depth.npy", npy.bytes, npy.length);
    free(npy.bytes);
    npy = (Buffer){0};
    snprintf(header, sizeof header,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, %d, %d, 1), }\n", MOMENTS,
             SIDE, SIDE);
    npy_add(&npy, header, depth.bytes, depth.length / BINS);
    zip_stored(&zip, "feat.npy", npy.bytes, npy.length);
    free(npy.bytes);
    free(depth.bytes);
    start("cal");
    get("bev_shape")->values[4] = 1; /* channel */
    for (int i = CALIBRATION; i < array_count; i++) {
        if (&arrays[i] != get("bev_shape")) { /* a map without points */
            arrays[i].shape = "(0,)";
            arrays[i].count = 0;
        }
        add_to(&zip, &arrays[i]);
    }
    zip_end(&zip);
    return zip.archive;
}

static void write_file(const char *path, Buffer archive) {
    FILE *file = fopen(path, "wb");
    tap_need(file && fwrite(archive.bytes, 1, archive.length, file) == archive.length, "a file");
    fclose(file);
    free(archive.bytes);
}

static void make_path(char path[]) {
    int fd = mkstemp(path);
    tap_need(fd >= 0, "a temporary file");
    close(fd);
}

/* Three moments of an array, whose first element is the number of the moment. */
static void triple(const char *name, const char *shape) {
    Array *array = get(name);
    int count = array->count;
    for (int i = 0; i < 3; i++) {
        memmove(array->values + i * count, array->values, (size_t)count * sizeof *array->values);
        array->values[i * count] = i;
    }
    array->shape = shape;
    array->count = 3 * count;
}

/* Deflated arrays go on where the last moment ended, or pass over some, and begin again for an
 * earlier one. */
static void test_order(void) {
    static const int order[] = {0, 2, 1, 2, 2, 0, 1, 2, 0, 0};
    char path[] = "/tmp/bevscope-moments-XXXXXX";
    Clip *clip = NULL;
    Err err = {0};
    make_path(path);
    start("");
    triple("depth", "(3, 2, 3, 2, 3)");
    triple("feat", "(3, 2, 2, 3, 4)");
    deflated = true;
    write_file(path, make_archive());
    deflated = false;
    bool ok = clip_open_file(path, &clip, &err) && clip->count == 3;
    for (size_t i = 0; ok && i < sizeof order / sizeof *order; i++) {
        Scene scene;
        ok = clip_load(clip, order[i], &scene, &err) && scene.tensors.depth[0] == (float)order[i] &&
             scene.tensors.depth[35] == 0.5f && scene.tensors.feat[0] == (float)order[i] &&
             scene.tensors.feat[47] == 100;
        scene_free(&scene);
    }
    if (!tap_ok(ok, "deflated moments in any order"))
        tap_note("%s", err.what);
    Scene none;
    tap_ok(clip && !clip_load(clip, 3, &none, &err) && strstr(err.what, "outside 0 to 2"),
           "but not one that is not there");
    clip_free(clip);
    unlink(path);
}

static void test_file(void) {
    char path[] = "/tmp/bevscope-moments-XXXXXX";
    Scene scene;
    Err err = {0};
    make_path(path);
    Buffer archive = long_clip();
    write_file(path, archive);
    long mark = memory_mark();
    bool ok = scene_load(path, &scene, &err) && scene.clip && scene.clip->count == MOMENTS;
    if (!tap_ok(ok, "a file of %d moments is a clip", MOMENTS)) {
        err_line(&err, line, sizeof line);
        tap_note("%s", line);
    }
    ok = ok && scene.clip->period_s == 0.5;
    tap_ok(ok && clip_move(&scene, 0.5 * (MOMENTS - 1), &err) &&
               scene.tensors.depth[BINS * SIDE * SIDE - 1] == (MOMENTS - 1.0f) / MOMENTS &&
               scene.clip,
           "its last moment");
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 6 * 1024, "two moments of 1 MiB in memory at most (%ld kB)",
               memory_growth_kb(mark));
    scene_free(&scene);
    unlink(path);
}

TAP_SUITE(npz_moments) {
    test_values();
    test_forms();
    Scene warm_up; /* the first error can make libzip allocate for good */
    start("");
    drop("depth");
    read_arrays(&warm_up);
    long mark = memory_mark();
    test_refusals();
    test_sets();
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 1024, "all refused within 1 MB (%ld kB)",
               memory_growth_kb(mark));
    test_order();
    test_file();
}
