/* SPDX-License-Identifier: MIT */
/* Tensor scenes: what is read from their arrays. */
#include "tests/scene/npz_arrays.h"

static void check_tensors(void) {
    static const BevShape shape = {2, 3, 2, 3, 4, 4, 3, 1};
    tap_ok(scene.tensors.depth[5] == 0.25f && scene.tensors.depth[35] == 0.5f &&
               scene.tensors.feat[1] == -2.5f && scene.tensors.feat[47] == 100 &&
               scene.channels == 4 && !memcmp(&scene.shape, &shape, sizeof shape) &&
               scene.temperature == 1 && !scene.has_world && scene.non_finite == 0,
           "tensors and shape");
}

static void check_rig(void) {
    const Camera *camera = &scene.rig.cameras[0];
    const ImageCut *cut = &scene.rig.cameras[1].cut;
    const Frustum *f = &scene.rig.frustum;
    const Grid *g = &scene.rig.grid;
    tap_ok(scene.has_rig && scene.rig.camera_count == 2 && camera->intrinsics[0] == 60 &&
               camera->intrinsics[5] == 30 && camera->rotation[2] == 1 &&
               camera->position_m[0] == 1.5 && camera->position_m[1] == 0.25 &&
               camera->position_m[2] == 1.25 && scene.rig.cameras[1].rotation[2] == -1,
           "cameras");
    tap_ok(f->input_w == 48 && f->input_h == 32 && f->feat_w == 3 && f->feat_h == 2 &&
               cut->resize_x == 0.5 && cut->resize_y == 0.5 && cut->crop_x == 0 &&
               cut->crop_y == 10 && cut->image_w == 96 && cut->image_h == 84 &&
               f->depth_start_m == 1 && f->depth_stop_m == 4 && f->depth_step_m == 1,
           "frustum: height before width in image_size");
    tap_ok(g->x_min_m == -4 && g->x_max_m == 4 && g->y_min_m == -3 && g->y_max_m == 3 &&
               g->z_min_m == -5 && g->z_max_m == 5 && g->nx == 4 && g->ny == 3,
           "grid: rows x, y, z of lower, upper, cell");
}

static void check_map(void) {
    const BevMap *map = &scene.map;
    tap_ok(scene.has_map && map->points == 5 && map->intervals == 3 && map->ranks_depth[3] == 35 &&
               map->ranks_feat[3] == 11 && map->ranks_bev[4] == 11 &&
               map->interval_starts[2] == 3 && map->interval_lengths[2] == 2,
           "index arrays");
}

static void test_values(void) {
    start("");
    if (accepts("calibration and index arrays")) {
        check_tensors();
        check_rig();
        check_map();
        tap_ok(!scene.map.weights, "without weights");
    }

    start("idx");
    if (accepts("calibration only")) {
        check_rig();
        tap_ok(!scene.has_map && !scene.map.ranks_bev, "no map");
    }

    start("cal");
    get("ranks_feat")->descr = "<i8";
    get("interval_starts")->descr = "<i8";
    add_weights();
    if (accepts("index arrays only, some int64, with weights")) {
        check_tensors();
        check_map();
        tap_ok(!scene.has_rig && scene.map.weights[2] == 0.25f, "weights, no rig");
    }

    start("");
    add_weights();
    if (accepts("calibration and weighted arrays"))
        tap_ok(scene.has_rig && !scene.has_map && !scene.map.points,
               "whose align is not known: the rig counts");

    start("");
    get("depth")->descr = get("feat")->descr = "<f2";
    get("intrinsics")->descr = get("cam2ego")->descr = "<f4";
    reshape("crop bev_shape", "(2,)", 2);
    get("resize")->shape = "(1,)";
    get("bev_shape")->values[0] = 3;
    get("bev_shape")->values[1] = 4;
    if (accepts("half tensors, float calibration, the other shapes"))
        check_tensors(), check_rig(), check_map();

    start("");
    get("depth")->values[3] = NAN;
    get("feat")->values[9] = INFINITY;
    get("feat")->values[10] = -INFINITY;
    if (accepts("NaN and infinity in the tensors"))
        tap_ok(scene.non_finite == 3, "are counted: %lld", (long long)scene.non_finite);
}

static void check_car(void) {
    const Photos *photos = &scene.photos;
    const TrueBox *box = photos->boxes;
    tap_ok(!strcmp(scene.rig.cameras[0].name, "le\xc3\xa9t") &&
               !strcmp(scene.rig.cameras[1].name, "a?b"),
           "names, without control characters: \"%s\", \"%s\"", scene.rig.cameras[0].name,
           scene.rig.cameras[1].name);
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

/* The header of images of 50 MB each, and no more data than deflate needs for them: refused before
 * memory is allocated. */
static void test_many_pixels(void) {
    Buffer npy = {0}, block = {0};
    npy_add(&npy, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4097, 4097, 3), }\n", "",
            0);
    /* not the last block, not compressed */
    buffer_add_fields(&block, "122", (uint64_t[]){0, npy.length, ~npy.length});
    buffer_add(&block, npy.bytes, npy.length);
    for (int i = 0; i < 19600; i++) /* empty blocks: deflate makes at most 1032 bytes of one */
        buffer_add(&block, "\0\0\0\xff\xff", 5);
    start("");
    ZipMaker zip = make_zip();
    zip_entry(&zip, "images.npy", block.bytes, block.length, 8, 0,
              (uint32_t)npy.length + 2u * 4097 * 4097 * 3, 0);
    zip_end(&zip);
    refuses_bytes(
        zip.archive, "images of 16.8 million pixels",
        "images: 4097 x 4097 pixels, must be at most 16777216 in all...save smaller ones");
    free(npy.bytes);
    free(block.bytes);
}

static void test_car(void) {
    start("");
    add_car();
    if (accepts("with photographs, boxes and LiDAR"))
        check_car();
    drop("feat");
    get("bev_shape")->values[4] = 8;
    if (accepts("without features: those of the photographs"))
        tap_ok(scene.photo_features && scene.channels == 8 && scene.tensors.feat[3] == 1,
               "eight channels, the fourth 1");
    start("cal");
    add_car();
    if (accepts("without a calibration"))
        tap_ok(scene.photos.h == 2 && scene.photos.w == 3, "photographs as they are");
    drop("feat");
    refuses("neither features nor calibration", "feat: is missing...images and a cal");
    start("");
    add_car();
    drop("boxes");
    refuses("labels without boxes", "box_labels...labels without boxes");
    start("");
    Array name = {"camera_names", "<U40", "(2,)", 80, {0}, NULL, 0};
    for (int i = 0; i < 32; i++)
        name.values[i] = 'x';
    add(name);
    refuses("a name too long", "camera_names[0]:...32 bytes, must be at most 31");
    test_many_pixels();
}

TAP_SUITE(npz) {
    test_values();
    long mark = memory_mark();
    test_car();
    tap_within_1_mb(mark, "photographs");
}
