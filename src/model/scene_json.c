/* World scenes from JSON. One table of fields per object; everything the reader accepts or refuses
 * is in those tables, up to the few rules that concern more than one field. */
#include "src/model/nearest.h"
#include "src/model/scene.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the tables fill ------------------------------------------------------------------- */

typedef struct {
    int count;
    void *items;
} List;

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
    List patches, solids;
} WorldFields;

typedef struct {
    int version;
    char title[128];
    int channels;
    int64_t seed;
    double temperature;
    FrustumFields frustum;
    GridFields grid;
    List cameras;
    WorldFields world;
} SceneFields;

/* ---- the tables ----------------------------------------------------------------------------- */

typedef enum { INT, INT64, FLOAT, DOUBLE, TEXT, WORD, OBJECT, LIST } FieldType;

typedef const char *WordAt(int index); /* NULL after the last word */

typedef struct Table Table;

typedef struct {
    const char *key;
    FieldType type;
    size_t offset;
    int numbers;     /* 0: a plain number; else the length of an array of numbers */
    double min, max; /* of a number, of the bytes of a text, of the elements of a list */
    bool optional;
    double fallback;
    WordAt *word_at;    /* WORD */
    const Table *table; /* OBJECT, LIST */
} Field;

struct Table {
    const Field *fields;
    size_t count;
    size_t item_size; /* of the C struct */
};

