// V4's `prepare` on the host: which kernels run, which map is built, and how its work is dealt out.
#pragma once

#include "kernels/cuda/v4/prepare.cuh"

namespace {

struct V4Plan {
    bool tiled, overlap;
    bool transposed; // the depth, by a kernel of its own, into the workspace
    TileMap tiles;
    PieceMap pieces;
    Frustums frustums;
    void *map_memory, *weights;
    ~V4Plan() {
        cudaFree(map_memory);
        cudaFree(weights);
    }
};

// What exists during `prepare` only.
struct Draft {
    void *memory;
    Findings *findings;
    int *cell_intervals;
    uint32_t *places, *sorted;
    float *sorted_weights;
    Entry *entries;
    int *entry_counts, *entry_starts, *order, *bucket_intervals, *step_counts, *step_starts;
    int *column_counts, *column_starts, *column_used;
    int columns, tiles;
};

// ---- choices -----------------------------------------------------------------------------------

Frustums frustums_of(const BevShape &shape) {
    return {(int)shape.cameras, (int)shape.depth_bins, (int)shape.feat_h, (int)shape.feat_w,
            (int)v4_slabs(&shape)};
}

bool multiprocessor_count(int *count, Err *err) {
    int device;
    TRY_CUDA("v4", cudaGetDevice(&device));
    TRY_CUDA("v4", cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device));
    return true;
}

// Which portion of steps a warp should get.
int choose_portion(const Findings &findings, int64_t steps, int64_t passes, int multiprocessors) {
    double least = 0;
    int config = 0;
    for (int i = 0; i < PORTIONS; i++) {
        int64_t workers = shares_from(findings.tile_classes[i]).workers;
        double time = v4_tiles_time(portion_of(i), workers, steps, passes, multiprocessors);
        if (i == 0 || time < least) {
            least = time;
            config = i;
        }
    }
    return config;
}

// ---- pieces ------------------------------------------------------------------------------------

bool build_pieces(const BevProblem *problem, const Pool &pool, const Draft &draft,
                  const Findings &findings, V4Plan *plan, Err *err) {
    int counts[CLASSES], largest = piece_largest(problem->dtype, pool.channels);
    memcpy(counts, findings.piece_classes, sizeof counts);
    counts[0] += (int)(pool.cells - pool.intervals); // an empty cell is an owner of no points
    plan->pieces.shares = shares_from(counts);
    auto layout = [&](Arena &arena) { arena.take((int4 **)&plan->pieces.owners, pool.cells); };
    if (!arena_allocate(&plan->map_memory, layout, err))
        return false;
    int empties = (int)(pool.cells - pool.intervals);
    CellSort sort = {plan->pieces.shares,
                     draft.cell_intervals,
                     pool.starts,
                     pool.lengths,
                     largest,
                     plan->pieces.shares.owners - empties,
                     (int4 *)plan->pieces.owners};
    v4_partition_kernel<<<CLASSES + 1, TOOL_THREADS>>>((int)pool.cells, sort);
    return true;
}

// ---- tiles -------------------------------------------------------------------------------------

