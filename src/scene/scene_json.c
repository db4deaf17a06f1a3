/* World scenes from JSON. One table of fields per object; everything that is accepted or refused is
 * in those tables, up to the few rules that concern more than one field. */
#include "src/base/json_fields.h"
#include "src/scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the tables fill -------------------------------------------------------------------- */

typedef struct {
    char name[32];
    double yaw_deg, pitch_deg, roll_deg;
    double focal_px, center_px[2];
    double position_m[3];
} CameraFields;

typedef struct {
    int image_px[2], input_px[2], features[2]; /* width, height */
    double resize, crop_px[2];
    double depth_m[3]; /* start, stop, step */
} FrustumFields;

typedef struct {
    double x_m[2], y_m[2], z_m[2];
    int cells[2];
} GridFields;

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
    GridFields grid;
    FieldList cameras;
    WorldFields world;
} SceneFields;

/* ---- the tables ------------------------------------------------------------------------------ */

#define AT(member_) .offset = offsetof(OBJECT_TYPE, member_)

static const char *class_word(int index) {
    return index < CLASS_COUNT ? world_classes[index].name : NULL;
}

static const char *patch_word(int index) {
    static const char *const words[] = {[PATCH_RECT] = "rect", [PATCH_CHECKER] = "checker"};
    return index < 2 ? words[index] : NULL;
}

static const char *solid_word(int index) {
    static const char *const words[] = {[SOLID_BOX] = "box", [SOLID_CYLINDER] = "cylinder"};
    return index < 2 ? words[index] : NULL;
}

#define FAR_M       10000 /* coordinates and sizes of a street scene */

