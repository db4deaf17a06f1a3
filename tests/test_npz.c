/* Tensor scenes: reading, writing, and every kind of wrong file. */
#include "src/scene/scatter.h"
#include "tests/memory.h"
#include "tests/npz_arrays.h"

#include <time.h>
#include <unistd.h>
#include <zip.h>

/* ---- what is read ---------------------------------------------------------------------------- */

static void check_tensors(const Scene *scene) {
    tap_ok(scene->tensors.depth[5] == 0.25f && scene->tensors.depth[35] == 0.5f &&
               scene->tensors.feat[1] == -2.5f && scene->tensors.feat[47] == 100 &&
               scene->channels == 4 && scene->shape.cameras == 2 && scene->shape.depth_bins == 3 &&
               scene->shape.feat_h == 2 && scene->shape.feat_w == 3 && scene->shape.channels == 4 &&
               scene->shape.ny == 3 && scene->shape.nx == 4 && scene->temperature == 1 &&
               !scene->has_world && scene->non_finite == 0,
           "tensors and shape");
}

static void check_rig(const Scene *scene) {
    const Camera *camera = &scene->rig.cameras[0];
    const Frustum *frustum = &scene->rig.frustum;
    const Grid *grid = &scene->rig.grid;
    tap_ok(scene->has_rig && scene->rig.camera_count == 2 && camera->intrinsics[0] == 60 &&
               camera->intrinsics[5] == 30 && camera->rotation[2] == 1 &&
               camera->position_m[0] == 1.5 && camera->position_m[1] == 0.25 &&
               camera->position_m[2] == 1.25 && scene->rig.cameras[1].rotation[2] == -1,
           "cameras");
    tap_ok(frustum->input_w == 48 && frustum->input_h == 32 && frustum->feat_w == 3 &&
               frustum->feat_h == 2 && frustum->resize == 0.5 && frustum->crop_x == 0 &&
               frustum->crop_y == 10 && frustum->image_w == 96 && frustum->image_h == 84 &&
               frustum->depth_start_m == 1 && frustum->depth_stop_m == 4 &&
               frustum->depth_step_m == 1,
           "frustum: height before width in image_size");
    tap_ok(grid->x_min_m == -4 && grid->x_max_m == 4 && grid->y_min_m == -3 && grid->y_max_m == 3 &&
               grid->z_min_m == -5 && grid->z_max_m == 5 && grid->nx == 4 && grid->ny == 3,
           "grid: rows x, y, z of lower, upper, cell");
}

static void check_map(const Scene *scene) {
    const BevMap *map = &scene->map;
    tap_ok(scene->has_map && map->points == 5 && map->intervals == 3 && map->ranks_depth[3] == 35 &&
               map->ranks_feat[3] == 11 && map->ranks_bev[4] == 11 &&
               map->interval_starts[2] == 3 && map->interval_lengths[2] == 2,
           "index arrays");
}

static void test_values(void) {
    Scene scene;
    start("");
    if (accepts(&scene, "calibration and index arrays")) {
        check_tensors(&scene);
        check_rig(&scene);
        check_map(&scene);
        tap_ok(!scene.map.weights, "without weights");
    }
    scene_free(&scene);

    start("idx");
    if (accepts(&scene, "calibration only")) {
        check_rig(&scene);
        tap_ok(!scene.has_map && !scene.map.ranks_bev, "no map");
    }
    scene_free(&scene);

    start("cal");
    get("ranks_feat")->descr = "<i8";
    get("interval_starts")->descr = "<i8";
    add_weights();
    if (accepts(&scene, "index arrays only, some int64, with weights")) {
        check_tensors(&scene);
        check_map(&scene);
        tap_ok(!scene.has_rig && scene.map.weights[2] == 0.25f, "weights, no rig");
    }
    scene_free(&scene);

    start("");
    add_weights();
    if (accepts(&scene, "calibration and weighted arrays"))
        tap_ok(scene.has_rig && !scene.has_map && !scene.map.points,
               "whose align is not known: the rig counts");
    scene_free(&scene);

    start("");
    get("depth")->descr = get("feat")->descr = "<f2";
    get("intrinsics")->descr = get("cam2ego")->descr = "<f4";
    get("crop")->shape = "(2,)";
    get("crop")->count = 2;
    get("resize")->shape = "(1,)";
    get("bev_shape")->shape = "(2,)";
    get("bev_shape")->count = 2;
    get("bev_shape")->values[0] = 3;
    get("bev_shape")->values[1] = 4;
    if (accepts(&scene, "half tensors, float calibration, the other shapes"))
        check_tensors(&scene), check_rig(&scene), check_map(&scene);
    scene_free(&scene);

    start("");
    get("depth")->values[3] = NAN;
    get("feat")->values[9] = INFINITY;
    get("feat")->values[10] = -INFINITY;
    if (accepts(&scene, "NaN and infinity in the tensors"))
        tap_ok(scene.non_finite == 3, "are counted: %lld", (long long)scene.non_finite);
    scene_free(&scene);

    start("cal");
    for (int i = INDEX - (INDEX - CALIBRATION); i < array_count - 1; i++) {
        arrays[i].count = 0;
        arrays[i].shape = "(0,)";
    }
    accepts(&scene, "a map without points");
    tap_ok(scene.has_map && scene.map.points == 0 && scene.map.intervals == 0, "is a map");
    scene_free(&scene);
}

/* ---- headers --------------------------------------------------------------------------------- */

