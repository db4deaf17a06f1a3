/* SPDX-License-Identifier: MIT */
/* Reads scenes from JSON. Tables list each object's fields. Rules about several fields follow. */
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
    char name[32];
    CutFields cut;
    double yaw_deg, pitch_deg, roll_deg;
    double focal_px, center_px[2];
    double position_m[3];
} CameraFields;

/* All objects of a file but the items of its lists fill this struct. */
typedef struct {
    Scene scene;
    int version;
    CutFields cut; /* of all cameras */
    FieldList cameras, patches, solids;
} SceneFields;

/* ---- the tables ------------------------------------------------------------------------------ */

#define RANGE(min_, max_)   .min = min_, .max = max_
#define OPTIONAL(fallback_) .optional = true, .fallback = fallback_
#define AT(type_, member_)  .offset = offsetof(type_, member_)
#define IN_SCENE(member_)   AT(SceneFields, scene.member_)

static const char *const patch_words[] = {
    [PATCH_RECT] = "rect", [PATCH_CHECKER] = "checker", [PATCH_DISC] = "disc"};
static const char *const solid_words[SOLID_KINDS] = {
    [SOLID_BOX] = "box",         [SOLID_CYLINDER] = "cylinder", [SOLID_CAR] = "car",
    [SOLID_TRUCK] = "truck",     [SOLID_BUS] = "bus",           [SOLID_PERSON] = "person",
    [SOLID_CYCLIST] = "cyclist", [SOLID_CROWN] = "crown"};

#define CLASS_WORDS FIELD_WORDS(world_classes[0].name, *world_classes, CLASS_COUNT)
#define FAR_M       SCENE_FAR_M
#define NO_CROP     1e9

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

/* An array of numbers fills consecutive members of CutFields, Frustum or Grid, without padding. */
_Static_assert(offsetof(CutFields, crop_px) == sizeof(int[2]) + sizeof(int64_t) + sizeof(double[2]),
               "no padding");
_Static_assert(offsetof(Frustum, bins) == 4 * sizeof(int) + 3 * sizeof(double), "no padding");
_Static_assert(offsetof(Grid, nz) == 2 * sizeof(int) + 6 * sizeof(double), "no padding");

static const Field frustum_fields[] = {
    CUT_FIELDS(SceneFields, cut, .optional = false),
    {"input_px", FIELD_INT, IN_SCENE(rig.frustum.input_w), 2, RANGE(1, 65536)},
    {"features", FIELD_INT, IN_SCENE(rig.frustum.feat_w), 2, RANGE(1, SCENE_MAX_FEATURES)},
    {"depth_m", FIELD_DOUBLE, IN_SCENE(rig.frustum.depth_start_m), 3, RANGE(0.001, FAR_M),
     OPTIONAL(0)},
    {"depth_bins", FIELD_ROW, IN_SCENE(rig.frustum.bins), FRUSTUM_MAX_BINS, RANGE(0.001, FAR_M),
     OPTIONAL(0)},
};
static const FieldTable frustum_table = FIELD_TABLE(frustum_fields, SceneFields);

