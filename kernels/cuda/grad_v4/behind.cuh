/* SPDX-License-Identifier: MIT */
// The last kernel of a backward view transform. It turns the gradients of depths into gradients of
// logits, and writes both gradients by the network's strides. A second kernel prepares grad_out.
#pragma once

#include "kernels/cuda/v4/front.cuh"
#include "kernels/cuda/v4/operands.cuh"
#include "kernels/cuda/v4/spread.cuh"

constexpr int BEHIND_WARPS = 8, BEHIND_THREADS = BEHIND_WARPS * WARP;
constexpr int BEHIND_PIXELS = WARP; // of a block, one for each lane
constexpr int BEHIND_PART = 8;      // bins of a warp that pass through shared memory at once

struct Behind {
    const void *depth, *grad; // depths and their gradients: (camera, bin, pixel)
    const void *grad_feat;    // (camera, pixel, channel)
    BevView view;             // strides of the two outputs
    float factor;             // 1 / temperature
    Frustums f;
    int channels;
    void *to_depth, *to_feat;
    int blocks; // of a camera: equally many for depths and for features
};

// The depths of a pixel and their gradients: every 8th bin, EACH of them in registers.
template <BevDtype D, int EACH> struct BehindBins {
    using Code = DepthCode<D>;
    const Code *depth, *grad; // of bin 0
    int64_t stride;
    int first, bins; // bins: 0 outside the image
    float d[EACH], g[EACH];

    __device__ int bin(int base, int i) const {
        return base + first + i * BEHIND_WARPS;
    }
    __device__ void load(int base) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            bool exists = bin(base, i) < bins;
            d[i] = exists ? Codec<D>::decode(depth[bin(base, i) * stride]) : 0.0f;
            g[i] = exists ? Codec<D>::decode(grad[bin(base, i) * stride]) : 0.0f;
        }
    }
    // Turns the gradients of depths into gradients of logits.
    __device__ void to_logits(float sum, float factor) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            g[i] = d[i] * (g[i] - sum) * factor;
    }
    __device__ float sum() const {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            sum += d[i] * g[i];
        return sum;
    }
};

// 32 pixels of at most 80 channels, or of as many bins.
template <BevDtype D> using BehindTile = FrontTile<D, BEHIND_PIXELS>;

// Writes rows of the tile to the pixels from `before` on, whose `count` channels or bins from
// `first` on lie side by side: a warp writes a pixel.
template <BevDtype D>
__device__ inline void write_side_by_side(const Frustums &f, const BevStrides &s, int camera,
                                          int before, int first, int count, BehindTile<D> *tile,
                                          void *array) {
    constexpr int ROUNDS = (FRONT_CHANNELS + WARP - 1) / WARP;
    int lane = (int)threadIdx.x % WARP;
#pragma unroll
    for (int k = 0; k < BEHIND_PIXELS / BEHIND_WARPS; k++) {
        int at = k * BEHIND_WARPS + (int)threadIdx.x / WARP, pixel = before + at;
        int row = (int)((unsigned)pixel / (unsigned)f.width);
        DepthCode<D> *to =
            (DepthCode<D> *)array + stride_to(s, camera, row, pixel - row * f.width) + first;
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            if (pixel < f.height * f.width && i * WARP + lane < count)
                to[i * WARP + lane] = tile->row(at)[i * WARP + lane];
    }
}

// Computes the gradients of a pixel's logits: depth * (gradient - sum of depth * gradient) /
// temperature. If one round suffices, nothing is read twice. LAST: bins lie side by side, and pass
// through shared memory.
template <BevDtype D, bool LAST, int EACH>
__device__ inline void behind_depths(const Behind &behind, int camera, int pixel,
                                     float (*parts)[WARP], BehindTile<D> *tile) {
    constexpr int ROUND = BEHIND_WARPS * EACH, PART = BEHIND_WARPS * BEHIND_PART; // bins
    const Frustums &f = behind.f;
    const BevStrides &s = behind.view.depth;
    int pixels = f.height * f.width, row = pixel / f.width, lane = (int)threadIdx.x % WARP;
    int64_t from = (int64_t)camera * f.bins * pixels + pixel;
    BehindBins<D, EACH> mine = {(const DepthCode<D> *)behind.depth + from,
                                (const DepthCode<D> *)behind.grad + from,
                                pixels,
                                (int)threadIdx.x / WARP,
                                pixel < pixels ? f.bins : 0,
                                {},
                                {}};
    float sum = 0;
#pragma unroll 1
    for (int base = 0; base < f.bins; base += ROUND) {
        mine.load(base);
        sum += mine.sum();
    }
    parts[mine.first][lane] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < BEHIND_WARPS; i++)
        sum += parts[i][lane];
    DepthCode<D> *to =
        (DepthCode<D> *)behind.to_depth + stride_to(s, camera, row, pixel - row * f.width);
