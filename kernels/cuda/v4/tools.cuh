/* SPDX-License-Identifier: MIT */
// Tools of V4's `prepare`: prefix sums, a stable partition, and sorts of many short lists.
#pragma once

#include "kernels/cuda/common.cuh"

// ---- counting ----------------------------------------------------------------------------------

// Each lane that `takes` part adds `one`, 1 or -1, to counts[index]. Lanes of one index need one
// atomic. Returns the count before this lane's addition, in the order of lanes. All lanes of the
// warp call this function.
static __device__ int warp_add(int *counts, int index, bool takes, int one) {
    unsigned same = __match_any_sync(~0u, takes ? index : -1);
    int lane = (int)threadIdx.x % WARP, leader = __ffs(same) - 1, before = 0;
    if (takes && lane == leader)
        before = atomicAdd(&counts[index], one * __popc(same));
    return __shfl_sync(~0u, before, leader) + one * __popc(same & ((1u << lane) - 1));
}

// ---- prefix sums and a partition ---------------------------------------------------------------

// Each block sums again all elements before its own part, so that no block waits for another block.
// This is faster than waiting as long as there are few parts.
constexpr int TOOL_THREADS = 1024, EACH = 8, ROUND = EACH * TOOL_THREADS, MOST_PARTS = 64;

// Returns the elements of a part of n, in whole rounds.
static inline int part_length(int n) {
    return ROUND * (int)blocks_for(max(n, 1), (int64_t)ROUND * MOST_PARTS);
}

// Returns the exclusive prefix sum of the block's values; *total receives their sum.
static __device__ int block_prefix(int value, int *total) {
    __shared__ int warp_sums[TOOL_THREADS / WARP];
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        int below = __shfl_up_sync(~0u, sum, step);
        sum += lane >= step ? below : 0;
    }
    __syncthreads(); // the previous call has read warp_sums
    if (lane == WARP - 1)
        warp_sums[warp] = sum;
    __syncthreads();
    int others = warp_sums[lane], before = __reduce_add_sync(~0u, lane < warp ? others : 0);
    *total = __reduce_add_sync(~0u, others);
    return before + sum - value;
}

// Sets starts[i] to the sum of counts[order[k]] for all k before i, for i in [0, n], and *sum to
// the sum of all. `order` and `sum` may be NULL.
struct Scan {
    const int *counts, *order;
    int n, part, *starts, *sum;

    unsigned blocks() const {
        return blocks_for(max(n, 1), part);
    }
    // Each block does a part.
    __device__ void run(int block, int blocks) const;
};

__device__ inline void Scan::run(int block, int blocks) const {
    auto count = [&](int i) { return i < n ? counts[order ? order[i] : i] : 0; };
    int first = block * part, end = min(n, first + part), mine = 0, before, total;
    for (int i = (int)threadIdx.x; order && i < first; i += TOOL_THREADS)
        mine += count(i);
    for (int i = (int)threadIdx.x; !order && i < first / 4; i += TOOL_THREADS) {
        int4 four = ((const int4 *)counts)[i]; // arrays of an arena begin on 256 bytes
        mine += four.x + four.y + four.z + four.w;
    }
    block_prefix(mine, &before);
    for (int base = first + (int)threadIdx.x * EACH; first < end; first += ROUND, base += ROUND) {
        int values[EACH];
        mine = 0;
        for (int j = 0; j < EACH; j++)
            mine += values[j] = count(base + j);
        int at = before + block_prefix(mine, &total);
        for (int j = 0; j < EACH && base + j < n; j++) {
            starts[base + j] = at;
            at += values[j];
        }
        before += total;
    }
    if (block == blocks - 1 && threadIdx.x == 0) {
        starts[n] = before;
        if (sum)
            *sum = before;
    }
}

static inline Scan scan_of(const int *counts, const int *order, int n, int *starts, int *sum) {
    return {counts, order, n, part_length(n), starts, sum};
}

static __global__ void __launch_bounds__(TOOL_THREADS)
    v4_scan_kernel(const __grid_constant__ Scan scan) {
    scan.run((int)blockIdx.x, (int)gridDim.x);
}

// Enqueues v4_scan_kernel: exclusive prefix sums of n counts.
static inline void scan(const int *counts, const int *order, int n, int *starts, int *sum,
                        cudaStream_t stream = 0) {
    Scan work = scan_of(counts, order, n, starts, sum);
    v4_scan_kernel<<<work.blocks(), TOOL_THREADS, 0, stream>>>(work);
}

// A stable partition of [0, n) into bins.
template <typename Sort> struct Partition {
    int bins, n, part;
    Sort sort;

    unsigned blocks() const {
        return bins * blocks_for(n, part);
    }
    // Each block calls sort.put(bin, rank, i) for each i of a part with sort.bin(i) == bin. `rank`
    // counts the elements of the bin in order.
    __device__ void run(int block) const {
        int bin = block % bins, first = block / bins * part, end = min(n, first + part);
        int mine = 0, before, total;
        for (int i = (int)threadIdx.x; i < first; i += TOOL_THREADS)
            mine += sort.bin(i) == bin;
        block_prefix(mine, &before);
        for (int base = first; base < end; base += TOOL_THREADS) {
            int i = base + (int)threadIdx.x;
            bool here = i < end && sort.bin(i) == bin;
            int rank = before + block_prefix(here, &total);
            if (here)
                sort.put(bin, rank, i);
            before += total;
        }
    }
};

