/* Compares index arrays with a calibration: whether both mean the same cells, and which other
 * convention explains a difference. */
#pragma once

#include "src/scene/geometry.h"

typedef struct {
    int64_t points; /* in a cell by the arrays, or by the calibration; 0: not compared */
    int64_t same;   /* in the same cell by both */
    int64_t edges;  /* of these: on a cell's edge, in two cells only by the rounding of FP32 */
} MapAgreement;

/* Compares a map of one cell a point with the rig's nearest map. A point on a cell's edge, as near
 * as FP32 coordinates of the grid's size can tell, agrees with the cells of both sides. Where less
 * than 99.9 percent agree, `remark` becomes a line with both numbers and the convention that
 * explains most; else "". Without memory nothing is compared. */
MapAgreement agreement_find(const Rig *rig, const BevMap *map, char *remark, size_t size);
