/* SPDX-License-Identifier: MIT */
// V4's `prepare` on the host: which kernels run, which map is built, and how its work is scheduled.
#pragma once

#include "kernels/cuda/v4/front.cuh"
#include "kernels/cuda/v4/prepare.cuh"
#include "kernels/cuda/v4/spread.cuh"
#include "kernels/cuda/v4/update.cuh"

namespace {

struct V4Plan {
    bool tiled, overlap;
    bool transposed; // a kernel of its own transposes the depth into the workspace
    V4Schedule schedule;
    TileMap tiles;
    PieceMap pieces;
    Frustums frustums;
    uint32_t *occupied; // a bit for each cell with points; for outputs with channels first
    void *map_memory;
    bool moves; // the map is made again on the stream, in memory of the caller's
    BevMoving moving;
    MovingSizes sizes;
    MovingRules rules;
    ~V4Plan() {
        cudaFree(map_memory);
        cudaFree(occupied);
    }
};

// Arrays that exist only during `prepare`.
struct Draft {
    void *memory;
    Findings *findings;
    int *cell_intervals;
    Entry *entries;
    uint16_t *slots;
    int *entry_counts, *entry_starts, *order, *step_counts, *strip_counts, *strip_starts;
    int *step_starts; // [tiles + 1] in the order of launch
    uint64_t *strip_keys;
    int columns, strips, tiles; // columns: slab columns, of all slabs
};

// ---- choices -----------------------------------------------------------------------------------

// The arrays that a launch has in its workspace, if it needs them.
struct Scratch {
    Workspace tiles;    // for tiles that transpose the depth
    char *depth, *feat; // views: depth for pieces; feat for all
    char *out;          // the output with channels last
};

Workspace workspace_of(const BevProblem *problem, const Frustums &f, int pairs, int64_t passes,
                       Arena &arena) {
    Workspace workspace = {};
    int64_t codes = (int64_t)f.cameras * f.width * f.slabs * f.bins * SLAB;
    int64_t reductions = pairs * passes;
    char *transposed;
    arena.take(&transposed, codes * bev_dtypes[problem->depth.dtype].bits / 8);
    workspace.transposed = transposed;
    arena.take(&workspace.halves, pairs * 2 * TILE_CELLS * problem->shape.channels / 4);
    arena.take(&workspace.arrived, reductions);
    workspace.reductions = (int)reductions;
    return workspace;
}

// Lays the arrays out in `arena`. Without a plan it lays out all arrays that any plan needs.
Scratch scratch_of(const BevProblem *problem, const V4Plan *plan, Arena &arena) {
    Scratch scratch = {};
    int pairs = plan ? plan->schedule.counts[PAIR_CLASS] : PAIRS;
    int64_t passes =
        plan ? plan->schedule.passes : problem->shape.channels / v4_block_channels(problem, 1);
    if (plan ? plan->transposed : v4_tiles_possible(problem))
        scratch.tiles = workspace_of(problem, frustums_of(problem->shape), pairs, passes, arena);
    if (problem->stage == BEV_VIEW) {
        arena.take(&scratch.feat, (int64_t)bev_tensor_bytes(&problem->feat));
        if (!plan || !plan->transposed)
            arena.take(&scratch.depth, (int64_t)bev_tensor_bytes(&problem->depth));
    }
    if (problem->out_samples)
        arena.take(&scratch.out, (int64_t)bev_tensor_bytes(&problem->out));
    return scratch;
}

// Returns the map with the arguments that differ from launch to launch, except the workspace.
TileMap map_of_launch(TileMap map, const Pool &pool) {
    map.out = pool.out;
    map.feat = pool.feat;
    map.depth = pool.depth;
    map.feat_scales = pool.feat_scales;
    map.channel_scales = pool.channel_scales;
    map.channels = pool.channels;
    map.scale = pool.scale;
    return map;
}

// ---- pieces ------------------------------------------------------------------------------------

bool build_pieces(const BevProblem *problem, const Pool &pool, const Draft &draft,
                  const Findings &findings, V4Plan *plan, Err *err) {
    int counts[CLASSES], largest = piece_largest(problem->dtype, pool.channels);
    memcpy(counts, findings.piece_classes, sizeof counts);
    counts[0] += (int)(pool.cells - pool.intervals); // an empty cell is an owner without points
    plan->pieces.shares = shares_from(counts);
    auto layout = [&](Arena &arena) { arena.take((int4 **)&plan->pieces.owners, pool.cells); };
    if (!arena_allocate(&plan->map_memory, "v4", layout, err))
        return false;
    int empties = (int)(pool.cells - pool.intervals);
    CellSort sort = {plan->pieces.shares,
                     draft.cell_intervals,
                     pool.starts,
                     pool.lengths,
                     piece_points(pool.points, pool.channels),
                     largest,
                     plan->pieces.shares.owners - empties,
                     (int4 *)plan->pieces.owners};
    partition(CLASSES + 1, (int)pool.cells, sort);
    return true;
}

// ---- tiles -------------------------------------------------------------------------------------

TileOrder tile_order(const Pool &pool, const Draft &d) {
    return {{(int)pool.intervals, d.entries, pool.starts, d.entry_counts},
            d.order,
            d.strip_starts + d.strips};
}

// Sorts points into entries and cells into tiles, and counts the steps of each tile.
void draft_tiles(const Pool &pool, const Frustums &f, const Draft &d) {
    int intervals = (int)pool.intervals;
    CellPoints points = {pool, f, d.findings, d.entries, d.entry_counts, d.slots, d.strip_counts};
    sort_lists(intervals, points);
    if (pool.weights)
        scan(d.entry_counts, NULL, intervals, d.entry_starts, &d.findings->entries);
    scan(d.strip_counts, NULL, d.strips, d.strip_starts, NULL);
    TileOrder order = tile_order(pool, d);
    v4_strip_kernel<<<blocks_for(intervals, 256), 256>>>(order.lists, f, d.columns, d.strip_starts,
                                                         d.strip_counts, d.strip_keys);
    sort_lists(d.strips, Strips{d.strip_starts, d.strip_keys, d.order});
    v4_count_steps_kernel<<<blocks_for((int64_t)d.tiles * WARP, 256), 256>>>(order, d.step_counts,
                                                                             d.findings);
}

bool tiles_are_faster(const Pool &pool, const Findings &findings) {
    return !findings.irregular && findings.longest <= LONGEST_SORTED &&
           pool.points >= (int64_t)POINTS_A_STEP * findings.steps;
}

// Allocates the arrays of the tile map in one block.
bool allocate_tiles(const Pool &pool, const Draft &draft, const Findings &findings,
                    const Numbers &numbers, int **empty, TileArrays *out, V4Plan *plan, Err *err) {
    int workers = numbers.blocks * TILE_WARPS;
    int64_t steps = findings.steps - numbers.shares.workers + workers;
    int64_t weights = (int64_t)findings.entries * SLAB;
    auto layout = [&](Arena &arena) {
        arena.take(&out->work, workers);
        arena.take(&out->cells, (int64_t)draft.tiles * TILE_CELLS);
        arena.take(&out->tiles, draft.tiles);
        arena.take(&out->slabs, steps);
        arena.take(&out->entries, steps * TILE_CELLS);
        arena.take(&out->weight_rows, pool.weights ? steps * TILE_CELLS : 0);
        arena.take(&out->weights, weights);
        arena.take(empty, pool.cells - pool.intervals);
    };
    if (!arena_allocate(&plan->map_memory, "v4", layout, err))
        return false;
    if (pool.weights)
        TRY_CUDA("v4", cudaMemsetAsync(out->weights, 0, (size_t)weights * sizeof(float), 0));
    return true;
}

// Writes the tile map: weights, empty cells, tiles sorted by class, and their steps.
void fill_tiles(const Pool &pool, const Frustums &f, const Draft &d, const Numbers &numbers,
                const TileBins &bins, const TileArrays &out, int *empty, bool transposed) {
    TileOrder order = tile_order(pool, d);
    if (pool.weights)
        v4_weights_kernel<<<blocks_for(pool.points, 256), 256>>>(
            pool, d.cell_intervals, d.entry_starts, d.slots, out.weights);
    partition(1, (int)pool.cells, EmptySort{d.cell_intervals, NO_CELL, empty});
    partition(ABSENT_BIN, d.tiles, TileSort{bins, NULL, order, d.step_counts, out.tiles});
    scan(d.step_counts, out.tiles, d.tiles, d.step_starts, NULL);
    TileSource source = {order, pool.ranks_bev, NULL, pool.weights ? d.entry_starts : NULL,
                         transposed};
    v4_fill_kernel<<<blocks_for((int64_t)d.tiles * WARP, 256), 256>>>(source, f, out, numbers, NULL,
                                                                      d.step_starts);
}

// Chooses a schedule for the drafted tiles, and builds their map.
bool build_tiles(const BevProblem *problem, const Pool &pool, const Draft &draft,
                 const Findings &findings, V4Plan *plan, Err *err) {
    const Frustums &f = plan->frustums;
    TileArrays out = {};
    int *empty, multiprocessors;
    if (!device_fact(cudaDevAttrMultiProcessorCount, &multiprocessors, "v4", err))
        return false;
    bool transposes = v4_transposes(problem, multiprocessors);
    V4Load load = {problem, findings.steps, transposes, multiprocessors};
    V4Schedule schedule = v4_best_schedule(findings.tile_steps, &load);
    int counts[CLASSES] = {};
    memcpy(counts, schedule.counts, sizeof schedule.counts);
    Numbers numbers = {shares_from(counts), (int)blocks_for(schedule.workers, TILE_WARPS),
                       multiprocessors / (int)schedule.passes};
    if (!allocate_tiles(pool, draft, findings, numbers, &empty, &out, plan, err))
        return false;
    plan->transposed = transposes;
    plan->schedule = schedule;
    TileBins bins = {{}, schedule.portion, schedule.largest};
    bins.set(numbers.shares, findings.tile_steps);
    fill_tiles(pool, f, draft, numbers, bins, out, empty, transposes);
    plan->tiles = tile_map(out, f, pool.weights);
    plan->tiles.empty = empty;
    plan->tiles.empties = (int)(pool.cells - pool.intervals);
    plan->tiles.workers = numbers.blocks * TILE_WARPS;
    plan->tiled = true;
    return true;
}

// ---- the output with channels first ------------------------------------------------------------

bool build_occupied(const Pool &pool, const Draft &draft, V4Plan *plan, Err *err) {
    size_t words = blocks_for(pool.cells, WARP);
    if (!cuda_allocate((void **)&plan->occupied, words * sizeof(uint32_t), "v4", err))
        return false;
    v4_occupied_kernel<<<blocks_for(pool.cells, 256), 256>>>(draft.cell_intervals, pool.cells,
                                                             plan->occupied);
    return true;
}

// ---- all together ------------------------------------------------------------------------------

bool allocate_draft(const Pool &pool, const Frustums &f, bool tiles, Draft *draft, Err *err) {
    int64_t points = tiles ? pool.points : 0, intervals = tiles ? pool.intervals : 0;
    draft->columns = tiles ? f.cameras * f.width * f.slabs : 0;
    draft->strips = tiles ? v4_strip(draft->columns - 1, f.slabs) + 1 : 0;
    draft->tiles = (int)blocks_for(intervals, TILE_CELLS);
    auto layout = [&](Arena &arena) {
        arena.take(&draft->findings, 1);
        // findings and strip_counts are zeroed; cell_intervals are filled with NO_CELL.
        arena.take(&draft->strip_counts, draft->strips);
        arena.take(&draft->cell_intervals, pool.cells);
        arena.take(&draft->entries, points);
        arena.take(&draft->slots, pool.weights ? points : 0);
        arena.take(&draft->entry_counts, intervals);
        arena.take(&draft->entry_starts, pool.weights ? intervals + 1 : 0);
        arena.take(&draft->order, intervals);
        arena.take(&draft->strip_keys, intervals);
        arena.take(&draft->step_counts, draft->tiles);
        arena.take(&draft->step_starts, draft->tiles + 1);
        arena.take(&draft->strip_starts, draft->strips + 1);
    };
    if (!arena_allocate(&draft->memory, "v4", layout, err))
        return false;
    size_t zeroed = (size_t)((char *)draft->cell_intervals - (char *)draft->memory);
    TRY_CUDA("v4", cudaMemsetAsync(draft->memory, 0, zeroed, 0));
    TRY_CUDA("v4", cudaMemsetAsync(draft->cell_intervals, 0xff, (size_t)pool.cells * sizeof(int),
                                   0)); // NO_CELL
    return true;
}

// Makes the plan for moving cameras: no map, but the sizes and rules by which updates make a map.
// Tiles read transposed depth, and a block takes one group of channels where that is allowed.
bool build_moving(const BevProblem *problem, V4Plan *plan, Err *err) {
    int multiprocessors, groups = v4_groups_allowed(problem, 1) ? 1 : 2;
    if (!v4_tiles_possible(problem))
        return err_set(err, ERR_USAGE, "v4", "take 80 channels or a multiple of 64",
                       "cannot follow moving cameras with %d channels",
                       (int)problem->shape.channels);
    if (!device_fact(cudaDevAttrMultiProcessorCount, &multiprocessors, "v4", err))
        return false;
    int64_t passes = problem->shape.channels / v4_block_channels(problem, groups);
    plan->moves = plan->tiled = plan->transposed = true;
    plan->moving = *problem->map.moving;
    plan->sizes = moving_sizes(&plan->moving);
    plan->schedule.groups = groups;
    plan->schedule.passes = passes;
    plan->schedule.counts[PAIR_CLASS] = PAIRS;
    plan->rules = {v4_step_time(problem),
                   (double)TILE_BLOCKS * multiprocessors,
                   (int)passes,
                   multiprocessors / (int)passes,
                   groups > 1 && problem->dtype != BEV_FP32,
                   true,
                   plan->sizes.workers,
                   plan->sizes.entries,
                   plan->sizes.cells};
    return true;
}

size_t v4_map_bytes(const BevProblem *, const BevPlan *opaque) {
    size_t bytes;
    moving_map(((const V4Plan *)opaque)->sizes, NULL, &bytes);
    return bytes;
}

bool v4_update(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    const V4Plan *plan = (const V4Plan *)opaque;
    cudaStream_t stream = (cudaStream_t)stream_;
    MovingMap map = moving_map(plan->sizes, problem->map.memory);
    TRY_CUDA("v4", cudaMemsetAsync(map.findings, 0, map.zeroed, stream));
    update_entries(moving_frame(&plan->moving, map.flags), plan->sizes, map, stream);
    update_tiles(plan->frustums, plan->sizes, plan->rules, map, stream);
    return cuda_ok(cudaGetLastError(), "v4", err);
}

bool build_plan(const BevProblem *problem, Draft *draft, V4Plan *plan, Err *err) {
    Pool pool = pool_of(problem);
    bool tiles = v4_tiles_possible(problem);
    if (!knows_overlap((const void *)v4_transpose_kernel<uint16_t, 1>, "v4", &plan->overlap, err))
        return false;
    plan->frustums = frustums_of(problem->shape);
    if (problem->map.moving)
        return build_moving(problem, plan, err);
    if (!allocate_draft(pool, plan->frustums, tiles, draft, err))
        return false;
    if (pool.intervals)
        v4_cells_kernel<<<blocks_for(pool.intervals, 256), 256>>>(
            pool, piece_largest(problem->dtype, pool.channels), draft->cell_intervals,
            draft->findings);
    if (problem->out_samples && !build_occupied(pool, *draft, plan, err))
        return false;
    if (tiles)
        draft_tiles(pool, plan->frustums, *draft);
    Findings findings;
    if (!read_back(&findings, draft->findings, "v4", err))
        return false;
    return tiles && tiles_are_faster(pool, findings)
               ? build_tiles(problem, pool, *draft, findings, plan, err)
               : build_pieces(problem, pool, *draft, findings, plan, err);
}

size_t v4_workspace_bytes(const BevProblem *problem, const BevPlan *opaque) {
    Arena arena = {};
    scratch_of(problem, (const V4Plan *)opaque, arena);
    return arena.used;
}

bool v4_build(const BevProblem *problem, V4Plan *plan, Err *err) {
    Draft draft = {};
    bool ok = build_plan(problem, &draft, plan, err) && cuda_ok(cudaGetLastError(), "v4", err);
    cuda_free_pooled(draft.memory);
    cudaError_t done = cudaStreamSynchronize(0);
    return ok && cuda_ok(done, "v4", err);
}

} // namespace
