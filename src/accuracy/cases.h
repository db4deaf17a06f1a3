/* The cases that kernels are judged on, those of this program and those of a learner: corner cases,
 * and the published configurations. */
#pragma once

#include "src/scene/scene.h"

typedef struct {
    const char *name;
    BevShape shape;
    /* The cell of frustum point `point`, or -1. NULL: the map comes from the canonical rig. */
    int64_t (*cell)(const BevShape *shape, int64_t point, uint64_t *state);
    bool crowded;         /* many points per cell: two threads are likely to add to the same one */
    const Preset *config; /* one of the published configurations; NULL: a corner case */
    bool sparse;          /* most depths are 0, many of them in whole image columns */
} Case;

/* The corner cases, then the published configurations; 0 <= number < case_count(). */
int case_count(void);
Case case_at(int number);

/* A case with random inputs, as problem_encode takes them. */
typedef struct {
    BevShape shape;
    BevMap map;
    Features features;
} CaseData;

/* Divides the channels of a published configuration where only the result matters. */
enum { CASE_SHORTENED = 16 };

/* Draws map and features from `seed` and the case's name alone, so that a case is the same whatever
 * ran before it. `channel_divisor` > 1 thins out the channels of a published configuration. */
bool case_build(const Case *c, BevAlign align, int channel_divisor, uint64_t seed, CaseData *data,
                Err *err);
void case_free(CaseData *data);

/* A map of the cells flagged in `bad` (nx * ny), 'x' bad and '.' good, x forward up and y to the
 * left as in the pictures, at most `columns` x `rows` characters, lines end with a newline. The
 * caller frees it; NULL without memory. */
char *bad_cells_map(const uint8_t *bad, int64_t nx, int64_t ny, int columns, int rows);
