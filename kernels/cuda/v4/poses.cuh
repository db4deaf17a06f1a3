// From poses to the cells of points: what moving maps of V4 and of its gradients share.
#pragma once

#include "kernels/cuda/v4/transpose.cuh"

constexpr int NEIGHBOURS = 4; // most cells of a point

// The arguments that turn a row of a slab into cells.
struct MovingFrame {
    Frustums f;
    BevGrid grid;
    BevAlign align;
    int sample_cameras, sample_cells;
    double u_step, v_step, depth_start_m, depth_step_m;
    const double *depths_m;
    const BevPose *poses; // [cameras]
};

static inline MovingFrame moving_frame(const BevMoving *moving, const BevPose *poses) {
    const BevShape *shape = &moving->shape;
    const BevGrid *grid = &moving->grid;
    return {frustums_of(*shape),
            *grid,
            moving->align,
            (int)(shape->cameras / moving->samples),
            grid->count[0] * grid->count[1] * grid->count[2],
            moving->u_step,
            moving->v_step,
            moving->depth_start_m,
            moving->depth_step_m,
            moving->depths_m,
            poses};
}

// The cells of a point, with their weights. `left` has a bit for each cell that is not taken yet.
struct PointCells {
    int cell[NEIGHBOURS];
    float weight[NEIGHBOURS];
    unsigned left;

    __device__ void add(const BevGrid &grid, int i, int first, int x, int y, double share) {
        bool exists = x >= 0 && x < grid.count[0] && y >= 0 && y < grid.count[1];
        if (!exists || !((float)share > 0))
            return;
        cell[i] = first + y * grid.count[0] + x;
        weight[i] = (float)share;
        left |= 1u << i;
    }
    // (x, y) in cells; neighbours lie in the slice that begins with cell `first`.
    __device__ void add_four(const BevGrid &grid, int first, double x, double y) {
        if (!(x > -1 && x < grid.count[0] && y > -1 && y < grid.count[1]))
            return;
        double x0 = floor(x), y0 = floor(y), right = x - x0, up = y - y0;
        int at_x = (int)x0, at_y = (int)y0;
        add(grid, 0, first, at_x, at_y, (1 - right) * (1 - up));
        add(grid, 1, first, at_x, at_y + 1, (1 - right) * up);
        add(grid, 2, first, at_x + 1, at_y, right * (1 - up));
        add(grid, 3, first, at_x + 1, at_y + 1, right * up);
    }
};

// Returns whether a coordinate lies inside an axis of the grid. NaN does not.
__device__ inline bool is_inside(const BevGrid &grid, int axis, double at_m) {
    return at_m < grid.max_m[axis] && (grid.truncate ? at_m > grid.min_m[axis] - grid.cell_m[axis]
                                                     : at_m >= grid.min_m[axis]);
}

// Returns the cells of feature pixel (w, h) of a camera at a depth bin.
__device__ inline PointCells cells_of(const MovingFrame &frame, int camera, int bin, int h, int w) {
    const BevGrid &grid = frame.grid;
    const BevPose &pose = frame.poses[camera];
    double u = w * frame.u_step, v = h * frame.v_step, at[3];
    double depth = frame.depths_m
                       ? frame.depths_m[bin]
                       : __dadd_rn(frame.depth_start_m, __dmul_rn(bin, frame.depth_step_m));
    PointCells cells = {};
    bool inside[3];
    // Rounds as the host does: a fused multiply-add would move points across cell borders.
    for (int axis = 0; axis < 3; axis++) {
        const double *row = pose.matrix + 3 * axis;
        double direction =
            __dadd_rn(__dadd_rn(__dmul_rn(row[0], u), __dmul_rn(row[1], v)), row[2]);
        double point_m = __dadd_rn(pose.origin_m[axis], __dmul_rn(depth, direction));
        inside[axis] = is_inside(grid, axis, point_m);
        at[axis] = (point_m - grid.min_m[axis]) / grid.cell_m[axis];
    }
    if (!inside[2])
        return cells;
    int z = min((int)at[2], grid.count[2] - 1);
    int first = camera / frame.sample_cameras * frame.sample_cells +
                z * grid.count[1] * grid.count[0];
    if (frame.align == BEV_BILINEAR)
        cells.add_four(grid, first, at[0] - 0.5, at[1] - 0.5);
    else if (frame.align == BEV_LATTICE)
        cells.add_four(grid, first, at[0], at[1]);
    else if (inside[0] && inside[1])
        cells.add(grid, 0, first, min((int)at[0], grid.count[0] - 1),
                  min((int)at[1], grid.count[1] - 1), 1);
    return cells;
}

// Takes cell after cell from the points of a group of lanes. `group` is a mask of its lanes.
struct CellTaker {
    unsigned group;
    PointCells mine;
    int cell;      // the cell taken last; NO_CELL: this group has none left
    int neighbour; // this lane's point of it: which of its cells; -1: it has none there
    unsigned took; // lanes of the group that have one
    bool leads;    // one lane of the group

    // Takes the next cell; false: no group of the warp has a cell left. The whole warp calls it.
    __device__ bool next() {
        int lane = (int)threadIdx.x % WARP;
        unsigned all = __ballot_sync(~0u, mine.left != 0), here = all & group;
        if (!all)
            return false;
        int leader = here ? __ffs(here) - 1 : lane;
        cell = __shfl_sync(~0u, mine.left ? mine.cell[__ffs(mine.left) - 1] : NO_CELL, leader);
        neighbour = -1;
#pragma unroll
        for (int i = 0; i < NEIGHBOURS; i++)
            if (mine.left >> i & 1 && mine.cell[i] == cell)
                neighbour = i;
        took = __ballot_sync(~0u, neighbour >= 0) & group;
        if (neighbour >= 0)
            mine.left &= ~(1u << neighbour);
        leads = here && lane == leader;
        return true;
    }
};
