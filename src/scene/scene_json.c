/* SPDX-License-Identifier: MIT */
/* Reads world scenes from JSON. The tables list each object's fields. Rules about several fields
 * follow. */
#include "src/base/json_fields.h"
#include "src/scene/features.h"
#include "src/scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- the structs that the tables fill -------------------------------------------------------- */

/* The fields of an image cut, of the frustum for all cameras or of one camera. Missing fields have
 * image_px[0] 0, resize_count 0 and NO_CROP. `resize` is one number, or x and y. */
typedef struct {
    int image_px[2];
    int64_t resize_count;
    double resize[2];
    double crop_px[2];
} CutFields;

typedef struct {
    CutFields cut;
    Frustum rest;
} FrustumFields;

typedef struct {
    char name[32];
    CutFields cut;
    double yaw_deg, pitch_deg, roll_deg;
    double focal_px, center_px[2];
    double position_m[3];
} CameraFields;

typedef struct {
    int class;
    float color[3];
} GroundFields;

typedef struct {
    double loop_s;
    GroundFields ground;
    FieldList patches, solids;
} WorldFields;

typedef struct {
    int version;
    char title[128];
    int channels;
    int64_t seed;
    double temperature;
    FrustumFields frustum;
    Grid grid;
    FieldList cameras;
    WorldFields world;
} SceneFields;

/* ---- the tables ------------------------------------------------------------------------------ */

#define AT(type_, member_) .offset = offsetof(type_, member_)

static const char *class_word(int index) {
    return index < CLASS_COUNT ? world_classes[index].name : NULL;
}

static const char *patch_word(int index) {
    static const char *const words[] = {
        [PATCH_RECT] = "rect", [PATCH_CHECKER] = "checker", [PATCH_DISC] = "disc"};
    return index < 3 ? words[index] : NULL;
}

static const char *solid_word(int index) {
    static const char *const words[SOLID_KINDS] = {
        [SOLID_BOX] = "box",         [SOLID_CYLINDER] = "cylinder", [SOLID_CAR] = "car",
        [SOLID_TRUCK] = "truck",     [SOLID_BUS] = "bus",           [SOLID_PERSON] = "person",
        [SOLID_CYCLIST] = "cyclist", [SOLID_CROWN] = "crown"};
    return index < SOLID_KINDS ? words[index] : NULL;
}

#define FAR_M   SCENE_FAR_M
#define NO_CROP 1e9

/* The table rows of a CutFields. The last argument belongs to all three rows. */
#define CUT_FIELDS(type_, cut_, ...)                                                               \
    {"image_px", FIELD_INT, AT(type_, cut_.image_px), 2, RANGE(1, 65536), __VA_ARGS__},            \
        {"resize", FIELD_ROW, AT(type_, cut_.resize_count), 2, RANGE(0.001, 1000), __VA_ARGS__}, { \
        "crop_px", FIELD_DOUBLE, AT(type_, cut_.crop_px), 2, RANGE(-65536, 65536),                 \
            .fallback = NO_CROP, __VA_ARGS__                                                       \
    }

static const Field camera_fields[] = {
    {"name", FIELD_TEXT, AT(CameraFields, name), RANGE(1, sizeof((CameraFields *)0)->name - 1)},
    {"yaw_deg", FIELD_DOUBLE, AT(CameraFields, yaw_deg), RANGE(-360, 360), OPTIONAL(0)},
    {"pitch_deg", FIELD_DOUBLE, AT(CameraFields, pitch_deg), RANGE(-90, 90), OPTIONAL(0)},
    {"roll_deg", FIELD_DOUBLE, AT(CameraFields, roll_deg), RANGE(-360, 360), OPTIONAL(0)},
    {"focal_px", FIELD_DOUBLE, AT(CameraFields, focal_px), RANGE(1, SCENE_FAR_PX)},
    {"center_px", FIELD_DOUBLE, AT(CameraFields, center_px), 2, RANGE(-SCENE_FAR_PX, SCENE_FAR_PX)},
    {"position_m", FIELD_DOUBLE, AT(CameraFields, position_m), 3, RANGE(-FAR_M, FAR_M)},
    CUT_FIELDS(CameraFields, cut, .optional = true),
};
static const FieldTable camera_table = FIELD_TABLE(camera_fields, CameraFields);

/* A JSON array of numbers fills consecutive members of CutFields, Frustum and Grid. They have no
 * padding. */
_Static_assert(offsetof(CutFields, crop_px) == sizeof(int[2]) + sizeof(int64_t) + sizeof(double[2]),
               "no padding");
_Static_assert(offsetof(Frustum, bins) == 4 * sizeof(int) + 3 * sizeof(double), "no padding");
_Static_assert(offsetof(Grid, nz) == 2 * sizeof(int) + 6 * sizeof(double), "no padding");

