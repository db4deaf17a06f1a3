// The map of grad_v4: image columns, cut into chunks of depth bins.
#pragma once

#include "kernels/cuda/grad.cuh"
#include "kernels/cuda/v4/v4.cuh" // NO_CELL

constexpr int CHUNK_CELLS = 16; // cells that a chunk can name

// A column is 32 pixels of one camera, a lane each: 32 rows of one image column, or 16 rows of two
// neighbours, or 8 of four: as many rows as the image has.
struct ColumnShape {
    int cameras, bins, height, width;
    int rows, cols;     // of a column: rows * cols = 32
    int slabs, strips;  // ceil(height / rows), ceil(width / cols)

    __host__ __device__ int64_t count() const {
        return (int64_t)cameras * slabs * strips;
    }
};

static inline ColumnShape column_shape(const BevShape &s) {
    int rows = WARP;
    while (rows > 1 && rows / 2 >= s.feat_h)
        rows /= 2;
    int cols = WARP / rows;
    return {(int)s.cameras, (int)s.depth_bins, (int)s.feat_h, (int)s.feat_w, rows, cols,
            (int)(s.feat_h + rows - 1) / rows, (int)(s.feat_w + cols - 1) / cols};
}

// Where a pixel of a column is.
struct ColumnPixel {
    bool exists;
    int64_t row;     // of features
    int64_t element; // of depth, bin 0
};

__device__ inline ColumnPixel column_pixel(const ColumnShape &s, int column, int lane) {
    int strip = column % s.strips, slab = column / s.strips % s.slabs;
    int camera = column / s.strips / s.slabs;
    int h = slab * s.rows + lane / s.cols, w = strip * s.cols + lane % s.cols;
    int64_t in_plane = (int64_t)h * s.width + w, plane = (int64_t)s.height * s.width;
    return {h < s.height && w < s.width, camera * plane + in_plane,
            camera * s.bins * plane + in_plane};
}

// The points of a column in one depth bin and one cell: a bit a pixel.
struct Entry {
    uint32_t pixels;
    uint16_t bin, slot; // slot: which of the chunk's cells
};

// Depth bins [first_bin, end_bin) of a column and their entries, by bin. The chunks of a column have
// all its bins, in order; a bin is in one chunk.
struct Chunk {
    int first_bin, end_bin, first_entry, end_entry;
};

struct ColumnMap {
    ColumnShape shape;
    const int *chunk_starts; // [columns + 1]
    const Chunk *chunks;
    const int *cells;     // [chunks * 16], NO_CELL after the last
    const Entry *entries;
    const float *weights; // [entries * 32], 0 where a pixel is not in the entry; or NULL
};