#define OBJECT_TYPE CameraFields
static const Field camera_fields[] = {
    {"name", FIELD_TEXT, AT(name), .min = 1, .max = sizeof((CameraFields *)0)->name - 1},
    {"yaw_deg", FIELD_DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"pitch_deg", FIELD_DOUBLE, AT(pitch_deg), .min = -90, .max = 90, .optional = true},
    {"roll_deg", FIELD_DOUBLE, AT(roll_deg), .min = -360, .max = 360, .optional = true},
    {"focal_px", FIELD_DOUBLE, AT(focal_px), .min = 1, .max = 100000},
    {"center_px", FIELD_DOUBLE, AT(center_px), 2, .min = -100000, .max = 100000},
    {"position_m", FIELD_DOUBLE, AT(position_m), 3, .min = -FAR_M, .max = FAR_M},
};
static const FieldTable camera_table = FIELD_TABLE(camera_fields, CameraFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE FrustumFields
static const Field frustum_fields[] = {
    {"image_px", FIELD_INT, AT(image_px), 2, .min = 1, .max = 65536},
    {"resize", FIELD_DOUBLE, AT(resize), .min = 0.001, .max = 1000},
    {"crop_px", FIELD_DOUBLE, AT(crop_px), 2, .min = -65536, .max = 65536},
    {"input_px", FIELD_INT, AT(input_px), 2, .min = 1, .max = 65536},
    {"features", FIELD_INT, AT(features), 2, .min = 1, .max = SCENE_MAX_FEATURES},
    {"depth_m", FIELD_DOUBLE, AT(depth_m), 3, .min = 0.001, .max = FAR_M},
};
static const FieldTable frustum_table = FIELD_TABLE(frustum_fields, FrustumFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE GridFields
static const Field grid_fields[] = {
    {"x_m", FIELD_DOUBLE, AT(x_m), 2, .min = -FAR_M, .max = FAR_M},
    {"y_m", FIELD_DOUBLE, AT(y_m), 2, .min = -FAR_M, .max = FAR_M},
    {"z_m", FIELD_DOUBLE, AT(z_m), 2, .min = -FAR_M, .max = FAR_M},
    {"cells", FIELD_INT, AT(cells), 2, .min = 1, .max = SCENE_MAX_CELLS},
};
static const FieldTable grid_table = FIELD_TABLE(grid_fields, GridFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE GroundFields
static const Field ground_fields[] = {
    {"class", FIELD_WORD, AT(class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(color), 3, .min = 0, .max = 1},
};
static const FieldTable ground_table = FIELD_TABLE(ground_fields, GroundFields);

/* square_m and color2 default to what no file can say, so that finish_patch sees their absence. */
#undef OBJECT_TYPE
#define OBJECT_TYPE Patch
static const Field patch_fields[] = {
    {"kind", FIELD_WORD, AT(kind), .word_at = patch_word},
    {"class", FIELD_WORD, AT(class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(color), 3, .min = 0, .max = 1},
    {"center_m", FIELD_DOUBLE, AT(center_m), 2, .min = -FAR_M, .max = FAR_M},
    {"size_m", FIELD_DOUBLE, AT(size_m), 2, .min = 0.001, .max = FAR_M},
    {"yaw_deg", FIELD_DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"repeat", FIELD_INT, AT(repeat), .min = 1, .max = 1000, .optional = true, .fallback = 1},
    {"step_m", FIELD_DOUBLE, AT(step_m), 2, .min = -FAR_M, .max = FAR_M, .optional = true},
    {"square_m", FIELD_DOUBLE, AT(square_m), .min = 0.001, .max = FAR_M, .optional = true,
     .fallback = -1},
    {"color2", FIELD_FLOAT, AT(color2), 3, .min = 0, .max = 1, .optional = true, .fallback = -1},
};
static const FieldTable patch_table = FIELD_TABLE(patch_fields, Patch);

#undef OBJECT_TYPE
#define OBJECT_TYPE Solid
static const Field solid_fields[] = {
    {"kind", FIELD_WORD, AT(kind), .word_at = solid_word},
    {"class", FIELD_WORD, AT(class), .word_at = class_word},
    {"color", FIELD_FLOAT, AT(color), 3, .min = 0, .max = 1},
    {"center_m", FIELD_DOUBLE, AT(center_m), 2, .min = -FAR_M, .max = FAR_M},
    {"z_m", FIELD_DOUBLE, AT(z_m), .min = -FAR_M, .max = FAR_M, .optional = true},
    {"size_m", FIELD_DOUBLE, AT(size_m), 3, .min = 0.001, .max = FAR_M},
    {"yaw_deg", FIELD_DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"velocity_mps", FIELD_DOUBLE, AT(velocity_mps), 2, .min = -200, .max = 200, .optional = true},
};
static const FieldTable solid_table = FIELD_TABLE(solid_fields, Solid);

#undef OBJECT_TYPE
#define OBJECT_TYPE WorldFields
static const Field world_fields[] = {
    {"loop_s", FIELD_DOUBLE, AT(loop_s), .min = 0, .max = 86400, .optional = true},
    {"ground", FIELD_OBJECT, AT(ground), .table = &ground_table},
    {"patches", FIELD_LIST, AT(patches), .min = 0, .max = SCENE_MAX_THINGS, .table = &patch_table},
    {"solids", FIELD_LIST, AT(solids), .min = 0, .max = SCENE_MAX_THINGS, .table = &solid_table},
};
static const FieldTable world_table = FIELD_TABLE(world_fields, WorldFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE SceneFields
static const Field scene_fields[] = {
    {"bevscope", FIELD_INT, AT(version), .min = 1, .max = 1},
    {"title", FIELD_TEXT, AT(title), .min = 0, .max = sizeof((SceneFields *)0)->title - 1,
     .optional = true},
    {"channels", FIELD_INT, AT(channels), .min = 1, .max = SCENE_MAX_CHANNELS, .optional = true,
     .fallback = 80},
    {"seed", FIELD_INT64, AT(seed), .min = 0, .max = 9007199254740991.0, .optional = true,
     .fallback = 1},
    {"depth_temperature", FIELD_DOUBLE, AT(temperature), .min = 0.01, .max = 100, .optional = true,
     .fallback = 1},
    {"frustum", FIELD_OBJECT, AT(frustum), .table = &frustum_table},
    {"grid", FIELD_OBJECT, AT(grid), .table = &grid_table},
    {"cameras", FIELD_LIST, AT(cameras), .min = 1, .max = RIG_MAX_CAMERAS, .table = &camera_table},
    {"world", FIELD_OBJECT, AT(world), .table = &world_table},
};
static const FieldTable scene_table = FIELD_TABLE(scene_fields, SceneFields);

/* ---- rules that concern more than one field -------------------------------------------------- */

static const FieldPath root = {"$"};

static bool check_ascending(const FieldReader *reader, const char *key, const double range[2]) {
    if (range[0] < range[1])
        return true;
    return field_refuse(reader, field_path_key(field_path_key(root, "grid"), key), "",
                        "empty range: the lower end %.15g is not below the upper end %.15g",
                        range[0], range[1]);
}

static bool check_depth(const FieldReader *reader, const double depth_m[3]) {
    FieldPath path = field_path_key(field_path_key(root, "frustum"), "depth_m");
    if (!(depth_m[0] < depth_m[1]))
        return field_refuse(reader, path, "start, stop, step",
                            "empty range: the start %.15g is not below the stop %.15g", depth_m[0],
                            depth_m[1]);
    double bins = ceil((depth_m[1] - depth_m[0]) / depth_m[2]);
    if (bins > SCENE_MAX_BINS)
        return field_refuse(reader, path, "start, stop, step", "gives %.0f depth bins, at most %d",
                            bins, SCENE_MAX_BINS);
    return true;
}

/* Only a checker has squares; without a word about them they are 1 m and black. */
static bool finish_patch(const FieldReader *reader, int index, Patch *patch) {
    FieldPath path = field_path_key(field_path_key(root, "world"), "patches");
    path = field_path_index(path, (size_t)index);
    bool checker = patch->kind == PATCH_CHECKER;
    if (!checker && patch->square_m > 0)
        return field_refuse(reader, field_path_key(path, "square_m"), "",
                            "only a checker has squares");
    if (!checker && patch->color2[0] >= 0)
        return field_refuse(reader, field_path_key(path, "color2"), "",
                            "only a checker has a second colour");
    if (patch->square_m < 0)
        patch->square_m = checker ? 1 : 0;
    for (int i = 0; i < 3; i++)
        if (patch->color2[i] < 0)
            patch->color2[i] = 0;
    return true;
}

static bool check_fields(const FieldReader *reader, const SceneFields *fields) {
    if (!check_ascending(reader, "x_m", fields->grid.x_m) ||
        !check_ascending(reader, "y_m", fields->grid.y_m) ||
        !check_ascending(reader, "z_m", fields->grid.z_m) ||
        !check_depth(reader, fields->frustum.depth_m))
        return false;
    for (int i = 0; i < fields->world.patches.count; i++)
        if (!finish_patch(reader, i, (Patch *)fields->world.patches.items + i))
            return false;
    return true;
}

/* ---- from fields to a scene ------------------------------------------------------------------ */

static void build_rig(Rig *rig, const SceneFields *fields) {
    const CameraFields *cameras = fields->cameras.items;
    rig->camera_count = fields->cameras.count;
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        memcpy(camera->name, cameras[i].name, sizeof camera->name);
        camera_set_intrinsics(camera, cameras[i].focal_px, cameras[i].center_px[0],
                              cameras[i].center_px[1]);
        camera_set_pose(camera, cameras[i].yaw_deg, cameras[i].pitch_deg, cameras[i].roll_deg,
                        cameras[i].position_m);
    }
    const FrustumFields *f = &fields->frustum;
    rig->frustum = (Frustum){
        .image_w = f->image_px[0],
        .image_h = f->image_px[1],
        .resize = f->resize,
        .crop_x = f->crop_px[0],
        .crop_y = f->crop_px[1],
        .input_w = f->input_px[0],
        .input_h = f->input_px[1],
        .feat_w = f->features[0],
        .feat_h = f->features[1],
        .depth_start_m = f->depth_m[0],
        .depth_stop_m = f->depth_m[1],
        .depth_step_m = f->depth_m[2],
    };
    const GridFields *g = &fields->grid;
    rig->grid = (Grid){
        .x_min_m = g->x_m[0],
        .x_max_m = g->x_m[1],
        .y_min_m = g->y_m[0],
        .y_max_m = g->y_m[1],
        .z_min_m = g->z_m[0],
        .z_max_m = g->z_m[1],
        .nx = g->cells[0],
        .ny = g->cells[1],
    };
}

/* Moves the world's arrays out of the fields. */
static void take_world(World *world, WorldFields *fields) {
    world->ground_class = (WorldClass)fields->ground.class;
    memcpy(world->ground_color, fields->ground.color, sizeof world->ground_color);
    world->loop_s = fields->loop_s;
    world->patches = fields->patches.items;
    world->patch_count = fields->patches.count;
    world->solids = fields->solids.items;
    world->solid_count = fields->solids.count;
    fields->patches = fields->solids = (FieldList){0};
}

static bool build_scene(const FieldReader *reader, SceneFields *fields, Scene *scene) {
    memcpy(scene->title, fields->title, sizeof scene->title);
    scene->has_rig = scene->has_world = true;
    scene->channels = fields->channels;
    scene->seed = (uint64_t)fields->seed;
    scene->temperature = fields->temperature;
    build_rig(&scene->rig, fields);
    take_world(&scene->world, &fields->world);
    if (!rig_check(&scene->rig, reader->where, reader->err))
        return false;
    scene->shape = rig_shape(&scene->rig, scene->channels);
    return scene_check_size(&scene->shape, reader->where, reader->err);
}

static json_t *parse(const FieldReader *reader, const char *text, size_t length) {
    if (length > SCENE_MAX_JSON_BYTES) {
        field_refuse(reader, root, "", "%zu bytes of JSON, at most %zu", length,
                     SCENE_MAX_JSON_BYTES);
        return NULL;
    }
    json_error_t error;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        char place[32];
        snprintf(place, sizeof place, "line %d, column %d", error.line, error.column);
        err_set(reader->err, ERR_FAILED, reader->where, "", "%s: %s", place, error.text);
    }
    return json;
}

bool scene_read_json(const char *text, size_t length, const char *where, Scene *scene, Err *err) {
    memset(scene, 0, sizeof *scene);
    size_t name = strlen(where), most = 100; /* a long path keeps its end */
    const FieldReader reader = {name > most ? where + name - most : where, err};
    SceneFields fields = {0};
    json_t *json = parse(&reader, text, length);
    bool ok = json && fields_read(&reader, root, &scene_table, json, &fields) &&
              check_fields(&reader, &fields) && build_scene(&reader, &fields, scene);
    json_decref(json);
    free(fields.cameras.items);
    free(fields.world.patches.items);
    free(fields.world.solids.items);
    if (!ok)
        scene_free(scene);
    return ok;
}
