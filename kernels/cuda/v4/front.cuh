/* SPDX-License-Identifier: MIT */
// The first kernel of a view transform, before V4 or grad_v4: it makes depths of logits, and brings
// features to channels last. It reads both by the network's strides. Features that lie as V4 reads
// them stay where they are.
#pragma once

#include "kernels/cuda/v4/transpose.cuh"

constexpr int FRONT_CHANNELS = 80; // most channels of a block of features

// The blocks of the kernel. A block of depths has PIXELS pixels, each shared by LANES threads. For
// tiles, whose depths are written transposed, these pixels are a slab of COLUMNS neighbouring image
// columns. For pieces and gradients (COLUMNS 0) they are neighbours in memory. A block of features
// has FRONT_IMAGE_PIXELS pixels. Many small blocks keep all multiprocessors busy and leave room for
// the blocks of the next kernel.
constexpr int FRONT_THREADS = 256, FRONT_IMAGE_PIXELS = 32;

template <int COLUMNS_> struct FrontShape {
    static constexpr int COLUMNS = COLUMNS_, PIXELS = COLUMNS ? SLAB * COLUMNS : 64;
    static constexpr int LANES = FRONT_THREADS / PIXELS;

    static int blocks(const Frustums &f) { // of a camera
        return COLUMNS ? f.slabs * (int)blocks_for(f.width, COLUMNS)
                       : (int)blocks_for((int64_t)f.height * f.width, PIXELS);
    }
};

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
    bool beside;      // starts beside the previous kernel, and ends behind it (overlap.cuh)
};

