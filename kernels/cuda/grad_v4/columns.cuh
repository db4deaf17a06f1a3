/* SPDX-License-Identifier: MIT */
// The map of grad_v4: image columns, which are cut into chunks of depth bins.
#pragma once

#include "kernels/cuda/grad.cuh"
#include "kernels/cuda/v4/v4.cuh" // NO_CELL

constexpr int CHUNK_CELLS = 16; // most cells of a chunk

// The shape of columns. A column is 32 pixels of one camera, one a lane: 32 rows of one image
// column, 16 rows of two neighbours, 8 rows of four, ... It has as many rows as the image allows.
struct ColumnShape {
    int cameras, bins, height, width;
    int rows, log_cols; // of a column: rows << log_cols = 32
    int slabs, strips;  // ceil(height / rows), ceil(width / cols)

    __host__ __device__ int cols() const {
        return 1 << log_cols;
    }
    __host__ __device__ int64_t count() const {
        return (int64_t)cameras * slabs * strips;
    }
};

static inline ColumnShape column_shape(const BevShape &s) {
    int rows = WARP, log_cols = 0;
    while (rows > 1 && rows / 2 >= s.feat_h)
        rows /= 2, log_cols++;
    return {(int)s.cameras,
            (int)s.depth_bins,
            (int)s.feat_h,
            (int)s.feat_w,
            rows,
            log_cols,
            (int)(s.feat_h + rows - 1) / rows,
            (int)((s.feat_w - 1) >> log_cols) + 1};
}

// The position of a column's pixel in the tensors.
struct ColumnPixel {
    bool exists;
    int64_t row;     // row of features
    int64_t element; // index of its depth in bin 0
};

// The position of a column: its first image row h0 and image column w0.
struct ColumnPlace {
    int camera, h0, w0;

    __device__ ColumnPixel pixel(const ColumnShape &s, int lane) const {
        int h = h0 + (lane >> s.log_cols), w = w0 + (lane & (s.cols() - 1));
        int64_t plane = (int64_t)s.height * s.width, in_plane = (int64_t)h * s.width + w;
        return {h < s.height && w < s.width, camera * plane + in_plane,
                camera * s.bins * plane + in_plane};
    }
};

// A chunk is at most 16 neighbouring depth bins of a column whose points fall into at most 16
// cells. The chunks of a column have all its bins, in order. A chunk without bins does not exist.
constexpr int CHUNK_BINS = 16, NO_SLOT = CHUNK_CELLS;

struct alignas(8) Chunk {
    int first_bin, bins;
};

// A chunk has a table with LAYERS bytes for each bin and pixel. A byte is the slot of the cell that
// a point of this pixel reaches in this bin, or NO_SLOT. A lane reads the slots of its pixel in
// pieces of 16 bytes: 16 bins of a map with one layer, 4 bins of a map with four.
constexpr int WEIGHTED_LAYERS = 4;

struct ColumnMap {
    ColumnShape shape;
    int column_chunks;     // room for chunks in each column's part of the arrays
    const int *counts;     // [columns]: number of chunks that exist
    const Chunk *chunks;   // [columns * column_chunks]
    const int *cells;      // [chunks * 16], NO_CELL after a chunk's last cell
    const uint4 *slots;    // [chunks][layers][32]: pieces
    const float4 *weights; // [columns * bins][32]: of the four layers, 0 without a point; or NULL
};
