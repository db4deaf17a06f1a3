/* SPDX-License-Identifier: MIT */
// The kernel after V4 if the output has channels first. The cells of a tile lie scattered over the
// grid: written one by one with channels first, each would touch a sector for every channel. So
// tiles write rows of channels, only of cells with points, into the workspace. This kernel brings
// the rows into the output and zeroes all other cells.
#pragma once

#include "kernels/cuda/v4/overlap.cuh"

constexpr int SPREAD_CELLS = 64, SPREAD_THREADS = 320;
constexpr int SPREAD_WORDS = 40; // of a cell: the channels that a block takes

struct Spread {
    const void *from;         // (sample, cell, channel)
    void *to;                 // (sample, channel, cell)
    const uint32_t *occupied; // a bit for each cell of all samples: 1 if it has points
    int64_t cells;            // of a sample
    int channels;
    bool early; // starts before the previous kernel has ended
};

template <typename Code> struct SpreadTile {
    static constexpr int IN_WORD = 4 / (int)sizeof(Code), IN_VECTOR = 16 / (int)sizeof(Code);
    static constexpr int CHANNELS = SPREAD_WORDS * IN_WORD;
    uint32_t words[SPREAD_CELLS][SPREAD_WORDS + 1];
};

// A thread's share of cells [first, first + 64) and channels [c0, c0 + count): EACH words of 16
// bytes. It reads which cells have points before it waits for the previous kernel, since the plan
// owns these bits.
template <typename Code> struct SpreadWords {
    static constexpr int PARTS = SPREAD_WORDS / 4; // of a row, at most
    static constexpr int EACH = SPREAD_CELLS * PARTS / SPREAD_THREADS;
    static_assert(EACH * SPREAD_THREADS == SPREAD_CELLS * PARTS && SPREAD_THREADS % PARTS == 0);
    static constexpr int DISTANCE = SPREAD_THREADS / PARTS; // from one row of a thread to its next
    uint4 words[EACH];
    const Code *from;
    int row, part;   // of the first word
    unsigned wanted; // a bit for each word

    __device__ SpreadWords(const Spread &spread, int64_t first, int c0, int count, int rows)
        : row((int)threadIdx.x / PARTS), part((int)threadIdx.x % PARTS), wanted(0) {
        int64_t cell = blockIdx.y * spread.cells + first + row;
        from = (const Code *)spread.from + cell * spread.channels + c0;
        bool mine = part * SpreadTile<Code>::IN_VECTOR < count;
#pragma unroll
        for (int i = 0; i < EACH; i++, cell += DISTANCE)
            if (mine && row + i * DISTANCE < rows)
                wanted |= (__ldg(spread.occupied + cell / WARP) >> cell % WARP & 1) << i;
    }
    __device__ void load(int channels) {
        const Code *p = from;
#pragma unroll
        for (int i = 0; i < EACH; i++, p += (int64_t)DISTANCE * channels)
            words[i] = wanted >> i & 1 ? ((const uint4 *)p)[part] : make_uint4(0, 0, 0, 0);
    }
    __device__ void put(SpreadTile<Code> *tile) const {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            uint32_t *to = &tile->words[row + i * DISTANCE][part * 4];
            to[0] = words[i].x, to[1] = words[i].y, to[2] = words[i].z, to[3] = words[i].w;
        }
    }
};

// Loads the rows code by code. Rows that are not whole words of 16 bytes need this function.
template <typename Code>
__device__ inline void spread_load(const Spread &spread, int64_t first, int c0, int count, int rows,
                                   SpreadTile<Code> *tile) {
    int64_t before = blockIdx.y * spread.cells + first;
    const Code *from = (const Code *)spread.from + before * spread.channels + c0;
    for (int i = (int)threadIdx.x; i < rows * count; i += SPREAD_THREADS) {
        int row = i / count, c = i % count;
        int64_t cell = before + row;
        Code code = {};
        if (spread.occupied[cell / WARP] >> cell % WARP & 1)
            code = from[(int64_t)row * spread.channels + c];
        ((Code *)tile->words[row])[c] = code;
    }
}

