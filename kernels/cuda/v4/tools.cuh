// Tools of V4's `prepare`: memory, prefix sums and a stable partition.
#ifndef BEV_TOOLS_CUH
#define BEV_TOOLS_CUH

#include "kernels/cuda/common.cuh"

// ---- memory: many arrays from one allocation ---------------------------------------------------

// Run a layout once with base NULL to learn its size, then with the memory.
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
    if (!cuda_allocate(memory, arena.used, "v4", err))
        return false;
    arena = {(char *)*memory, 0};
    layout(arena);
    return true;
}

template <typename T> static inline bool read_back(T *value, const T *device, Err *err) {
    TRY_CUDA("v4", cudaMemcpy(value, device, sizeof *value, cudaMemcpyDeviceToHost));
    return true;
}

// ---- two tools ---------------------------------------------------------------------------------

constexpr int TOOL_THREADS = 1024;

// Exclusive prefix sums of the block's values; *total receives their sum.
static __device__ int block_prefix(int value, int *total) {
    __shared__ int warp_sums[TOOL_THREADS / WARP];
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        int below = __shfl_up_sync(~0u, sum, step);
        sum += lane >= step ? below : 0;
    }
    __syncthreads(); // the call before this one has read warp_sums
    if (lane == WARP - 1)
        warp_sums[warp] = sum;
    __syncthreads();
    int before = 0;
    *total = 0;
    for (int i = 0; i < TOOL_THREADS / WARP; i++) {
        before += i < warp ? warp_sums[i] : 0;
        *total += warp_sums[i];
    }
    return before + sum - value;
}

// starts[i] = counts[order[i]] + ... of all before i, i in [0, n]; one block. order may be NULL.
static __global__ void __launch_bounds__(TOOL_THREADS)
    v4_scan_kernel(const int *counts, const int *order, int n, int *starts) {
    constexpr int EACH = 8;
    int before = 0, total;
    for (int base = 0; base < n; base += EACH * TOOL_THREADS) {
        int values[EACH], sum = 0, first = base + (int)threadIdx.x * EACH;
        for (int j = 0; j < EACH; j++) {
            int i = first + j;
            values[j] = i < n ? counts[order ? order[i] : i] : 0;
            sum += values[j];
        }
        int at = before + block_prefix(sum, &total);
        for (int j = 0; j < EACH && first + j < n; j++) {
            starts[first + j] = at;
            at += values[j];
        }
        before += total;
    }
    if (threadIdx.x == 0)
        starts[n] = before;
}

// Block b calls sort.put(b, rank, i) for all i in [0, n) with sort.bin(i) == b, rank counting them
// in order.
template <typename Sort>
__global__ void __launch_bounds__(TOOL_THREADS)
    v4_partition_kernel(int n, const __grid_constant__ Sort sort) {
    int before = 0, total;
    for (int base = 0; base < n; base += TOOL_THREADS) {
        int i = base + (int)threadIdx.x;
        bool mine = i < n && sort.bin(i) == (int)blockIdx.x;
        int rank = before + block_prefix(mine, &total);
        if (mine)
            sort.put((int)blockIdx.x, rank, i);
        before += total;
    }
}

#endif
