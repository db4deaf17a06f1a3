/* The maps that kernels are tried on: the corner cases, and the published configurations. */
#ifndef BEV_CASES_H
#define BEV_CASES_H

#include "src/scene/scene.h"

typedef struct {
    const char *name;
    BevShape shape;
    /* The cell of frustum point `point`, -1: none. NULL: the map comes from the flagship's rig. */
    int64_t (*cell)(const BevShape *shape, int64_t point, uint64_t *state);
    bool crowded;         /* many points a cell: two threads will want to add to the same one */
    const Preset *config; /* one of the published configurations; NULL: a corner case */
} Case;

/* The corner cases, then the published configurations; 0 <= number < case_count(). */
int case_count(void);
Case case_at(int number);

/* A case with its inputs drawn: what problem_encode asks for. */
typedef struct {
    BevShape shape;
    BevMap map;
    Features features;
} CaseData;

/* Draws map and features from `seed` and the case's name alone, so that a case is the same whatever
 * ran before it. `channel_divisor` > 1 thins out the channels of a published configuration. */
bool case_build(const Case *c, BevAlign align, int channel_divisor, uint64_t seed, CaseData *data,
                Err *err);
void case_free(CaseData *data);

#endif
