/* World scenes: every field broken in every way is refused, in one line that names the file, the
 * JSON path, the value and the bound. */
#include "src/scene/scene.h"
#include "tests/scene/corner_json.h"
#include "tests/support/memory.h"
#include "tests/support/tap.h"

#include <jansson.h>

static int refusals;

/* Expects an error in one line, at `path`, that contains `words`. */
static bool refused_at(const json_t *json, const char *path, const char *words) {
    Scene scene;
    char line[800], start[256];
    snprintf(start, sizeof start, "corner.json: %s", path);
    bool ok = !read_json(json, &scene, line);
    size_t length = strlen(start);
    /* at the path itself or at an element of it */
    ok = ok && strncmp(line, start, length) == 0 && (line[length] == ':' || line[length] == '[') &&
         strstr(line, words) && !strchr(line, '\n');
    if (!ok) {
        scene_free(&scene);
        tap_ok(false, "%s must be refused with \"%s\"", path, words);
        tap_note("got: %s", line[0] ? line : "accepted");
    }
    refusals++;
    return ok;
}

typedef bool (*Breaker)(json_t *root, json_t *parent, const char *key, size_t index, json_t *value,
                        const char *path);

/* Calls `breaker` for every value below `value`. */
static bool walk(json_t *root, json_t *value, const char *path, Breaker breaker) {
    bool ok = true;
    char below[256];
    if (json_is_object(value)) {
        char keys[16][64]; /* breakers change the object's order */
        size_t count = 0;
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member) snprintf(keys[count++], sizeof *keys, "%s", key);
        for (size_t k = 0; k < count; k++) {
            member = json_incref(json_object_get(value, keys[k]));
            snprintf(below, sizeof below, "%s.%s", path, keys[k]);
            ok &= walk(root, member, below, breaker);
            ok &= breaker(root, value, keys[k], 0, member, below);
            json_decref(member);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            json_t *element = json_incref(json_array_get(value, i));
            snprintf(below, sizeof below, "%s[%zu]", path, i);
            ok &= walk(root, element, below, breaker);
            ok &= breaker(root, value, NULL, i, element, below);
            json_decref(element);
        }
    }
    return ok;
}

static void put(json_t *parent, const char *key, size_t index, json_t *value) {
    if (key)
        json_object_set_new(parent, key, value);
    else
        json_array_set_new(parent, index, value);
}

/* A value of another JSON type. */
static bool break_type(json_t *root, json_t *parent, const char *key, size_t index, json_t *value,
                       const char *path) {
    bool ok = true;
    json_t *others[] = {json_null(),       json_true(),
                        json_pack("[[]]"), json_pack("{s:i}", "q", 1),
                        json_string("1"),  json_integer(1)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool number = json_is_number(value) && json_is_number(others[i]);
        bool word = json_is_string(value) && json_is_string(others[i]);
        bool list = json_is_array(value) && json_is_array(others[i]);
        bool object = json_is_object(value) && json_is_object(others[i]);
        if (!number && !word && !list && !object) {
            put(parent, key, index, json_incref(others[i]));
            ok &= refused_at(root, path, "must be");
        }
        json_decref(others[i]);
    }
    put(parent, key, index, json_incref(value));
    return ok;
}

/* Values far below and above the bounds; a fraction instead of a whole number. */
static bool break_number(json_t *root, json_t *parent, const char *key, size_t index, json_t *value,
                         const char *path) {
    if (!json_is_number(value))
        return true;
    bool ok = true;
    if (json_is_real(value)) {
        put(parent, key, index, json_real(1e300));
        ok &= refused_at(root, path, "1e+300 is outside");
        put(parent, key, index, json_real(-1e300));
        ok &= refused_at(root, path, "-1e+300 is outside");
    } else {
        put(parent, key, index, json_integer(9000000000000000000));
        ok &= refused_at(root, path, "9e+18 is outside");
        put(parent, key, index, json_integer(-9000000000000000000));
        ok &= refused_at(root, path, "-9e+18 is outside");
    }
    put(parent, key, index, json_incref(value));
    return ok;
}

/* An array with one element too few and one too many. */
static bool break_length(json_t *root, json_t *parent, const char *key, size_t index, json_t *value,
                         const char *path) {
    if (!json_is_array(value) || !json_is_number(json_array_get(value, 0)))
        return true;
    json_t *longer = json_copy(value), *shorter = json_copy(value);
    json_array_append(longer, json_array_get(value, 0));
    json_array_remove(shorter, 0);
    put(parent, key, index, longer);
    bool ok = refused_at(root, path, "elements, must have");
    put(parent, key, index, shorter);
    ok &= refused_at(root, path, "elements, must have");
    put(parent, key, index, json_incref(value));
    return ok;
}

/* The error for an unknown key names the nearest known key. */
static bool break_key(json_t *root, json_t *parent, const char *key, size_t index, json_t *value,
                      const char *path) {
    (void)index;
    if (!key)
        return true;
    char typo[80], typo_path[256], words[128];
    snprintf(typo, sizeof typo, "%sx", key);
    snprintf(typo_path, sizeof typo_path, "%sx", path);
    snprintf(words, sizeof words, "did you mean %s?", key);
    json_object_set(parent, typo, value);
    bool ok = refused_at(root, typo_path, words);
    json_object_del(parent, typo);
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

static int optional_fields;

static bool break_presence(json_t *root, json_t *parent, const char *key, size_t index,
                           json_t *value, const char *path) {
    (void)index;
    if (!key)
        return true;
    json_object_del(parent, key);
    bool ok;
    if (is_optional(path)) {
        Scene scene;
        char line[800];
        ok = read_json(root, &scene, line);
        if (!ok)
            tap_ok(false, "%s must be optional", path), tap_note("got: %s", line);
        scene_free(&scene);
        optional_fields++;
    } else {
        ok = refused_at(root, path, "is missing");
    }
    json_object_set(parent, key, value);
    return ok;
}

static void test_every_field(void) {
    const struct {
        const char *title;
        Breaker breaker;
    } ways[] = {{"another type", break_type},
                {"a number out of bounds", break_number},
                {"an array of another length", break_length},
                {"a mistyped key", break_key},
                {"a missing key", break_presence}};
    json_t *root = json_loads(base, 0, NULL);
    long mark = memory_mark();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        refusals = 0;
        bool ok = walk(root, root, "$", ways[i].breaker);
        tap_ok(ok && refusals > 9, "every field: %s (%d refusals)", ways[i].title, refusals);
    }
    tap_ok(optional_fields == 16, "%d of its fields are optional", optional_fields);
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 1024, "within 1 MB (%ld kB)", memory_growth_kb(mark));
    json_decref(root);
}

TAP_SUITE(scene_json_fields) {
    test_every_field();
}
