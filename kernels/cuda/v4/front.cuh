/* SPDX-License-Identifier: MIT */
// The first kernel of a view transform, before V4 or grad_v4: it makes depths of logits, and brings
// features to channels last. It reads both by the network's strides. Features that lie as V4 reads
// them stay where they are.
#pragma once

#include "kernels/cuda/v4/transpose.cuh"

constexpr int FRONT_WARPS = 32, FRONT_THREADS = FRONT_WARPS * WARP;
constexpr int FRONT_COLUMNS = WARP / ROW_GROUPS;      // image columns of a block of depths
constexpr int FRONT_LANES = FRONT_WARPS / ROW_GROUPS; // warps that share the bins of a row group
constexpr int FRONT_PIXELS = 128;                     // pixels of a block of features,
constexpr int FRONT_CHANNELS = 80;                    // and its most channels

// Bins that a block takes in a round; each warp takes EACH.
template <int EACH> constexpr int FRONT_ROUND = FRONT_LANES * EACH;

// An array that is brought to channels last: the features, or backward the gradient of the output.
struct FrontImages {
    const void *from;
    BevStrides strides;
    int images, height, width;
    void *to; // (image, pixel, channel)

    __host__ __device__ int blocks(int pixels) const { // blocks of an image
        return (height * width + pixels - 1) / pixels;
    }
};

struct Front {
    const void *depth; // the network's logits
    BevView view;
    float factor; // log2(e) / temperature
    Frustums f;
    void *to_depth;
    FrontImages feat;
    int channels;
    int *arrived; // as in Workspace
    int reductions;
    int depth_blocks; // of one camera
};

// The pixel of a thread. A block of depths has a slab of 8 neighbouring columns. A warp has a row
// group of the slab, which is contiguous in transposed depth, and every FRONT_LANES-th bin.
struct FrontPixel {
    int camera, slab, row, first_w, column, place, bin; // bin: the first

    // `block` is the number of the block within its camera.
    __device__ FrontPixel(const Frustums &f, unsigned block, int its_camera) : camera(its_camera) {
        unsigned across = (unsigned)(f.width + FRONT_COLUMNS - 1) / FRONT_COLUMNS;
        int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
        slab = (int)(block / across);
        first_w = (int)(block % across) * FRONT_COLUMNS;
        column = lane % FRONT_COLUMNS;
        place = warp % ROW_GROUPS * ROW_GROUPS + lane / FRONT_COLUMNS;
        row = slab * SLAB + v4_place(place);
        bin = warp / ROW_GROUPS;
    }
};

__device__ inline int64_t stride_to(const BevStrides &s, int camera, int row, int column) {
    return camera * s.camera + row * s.row + column * s.column;
}

// Returns the hardware's 2^x; results below 2^-126 are 0.
__device__ inline float power_of_two(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// PIXELS neighbouring pixels of at most 80 channels, or of as many bins. One more word at the end
// of a row keeps its columns in different banks.
template <BevDtype D, int PIXELS> struct FrontTile {
    static constexpr int WORDS = FRONT_CHANNELS * (int)sizeof(DepthCode<D>) / 4;
    uint32_t words[PIXELS][WORDS + 1];

    __device__ DepthCode<D> *row(int pixel) {
        return (DepthCode<D> *)words[pixel];
    }
};

// The logits of a pixel, and later their powers: those of one round, in registers.
template <BevDtype D, int EACH> struct FrontBins {
    using Code = DepthCode<D>;
    using Tile = FrontTile<D, FRONT_PIXELS>;
    static constexpr int STAGED = FRONT_LANES * 8; // bins that pass through shared memory together
    const Code *from;                              // bin 0
    int64_t stride;
    int first, bins; // bins: 0 outside the image
    float v[EACH];

    // Loads the logits of a round. Bins that do not exist read as -infinity.
    __device__ void load(int base, Tile *tile) {
        if (stride == 1)
            return load_staged(base, tile);
        const Code *p = from + (base + first) * stride;
#pragma unroll
        for (int i = 0; i < EACH; i++, p += FRONT_LANES * stride)
            v[i] = base + first + i * FRONT_LANES < bins ? Codec<D>::decode(*p) : -INFINITY;
    }
    // The same where the bins of a pixel lie side by side. A warp reads the bins of four of its row
    // group's pixels, one lane a bin, and passes them on through shared memory.
    __device__ void load_staged(int base, Tile *tile) {
        int lane = (int)threadIdx.x % WARP, group = (int)threadIdx.x / WARP % ROW_GROUPS * WARP;
#pragma unroll
        for (int part = 0; part < EACH / 8; part++) {
            int begin = base + part * STAGED;
            __syncthreads();
#pragma unroll 1
            for (int k = 0; k < WARP / FRONT_LANES; k++) {
                int pixel = first * (WARP / FRONT_LANES) + k; // of the row group
                const Code *its = (const Code *)__shfl_sync(~0u, (uint64_t)from, pixel);
                int count = __shfl_sync(~0u, bins, pixel) - begin;
                for (int c = lane; c < min(count, STAGED); c += WARP)
                    tile->row(group + pixel)[c] = its[begin + c];
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int bin = first + i * FRONT_LANES;
                v[part * 8 + i] = begin + bin < bins
                                      ? Codec<D>::decode(tile->row(group + lane)[bin])
                                      : -INFINITY;
            }
        }
        __syncthreads();
    }
    __device__ void to_powers(float largest, float factor) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            v[i] = power_of_two((v[i] - largest) * factor);
    }
};

