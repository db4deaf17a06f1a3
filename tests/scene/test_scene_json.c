/* SPDX-License-Identifier: MIT */
/* World scenes in JSON: every field of the format is read; every field broken in every way is
 * refused, in one line that names the file, the JSON path, the value and the bound; so are texts
 * that are cut off or far too large. */
#include "src/scene/scene.h"
#include "tests/support/golden.h"
#include "tests/support/memory.h"
#include "tests/support/refused.h"

#include <jansson.h>
#include <math.h>

/* ---- a scene with every field, and reading it ------------------------------------------------ */

/* ' for ", which a C text may not have. */
static char *quoted(char *text) {
    for (char *at = text; (at = strchr(at, '\'')); at++)
        *at = '"';
    return text;
}

static char base[] =
    "{'bevscope': 1, 'title': 'Corner', 'channels': 40, 'seed': 7,\n"
    " 'depth_temperature': 0.5,\n"
    " 'frustum': {'image_px': [1600, 900], 'resize': 0.44, 'crop_px': [2, 140],\n"
    "   'input_px': [704, 256], 'features': [44, 16], 'depth_m': [1, 60, 0.5]},\n"
    " 'grid': {'x_m': [-54, 54], 'y_m': [-27, 27], 'z_m': [-10, 10], 'cells': [200, 100]},\n"
    " 'cameras': [\n"
    "   {'name': 'front', 'yaw_deg': 90, 'pitch_deg': 0, 'roll_deg': 0, 'focal_px': 1266,\n"
    "    'center_px': [816, 492], 'position_m': [1.7, 0.02, 1.51]},\n"
    "   {'name': 'back', 'focal_px': 809, 'center_px': [829, 482], 'position_m': [0, 0, 1]}],\n"
    " 'world': {'loop_s': 12, 'ground': {'class': 'terrain', 'color': [0.1, 0.2, 0.3]},\n"
    "   'patches': [\n"
    "     {'kind': 'rect', 'class': 'road', 'color': [0, 0, 1], 'center_m': [1, 2],\n"
    "      'size_m': [3, 4], 'yaw_deg': 30, 'repeat': 5, 'step_m': [6, 7]},\n"
    "     {'kind': 'checker', 'class': 'crossing', 'color': [1, 1, 1], 'center_m': [0, 0],\n"
    "      'size_m': [8, 8], 'square_m': 0.5, 'color2': [0.25, 0.5, 0.75]},\n"
    "     {'kind': 'checker', 'class': 'lane', 'color': [1, 1, 1], 'center_m': [0, 0],\n"
    "      'size_m': [8, 8]}],\n"
    "   'solids': [\n"
    "     {'kind': 'box', 'class': 'car', 'color': [1, 0, 0], 'center_m': [5, 6], 'z_m': 0.25,\n"
    "      'size_m': [4, 2, 1.5], 'yaw_deg': -45, 'velocity_mps': [3, -1]},\n"
    "     {'kind': 'cylinder', 'class': 'pole', 'color': [0, 1, 0], 'center_m': [7, 8],\n"
    "      'size_m': [0.2, 0.2, 5]}]}}\n";

__attribute__((constructor)) static void quote_base(void) {
    quoted(base);
}

static Scene scene; /* what was read last; the next reading frees it */

static bool read_text(const char *text, size_t length) {
    scene_free(&scene);
    return keep_line(scene_read_json(text, length, "corner.json", true, &scene, &err));
}

static bool read_json(const json_t *json) {
    char *text = json_dumps(json, 0);
    bool ok = read_text(text, strlen(text));
    free(text);
    return ok;
}

static bool near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

static void test_rig(const Rig *rig) {
    const ImageCut *cut = &rig->cameras[0].cut;
    const Frustum *f = &rig->frustum;
    const Grid *g = &rig->grid;
    const Camera *front = &rig->cameras[0];
    tap_ok(cut->image_w == 1600 && cut->image_h == 900 && cut->resize_x == 0.44 &&
               cut->resize_y == 0.44 && cut->crop_x == 2 && cut->crop_y == 140 &&
               f->input_w == 704 && f->input_h == 256 && f->feat_w == 44 && f->feat_h == 16 &&
               f->depth_start_m == 1 && f->depth_stop_m == 60 && f->depth_step_m == 0.5,
           "frustum: width before height everywhere");
    tap_ok(g->x_min_m == -54 && g->x_max_m == 54 && g->y_min_m == -27 && g->y_max_m == 27 &&
               g->z_min_m == -10 && g->z_max_m == 10 && g->nx == 200 && g->ny == 100,
           "grid: nx before ny");
    tap_ok(rig->camera_count == 2 && strcmp(front->name, "front") == 0 &&
               front->intrinsics[0] == 1266 && front->intrinsics[2] == 816 &&
               front->intrinsics[5] == 492 && front->position_m[1] == 0.02,
           "cameras: name, intrinsics, position");
    const double *r = front->rotation;
    tap_ok(near(r[2], 0) && near(r[5], 1) && near(r[8], 0), "a camera of yaw 90 looks to the left");
    tap_ok(near(rig->cameras[1].rotation[2], 1), "angles default to 0: forward");
}

