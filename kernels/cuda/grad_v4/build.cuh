/* SPDX-License-Identifier: MIT */
// grad_v4's `prepare` on the host. It makes columns if columns are faster, else it sorts the
// points.
#pragma once

#include "kernels/cuda/grad_v4/kernel.cuh"
#include "kernels/cuda/grad_v4/moving.cuh"
#include "kernels/cuda/v4/overlap.cuh"

namespace {

constexpr char NAME[] = "grad_v4";
constexpr int POINTS_AN_ENTRY = 3; // fewer: an entry costs more than its points one by one
constexpr int POINTS_A_CHUNK = 24; // fewer points a chunk: the same; all columns have equally many
                                   // chunks

struct GradV4Plan {
    bool in_columns, overlap; // overlap: the build knows programmatic dependent launches
    int warps, columns;       // warps of a column, columns of a block; 0 warps: no block fits
    ColumnMap map;
    PixelOrder order;     // used if not in_columns
    bool moves, weighted; // the map is made again on the stream, in memory of the caller's
    BevMoving moving;
    void *memory; // holds the arrays of `map`
    ~GradV4Plan() {
        cudaFree(memory);
    }
};

// Arrays that exist only during `prepare`.
struct Draft {
    void *memory, *entry_memory;
    GradKeys keys;
    EntryArrays entries;
    ColumnFindings *findings;
    int *heads; // [points + 1]
};

template <int WARPS> size_t shared_bytes(const BevProblem *problem, int columns) {
    const BevShape &s = problem->shape;
    size_t bytes = 0;
    with_unscaled_dtype(problem->dtype, [&]<BevDtype D>() {
        bytes = s.channels == 80
                    ? ColumnShared<D, 80, WARPS>::bytes(columns, (int)s.channels, s.depth_bins)
                    : ColumnShared<D, 64, WARPS>::bytes(columns, (int)s.channels, s.depth_bins);
    });
    return bytes;
}

struct BlockShape {
    int columns, warps; // warps of a column
};

// Chooses the columns of a block and the warps of a column. Few columns keep all multiprocessors
// busy only if a block has one of them. Blocks of many columns load neighbouring depths together.
// FP32 takes more warps, since its products take longer. The last two shapes are for devices with
// less shared memory, or for long rows.
bool choose_block(const BevProblem *problem, GradV4Plan *plan, Err *err) {
    int64_t channels = problem->shape.channels, count = plan->map.shape.count();
    const bool fp32 = problem->dtype == BEV_FP32;
    int most, multiprocessors;
    if (!device_fact(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most, NAME, err) ||
        !device_fact(cudaDevAttrMultiProcessorCount, &multiprocessors, NAME, err))
        return false;
    const bool few = count <= 2 * multiprocessors, many = count >= 4 * multiprocessors;
    const BlockShape one = {1, 16}, two = {2, fp32 ? 8 : 4}, four = {4, 4};
    const BlockShape wanted[] = {few ? one : many && !fp32 ? four : two, two, {1, 8}, {1, 4}};
    plan->warps = 0;
    if (channels != 80 && channels % 64)
        return true;
    for (BlockShape block : wanted) {
        size_t bytes = block.warps == 16  ? shared_bytes<16>(problem, block.columns)
                       : block.warps == 8 ? shared_bytes<8>(problem, block.columns)
                                          : shared_bytes<4>(problem, block.columns);
        if (bytes > (size_t)most)
            continue;
        plan->warps = block.warps, plan->columns = block.columns;
        break;
    }
    return true;
}

bool columns_possible(const BevProblem *problem, const ColumnShape &s) {
    double places = (double)s.count() * s.bins * WARP;
    return problem->map.points > 0 && s.cameras * (int64_t)s.slabs < 65536 && places < 2147483648.0;
}

// Sorts the points by column, bin and cell, and numbers the entries (draft->heads).
bool sort_points(const BevProblem *problem, const ColumnShape &s, Draft *draft, Err *err) {
    Grad grad = grad_of(problem);
    int64_t cells = problem->shape.nx * problem->shape.ny;
    unsigned blocks = blocks_for(grad.points + 1, 256);
    auto layout = [&](Arena &arena) {
        arena.take(&draft->keys.keys, grad.points);
        arena.take(&draft->keys.spare_keys, grad.points);
        arena.take(&draft->keys.points, grad.points);
        arena.take(&draft->keys.spare_points, grad.points);
        arena.take(&draft->heads, grad.points + 1);
        arena.take(&draft->findings, 1);
    };
    if (!arena_allocate(&draft->memory, NAME, layout, err))
        return false;
    TRY_CUDA(NAME, cudaMemsetAsync(draft->findings, 0, sizeof *draft->findings, 0));
    v4_point_keys_kernel<<<blocks, 256>>>(grad, s, cells, draft->keys, draft->findings);
    if (!grad_sort(&draft->keys, grad.points, (uint64_t)(s.count() * s.bins * cells) * WARP, NAME,
                   err))
        return false;
    v4_heads_kernel<<<blocks, 256>>>(draft->keys.keys, grad.points, draft->heads);
    return grad_scan(draft->heads, grad.points + 1, NAME, err);
}

// Makes the entries of all columns from the sorted points.
bool build_entries(const BevProblem *problem, Draft *draft, int entries, GradV4Plan *plan,
                   Err *err) {
    Grad grad = grad_of(problem);
    const ColumnShape &s = plan->map.shape;
    int64_t cells = problem->shape.nx * problem->shape.ny, columns = s.count();
    auto layout = [&](Arena &arena) {
        arena.take(&draft->entries.pixels, entries);
        arena.take(&draft->entries.bins, entries);
        arena.take(&draft->entries.cells, entries);
        arena.take(&draft->entries.starts, columns + 1);
        arena.take(&draft->entries.weights, grad.weights ? (int64_t)entries * WARP : 0);
    };
    if (!arena_allocate(&draft->entry_memory, NAME, layout, err))
        return false;
    v4_entries_kernel<<<blocks_for(grad.points, 256), 256>>>(grad, s, cells, draft->keys,
                                                             draft->heads, draft->entries);
    v4_column_entries_kernel<<<blocks_for(columns + 1, 256), 256>>>(
        s, cells, draft->keys.keys, grad.points, draft->heads, draft->entries.starts);
    return true;
}

// The arrays of the map, with no slot and no weight yet.
bool allocate_map(const ColumnShape &s, bool weighted, ChunkArrays *out, GradV4Plan *plan,
                  Err *err) {
    int64_t columns = s.count(), chunks = columns * out->column_chunks;
    size_t slots = (size_t)chunks * out->layers * WARP * sizeof(uint4);
    int64_t weights = weighted ? columns * s.bins * WARP * WEIGHTED_LAYERS : 0;
    auto layout = [&](Arena &arena) {
        arena.take(&out->counts, columns);
        arena.take(&out->chunks, chunks);
        arena.take(&out->cells, chunks * CHUNK_CELLS);
        arena.take(&out->slots, (int64_t)slots);
        arena.take(&out->weights, weights);
    };
    if (!arena_allocate(&plan->memory, NAME, layout, err))
        return false;
    TRY_CUDA(NAME, cudaMemsetAsync(out->chunks, 0, (size_t)chunks * sizeof(Chunk), 0)); // no bins
    TRY_CUDA(NAME, cudaMemsetAsync(out->slots, NO_SLOT, slots, 0));
    size_t cells = (size_t)chunks * CHUNK_CELLS * sizeof *out->cells;
    TRY_CUDA(NAME, cudaMemsetAsync(out->cells, 0xff, cells, 0)); // NO_CELL
    if (weighted)
        TRY_CUDA(NAME, cudaMemsetAsync(out->weights, 0, (size_t)weights * sizeof(float), 0));
    return true;
}

// Sets *fits to false if a bin has too many cells or points, or if chunks would be nearly empty.
bool build_chunks(const BevProblem *problem, const Draft &draft, GradV4Plan *plan, bool *fits,
                  Err *err) {
    const ColumnShape &s = plan->map.shape;
    unsigned blocks = blocks_for(s.count() * WARP, 128);
    ColumnFindings findings;
    ChunkArrays out = {};
    v4_chunks_kernel<<<blocks, 128>>>(s, draft.entries, out, draft.findings);
    if (!read_back(&findings, draft.findings, NAME, err))
        return false;
    int64_t chunks = s.count() * findings.column_chunks;
    bool weighted = problem->map.weights || findings.layers > 1;
    *fits = !findings.crowded && findings.layers <= WEIGHTED_LAYERS && chunks < INT32_MAX &&
            problem->map.points >= (int64_t)POINTS_A_CHUNK * chunks;
    if (!*fits)
        return true;
    out.column_chunks = findings.column_chunks;
    out.layers = weighted ? WEIGHTED_LAYERS : 1;
    if (!allocate_map(s, weighted, &out, plan, err))
        return false;
    v4_chunks_kernel<<<blocks, 128>>>(s, draft.entries, out, draft.findings);
    plan->map = {s,
                 out.column_chunks,
                 out.counts,
                 out.chunks,
                 out.cells,
                 (const uint4 *)out.slots,
                 (const float4 *)out.weights};
    return true;
}

bool build_columns(const BevProblem *problem, Draft *draft, GradV4Plan *plan, Err *err) {
    ColumnFindings findings;
    int entries;
    plan->in_columns = false;
    if (!choose_block(problem, plan, err))
        return false;
    if (!plan->warps || !columns_possible(problem, plan->map.shape))
        return true;
    if (!sort_points(problem, plan->map.shape, draft, err) ||
        !read_back(&findings, draft->findings, NAME, err) ||
        !read_back(&entries, draft->heads + problem->map.points, NAME, err))
        return false;
    if (findings.irregular || problem->map.points < (int64_t)POINTS_AN_ENTRY * entries)
        return true;
    return build_entries(problem, draft, entries, plan, err) &&
           build_chunks(problem, *draft, plan, &plan->in_columns, err);
}

// The plan for cameras that move: the shape of blocks; an update makes the map.
bool build_moving(const BevProblem *problem, GradV4Plan *plan, Err *err) {
    if (!choose_block(problem, plan, err))
        return false;
    if (!plan->warps || !columns_possible(problem, plan->map.shape))
        return err_set(err, ERR_USAGE, NAME, "take 80 channels or a multiple of 64",
                       "cannot follow moving cameras with %d channels",
                       (int)problem->shape.channels);
    plan->in_columns = plan->moves = true;
    plan->moving = *problem->map.moving;
    plan->weighted = plan->moving.align != BEV_NEAREST;
    return true;
}

size_t grad_v4_map_bytes(const BevProblem *, const BevPlan *opaque) {
    const GradV4Plan *plan = (const GradV4Plan *)opaque;
    size_t bytes;
    moving_columns(plan->map.shape, &plan->moving, NULL, &bytes);
    return bytes;
}

bool grad_v4_update(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    const GradV4Plan *plan = (const GradV4Plan *)opaque;
    const ColumnShape &s = plan->map.shape;
    cudaStream_t stream = (cudaStream_t)stream_;
    MovingColumns map = moving_columns(s, &plan->moving, problem->map.memory);
    MovingFrame frame = moving_frame(&plan->moving, map.flags);
    with_flag(plan->weighted, [&]<bool W>() {
        v4_moving_columns_kernel<W>
            <<<blocks_for(s.count() * WARP, 128), 128, 0, stream>>>(frame, map);
    });
    return cuda_ok(cudaGetLastError(), NAME, err);
}

bool grad_v4_build(const BevProblem *problem, GradV4Plan *plan, Err *err) {
    Draft draft = {};
    plan->map.shape = column_shape(problem->shape);
    if (!knows_overlap((const void *)v4_heads_kernel, NAME, &plan->overlap, err))
        return false;
    if (problem->map.moving)
        return build_moving(problem, plan, err);
    bool ok = build_columns(problem, &draft, plan, err) && cuda_ok(cudaGetLastError(), NAME, err);
    cuda_free_pooled(draft.memory);
    cuda_free_pooled(draft.entry_memory);
    cudaError_t done = cudaStreamSynchronize(0);
    ok = ok && cuda_ok(done, NAME, err);
    if (ok && !plan->in_columns)
        ok = make_regular_order<NAME>(problem, &plan->order, err);
    return ok;
}

} // namespace