// Sorts points and cells and counts steps; false in *worth_it when pieces are the better way.
bool draft_tiles(const Pool &pool, const Frustums &f, Draft *draft, V4Plan *plan, bool *worth_it,
                 Err *err) {
    int intervals = (int)pool.intervals;
    unsigned interval_blocks = blocks_for(pool.intervals * WARP, 256);
    *worth_it = false;
    v4_sort_kernel<<<interval_blocks, 256>>>(pool, draft->places, draft->sorted,
                                             draft->sorted_weights, draft->entry_counts);
    v4_scan_kernel<<<1, TOOL_THREADS>>>(draft->entry_counts, NULL, intervals, draft->entry_starts);
    int entries;
    if (!read_back(&entries, draft->entry_starts + intervals, err))
        return false;
    if (pool.weights) {
        size_t bytes = (size_t)entries * SLAB * sizeof(float);
        if (!cuda_allocate(&plan->weights, bytes, "v4", err))
            return false;
        TRY_CUDA("v4", cudaMemsetAsync(plan->weights, 0, bytes, 0));
    }
    v4_entries_kernel<<<interval_blocks, 256>>>(pool, f, draft->sorted, draft->sorted_weights,
                                                draft->entry_starts, draft->entries,
                                                (float *)plan->weights, draft->column_counts);
    v4_scan_kernel<<<1, TOOL_THREADS>>>(draft->column_counts, NULL, draft->columns,
                                        draft->column_starts);
    v4_bucket_kernel<<<blocks_for(intervals, 256), 256>>>(
        intervals, draft->entries, draft->entry_starts, draft->column_starts, draft->column_used,
        draft->bucket_intervals);
    v4_order_kernel<<<blocks_for((int64_t)draft->columns * WARP, 256), 256>>>(
        draft->columns, draft->entries, draft->entry_starts, draft->column_starts,
        draft->bucket_intervals, draft->order);
    v4_count_steps_kernel<<<blocks_for((int64_t)draft->tiles * WARP, 256), 256>>>(
        draft->tiles, intervals, draft->order, draft->entry_starts, draft->entries,
        draft->step_counts, draft->findings);
    v4_scan_kernel<<<1, TOOL_THREADS>>>(draft->step_counts, NULL, draft->tiles, draft->step_starts);
    int steps;
    if (!read_back(&steps, draft->step_starts + draft->tiles, err))
        return false;
    *worth_it = pool.points >= (int64_t)POINTS_A_STEP * steps;
    return true;
}

bool build_tiles(const BevProblem *problem, const Pool &pool, const Draft &draft, V4Plan *plan,
                 Err *err) {
    const Frustums &f = plan->frustums;
    TileMap &map = plan->tiles;
    TileArrays out = {};
    Findings findings;
    int *empty, multiprocessors, steps;
    if (!read_back(&findings, draft.findings, err) ||
        !read_back(&steps, draft.step_starts + draft.tiles, err) ||
        !multiprocessor_count(&multiprocessors, err))
        return false;
    bool weighted = pool.weights != NULL;
    plan->transposed = v4_transposes(&problem->map, multiprocessors);
    int64_t passes = pool.channels / v4_tile_channels(problem);
    int config = choose_portion(findings, steps, passes, multiprocessors);
    auto layout = [&](Arena &arena) {
        arena.take(&out.starts, draft.tiles + 1);
        arena.take(&out.cells, (int64_t)draft.tiles * TILE_CELLS);
        arena.take(&out.tiles, draft.tiles);
        arena.take(&out.slabs, steps);
        arena.take(&out.entries, (int64_t)steps * TILE_CELLS);
        arena.take(&out.weight_rows, weighted ? (int64_t)steps * TILE_CELLS : 0);
        arena.take(&empty, pool.cells - pool.intervals);
    };
    if (!arena_allocate(&plan->map_memory, layout, err))
        return false;

    Shares shares = shares_from(findings.tile_classes[config]);
    int portion = portion_of(config);
    v4_partition_kernel<<<portion + TILE_LARGEST + 1, TOOL_THREADS>>>(
        draft.tiles, tile_sort(shares, findings.tile_steps, portion, draft.step_counts, out.tiles));
    EmptySort empty_sort = {draft.cell_intervals, empty};
    v4_partition_kernel<<<1, TOOL_THREADS>>>((int)pool.cells, empty_sort);
    v4_scan_kernel<<<1, TOOL_THREADS>>>(draft.step_counts, out.tiles, draft.tiles, out.starts);
    v4_fill_kernel<<<blocks_for((int64_t)draft.tiles * WARP, 256), 256>>>(
        pool, f, out, draft.tiles, draft.order, draft.entry_starts, draft.entries,
        plan->transposed);

    map.shares = shares;
    map.starts = out.starts;
    map.cells = out.cells;
    map.slabs = out.slabs;
    map.entries = out.entries;
    map.weight_rows = out.weight_rows;
    map.weights = (const float4 *)plan->weights;
    map.empty = empty;
    map.empties = (int)(pool.cells - pool.intervals);
    map.tile_blocks = (int)blocks_for(shares.workers, TILE_WARPS);
    map.feat_w = f.width;
    map.bin_stride = f.height * f.width;
    map.last_feat_row = f.cameras * f.height * f.width - 1;
    plan->tiled = true;
    return true;
}

// ---- all together ------------------------------------------------------------------------------