static void test_world(const World *world) {
    tap_ok(world->loop_s == 12 && world->ground_class == CLASS_TERRAIN &&
               world->ground_color[2] == 0.3f && world->patch_count == 3 && world->solid_count == 2,
           "world: loop, ground, counts");
    const Patch *rect = &world->patches[0], *checker = rect + 1, *plain = rect + 2;
    tap_ok(rect->kind == PATCH_RECT && rect->class == CLASS_ROAD && rect->color[2] == 1 &&
               rect->center_m[1] == 2 && rect->size_m[0] == 3 && rect->yaw_deg == 30 &&
               rect->repeat == 5 && rect->step_m[1] == 7,
           "a rectangle, repeated");
    tap_ok(checker->kind == PATCH_CHECKER && checker->square_m == 0.5 &&
               checker->color2[0] == 0.25f && checker->color2[2] == 0.75f,
           "a checker");
    tap_ok(plain->repeat == 1 && plain->square_m == 1 && plain->color2[0] == 0,
           "a checker's defaults: once, squares of 1 m, black");
    const Solid *box = &world->solids[0], *pole = box + 1;
    tap_ok(box->kind == SOLID_BOX && box->class == CLASS_CAR && box->center_m[0] == 5 &&
               box->z_m == 0.25 && box->size_m[2] == 1.5 && box->yaw_deg == -45 &&
               box->velocity_mps[1] == -1,
           "a box");
    tap_ok(pole->kind == SOLID_CYLINDER && pole->class == CLASS_POLE && pole->z_m == 0 &&
               pole->velocity_mps[0] == 0,
           "a cylinder's defaults: on the ground, standing still");
}

TAP_SUITE(scene_json_values) {
    static const BevShape shape = {2, 118, 16, 44, 40, 200, 100, 1};
    tap_said(read_text(base, sizeof base - 1), "a scene with every field");
    tap_need(scene.has_world, "its world");
    tap_ok(scene.has_rig && scene.has_world && !scene.has_map, "it has a rig and a world");
    tap_ok(strcmp(scene.title, "Corner") == 0 && scene.channels == 40 && scene.seed == 7 &&
               scene.temperature == 0.5,
           "title, channels, seed, temperature");
    test_rig(&scene.rig);
    test_world(&scene.world);
    tap_ok(!memcmp(&scene.shape, &shape, sizeof shape), "the shape of its problem");
    scene_free(&scene);
    scene_free(&scene);
    scene_free(NULL);
    tap_ok(!scene.world.patches, "scene_free zeroes, and may be called again");
}

static void begin(void) {
    read_text(base, sizeof base - 1); /* what the first reading alone takes does not count */
}

/* What is said of the base scene with one text in it replaced: "OLD -> NEW", ' for ". */
static void play(const char *edit, FILE *out) {
    char find[200], text[2 * sizeof base];
    snprintf(find, sizeof find, "%s", edit);
    char *arrow = strstr(quoted(find), " -> ");
    tap_need(arrow != NULL, edit);
    *arrow = '\0';
    const char *at = strstr(base, find);
    tap_need(at != NULL, edit);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base), base, arrow + 4, at + strlen(find));
    bool read = read_text(text, strlen(text));
    tap_ok(read || refused_with("corner.json", ""), "read, or refused in one line: %s", edit);
    fprintf(out, "    %s\n", read ? "read" : line);
}

TAP_SUITE(scene_json_scripts) {
    begin();
    long mark = memory_mark();
    check_scripts("scene", "edits", begin, play);
    scene_free(&scene);
    tap_within_1_mb(mark, "refused");
    const char invalid[] = "{\"title\": \"\xff\"}";
    tap_ok(!read_text(invalid, sizeof invalid - 1) && refused_with("corner.json: line 1", "0xff"),
           "broken UTF-8");
}

/* ---- every field, in every way --------------------------------------------------------------- */