static const Field grid_fields[] = {
    {"x_m", FIELD_DOUBLE, IN_SCENE(rig.grid.x_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"y_m", FIELD_DOUBLE, IN_SCENE(rig.grid.y_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"z_m", FIELD_DOUBLE, IN_SCENE(rig.grid.z_min_m), 2, RANGE(-FAR_M, FAR_M)},
    {"cells", FIELD_INT, IN_SCENE(rig.grid.nx), 2, RANGE(1, SCENE_MAX_CELLS)},
    {"nz", FIELD_INT, IN_SCENE(rig.grid.nz), RANGE(1, SCENE_MAX_CELLS), OPTIONAL(1)},
    {"rounding", FIELD_WORD, IN_SCENE(rig.grid.truncate), OPTIONAL(0),
     FIELD_WORDS(rounding_names[ROUNDING_FLOOR], *rounding_names, 2)},
};
static const FieldTable grid_table = FIELD_TABLE(grid_fields, SceneFields);

static const Field ground_fields[] = {
    {"class", FIELD_WORD, IN_SCENE(world.ground_class), CLASS_WORDS},
    {"color", FIELD_FLOAT, IN_SCENE(world.ground_color), 3, RANGE(0, 1)},
};
static const FieldTable ground_table = FIELD_TABLE(ground_fields, SceneFields);

static const Field patch_fields[] = {
    {"kind", FIELD_WORD, AT(Patch, kind), FIELD_WORDS(patch_words[0], *patch_words, 3)},
    {"class", FIELD_WORD, AT(Patch, class), CLASS_WORDS},
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
    {"kind", FIELD_WORD, AT(Solid, kind), FIELD_WORDS(solid_words[0], *solid_words, SOLID_KINDS)},
    {"class", FIELD_WORD, AT(Solid, class), CLASS_WORDS},
    {"color", FIELD_FLOAT, AT(Solid, color), 3, RANGE(0, 1)},
    {"center_m", FIELD_DOUBLE, AT(Solid, center_m), 2, RANGE(-FAR_M, FAR_M)},
    {"z_m", FIELD_DOUBLE, AT(Solid, z_m), RANGE(-FAR_M, FAR_M), OPTIONAL(0)},
    {"size_m", FIELD_DOUBLE, AT(Solid, size_m), 3, RANGE(0.001, FAR_M)},
    {"yaw_deg", FIELD_DOUBLE, AT(Solid, yaw_deg), RANGE(-360, 360), OPTIONAL(0)},
    {"velocity_mps", FIELD_DOUBLE, AT(Solid, velocity_mps), 2, RANGE(-200, 200), OPTIONAL(0)},
};
static const FieldTable solid_table = FIELD_TABLE(solid_fields, Solid);

static const Field world_fields[] = {
    {"loop_s", FIELD_DOUBLE, IN_SCENE(world.loop_s), RANGE(0, 86400), OPTIONAL(0)},
    {"judged_s", FIELD_DOUBLE, IN_SCENE(world.judged_s), RANGE(0, 86400), OPTIONAL(0)},
    {"ground", FIELD_OBJECT, .table = &ground_table},
    {"patches", FIELD_LIST, AT(SceneFields, patches), RANGE(0, SCENE_MAX_THINGS),
     .table = &patch_table},
    {"solids", FIELD_LIST, AT(SceneFields, solids), RANGE(0, SCENE_MAX_THINGS),
     .table = &solid_table},
};
static const FieldTable world_table = FIELD_TABLE(world_fields, SceneFields);

static const Field scene_fields[] = {
    {"bevscope", FIELD_INT, AT(SceneFields, version), RANGE(1, 1)},
    {"title", FIELD_TEXT, IN_SCENE(title), RANGE(0, sizeof((Scene *)0)->title - 1), OPTIONAL(0)},
    {"channels", FIELD_INT64, IN_SCENE(channels), RANGE(1, SCENE_MAX_CHANNELS), OPTIONAL(80)},
    {"seed", FIELD_INT64, IN_SCENE(seed), RANGE(0, 9007199254740991.0), OPTIONAL(1)},
    {"depth_temperature", FIELD_DOUBLE, IN_SCENE(temperature), RANGE(0.01, 100), OPTIONAL(1)},
    {"frustum", FIELD_OBJECT, .table = &frustum_table},
    {"grid", FIELD_OBJECT, .table = &grid_table},
    {"cameras", FIELD_LIST, AT(SceneFields, cameras), RANGE(1, RIG_MAX_CAMERAS),
     .table = &camera_table},
    {"world", FIELD_OBJECT, .table = &world_table},
};
static const FieldTable scene_table = FIELD_TABLE(scene_fields, SceneFields);

#define IN_SPEC(member_) IN_SCENE(operator_spec.member_)
static const Field operator_fields[] = {
    {"bevscope", FIELD_INT, AT(SceneFields, version), RANGE(1, 1)},
    {"title", FIELD_TEXT, IN_SCENE(title), RANGE(0, 127), OPTIONAL(0)},
    {"operator", FIELD_WORD, IN_SPEC(kind),
     FIELD_WORDS(operator_kinds[0].name, *operator_kinds, OPERATOR_COUNT)},
    {"points", FIELD_INT64, IN_SPEC(points), RANGE(1, OPERATOR_MAX_POINTS)},
    {"cells", FIELD_INT64, IN_SPEC(cells), RANGE(1, OPERATOR_MAX_CELLS)},
    {"rows", FIELD_INT64, IN_SPEC(rows), RANGE(1, OPERATOR_MAX_ROWS), OPTIONAL(0)},
    {"channels", FIELD_INT64, IN_SPEC(channels), RANGE(1, SCENE_MAX_CHANNELS)},
    {"skew", FIELD_DOUBLE, IN_SPEC(skew), RANGE(0, OPERATOR_MAX_SKEW)},
    {"seed", FIELD_INT64, IN_SPEC(seed), RANGE(0, 9007199254740991.0), OPTIONAL(1)},
    {"world", FIELD_TEXT, IN_SPEC(world), RANGE(1, 63), OPTIONAL(0)},
};
static const FieldTable operator_table = FIELD_TABLE(operator_fields, SceneFields);

static const ShortText root = {"$"};

/* Checks a field that one kind of operator must have and all others must not have. */
static bool check_field_of_kind(const Check *check, const char *key, bool given, OperatorKind kind,
                                OperatorKind owner) {
    return given == (kind == owner) ||
           FIELD_REFUSE(check, field_path_key(root, key), "",
                        given ? "only %s has it" : "is missing, and %s needs it",
                        operator_kinds[owner].name);
}

static bool check_depth(const Check *check, const Frustum *frustum) {
    ShortText path = field_path_key(field_path_key(root, "frustum"), "depth_m");
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

/* Completes the rig: the cameras of the list, and the steps of a row of depths. */
static void build_rig(Rig *rig, const SceneFields *fields) {
    const CameraFields *cameras = fields->cameras.items;
    rig->camera_count = fields->cameras.count;
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        memcpy(camera->name, cameras[i].name, sizeof camera->name);
        camera->cut = merge_cut_fields(&cameras[i].cut, &fields->cut);
        camera_set_intrinsics(camera, cameras[i].focal_px, cameras[i].center_px[0],
                              cameras[i].center_px[1]);
        camera_set_pose(camera, cameras[i].yaw_deg, cameras[i].pitch_deg, cameras[i].roll_deg,
                        cameras[i].position_m);
    }
    const DepthBins bins = rig->frustum.bins;
    if (bins.count)
        frustum_set_bins(&rig->frustum, bins.m, bins.count);
}

/* Checks the rules about several fields. */
static bool check_scene(const Check *check, Scene *scene) {
    const Rig *rig = &scene->rig;
    if (!check_depth(check, &rig->frustum) || !rig_check(rig, check->where, check->err))
        return false;
    /* Where cameras have different cuts, each cut must lie in its image. */
    for (int i = 0; !rig_has_one_cut(rig) && i < rig->camera_count; i++)
        if (!camera_check_cut(&rig->cameras[i], &rig->frustum, check->where,
                              field_path_index(field_path_key(root, "cameras"), (size_t)i).text,
                              check->err))
            return false;
    scene->shape = rig_shape(rig, scene->channels);
    return scene_check_size(&scene->shape, check->where, check->err);
}

bool scene_of_json(const Check *check, const json_t *json, bool build, Scene *scene) {
    SceneFields fields = {0};
    const OperatorSpec *spec = &fields.scene.operator_spec;
    bool is_operator = json_object_get(json, "operator");
    bool ok = fields_read(check, root, is_operator ? &operator_table : &scene_table, json, &fields);
    *scene = fields.scene;
    if (is_operator)
        return ok &&
               check_field_of_kind(check, "rows", spec->rows, spec->kind, OPERATOR_EMBEDDING_BAG) &&
               check_field_of_kind(check, "world", spec->world[0], spec->kind, OPERATOR_VOXELIZE) &&
               (!build || operator_build(spec, check->where, scene, check->err));
    scene->has_rig = scene->has_world = true;
    World *world = &scene->world; /* owns the items of these lists, also after a failure */
    world->patch_count = fields.patches.count;
    world->solid_count = fields.solids.count;
    world->patches = fields.patches.items;
    world->solids = fields.solids.items;
    if (ok)
        build_rig(&scene->rig, &fields);
    free(fields.cameras.items);
    return ok && check_scene(check, scene);
}