typedef struct {
    const char *title, *array;
    const char *descr, *shape; /* NULL: as in the base */
    int count;                 /* 0: as in the base */
    const char *first, *second;
} Form;

static const Form forms[] = {
    {"double features", "feat", "<f8", NULL, 0, "net.npz: feat",
     "float64, must be float16 or float32"},
    {"whole features", "feat", "<i4", NULL, 0, "feat", "int32"},
    {"float ranks", "ranks_bev", "<f4", NULL, 0, "ranks_bev", "float32, must be int32 or int64"},
    {"double weights", "weights", "<f8", NULL, 0, "weights", "float64, must be float32"},
    {"float bev_shape", "bev_shape", "<f4", NULL, 0, "bev_shape", "must be int32 or int64"},
    {"unsigned", "ranks_feat", "<u4", NULL, 0, "ranks_feat", "unknown dtype \"<u4\""},
    {"complex", "feat", "<c8", NULL, 0, "feat", "unknown dtype \"<c8\""},
    {"booleans", "feat", "|b1", NULL, 0, "feat", "unknown dtype \"|b1\""},
    {"text", "feat", "<U1", NULL, 0, "feat", "str, must be float16 or float32"},
    {"text of no length", "feat", "<U", NULL, 0, "feat", "must be at most 1024"},
    {"text too long", "feat", "|S1025", NULL, 0, "feat", "must be at most 1024"},
    {"float images", "images", "<f4", NULL, 0, "images", "float32, must be uint8"},
    {"images of another count", "images", NULL, "(1, 2, 3, 3)", 18, "images: 1 cameras", "has 2"},
    {"grey images", "images", NULL, "(2, 2, 3)", 12, "images: shape (2, 2, 3)",
     "must be (cameras, image rows, image columns, 3)"},
    {"images with alpha", "images", NULL, "(2, 2, 3, 4)", 48, "images: shape (2, 2, 3, 4)", "3)"},
    {"square images", "images", NULL, "(2, 2, 2, 3)", 24, "images: 2 x 2 pixels",
     "the shape of image_size, 32 x 48, or hold the 84 x 96"},
    {"images of no rows", "images", NULL, "(2, 0, 3, 3)", -1, "images: 0 image rows", "1 to 8192"},
    {"huge images", "images", NULL, "(2, 8000, 8000, 3)", 0, "images: shape", "384000000 bytes"},
    {"whole names", "camera_names", "<i4", NULL, 2, "camera_names", "int32, must be bytes or str"},
    {"a name less", "camera_names", NULL, "(1,)", 5, "camera_names: 1 cameras", "has 2"},
    {"boxes of eight", "boxes", NULL, "(2, 8)", 16, "boxes: shape (2, 8)",
     "must be (boxes, 7) or (boxes, 9)"},
    {"whole boxes", "boxes", "<i4", NULL, 0, "boxes", "int32, must be float32 or float64"},
    {"a label too many", "box_labels", NULL, "(3,)", 9, "box_labels: 3 boxes", "boxes has 2"},
    {"flat lidar", "lidar", NULL, "(3, 2)", 6, "lidar: 2 LiDAR columns", "3 to 16"},
    {"three times", "timestamps", NULL, "(3,)", 3, "timestamps: 3 cameras", "has 2"},
    {"objects", "feat", "|O", NULL, 0, "feat", "object dtype \"|O\""},
    {"big-endian", "depth", ">f4", NULL, 0, "depth", "big-endian dtype \">f4\""},
    {"bfloat16", "feat", "|V2", NULL, 0, "feat", "bfloat16"},
    {"a batch", "depth", NULL, "(1, 2, 3, 2, 3)", 0, "(1, 2, 3, 2, 3)", "without a batch axis"},
    {"three axes", "depth", NULL, "(6, 2, 3)", 0, "depth: shape (6, 2, 3)",
     "(cameras, depth bins, feature rows, feature columns)"},
    {"channels first", "feat", NULL, "(2, 4, 2, 3)", 0, "feat: 4 feature rows",
     "depth has 2 (depth is (camera, D, h, w), feat (camera, h, w, C))"},
    {"a camera less", "intrinsics", NULL, "(1, 3, 3)", 9, "intrinsics: 1 cameras", "has 2"},
    {"4 x 4 intrinsics", "intrinsics", NULL, "(2, 4, 4)", 32, "intrinsics: shape (2, 4, 4)",
     "must be (cameras, 3, 3)"},
    {"3 x 4 poses", "cam2ego", NULL, "(2, 3, 4)", 24, "cam2ego: shape (2, 3, 4)",
     "(cameras, 4, 4)"},
    {"three crops", "crop", NULL, "(3,)", 3, "crop: shape (3,)", "must be (4) or (2)"},
    {"two resizes", "resize", NULL, "(2,)", 2, "resize: shape (2,)", "must be () or (1)"},
    {"a scalar range", "depth_range", NULL, "()", 1, "depth_range: shape ()", "must be (3)"},
    {"a point less", "ranks_bev", NULL, "(4,)", 4, "ranks_bev: 4 points", "ranks_depth has 5"},
    {"an interval less", "interval_lengths", NULL, "(2,)", 2, "interval_lengths: 2 intervals", "3"},
    {"weights too many", "weights", NULL, "(6,)", 6, "weights: 6 points", "has 5"},
    {"no cameras", "depth", NULL, "(0, 3, 2, 3)", -1, "depth: 0 cameras", "1 to 32"},
    {"33 cameras", "depth", NULL, "(33, 1, 1, 1)", 33, "depth: 33 cameras", "1 to 32"},
    {"elements missing", "depth", NULL, "(2, 3, 2, 3)", 35, "depth: shape (2, 3, 2, 3) of float32",
     "144 bytes, but has 140"},
    {"huge", "depth", NULL, "(2, 1000000, 1000, 1000)", 0, "(2, 1000000, 1000, 1000)",
     "8000000000000 bytes, but has 144"},
    {"wrapping to its size", "depth", NULL, "(4611686018427387904, 4, 1, 36)", 0, "depth",
     "product does not fit 64 bits"},
    {"wrapping by bytes", "depth", NULL, "(4611686018427387904, 1, 1, 1)", 0, "depth",
     "product does not fit 64 bits"},
    {"beyond 64 bits", "depth", NULL, "(36893488147419103232, 1, 1, 1)", 0, "depth",
     "a size that does not fit 64 bits"},
    {"negative", "depth", NULL, "(-2, 3, 2, 3)", 0, "depth", "whole numbers"},
    {"nine axes", "depth", NULL, "(1, 1, 1, 1, 1, 1, 1, 1, 36)", 0, "depth", "more than 8 axes"},
};