#pragma unroll 1
    for (int base = 0; base < f.bins; base += ROUND) {
        if (f.bins > ROUND)
            mine.load(base);
        if (behind.view.softmax)
            mine.to_logits(sum, behind.factor);
#pragma unroll
        for (int i = 0; i < EACH && !LAST; i++)
            if (mine.bin(base, i) < mine.bins)
                to[mine.bin(base, i) * s.channel] = Codec<D>::encode(mine.g[i]);
#pragma unroll
        for (int part = 0; part < ROUND / PART && LAST; part++) {
            int begin = base + part * PART;
            __syncthreads();
#pragma unroll
            for (int i = 0; i < BEHIND_PART; i++)
                tile->row(lane)[mine.first + i * BEHIND_WARPS] =
                    Codec<D>::encode(mine.g[part * BEHIND_PART + i]);
            __syncthreads();
            write_side_by_side<D>(f, s, camera, pixel - lane, begin, min(PART, f.bins - begin),
                                  tile, behind.to_depth);
        }
    }
}

// The gradient of the features of 32 pixels, at most 80 channels: read along the channels, written
// along the image, or along the channels again.
template <BevDtype D>
__device__ inline void behind_features(const Behind &behind, int camera, int before,
                                       BehindTile<D> *tile) {
    using Code = DepthCode<D>;
    constexpr int IN_VECTOR = 16 / (int)sizeof(Code), VECTORS = FRONT_CHANNELS / IN_VECTOR;
    const BevStrides &s = behind.view.feat;
    int pixels = behind.f.height * behind.f.width, channels = behind.channels;
    int first = (int)blockIdx.y * FRONT_CHANNELS, count = min(FRONT_CHANNELS, channels - first);
    int rows = min(BEHIND_PIXELS, pixels - before);
    const Code *from =
        (const Code *)behind.grad_feat + ((int64_t)camera * pixels + before) * channels + first;
    if (channels % IN_VECTOR == 0) {
#pragma unroll 3
        for (int i = (int)threadIdx.x; i < rows * VECTORS; i += BEHIND_THREADS)
            if (i % VECTORS * IN_VECTOR < count) {
                uint32_t *to = tile->words[i / VECTORS] + i % VECTORS * 4;
                uint4 v = ((const uint4 *)(from + (int64_t)(i / VECTORS) * channels))[i % VECTORS];
                to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
            }
    } else {
        for (int i = (int)threadIdx.x; i < rows * count; i += BEHIND_THREADS)
            ((Code *)tile->words[i / count])[i % count] =
                from[(int64_t)(i / count) * channels + i % count];
    }
    __syncthreads();
    if (s.channel == 1)
        return write_side_by_side<D>(behind.f, s, camera, before, first, count, tile,
                                     behind.to_feat);
    int lane = (int)threadIdx.x % WARP, pixel = before + lane, row = pixel / behind.f.width;
    Code *to = (Code *)behind.to_feat + stride_to(s, camera, row, pixel - row * behind.f.width) +
               (int64_t)first * s.channel;
    if (lane < rows)
#pragma unroll 5
        for (int c = (int)threadIdx.x / WARP; c < count; c += BEHIND_WARPS)
            to[c * s.channel] = ((const Code *)tile->words[lane])[c];
}

template <BevDtype D> union BehindShared {
    float parts[BEHIND_WARPS][WARP];
    BehindTile<D> tile;
};

