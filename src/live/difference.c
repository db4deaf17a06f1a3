/* What differs between the two sides of a comparison. */
#include "src/live/inputs.h"

#include <math.h>
#include <string.h>

/* How far a point of the camera's optical axis lies from where the other calibration has it, seen
 * from above. */
static double moved_m(const Rig *a, const Rig *b, int camera) {
    const Frustum *frustum = &a->frustum;
    double u = frustum->input_w / 2.0, v = frustum->input_h / 2.0, from[3], along[3], other[3],
           other_along[3];
    camera_ray(&a->cameras[camera], u, v, from, along);
    camera_ray(&b->cameras[camera], u, v, other, other_along);
    double x = from[0] - other[0] + LIVE_MOVED_AT_M * (along[0] - other_along[0]);
    double y = from[1] - other[1] + LIVE_MOVED_AT_M * (along[1] - other_along[1]);
    return hypot(x, y);
}

static int64_t cells_that_differ(const PooledGrid *a, const PooledGrid *b) {
    const BevShape *shape = &a->features->shape;
    int64_t count = 0;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++)
        count += memcmp(a->values + cell * shape->channels, b->values + cell * shape->channels,
                        (size_t)shape->channels * sizeof *a->values) != 0;
    return count;
}

void inputs_difference(const FrameInputs *inputs, LiveDifference *difference) {
    const PooledGrid *ours = inputs->pooled, *theirs = inputs->baseline;
    *difference = (LiveDifference){.known = theirs != NULL, .moved_m = NAN};
    if (!theirs)
        return;
    difference->alike = ours == theirs;
    difference->cells = difference->alike ? 0 : cells_that_differ(ours, theirs);
    const Rig *a = &ours->map->rig, *b = &theirs->map->rig;
    for (int i = 0; inputs->scene->scene.has_rig && i < a->camera_count && i < b->camera_count; i++)
        difference->moved_m = fmax(difference->moved_m, moved_m(a, b, i));
}