static void test_forms(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *form = &forms[i];
        start("");
        add_weights();
        add_car();
        Array *array = get(form->array);
        if (form->descr)
            array->descr = form->descr;
        if (form->shape)
            array->shape = form->shape;
        if (form->count)
            array->count = form->count > 0 ? form->count : 0;
        refuses(form->title, form->first, form->second);
    }
}

#define DICT(descr_, order_, shape_)                                                               \
    "{'descr': " descr_ ", 'fortran_order': " order_ ", 'shape': " shape_ ", }\n"

static const struct {
    const char *title, *header, *words; /* of depth */
} headers[] = {
    {"Fortran order", DICT("'<f4'", "True", "(2, 3, 2, 3)"), "Fortran order, must be C order"},
    {"an order that is neither", DICT("'<f4'", "Maybe", "(2, 3, 2, 3)"), "fortran_order"},
    {"a structured type", DICT("[('a', '<f4')]", "False", "(2, 3, 2, 3)"), "structured dtype"},
    {"no dictionary", "hello", "not a dictionary"},
    {"nothing", "", "not a dictionary"},
    {"a dictionary without an end", "{'descr': '<f4'", "not a dictionary"},
    {"a string without an end", "{'descr': '<f4", "string without an end"},
    {"a key without a value", "{'descr'}", "key without a value"},
    {"no key", "{: '<f4'}", "a string is missing"},
    {"a key twice", "{'descr': '<f4', 'descr': '<f4'}", "key twice"},
    {"an unknown key", "{'descr': '<f4', 'align': True}", "a key that is not"},
    {"no shape", "{'descr': '<f4', 'fortran_order': False}", "is missing"},
    {"an empty dictionary", "{}", "is missing"},
    {"a shape that is no tuple", DICT("'<f4'", "False", "36"), "not a tuple"},
    {"a shape without an end", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "tuple"},
    {"a shape of words", DICT("'<f4'", "False", "(two, 3)"), "whole numbers"},
    {"commas only", DICT("'<f4'", "False", "(,)"), "whole numbers"},
    {"code after the dictionary", DICT("'<f4'", "False", "(2, 3, 2, 3)") "import os", "after the"},
};

static void test_headers(void) {
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        start("");
        get("depth")->header = headers[i].header;
        refuses(headers[i].title, "net.npz: depth", headers[i].words);
    }
    Scene scene;
    start("");
    get("depth")->header = "{\"shape\":(2,3,2,3),\"fortran_order\":False,\"descr\":\"<f4\"}";
    accepts(&scene, "another order, quotes and no spaces are the same header");
    scene_free(&scene);
}

/* The first bytes of an .npy: magic, version, length of the header. */
static void test_prefix(void) {
    const struct {
        const char *title, *bytes;
        size_t length;
        const char *words;
    } prefixes[] = {
        {"wrong magic", "\x93NUMPX\1\0\4\0{}  ", 14, "wrong magic"},
        {"version 0", "\x93NUMPY\0\0\4\0{}  ", 14, "npy version 0"},
        {"version 4", "\x93NUMPY\4\0\4\0\0\0{}  ", 16, "npy version 4"},
        {"a header beyond the data", "\x93NUMPY\1\0\5\0{}  ", 14, "truncated"},
        {"a header of 64 KiB and a byte", "\x93NUMPY\2\0\1\0\1\0{}  ", 16,
         "65537 bytes, must be at most 65536"},
        {"a header of 4 GiB", "\x93NUMPY\3\0\xff\xff\xff\xff{}  ", 16, "4294967295 bytes"},
        {"half a prefix", "\x93NUMPY\1", 7, "truncated"},
        {"an empty member", "", 0, "truncated"},
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        ZipMaker zip = {0};
        zip_stored(&zip, "depth.npy", prefixes[i].bytes, prefixes[i].length);
        zip_end(&zip);
        refuses_bytes(zip.archive, prefixes[i].title, "net.npz: depth", prefixes[i].words);
        free(zip.archive.bytes);
    }
}

/* ---- elements -------------------------------------------------------------------------------- */