bool allocate_draft(const Pool &pool, const Frustums &f, bool tiles, Draft *draft, Err *err) {
    int64_t points = tiles ? pool.points : 0, intervals = tiles ? pool.intervals : 0;
    draft->columns = tiles ? f.cameras * f.width * f.slabs : 0;
    draft->tiles = (int)blocks_for(intervals, TILE_CELLS);
    auto layout = [&](Arena &arena) {
        arena.take(&draft->findings, 1);
        // Zeroed: column_counts, column_used, cell_intervals.
        arena.take(&draft->column_counts, draft->columns);
        arena.take(&draft->column_used, draft->columns);
        arena.take(&draft->cell_intervals, pool.cells);
        arena.take(&draft->places, points);
        arena.take(&draft->sorted, points);
        arena.take(&draft->sorted_weights, pool.weights ? points : 0);
        arena.take(&draft->entries, points); // at most one a point
        arena.take(&draft->entry_counts, intervals);
        arena.take(&draft->entry_starts, intervals + 1);
        arena.take(&draft->order, intervals);
        arena.take(&draft->bucket_intervals, intervals);
        arena.take(&draft->step_counts, draft->tiles);
        arena.take(&draft->step_starts, draft->tiles + 1);
        arena.take(&draft->column_starts, draft->columns + 1);
    };
    if (!arena_allocate(&draft->memory, layout, err))
        return false;
    size_t zeroed = (size_t)((char *)draft->cell_intervals - (char *)draft->memory);
    TRY_CUDA("v4", cudaMemsetAsync(draft->memory, 0, zeroed, 0));
    TRY_CUDA("v4", cudaMemsetAsync(draft->cell_intervals, 0xff, (size_t)pool.cells * sizeof(int),
                                   0)); // NO_CELL
    return true;
}

bool build_with(const BevProblem *problem, Draft *draft, V4Plan *plan, Err *err) {
    Pool pool = pool_of(problem);
    bool tiles = v4_tiles_possible(problem), worth_it = false;
    int device, major;
    TRY_CUDA("v4", cudaGetDevice(&device));
    TRY_CUDA("v4", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    plan->overlap = major >= 9;
    plan->frustums = frustums_of(problem->shape);
    if (!allocate_draft(pool, plan->frustums, tiles, draft, err))
        return false;
    if (pool.intervals)
        v4_cells_kernel<<<blocks_for(pool.intervals, 256), 256>>>(
            pool, piece_largest(problem->dtype, pool.channels), draft->cell_intervals,
            draft->findings);
    if (tiles)
        v4_places_kernel<<<blocks_for(pool.points, 256), 256>>>(pool, plan->frustums, draft->places,
                                                                draft->findings);
    Findings findings;
    if (!read_back(&findings, draft->findings, err))
        return false;
    tiles = tiles && !findings.irregular && findings.longest <= LONGEST_SORTED;
    if (tiles && !draft_tiles(pool, plan->frustums, draft, plan, &worth_it, err))
        return false;
    if (!worth_it) {
        cudaFree(plan->weights);
        plan->weights = NULL;
    }
    return worth_it ? build_tiles(problem, pool, *draft, plan, err)
                    : build_pieces(problem, pool, *draft, findings, plan, err);
}

// The depth, transposed: what a plan needs if it does that, which is known of a plan only.
size_t v4_workspace_bytes(const BevProblem *problem, const BevPlan *opaque) {
    const V4Plan *plan = (const V4Plan *)opaque;
    Frustums f = frustums_of(problem->shape);
    size_t columns = (size_t)f.cameras * (size_t)f.width * (size_t)f.slabs;
    size_t code_bytes = (size_t)bev_dtypes[problem->depth.dtype].bits / 8;
    return plan && !plan->transposed ? 0 : columns * (size_t)f.bins * SLAB * code_bytes;
}

bool v4_build(const BevProblem *problem, V4Plan *plan, Err *err) {
    Draft draft = {};
    bool ok = build_with(problem, &draft, plan, err) && cuda_ok(cudaGetLastError(), "v4", err) &&
              cuda_ok(cudaStreamSynchronize(0), "v4", err);
    cudaFree(draft.memory);
    return ok;
}

} // namespace