constexpr int BEHIND_BLOCKS = 4; // at most so many on a multiprocessor

// Returns how many blocks a multiprocessor must be able to hold, for __launch_bounds__: the
// compiler then limits the registers of a thread. 0: no limit. A thread with EACH = 8 depth bins
// fits the registers of BEHIND_BLOCKS. With 16 bins it does not. Depths that come LAST in memory
// then hold three blocks, or two where three would spill: FP32, and before SM90.
template <BevDtype D, bool LAST, int EACH> constexpr int behind_held() {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
    constexpr int SIXTEEN = 2;
#else
    constexpr int SIXTEEN = D == BEV_FP32 ? 2 : 3;
#endif
    return EACH == 8 ? BEHIND_BLOCKS : LAST ? SIXTEEN : 0;
}

// blockIdx.x counts blocks of depths, then of features; .y counts blocks of channels.
template <BevDtype D, bool LAST, int EACH>
__global__ void __launch_bounds__(BEHIND_THREADS, (behind_held<D, LAST, EACH>()))
    grad_v4_behind_kernel(const __grid_constant__ Behind behind) {
    __shared__ BehindShared<D> shared;
    wait_for_previous_kernel();
    int of_depth = behind.blocks * behind.f.cameras, block = (int)blockIdx.x % of_depth;
    int camera = (int)((unsigned)block / (unsigned)behind.blocks);
    int before = (block - camera * behind.blocks) * BEHIND_PIXELS;
    if ((int)blockIdx.x >= of_depth)
        behind_features<D>(behind, camera, before, &shared.tile);
    else if (blockIdx.y == 0)
        behind_depths<D, LAST, EACH>(behind, camera, before + (int)threadIdx.x % WARP, shared.parts,
                                     &shared.tile);
}

// Sets *shared to the dynamic shared memory, in bytes, with which a multiprocessor holds no more
// than its share of `blocks` blocks. The blocks start while the gradients end. Without this limit
// few blocks would crowd on the multiprocessors that are free first. `fixed`: other bytes of a
// block.
template <typename Kernel>
static inline cudaError_t spread_blocks(Kernel kernel, int64_t blocks, int fixed, size_t *shared) {
    constexpr int SLACK = 1024; // bytes, for how the hardware rounds
    int device, multiprocessors = 1, all = 0, most = 0, reserved = 0;
    const cudaDeviceAttr names[] = {
        cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
        cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrReservedSharedMemoryPerBlock};
    int *values[] = {&multiprocessors, &all, &most, &reserved};
    cudaError_t status = cudaGetDevice(&device);
    for (int i = 0; i < 4 && status == cudaSuccess; i++)
        status = cudaDeviceGetAttribute(values[i], names[i], device);
    int share = (int)blocks_for(blocks, multiprocessors);
    if (status != cudaSuccess || share >= BEHIND_BLOCKS)
        return status;
    *shared = (size_t)(std::min(all / share - reserved, most) - fixed - SLACK);
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*shared);
}

template <BevDtype D>
static inline cudaError_t behind_launch(Behind behind, bool overlap, cudaStream_t stream) {
    const Frustums &f = behind.f;
    behind.blocks = (int)blocks_for((int64_t)f.height * f.width, BEHIND_PIXELS);
    dim3 grid((unsigned)(2 * f.cameras * behind.blocks),
              blocks_for(behind.channels, FRONT_CHANNELS));
    return with_flag(behind.view.depth.channel == 1, [&]<bool LAST>() {
        auto kernel =
            f.bins <= 64 ? grad_v4_behind_kernel<D, LAST, 8> : grad_v4_behind_kernel<D, LAST, 16>;
        size_t shared = 0;
        cudaError_t status = cudaSuccess;
        if (overlap)
            status =
                spread_blocks(kernel, (int64_t)grid.x * grid.y, sizeof(BehindShared<D>), &shared);
        return status != cudaSuccess ? status
                                     : launch_overlapped(kernel, grid, BEHIND_THREADS, shared,
                                                         overlap, stream, behind);
    });
}

