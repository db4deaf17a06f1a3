/* SPDX-License-Identifier: MIT */
/* IDEA    On a real rig the points of an interval are related. A column of the image is a vertical
 *         plane in the world: its 16 pixels at one depth land in one or two cells, seldom three. So
 *         a cell's sum is a short row of depths times the column's features, and 16 cells that the
 *         same columns look at are a matrix product, which tensor cores do with FP32 sums. The work
 *         is cut into equal steps and scheduled to 1 to 16 warps a tile of 16 cells, so that
 *         nobody waits for the longest interval. A number in FP32 is exactly the sum of three BF16:
 *         six of the nine products of such parts are added, the other three are too small to be
 *         seen. Maps without that structure, and channel counts other than 80 and multiples of 64,
 *         are scheduled the same way without tensor cores, in pieces of a cell's points.
 * WHO     A warp owns steps of a tile: 16 cells by 64 to 128 channels, in FP32 32 to 64. A tile
 *         with many steps has several warps of one block, which add their sums in fixed order in
 *         shared memory; a block of tiles with one warp each holds tiles with equal numbers of
 *         steps. A cell near a camera sees nearly all of its columns; where a first kernel runs
 *         (MEMORY), the few tiles with such a cell have two blocks, whose sums meet in the
 *         workspace: who is there last adds both.
 *
 *             one step           16 image rows          channels 0 ..
 *                  cell  0    [ d d d d . . . . ]     [ f f f f f f ]  row 0
 *                  cell  1    [ . . . . d d d d ]  x  [ f f f f f f ]  row 1 of one column
 *                   ...       [ depths of a bin ]     [     ...     ]   ...
 *                  cell 15    [ d d d d d d d d ]     [ f f f f f f ]  row 15
 *
 * MEMORY  Features of a column are read once for 16 cells, not once a point. Four lanes read 64
 *         bytes of an image row side by side, as the cache likes it, and movmatrix brings two rows
 *         of a channel into one lane, as tensor cores want it. Where registers are left the next
 *         step is loaded meanwhile. A step's map is 72 bytes: where the column begins, and per cell
 *         a depth bin and a mask of the 16 rows.
 *         Depths are gathered one by one, four neighbouring rows at once. Where that would take
 *         longer than one more kernel (large maps, and weighted ones, which read each depth about
 *         four times) a first kernel transposes the depth, so that a column's 16 rows are
 *         contiguous; the second one loads its features meanwhile. Each output is written once, in
 *         words of 16 bytes where the format allows; empty cells are zeroed by blocks of the same
 *         launch.
 * COST    Per step: 16 x channels features, 72 bytes of map; weighted 136, and 16 weights for each
 *         of the 16 cells, also for those without an entry. Per point one depth; of a transposed
 *         depth four for each set of rows q, q + 4, q + 8, q + 12 with a point in it, and all
 *         depths twice more. On camera rigs there are points / 75 to points / 110 steps. V3 loads
 *         points x channels features, 8 x points bytes of map. So do pieces, and 16 bytes each: a
 *         cell has one for up to 8 points, two for up to 16, four for up to 32, and so on.
 * LIMITS  Fewer than 32 points a step (a camera that rolls, random ranks) and pieces serve instead.
 *         A NaN or an infinity makes a tile start again point by point. Small maps wait for their
 *         longest tile: two loads that depend on each other, three or four steps, three rounds of
 *         joining; while it runs, half of the multiprocessors have already ended. Large maps wait
 *         for features and depths from the second cache. An output with channels first takes one
 *         more kernel (spread.cuh). On SM90 and later, in a stream, the first load, of the map,
 *         does not wait for the kernel in front (overlap.cuh).
 * TRY     Tiles of 8 cells (features as the left operand, 20 sums a lane instead of 40): 1.5 times
 *         as many steps, each with half the sums; which configurations gain? Let the blocks start
 *         in plain order (v4_start_order): which maps lose? Give a warp two steps more or less
 *         (portion_of): when does the longest tile decide, and when the number of blocks? Bring a
 *         step's features into shared memory by the copy engine: why is that slower? Load a
 *         column's features once for two bins that fall into the same cell: which maps have fewer
 *         steps then? Clear the empty cells before the steps instead of in blocks of their own:
 *         why is that slower? Or after them, by the warps that did them: which maps gain, and
 *         which lose? What we found of it is in samples/experiments/v4.md. */
#include "kernels/cuda/row.h"
#include "kernels/cuda/v4/choices.h"

#ifdef __CUDACC__
#include "kernels/cuda/v4/build.cuh"

