/* What the files of the operator scenes share. */
#pragma once

#include "src/base/json_fields.h"
#include "src/scene/operator/operator.h"
#include "src/scene/scene.h"

/* Reads the fields of an operator scene, and builds it where that is asked. */
bool operator_read_json(const Check *check, const json_t *json, bool build, Scene *scene);

/* Reads a folder of arrays (scene.h). */
bool scene_load_folder(const char *path, Scene *scene, Err *err);

/* What checks report at: the end of a long path. */
Check scene_check_of(const char *where, Err *err);

/* Parses text that is not larger than any scene; the caller owns the value. NULL: an error. */
json_t *scene_parse(const Check *check, const char *text, size_t length);

/* The scene of cameras that a value describes; the caller frees it, also after a failure. */
bool scene_of_json(const Check *check, const json_t *json, Scene *scene);

/* Reads a sample's world: a scene of cameras. Operator scenes are refused, so that none can contain
 * itself. */
bool scene_read_world(const char *text, size_t length, const char *where, Scene *scene, Err *err);

/* So many rows or cells as a rectangle: one line of up to `most`, else lines of `most`. */
void operator_rectangle(int64_t count, int64_t most, int64_t *lines, int64_t *columns);

/* The points before they are sorted: cell[t] and row[t]; -1: the point falls into no cell. */
typedef struct {
    int64_t count;
    int32_t *cells, *rows;
} OperatorPoints;

/* Scans the sample spec->world: fills the points' cells, and the features of all rows. */
bool operator_sweep(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                    float *feat, Err *err);
