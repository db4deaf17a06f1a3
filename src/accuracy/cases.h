/* SPDX-License-Identifier: MIT */
/* The cases that kernels of this program and of learners are judged on: corner cases and the
 * published configurations. */
#pragma once

#include "src/scene/scene.h"

typedef struct {
    const char *name;
    BevShape shape;
    /* Returns the cell of a frustum point; -1: none. NULL: the map comes from the canonical rig. */
    int64_t (*cell)(const BevShape *shape, int64_t point, uint64_t *state);
    bool crowded; /* cells have many points, so that threads are likely to add to the same cell */
    const Preset *config; /* the published configuration; NULL: a corner case */
    bool sparse;          /* thin_out_depths() in cases.c sets most depths to 0 */
} Case;

/* The corner cases, then the published configurations; 0 <= number < case_count(). */
int case_count(void);
Case case_at(int number);

/* A case with random inputs for problem_encode(). */
typedef struct {
    BevShape shape;
    BevMap map;
    Features features;
} CaseData;

/* The channel_divisor of tests that judge results and time nothing. */
enum { CASE_SHORTENED = 16 };

/* Draws map and features at random, by `seed` and the name of the case: a case does not depend on
 * earlier cases. `channel_divisor` divides the channels of a published configuration. */
bool case_build(const Case *c, BevAlign align, int channel_divisor, uint64_t seed, CaseData *data,
                Err *err);
void case_free(CaseData *data);

/* Returns a text picture of the cells flagged in `bad` (nx * ny): 'x' is bad, '.' is good. As in
 * the pictures x points up and y to the left. The text has at most `rows` lines of at most
 * `columns` characters. The caller frees it. NULL: out of memory. */
char *bad_cells_map(const uint8_t *bad, int64_t nx, int64_t ny, int columns, int rows);