namespace {

// Enqueues the first kernel of a view transform.
template <BevDtype D>
cudaError_t enqueue_front(const BevProblem *problem, const V4Plan *plan, const Scratch &scratch,
                          bool overlap, cudaStream_t stream) {
    const Workspace &tiles = scratch.tiles;
    Front front = front_of(problem);
    front.to_depth = plan->transposed ? tiles.transposed : scratch.depth;
    front.feat.to = scratch.feat;
    front.arrived = tiles.arrived;
    front.reductions = tiles.reductions;
    return with_flag(plan->transposed,
                     [&]<bool T>() { return front_launch<D, T>(front, overlap, stream); });
}

// Enqueues the kernel that brings `rows`, (cell, c), into an output with channels first.
template <BevDtype D>
cudaError_t enqueue_spread(const BevProblem *problem, const void *rows, const uint32_t *occupied,
                           bool overlap, cudaStream_t stream) {
    int64_t cells = problem->shape.nx * problem->shape.ny / problem->out_samples;
    Spread spread = {rows, problem->out.data, occupied, cells, (int)problem->shape.channels};
    using Code = DepthBits<OUT_OF<D>>;
    return spread_launch<Code>(spread, problem->out_samples, overlap, stream);
}

// Returns the problem of V4 inside a view: the first kernel writes its inputs, and the last kernel
// reads its output.
BevProblem inner_problem(const BevProblem *problem, const Scratch &scratch) {
    BevProblem inner = *problem;
    if (problem->stage == BEV_VIEW) {
        inner.feat.data = feat_stays(problem) ? problem->feat.data : scratch.feat;
        inner.depth.data = scratch.depth;
    }
    if (problem->out_samples)
        inner.out.data = scratch.out;
    return inner;
}

bool v4_launch(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    const V4Plan *plan = (const V4Plan *)opaque;
    cudaStream_t stream = (cudaStream_t)stream_;
    cudaError_t status = cudaSuccess;
    Arena arena = {(char *)problem->workspace, 0};
    Scratch scratch = scratch_of(problem, plan, arena);
    BevProblem inner = inner_problem(problem, scratch);
    MovingMap moving = moving_map(plan->sizes, problem->map.memory);
    TileMap tiles = map_of_launch(
        plan->moves ? tiles_of(plan->sizes, moving, plan->frustums) : plan->tiles, pool_of(&inner));
    tiles.workspace = scratch.tiles;
    tiles.fronted = problem->stage == BEV_VIEW;
    tiles.awaits_features = tiles.fronted && !feat_stays(problem);
    tiles.followed = problem->out_samples > 0;
    if (tiles.followed) // the kernel behind zeroes empty cells
        tiles.empties = 0;
    bool behind = plan->overlap && plan->tiled; // pieces let no kernel start early
    auto enter = [&]<BevDtype D>() {
        if constexpr (D <= BEV_BF16)
            if (tiles.fronted)
                status = enqueue_front<D>(problem, plan, scratch,
                                          plan->overlap && gains_by_overlap(stream), stream);
        if (status == cudaSuccess && !plan->tiled)
            pieces_launch<D>(&inner, plan->pieces, stream);
        else if (status == cudaSuccess)
            status = tiles_launch<D>(tiles, plan->schedule.groups, plan->frustums, plan->overlap,
                                     stream);
        if (status == cudaSuccess && tiles.followed)
            status =
                enqueue_spread<D>(problem, scratch.out,
                                  plan->moves ? moving.occupied : plan->occupied, behind, stream);
    };
    with_dtype_or_fp4(problem->dtype, enter);
    return cuda_ok(status, "v4", err) && cuda_ok(cudaGetLastError(), "v4", err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(v4) = {
    .name = "v4", .title = "V4",
    .idea = "A camera's columns as matrices: tensor cores, and work scheduled in equal steps.",
    .where = BEV_CUDA, .is_default = true, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .writes_first = true,
    .access = {.owner = BEV_OWNS_TILE, .tile = 1, .block = 256, .resident = 16, .load = 1,
               .store = 1, .evict_first = true, .indices_ahead = 1, .in_flight = 1},
    .fallback = {.owner = BEV_OWNS_PIECE, .tile = 8, .widens = true, .block = 512, .whole = true,
                 .resident = 48, .load = 8, .store = 8, .ranks = 2, .owner_bytes = BEV_PIECE_BYTES,
                 .evict_first = true, .indices_ahead = 1, .in_flight = 1, .point_instructions = 27},
    .prepare = ON_CUDA(make_plan<V4Plan, v4_build>),
    .release = ON_CUDA(release_plan<V4Plan>), .workspace_bytes = ON_CUDA(v4_workspace_bytes),
    .map_bytes = ON_CUDA(v4_map_bytes), .update = ON_CUDA(v4_update), .launch = ON_CUDA(v4_launch),
    .code = ON_CUDA((const void *)v4_scan_kernel),
};

CUDA_ROW(view) = {
    .name = "view", .title = "View",
    .idea = "The whole view transform: softmax and features, V4, a launch more for channels first.",
    .where = BEV_CUDA, .stage = BEV_VIEW, .is_default = true, .dtypes = BEV_UNSCALED_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .writes_first = true,
    .prepare = ON_CUDA(make_plan<V4Plan, v4_build>),
    .release = ON_CUDA(release_plan<V4Plan>), .workspace_bytes = ON_CUDA(v4_workspace_bytes),
    .map_bytes = ON_CUDA(v4_map_bytes), .update = ON_CUDA(v4_update), .launch = ON_CUDA(v4_launch),
    .bytes = bev_view_traffic, .code = ON_CUDA((const void *)v4_scan_kernel),
};
/* clang-format on */
