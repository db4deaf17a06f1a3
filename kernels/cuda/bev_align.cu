/* SPDX-License-Identifier: MIT */
/* IDEA    BEV Align as published: bilinear splatting with atomics. A frustum point adds its product
 *         to the four lattice neighbours round it, each with its weight. Here for comparison: the
 *         other kernels pool bilinear maps too, but own their cells and need no atomics.
 * WHO     Thread i owns channel c = i % channels of frustum point i / channels, and scatters:
 *
 *             cell (x0, y1)  <- (x1-x)(y-y0) --.     .-- (x-x0)(y-y0) ->  cell (x1, y1)
 *                                               point
 *             cell (x0, y0)  <- (x1-x)(y1-y) --'     '-- (x-x0)(y1-y) ->  cell (x1, y0)
 *
 *         Neighbours outside the grid are dropped.
 * MEMORY  Features are read once per point, not four times as an interval owner does; in exchange
 *         the four sums are read and written in L2 by atomics. Lanes hold neighbouring channels, so
 *         all accesses coalesce.
 * COST    4 * channels atomics per point. Per point and warp: depth, a record of two ranks, four
 *         cells and four weights (40 bytes), one feature row.
 * LIMITS  Additions arrive in any order: the last bits may vary from run to run. Formats below
 *         FP32 add into an FP32 workspace, encoded inside the launch. The published kernel gets
 *         coordinates and works out cells and weights in every thread; a map holds the results
 *         already, so prepare only gathers each point's entries again, by a sort.
 * TRY     Compare with `v3` on the same bilinear map: it reads four times the features and still
 *         has no queue at any address. Count atomics a point against `atomic` on a nearest map. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/sums.cuh"

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace {

constexpr int THREADS = 256, NEIGHBOURS = BEV_SPLAT_CELLS, NO_CELL = -1;

// A frustum point with up to four cells; unused places are NO_CELL.
struct alignas(8) Splat {
    int depth, feat;
    int cell[NEIGHBOURS];
    float weight[NEIGHBOURS];
};

struct Plan {
    Splat *splats;
    int64_t count;
    ~Plan() {
        cudaFree(splats);
    }
};

template <BevDtype D>
__global__ void bev_align_kernel(Pool pool, const Splat *splats, int64_t count, float *sums) {
    int c; // [0, channels)
    int64_t i = divide(thread_number(), pool.channels, &c);
    if (i >= count)
        return;
    const Splat &splat = splats[i];
    float d = Codec<DEPTH_OF<D>>::decode(((const DepthCode<D> *)pool.depth)[splat.depth]);
    float product = d * feat_at<D>(pool, splat.feat, c);
#pragma unroll
    for (int j = 0; j < NEIGHBOURS; j++)
        if (splat.cell[j] != NO_CELL)
            atomicAdd(sums + (int64_t)splat.cell[j] * pool.channels + c, product * splat.weight[j]);
}

// ---- prepare: entries back to points ------------------------------------------------------------

// A frustum point has up to four entries in the map, with equal ranks. Entries are sorted by
// ranks_depth; entries of one rank keep the map's order. Then neighbours of equal ranks become one
// splat.
struct Gather {
    int64_t entries;
    int *numbers;        // [entries]: 0, 1, 2 ...
    int *depths, *order; // [entries]: sorted ranks_depth, and the entry of each
    int *splats;         // [entries]: 1 where a splat begins; later the sums of these
};

__global__ void number_kernel(Gather gather) {
    int64_t i = thread_number(); // [0, entries)
    if (i < gather.entries)
        gather.numbers[i] = (int)i;
}

// Returns whether the sorted entries i and i - 1 have equal ranks.
__device__ bool has_ranks_of_last(const Pool &pool, const Gather &gather, int64_t i) {
    return i > 0 && gather.depths[i] == gather.depths[i - 1] &&
           pool.ranks_feat[gather.order[i]] == pool.ranks_feat[gather.order[i - 1]];
}

__global__ void mark_splats_kernel(Pool pool, Gather gather) {
    int64_t i = thread_number(), first = i; // [0, entries)
    if (i >= gather.entries)
        return;
    while (has_ranks_of_last(pool, gather, first))
        first--;
    gather.splats[i] = (i - first) % NEIGHBOURS == 0;
}

// Thread i writes a splat if the sorted entry i is the splat's first one.
__global__ void write_splats_kernel(Pool pool, Gather gather, Splat *splats) {
    int64_t i = thread_number(); // [0, entries)
    if (i >= gather.entries || (i > 0 && gather.splats[i] == gather.splats[i - 1]))
        return;
    Splat splat = {gather.depths[i], pool.ranks_feat[gather.order[i]], {}, {}};
    for (int j = 0; j < NEIGHBOURS; j++) {
        bool mine = i + j < gather.entries && gather.splats[i + j] == gather.splats[i];
        int entry = mine ? gather.order[i + j] : 0;
        splat.cell[j] = mine ? pool.ranks_bev[entry] : NO_CELL;
        splat.weight[j] = mine ? pool.weights[entry] : 0;
    }
    splats[gather.splats[i] - 1] = splat;
}

bool gather_splats(const BevProblem *problem, const Gather &g, Plan *plan, Err *err) {
    Pool pool = pool_of(problem);
    unsigned blocks = blocks_for(g.entries, THREADS);
    int count = 0;
    number_kernel<<<blocks, THREADS>>>(g);
    auto sort = [&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, pool.ranks_depth, g.depths, g.numbers,
                                               g.order, g.entries, 0,
                                               std::bit_width((uint64_t)problem->depth.row_len));
    };
    if (!run_cub("bev_align", err, sort))
        return false;
    mark_splats_kernel<<<blocks, THREADS>>>(pool, g);
    auto number = [&](void *memory, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, g.splats, g.splats, g.entries);
    };
    if (!run_cub("bev_align", err, number) ||
        !read_back(&count, g.splats + g.entries - 1, "bev_align", err) ||
        !cuda_allocate((void **)&plan->splats, (size_t)count * sizeof(Splat), "bev_align", err))
        return false;
    plan->count = count;
    write_splats_kernel<<<blocks, THREADS>>>(pool, g, plan->splats);
    TRY_CUDA("bev_align", cudaGetLastError());
    TRY_CUDA("bev_align", cudaStreamSynchronize(NULL));
    return true;
}

bool bev_align_build(const BevProblem *problem, Plan *plan, Err *err) {
    Pooled draft;
    Gather gather = {};
    gather.entries = problem->map.points;
    auto layout = [&](Arena &arena) {
        arena.take(&gather.numbers, gather.entries);
        arena.take(&gather.depths, gather.entries);
        arena.take(&gather.order, gather.entries);
        arena.take(&gather.splats, gather.entries);
    };
    return !gather.entries || (arena_allocate(&draft.memory, "bev_align", layout, err) &&
                               gather_splats(problem, gather, plan, err));
}

bool bev_align_launch(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const Plan *plan = (const Plan *)opaque;
    if (!sums_clear(problem, "bev_align", stream, err))
        return false;
    Pool pool = pool_of(problem);
    int64_t threads = plan->count * pool.channels;
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        if (threads)
            bev_align_kernel<D><<<blocks_for(threads, THREADS), THREADS, 0, stream>>>(
                pool, plan->splats, plan->count, sums_of(problem));
        sums_encode<D>(pool, sums_of(problem), stream);
    });
    return cuda_ok(cudaGetLastError(), "bev_align", err);
}

} // namespace
#endif

/* clang-format off */
CUDA_ROW(bev_align) = {
    .name = "bev_align", .title = "ALIGN",
    .idea = "Bilinear splatting as published: four atomics a point and channel.",
    .where = BEV_CUDA, .dtypes = BEV_DENSE_DTYPES, .aligns = 1u << BEV_BILINEAR | 1u << BEV_LATTICE,
    .access = {.owner = BEV_OWNS_SPLAT, .sums = BEV_SUMS_ATOMIC, .tile = 1, .block = 256,
               .resident = 64, .load = 1, .store = 1, .ranks = 6, .indices_ahead = 1,
               .in_flight = 1, .point_instructions = 60},
    .prepare = ON_CUDA(make_plan<Plan, bev_align_build>),
    .release = ON_CUDA(release_plan<Plan>), .workspace_bytes = ON_CUDA(sums_bytes),
    .launch = ON_CUDA(bev_align_launch),
};
/* clang-format on */
