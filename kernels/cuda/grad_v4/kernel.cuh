// grad_v4 on columns: WARPS warps own a column of 32 pixels, each of them chunks of its depth bins; a
// block has one or more neighbouring columns.
#pragma once

#include "kernels/cuda/grad_v4/products.cuh"

// Entries that are looked up together; weights come from far away.
template <bool W> constexpr int ENTRY_BATCH = W ? 8 : 4;

// ---- the depths of a block: all its columns, all bins, in shared memory -------------------------

// They are read before the sums and replaced by their gradients, bin by bin. Pixels lie by image row,
// then by image column, so that the neighbours of a row are loaded and stored together.
template <BevDtype D> struct BlockDepths {
    static constexpr int WORD = 4 / (int)sizeof(Code<D>); // pixels of 4 bytes
    const ColumnShape &shape;
    Code<D> *codes; // [bins][rows][width]
    int width;      // image columns of the block, a power of two
    int pixels;     // 32 * columns
    int h0, w0;
    int64_t first; // element of bin 0, row 0, column 0 of the camera

    // Calls f(place in codes, element, exists) for all words of 4 bytes, or for all codes.
    template <typename F> __device__ void each(int step, F f) const {
        int words = pixels / step, threads = blockDim.x * blockDim.y;
        int log_words = __ffs(words) - 1, log_width = __ffs(width) - 1; // powers of two
        int64_t plane = (int64_t)shape.height * shape.width;
#pragma unroll 4
        for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < shape.bins * words; i += threads) {
            int bin = i >> log_words, p = (i & (words - 1)) * step;
            int h = h0 + (p >> log_width), w = w0 + (p & (width - 1));
            f(bin * pixels + p, first + bin * plane + (int64_t)h * shape.width + w,
              h < shape.height && w < shape.width);
        }
    }
    // Whether neighbours can be loaded as a word.
    __device__ bool by_words() const {
        return width % WORD == 0 && shape.width % WORD == 0;
    }
    __device__ void load(const void *depth) const {
        const Code<D> *from = (const Code<D> *)depth;
        if (by_words())
            each(WORD, [&](int at, int64_t element, bool exists) {
                copy_word_async(codes + at, exists ? from + element : from, exists);
            });
        else
            each(1, [&](int at, int64_t element, bool exists) {
                if (exists)
                    codes[at] = from[element];
            });
    }
    __device__ void store(void *grad_depth) const {
        Code<D> *to = (Code<D> *)grad_depth;
        if (by_words())
            each(WORD, [&](int at, int64_t element, bool exists) {
                if (exists)
                    *(uint32_t *)(to + element) = *(const uint32_t *)(codes + at);
            });
        else
            each(1, [&](int at, int64_t element, bool exists) {
                if (exists)
                    to[element] = codes[at];
            });
    }
    // A pixel's code of bin 0; those of other bins are `pixels` apart.
    __device__ Code<D> *of(const ColumnPixel &pixel) const {
        return codes + (pixel.h - h0) * width + pixel.w - w0;
    }
};

// ---- a warp's chunk ----------------------------------------------------------------------------

// What a warp reads of the map for a chunk, lane by lane.
struct ChunkPart {
    Chunk chunk;
    int cell;
    Entry entry;

    __device__ void read(const ColumnMap &map, int64_t number) {
        int lane = threadIdx.x % WARP;
        chunk = map.chunks[number];
        cell = lane < CHUNK_CELLS ? map.cells[number * CHUNK_CELLS + lane] : NO_CELL;
        entry = map.entries[number * CHUNK_ENTRIES + lane];
    }
};