// Joins the values that the warps of a block have for the same pixel. Each warp gets the result.
template <typename Join>
__device__ inline float join_warps(float mine, float (*parts)[WARP], Join join) {
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    parts[warp][lane] = mine;
    __syncthreads();
    float all = parts[warp % ROW_GROUPS][lane];
#pragma unroll
    for (int i = 1; i < FRONT_LANES; i++)
        all = join(all, parts[warp % ROW_GROUPS + i * ROW_GROUPS][lane]);
    return all;
}

// The depths of a round, or of half a round, in shared memory as in transposed depth: the bins of a
// column are contiguous.
template <BevDtype D, int EACH> struct FrontDepths {
    static constexpr int WORDS = SLAB * (int)sizeof(DepthCode<D>) / (int)sizeof(uint4); // of a bin
    static constexpr int PARTS = FRONT_ROUND<EACH> * WORDS > 256 ? 2 : 1;
    static constexpr int BINS = FRONT_ROUND<EACH> / PARTS;
    float parts[2][FRONT_WARPS][WARP];
    uint4 words[FRONT_COLUMNS][BINS * WORDS + 1]; // columns begin in different banks

    // Writes bins [base, base + BINS) of the block's columns to `to`.
    __device__ void write(const Frustums &f, const FrontPixel &me, int base, void *to) const {
        int count = min(BINS, f.bins - base) * WORDS;
#pragma unroll 2
        for (int i = (int)threadIdx.x; i < FRONT_COLUMNS * BINS * WORDS; i += FRONT_THREADS) {
            int column = i / (BINS * WORDS), word = i % (BINS * WORDS), w = me.first_w + column;
            int64_t at = (((int64_t)me.camera * f.width + w) * f.slabs + me.slab) * f.bins + base;
            if (w < f.width && word < count)
                ((uint4 *)to)[at * WORDS + word] = words[column][word];
        }
    }
};

// Returns the largest logit of the pixel. *share receives 1 / the sum of its powers.
template <BevDtype D, int EACH>
__device__ inline float front_sums(FrontBins<D, EACH> &mine, int bins, float factor,
                                   FrontDepths<D, EACH> *shared,
                                   FrontTile<D, FRONT_PIXELS> *tile, float *share) {
    float largest = -INFINITY, sum = 0;
#pragma unroll 1
    for (int base = 0; base < bins; base += FRONT_ROUND<EACH>) {
        mine.load(base, tile);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            largest = fmaxf(largest, mine.v[i]);
    }
    largest = join_warps(largest, shared->parts[0],
                                [](float a, float b) { return fmaxf(a, b); });
#pragma unroll 1
    for (int base = 0; base < bins; base += FRONT_ROUND<EACH>) {
        if (bins > FRONT_ROUND<EACH>)
            mine.load(base, tile);
        mine.to_powers(largest, factor);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            sum += mine.v[i];
    }
    *share = 1 / join_warps(sum, shared->parts[1], [](float a, float b) { return a + b; });
    return largest;
}

// Writes a round's depths row by row, (camera, bin, h, w), for pieces.
template <BevDtype D, int EACH>
__device__ inline void put_rows(const Front &front, const FrontPixel &me,
                                const FrontBins<D, EACH> &mine, int base, float share) {
    const Frustums &f = front.f;
    int bin = base + me.bin;
    int64_t row = ((int64_t)me.camera * f.bins + bin) * f.height + me.row;
    int64_t distance = (int64_t)FRONT_LANES * f.height * f.width;
    DepthCode<D> *to =
        (DepthCode<D> *)front.to_depth + row * f.width + me.first_w + me.column;
#pragma unroll
    for (int i = 0; i < EACH; i++, bin += FRONT_LANES, to += distance)
        if (bin < mine.bins)
            *to = Codec<D>::encode(mine.v[i] * share);
}