// Brings 64 cells of grad_out to channels last, 40 words of each: the way back of spread.cuh, by
// vectors on both sides.
template <typename Code>
__global__ void __launch_bounds__(SPREAD_THREADS)
    grad_v4_last_kernel(const __grid_constant__ Spread last) {
    __shared__ SpreadTile<Code> tile;
    constexpr int IN_WORD = tile.IN_WORD, IN_VECTOR = tile.IN_VECTOR;
    constexpr int GROUPS = SPREAD_CELLS / IN_VECTOR, PARTS = SPREAD_WORDS / 4;
    int64_t first = (int64_t)blockIdx.x * SPREAD_CELLS;
    int c0 = (int)blockIdx.z * tile.CHANNELS, count = min(tile.CHANNELS, last.channels - c0);
    int rows = (int)min((int64_t)SPREAD_CELLS, last.cells - first);
    const Code *from =
        (const Code *)last.from + ((int64_t)blockIdx.y * last.channels + c0) * last.cells + first;
    let_next_kernel_start();
#pragma unroll
    for (int i = (int)threadIdx.x; i < GROUPS * SPREAD_WORDS; i += SPREAD_THREADS) {
        int row = i % GROUPS * IN_VECTOR, word = i / GROUPS;
        if (row >= rows || word * IN_WORD >= count)
            continue;
        struct alignas(16) {
            Code of[IN_VECTOR];
        } vectors[IN_WORD];
#pragma unroll
        for (int e = 0; e < IN_WORD; e++)
            *(uint4 *)&vectors[e] =
                *(const uint4 *)(from + (word * IN_WORD + e) * last.cells + row);
#pragma unroll
        for (int k = 0; k < IN_VECTOR; k++) {
            Code codes[IN_WORD];
#pragma unroll
            for (int e = 0; e < IN_WORD; e++)
                codes[e] = vectors[e].of[k];
            memcpy(&tile.words[row + k][word], codes, 4);
        }
    }
    __syncthreads();
    Code *to = (Code *)last.to + (blockIdx.y * last.cells + first) * last.channels + c0;
#pragma unroll
    for (int i = (int)threadIdx.x; i < SPREAD_CELLS * PARTS; i += SPREAD_THREADS) {
        int row = i / PARTS, part = i % PARTS;
        const uint32_t *words = &tile.words[row][part * 4];
        if (row < rows && part * IN_VECTOR < count)
            *((uint4 *)(to + (int64_t)row * last.channels) + part) =
                make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// Does the same as grad_v4_last_kernel for any number of cells and channels, 32 cells a block.
template <BevDtype D>
__global__ void __launch_bounds__(BEHIND_THREADS)
    grad_v4_last_ragged_kernel(const __grid_constant__ FrontImages grad_out, int channels) {
    __shared__ BehindTile<D> tile;
    let_next_kernel_start();
    front_images<D, BEHIND_THREADS>(grad_out, channels, blockIdx.x, &tile);
}

// Enqueues the kernel that brings `samples` grids of `cells` cells each to channels last.
template <BevDtype D>
static inline void last_launch(const Spread &last, int64_t samples, cudaStream_t stream) {
    using Code = DepthBits<D>;
    using Tile = SpreadTile<Code>;
    if (last.cells % Tile::IN_VECTOR == 0 && last.channels % Tile::IN_VECTOR == 0 &&
        (uintptr_t)last.from % 16 == 0) {
        dim3 grid(blocks_for(last.cells, SPREAD_CELLS), (unsigned)samples,
                  blocks_for(last.channels, Tile::CHANNELS));
        grad_v4_last_kernel<Code><<<grid, SPREAD_THREADS, 0, stream>>>(last);
        return;
    }
    FrontImages images = {last.from,       {last.channels * last.cells, last.cells, 0, 1},
                          (int)samples,    1,
                          (int)last.cells, last.to};
    dim3 grid((unsigned)(images.images * images.blocks(BEHIND_PIXELS)),
              blocks_for(last.channels, FRONT_CHANNELS));
    grad_v4_last_ragged_kernel<D><<<grid, BEHIND_THREADS, 0, stream>>>(images, last.channels);
}
