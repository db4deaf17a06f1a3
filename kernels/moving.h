/* A map that moves: cameras of known sizes whose poses change from step to step. Plain C, for the
 * library and the kernels that make a map of poses on the stream. */
#pragma once

#include "kernels/bevpool.h"

/* A camera of one sample. The point that feature pixel (w, h) sees at depth d is origin + d *
 * matrix * (u, v, 1), in metres in the frame of the grid: u = w * u_step, v = h * v_step. */
typedef struct {
    double matrix[9]; /* (3, 3), row-major */
    double origin_m[3];
} BevPose;

/* The grid of one sample, as in scene/geometry.h: axes x, y, z. A point is inside when min <= p <
 * max; with `truncate` when min - cell < p < max, as cutting toward zero keeps it. */
typedef struct {
    double min_m[3], max_m[3], cell_m[3];
    int count[3];
    int truncate;
} BevGrid;

/* What stays the same from step to step. Bins are at start + bin * step metres, or at depths_m. */
typedef struct {
    BevShape shape;        /* of all samples, as kernels see it */
    int64_t samples;       /* cameras and rows of cells are divided among them */
    BevAlign align;
    BevGrid grid;
    double u_step, v_step; /* pixels of the network's input between two feature pixels */
    double depth_start_m, depth_step_m;
    const double *depths_m; /* [depth_bins], in device memory; NULL: equal steps */
    int64_t most_entries;   /* room for entries (kernels/cuda/v4/README.md); 0: six a column and bin,
                               twice as many with weights */
} BevMoving;

/* Flags of a moving map, in the first word of its memory's schedule. */
enum { BEV_MOVING_FULL = 1 }; /* more entries than there is room for: the map is empty */