static int refusals, optional_fields;

/* A value of the base scene: its path, and the member of an object or the element of an array. */
typedef struct {
    json_t *root, *parent, *value;
    const char *key; /* NULL: an element */
    size_t index;
    const char *path;
} Spot;

typedef bool (*Breaker)(const Spot *spot);

/* Expects an error in one line, at `path` or an element of it, that contains `words`. */
static bool refused_at(const Spot *spot, const char *path, const char *words) {
    char where[256];
    snprintf(where, sizeof where, "corner.json: %s", path);
    bool read = read_json(spot->root), there = strchr(":[", line[strnlen(line, strlen(where))]);
    if (read || !there || !refused_with(where, words))
        tap_said(false, "%s must be refused with \"%s\"", path, words);
    refusals++;
    return !read && there && refused_with(where, words);
}

static void put(const Spot *spot, json_t *value) {
    if (spot->key)
        json_object_set_new(spot->parent, spot->key, value);
    else
        json_array_set_new(spot->parent, spot->index, value);
}

/* Another value there, for as long as it takes to be refused. */
static bool refuses(const Spot *spot, json_t *value, const char *words) {
    put(spot, value);
    bool ok = refused_at(spot, spot->path, words);
    put(spot, json_incref(spot->value));
    return ok;
}

static bool walk(json_t *root, json_t *value, const char *path, Breaker breaker);

static bool walk_to(Spot spot, Breaker breaker) {
    json_incref(spot.value);
    bool ok = walk(spot.root, spot.value, spot.path, breaker);
    ok &= breaker(&spot);
    json_decref(spot.value);
    return ok;
}

/* Calls `breaker` for every value below `value`. */
static bool walk(json_t *root, json_t *value, const char *path, Breaker breaker) {
    bool ok = true;
    char below[256], keys[16][64]; /* breakers change the object's order */
    size_t count = 0;
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member) snprintf(keys[count++], sizeof *keys, "%s", key);
    for (size_t k = 0; k < count; k++) {
        snprintf(below, sizeof below, "%s.%s", path, keys[k]);
        ok &= walk_to((Spot){root, value, json_object_get(value, keys[k]), keys[k], 0, below},
                      breaker);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        ok &= walk_to((Spot){root, value, json_array_get(value, i), NULL, i, below}, breaker);
    }
    return ok;
}

static bool break_type(const Spot *spot) {
    bool ok = true;
    json_t *others[] = {json_null(),       json_true(),
                        json_pack("[[]]"), json_pack("{s:i}", "q", 1),
                        json_string("1"),  json_integer(1)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool numbers = json_is_number(spot->value) && json_is_number(others[i]);
        if (!numbers && json_typeof(spot->value) != json_typeof(others[i]))
            ok &= refuses(spot, json_incref(others[i]), "must be");
        json_decref(others[i]);
    }
    return ok;
}

/* Values far below and above the bounds; a fraction instead of a whole number. */
static bool break_number(const Spot *spot) {
    if (json_is_real(spot->value))
        return refuses(spot, json_real(1e300), "1e+300 is outside") &
               refuses(spot, json_real(-1e300), "-1e+300 is outside");
    return !json_is_integer(spot->value) ||
           (refuses(spot, json_integer(9000000000000000000), "9e+18 is outside") &
            refuses(spot, json_integer(-9000000000000000000), "-9e+18 is outside"));
}

/* An array with one element too few and one too many. */
static bool break_length(const Spot *spot) {
    json_t *value = spot->value;
    if (!json_is_array(value) || !json_is_number(json_array_get(value, 0)))
        return true;
    json_t *longer = json_copy(value), *shorter = json_copy(value);
    json_array_append(longer, json_array_get(value, 0));
    json_array_remove(shorter, 0);
    return refuses(spot, longer, "elements, must have") &
           refuses(spot, shorter, "elements, must have");
}

/* The error for an unknown key names the nearest known key. */
static bool break_key(const Spot *spot) {
    if (!spot->key)
        return true;
    char typo[80], typo_path[256], words[128];
    snprintf(typo, sizeof typo, "%sx", spot->key);
    snprintf(typo_path, sizeof typo_path, "%sx", spot->path);
    snprintf(words, sizeof words, "did you mean %s?", spot->key);
    json_object_set(spot->parent, typo, spot->value);
    bool ok = refused_at(spot, typo_path, words);
    json_object_del(spot->parent, typo);
    return ok;
}

