/* The forms of solids, and the rays that meet them. A car, a truck, a person, a cyclist and a crown
 * are made of a few parts inside one box or cylinder. The object stays one solid of one class. */
#pragma once

#include "src/scene/world.h"

typedef struct {
    double origin[3], direction[3]; /* in the solid's frame, where the base has z = 0 */
} SolidRay;

typedef struct {
    double x_m, y_m, cos_yaw, sin_yaw;
    double share[3]; /* 1 / size_m of the solid */
} SolidPlace;

/* Whether the solid lies in an upright cylinder. All others lie in a box. */
bool solid_is_round(SolidKind kind);

/* Finds where the ray enters the solid, before `far_m`. A ray that starts inside hits nothing.
 * Fills the depth and the colour of `hit`. */
bool solid_cast(const Solid *solid, const SolidPlace *place, const SolidRay *ray, double far_m,
                WorldHit *hit);