// The first blocks do the scan, if there is one, and the others the partition.
template <typename Sort>
__global__ void __launch_bounds__(TOOL_THREADS)
    v4_partition_kernel(const __grid_constant__ Scan scan, int scanners,
                        const __grid_constant__ Partition<Sort> partition) {
    int block = (int)blockIdx.x - scanners;
    if (block < 0)
        scan.run((int)blockIdx.x, scanners);
    else
        partition.run(block);
}

// Enqueues v4_partition_kernel. `scan`: one that may run at the same time, or NULL.
template <typename Sort>
static inline void partition(int bins, int n, const Sort &sort, cudaStream_t stream = 0,
                             const Scan *scan = NULL) {
    Partition<Sort> work = {bins, n, part_length(n), sort};
    unsigned scanners = scan ? scan->blocks() : 0;
    if (scanners + work.blocks())
        v4_partition_kernel<<<scanners + work.blocks(), TOOL_THREADS, 0, stream>>>(
            scan ? *scan : Scan{}, (int)scanners, work);
}

// ---- many short lists, sorted ------------------------------------------------------------------

constexpr int SORT_WARPS = 8, SORT_THREADS = SORT_WARPS * WARP;
constexpr int BLOCK_KEYS = 4096;                   // most keys that a block sorts in shared memory,
constexpr int WARP_KEYS = BLOCK_KEYS / SORT_WARPS; // and a warp in its share of it

// The threads that sort a list together: a warp, or the block.
struct Team {
    int thread, threads;
    int *word; // a word of this team in shared memory

    __device__ void wait() const {
        if (threads == WARP)
            __syncwarp();
        else
            __syncthreads();
    }
    __device__ bool any(bool mine) const {
        wait();
        return threads == WARP ? __any_sync(~0u, mine) : __syncthreads_or(mine);
    }
    // Returns the value of thread 0 to all threads.
    __device__ int from_first(int value) const {
        if (thread == 0)
            *word = value;
        wait();
        return *word;
    }
};

static __device__ void put_in_order(uint64_t *keys, int i, int j) {
    uint64_t a = keys[i], b = keys[j];
    if (a > b) {
        keys[i] = b;
        keys[j] = a;
    }
}

// Sorts n keys by bitonic merges. Sorted runs of `half` keys merge two by two. The first step of a
// merge mirrors: it compares key i of the lower run with key i of the upper run from its end. The
// others compare keys at half the distance of the step before. Of a pair the smaller key goes down,
// so keys from n on, which would be the largest, would never move: they need not exist.
static __device__ void sort_keys(uint64_t *keys, int n, const Team &team) {
    int pairs = 1; // half the power of two that n fits
    while (2 * pairs < n)
        pairs *= 2;
    team.wait();
    for (int half = 1; half < n; half *= 2)
        for (int distance = half; distance >= 1; distance /= 2) {
            for (int pair = team.thread; pair < pairs; pair += team.threads) {
                int i = pair & (distance - 1), run = 2 * (pair - i);
                int low = run + i, mirrored = run + 2 * half - 1 - i;
                int high = distance == half ? mirrored : low + distance;
                if (high < n)
                    put_in_order(keys, low, high);
            }
            team.wait();
        }
}

// Each warp takes a list and calls lists.work(team, number, keys, n) with room for n keys. The
// block takes lists too long for a warp, and all lists if they are few and long. Lists too long for
// shared memory get the keys lists.room(number).
template <typename Lists>
__global__ void __launch_bounds__(SORT_THREADS, 4)
    v4_sort_kernel(int count, const __grid_constant__ Lists lists) {
    __shared__ uint64_t shared[BLOCK_KEYS];
    __shared__ int words[SORT_WARPS];
    constexpr int LISTS = Lists::FEW_AND_LONG ? 1 : SORT_WARPS; // of a block
    constexpr int SHORT = Lists::FEW_AND_LONG ? -1 : WARP_KEYS; // for a warp
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    int first = (int)blockIdx.x * LISTS, number = first + warp;
    int n = warp < LISTS && number < count ? lists.size(number) : 0;
    if (number < count && n <= SHORT)
        lists.work({lane, WARP, words + warp}, number, shared + warp * WARP_KEYS, n);
    if (!__syncthreads_or(n > SHORT))
        return;
    for (number = first; number < min(count, first + LISTS); number++) {
        n = lists.size(number);
        if (n > SHORT)
            lists.work({(int)threadIdx.x, SORT_THREADS, words}, number,
                       n <= BLOCK_KEYS ? shared : lists.room(number), n);
        __syncthreads();
    }
}

template <typename Lists>
static inline void sort_lists(int count, const Lists &lists, cudaStream_t stream = 0) {
    unsigned blocks = Lists::FEW_AND_LONG ? count : blocks_for(count, SORT_WARPS);
    v4_sort_kernel<<<blocks, SORT_THREADS, 0, stream>>>(count, lists);
}
