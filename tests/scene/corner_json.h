/* A JSON scene with every field of the format, to read as it is, to change and to break. */
#pragma once

#include "src/scene/scene.h"
#include "tests/support/tap.h"

#include <jansson.h>

static const char base[] =
    "{\"bevscope\": 1, \"title\": \"Corner\", \"channels\": 40, \"seed\": 7,\n"
    " \"depth_temperature\": 0.5,\n"
    " \"frustum\": {\"image_px\": [1600, 900], \"resize\": 0.44, \"crop_px\": [2, 140],\n"
    "   \"input_px\": [704, 256], \"features\": [44, 16], \"depth_m\": [1, 60, 0.5]},\n"
    " \"grid\": {\"x_m\": [-54, 54], \"y_m\": [-27, 27], \"z_m\": [-10, 10], \"cells\": [200, "
    "100]},\n"
    " \"cameras\": [\n"
    "   {\"name\": \"front\", \"yaw_deg\": 90, \"pitch_deg\": 0, \"roll_deg\": 0, \"focal_px\": "
    "1266,\n"
    "    \"center_px\": [816, 492], \"position_m\": [1.7, 0.02, 1.51]},\n"
    "   {\"name\": \"back\", \"focal_px\": 809, \"center_px\": [829, 482], \"position_m\": [0, 0, "
    "1]}],\n"
    " \"world\": {\"loop_s\": 12, \"ground\": {\"class\": \"terrain\", \"color\": [0.1, 0.2, "
    "0.3]},\n"
    "   \"patches\": [\n"
    "     {\"kind\": \"rect\", \"class\": \"road\", \"color\": [0, 0, 1], \"center_m\": [1, 2],\n"
    "      \"size_m\": [3, 4], \"yaw_deg\": 30, \"repeat\": 5, \"step_m\": [6, 7]},\n"
    "     {\"kind\": \"checker\", \"class\": \"crossing\", \"color\": [1, 1, 1], \"center_m\": [0, "
    "0],\n"
    "      \"size_m\": [8, 8], \"square_m\": 0.5, \"color2\": [0.25, 0.5, 0.75]},\n"
    "     {\"kind\": \"checker\", \"class\": \"lane\", \"color\": [1, 1, 1], \"center_m\": [0, "
    "0],\n"
    "      \"size_m\": [8, 8]}],\n"
    "   \"solids\": [\n"
    "     {\"kind\": \"box\", \"class\": \"car\", \"color\": [1, 0, 0], \"center_m\": [5, 6], "
    "\"z_m\": 0.25,\n"
    "      \"size_m\": [4, 2, 1.5], \"yaw_deg\": -45, \"velocity_mps\": [3, -1]},\n"
    "     {\"kind\": \"cylinder\", \"class\": \"pole\", \"color\": [0, 1, 0], \"center_m\": [7, "
    "8],\n"
    "      \"size_m\": [0.2, 0.2, 5]}]}}\n";

/* Reads a scene from a text; `line` is the error in one line, "" without one. Free it with
 * scene_free. */
static inline bool read_text(const char *text, size_t length, Scene *scene, char line[800]) {
    Err err = {0};
    line[0] = '\0';
    bool ok = scene_read_json(text, length, "corner.json", scene, &err);
    if (!ok)
        err_line(&err, line, 800);
    return ok;
}

/* The same, of a JSON value. */
static inline bool read_json(const json_t *json, Scene *scene, char line[800]) {
    char *text = json_dumps(json, 0);
    bool ok = read_text(text, strlen(text), scene, line);
    free(text);
    return ok;
}
