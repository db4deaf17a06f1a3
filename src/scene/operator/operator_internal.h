/* SPDX-License-Identifier: MIT */
/* Declarations that the files of operator scenes share. */
#pragma once

#include "src/base/json_fields.h"
#include "src/scene/operator/operator.h"
#include "src/scene/scene.h"

/* Reads the fields of an operator scene. `build`: also builds its data. */
bool operator_read_json(const Check *check, const json_t *json, bool build, Scene *scene);

/* Loads a folder of arrays as an operator scene (scene.h describes the arrays). */
bool scene_load_folder(const char *path, Scene *scene, Err *err);

/* Builds the scene of cameras of a JSON value. The caller frees it, also after a failure. */
bool scene_of_json(const Check *check, const json_t *json, Scene *scene);

/* Arranges `count` rows or cells as a rectangle: one line, or lines of `most`. */
void operator_rectangle(int64_t count, int64_t most, int64_t *lines, int64_t *columns);

/* Unsorted points. Point t has cell cells[t] and row rows[t]; cell -1: it has none. */
typedef struct {
    int64_t count;
    int32_t *cells, *rows;
    int32_t *depths;      /* the depth value of each point; NULL: that of its row */
    const float *weights; /* NULL: all 1 */
} OperatorPoints;

/* Makes the map of points. They are sorted by cell; within a cell they keep their order. */
bool operator_map(const OperatorPoints *points, int64_t cells, BevMap *map, Err *err);

/* Scans the sample spec->world. Fills the points' cells and the features of all rows. */
bool operator_sweep(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                    float *feat, Err *err);
