/* SPDX-License-Identifier: MIT */
/* Compares index arrays with a calibration. Reports whether both mean the same cells, and which
 * other convention explains a difference. */
#pragma once

#include "src/scene/geometry.h"

typedef struct {
    int64_t points; /* points with a cell by arrays or calibration; 0: not compared */
    int64_t same;   /* points that both put into the same cell */
    /* the part of `same` that lies on a cell's edge: FP32 rounding puts it in two cells */
    int64_t edges;
} MapAgreement;

/* Compares a map that has one cell for each point with the rig's nearest map. A point on a cell's
 * edge agrees with the cells on both sides. The edge is as wide as the rounding of FP32
 * coordinates. Where less than 99.9 percent agree, `remark` says both numbers and names the
 * convention that explains most. Otherwise `remark` is "". Without memory nothing is compared. */
MapAgreement agreement_find(const Rig *rig, const BevMap *map, char *remark, size_t size);

/* Whether a map without a calibration seems to have its cells numbered x * ny + y. Then the picture
 * is mirrored. `map` has been checked. Without memory the answer is no. */
bool numbering_is_transposed(const BevMap *map, const BevShape *shape);