// The pixel of a thread, and the first of its bins. Neighbouring threads have neighbouring columns,
// or, if the bins come LAST in memory, neighbouring bins of a pixel.
template <typename Shape, bool LAST> struct FrontPixel {
    int camera, number, bin; // number: of the pixel in the block
    int row, w;
    int slab, first_w, column, place; // of a block of columns
    int before;                       // else: the block's first pixel in its image

    // `block` is the number of the block within its camera.
    __device__ FrontPixel(const Frustums &f, unsigned block, int its_camera) : camera(its_camera) {
        constexpr unsigned PIXELS = Shape::PIXELS, LANES = Shape::LANES;
        number = (int)(LAST ? threadIdx.x / LANES : threadIdx.x % PIXELS);
        bin = (int)(LAST ? threadIdx.x % LANES : threadIdx.x / PIXELS);
        if constexpr (Shape::COLUMNS > 0) {
            unsigned across = (unsigned)(f.width + Shape::COLUMNS - 1) / Shape::COLUMNS;
            slab = (int)(block / across);
            first_w = (int)(block % across) * Shape::COLUMNS;
            column = number % Shape::COLUMNS;
            place = number / Shape::COLUMNS;
            row = slab * SLAB + v4_place(place);
            w = first_w + column;
        } else {
            before = (int)block * Shape::PIXELS;
            row = (int)((unsigned)(before + number) / (unsigned)f.width);
            w = before + number - row * f.width;
        }
    }
    __device__ bool exists(const Frustums &f) const {
        return row < f.height && w < f.width;
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

// A thread's logits of one round, and later their powers, in registers.
template <BevDtype D, int LANES, int EACH> struct FrontBins {
    using Code = DepthCode<D>;
    const Code *from; // bin 0
    int64_t stride;
    int first, bins; // bins: 0 outside the image
    float v[EACH];

    // Loads the logits of a round. Bins that do not exist read as -infinity.
    __device__ void load(int base) {
        const Code *p = from + (base + first) * stride;
#pragma unroll
        for (int i = 0; i < EACH; i++, p += LANES * stride) {
            if (i % 4 == 0) // else all addresses would be computed first
                asm("" : "+l"(p));
            v[i] = base + first + i * LANES < bins ? Codec<D>::decode(*p) : -INFINITY;
        }
    }
    __device__ void to_powers(float largest, float factor) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            v[i] = power_of_two((v[i] - largest) * factor);
    }
};

// Depths in shared memory on their way out: all bins of a round, or of one of its PARTS.
template <BevDtype D, typename Shape, int EACH> struct FrontDepths {
    using Code = DepthCode<D>;
    static constexpr int ROUND = Shape::LANES * EACH; // bins
    static constexpr int PARTS = ROUND * Shape::PIXELS * (int)sizeof(Code) > 16384 ? 2 : 1;
    static constexpr int BINS = ROUND / PARTS;
    static constexpr int WORDS = SLAB * (int)sizeof(Code) / (int)sizeof(uint4); // of a bin
    float parts[2][Shape::LANES][Shape::PIXELS]; // what joins: the maximum, then the sum
    union {
        uint4 words[Shape::COLUMNS + 1][BINS * WORDS + 1]; // columns begin in different banks
        Code rows[BINS][Shape::PIXELS + 2];
    };

    template <typename Pixel> __device__ Code *place_of(const Pixel &me, int bin) {
        if constexpr (Shape::COLUMNS > 0)
            return (Code *)words[me.column] + bin * SLAB + me.place;
        else
            return &rows[bin][me.number];
    }
    // Writes `count` bins from `base` on: transposed, where the bins of a column are contiguous, or
    // row by row, (camera, bin, h, w).
    template <typename Pixel>
    __device__ void write(const Frustums &f, const Pixel &me, int base, int count, void *to) const {
        if constexpr (Shape::COLUMNS > 0) {
#pragma unroll 2
            for (int i = (int)threadIdx.x; i < Shape::COLUMNS * BINS * WORDS; i += FRONT_THREADS) {
                int column = i / (BINS * WORDS), word = i % (BINS * WORDS), w = me.first_w + column;
                int64_t first = ((int64_t)me.camera * f.width + w) * f.slabs + me.slab;
                if (w < f.width && word < count * WORDS)
                    ((uint4 *)to)[(first * f.bins + base) * WORDS + word] = words[column][word];
            }
        } else {
            int pixels = f.height * f.width, at = (int)threadIdx.x % Shape::PIXELS;
            Code *row = (Code *)to + ((int64_t)me.camera * f.bins + base) * pixels + me.before + at;
#pragma unroll 4
            for (int bin = (int)threadIdx.x / Shape::PIXELS; bin < count; bin += Shape::LANES)
                if (me.before + at < pixels)
                    row[(int64_t)bin * pixels] = rows[bin][at];
        }
    }
};

// Joins the values of the threads of a pixel. Each thread gets the result.
template <int LANES, int PIXELS, typename Join>
__device__ inline float join_pixel(float mine, int lane, int pixel, float (*parts)[PIXELS],
                                   Join join) {
    parts[lane][pixel] = mine;
    __syncthreads();
    float all = parts[0][pixel];
#pragma unroll
    for (int i = 1; i < LANES; i++)
        all = join(all, parts[i][pixel]);
    return all;
}

// Returns the pixel's largest logit. *share receives 1 / the sum of 2^((logit - largest) * factor).
template <typename Bins, typename Pixel, typename Shared>
__device__ inline float front_sums(Bins &mine, const Pixel &me, int bins, float factor,
                                   Shared *shared, float *share) {
    float largest = -INFINITY, sum = 0;
#pragma unroll 1
    for (int base = 0; base < bins; base += shared->ROUND) {
        mine.load(base);
#pragma unroll
        for (float v : mine.v)
            largest = fmaxf(largest, v);
    }
    constexpr int LANES = sizeof shared->parts[0] / sizeof shared->parts[0][0];
    largest = join_pixel<LANES>(largest, me.bin, me.number, shared->parts[0],
                                [](float a, float b) { return fmaxf(a, b); });
#pragma unroll 1
    for (int base = 0; base < bins; base += shared->ROUND) {
        if (bins > shared->ROUND)
            mine.load(base);
        mine.to_powers(largest, factor);
#pragma unroll
        for (float v : mine.v)
            sum += v;
    }
    *share = 1 / join_pixel<LANES>(sum, me.bin, me.number, shared->parts[1],
                                   [](float a, float b) { return a + b; });
    return largest;
}

// Writes a round's depths through shared memory.
template <BevDtype D, int EACH, typename Pixel, typename Bins, typename Shared>
__device__ inline void put_depths(const Front &front, const Pixel &me, const Bins &mine, int base,
                                  float share, Shared *shared) {
    constexpr int SHARE = EACH / Shared::PARTS, LANES = Shared::ROUND / EACH;
#pragma unroll
    for (int part = 0; part < Shared::PARTS; part++) {
#pragma unroll
        for (int i = 0; i < SHARE; i++)
            *shared->place_of(me, me.bin + i * LANES) =
                Codec<D>::encode(mine.v[part * SHARE + i] * share);
        __syncthreads();
        int first = base + part * Shared::BINS, count = min(Shared::BINS, front.f.bins - first);
        if (count > 0)
            shared->write(front.f, me, first, count, front.to_depth);
        __syncthreads();
    }
}

// Computes the softmax over a pixel's bins, or copies the logits. If one round suffices, the powers
// stay in registers. All depths of a pixel become NaN if a logit is NaN or +infinity, or if all
// logits are -infinity.
template <BevDtype D, bool LAST, typename Shape, int EACH>
__device__ inline void front_depths(const Front &front, FrontDepths<D, Shape, EACH> *shared) {
    const Frustums &f = front.f;
    unsigned camera = blockIdx.x / (unsigned)front.depth_blocks;
    FrontPixel<Shape, LAST> me(f, blockIdx.x - camera * (unsigned)front.depth_blocks, (int)camera);
    bool softmax = front.view.softmax, again = !softmax || f.bins > shared->ROUND;
    const DepthCode<D> *from =
        (const DepthCode<D> *)front.depth + stride_to(front.view.depth, me.camera, me.row, me.w);
    FrontBins<D, Shape::LANES, EACH> mine = {
        from, LAST ? 1 : front.view.depth.channel, me.bin, me.exists(f) ? f.bins : 0, {}};
    float share = 1, largest = 0;
    if (softmax)
        largest = front_sums(mine, me, f.bins, front.factor, shared, &share);
#pragma unroll 1
    for (int base = 0; base < f.bins; base += shared->ROUND) {
        if (again)
            mine.load(base);
        if (again && softmax)
            mine.to_powers(largest, front.factor);
        put_depths<D, EACH>(front, me, mine, base, share, shared);
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
        const DepthCode<D> *from = (const DepthCode<D> *)array.from + first +
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
        to[(int64_t)(i / count) * channels + i % count] = tile->row(i / count)[i % count];
}

// blockIdx.x counts blocks of depths, then of features; .y counts blocks of channels. The kernel
// also zeroes Workspace::arrived, where the blocks of a tile meet.
template <BevDtype D, bool LAST, typename Shape, int EACH>
__global__ void __launch_bounds__(FRONT_THREADS, EACH > 16 ? 4 : 5)
    v4_front_kernel(const __grid_constant__ Front front) {
    __shared__ union {
        FrontDepths<D, Shape, EACH> depths;
        FrontTile<D, FRONT_IMAGE_PIXELS> tile;
    } shared;
    if (!front.beside)
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
        front_depths<D, LAST, Shape, EACH>(front, &shared.depths);
    if (front.beside)
        wait_for_previous_kernel();
}

template <BevDtype D, typename Shape>
static inline cudaError_t front_launch_as(Front front, bool overlap, cudaStream_t stream) {
    const Frustums &f = front.f;
    front.depth_blocks = Shape::blocks(f);
    dim3 grid((unsigned)(f.cameras * front.depth_blocks +
                         front.feat.images * front.feat.blocks(FRONT_IMAGE_PIXELS)),
              blocks_for(front.channels, FRONT_CHANNELS));
    return with_flag(front.view.depth.channel == 1, [&]<bool LAST>() {
        constexpr int EACH = 64 / Shape::LANES; // bins of a thread, in a round of 64 or of 128
        auto kernel = f.bins <= 64 ? v4_front_kernel<D, LAST, Shape, EACH>
                                   : v4_front_kernel<D, LAST, Shape, 2 * EACH>;
        return launch_overlapped(kernel, grid, FRONT_THREADS, 0, overlap, stream, front);
    });
}

// Enqueues the kernel. T: depths are written transposed.
template <BevDtype D, bool T>
static inline cudaError_t front_launch(const Front &front, bool overlap, cudaStream_t stream) {
    constexpr int FEW = 128; // blocks: about one a multiprocessor
    if constexpr (!T)
        return front_launch_as<D, FrontShape<0>>(front, overlap, stream);
    else if (front.f.cameras * FrontShape<4>::blocks(front.f) < FEW)
        return front_launch_as<D, FrontShape<2>>(front, overlap, stream);
    else
        return front_launch_as<D, FrontShape<4>>(front, overlap, stream);
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