static const Field frustum_fields[] = {
    CUT_FIELDS(FrustumFields, cut, .optional = false),
    {"input_px", FIELD_INT, AT(FrustumFields, rest.input_w), 2, RANGE(1, 65536)},
    {"features", FIELD_INT, AT(FrustumFields, rest.feat_w), 2, RANGE(1, SCENE_MAX_FEATURES)},
    {"depth_m", FIELD_DOUBLE, AT(FrustumFields, rest.depth_start_m), 3, RANGE(0.001, FAR_M),
     OPTIONAL(0)},
    {"depth_bins", FIELD_ROW, AT(FrustumFields, rest.bins), FRUSTUM_MAX_BINS, RANGE(0.001, FAR_M),
     OPTIONAL(0)},
};
static const FieldTable frustum_table = FIELD_TABLE(frustum_fields, FrustumFields);

static const Field grid_fields[] = {
    {"x_m", FIELD_DOUBLE, AT(Grid, x_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"y_m", FIELD_DOUBLE, AT(Grid, y_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"z_m", FIELD_DOUBLE, AT(Grid, z_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"cells", FIELD_INT, AT(Grid, nx), 2, RANGE(1, SCENE_MAX_CELLS)},
    {"nz", FIELD_INT, AT(Grid, nz), RANGE(1, SCENE_MAX_CELLS), OPTIONAL(1)},
    {"rounding", FIELD_WORD, AT(Grid, truncate), .word_at = scene_rounding, OPTIONAL(0)},
};
static const FieldTable grid_table = FIELD_TABLE(grid_fields, Grid);

static const Field ground_fields[] = {
    {"class", FIELD_WORD, AT(GroundFields, class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(GroundFields, color), 3, RANGE(0, 1)},
};
static const FieldTable ground_table = FIELD_TABLE(ground_fields, GroundFields);

static const Field patch_fields[] = {
    {"kind", FIELD_WORD, AT(Patch, kind), .word_at = patch_word},
    {"class", FIELD_WORD, AT(Patch, class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(Patch, color), 3, RANGE(0, 1)},
    {"center_m", FIELD_DOUBLE, AT(Patch, center_m), 2, RANGE(-FAR_M, FAR_M)},
    {"size_m", FIELD_DOUBLE, AT(Patch, size_m), 2, RANGE(0.001, FAR_M)},
    {"yaw_deg", FIELD_DOUBLE, AT(Patch, yaw_deg), RANGE(-360, 360), OPTIONAL(0)},
    {"repeat", FIELD_INT, AT(Patch, repeat), RANGE(1, 1000), OPTIONAL(1)},
    {"step_m", FIELD_DOUBLE, AT(Patch, step_m), 2, RANGE(-FAR_M, FAR_M), OPTIONAL(0)},
    {"square_m", FIELD_DOUBLE, AT(Patch, square_m), RANGE(0.001, FAR_M), OPTIONAL(1)},
    {"color2", FIELD_FLOAT, AT(Patch, color2), 3, RANGE(0, 1), OPTIONAL(0)},
};
static const FieldTable patch_table = FIELD_TABLE(patch_fields, Patch);

static const Field solid_fields[] = {
    {"kind", FIELD_WORD, AT(Solid, kind), .word_at = solid_word},
    {"class", FIELD_WORD, AT(Solid, class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(Solid, color), 3, RANGE(0, 1)},
    {"center_m", FIELD_DOUBLE, AT(Solid, center_m), 2, RANGE(-FAR_M, FAR_M)},
    {"z_m", FIELD_DOUBLE, AT(Solid, z_m), RANGE(-FAR_M, FAR_M), OPTIONAL(0)},
    {"size_m", FIELD_DOUBLE, AT(Solid, size_m), 3, RANGE(0.001, FAR_M)},
    {"yaw_deg", FIELD_DOUBLE, AT(Solid, yaw_deg), RANGE(-360, 360), OPTIONAL(0)},
    {"velocity_mps", FIELD_DOUBLE, AT(Solid, velocity_mps), 2, RANGE(-200, 200), OPTIONAL(0)},
};
static const FieldTable solid_table = FIELD_TABLE(solid_fields, Solid);

static const Field world_fields[] = {
    {"loop_s", FIELD_DOUBLE, AT(WorldFields, loop_s), RANGE(0, 86400), OPTIONAL(0)},
    {"ground", FIELD_OBJECT, AT(WorldFields, ground), .table = &ground_table},
    {"patches", FIELD_LIST, AT(WorldFields, patches), RANGE(0, SCENE_MAX_THINGS),
     .table = &patch_table},
    {"solids", FIELD_LIST, AT(WorldFields, solids), RANGE(0, SCENE_MAX_THINGS),
     .table = &solid_table},
};
static const FieldTable world_table = FIELD_TABLE(world_fields, WorldFields);

static const Field scene_fields[] = {
    {"bevscope", FIELD_INT, AT(SceneFields, version), RANGE(1, 1)},
    {"title", FIELD_TEXT, AT(SceneFields, title), RANGE(0, sizeof((SceneFields *)0)->title - 1),
     OPTIONAL(0)},
    {"channels", FIELD_INT, AT(SceneFields, channels), RANGE(1, SCENE_MAX_CHANNELS), OPTIONAL(80)},
    {"seed", FIELD_INT64, AT(SceneFields, seed), RANGE(0, 9007199254740991.0), OPTIONAL(1)},
    {"depth_temperature", FIELD_DOUBLE, AT(SceneFields, temperature), RANGE(0.01, 100),
     OPTIONAL(1)},
    {"frustum", FIELD_OBJECT, AT(SceneFields, frustum), .table = &frustum_table},
    {"grid", FIELD_OBJECT, AT(SceneFields, grid), .table = &grid_table},
    {"cameras", FIELD_LIST, AT(SceneFields, cameras), RANGE(1, RIG_MAX_CAMERAS),
     .table = &camera_table},
    {"world", FIELD_OBJECT, AT(SceneFields, world), .table = &world_table},
};
static const FieldTable scene_table = FIELD_TABLE(scene_fields, SceneFields);

static const FieldPath root = {"$"};

static bool check_depth(const Check *check, const Frustum *frustum) {
    FieldPath path = field_path_key(field_path_key(root, "frustum"), "depth_m");
    if (frustum->bins.count)
        return true;
    if (!(frustum->depth_start_m > 0))
        return FIELD_REFUSE(check, path, "", "is missing");
    int64_t bins = frustum_depth_bins(frustum);
    return bins <= SCENE_MAX_BINS || FIELD_REFUSE(check, path, "start, stop, step",
                                                  "gives %lld depth bins, must be at most %d",
                                                  (long long)bins, SCENE_MAX_BINS);
}

/* ---- building the scene ---------------------------------------------------------------------- */

static ImageCut merge_cut_fields(const CutFields *fields, const CutFields *shared) {
    const CutFields *image = fields->image_px[0] ? fields : shared;
    const CutFields *resize = fields->resize_count ? fields : shared;
    const CutFields *crop = fields->crop_px[0] < NO_CROP ? fields : shared;
    return (ImageCut){image->image_px[0], image->image_px[1],
                      resize->resize[0],  resize->resize[resize->resize_count - 1],
                      crop->crop_px[0],   crop->crop_px[1]};
}

static void build_rig(Rig *rig, const SceneFields *fields) {
    const CameraFields *cameras = fields->cameras.items;
    rig->camera_count = fields->cameras.count;
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        memcpy(camera->name, cameras[i].name, sizeof camera->name);
        camera->cut = merge_cut_fields(&cameras[i].cut, &fields->frustum.cut);
        camera_set_intrinsics(camera, cameras[i].focal_px, cameras[i].center_px[0],
                              cameras[i].center_px[1]);
        camera_set_pose(camera, cameras[i].yaw_deg, cameras[i].pitch_deg, cameras[i].roll_deg,
                        cameras[i].position_m);
    }
    rig->frustum = fields->frustum.rest;
    if (rig->frustum.bins.count)
        frustum_set_bins(&rig->frustum, fields->frustum.rest.bins.m, rig->frustum.bins.count);
    rig->grid = fields->grid;
}

static bool build_scene(const Check *check, SceneFields *fields, Scene *scene) {
    memcpy(scene->title, fields->title, sizeof scene->title);
    scene->has_rig = scene->has_world = true;
    scene->channels = fields->channels;
    scene->seed = (uint64_t)fields->seed;
    scene->temperature = fields->temperature;
    build_rig(&scene->rig, fields);
    WorldFields *world = &fields->world;
    scene->world = (World){.ground_class = (WorldClass)world->ground.class,
                           .patch_count = world->patches.count,
                           .solid_count = world->solids.count,
                           .patches = world->patches.items,
                           .solids = world->solids.items,
                           .loop_s = world->loop_s};
    memcpy(scene->world.ground_color, world->ground.color, sizeof scene->world.ground_color);
    world->patches = world->solids = (FieldList){0}; /* the scene owns their items now */
    const Rig *rig = &scene->rig;
    bool ok = rig_check(rig, check->where, check->err);
    /* Where cameras have different cuts, each cut must lie in its image. */
    for (int i = 0; ok && !rig_has_one_cut(rig) && i < rig->camera_count; i++)
        ok = camera_check_cut(&rig->cameras[i], &rig->frustum, check->where,
                              field_path_index(field_path_key(root, "cameras"), (size_t)i).text,
                              check->err);
    if (!ok)
        return false;
    scene->shape = rig_shape(&scene->rig, scene->channels);
    return scene_check_size(&scene->shape, check->where, check->err);
}

bool scene_of_json(const Check *check, const json_t *json, Scene *scene) {
    SceneFields fields = {0};
    bool ok = fields_read(check, root, &scene_table, json, &fields) &&
              check_depth(check, &fields.frustum.rest) && build_scene(check, &fields, scene);
    free(fields.cameras.items);
    free(fields.world.patches.items);
    free(fields.world.solids.items);
    return ok;
}