// Writes a tile. A thread writes 16 bytes, neighbouring cells, for each channel of a word.
template <typename Code>
__device__ inline void spread_store(const SpreadTile<Code> &tile, int rows, int count,
                                    int64_t distance, Code *to) {
    constexpr int IN_WORD = tile.IN_WORD, IN_VECTOR = tile.IN_VECTOR;
    constexpr int GROUPS = SPREAD_CELLS / IN_VECTOR;
    for (int i = (int)threadIdx.x; i < GROUPS * SPREAD_WORDS; i += SPREAD_THREADS) {
        int row = i % GROUPS * IN_VECTOR, word = i / GROUPS;
        if (row >= rows || word * IN_WORD >= count)
            continue;
        struct alignas(16) {
            Code of[IN_VECTOR];
        } vectors[IN_WORD];
#pragma unroll
        for (int k = 0; k < IN_VECTOR; k++) {
            Code codes[IN_WORD];
            memcpy(codes, &tile.words[row + k][word], 4);
#pragma unroll
            for (int e = 0; e < IN_WORD; e++)
                vectors[e].of[k] = codes[e];
        }
#pragma unroll
        for (int e = 0; e < IN_WORD; e++)
            if (word * IN_WORD + e < count)
                __stcs((uint4 *)(to + (word * IN_WORD + e) * distance + row),
                       *(const uint4 *)&vectors[e]);
    }
}

// blockIdx.x: 64 cells; .y: sample; .z: channels. WIDE: a sample has whole vectors of cells.
template <typename Code, bool WIDE>
__global__ void __launch_bounds__(SPREAD_THREADS)
    v4_spread_kernel(const __grid_constant__ Spread spread) {
    __shared__ SpreadTile<Code> tile;
    int64_t first = (int64_t)blockIdx.x * SPREAD_CELLS;
    int c0 = (int)blockIdx.z * tile.CHANNELS, count = min(tile.CHANNELS, spread.channels - c0);
    int rows = (int)min((int64_t)SPREAD_CELLS, spread.cells - first);
    if (spread.channels % tile.IN_VECTOR == 0) {
        SpreadWords<Code> words(spread, first, c0, count, rows);
        if (spread.early) // without the condition the compiler moves what is above behind the wait
            wait_for_previous_kernel();
        words.load(spread.channels);
        words.put(&tile);
    } else {
        wait_for_previous_kernel();
        spread_load(spread, first, c0, count, rows, &tile);
    }
    __syncthreads();
    Code *to =
        (Code *)spread.to + ((int64_t)blockIdx.y * spread.channels + c0) * spread.cells + first;
    if constexpr (WIDE) {
        spread_store(tile, rows, count, spread.cells, to);
    } else {
        for (int i = (int)threadIdx.x; i < SPREAD_CELLS * count; i += SPREAD_THREADS) {
            int row = i % SPREAD_CELLS, c = i / SPREAD_CELLS;
            if (row < rows)
                to[c * spread.cells + row] = ((const Code *)tile.words[row])[c];
        }
    }
}

template <typename Code>
static inline cudaError_t spread_launch(Spread spread, int64_t samples, bool overlap,
                                        cudaStream_t stream) {
    spread.early = overlap;
    using Tile = SpreadTile<Code>;
    dim3 grid(blocks_for(spread.cells, SPREAD_CELLS), (unsigned)samples,
              blocks_for(spread.channels, Tile::CHANNELS));
    bool wide = spread.cells % Tile::IN_VECTOR == 0 && (uintptr_t)spread.to % 16 == 0;
    return wide ? launch_overlapped(v4_spread_kernel<Code, true>, grid, SPREAD_THREADS, 0, overlap,
                                    stream, spread)
                : launch_overlapped(v4_spread_kernel<Code, false>, grid, SPREAD_THREADS, 0, overlap,
                                    stream, spread);
}

// Each warp writes one word of `occupied`.
static __global__ void v4_occupied_kernel(const int *cell_intervals, int64_t cells,
                                          uint32_t *occupied) {
    int64_t cell = thread_number();
    unsigned word = __ballot_sync(~0u, cell < cells && cell_intervals[cell] != NO_CELL);
    if (cell % WARP == 0 && cell < cells)
        occupied[cell / WARP] = word;
}
