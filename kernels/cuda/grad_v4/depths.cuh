/* SPDX-License-Identifier: MIT */
// The depths of a block of grad_v4, of all its columns and bins, in shared memory.
#pragma once

#include "kernels/cuda/grad_v4/products.cuh"

// The kernel reads all depths first. Later it writes each depth's gradient in its place, bin by
// bin. Pixels are sorted by image row, then column: one instruction copies neighbours of a row.
template <BevDtype D> struct BlockDepths {
    const ColumnShape &shape;
    Code<D> *codes; // [bins][rows][width]
    int width;      // image columns of the block, a power of two
    int pixels;     // 32 * columns
    int h0, w0;
    int64_t first; // index of the camera's depth in bin 0, row 0, column 0

    // Calls f(index in codes, index of depth) for all words of `step` pixels inside the image. A
    // thread has the same pixels in all bins: both numbers are powers of two, and there are at
    // least as many threads as words.
    template <typename F> __device__ void each(int step, F f) const {
        int thread = threadIdx.y * blockDim.x + threadIdx.x, words = pixels / step;
        int p = (thread & (words - 1)) * step, bin = thread >> (__ffs(words) - 1);
        int bins = (blockDim.x * blockDim.y) >> (__ffs(words) - 1);
        int h = h0 + (p >> (__ffs(width) - 1)), w = w0 + (p & (width - 1));
        if (h >= shape.height || w >= shape.width)
            return;
        int64_t plane = (int64_t)shape.height * shape.width;
        int64_t element = first + bin * plane + (int64_t)h * shape.width + w;
        int at = bin * pixels + p;
#pragma unroll 1
        for (; bin < shape.bins; bin += bins) {
            f(at, element);
            at += bins * pixels, element += bins * plane;
        }
    }
    // Returns whether words of this size lie within rows and are aligned.
    __device__ bool has_words(int bytes) const {
        int step = bytes / (int)sizeof(Code<D>);
        return width % step == 0 && shape.width % step == 0;
    }
    template <typename Word> __device__ void load_words(const Code<D> *from) const {
        each((int)(sizeof(Word) / sizeof(Code<D>)), [&](int at, int64_t element) {
            copy_word_async<sizeof(Word)>(codes + at, from + element);
        });
    }
    template <typename Word> __device__ void store_words(Code<D> *to) const {
        each((int)(sizeof(Word) / sizeof(Code<D>)), [&](int at, int64_t element) {
            *(Word *)(to + element) = *(const Word *)(codes + at);
        });
    }
    __device__ void load(const void *depth) const {
        const Code<D> *from = (const Code<D> *)depth;
        if (has_words(8))
            load_words<uint2>(from);
        else if (has_words(4))
            load_words<uint32_t>(from);
        else
            each(1, [&](int at, int64_t element) { codes[at] = from[element]; });
    }
    __device__ void store(void *grad_depth) const {
        Code<D> *to = (Code<D> *)grad_depth;
        if (has_words(8))
            store_words<uint2>(to);
        else if (has_words(4))
            store_words<uint32_t>(to);
        else
            each(1, [&](int at, int64_t element) { to[element] = codes[at]; });
    }
    // Returns a pixel's code in bin 0, for a column of the block; other bins are `pixels` apart.
    __device__ Code<D> *pixel_codes(int column, int lane) const {
        int log_cols = shape.log_cols;
        return codes + (lane >> log_cols) * width + (column << log_cols) +
               (lane & (shape.cols() - 1));
    }
};
