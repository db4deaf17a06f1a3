/* SPDX-License-Identifier: MIT */
/* Transposes tensors on the device: channels first to channels last, or back. This file has no
 * row. */
#include "kernels/cuda/transpose.h"

#ifdef __CUDACC__
#include "kernels/cuda/common.cuh"

namespace {

constexpr int TILE = 32, TILE_ROWS = 8;

// Transposes (outer, a, b) to (outer, b, a), square by square through shared memory. Reads and
// writes are whole rows. blockIdx.x counts squares along b, then a; blockIdx.y and .z `outer`.
template <typename T>
__global__ void transpose_kernel(const T *from, T *to, int64_t outer, int64_t a, int64_t b) {
    __shared__ T tile[TILE][TILE + 1];
    int across = (int)((b + TILE - 1) / TILE), square_b;
    int64_t square_a = divide(blockIdx.x, across, &square_b);
    int64_t o = (int64_t)blockIdx.z * gridDim.y + blockIdx.y;
    if (o >= outer)
        return;
    from += o * a * b;
    to += o * a * b;
    int64_t column = (int64_t)square_b * TILE + threadIdx.x, row = square_a * TILE;
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < a && column < b)
            tile[i][threadIdx.x] = from[(row + i) * b + column];
    __syncthreads();
    column = row + threadIdx.x;
    row = (int64_t)square_b * TILE;
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < b && column < a)
            to[(row + i) * a + column] = tile[threadIdx.x][i];
}

constexpr int WIDE = 64, WIDE_THREADS = 256;

// Does the same in squares of WIDE for rows of whole 16-byte vectors: each thread reads and writes
// vectors. One more word at the end of a square's row keeps the columns in different banks.
template <typename T>
__global__ void transpose_wide_kernel(const T *from, T *to, int64_t outer, int64_t a, int64_t b) {
    constexpr int IN_WORD = 4 / sizeof(T), IN_VECTOR = 16 / sizeof(T), ACROSS = WIDE / IN_VECTOR;
    struct alignas(16) Vector {
        T value[IN_VECTOR];
    };
    __shared__ uint32_t tile[WIDE][WIDE / IN_WORD + 1];
    int across = (int)((b + WIDE - 1) / WIDE), square_b;
    int64_t row_a = divide(blockIdx.x, across, &square_b) * WIDE, row_b = (int64_t)square_b * WIDE;
    int64_t o = (int64_t)blockIdx.z * gridDim.y + blockIdx.y;
    if (o >= outer)
        return;
    from += o * a * b;
    to += o * a * b;
    for (int i = threadIdx.x; i < WIDE * ACROSS; i += WIDE_THREADS) {
        int row = i / ACROSS, part = i % ACROSS;
        if (row_a + row >= a || row_b + part * IN_VECTOR >= b)
            continue;
        uint4 words = *(const uint4 *)(from + (row_a + row) * b + row_b + part * IN_VECTOR);
        uint32_t *place = &tile[row][part * 4];
        place[0] = words.x, place[1] = words.y, place[2] = words.z, place[3] = words.w;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < WIDE * ACROSS; i += WIDE_THREADS) {
        int row = i / ACROSS, part = i % ACROSS * IN_VECTOR;
        if (row_b + row >= b || row_a + part >= a)
            continue;
        Vector column;
        for (int k = 0; k < IN_VECTOR; k++)
            column.value[k] = ((const T *)tile[part + k])[row];
        *(Vector *)(to + (row_b + row) * a + row_a + part) = column;
    }
}

template <typename T>
void enqueue_transpose(const void *from, void *to, int64_t outer, int64_t a, int64_t b,
                       cudaStream_t stream) {
    constexpr int64_t MOST = 32768; // largest gridDim.y
    constexpr int IN_VECTOR = 16 / sizeof(T);
    bool wide = a % IN_VECTOR == 0 && b % IN_VECTOR == 0 && (uintptr_t)from % 16 == 0 &&
                (uintptr_t)to % 16 == 0;
    int edge = wide ? WIDE : TILE;
    dim3 grid(blocks_for(a, edge) * blocks_for(b, edge), (unsigned)(outer < MOST ? outer : MOST),
              blocks_for(outer, MOST));
    if (wide)
        transpose_wide_kernel<<<grid, WIDE_THREADS, 0, stream>>>((const T *)from, (T *)to, outer, a,
                                                                 b);
    else
        transpose_kernel<<<grid, dim3(TILE, TILE_ROWS), 0, stream>>>((const T *)from, (T *)to,
                                                                     outer, a, b);
}

} // namespace

bool cuda_transpose(const void *from, void *to, size_t bytes, int64_t outer, int64_t a, int64_t b,
                    void *on, Err *err) {
    cudaStream_t stream = (cudaStream_t)on;
    if (bytes == 1)
        enqueue_transpose<uint8_t>(from, to, outer, a, b, stream);
    else if (bytes == 2)
        enqueue_transpose<uint16_t>(from, to, outer, a, b, stream);
    else
        enqueue_transpose<uint32_t>(from, to, outer, a, b, stream);
    return cuda_ok(cudaGetLastError(), "transposition", err);
}
#endif