// Writes a round's depths transposed (transpose.cuh), for tiles.
template <BevDtype D, int EACH>
__device__ inline void put_transposed(const Front &front, const FrontPixel &me,
                                      const FrontBins<D, EACH> &mine, int base, float share,
                                      FrontDepths<D, EACH> *shared) {
    constexpr int PARTS = shared->PARTS, SHARE = EACH / PARTS;
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        DepthCode<D> *column = (DepthCode<D> *)shared->words[me.column] + me.place;
#pragma unroll
        for (int i = 0; i < SHARE; i++)
            column[(me.bin + i * FRONT_LANES)*SLAB] =
                Codec<D>::encode(mine.v[part * SHARE + i] * share);
        __syncthreads();
        if (base + part * shared->BINS < front.f.bins)
            shared->write(front.f, me, base + part * shared->BINS, front.to_depth);
        __syncthreads();
    }
}

// Computes the softmax over a pixel's bins, or copies them. If one round suffices, the powers stay
// in registers. NaN, +infinity, or only -infinity in a pixel's logits make all its depths NaN.
template <BevDtype D, bool T, int EACH>
__device__ inline void front_depths(const Front &front, FrontDepths<D, EACH> *shared,
                                    FrontTile<D, FRONT_PIXELS> *tile) {
    const Frustums &f = front.f;
    unsigned camera = blockIdx.x / (unsigned)front.depth_blocks;
    FrontPixel me(f, blockIdx.x - camera * (unsigned)front.depth_blocks, (int)camera);
    int w = me.first_w + me.column;
    bool softmax = front.view.softmax, again = !softmax || f.bins > FRONT_ROUND<EACH>;
    const DepthCode<D> *from =
        (const DepthCode<D> *)front.depth + stride_to(front.view.depth, me.camera, me.row, w);
    FrontBins<D, EACH> mine = {from,
                               front.view.depth.channel,
                               me.bin,
                               me.row < f.height && w < f.width ? f.bins : 0,
                               {}};
    float share = 1, largest = 0;
    if (softmax)
        largest = front_sums<D, EACH>(mine, f.bins, front.factor, shared, tile, &share);
#pragma unroll 1
    for (int base = 0; base < f.bins; base += FRONT_ROUND<EACH>) {
        if (again)
            mine.load(base, tile);
        if (again && softmax)
            mine.to_powers(largest, front.factor);
        if constexpr (T)
            put_transposed<D, EACH>(front, me, mine, base, share, shared);
        else
            put_rows<D, EACH>(front, me, mine, base, share);
    }
}

// Reads pixels [before, pixels) of an image whose channels lie side by side: a warp reads a pixel.
template <BevDtype D, int THREADS, int PIXELS>
__device__ inline void read_side_by_side(const FrontImages &array, int image, int before, int first,
                                         int count, FrontTile<D, PIXELS> *tile) {
    constexpr int WARPS = THREADS / WARP, ROUNDS = (FRONT_CHANNELS + WARP - 1) / WARP;
    int lane = (int)threadIdx.x % WARP, pixels = array.height * array.width;
#pragma unroll
    for (int k = 0; k < PIXELS / WARPS; k++) {
        int mine = k * WARPS + (int)threadIdx.x / WARP, pixel = before + mine;
        int row = (int)((unsigned)pixel / (unsigned)array.width);
        const DepthCode<D> *from =
            (const DepthCode<D> *)array.from + first +
            stride_to(array.strides, image, row, pixel - row * array.width);
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            if (pixel < pixels && i * WARP + lane < count)
                tile->row(mine)[i * WARP + lane] = from[i * WARP + lane];
    }
}