template <BevDtype D, bool W, int CHANNELS, int WARPS> struct ColumnWarp {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    const Grad &grad;
    const ColumnMap &map;
    Shared &shared; // of this column
    Code<D> *depths; // of this lane's pixel
    int depth_step;  // from bin to bin
    int warp, lane;

    __device__ int feat_stride() const {
        return Shared::feat_stride(grad.channels);
    }
    __device__ Code<D> *feat() const {
        return (Code<D> *)(&shared + 1);
    }

    // The column's features, all channels; every warp of the column takes part.
    __device__ void load_features(int column) {
        constexpr int EACH = Shared::PAD; // codes of 16 bytes
        int words = grad.channels / EACH;
        for (int i = threadIdx.x; i < WARP * words; i += WARPS * WARP) {
            ColumnPixel p = column_pixel(map.shape, column, i / words);
            int c = i % words * EACH;
            const Code<D> *from = (const Code<D> *)grad.feat;
            copy_async(feat() + i / words * feat_stride() + c,
                       p.exists ? from + p.row * grad.channels + c : from, p.exists);
        }
    }

    // Rows of grad_out of a chunk, channels [c0, c0 + CHANNELS).
    __device__ void load_rows(int cell, int c0) {
        constexpr int EACH = Shared::PAD, WORDS = CHANNELS / EACH;
#pragma unroll
        for (int i = 0; i < CHUNK_CELLS * WORDS; i += WARP) {
            int slot = (i + lane) / WORDS, c = (i + lane) % WORDS * EACH;
            int row = __shfl_sync(~0u, cell, slot);
            const Code<D> *from = (const Code<D> *)grad.grad_out;
            copy_async(&shared.out[warp * CHUNK_CELLS + slot][c],
                       row == NO_CELL ? from : from + (int64_t)row * grad.channels + c0 + c,
                       row != NO_CELL);
        }
    }

    __device__ float weight(const Chunk &chunk, int entry) const {
        return W ? __ldg(map.weights + ((int64_t)chunk.first_weights + entry) * WARP + lane) : 1;
    }

    // A slot's depth x weight as operands.
    __device__ void put_factor(int slot, float rest) {
#pragma unroll
        for (int n = 0; n < PARTS<D>; n++) {
            Code<D> part = Codec<D>::encode(rest);
            shared.factors[n][warp * CHUNK_CELLS + slot][lane] = part;
            rest = (rest - Codec<D>::decode(part)) * PART_SCALE<D>;
        }
    }

    // depth x weight of the entries, summed by cell.
    __device__ void sum_factors(const ChunkPart &part) {
        int from = Entry::from(part.entry.fields);
        uint32_t by_cell = __shfl_sync(~0u, part.entry.pixels, from);
        uint32_t fields = __shfl_sync(~0u, part.entry.fields, from);
        if (lane >= part.chunk.entries) // FROM is of no entry
            by_cell = fields = 0;
        const Code<D> *own = depths + part.chunk.first_bin * depth_step;
        float sum = 0;
        for (int e = 0; e < part.chunk.entries; e += ENTRY_BATCH<W>) {
            float term[ENTRY_BATCH<W>];
            uint32_t field[ENTRY_BATCH<W>];
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH<W>; b++) { // past the last entry: no pixels, not the last
                field[b] = __shfl_sync(~0u, fields, e + b);
                bool mine = __shfl_sync(~0u, by_cell, e + b) >> lane & 1;
                int number = __shfl_sync(~0u, from, e + b);
                term[b] = mine ? Codec<D>::decode(own[Entry::bin(field[b]) * depth_step]) : 0.0f;
                if (W && mine)
                    term[b] *= weight(part.chunk, number);
            }
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH<W>; b++) {
                sum += term[b];
                if (Entry::last(field[b])) {
                    put_factor(Entry::slot(field[b]), sum);
                    sum = 0;
                }
            }
        }
        for (int slot = part.chunk.cells; slot < CHUNK_CELLS; slot++)
            put_factor(slot, 0);
    }

    // grad_depth of the chunk's bins from the dots of its cells; bins without an entry get 0.
    __device__ void put_depths(const ChunkPart &part) {
        const float(*sums)[SUMS_STRIDE] = shared.sums[warp];
        Code<D> *own = depths + part.chunk.first_bin * depth_step;
        int bin = 0;
        float sum = 0;
        auto put = [&] {
            *own = Codec<D>::encode(sum);
            own += depth_step, bin++, sum = 0;
        };
        for (int e = 0; e < part.chunk.entries; e += ENTRY_BATCH<W>) {
            float term[ENTRY_BATCH<W>];
            int bins[ENTRY_BATCH<W>];
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH<W>; b++) { // past the last entry: no pixels, bin 0
                uint32_t fields = __shfl_sync(~0u, part.entry.fields, e + b);
                bool mine = __shfl_sync(~0u, part.entry.pixels, e + b) >> lane & 1;
                term[b] = mine ? sums[Entry::slot(fields)][lane] : 0.0f;
                if (W && mine)
                    term[b] *= weight(part.chunk, e + b);
                bins[b] = Entry::bin(fields);
            }
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH<W>; b++) {
                while (bin < bins[b])
                    put();
                sum += term[b];
            }
        }
        while (bin < part.chunk.bins)
            put();
    }

    __device__ void add_dots(Dots<D> *dots, int c) {
        dots->template add<CHANNELS>(shared.out[warp * CHUNK_CELLS], Shared::STRIDE, feat() + c,
                                     feat_stride());
    }

    // A chunk, whose rows of channels from c0 on are on their way. With grad_depth, which needs all
    // channels: those of other blocks first.
    __device__ void run(const ChunkPart &part, int c0, bool with_depth) {
        Dots<D> dots = {};
        sum_factors(part);
        wait_for_copies();
        __syncwarp();
        if (!with_depth)
            return;
        for (int c = CHANNELS; c < grad.channels; c += CHANNELS) {
            load_rows(part.cell, c);
            wait_for_copies();
            __syncwarp();
            add_dots(&dots, c);
            __syncwarp();
            if (c + CHANNELS == grad.channels)
                load_rows(part.cell, c0);
        }
        wait_for_copies();
        __syncwarp();
        add_dots(&dots, c0);
        dots.store(shared.sums[warp]);
        __syncwarp();
        put_depths(part);
    }
};

// Waits for all warps of this thread's column, which are the threads of equal threadIdx.y; returns
// how many of them said yes.
template <int WARPS> __device__ inline int column_barrier(bool yes) {
    int threads;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; bar.red.popc.u32 %0, %1, %2, p; }"
                 : "=r"(threads)
                 : "r"(threadIdx.y + 1), "n"(WARPS * WARP), "r"((int)yes)
                 : "memory");
    return threads / WARP;
}