static bool is_optional(const char *path) {
    static const char *const keys[] = {
        "$.title",   "$.channels", "$.seed",        "$.depth_temperature",
        ".yaw_deg",  ".pitch_deg", ".roll_deg",     ".repeat",
        ".step_m",   ".z_m",       ".velocity_mps", ".loop_s",
        ".square_m", ".color2"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(path), end = strlen(keys[i]);
        if (length >= end && strcmp(path + length - end, keys[i]) == 0 &&
            strcmp(path, "$.grid.z_m") != 0)
            return true;
    }
    return false;
}

static bool break_presence(const Spot *spot) {
    if (!spot->key)
        return true;
    json_object_del(spot->parent, spot->key);
    bool ok;
    if (is_optional(spot->path)) {
        ok = read_json(spot->root) || tap_said(false, "%s must be optional", spot->path);
        optional_fields++;
    } else {
        ok = refused_at(spot, spot->path, "is missing");
    }
    json_object_set(spot->parent, spot->key, spot->value);
    return ok;
}

TAP_SUITE(scene_json_fields) {
    const struct {
        const char *title;
        Breaker breaker;
    } ways[] = {{"another type", break_type},
                {"a number out of bounds", break_number},
                {"an array of another length", break_length},
                {"a mistyped key", break_key},
                {"a missing key", break_presence}};
    json_t *root = json_loads(base, 0, NULL);
    refusals = 0;
    walk(root, root, "$", ways[0].breaker); /* what the first reading alone takes does not count */
    optional_fields = 0;
    long mark = memory_mark();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        refusals = 0;
        bool ok = walk(root, root, "$", ways[i].breaker);
        tap_ok(ok && refusals > 9, "every field: %s (%d refusals)", ways[i].title, refusals);
    }
    tap_ok(optional_fields == 16, "%d of its fields are optional", optional_fields);
    tap_within_1_mb(mark, "refused");
    json_decref(root);
}

/* The base scene with `count` copies of the first element of a list. */
static json_t *with_copies(const char *object, const char *list, size_t count) {
    json_t *root = json_loads(base, 0, NULL);
    json_t *parent = object ? json_object_get(root, object) : root;
    json_t *elements = json_object_get(parent, list);
    json_t *first = json_array_get(elements, 0);
    while (json_array_size(elements) > count)
        json_array_remove(elements, json_array_size(elements) - 1);
    while (json_array_size(elements) < count)
        json_array_append(elements, first);
    return root;
}

static void expect(json_t *root, const char *words, const char *title) {
    tap_said(read_json(root) == !words && (!words || strstr(line, words)), "%s", title);
    json_decref(root);
}

TAP_SUITE(scene_json_sizes_sizes) {
    static const struct {
        const char *object, *list;
        size_t count;
        const char *words; /* NULL: it is read */
    } counts[] = {{NULL, "cameras", 0, "$.cameras: has 0 elements, must have 1 to 32"},
                  {NULL, "cameras", 32, NULL},
                  {NULL, "cameras", 33, "$.cameras: has 33 elements"},
                  {"world", "solids", 0, NULL},
                  {"world", "solids", 4096, NULL},
                  {"world", "solids", 4097, "$.world.solids: has 4097"},
                  {"world", "patches", 4097, "$.world.patches: has 4097"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        expect(with_copies(counts[i].object, counts[i].list, counts[i].count), counts[i].words,
               counts[i].list);
    json_t *deep = with_copies(NULL, "cameras", 32);
    json_t *frustum = json_object_get(deep, "frustum");
    json_object_set_new(frustum, "features", json_pack("[i,i]", 1024, 1024));
    expect(deep, "at most 2.147e+09", "a frustum beyond int32 ranks");
}

/* The file cut off at any byte, and the rest replaced by any byte. */
TAP_SUITE(scene_json_sizes_prefixes) {
    bool ok = true;
    size_t end = sizeof base - 2; /* the newline after the brace may be missing */
    for (size_t length = 0; ok && length < end; length++)
        ok = !read_text(base, length) && strncmp(line, "corner.json: line ", 18) == 0;
    tap_ok(ok, "every prefix is refused with its line");
    size_t size = SCENE_MAX_JSON_BYTES + 1;
    char *spaces = malloc(size);
    memset(spaces, ' ', size);
    long mark = memory_mark();
    tap_ok(!read_text(spaces, size) && strstr(line, "at most 1048576"), "a megabyte and a byte");
    memset(spaces, '[', size);
    tap_ok(!read_text(spaces, size - 1) && strstr(line, "depth"), "a megabyte of brackets");
    tap_within_1_mb(mark, "refused");
    free(spaces);
}