static const struct {
    const char *title, *array;
    int element;
    double value;
    const char *place, *words;
} elements[] = {
    {"rank of depth too large", "ranks_depth", 3, 36, "ranks_depth[3]", "36 is outside 0 to 35"},
    {"rank of depth below 0", "ranks_depth", 0, -1, "ranks_depth[0]", "-1 is outside"},
    {"rank of feat too large", "ranks_feat", 4, 12, "ranks_feat[4]", "12 is outside 0 to 11"},
    {"cell too large", "ranks_bev", 3, 12, "ranks_bev[3]", "12 is outside 0 to 11"},
    {"two cells in an interval", "ranks_bev", 1, 2, "ranks_bev[1]", "an interval has one cell"},
    {"two intervals of a cell", "ranks_bev", 2, 1, "ranks_bev[2]", "a cell has one interval"},
    {"intervals that overlap", "interval_starts", 1, 1, "interval_starts[1]", "1, must be 2"},
    {"intervals with a hole", "interval_starts", 1, 3, "interval_starts[1]", "3, must be 2"},
    {"an interval that starts late", "interval_starts", 0, 1, "interval_starts[0]", "1, must be 0"},
    {"an empty interval", "interval_lengths", 1, 0, "interval_lengths[1]", "0"},
    {"an interval that is too long", "interval_lengths", 2, 3, "interval_lengths[2]", "3"},
    {"a hole at the end", "interval_lengths", 2, 1, "ranks_bev[4]", "gap"},
    {"a negative length", "interval_lengths", 0, -5, "interval_lengths[0]", "-5"},
    {"NaN weight", "weights", 4, NAN, "weights[4]", "nan"},
    {"infinite weight", "weights", 0, INFINITY, "weights[0]", "inf"},
    {"NaN focal length", "intrinsics", 9, NAN, "intrinsics[1, 0, 0]", "nan, must be finite"},
    {"a principal point too far", "intrinsics", 2, 1e308, "intrinsics[0, 0, 2]",
     "1e+308 is outside -100000 to 100000"},
    {"a position too far", "cam2ego", 7, 1e30, "cam2ego[0, 1, 3]",
     "1e+30 is outside -10000 to 10000"},
    {"singular intrinsics", "intrinsics", 0, 0, "cameras[0].intrinsics", "singular"},
    {"intrinsics' last row", "intrinsics", 17, 2, "intrinsics[1, 2, 2]", "2, must be 1"},
    {"infinite position", "cam2ego", 3, INFINITY, "cam2ego[0, 0, 3]", "inf, must be finite"},
    {"a pose that shears", "cam2ego", 16, 0.5, "cameras[1].rotation", "not a rotation"},
    {"a pose's last row", "cam2ego", 12, 1, "cam2ego[0, 3, 0]", "1, must be 0"},
    {"no rows", "image_size", 0, 0, "image_size[0]", "0 is outside 1 to 65536"},
    {"negative columns", "image_size", 1, -48, "image_size[1]", "-48 is outside"},
    {"zero resize", "resize", 0, 0, "resize", "0 is outside 0.001 to 1000"},
    {"NaN resize", "resize", 0, NAN, "resize", "nan, must be finite"},
    {"a crop of another width", "crop", 2, 40, "crop[2]",
     "crop of 40 pixels, but image_size has 48"},
    {"a crop of another height", "crop", 3, 50, "crop[3]", "crop of 40 pixels"},
    {"a crop far away", "crop", 1, 1e6, "crop[1]", "1000000 is outside"},
    {"depth from 0", "depth_range", 0, 0, "depth_range[0]", "0 is outside"},
    {"an empty depth range", "depth_range", 1, 1, "depth_range[1]", "empty range"},
    {"an inverted depth range", "depth_range", 1, 0.5, "depth_range[1]", "empty range"},
    {"no depth step", "depth_range", 2, 0, "depth_range[2]", "0 is outside"},
    {"a step of other bins", "depth_range", 2, 0.5, "depth_range[2]",
     "gives 6 depth bins, but depth has 3"},
    {"an inverted x", "grid", 1, -8, "grid[0, 1]", "empty range"},
    {"an empty y", "grid", 4, -3, "grid[1, 1]", "empty range"},
    {"NaN in z", "grid", 6, NAN, "grid[2, 0]", "nan, must be finite"},
    {"two layers", "grid", 8, 5, "bev_shape[1]",
     "1 x 3 x 4 cells (nz, ny, nx), but grid has 2 x 3 x 4"},
    {"slices too many", "grid", 8, 0.001, "grid[2, 2]", "10000 of them, must be a whole number"},
    {"slices of nothing", "grid", 8, 0, "grid[2, 2]", "cells of 0 m"},
    {"slices upside down", "grid", 8, -5, "grid[2, 2]", "cells of -5 m"},
    {"a reversed z", "grid", 7, -6, "grid[2, 1]", "the upper end -6 is not above the lower end -5"},
    {"a broken cell", "grid", 2, 3, "grid[0, 2]", "2.66667 of them"},
    {"a cell of nothing", "grid", 5, 0, "grid[1, 2]", "cells of 0 m"},
    {"a negative cell", "grid", 2, -2, "grid[0, 2]", "cells of -2 m"},
    {"cells too many", "grid", 2, 0.001, "grid[0, 2]", "1 to 4096"},
    {"a batch of two", "bev_shape", 0, 2, "bev_shape[0]", "2 is outside 1 to 1"},
    {"two layers of cells", "bev_shape", 1, 2, "bev_shape[1]",
     "2 x 3 x 4 cells (nz, ny, nx), but grid has 1 x 3 x 4"},
    {"no layer of cells", "bev_shape", 1, 0, "bev_shape[1]", "0 is outside 1 to 4096"},
    {"layers below 0", "bev_shape", 1, -2, "bev_shape[1]", "-2 is outside 1 to 4096"},
    {"layers too many", "bev_shape", 1, 5000, "bev_shape[1]", "5000 is outside 1 to 4096"},
    {"other rows than the grid", "bev_shape", 2, 4, "bev_shape[2]",
     "1 x 4 x 4 cells (nz, ny, nx), but grid has 1 x 3 x 4"},
    {"no columns", "bev_shape", 3, 0, "bev_shape[3]", "0 is outside 1 to 4096"},
    {"other channels", "bev_shape", 4, 8, "bev_shape[4]", "8 is outside 4 to 4"},
    {"NaN in a box", "boxes", 8, NAN, "boxes[1, 1]", "nan, must be finite"},
    {"a box of infinite yaw", "boxes", 6, INFINITY, "boxes[0, 6]", "inf, must be finite"},
    {"a negative length", "boxes", 3, -4, "boxes[0, 3]", "-4 is outside 0 to 10000"},
    {"a box far away", "boxes", 0, 1e6, "boxes[0, 0]", "1000000 is outside -10000 to 10000"},
    {"microseconds", "timestamps", 1, 1.5e15, "timestamps[1]", "1.5e+15 is outside 0 to 1e+12"},
};

