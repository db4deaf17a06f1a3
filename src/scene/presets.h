/* The six published configurations, and three larger ones: the flagship's world and rig at nine
 * sizes. */
#ifndef BEV_PRESETS_H
#define BEV_PRESETS_H

#include "src/scene/scene.h"

typedef struct {
    const char *name;
    double depth_step_m;
    int feat_w, feat_h;
    int cells; /* nx = ny, over the same metres */
    int64_t channels;
} Preset;

extern const Preset configs[];
extern const int preset_count; /* the published ones, first: what lists have by default */
extern const int preset_total;
extern const char *const preset_world; /* the sample they all look at: "intersection" */

/* The row of that name, or NULL. */
const Preset *preset_find(const char *name);

/* Applies a row to a loaded flagship scene. */
void preset_apply(const Preset *config, Scene *scene);

#endif