// Brings one block of an array to channels last. `block` is its number within the array.
template <BevDtype D, int THREADS, int PIXELS>
__device__ inline void front_images(const FrontImages &array, int channels, unsigned block,
                                    FrontTile<D, PIXELS> *tile) {
    using Code = DepthCode<D>;
    constexpr int IN_VECTOR = 16 / (int)sizeof(Code), ROWS = THREADS / PIXELS;
    const BevStrides &s = array.strides;
    int pixels = array.height * array.width, blocks = array.blocks(PIXELS);
    int image = (int)(block / (unsigned)blocks);
    int before = ((int)block - image * blocks) * PIXELS;
    int mine = (int)threadIdx.x % PIXELS, pixel = before + mine;
    int first = (int)blockIdx.y * FRONT_CHANNELS;
    int count = min(FRONT_CHANNELS, channels - first);
    int row = (int)((unsigned)pixel / (unsigned)array.width);
    int column = pixel - row * array.width;
    const Code *from =
        (const Code *)array.from + stride_to(s, image, row, column) + (int64_t)first * s.channel;
    if (s.channel == 1)
        read_side_by_side<D, THREADS>(array, image, before, first, count, tile);
    else
#pragma unroll 5
        for (int i = 0; i < (FRONT_CHANNELS + ROWS - 1) / ROWS; i++) {
            int c = i * ROWS + (int)threadIdx.x / PIXELS;
            if (pixel < pixels && c < count)
                tile->row(mine)[c] = from[c * s.channel];
        }
    __syncthreads();
    Code *to = (Code *)array.to + ((int64_t)image * pixels + before) * channels + first;
    int rows = min(PIXELS, pixels - before);
    if (channels % IN_VECTOR == 0) {
        constexpr int VECTORS = FRONT_CHANNELS / IN_VECTOR; // of a row, at most
#pragma unroll 2
        for (int i = (int)threadIdx.x; i < rows * VECTORS; i += THREADS) {
            const uint32_t *words = tile->words[i / VECTORS] + i % VECTORS * 4;
            if (i % VECTORS * IN_VECTOR < count)
                *((uint4 *)(to + (int64_t)(i / VECTORS) * channels) + i % VECTORS) =
                    make_uint4(words[0], words[1], words[2], words[3]);
        }
        return;
    }
#pragma unroll 2
    for (int i = (int)threadIdx.x; i < rows * count; i += THREADS)
        to[(int64_t)(i / count) * channels + i % count] =
            tile->row(i / count)[i % count];
}

// blockIdx.x counts blocks of depths, then of features; .y counts blocks of channels. The kernel
// also zeroes Workspace::arrived, where the blocks of a tile meet.
template <BevDtype D, bool T, int EACH>
__global__ void __launch_bounds__(FRONT_THREADS, 1)
    v4_front_kernel(const __grid_constant__ Front front) {
    __shared__ union {
        FrontDepths<D, EACH> depths;
        FrontTile<D, FRONT_PIXELS> tile;
    } shared;
    wait_for_previous_kernel();
    let_next_kernel_start();
    if (blockIdx.y == 0)
#pragma unroll 1
        for (int i = (int)thread_number(); i < front.reductions; i += (int)(gridDim.x * blockDim.x))
            front.arrived[i] = 0;
    int of_depth = front.depth_blocks * front.f.cameras, block = (int)blockIdx.x - of_depth;
    if (block >= 0)
        front_images<D, FRONT_THREADS>(front.feat, front.channels, block, &shared.tile);
    else if (blockIdx.y == 0)
        front_depths<D, T, EACH>(front, &shared.depths, &shared.tile);
}

// Enqueues the kernel. T: depths are written transposed.
template <BevDtype D, bool T>
static inline cudaError_t front_launch(Front front, bool overlap, cudaStream_t stream) {
    const Frustums &f = front.f;
    front.depth_blocks = f.slabs * (int)blocks_for(f.width, FRONT_COLUMNS);
    dim3 grid((unsigned)(f.cameras * front.depth_blocks +
                         front.feat.images * front.feat.blocks(FRONT_PIXELS)),
              blocks_for(front.channels, FRONT_CHANNELS));
    auto kernel = f.bins <= FRONT_ROUND<8> ? v4_front_kernel<D, T, 8> : v4_front_kernel<D, T, 16>;
    return launch_overlapped(kernel, grid, FRONT_THREADS, overlap, stream, front);
}

// Returns whether V4 reads the caller's features: channels last, dense, and aligned for its loads.
static inline bool feat_stays(const BevProblem *problem) {
    const BevStrides &s = problem->view.feat;
    const BevShape &shape = problem->shape;
    return s.channel == 1 && s.column == shape.channels && s.row == shape.feat_w * s.column &&
           s.camera == shape.feat_h * s.row && (uintptr_t)problem->feat.data % 16 == 0;
}

// Returns the arguments that follow from the problem; outputs and workspace are not set.
static inline Front front_of(const BevProblem *problem) {
    Front front = {};
    front.depth = problem->depth.data;
    front.view = problem->view;
    front.factor = 1.44269504f / problem->view.temperature;
    front.f = frustums_of(problem->shape);
    front.feat = {problem->feat.data, problem->view.feat, front.f.cameras,
                  front.f.height,     front.f.width,      NULL};
    front.channels = (int)problem->shape.channels;
    if (feat_stays(problem))
        front.feat.images = 0;
    return front;
}