static void test_elements(void) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        start("");
        add_weights();
        add_car();
        get(elements[i].array)->values[elements[i].element] = elements[i].value;
        char place[64];
        snprintf(place, sizeof place, "net.npz: %s:", elements[i].place);
        refuses(elements[i].title, place, elements[i].words);
    }
    start("");
    get("ranks_feat")->descr = "<i8";
    get("ranks_feat")->values[2] = 2147483648.0;
    refuses("int64 beyond int32", "net.npz: ranks_feat[2]:", "2147483648 does not fit int32");
}

/* ---- sets of arrays -------------------------------------------------------------------------- */

static void test_sets(void) {
    for (int i = 0; i < BASE; i++) {
        start("");
        drop(base[i].name);
        char place[64], title[64];
        snprintf(place, sizeof place, "net.npz: %s:", base[i].name);
        snprintf(title, sizeof title, "without %s", base[i].name);
        refuses(title, place, "is missing");
    }
    start("");
    array_count = CALIBRATION;
    refuses("tensors only", "net.npz: intrinsics: is missing", "five index arrays");
    array_count = 0;
    refuses("an empty archive", "net.npz: depth: is missing", "");
    start("idx");
    add_weights();
    refuses("weights without a map", "net.npz: weights", "without index arrays");
    start("");
    get("ranks_bev")->name = "rank_bev";
    refuses("a mistyped name", "net.npz: rank_bev: unknown array", "\"ranks_bev\"");
    start("");
    arrays[array_count++] = (Array){"labels", "|O", "(1,)", 1, {0}, NULL, 0};
    refuses("an array too many", "net.npz: labels: unknown array", "nearest known");
}

/* ---- photographs, boxes, LiDAR --------------------------------------------------------------- */

static void check_car(const Scene *scene) {
    const Photos *photos = &scene->photos;
    const TrueBox *box = photos->boxes;
    tap_ok(!strcmp(scene->rig.cameras[0].name, "le\xc3\xa9t") &&
               !strcmp(scene->rig.cameras[1].name, "a?b"),
           "names, without control characters: \"%s\", \"%s\"", scene->rig.cameras[0].name,
           scene->rig.cameras[1].name);
    tap_ok(photos->box_count == 2 && box->center_m[1] == -2 && box->size_m[0] == 4 &&
               box->yaw == 0.5 && !strcmp(box->label, "car") && !strcmp(box[1].label, "m"),
           "boxes and their labels");
    tap_ok(photos->sweep_count == 2 && photos->sweep_m[2] == 3 && photos->sweep_m[3] == -4,
           "LiDAR without what had no echo");
    tap_ok(photos->has_time && photos->time_s == 10.25, "the mean of the times");
    /* 32 x 48 pixels are kept; each of the file's 2 x 3 covers 16 x 16 of them. */
    const uint8_t *last = photos->srgb + 3 * (2 * 32 * 48 - 1);
    tap_ok(photos->cameras == 2 && photos->h == 32 && photos->w == 48 && photos->srgb[0] == 200 &&
               photos->srgb[3 * (15 * 48 + 15)] == 200 && photos->srgb[3 * 16 + 1] == 100 &&
               last[2] == 255 && last[1] == 0,
           "photographs at the size of the network's input");
}

/* A whole image of the camera: 100 x 110 pixels, of which resize and crop take (0, 20) to
 * (96, 84). */
static void test_own_image(void) {
    enum { H = 100, W = 110 };
    ZipMaker zip = {0};
    Buffer data = {0}, npy = {0};
    Scene scene;
    for (int i = 0; i < 2 * H * W * 3; i++) {
        int x = i / 3 % W, y = i / 3 / W % H;
        buffer_add(&data, &(unsigned char){(unsigned char)(i % 3 == 0 ? x : i % 3 == 1 ? y : 0)}, 1);
    }
    npy_add(&npy, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 100, 110, 3), }\n",
            data.bytes, data.length);
    start("");
    for (int i = 0; i < array_count; i++)
        add_to(&zip, &arrays[i]);
    zip_stored(&zip, "images.npy", npy.bytes, npy.length);
    zip_end(&zip);
    bool ok = read_bytes(zip.archive, &scene);
    const uint8_t *srgb = scene.photos.srgb, *pixel = ok ? srgb + 3 * (5 * 48 + 7) : NULL;
    /* Input pixel (7, 5) is the mean of the image's columns 14, 15 and rows 30, 31. */
    if (!tap_ok(ok && pixel[0] == 15 && pixel[1] == 31, "the camera's own image is cut as the "
                                                        "network's input was"))
        tap_note("got: %s %d %d", line, ok ? pixel[0] : 0, ok ? pixel[1] : 0);
    scene_free(&scene);
    free(data.bytes);
    free(npy.bytes);
    free(zip.archive.bytes);
}

