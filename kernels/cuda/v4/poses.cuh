/* SPDX-License-Identifier: MIT */
// From poses to the cells of points. The moving maps of V4 and of its gradients share this file. N
// is the most cells of a point: 1 for the nearest cell, else 4.
#pragma once

#include "kernels/cuda/v4/transpose.cuh"

// The arguments that turn a feature pixel into the cells of its points.
struct MovingFrame {
    Frustums f;
    BevGrid grid;
    double per_cell[3]; // 1 / cell_m, correctly rounded
    BevAlign align;
    int sample_cameras, sample_cells;
    double u_step, v_step, depth_start_m, depth_step_m;
    const double *depths_m;
    const BevPose *poses; // [cameras]
    const int *cells;     // NULL, or the cells of points, in place of all but `f`
};

// `memory`: the memory of the map.
static inline MovingFrame moving_frame(const BevMoving *moving, const void *memory) {
    const char *source = (const char *)memory + BEV_MOVING_SOURCE;
    const BevShape *shape = &moving->shape;
    const BevGrid *grid = &moving->grid;
    return {frustums_of(*shape),
            *grid,
            {1 / grid->cell_m[0], 1 / grid->cell_m[1], 1 / grid->cell_m[2]},
            moving->align,
            (int)(shape->cameras / moving->samples),
            grid->count[0] * grid->count[1] * grid->count[2],
            moving->u_step,
            moving->v_step,
            moving->depth_start_m,
            moving->depth_step_m,
            moving->depths_m,
            (const BevPose *)source,
            moving->of_cells ? (const int *)source : NULL};
}

// The ray of a feature pixel: its points are origin + depth * direction.
struct PixelRay {
    double origin_m[3], direction[3];
    int first; // cell of its camera's sample; where cells are given, number of its first point
};

// Returns a pixel's ray, rounded as on the host: a fused multiply-add would move points across cell
// borders, so the code prevents it.
__device__ inline PixelRay ray_of(const MovingFrame &frame, int camera, int h, int w) {
    const BevPose &pose = frame.poses[camera];
    double u = w * frame.u_step, v = h * frame.v_step;
    PixelRay ray = {};
    if (frame.cells) {
        ray.first = ((camera * frame.f.width + w) * frame.f.height + h) * frame.f.bins;
        return ray;
    }
    for (int axis = 0; axis < 3; axis++) {
        const double *row = pose.matrix + 3 * axis;
        ray.origin_m[axis] = pose.origin_m[axis];
        ray.direction[axis] =
            __dadd_rn(__dadd_rn(__dmul_rn(row[0], u), __dmul_rn(row[1], v)), row[2]);
    }
    ray.first = camera / frame.sample_cameras * frame.sample_cells;
    return ray;
}

// The cells of a point, with their weights. `left` has a bit for each cell that is not taken yet.
template <int N> struct PointCells {
    int cell[N];
    float weight[N];
    unsigned left;

    __device__ void add(const BevGrid &grid, int i, int first, int x, int y, double share) {
        bool exists = x >= 0 && x < grid.count[0] && y >= 0 && y < grid.count[1];
        if (!exists || !((float)share > 0))
            return;
        cell[i] = first + y * grid.count[0] + x;
        weight[i] = (float)share;
        left |= 1u << i;
    }
    // Adds the four cells around (x, y), in cells, of the slice that begins with cell `first`.
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
    // Returns the first cell that is left, or NO_CELL. Registers cannot be indexed, so each
    // register is asked.
    __device__ int next_cell() const {
        int found = NO_CELL;
#pragma unroll
        for (int i = N - 1; i >= 0; i--)
            found = left >> i & 1 ? cell[i] : found;
        return found;
    }
    __device__ float weight_of(int neighbour) const {
        float found = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            found = i == neighbour ? weight[i] : found;
        return found;
    }
};

// Returns whether a coordinate lies inside an axis of the grid. NaN lies outside.
__device__ inline bool is_inside(const BevGrid &grid, int axis, double at_m) {
    return at_m < grid.max_m[axis] && (grid.truncate ? at_m > grid.min_m[axis] - grid.cell_m[axis]
                                                     : at_m >= grid.min_m[axis]);
}

// Returns value / divisor, rounded as by a division. value * reciprocal is an estimate, and fma()
// gives its remainder exactly. One correction comes within a bit, a second rounds (Markstein 1990).
__device__ inline double quotient(double value, double divisor, double reciprocal) {
    double q = value * reciprocal;
    q = fma(fma(-q, divisor, value), reciprocal, q);
    return fma(fma(-q, divisor, value), reciprocal, q);
}

// Returns the cells of a ray's point at a depth bin.
template <int N>
__device__ inline PointCells<N> cells_of(const MovingFrame &frame, const PixelRay &ray, int bin) {
    const BevGrid &grid = frame.grid;
    double point_m[3];
    PointCells<N> cells = {};
    if (frame.cells) {
        cells.cell[0] = frame.cells[ray.first + bin];
        cells.weight[0] = 1;
        cells.left = cells.cell[0] != NO_CELL;
        return cells;
    }
    double depth = frame.depths_m
                       ? frame.depths_m[bin]
                       : __dadd_rn(frame.depth_start_m, __dmul_rn(bin, frame.depth_step_m));
    for (int axis = 0; axis < 3; axis++)
        point_m[axis] = __dadd_rn(ray.origin_m[axis], __dmul_rn(depth, ray.direction[axis]));
    auto at = [&](int axis) {
        return quotient(point_m[axis] - grid.min_m[axis], grid.cell_m[axis], frame.per_cell[axis]);
    };
    if (!is_inside(grid, 2, point_m[2]))
        return cells;
    int first = ray.first;
    if (grid.count[2] > 1)
        first += min((int)at(2), grid.count[2] - 1) * grid.count[1] * grid.count[0];
    if constexpr (N == 1) {
        if (is_inside(grid, 0, point_m[0]) && is_inside(grid, 1, point_m[1]))
            cells.add(grid, 0, first, min((int)at(0), grid.count[0] - 1),
                      min((int)at(1), grid.count[1] - 1), 1);
    } else {
        double shift = frame.align == BEV_BILINEAR ? 0.5 : 0;
        cells.add_four(grid, first, at(0) - shift, at(1) - shift);
    }
    return cells;
}

// Takes cell after cell from the points of a group of lanes. `group` is a mask of its lanes.
template <int N> struct CellTaker {
    unsigned group;
    PointCells<N> mine;
    int cell;      // the cell taken last; NO_CELL: no cell of this group is left
    int neighbour; // number of that cell among the cells of this lane's point; -1: none of them
    unsigned took; // lanes of the group whose points reach that cell
    bool leads;    // true in one lane of the group

    // Takes the next cell; false: no group of the warp has a cell left. The whole warp calls it.
    __device__ bool next() {
        int lane = (int)threadIdx.x % WARP;
        unsigned all = __ballot_sync(~0u, mine.left != 0), here = all & group;
        if (!all)
            return false;
        int leader = here ? __ffs(here) - 1 : lane;
        cell = __shfl_sync(~0u, mine.next_cell(), leader);
        neighbour = -1;
#pragma unroll
        for (int i = 0; i < N; i++)
            if (mine.left >> i & 1 && mine.cell[i] == cell)
                neighbour = i;
        took = __ballot_sync(~0u, neighbour >= 0) & group;
        if (neighbour >= 0)
            mine.left &= ~(1u << neighbour);
        leads = here && lane == leader;
        return true;
    }
};