// One element of grad_feat point by point: multiplying whole chunks lets an infinite or NaN gradient
// reach pixels that do not see its cell, as 0 x infinity, and factors may overflow a half.
template <BevDtype D, bool W>
__device__ __noinline__ float feat_point_by_point(const Grad &grad, const ColumnMap &map,
                                                  int column, int lane, int c) {
    ColumnPixel pixel = column_pixel(map.shape, column, lane);
    int64_t plane = (int64_t)map.shape.height * map.shape.width;
    float sum = 0;
    for (int i = 0; i < map.column_chunks; i++) {
        int64_t number = (int64_t)column * map.column_chunks + i;
        Chunk chunk = map.chunks[number];
        for (int e = 0; e < chunk.entries; e++) {
            Entry entry = map.entries[number * CHUNK_ENTRIES + e];
            if (!(entry.pixels >> lane & 1))
                continue;
            int64_t cell = map.cells[number * CHUNK_CELLS + Entry::slot(entry.fields)];
            int bin = chunk.first_bin + Entry::bin(entry.fields);
            float depth = value_at<D>(grad.depth, pixel.element + bin * plane);
            if (W)
                depth *= map.weights[((int64_t)chunk.first_weights + e) * WARP + lane];
            sum += depth * value_at<D>(grad.grad_out, cell * grad.channels + c);
        }
    }
    return sum;
}

// All chunks of a column, then its grad_feat. The copies of features, depths and the first rows are
// under way when the block comes to its barrier.
template <BevDtype D, bool W, int CHANNELS, int WARPS>
__device__ void column_run(ColumnWarp<D, W, CHANNELS, WARPS> &self, int column, bool exists,
                           int c0) {
    const ColumnMap &map = self.map;
    int64_t first = (int64_t)column * map.column_chunks + self.warp;
    FeatSums<D, CHANNELS, WARPS> sums = {};
    ChunkPart part = {};
    auto read = [&](int i) {
        part.chunk.bins = 0;
        if (exists && i + self.warp < map.column_chunks)
            part.read(map, first + i);
        if (part.chunk.bins)
            self.load_rows(part.cell, c0);
    };
    read(0);
    if (exists)
        self.load_features(column);
    wait_for_copies();
    __syncthreads();
    for (int i = 0; exists && i < map.column_chunks; i += WARPS) {
        if (part.chunk.bins)
            self.run(part, c0, c0 == 0);
        int chunks = column_barrier<WARPS>(part.chunk.bins > 0);
        sums.add(self.shared, chunks * CHUNK_CELLS);
        if (i + WARPS >= map.column_chunks || chunks < WARPS)
            break;
        column_barrier<WARPS>(true); // before the next chunks take the place of these
        read(i + WARPS);
    }
    if (!exists)
        return;
    sums.each([&](int p, int c, float pair[2]) {
        ColumnPixel at = column_pixel(map.shape, column, p);
        if (!at.exists)
            return;
        for (int u = 0; u < 2; u++)
            if (0 * pair[u] != 0)
                pair[u] = feat_point_by_point<D, W>(self.grad, map, column, p, c0 + c + u);
        pair_put<D>(self.grad.grad_feat, at.row * self.grad.channels + c0 + c, pair);
    });
}

// blockIdx.x: neighbouring columns, threadIdx.y: which of them; blockIdx.y: which CHANNELS channels.
// The blocks of the first channels also compute grad_depth, for which they read all channels.
template <BevDtype D, bool W, int CHANNELS, int WARPS>
__global__ void __launch_bounds__(16 * WARP)
    grad_v4_kernel(const __grid_constant__ Grad grad, const __grid_constant__ ColumnMap map) {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    extern __shared__ uint4 memory[];
    const ColumnShape &s = map.shape;
    int columns = blockDim.y, groups = (s.strips + columns - 1) / columns;
    int group = blockIdx.x % groups, slab = (int)blockIdx.x / groups; // slab of any camera
    int strip = group * columns + threadIdx.y, column = slab * s.strips + strip;
    size_t bytes = Shared::column_bytes(grad.channels);
    Code<D> *codes = (Code<D> *)((char *)memory + columns * bytes);
    int lane = threadIdx.x % WARP, c0 = (int)blockIdx.y * CHANNELS;
    int64_t camera_plane = (int64_t)(slab / s.slabs) * s.bins * s.height * s.width;
    BlockDepths<D> depths = {s,        codes, s.cols * columns, WARP * columns, slab % s.slabs * s.rows,
                             group * columns * s.cols, camera_plane};
    ColumnWarp<D, W, CHANNELS, WARPS> self = {
        grad,           map, *(Shared *)((char *)memory + threadIdx.y * bytes),
        depths.of(column_pixel(s, column, lane)),
        depths.pixels,  (int)threadIdx.x / WARP,
        lane};
    depths.load(grad.depth);
    column_run(self, column, strip < s.strips, c0);
    if (c0 > 0)
        return;
    __syncthreads();
    depths.store(grad.grad_depth);
}