static void test_car(void) {
    Scene scene;
    start("");
    add_car();
    if (accepts(&scene, "with photographs, boxes and LiDAR"))
        check_car(&scene);
    scene_free(&scene);
    drop("feat");
    get("bev_shape")->values[4] = 8;
    if (accepts(&scene, "without features: those of the photographs"))
        tap_ok(scene.photo_features && scene.channels == 8 && scene.tensors.feat[3] == 1,
               "eight channels, the fourth 1");
    scene_free(&scene);
    start("cal");
    add_car();
    if (accepts(&scene, "without a calibration"))
        tap_ok(scene.photos.h == 2 && scene.photos.w == 3, "photographs as they are");
    scene_free(&scene);
    drop("feat");
    refuses("neither features nor calibration", "net.npz: feat: is missing", "images and a cal");
    start("");
    add_car();
    drop("boxes");
    refuses("labels without boxes", "net.npz: box_labels", "labels without boxes");
    start("");
    arrays[array_count++] = (Array){"camera_names", "<U40", "(2,)", 80, {[0] = 'x'}, NULL, 0};
    for (int i = 0; i < 32; i++)
        arrays[array_count - 1].values[i] = 'x';
    arrays[array_count - 1].count = 80;
    refuses("a name too long", "net.npz: camera_names[0]:", "32 bytes, must be at most 31");
    test_own_image();
}

/* ---- the zip around them --------------------------------------------------------------------- */

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

typedef struct {
    const char *title;
    int from_end; /* 1: at is counted back from the end; 0: from directory entry 0 */
    size_t at;
    unsigned char byte;
    const char *words;
} ZipByte;

static const ZipByte zip_bytes[] = {
    {"encrypted", 0, 8, 1, ""},
    {"more entries than there are", 1, 12, 200, ""},
    {"a second disk", 1, 18, 1, "several disks"},
    {"a comment that is not there", 1, 2, 9, "comment"},
    {"a directory elsewhere", 1, 6, 1, "not where it is declared"},
    {"a directory of another size", 1, 10, 1, ""},
    {"a name that runs out", 0, 28, 255, ""},
    {"a comment in an entry", 0, 32, 255, ""},
    {"a member beyond the end", 0, 44, 1, ""},
    {"a size of 4 GiB", 0, 27, 255, ""},
};

static void test_zip_bytes(void) {
    for (size_t i = 0; i < sizeof zip_bytes / sizeof *zip_bytes; i++) {
        const ZipByte *change = &zip_bytes[i];
        start("");
        Buffer archive = make_archive();
        size_t at =
            change->from_end ? archive.length - change->at : entry_at(archive, 0) + change->at;
        archive.bytes[at] = change->byte;
        refuses_bytes(archive, change->title, change->words, "");
        free(archive.bytes);
    }
}

static void refuses_entry(const char *title, const char *name, int method, int flags, uint32_t size,
                          const char *first, const char *second) {
    static const unsigned char data[100];
    ZipMaker zip = {0};
    zip_entry(&zip, name, data, sizeof data, method, flags, size, 0);
    zip_end(&zip);
    refuses_bytes(zip.archive, title, first, second);
    free(zip.archive.bytes);
}

