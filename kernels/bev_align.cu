/* IDEA    BEV Align as published: bilinear splatting with atomics. A frustum point adds its product
 *         to the four lattice neighbours round it, each with its weight. Here for comparison: the
 *         other rungs pool bilinear maps too, but own their cells and need no atomics.
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
 * COST    4 * channels atomics per point. Per point and warp: depth, a record of four cells and
 *         four weights (40 bytes), one feature row.
 * LIMITS  Additions arrive in any order: the last bits may vary from run to run. Formats below
 *         FP32 add into an FP32 workspace, encoded inside the launch. The published kernel gets
 *         coordinates and works out cells and weights in every thread; a map holds the results
 *         already, so prepare only gathers each point's entries again, on the host.
 * TRY     Compare with `v3` on the same bilinear map: it reads four times the features and still
 *         has no queue at any address. Count atomics per point against `atomic` on a nearest map.
 */
#include "kernels/sums.cuh"

#include <stdlib.h>
#include <vector>

namespace {

constexpr int THREADS = 256, NEIGHBOURS = 4, NO_CELL = -1;

// A frustum point with up to four cells; the unused ones are NO_CELL.
struct alignas(8) Splat {
    int depth, feat;
    int cell[NEIGHBOURS];
    float weight[NEIGHBOURS];
};

struct Plan {
    Splat *splats;
    int64_t count;
    float *sums; // workspace, NULL for FP32
};

template <BevDtype D>
__global__ void bev_align_kernel(Pool pool, const Splat *splats, int64_t count, float *sums) {
    int c; // [0, channels)
    int64_t i = divide(thread_number(), pool.channels, &c);
    if (i >= count)
        return;
    const Splat &splat = splats[i];
    float d = Codec<D>::decode(((const DepthCode<D> *)pool.depth)[splat.depth]);
    float product = d * feat_at<D>(pool, splat.feat, c);
#pragma unroll
    for (int j = 0; j < NEIGHBOURS; j++)
        if (splat.cell[j] != NO_CELL)
            atomicAdd(sums + (int64_t)splat.cell[j] * pool.channels + c, product * splat.weight[j]);
}

// One of the map's arrays, copied to the host.
template <typename T> bool fetch(const T *device, std::vector<T> *host, Err *err) {
    TRY_CUDA("bev_align",
             cudaMemcpy(host->data(), device, host->size() * sizeof(T), cudaMemcpyDeviceToHost));
    return true;
}

// Entries of one point carry the same two ranks. Order them by ranks_depth (counting sort), then
// join neighbours of equal ranks, four at most.
bool gather_splats(const BevProblem *problem, std::vector<Splat> *splats, Err *err) {
    const BevMap *map = &problem->map;
    size_t points = (size_t)map->points;
    std::vector<int32_t> depth(points), feat(points), cell(points);
    std::vector<float> weight(points);
    if (!fetch(map->ranks_depth, &depth, err) || !fetch(map->ranks_feat, &feat, err) ||
        !fetch(map->ranks_bev, &cell, err) || !fetch(map->weights, &weight, err))
        return false;
    std::vector<size_t> next((size_t)problem->depth.row_len + 1), order(points);
    for (int32_t rank : depth)
        next[(size_t)rank + 1]++;
    for (size_t rank = 1; rank < next.size(); rank++)
        next[rank] += next[rank - 1];
    for (size_t t = 0; t < points; t++)
        order[next[(size_t)depth[t]]++] = t;
    int used = NEIGHBOURS;
    for (size_t t : order) {
        bool joins =
            used < NEIGHBOURS && splats->back().depth == depth[t] && splats->back().feat == feat[t];
        if (!joins) {
            splats->push_back({depth[t], feat[t], {NO_CELL, NO_CELL, NO_CELL, NO_CELL}, {}});
            used = 0;
        }
        splats->back().cell[used] = cell[t];
        splats->back().weight[used++] = weight[t];
    }
    return true;
}

void bev_align_release(BevPlan *opaque) {
    Plan *plan = (Plan *)opaque;
    if (plan) {
        cudaFree(plan->splats);
        cudaFree(plan->sums);
    }
    delete plan;
}

bool bev_align_build(const BevProblem *problem, Plan *plan, Err *err) {
    std::vector<Splat> splats;
    if (!gather_splats(problem, &splats, err))
        return false;
    plan->count = (int64_t)splats.size();
    size_t bytes = splats.size() * sizeof(Splat);
    if (!cuda_allocate((void **)&plan->splats, bytes, "bev_align", err))
        return false;
    TRY_CUDA("bev_align", cudaMemcpy(plan->splats, splats.data(), bytes, cudaMemcpyHostToDevice));
    return sums_allocate(problem, &plan->sums, "bev_align", err);
}

bool bev_align_prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return make_plan(problem, bev_align_build, bev_align_release, plan, err);
}

bool bev_align_launch(const BevProblem *problem, const BevPlan *opaque, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const Plan *plan = (const Plan *)opaque;
    if (!sums_clear(problem, plan->sums, "bev_align", stream, err))
        return false;
    Pool pool = pool_of(problem);
    int64_t threads = plan->count * pool.channels;
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        if (threads)
            bev_align_kernel<D><<<blocks_for(threads, THREADS), THREADS, 0, stream>>>(
                pool, plan->splats, plan->count, sums_of(problem, plan->sums));
        sums_encode<D>(pool, plan->sums, stream);
    });
    return cuda_ok(cudaGetLastError(), "bev_align", err);
}

const char *bev_align_unsupported(const BevProblem *problem) {
    return problem->map.weights ? channels_unsupported(problem) : "needs a map with weights";
}

// From shapes alone: all four neighbours inside the grid, which holds for nearly every point.
BevTraffic bev_align_bytes(const BevProblem *problem) {
    double entries = (double)problem->map.points, splats = entries / NEIGHBOURS;
    double channels = (double)problem->shape.channels;
    double warps = ceil(channels / WARP);
    BevTraffic traffic = {};
    traffic.feat = bytes_of(problem->dtype, splats * channels);
    traffic.depth = bytes_of(problem->depth.dtype, splats) * warps;
    traffic.index = splats * (8 + 4 * NEIGHBOURS) * warps;
    traffic.weight = splats * 4 * NEIGHBOURS * warps;
    traffic.atomics = entries * channels;
    sums_traffic(problem, traffic.atomics, &traffic);
    return traffic;
}

} // namespace

extern "C" const BevVariant bev_align_variant = {
    .name = "bev_align",
    .title = "ALIGN",
    .idea = "Bilinear splatting as published: four atomics a point and channel.",
    .where = BEV_CUDA,
    .dtypes = BEV_DENSE_DTYPES,
    .aligns = 1u << BEV_BILINEAR | 1u << BEV_LATTICE,
    .deterministic = false,
    .unsupported = bev_align_unsupported,
    .prepare = bev_align_prepare,
    .release = bev_align_release,
    .launch = bev_align_launch,
    .bytes = bev_align_bytes,
};
