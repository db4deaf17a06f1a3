/* SPDX-License-Identifier: MIT */
/* Points of camera pixels that fall outside of the BEV grid: pooling drops them, and what the
 * camera saw there is lost. */
#pragma once

#include "src/view/bev/gradient_strip.h"
#include "src/state/live_data.h"

/* Where a point lies; the height is asked first, as a map's builder does. */
typedef enum {
    FATE_INSIDE,
    FATE_ABOVE,
    FATE_BELOW,
    FATE_AHEAD,
    FATE_BEHIND,
    FATE_LEFT,
    FATE_RIGHT,
    FATE_COUNT
} PointFate;

PointFate point_fate(const Grid *grid, const double ego_m[3]);

/* The points of one feature pixel, one a depth bin. */
typedef struct {
    int64_t points, dropped;
    int64_t of[FATE_COUNT];
    double first_m[FATE_COUNT]; /* depth of the nearest such point; NaN: none */
    double lost; /* share of the depth's mass in dropped points, 0 to 1; NaN: no mass */
} PixelFates;

/* `pixel`: (camera, h, w); `depth`: (camera, bin, h, w). */
PixelFates pixel_fates(const Rig *rig, const float *depth, int64_t pixel);

/* Writes "front 12, 3: 20 of 59 points dropped, above the grid from 14.0 m; 31 % of its depth
 * lost". */
void dropped_text(const Rig *rig, const float *depth, int64_t pixel, char *text, size_t size);

/* Returns the pixel that screens explain while the strip shows dropped points: the one under the
 * mouse, else that of the pinned cell's heaviest point, else the one of the selected camera that
 * loses most of its depth. -1: the strip shows something else, or there are no cameras. */
int64_t dropped_pixel(const State *state, const LiveData *live);