static void test_entries(void) {
    refuses_entry("an encrypted member", "depth.npy", 0, 1, 100, "depth.npy", "encrypted");
    refuses_entry("bzip2", "depth.npy", 12, 0, 100, "depth.npy", "zip method 12");
    refuses_entry("stored, longer than it is", "depth.npy", 0, 0, 1000000, "depth.npy", "can hold");
    refuses_entry("a bomb beyond what deflate can", "depth.npy", 8, 0, 4000000000u, "depth.npy",
                  "4000000000 bytes, more than its 100 compressed bytes can hold");
    refuses_entry("not an array", "depth.txt", 0, 0, 100, "depth.txt", "not an array");
    refuses_entry("a folder", "depth/", 0, 0, 100, "depth/", "not an array");
    refuses_entry("a path", "../depth.npy", 0, 0, 100, "../depth", "");
    refuses_entry("a name of control codes", "\33[2Jdep.npy", 0, 0, 100, "?[2Jdep", "");
    refuses_entry(
        "a name of 200 letters",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.npy",
        0, 0, 100, "not an array", "be short");
    start("");
    arrays[array_count++] = *get("feat");
    refuses("a member twice", "feat.npy", "twice");

    ZipMaker zip = {0};
    for (int i = 0; i < 65; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%d.npy", i);
        zip_stored(&zip, name, "", 0);
    }
    zip_end(&zip);
    refuses_bytes(zip.archive, "65 members", "65 entries", "at most 64");
    free(zip.archive.bytes);

    start("");
    Buffer archive = make_archive(), twice = {0};
    buffer_add(&twice, archive.bytes, archive.length);
    buffer_add(&twice, archive.bytes + archive.length - 22, 22);
    refuses_bytes(twice, "two end records", "", "");
    free(twice.bytes);
    Buffer zip64 = {0};
    buffer_add(&zip64, archive.bytes, archive.length - 22);
    buffer_add(&zip64, "PK\6\7\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 20);
    buffer_add(&zip64, archive.bytes + archive.length - 22, 22);
    refuses_bytes(zip64, "a zip64 end record", "zip64", "");
    free(zip64.bytes);
    free(archive.bytes);
}

/* ---- deflated members that are not what they declare ----------------------------------------- */

/* Zeros compressed by libzip: only the bytes of the member. */
static Buffer deflated_zeros(size_t size) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *into = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_source_keep(into);
    zip_t *zip = zip_open_from_source(into, ZIP_TRUNCATE, &error);
    char *zeros = calloc(1, size);
    zip_set_file_compression(
        zip, (zip_uint64_t)zip_file_add(zip, "z", zip_source_buffer(zip, zeros, size, 1), 0),
        ZIP_CM_DEFLATE, 9);
    zip_close(zip);
    Buffer archive = {0}, data = {0};
    struct zip_stat stat;
    zip_source_stat(into, &stat);
    archive.length = stat.size;
    archive.bytes = malloc(archive.length);
    zip_source_open(into);
    zip_source_read(into, archive.bytes, archive.length);
    zip_source_close(into);
    zip_source_free(into);
    size_t start_at = 30u + archive.bytes[26] + archive.bytes[28];
    size_t length = le32(archive.bytes + entry_at(archive, 0) + 20);
    buffer_add(&data, archive.bytes + start_at, length);
    free(archive.bytes);
    return data;
}

/* An archive whose depth is `npy`, deflated here into one stored block, with a declared size. */
static Buffer archive_of_depth(Buffer npy, uint32_t declared) {
    ZipMaker zip = {0};
    add_deflated(&zip, "depth.npy", npy, declared);
    for (int i = 0; i < array_count; i++)
        if (strcmp(arrays[i].name, "depth") != 0)
            add_to(&zip, &arrays[i]);
    zip_end(&zip);
    return zip.archive;
}

static void test_deflated(void) {
    start("");
    Buffer npy = make_npy(get("depth"));
    Buffer archive = archive_of_depth(npy, (uint32_t)npy.length);
    Scene scene;
    tap_ok(read_bytes(archive, &scene) && scene.tensors.depth[35] == 0.5f, "a deflated member");
    scene_free(&scene);
    archive.bytes[30 + 9 + 5 + npy.length - 1] ^= 1;
    refuses_bytes(archive, "a bit flipped in it", "net.npz: depth", "CRC");
    free(archive.bytes);

    archive = archive_of_depth(npy, (uint32_t)npy.length + 16);
    refuses_bytes(archive, "16 bytes less than declared", "net.npz: depth", "but has 160");
    free(archive.bytes);
    free(npy.bytes);

    get("depth")->count = 35; /* of the 36 that shape and directory declare */
    npy = make_npy(get("depth"));
    archive = archive_of_depth(npy, (uint32_t)npy.length + 4);
    refuses_bytes(archive, "data that ends early", "net.npz: depth", "4 bytes are missing");
    free(archive.bytes);
    free(npy.bytes);

    start("");
    get("depth")->extra = 4000;
    npy = make_npy(get("depth"));
    archive = archive_of_depth(npy, (uint32_t)npy.length - 4000);
    refuses_bytes(archive, "data that goes on", "net.npz: depth", "more data");
    free(archive.bytes);
    free(npy.bytes);

    /* A real zip bomb: 256 KiB that inflate to the declared size. */
    Buffer zeros = deflated_zeros((size_t)1 << 28);
    ZipMaker zip = {0};
    zip_entry(&zip, "depth.npy", zeros.bytes, zeros.length, 8, 0, 1u << 28, 0);
    zip_end(&zip);
    long mark = memory_mark();
    refuses_bytes(zip.archive, "256 MiB of zeros", "net.npz: depth", "wrong magic");
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 1024, "within 1 MB (%ld kB)", memory_growth_kb(mark));
    free(zip.archive.bytes);
    free(zeros.bytes);
}

/* ---- any damage ------------------------------------------------------------------------------ */

static void test_damage(void) {
    start("");
    Buffer archive = make_archive();
    Scene scene;
    bool ok = true;
    size_t full = archive.length;
    for (archive.length = 0; ok && archive.length < full; archive.length++) {
        ok = !read_bytes(archive, &scene) && one_line_with(NULL, 0);
        scene_free(&scene);
    }
    tap_ok(ok, "every prefix is refused (%zu of %zu bytes)", archive.length, full);
    archive.length = full;
    size_t accepted = 0, bad_lines = 0;
    for (size_t i = 0; i < full; i++) {
        archive.bytes[i] ^= 0xff;
        if (read_bytes(archive, &scene))
            accepted++;
        else
            bad_lines += !one_line_with(NULL, 0);
        scene_free(&scene);
        archive.bytes[i] ^= 0xff;
    }
    /* dates, versions and attributes of the 15 entries are never read */
    tap_ok(bad_lines == 0 && accepted < 15 * 32, "every flipped byte but %zu of %zu is refused",
           accepted, full);
    free(archive.bytes);
}

/* ---- files, and what we write ---------------------------------------------------------------- */

