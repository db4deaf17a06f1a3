/* World scenes: too few and too many elements, files that are cut off or far too large. */
#include "src/scene/scene.h"
#include "tests/scene/corner_json.h"
#include "tests/support/memory.h"
#include "tests/support/tap.h"

#include <jansson.h>

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

static void expect(json_t *root, bool wanted, const char *words, const char *title) {
    Scene scene;
    char line[800];
    bool ok = read_json(root, &scene, line);
    if (!tap_ok(ok == wanted && strstr(line, words), "%s", title))
        tap_note("got: %s", line);
    scene_free(&scene);
    json_decref(root);
}

TAP_SUITE(scene_json_sizes_sizes) {
    expect(with_copies(NULL, "cameras", 0), false, "$.cameras: has 0 elements, must have 1 to 32",
           "no camera");
    expect(with_copies(NULL, "cameras", 32), true, "", "32 cameras");
    expect(with_copies(NULL, "cameras", 33), false, "$.cameras: has 33 elements", "33 cameras");
    expect(with_copies("world", "solids", 0), true, "", "no solids");
    expect(with_copies("world", "solids", 4096), true, "", "4096 solids");
    expect(with_copies("world", "solids", 4097), false, "$.world.solids: has 4097", "4097 solids");
    expect(with_copies("world", "patches", 4097), false, "$.world.patches: has 4097",
           "4097 patches");
    json_t *wide = with_copies(NULL, "cameras", 1);
    json_object_set_new(wide, "channels", json_integer(1024));
    json_object_set_new(json_object_get(wide, "grid"), "cells", json_pack("[i,i]", 4096, 4096));
    expect(wide, false, "at most 2.147e+09", "an output beyond 2 GiB");
    json_t *deep = with_copies(NULL, "cameras", 32);
    json_object_set_new(json_object_get(deep, "frustum"), "features",
                        json_pack("[i,i]", 1024, 1024));
    expect(deep, false, "2147483647", "a frustum beyond int32 ranks");
    json_t *slow = with_copies(NULL, "cameras", 32);
    json_t *frustum = json_object_get(slow, "frustum");
    json_object_set_new(frustum, "features", json_pack("[i,i]", 1024, 1024));
    json_object_set_new(frustum, "depth_m", json_pack("[i,i,i]", 1, 2, 1));
    json_object_set_new(slow, "channels", json_integer(1));
    expect(slow, false, "$.world: 5 things before 33554432 feature pixels give 3.38e+10 tests",
           "a world that takes minutes to look at");
}

/* The file cut off at any byte, and the rest replaced by any byte. */
TAP_SUITE(scene_json_sizes_prefixes) {
    Scene scene;
    char line[800];
    bool ok = true;
    size_t end = sizeof base - 2; /* the newline after the brace may be missing */
    for (size_t length = 0; ok && length < end; length++) {
        ok = !read_text(base, length, &scene, line) && strncmp(line, "corner.json: line ", 18) == 0;
        scene_free(&scene);
    }
    tap_ok(ok, "every prefix is refused with its line");
    size_t size = SCENE_MAX_JSON_BYTES + 1;
    char *spaces = malloc(size);
    memset(spaces, ' ', size);
    long mark = memory_mark();
    tap_ok(!read_text(spaces, size, &scene, line) && strstr(line, "at most 1048576"),
           "a megabyte and a byte");
    memset(spaces, '[', size);
    tap_ok(!read_text(spaces, size - 1, &scene, line) && strstr(line, "depth"),
           "a megabyte of brackets");
    size_t used = 0;
    for (int i = 0; used < size - 40; i++)
        used += (size_t)snprintf(spaces + used, size - used, "%s\"k%d\":0", i ? "," : "{", i);
    spaces[used++] = '}';
    tap_ok(!read_text(spaces, used, &scene, line) && strstr(line, "line 1: an object of more than"),
           "a megabyte of keys");
    for (size_t i = 0; i < size - 2; i++)
        spaces[i] = i % 2 ? ',' : i ? '1' : '[';
    spaces[size - 2] = ']';
    tap_ok(!read_text(spaces, size - 1, &scene, line) && strstr(line, "line 1: more than 200000"),
           "a megabyte of numbers");
    if (MEMORY_MEASURED)
        tap_ok(memory_growth_kb(mark) < 1024, "within 1 MB (%ld kB)", memory_growth_kb(mark));
    free(spaces);
}
