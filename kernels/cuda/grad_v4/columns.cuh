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
    int h, w;
    int64_t row;     // of features
    int64_t element; // of depth, bin 0
};

__device__ inline ColumnPixel column_pixel(const ColumnShape &s, int column, int lane) {
    int strip = column % s.strips, slab = column / s.strips % s.slabs;
    int camera = column / s.strips / s.slabs;
    int h = slab * s.rows + lane / s.cols, w = strip * s.cols + lane % s.cols;
    int64_t in_plane = (int64_t)h * s.width + w, plane = (int64_t)s.height * s.width;
    return {h < s.height && w < s.width, h, w, camera * plane + in_plane,
            camera * s.bins * plane + in_plane};
}

// The points of a column in one depth bin and one cell: a bit a pixel, and packed fields. Entries of
// a chunk are sorted by bin; in the order by cell, entry FROM of the chunk comes at this place.
struct alignas(8) Entry {
    uint32_t pixels, fields;

    __host__ __device__ static uint32_t pack(int from, int slot, bool last, int bin) {
        return (uint32_t)(from | slot << 5 | last << 9) | (uint32_t)bin << 16;
    }
    __device__ static int from(uint32_t fields) { // this and no other field is of the order by cell
        return fields & 31;
    }
    __device__ static int slot(uint32_t fields) { // which of the chunk's cells
        return fields >> 5 & 15;
    }
    __device__ static bool last(uint32_t fields) { // of its cell
        return fields >> 9 & 1;
    }
    __device__ static int bin(uint32_t fields) { // after the chunk's first
        return fields >> 16;
    }
};

constexpr int CHUNK_ENTRIES = WARP; // a lane each; those that do not exist have no pixels

// Depth bins [first_bin, first_bin + bins) of a column. The chunks of a column have all its bins, in
// order; a bin is in one chunk. A chunk without bins does not exist.
struct alignas(16) Chunk {
    int first_bin, bins;
    int16_t entries, cells;
    int first_weights; // weighted maps: row of `weights` of entry 0
};

struct ColumnMap {
    ColumnShape shape;
    int column_chunks;    // chunks a column; the arrays begin with those of column 0
    const Chunk *chunks;  // [columns * column_chunks]
    const int *cells;     // [chunks * 16], NO_CELL after the last
    const Entry *entries; // [chunks * 32]
    const float *weights; // [rows * 32], 0 where a pixel is not in the entry; or NULL
};