static char folder[] = "/tmp/bevscope-npz-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static bool same_bytes(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = files[0] && files[1];
    for (int c = 0; same && c != EOF;)
        same = (c = fgetc(files[0])) == fgetc(files[1]);
    fclose(files[0]);
    fclose(files[1]);
    return same;
}

/* Writes the scene, reads it back and compares everything. */
static void round_trip(const char *without, bool half, bool weights, const char *title) {
    Scene scene, again = {0};
    Err err = {0};
    const char *path = in_folder("a.npz");
    start(without);
    if (weights)
        add_weights();
    bool ok = read_arrays(&scene);
    BevMap map = scene.map;
    if (!scene.has_map)
        ok = ok && scatter_build(&scene.rig, BEV_BILINEAR, UINT32_MAX, &map, &err);
    ok = ok && scene_write_npz(path, &scene, &scene.tensors, &map, half, &err) &&
         scene_load(path, &again, &err);
    if (!ok)
        err_line(&err, line, sizeof line);
    ok = ok && memcmp(&scene.shape, &again.shape, sizeof scene.shape) == 0 &&
         memcmp(scene.tensors.depth, again.tensors.depth, 36 * sizeof(float)) == 0 &&
         memcmp(scene.tensors.feat, again.tensors.feat, 48 * sizeof(float)) == 0 &&
         memcmp(&scene.rig, &again.rig, sizeof scene.rig) == 0 && again.has_rig == scene.has_rig &&
         again.has_map == scene.has_map && strcmp(again.name, "a") == 0;
    if (ok && again.has_map)
        ok = again.map.points == map.points && again.map.intervals == map.intervals &&
             memcmp(again.map.ranks_depth, map.ranks_depth, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.ranks_feat, map.ranks_feat, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.ranks_bev, map.ranks_bev, (size_t)map.points * 4) == 0 &&
             memcmp(again.map.interval_starts, map.interval_starts, (size_t)map.intervals * 4) ==
                 0 &&
             memcmp(again.map.interval_lengths, map.interval_lengths, (size_t)map.intervals * 4) ==
                 0 &&
             !again.map.weights == !map.weights &&
             (!map.weights || memcmp(again.map.weights, map.weights, (size_t)map.points * 4) == 0);
    if (!tap_ok(ok, "%s", title))
        tap_note("got: %s", line);
    setenv("TZ", "NPT-5:45", 1); /* needs no time zone files */
    tzset();
    tap_ok(scene_write_npz(in_folder("b.npz"), &scene, &scene.tensors, &map, half, &err) &&
               same_bytes(path, in_folder("b.npz")),
           "the same bytes again, in another time zone");
    unsetenv("TZ");
    tzset();
    if (!scene.has_map)
        scatter_free(&map);
    scene_free(&scene);
    scene_free(&again);
    unlink(path);
    unlink(in_folder("b.npz"));
}

static bool refuses_file(const char *path, const char *words) {
    Scene scene;
    Err err = {0};
    bool ok = !scene_load_npz(path, 0, &scene, &err);
    err_line(&err, line, sizeof line);
    scene_free(&scene);
    return ok && strstr(line, words) && !strchr(line, '\n');
}

static void test_files(void) {
    const char *path = in_folder("file.npz");
    Scene scene;
    Err err;
    start("");
    Buffer archive = make_archive();
    FILE *file = fopen(path, "wb");
    fwrite(archive.bytes, 1, archive.length, file);
    fclose(file);
    tap_ok(scene_load_npz(path, 0, &scene, &err) && scene.tensors.depth[5] == 0.25f, "from a file");
    BevMap map = scene.map;
    tap_ok(!scene_write_npz("/dev/full", &scene, &scene.tensors, &map, false, &err) &&
               strstr(err.what, "No space left"),
           "to a full disk");
    scene_free(&scene);
    tap_need(truncate(path, (off_t)archive.length - 1) == 0, "truncate");
    tap_ok(refuses_file(path, "truncated zip"), "a file cut by a byte");
    tap_need(truncate(path, ((off_t)4 << 30) + 1) == 0, "truncate");
    tap_ok(refuses_file(path, "4294967297 bytes, must be at most 4294967296"),
           "a file beyond 4 GiB");
    tap_need(truncate(path, 0) == 0, "truncate");
    tap_ok(refuses_file(path, "truncated zip"), "an empty file");
    unlink(path);
    tap_ok(refuses_file(path, "No such file"), "no file");
    tap_ok(refuses_file("/dev/zero", "not a regular file"), "a device");
    tap_ok(refuses_file(folder, "not a regular file") || strstr(line, "directory"), "a folder");
    free(archive.bytes);
}

int main(void) {
    if (!mkdtemp(folder))
        return tap_skip_all("no temporary folder");
    test_values();
    Scene warm_up; /* the first error can make libzip allocate for good */
    start("");
    read_arrays(&warm_up);
    scene_free(&warm_up);
    long mark = memory_mark();
    test_forms();
    test_headers();
    test_prefix();
    test_elements();
    test_sets();
    test_car();
    test_zip_bytes();
    test_entries();
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 1024, "all refused within 1 MB (%ld kB)",
               memory_growth_kb(mark));
    test_deflated();
    test_damage();
    round_trip("", false, false, "calibration and map, written and read");
    round_trip("", true, false, "the same in float16");
    round_trip("idx", false, false, "calibration and a bilinear map");
    round_trip("cal", false, true, "a weighted map without calibration");
    test_files();
    tap_ok(rmdir(folder) == 0, "the folder is empty at the end");
    return tap_done();
}
