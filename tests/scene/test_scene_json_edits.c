/* World scenes: what only this or that field can get wrong. */
#include "src/scene/scene.h"
#include "tests/scene/corner_json.h"
#include "tests/support/tap.h"

typedef struct {
    const char *title;
    const char *find, *replace; /* once in the base scene */
    const char *words[3];
} Edit;

static const Edit edits[] = {
    {"another version",
     "\"bevscope\": 1",
     "\"bevscope\": 2",
     {"$.bevscope", "2 is outside 1 to 1"}},
    {"duplicate key", "\"seed\": 7", "\"seed\": 7, \"seed\": 8", {"line 1", "duplicate", "seed"}},
    {"0 channels", "\"channels\": 40", "\"channels\": 0", {"$.channels", "0 is outside 1 to 1024"}},
    {"negative seed", "\"seed\": 7", "\"seed\": -7", {"$.seed", "-7 is outside 0"}},
    {"seed beyond 2^53", "\"seed\": 7", "\"seed\": 9007199254740993", {"$.seed", "is outside 0"}},
    {"integer beyond 64 bits",
     "\"seed\": 7",
     "\"seed\": 99999999999999999999",
     {"line 1", "too big"}},
    {"number beyond a double", "0.44", "1e999", {"line 3", "overflow"}},
    {"NaN", "0.44", "NaN", {"line 3", "invalid token"}},
    {"zero temperature", "0.5,\n \"fr", "0,\n \"fr", {"$.depth_temperature", "0 is outside 0.01"}},
    {"control character", "\"Corner\"", "\"Cor\\nner\"", {"$.title", "byte 3", "0x0a"}},
    {"NUL in a text", "\"Corner\"", "\"Cor\\u0000ner\"", {"line 1", "\\u0000"}},
    {"broken UTF-8",
     "Corner",
     "Cor\xff"
     "er",
     {"line 1", "unable to decode byte 0xff"}},
    {"camera without a name", "\"front\"", "\"\"", {"$.cameras[0].name", "0 bytes", "1 to 31"}},
    {"long camera name",
     "\"front\"",
     "\"a-name-that-is-longer-than-thirty-one-bytes\"",
     {"$.cameras[0].name", "43 bytes", "1 to 31"}},
    {"no cameras", "\"cameras\": [", "\"cameras\": [], \"camera\": [", {"unknown", "cameras"}},
    {"focal length of 0", "1266", "0", {"$.cameras[0].focal_px", "0 is outside 1 to 100000"}},
    {"zero resize", "0.44", "0", {"$.frustum.resize", "0 is outside 0.001 to 1000"}},
    {"no input", "[704, 256]", "[704, 0]", {"$.frustum.input_px[1]", "0 is outside 1"}},
    {"too many features", "[44, 16]", "[44, 1025]", {"$.frustum.features[1]", "1025", "1024"}},
    {"empty depth range", "[1, 60, 0.5]", "[60, 60, 0.5]", {"$.frustum.depth_m", "empty range"}},
    {"inverted depth range", "[1, 60, 0.5]", "[60, 1, 0.5]", {"$.frustum.depth_m", "60", "1"}},
    {"depth from 0", "[1, 60, 0.5]", "[0, 60, 0.5]", {"$.frustum.depth_m[0]", "0 is outside"}},
    {"no depth step", "[1, 60, 0.5]", "[1, 60, 0]", {"$.frustum.depth_m[2]", "0 is outside"}},
    {"too many depth bins",
     "[1, 60, 0.5]",
     "[1, 60, 0.01]",
     {"$.frustum.depth_m", "5900 depth bins", "at most 1024"}},
    {"inverted x", "\"x_m\": [-54, 54]", "\"x_m\": [54, -54]", {"$.grid.x_m", "54", "-54"}},
    {"empty y", "[-27, 27]", "[27, 27]", {"$.grid.y_m", "empty range"}},
    {"inverted z", "[-10, 10]", "[10, -10]", {"$.grid.z_m", "empty range"}},
    {"no cells", "[200, 100]", "[200, 0]", {"$.grid.cells[1]", "0 is outside 1 to 4096"}},
    {"too many cells", "[200, 100]", "[4097, 100]", {"$.grid.cells[0]", "4097", "4096"}},
    {"more output than memory",
     "\"channels\": 40, \"seed\": 7",
     "\"channels\": 1024, \"seed\": 7",
     {NULL}}, /* allowed: 200 x 100 cells */
    {"unknown class",
     "\"terrain\"",
     "\"terain\"",
     {"$.world.ground.class", "\"terain\"", "did you mean terrain?"}},
    {"unknown patch kind", "\"rect\"", "\"rectangle\"", {"$.world.patches[0].kind", "\"rectangle\"", "known: rect,"}},
    {"unknown solid kind",
     "\"cylinder\"",
     "\"cilinder\"",
     {"$.world.solids[1].kind", "did you mean cylinder?"}},
    {"colour above 1",
     "[0.1, 0.2, 0.3]",
     "[0.1, 1.5, 0.3]",
     {"$.world.ground.color[1]", "1.5 is outside 0 to 1"}},
    {"repeat 0", "\"repeat\": 5", "\"repeat\": 0", {"$.world.patches[0].repeat", "0 is outside 1"}},
    {"squares in a rectangle",
     "\"repeat\": 5",
     "\"square_m\": 1",
     {"$.world.patches[0].square_m", "only kind \"checker\" has"}},
    {"two colours in a rectangle",
     "\"repeat\": 5",
     "\"color2\": [0, 0, 0]",
     {"$.world.patches[0].color2", "only kind \"checker\" has"}},
    {"a flat box", "[4, 2, 1.5]", "[4, 2, 0]", {"$.world.solids[0].size_m[2]", "0 is outside"}},
    {"text after the end", "5]}]}}", "5]}]}} {", {"line", "end of file expected"}},
    {"not an object", "{\"bevscope\"", "[{\"bevscope\"", {"line"}},
};

static char *edited(const Edit *edit, size_t *length) {
    const char *at = strstr(base, edit->find);
    if (!at)
        return NULL;
    char *text = malloc(sizeof base + strlen(edit->replace));
    *length = (size_t)sprintf(text, "%.*s%s%s", (int)(at - base), base, edit->replace,
                              at + strlen(edit->find));
    return text;
}

TAP_SUITE(scene_json_edits_edits) {
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const Edit *edit = &edits[i];
        size_t length;
        Scene scene;
        char line[800], *text = edited(edit, &length);
        bool wanted = !edit->words[0];
        bool ok = text && read_text(text, length, &scene, line) == wanted && !strchr(line, '\n');
        for (int w = 0; ok && w < 3 && edit->words[w]; w++)
            ok = strstr(line, edit->words[w]) != NULL;
        if (!tap_ok(ok, "%s", edit->title))
            tap_note("got: %s", text ? line : "the base scene does not have it");
        scene_free(&scene);
        free(text);
    }
}
