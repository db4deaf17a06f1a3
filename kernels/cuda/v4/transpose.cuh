// The kernel that transposes the depth before V4's tiles: (camera, bin, h, w) becomes (camera, w,
// slab, bin, place), so that the 16 depths of a column and bin are contiguous.
#pragma once

#include "kernels/cuda/v4/overlap.cuh"
#include "kernels/cuda/v4/v4.cuh"

constexpr int TRANSPOSE_THREADS = TRANSPOSE_BINS * WARP; // a warp has a bin

struct Frustums {
    int cameras, bins, height, width, slabs; // slabs = ceil(height / 16)
};

// Blocks side by side over the width of the image.
__host__ __device__ inline int blocks_across(const Frustums &f) {
    return (f.width + WARP - 1) / WARP;
}

// Codes side by side, in one load or store.
template <typename Code, int COUNT> struct alignas(COUNT * sizeof(Code)) Neighbours {
    Code of[COUNT];
};

// A block takes 32 columns by 4 bins of a slab. A thread gathers 16 codes: ACROSS columns, 4 or 1,
// of as many row groups as that leaves, rows past the image as 0. Through shared memory a column's
// bins are written side by side. Also makes ready where the blocks of a tile meet. Rows and `depth`
// begin at multiples of ACROSS codes.
template <typename Code, int ACROSS>
__global__ void __launch_bounds__(TRANSPOSE_THREADS)
    v4_transpose_kernel(const Code *depth, Frustums f,
                        const __grid_constant__ Workspace workspace) {
    using Places = Neighbours<Code, SLAB / ROW_GROUPS>; // of a row group
    constexpr int LANES = WARP / ACROSS;                // over the width
    constexpr int TURNS = ROW_GROUPS / ACROSS;
    static_assert(ROW_GROUPS % ACROSS == 0);
    constexpr int WORDS = SLAB * (int)sizeof(Code) / (int)sizeof(uint4); // of a column and bin
    constexpr int COLUMN = TRANSPOSE_BINS * WORDS;
    // Slot LANES * i + lane holds the lane's i-th column (v4_column_of): so, and by the word more,
    // lanes that load four columns write to different banks.
    __shared__ uint4 words[WARP][COLUMN + 1];
    wait_for_previous_kernel();
    let_next_kernel_start();
    for (int i = (int)thread_number(); blockIdx.y == 0 && i < workspace.meetings;
         i += (int)(gridDim.x * blockDim.x))
        workspace.met[i] = 0;
    int across, slab, bin0 = (int)blockIdx.y * TRANSPOSE_BINS;
    int camera = (int)divide(divide(blockIdx.x, blocks_across(f), &across), f.slabs, &slab);
    int bin = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % LANES, first_w = across * WARP;
    int first_group = (int)threadIdx.x % WARP / LANES, w = first_w + lane * ACROSS;
    if (w < f.width && bin0 + bin < f.bins) {
        int64_t plane = (int64_t)camera * f.bins + bin0 + bin;
        const Code *from = depth + (plane * f.height + slab * SLAB) * f.width + w;
        Neighbours<Code, ACROSS> rows[TURNS][SLAB / ROW_GROUPS] = {};
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
            for (int k = 0; k < SLAB / ROW_GROUPS; k++) {
                int row = first_group + turn * ACROSS + k * ROW_GROUPS;
                if (slab * SLAB + row < f.height)
                    rows[turn][k] = *(const Neighbours<Code, ACROSS> *)(from + row * f.width);
            }
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
            for (int i = 0; i < ACROSS; i++) {
                Places places;
#pragma unroll
                for (int k = 0; k < SLAB / ROW_GROUPS; k++)
                    places.of[k] = rows[turn][k].of[i];
                int group = first_group + turn * ACROSS;
                ((Places *)&words[LANES * i + lane][bin * WORDS])[group] = places;
            }
    }
    __syncthreads();
#pragma unroll
    for (int i = (int)threadIdx.x; i < WARP * COLUMN; i += TRANSPOSE_THREADS) {
        int slot = i / COLUMN, word = i % COLUMN;
        int column = first_w + v4_column_of(slot, ACROSS);
        int64_t to = (((int64_t)camera * f.width + column) * f.slabs + slab) * f.bins + bin0;
        if (column < f.width && bin0 + word / WORDS < f.bins)
            ((uint4 *)workspace.transposed)[to * WORDS + word] = words[slot][word];
    }
}

template <typename Code, int ACROSS>
static inline cudaError_t transpose_across(const Code *depth, const Frustums &f,
                                           const Workspace &workspace, bool overlap,
                                           cudaStream_t stream) {
    dim3 grid(f.cameras * f.slabs * blocks_across(f), blocks_for(f.bins, TRANSPOSE_BINS));
    return launch_overlapped(v4_transpose_kernel<Code, ACROSS>, grid, TRANSPOSE_THREADS, overlap,
                             stream, depth, f, workspace);
}

template <typename Code>
static inline cudaError_t transpose_enter(const void *depth, const Frustums &f,
                                          const Workspace &workspace, bool overlap,
                                          cudaStream_t stream) {
    const Code *codes = (const Code *)depth;
    if (v4_across(f.width) == TRANSPOSE_ACROSS &&
        (uintptr_t)depth % (TRANSPOSE_ACROSS * sizeof(Code)) == 0)
        return transpose_across<Code, TRANSPOSE_ACROSS>(codes, f, workspace, overlap, stream);
    return transpose_across<Code, 1>(codes, f, workspace, overlap, stream);
}
