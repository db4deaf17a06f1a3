/* SPDX-License-Identifier: MIT */
// The kernel that transposes the depth before V4's tiles: (camera, bin, h, w) becomes (camera, w,
// slab, bin, place). The 16 depths of a column and bin are then contiguous.
#pragma once

#include "kernels/cuda/v4/overlap.cuh"
#include "kernels/cuda/v4/v4.cuh"

constexpr int TRANSPOSE_THREADS = TRANSPOSE_BINS * WARP; // one warp for each bin

struct Frustums {
    int cameras, bins, height, width, slabs; // slabs = ceil(height / 16)
};

static inline Frustums frustums_of(const BevShape &shape) {
    return {(int)shape.cameras, (int)shape.depth_bins, (int)shape.feat_h, (int)shape.feat_w,
            (int)v4_slabs(&shape)};
}

// Returns the number of blocks over the width of the image.
__host__ __device__ inline int blocks_across(const Frustums &f) {
    return (f.width + WARP - 1) / WARP;
}

// COUNT neighbouring codes, moved by one load or store.
template <typename Code, int COUNT> struct alignas(COUNT * sizeof(Code)) Neighbours {
    Code of[COUNT];
};

// The part of a block: 32 columns by 4 bins of a slab.
struct TransposeBlock {
    int camera, slab, bin, w; // bin, w: the first bin and column

    __device__ explicit TransposeBlock(const Frustums &f) {
        int across;
        camera = (int)divide(divide(blockIdx.x, blocks_across(f), &across), f.slabs, &slab);
        bin = (int)blockIdx.y * TRANSPOSE_BINS;
        w = across * WARP;
    }
};

// The block's depths in shared memory, column by column. Slot LANES * i + lane holds the lane's
// i-th column (v4_column_of). This order and the additional word let lanes that load four columns
// write to different banks.
template <typename Code> struct TransposeBuffer {
    static constexpr int WORDS = SLAB * (int)sizeof(Code) / (int)sizeof(uint4); // of a bin
    static constexpr int COLUMN = TRANSPOSE_BINS * WORDS;
    uint4 words[WARP][COLUMN + 1];
};

// Each thread loads 16 codes of a bin: ACROSS columns (4 or 1) of 4 / ACROSS row groups. Rows past
// the image become 0. Rows and `depth` begin at multiples of ACROSS codes.
template <typename Code, int ACROSS>
__device__ inline void gather_columns(const Code *depth, const Frustums &f,
                                      const TransposeBlock &block, TransposeBuffer<Code> *buffer) {
    constexpr int LANES = WARP / ACROSS; // over the width
    constexpr int TURNS = ROW_GROUPS / ACROSS;
    static_assert(ROW_GROUPS % ACROSS == 0);
    using Places = Neighbours<Code, SLAB / ROW_GROUPS>; // of a row group
    int bin = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % LANES;
    int first_group = (int)threadIdx.x % WARP / LANES, w = block.w + lane * ACROSS;
    if (w >= f.width || block.bin + bin >= f.bins)
        return;
    int64_t plane = (int64_t)block.camera * f.bins + block.bin + bin;
    const Code *from = depth + (plane * f.height + block.slab * SLAB) * f.width + w;
    Neighbours<Code, ACROSS> rows[TURNS][SLAB / ROW_GROUPS] = {};
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
        for (int k = 0; k < SLAB / ROW_GROUPS; k++) {
            int row = first_group + turn * ACROSS + k * ROW_GROUPS;
            if (block.slab * SLAB + row < f.height)
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
            uint4 *column = &buffer->words[LANES * i + lane][bin * buffer->WORDS];
            ((Places *)column)[first_group + turn * ACROSS] = places;
        }
}

// Writes the block's depths; the bins of a column are contiguous.
template <typename Code, int ACROSS>
__device__ inline void write_columns(const TransposeBuffer<Code> &buffer, const Frustums &f,
                                     const TransposeBlock &block, uint4 *transposed) {
    constexpr int WORDS = buffer.WORDS, COLUMN = buffer.COLUMN;
#pragma unroll
    for (int i = (int)threadIdx.x; i < WARP * COLUMN; i += TRANSPOSE_THREADS) {
        int slot = i / COLUMN, word = i % COLUMN, w = block.w + v4_column_of(slot, ACROSS);
        int64_t to = (((int64_t)block.camera * f.width + w) * f.slabs + block.slab) * f.bins;
        if (w < f.width && block.bin + word / WORDS < f.bins)
            transposed[(to + block.bin) * WORDS + word] = buffer.words[slot][word];
    }
}

// Transposes the depth. The kernel also zeroes Workspace::arrived, where the blocks of a tile meet.
template <typename Code, int ACROSS>
__global__ void __launch_bounds__(TRANSPOSE_THREADS)
    v4_transpose_kernel(const Code *depth, Frustums f,
                        const __grid_constant__ Workspace workspace) {
    __shared__ TransposeBuffer<Code> buffer;
    wait_for_previous_kernel();
    let_next_kernel_start();
    for (int i = (int)thread_number(); blockIdx.y == 0 && i < workspace.reductions;
         i += (int)(gridDim.x * blockDim.x))
        workspace.arrived[i] = 0;
    TransposeBlock block(f);
    gather_columns<Code, ACROSS>(depth, f, block, &buffer);
    __syncthreads();
    write_columns<Code, ACROSS>(buffer, f, block, (uint4 *)workspace.transposed);
}

template <typename Code, int ACROSS>
static inline cudaError_t transpose_across(const Code *depth, const Frustums &f,
                                           const Workspace &workspace, bool overlap,
                                           cudaStream_t stream) {
    dim3 grid(f.cameras * f.slabs * blocks_across(f), blocks_for(f.bins, TRANSPOSE_BINS));
    return launch_overlapped(v4_transpose_kernel<Code, ACROSS>, grid, TRANSPOSE_THREADS, 0, overlap,
                             stream, depth, f, workspace);
}

template <typename Code>
static inline cudaError_t enqueue_transpose(const void *depth, const Frustums &f,
                                            const Workspace &workspace, bool overlap,
                                            cudaStream_t stream) {
    const Code *codes = (const Code *)depth;
    if (v4_across(f.width) == TRANSPOSE_ACROSS &&
        (uintptr_t)depth % (TRANSPOSE_ACROSS * sizeof(Code)) == 0)
        return transpose_across<Code, TRANSPOSE_ACROSS>(codes, f, workspace, overlap, stream);
    return transpose_across<Code, 1>(codes, f, workspace, overlap, stream);
}
