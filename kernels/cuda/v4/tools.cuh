// Tools of V4's `prepare`: memory, prefix sums, a stable partition, and sorts of many short lists.
#pragma once

#include "kernels/cuda/common.cuh"

// ---- memory: many arrays from one allocation ---------------------------------------------------

// Lays out many arrays in one allocation. With base NULL it only counts their bytes in `used`.
struct Arena {
    char *base;
    size_t used;

    template <typename T> void take(T **array, int64_t count) {
        *array = base ? (T *)(base + used) : NULL;
        used += ((size_t)count * sizeof(T) + 255) / 256 * 256;
    }
};

template <typename Layout>
static inline bool arena_allocate(void **memory, Layout layout, Err *err) {
    Arena arena = {};
    layout(arena);
    if (!cuda_allocate_pooled(memory, arena.used, "v4", err))
        return false;
    arena = {(char *)*memory, 0};
    layout(arena);
    return true;
}

template <typename T> static inline bool read_back(T *value, const T *device, Err *err) {
    TRY_CUDA("v4", cudaMemcpy(value, device, sizeof *value, cudaMemcpyDeviceToHost));
    return true;
}

// ---- prefix sums and a partition ---------------------------------------------------------------

// Blocks do not wait for each other: each one sums again all elements before its own part. That is
// cheaper as long as there are few parts.
constexpr int TOOL_THREADS = 1024, EACH = 8, ROUND = EACH * TOOL_THREADS, MOST_PARTS = 64;

// Returns the elements of a part of n, in whole rounds.
static inline int part_of(int n) {
    return ROUND * (int)blocks_for(n, (int64_t)ROUND * MOST_PARTS);
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
// the sum of all. Each block does a part. `order` and `sum` may be NULL.
static __global__ void __launch_bounds__(TOOL_THREADS)
    v4_scan_kernel(const int *counts, const int *order, int n, int part, int *starts, int *sum) {
    auto count = [&](int i) { return i < n ? counts[order ? order[i] : i] : 0; };
    int first = (int)blockIdx.x * part, end = min(n, first + part), mine = 0, before, total;
    for (int i = (int)threadIdx.x; i < first; i += TOOL_THREADS)
        mine += count(i);
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
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        starts[n] = before;
        if (sum)
            *sum = before;
    }
}

// Enqueues v4_scan_kernel: exclusive prefix sums of n counts.
static inline void scan(const int *counts, const int *order, int n, int *starts, int *sum,
                        cudaStream_t stream = 0) {
    int part = part_of(max(n, 1));
    v4_scan_kernel<<<blocks_for(max(n, 1), part), TOOL_THREADS, 0, stream>>>(counts, order, n, part,
                                                                             starts, sum);
}

// Block (b, p) calls sort.put(b, rank, i) for each i in part p of [0, n) with sort.bin(i) == b.
// `rank` counts the elements of the bin in order.
template <typename Sort>
__global__ void __launch_bounds__(TOOL_THREADS)
    v4_partition_kernel(int n, int part, const __grid_constant__ Sort sort) {
    int first = (int)blockIdx.y * part, end = min(n, first + part), mine = 0, before, total;
    for (int i = (int)threadIdx.x; i < first; i += TOOL_THREADS)
        mine += sort.bin(i) == (int)blockIdx.x;
    block_prefix(mine, &before);
    for (int base = first; base < end; base += TOOL_THREADS) {
        int i = base + (int)threadIdx.x;
        bool here = i < end && sort.bin(i) == (int)blockIdx.x;
        int rank = before + block_prefix(here, &total);
        if (here)
            sort.put((int)blockIdx.x, rank, i);
        before += total;
    }
}

// Enqueues v4_partition_kernel: a stable partition of [0, n) into bins.
template <typename Sort>
static inline void partition(int bins, int n, const Sort &sort, cudaStream_t stream = 0) {
    int part = part_of(n);
    dim3 grid(bins, blocks_for(n, part));
    if (n)
        v4_partition_kernel<<<grid, TOOL_THREADS, 0, stream>>>(n, part, sort);
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

// Sorts n keys (bitonic sort). Keys from n on would be the largest: as a comparison never moves the
// smaller key up, they need not exist.
static __device__ void sort_keys(uint64_t *keys, int n, const Team &team) {
    int pairs = 1; // half the power of two that n fits
    while (2 * pairs < n)
        pairs *= 2;
    team.wait();
    for (int half = 1; half < n; half *= 2)
        for (int distance = half; distance >= 1; distance /= 2) {
            for (int pair = team.thread; pair < pairs; pair += team.threads) {
                int within = pair & (distance - 1), low = 2 * pair - within;
                int high = distance == half ? low - within + 2 * half - 1 - within : low + distance;
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