#define TABLE(fields_, type_)                                                                      \
    { fields_, sizeof(fields_) / sizeof *(fields_), sizeof(type_) }
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
    {"name", TEXT, AT(name), .min = 1, .max = sizeof((CameraFields *)0)->name - 1},
    {"yaw_deg", DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"pitch_deg", DOUBLE, AT(pitch_deg), .min = -90, .max = 90, .optional = true},
    {"roll_deg", DOUBLE, AT(roll_deg), .min = -360, .max = 360, .optional = true},
    {"focal_px", DOUBLE, AT(focal_px), .min = 1, .max = 100000},
    {"center_px", DOUBLE, AT(center_px), 2, .min = -100000, .max = 100000},
    {"position_m", DOUBLE, AT(position_m), 3, .min = -FAR_M, .max = FAR_M},
};
static const Table camera_table = TABLE(camera_fields, CameraFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE FrustumFields
static const Field frustum_fields[] = {
    {"image_px", INT, AT(image_px), 2, .min = 1, .max = 65536},
    {"resize", DOUBLE, AT(resize), .min = 0.001, .max = 1000},
    {"crop_px", DOUBLE, AT(crop_px), 2, .min = -65536, .max = 65536},
    {"input_px", INT, AT(input_px), 2, .min = 1, .max = 65536},
    {"features", INT, AT(features), 2, .min = 1, .max = SCENE_MAX_FEATURES},
    {"depth_m", DOUBLE, AT(depth_m), 3, .min = 0.001, .max = FAR_M},
};
static const Table frustum_table = TABLE(frustum_fields, FrustumFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE GridFields
static const Field grid_fields[] = {
    {"x_m", DOUBLE, AT(x_m), 2, .min = -FAR_M, .max = FAR_M},
    {"y_m", DOUBLE, AT(y_m), 2, .min = -FAR_M, .max = FAR_M},
    {"z_m", DOUBLE, AT(z_m), 2, .min = -FAR_M, .max = FAR_M},
    {"cells", INT, AT(cells), 2, .min = 1, .max = SCENE_MAX_CELLS},
};
static const Table grid_table = TABLE(grid_fields, GridFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE GroundFields
static const Field ground_fields[] = {
    {"class", WORD, AT(class), .word_at = class_word},
    {"color", FLOAT, AT(color), 3, .min = 0, .max = 1},
};
static const Table ground_table = TABLE(ground_fields, GroundFields);

/* square_m and color2 default to what no file can say, so that finish_patch sees their absence. */
#undef OBJECT_TYPE
#define OBJECT_TYPE Patch
static const Field patch_fields[] = {
    {"kind", WORD, AT(kind), .word_at = patch_word},
    {"class", WORD, AT(class), .word_at = class_word},
    {"color", FLOAT, AT(color), 3, .min = 0, .max = 1},
    {"center_m", DOUBLE, AT(center_m), 2, .min = -FAR_M, .max = FAR_M},
    {"size_m", DOUBLE, AT(size_m), 2, .min = 0.001, .max = FAR_M},
    {"yaw_deg", DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"repeat", INT, AT(repeat), .min = 1, .max = 1000, .optional = true, .fallback = 1},
    {"step_m", DOUBLE, AT(step_m), 2, .min = -FAR_M, .max = FAR_M, .optional = true},
    {"square_m", DOUBLE, AT(square_m), .min = 0.001, .max = FAR_M, .optional = true,
     .fallback = -1},
    {"color2", FLOAT, AT(color2), 3, .min = 0, .max = 1, .optional = true, .fallback = -1},
};
static const Table patch_table = TABLE(patch_fields, Patch);

#undef OBJECT_TYPE
#define OBJECT_TYPE Solid
static const Field solid_fields[] = {
    {"kind", WORD, AT(kind), .word_at = solid_word},
    {"class", WORD, AT(class), .word_at = class_word},
    {"color", FLOAT, AT(color), 3, .min = 0, .max = 1},
    {"center_m", DOUBLE, AT(center_m), 2, .min = -FAR_M, .max = FAR_M},
    {"z_m", DOUBLE, AT(z_m), .min = -FAR_M, .max = FAR_M, .optional = true},
    {"size_m", DOUBLE, AT(size_m), 3, .min = 0.001, .max = FAR_M},
    {"yaw_deg", DOUBLE, AT(yaw_deg), .min = -360, .max = 360, .optional = true},
    {"velocity_mps", DOUBLE, AT(velocity_mps), 2, .min = -200, .max = 200, .optional = true},
};
static const Table solid_table = TABLE(solid_fields, Solid);

#undef OBJECT_TYPE
#define OBJECT_TYPE WorldFields
static const Field world_fields[] = {
    {"loop_s", DOUBLE, AT(loop_s), .min = 0, .max = 86400, .optional = true},
    {"ground", OBJECT, AT(ground), .table = &ground_table},
    {"patches", LIST, AT(patches), .min = 0, .max = SCENE_MAX_THINGS, .table = &patch_table},
    {"solids", LIST, AT(solids), .min = 0, .max = SCENE_MAX_THINGS, .table = &solid_table},
};
static const Table world_table = TABLE(world_fields, WorldFields);

#undef OBJECT_TYPE
#define OBJECT_TYPE SceneFields
static const Field scene_fields[] = {
    {"bevscope", INT, AT(version), .min = 1, .max = 1},
    {"title", TEXT, AT(title), .min = 0, .max = sizeof((SceneFields *)0)->title - 1,
     .optional = true},
    {"channels", INT, AT(channels), .min = 1, .max = SCENE_MAX_CHANNELS, .optional = true,
     .fallback = 80},
    {"seed", INT64, AT(seed), .min = 0, .max = 9007199254740991.0, .optional = true, .fallback = 1},
    {"depth_temperature", DOUBLE, AT(temperature), .min = 0.01, .max = 100, .optional = true,
     .fallback = 1},
    {"frustum", OBJECT, AT(frustum), .table = &frustum_table},
    {"grid", OBJECT, AT(grid), .table = &grid_table},
    {"cameras", LIST, AT(cameras), .min = 1, .max = RIG_MAX_CAMERAS, .table = &camera_table},
    {"world", OBJECT, AT(world), .table = &world_table},
};
static const Table scene_table = TABLE(scene_fields, SceneFields);

/* ---- the reader ----------------------------------------------------------------------------- */

typedef struct {
    const char *where;
    Err *err;
} Reader;

typedef struct {
    char text[128]; /* "$.cameras[2].focal_px" */
} Path;

static Path path_key(Path parent, const char *key) {
    Path path;
    snprintf(path.text, sizeof path.text, "%.80s.%.40s", parent.text, key);
    return path;
}

static Path path_index(Path parent, size_t index) {
    Path path;
    snprintf(path.text, sizeof path.text, "%.100s[%zu]", parent.text, index);
    return path;
}

__attribute__((format(printf, 4, 5))) static bool refuse(const Reader *reader, Path path,
                                                         const char *hint, const char *what, ...) {
    char place[256], text[256];
    snprintf(place, sizeof place, "%s: %s", reader->where, path.text);
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return err_set(reader->err, ERR_FAILED, place, hint, "%s", text);
}

static const char *type_name(const json_t *value) {
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

static void store_number(const Field *field, void *target, int index, double value) {
    switch (field->type) {
    case INT:
        ((int *)target)[index] = (int)value;
        break;
    case INT64:
        ((int64_t *)target)[index] = (int64_t)value;
        break;
    case FLOAT:
        ((float *)target)[index] = (float)value;
        break;
    default:
        ((double *)target)[index] = value;
        break;
    }
}

static bool read_number(const Reader *reader, Path path, const Field *field, const json_t *value,
                        void *target, int index) {
    bool whole = field->type == INT || field->type == INT64;
    if (whole ? !json_is_integer(value) : !json_is_number(value))
        return refuse(reader, path, "", "is %s, must be %s", type_name(value),
                      whole ? "a whole number" : "a number");
    double number = json_number_value(value);
    if (!(number >= field->min && number <= field->max))
        return refuse(reader, path, "", "%.15g is outside %.15g to %.15g", number, field->min,
                      field->max);
    store_number(field, target, index, number);
    return true;
}

static bool read_numbers(const Reader *reader, Path path, const Field *field, const json_t *value,
                         void *target) {
    if (!json_is_array(value))
        return refuse(reader, path, "", "is %s, must be an array of %d numbers", type_name(value),
                      field->numbers);
    if (json_array_size(value) != (size_t)field->numbers)
        return refuse(reader, path, "", "has %zu elements, must have %d", json_array_size(value),
                      field->numbers);
    for (int i = 0; i < field->numbers; i++)
        if (!read_number(reader, path_index(path, (size_t)i), field,
                         json_array_get(value, (size_t)i), target, i))
            return false;
    return true;
}

static bool read_text(const Reader *reader, Path path, const Field *field, const json_t *value,
                      char *target) {
    if (!json_is_string(value))
        return refuse(reader, path, "", "is %s, must be a string", type_name(value));
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length < (size_t)field->min || length > (size_t)field->max)
        return refuse(reader, path, "", "has %zu bytes, must have %g to %g", length, field->min,
                      field->max);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return refuse(reader, path, "", "byte %zu is a control character, 0x%02x", i,
                          (unsigned)text[i]);
    memcpy(target, text, length + 1);
    return true;
}

static bool read_word(const Reader *reader, Path path, const Field *field, const json_t *value,
                      int *target) {
    const char *words[CLASS_COUNT + 1];
    int count = 0;
    while (count <= CLASS_COUNT && (words[count] = field->word_at(count)))
        count++;
    if (!json_is_string(value))
        return refuse(reader, path, "", "is %s, must be a word such as \"%s\"", type_name(value),
                      words[0]);
    const char *text = json_string_value(value);
    for (*target = 0; *target < count; ++*target)
        if (strcmp(text, words[*target]) == 0)
            return true;
    return refuse(reader, path, "", "unknown word \"%.60s\", the nearest known is \"%s\"", text,
                  nearest_name(text, words, (size_t)count));
}

static bool read_object(const Reader *reader, Path path, const Table *table, const json_t *value,
                        void *target);

static bool read_list(const Reader *reader, Path path, const Field *field, const json_t *value,
                      List *list) {
    if (!json_is_array(value))
        return refuse(reader, path, "", "is %s, must be an array of objects", type_name(value));
    size_t count = json_array_size(value);
    if (count < (size_t)field->min || count > (size_t)field->max)
        return refuse(reader, path, "", "has %zu elements, must have %g to %g", count, field->min,
                      field->max);
    list->items = calloc(count ? count : 1, field->table->item_size);
    if (!list->items)
        return refuse(reader, path, "", "no memory for %zu elements", count);
    list->count = (int)count;
    for (size_t i = 0; i < count; i++)
        if (!read_object(reader, path_index(path, i), field->table, json_array_get(value, i),
                         (char *)list->items + i * field->table->item_size))
            return false;
    return true;
}

static bool read_field(const Reader *reader, Path path, const Field *field, const json_t *value,
                       void *target) {
    switch (field->type) {
    case TEXT:
        return read_text(reader, path, field, value, target);
    case WORD:
        return read_word(reader, path, field, value, target);
    case OBJECT:
        return read_object(reader, path, field->table, value, target);
    case LIST:
        return read_list(reader, path, field, value, target);
    default:
        break;
    }
    return field->numbers ? read_numbers(reader, path, field, value, target)
                          : read_number(reader, path, field, value, target, 0);
}

static bool refuse_unknown_keys(const Reader *reader, Path path, const Table *table,
                                const json_t *object) {
    const char *keys[16], *key;
    json_t *value;
    for (size_t i = 0; i < table->count; i++)
        keys[i] = table->fields[i].key;
    json_object_foreach((json_t *)object, key, value) {
        const char *nearest = nearest_name(key, keys, table->count);
        if (strcmp(key, nearest) != 0)
            return refuse(reader, path_key(path, key), "",
                          "unknown key, the nearest known is \"%s\"", nearest);
    }
    return true;
}

static bool read_object(const Reader *reader, Path path, const Table *table, const json_t *value,
                        void *target) {
    if (!json_is_object(value))
        return refuse(reader, path, "", "is %s, must be an object", type_name(value));
    if (!refuse_unknown_keys(reader, path, table, value))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const Field *field = &table->fields[i];
        void *at = (char *)target + field->offset;
        const json_t *member = json_object_get(value, field->key);
        if (member) {
            if (!read_field(reader, path_key(path, field->key), field, member, at))
                return false;
        } else if (!field->optional) {
            return refuse(reader, path_key(path, field->key), "", "is missing");
        } else if (field->type != TEXT) { /* a missing text stays empty */
            for (int n = 0; n < (field->numbers ? field->numbers : 1); n++)
                store_number(field, at, n, field->fallback);
        }
    }
    return true;
}

/* ---- rules that concern more than one field -----------------------------------------------------
 */

static const Path root = {"$"};

static bool check_ascending(const Reader *reader, const char *key, const double range[2]) {
    if (range[0] < range[1])
        return true;
    return refuse(reader, path_key(path_key(root, "grid"), key), "",
                  "empty range: the lower end %.15g is not below the upper end %.15g", range[0],
                  range[1]);
}

static bool check_depth(const Reader *reader, const double depth_m[3]) {
    Path path = path_key(path_key(root, "frustum"), "depth_m");
    if (!(depth_m[0] < depth_m[1]))
        return refuse(reader, path, "start, stop, step",
                      "empty range: the start %.15g is not below the stop %.15g", depth_m[0],
                      depth_m[1]);
    double bins = ceil((depth_m[1] - depth_m[0]) / depth_m[2]);
    if (bins > SCENE_MAX_BINS)
        return refuse(reader, path, "start, stop, step", "gives %.0f depth bins, at most %d", bins,
                      SCENE_MAX_BINS);
    return true;
}

/* Only a checker has squares; without a word about them they are 1 m and black. */
static bool finish_patch(const Reader *reader, int index, Patch *patch) {
    Path path = path_key(path_key(root, "world"), "patches");
    path = path_index(path, (size_t)index);
    bool checker = patch->kind == PATCH_CHECKER;
    if (!checker && patch->square_m > 0)
        return refuse(reader, path_key(path, "square_m"), "", "only a checker has squares");
    if (!checker && patch->color2[0] >= 0)
        return refuse(reader, path_key(path, "color2"), "", "only a checker has a second colour");
    if (patch->square_m < 0)
        patch->square_m = checker ? 1 : 0;
    for (int i = 0; i < 3; i++)
        if (patch->color2[i] < 0)
            patch->color2[i] = 0;
    return true;
}

static bool check_fields(const Reader *reader, const SceneFields *fields) {
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

/* ---- from fields to a scene ---------------------------------------------------------------------
 */

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
    fields->patches = fields->solids = (List){0};
}

static bool build_scene(const Reader *reader, SceneFields *fields, Scene *scene) {
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

static json_t *parse(const Reader *reader, const char *text, size_t length) {
    if (length > SCENE_MAX_JSON_BYTES) {
        refuse(reader, root, "", "%zu bytes of JSON, at most %zu", length, SCENE_MAX_JSON_BYTES);
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
    const Reader reader = {name > most ? where + name - most : where, err};
    SceneFields fields = {0};
    json_t *json = parse(&reader, text, length);
    bool ok = json && read_object(&reader, root, &scene_table, json, &fields) &&
              check_fields(&reader, &fields) && build_scene(&reader, &fields, scene);
    json_decref(json);
    free(fields.cameras.items);
    free(fields.world.patches.items);
    free(fields.world.solids.items);
    if (!ok)
        scene_free(scene);
    return ok;
}
