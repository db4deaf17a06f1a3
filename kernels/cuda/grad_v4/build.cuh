// grad_v4's `prepare` on the host: columns where they serve, else points sorted by pixel.
#pragma once

#include "kernels/cuda/grad_owner.cuh"
#include "kernels/cuda/grad_v4/kernel.cuh"
#include "kernels/cuda/grad_v4/prepare.cuh"

#include <stdlib.h>

namespace {

constexpr char NAME[] = "grad_v4";
constexpr int POINTS_AN_ENTRY = 3; // fewer: an entry costs more than its points one by one

struct GradV4Plan {
    bool in_columns;
    int warps; // of a block
    ColumnMap map;
    PixelOrder order; // if not in columns
    void *entry_memory, *weights, *chunk_memory;
    ~GradV4Plan() {
        cudaFree(entry_memory);
        cudaFree(weights);
        cudaFree(chunk_memory);
    }
};

// What exists during `prepare` only.
struct Draft {
    void *memory;
    GradKeys keys;
    ColumnFindings *findings;
    int *heads; // [points + 1]
};

template <int WARPS> size_t shared_bytes(BevDtype dtype, int64_t channels) {
    size_t bytes = 0;
    with_grad_dtype(dtype, [&]<BevDtype D>() {
        bytes = channels == 80 ? ColumnShared<D, 80, WARPS>::bytes((int)channels)
                               : ColumnShared<D, 64, WARPS>::bytes((int)channels);
    });
    return bytes;
}

// The warps that a block can have, by the shared memory of this device; 0: not even 4, or a number
// of channels that needs the other form.
bool choose_warps(const BevProblem *problem, int *warps, Err *err) {
    int64_t channels = problem->shape.channels;
    int device, most;
    TRY_CUDA(NAME, cudaGetDevice(&device));
    TRY_CUDA(NAME, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    size_t limit = channels == 80 || channels % 64 == 0 ? (size_t)most : 0;
    *warps = shared_bytes<16>(problem->dtype, channels) <= limit  ? 16
             : shared_bytes<8>(problem->dtype, channels) <= limit ? 8
             : shared_bytes<4>(problem->dtype, channels) <= limit ? 4
                                                                  : 0;
    if (const char *forced = getenv("GRAD_V4_WARPS"))
        *warps = atoi(forced);
    return true;
}

bool columns_possible(const BevProblem *problem, const ColumnShape &s) {
    double places = (double)s.count() * s.bins * WARP;
    return problem->map.points > 0 && s.bins < 65536 && places < 2147483648.0;
}

bool sort_points(const BevProblem *problem, const ColumnShape &s, Draft *draft, Err *err) {
    Grad grad = grad_of(problem);
    int64_t cells = problem->shape.nx * problem->shape.ny;
    unsigned blocks = blocks_for(grad.points + 1, 256);
    auto layout = [&](GradArena &arena) {
        arena.take(&draft->keys.keys, grad.points);
        arena.take(&draft->keys.spare_keys, grad.points);
        arena.take(&draft->keys.points, grad.points);
        arena.take(&draft->keys.spare_points, grad.points);
        arena.take(&draft->heads, grad.points + 1);
        arena.take(&draft->findings, 1);
    };
    if (!grad_allocate(&draft->memory, NAME, layout, err))
        return false;
    TRY_CUDA(NAME, cudaMemsetAsync(draft->findings, 0, sizeof *draft->findings, 0));
    v4_point_keys_kernel<<<blocks, 256>>>(grad, s, cells, draft->keys, draft->findings);
    if (!grad_sort(&draft->keys, grad.points, (uint64_t)(s.count() * s.bins * cells) * WARP, NAME,
                   err))
        return false;
    v4_heads_kernel<<<blocks, 256>>>(draft->keys.keys, grad.points, draft->heads);
    return grad_scan(draft->heads, grad.points + 1, NAME, err);
}

bool build_entries(const BevProblem *problem, const Draft &draft, int entries, ChunkArrays *arrays,
                   GradV4Plan *plan, Err *err) {
    Grad grad = grad_of(problem);
    const ColumnShape &s = plan->map.shape;
    int64_t cells = problem->shape.nx * problem->shape.ny, columns = s.count();
    int *starts, *entry_cells;
    auto layout = [&](GradArena &arena) {
        arena.take(&arrays->entries, entries);
        arena.take(&entry_cells, entries);
        arena.take(&starts, columns + 1);
        arena.take(&arrays->counts, columns + 1);
    };
    if (!grad_allocate(&plan->entry_memory, NAME, layout, err))
        return false;
    if (grad.weights) {
        size_t bytes = (size_t)entries * WARP * sizeof(float);
        if (!cuda_allocate(&plan->weights, bytes, NAME, err))
            return false;
        TRY_CUDA(NAME, cudaMemsetAsync(plan->weights, 0, bytes, 0));
    }
    TRY_CUDA(NAME, cudaMemsetAsync(arrays->counts, 0, (size_t)(columns + 1) * sizeof(int), 0));
    v4_entries_kernel<<<blocks_for(grad.points, 256), 256>>>(grad, s, cells, draft.keys, draft.heads,
                                                             arrays->entries, entry_cells,
                                                             (float *)plan->weights);
    v4_column_entries_kernel<<<blocks_for(columns + 1, 256), 256>>>(
        s, cells, draft.keys.keys, grad.points, draft.heads, starts);
    arrays->entry_starts = starts, arrays->entry_cells = entry_cells;
    return true;
}

// False in *fits where a bin has too many cells.
bool build_chunks(ChunkArrays arrays, const Draft &draft, GradV4Plan *plan, bool *fits, Err *err) {
    const ColumnShape &s = plan->map.shape;
    int64_t columns = s.count();
    unsigned blocks = blocks_for(columns * WARP, 128);
    ColumnFindings findings;
    int chunks;
    v4_chunks_kernel<<<blocks, 128>>>(s, arrays, draft.findings);
    if (!grad_read(&findings, draft.findings, NAME, err) ||
        !grad_scan(arrays.counts, columns + 1, NAME, err) ||
        !grad_read(&chunks, arrays.counts + columns, NAME, err))
        return false;
    *fits = !findings.crowded;
    if (!*fits)
        return true;
    auto layout = [&](GradArena &arena) {
        arena.take(&arrays.chunks, chunks);
        arena.take(&arrays.cells, (int64_t)chunks * CHUNK_CELLS);
    };
    if (!grad_allocate(&plan->chunk_memory, NAME, layout, err))
        return false;
    v4_chunks_kernel<<<blocks, 128>>>(s, arrays, draft.findings);
    plan->map = {s,           arrays.counts,  arrays.chunks,
                 arrays.cells, arrays.entries, (const float *)plan->weights};
    return true;
}

bool build_columns(const BevProblem *problem, Draft *draft, GradV4Plan *plan, Err *err) {
    ColumnFindings findings;
    ChunkArrays arrays = {};
    int entries;
    plan->in_columns = false;
    if (!choose_warps(problem, &plan->warps, err))
        return false;
    if (!plan->warps || !columns_possible(problem, plan->map.shape))
        return true;
    if (!sort_points(problem, plan->map.shape, draft, err) ||
        !grad_read(&findings, draft->findings, NAME, err) ||
        !grad_read(&entries, draft->heads + problem->map.points, NAME, err))
        return false;
    if (findings.irregular || problem->map.points < (int64_t)POINTS_AN_ENTRY * entries)
        return true;
    return build_entries(problem, *draft, entries, &arrays, plan, err) &&
           build_chunks(arrays, *draft, plan, &plan->in_columns, err);
}

bool grad_v4_build(const BevProblem *problem, GradV4Plan *plan, Err *err) {
    Draft draft = {};
    plan->map.shape = column_shape(problem->shape);
    bool ok = build_columns(problem, &draft, plan, err) &&
              cuda_ok(cudaGetLastError(), NAME, err) &&
              cuda_ok(cudaStreamSynchronize(0), NAME, err);
    cudaFree(draft.memory);
    if (ok && !plan->in_columns)
        ok = regular_order_build<NAME>(problem, &plan->order, err);
    return ok;
}

} // namespace
