// V4 on tensor cores: the points of a camera's column as a small dense matrix product.
#ifndef BEV_V4_TILES_CUH
#define BEV_V4_TILES_CUH

#include "kernels/v4.cuh"

constexpr int TILE_WARPS = 8, TILE_LARGEST = 3, TILE_BLOCKS = 2, TILE_THREADS = TILE_WARPS * WARP;
constexpr int EMPTY_CELLS = WARP; // empty cells that a warp clears

// ---- programmatic dependent launch: the next kernel starts while this one still runs -----------

__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---- operands: everything but BF16 is multiplied as halves, which hold every code exactly ------

// c (16 x 8, FP32) += a (16 x 16) b (16 x 8). Lane 4 g + q holds rows g and g + 8 of a and c and
// column g of b; of a's columns and b's rows it holds 2q, 2q + 1, 2q + 8 and 2q + 9.
template <BevDtype D>
__device__ inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                    uint32_t b1) {
    if constexpr (D == BEV_BF16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline uint32_t bits_of(__half2 pair) {
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Two floats rounded to the operand format, and back.
template <BevDtype D> __device__ inline uint32_t pair_from_floats(float2 pair) {
    if constexpr (D == BEV_BF16) {
        __nv_bfloat162 rounded = __floats2bfloat162_rn(pair.x, pair.y);
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        return bits;
    } else {
        return bits_of(__floats2half2_rn(pair.x, pair.y));
    }
}

template <BevDtype D> __device__ inline float2 floats_from_pair(uint32_t bits) {
    if constexpr (D == BEV_BF16) {
        return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
    } else {
        __half2 pair;
        memcpy(&pair, &bits, sizeof pair);
        return __half22float2(pair);
    }
}

template <int BYTES> __device__ inline void load_words(uint32_t *words, const void *p) {
    if constexpr (BYTES == 16) {
        uint4 raw = __ldg((const uint4 *)p);
        words[0] = raw.x, words[1] = raw.y, words[2] = raw.z, words[3] = raw.w;
    } else if constexpr (BYTES == 8) {
        uint2 raw = __ldg((const uint2 *)p);
        words[0] = raw.x, words[1] = raw.y;
    } else if constexpr (BYTES == 4) {
        words[0] = __ldg((const uint32_t *)p);
    } else if constexpr (BYTES == 2) {
        words[0] = __ldg((const uint16_t *)p);
    } else {
        words[0] = __ldg((const uint8_t *)p);
    }
}

template <int BYTES> __device__ inline void store_words(void *p, const uint32_t *words) {
    if constexpr (BYTES == 16)
        __stcs((uint4 *)p, make_uint4(words[0], words[1], words[2], words[3]));
    else if constexpr (BYTES == 8)
        __stcs((uint2 *)p, make_uint2(words[0], words[1]));
    else
        __stcs((uint32_t *)p, words[0]);
}

// ---- features of four image rows, V channels of each -------------------------------------------

// Eight lanes hold a group of 8 V channels, V each.
template <BevDtype D, int V> struct Features {
    static constexpr int BYTES = V * (D == BEV_NVFP4 ? 4 : sizeof(DepthCode<D>) * 8) / 8;
    uint32_t raw[4][(BYTES + 3) / 4];
    uint8_t scale[4]; // NVFP4: of the block that holds the V channels

    // Channels [c, c + V) of a feature row into raw[i].
    __device__ void load(int i, const Pool &pool, int64_t row, int c) {
        int64_t element = row * pool.channels + c; // channels is a multiple of 16
        load_words<BYTES>(raw[i], (const char *)pool.feat + element * BYTES / V);
        if constexpr (D == BEV_NVFP4)
            scale[i] = __ldg(pool.feat_scales + element / BEV_BLOCK);
    }

    // Row i as V / 2 pairs of operands, channels 2j and 2j + 1.
    __device__ void unpack(int i, uint32_t pairs[V / 2]) const {
        if constexpr (D == BEV_NVFP4) { // 2 bits times 4 bits of mantissa: exact in a half
            __half2 values[4], factor = __half2half2(__low2half(half2_from_e4m3(scale[i])));
            half2_from_e2m1x8(raw[i][0], values);
#pragma unroll
            for (int j = 0; j < V / 2; j++)
                pairs[j] = bits_of(__hmul2(values[j], factor));
        } else {
#pragma unroll
            for (int j = 0; j < V / 2; j++)
                pairs[j] = raw[i][j];
        }
    }

    // across[j][h]: channel j of rows 2h and 2h + 1, as the product wants them.
    __device__ void transpose(uint32_t across[V][2]) const {
        if constexpr (D == BEV_FP8) { // bytes change places before they become halves
#pragma unroll
            for (int j = 0; j < V; j += 2)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    uint32_t bytes = __byte_perm(raw[2 * h][j / 4], raw[2 * h + 1][j / 4],
                                                 j % 4 ? 0x7362 : 0x5140);
                    across[j][h] = bits_of(half2_from_e4m3((uint16_t)bytes));
                    across[j + 1][h] = bits_of(half2_from_e4m3((uint16_t)(bytes >> 16)));
                }
        } else {
            uint32_t rows[4][V / 2];
#pragma unroll
            for (int i = 0; i < 4; i++)
                unpack(i, rows[i]);
#pragma unroll
            for (int j = 0; j < V; j++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    across[j][h] = __byte_perm(rows[2 * h][j / 2], rows[2 * h + 1][j / 2],
                                               j % 2 ? 0x7632 : 0x5410);
        }
    }

    // sums[j] (16 cells x 8 lane groups, channel j of each) += depth x features.
    template <int N>
    __device__ void multiply(float (*sums)[4], const uint32_t (&depth)[N][4]) const {
        uint32_t across[V][2];
        transpose(across);
#pragma unroll
        for (int j = 0; j < V; j++)
#pragma unroll
            for (int n = 0; n < N; n++)
                multiply_add<D>(sums[j], depth[n], across[j][0], across[j][1]);
    }
};

// ---- depths of a step --------------------------------------------------------------------------

using DepthPair = uint32_t; // two depths as operands

// Four codes of which those in `rows` (4 bits) count, as two pairs.
template <BevDtype D>
__device__ inline void pairs_from_codes(const uint32_t codes[4], DepthPair pairs[2]) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
        if constexpr (DEPTH_OF<D> == BEV_FP8)
            pairs[j] = bits_of(half2_from_e4m3((uint16_t)(codes[2 * j] | codes[2 * j + 1] << 8)));
        else
            pairs[j] = codes[2 * j] | codes[2 * j + 1] << 16;
    }
}

// Depths of image rows [4q, 4q + 4) straight from (camera, bin, h, w): each its own load.
template <BevDtype D>
__device__ inline void gather_depths(const Pool &pool, const TileMap &map, int column,
                                     uint32_t entry, int q, DepthPair pairs[2]) {
    using Bits = typename std::conditional<DEPTH_OF<D> == BEV_FP8, uint8_t, uint16_t>::type;
    int at = column + (int)(entry >> 16) * map.bin_stride;
    uint32_t codes[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        codes[i] = 0;
        if (entry >> (4 * q + i) & 1)
            codes[i] = __ldg((const Bits *)pool.depth + at + (4 * q + i) * map.feat_w);
    }
    pairs_from_codes<D>(codes, pairs);
}

// The same from turned depth (camera, w, slab, bin, 16): one load; rows not in the entry become 0.
template <BevDtype D>
__device__ inline void load_turned(const TileMap &map, int column, uint32_t entry, int q,
                                   DepthPair pairs[2]) {
    uint32_t rows = entry >> 4 * q & 0xf;
    int64_t at = (int64_t)(column + (int)(entry >> 16)) * SLAB + 4 * q;
    pairs[0] = pairs[1] = 0;
    if (!rows)
        return;
    if constexpr (DEPTH_OF<D> == BEV_FP8) {
        uint32_t keep = (rows * 0x00204081u & 0x01010101u) * 0xffu; // bit i -> byte i
        uint32_t codes = *(const uint32_t *)((const uint8_t *)map.turned + at) & keep;
        pairs[0] = bits_of(half2_from_e4m3((uint16_t)codes));
        pairs[1] = bits_of(half2_from_e4m3((uint16_t)(codes >> 16)));
    } else {
        uint2 codes = *(const uint2 *)((const uint16_t *)map.turned + at);
        pairs[0] = codes.x & ((rows & 1) * 0xffffu | (rows & 2) * 0x7fff8000u);
        pairs[1] = codes.y & ((rows >> 2 & 1) * 0xffffu | (rows >> 2 & 2) * 0x7fff8000u);
    }
}

// depth x weight has more bits than an operand: it is split into operands that add up to it, 22 of
// its 24 bits in two halves, all of them in three BF16. Halves are first scaled so that the second
// one does not underflow; the output's scale undoes it.
template <BevDtype D, bool W> constexpr int SPLIT = !W ? 1 : D == BEV_BF16 ? 3 : 2;
template <BevDtype D, bool W>
constexpr float SPLIT_SCALE = !W || D == BEV_BF16      ? 1.0f
                              : DEPTH_OF<D> == BEV_FP8 ? 128.0f
                                                       : 4096.0f;

template <BevDtype D, int N>
__device__ inline void split_weighted(const DepthPair pairs[2], float4 weights, int row,
                                      uint32_t (&depth)[N][4]) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float2 d = floats_from_pair<D>(pairs[j]);
        d.x *= (j ? weights.z : weights.x) * SPLIT_SCALE<D, true>;
        d.y *= (j ? weights.w : weights.y) * SPLIT_SCALE<D, true>;
#pragma unroll
        for (int n = 0; n < N; n++) {
            depth[n][row + 2 * j] = pair_from_floats<D>(d);
            float2 taken = floats_from_pair<D>(depth[n][row + 2 * j]);
            d.x -= taken.x, d.y -= taken.y;
        }
    }
}

// ---- outputs -----------------------------------------------------------------------------------

// Writes sums of one cell: channels [c, c + V) from `v`.
template <BevDtype D, int V>
__device__ inline void store_sums(const Pool &pool, int cell, int c, const float v[V]) {
    OutCode<D> *p = (OutCode<D> *)pool.out + (int64_t)cell * pool.channels + c;
    constexpr int WORDS = V * (int)sizeof(OutCode<D>) / 4;
    uint32_t words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        if constexpr (sizeof(OutCode<D>) == 1) {
            uint32_t low = __nv_cvt_float2_to_fp8x2(
                make_float2(v[4 * i] * pool.scale, v[4 * i + 1] * pool.scale), __NV_SATFINITE,
                __NV_E4M3);
            uint32_t high = __nv_cvt_float2_to_fp8x2(
                make_float2(v[4 * i + 2] * pool.scale, v[4 * i + 3] * pool.scale), __NV_SATFINITE,
                __NV_E4M3);
            words[i] = low | high << 16;
        } else {
            words[i] =
                pair_from_floats<D>(make_float2(v[2 * i] * pool.scale, v[2 * i + 1] * pool.scale));
        }
    }
    constexpr int BYTES = WORDS * 4 < 16 ? WORDS * 4 : 16;
#pragma unroll
    for (int i = 0; i < WORDS; i += BYTES / 4)
        store_words<BYTES>((uint32_t *)p + i, words + i);
}

// Zeroes channels [c0, c0 + CHANNELS) of up to 32 empty cells, 16 bytes a lane and turn.
template <BevDtype D, int CHANNELS>
__device__ inline void clear_empty(const Pool &pool, const TileMap &map, int c0, int first) {
    constexpr int WORDS = CHANNELS * (int)sizeof(OutCode<D>) / 16; // 16-byte words a cell
    int lane = (int)threadIdx.x % WARP, count = min(EMPTY_CELLS, map.empties - first);
    int mine = lane < count ? map.empty[first + lane] : 0;
#pragma unroll
    for (int base = 0; base < EMPTY_CELLS * WORDS; base += WARP) {
        int i = base + lane;
        int64_t cell = __shfl_sync(~0u, mine, i / WORDS);
        if (i / WORDS < count)
            __stcs((uint4 *)((OutCode<D> *)pool.out + cell * pool.channels + c0) + i % WORDS,
                   make_uint4(0, 0, 0, 0));
    }
}

// A tile with a sum that is no finite number, point by point: multiplying a whole slab lets an
// infinite or NaN feature reach cells that do not see it, as 0 x infinity.
template <BevDtype D, bool T, bool W>
__device__ void pool_point_by_point(const Pool &pool, const TileMap &map, int tile, int c0,
                                    int channels) {
    using Depth = Codec<DEPTH_OF<D>>;
    __syncwarp(); // after the stores that this replaces
    const DepthCode<D> *codes = (const DepthCode<D> *)(T ? map.turned : pool.depth);
    for (int m = 0; m < TILE_CELLS; m++) {
        int cell = map.cells[tile * TILE_CELLS + m];
        for (int c = c0 + (int)threadIdx.x % WARP; cell != NO_CELL && c < c0 + channels;
             c += WARP) {
            float sum = 0;
            for (int64_t s = map.starts[tile]; s < map.starts[tile + 1]; s++) {
                int2 slab = map.slabs[s];
                uint32_t entry = map.entries[s * TILE_CELLS + m];
#pragma unroll 1
                for (int k = 0; k < SLAB; k++) {
                    if (!(entry >> k & 1))
                        continue;
                    int bin = (int)(entry >> 16);
                    int64_t at = T ? (int64_t)(slab.y + bin) * SLAB + k
                                   : slab.y + bin * map.bin_stride + k * map.feat_w;
                    float d = Depth::decode(codes[at]);
                    if (W)
                        d *=
                            ((const float *)map
                                 .weights)[(int64_t)map.weight_rows[s * TILE_CELLS + m] * SLAB + k];
                    sum += d * feat_at<D>(pool, slab.x + (int64_t)k * map.feat_w, c);
                }
            }
            out_put<D>(pool, cell, c, sum * SPLIT_SCALE<D, W>);
        }
    }
}

// ---- a warp's registers
// --------------------------------------------------------------------------

// One step of the map, as lane 4 g + q needs it: cells g and g + 8 of the tile.
template <bool W> struct Step {
    int2 slab;
    uint32_t entries[2];
    int weight_rows[2];

    __device__ void read(const TileMap &map, int step, int g) {
        slab = __ldg(map.slabs + step);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int64_t at = (int64_t)step * TILE_CELLS + g + 8 * r;
            entries[r] = __ldg(map.entries + at);
            if constexpr (W)
                weight_rows[r] = __ldg(map.weight_rows + at);
        }
    }
};

// A step's features: image rows [4q, 4q + 4) of a slab, 64 GROUPS + 16 TAILS channels.
template <BevDtype D, int GROUPS, int TAILS> struct SlabFeatures {
    Features<D, 8> groups[GROUPS];
    Features<D, 2> tails[TAILS > 0 ? TAILS : 1];

    // Of a group's 64 channels a lane takes 8 such that the four lanes of a cell later store
    // 16-byte words that lie side by side.
    __device__ void load(const Pool &pool, const TileMap &map, int slab_row, int c0, int g, int q) {
        int chunk = sizeof(OutCode<D>) == 1 ? g : g / 2 + g % 2 * 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int64_t row = min(slab_row + (4 * q + i) * map.feat_w, map.last_feat_row);
#pragma unroll
            for (int n = 0; n < GROUPS; n++)
                groups[n].load(i, pool, row, c0 + 64 * n + 8 * chunk);
#pragma unroll
            for (int n = 0; n < TAILS; n++)
                tails[n].load(i, pool, row, c0 + 64 * GROUPS + 16 * n + 2 * g);
        }
    }
};

// A step's depths: those of cells g and g + 8 in image rows [4q, 4q + 4).
template <BevDtype D, bool T, bool W> struct SlabDepths {
    DepthPair pairs[2][2];
    float4 weights[2];

    __device__ void load(const Pool &pool, const TileMap &map, const Step<W> &step, int q) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if constexpr (T)
                load_turned<D>(map, step.slab.y, step.entries[r], q, pairs[r]);
            else
                gather_depths<D>(pool, map, step.slab.y, step.entries[r], q, pairs[r]);
            if constexpr (W)
                weights[r] = __ldg(map.weights + (int64_t)step.weight_rows[r] * 4 + q);
        }
    }

    // As left operands that add up to depth x weight.
    __device__ void finish(uint32_t (&depth)[SPLIT<D, W>][4]) const {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if constexpr (W)
                split_weighted<D>(pairs[r], weights[r], r, depth);
            else
                depth[0][r] = pairs[r][0], depth[0][r + 2] = pairs[r][1];
        }
    }
};

// Sums of 16 cells: v[j][2r + u] is the j-th channel of lane 2q + u's in cell g + 8r.
template <BevDtype D, int GROUPS, int TAILS> struct TileSums {
    static constexpr int CHANNELS = 64 * GROUPS + 16 * TAILS, COUNT = 8 * GROUPS + 2 * TAILS;
    float v[COUNT][4];

    template <int N>
    __device__ void add(const SlabFeatures<D, GROUPS, TAILS> &features,
                        const uint32_t (&depth)[N][4]) {
#pragma unroll
        for (int n = 0; n < GROUPS; n++)
            features.groups[n].multiply(v + 8 * n, depth);
#pragma unroll
        for (int n = 0; n < TAILS; n++)
            features.tails[n].multiply(v + 8 * GROUPS + 2 * n, depth);
    }

    __device__ void put(float4 (*slot)[WARP], int lane) const {
#pragma unroll
        for (int j = 0; j < COUNT; j++)
            slot[j][lane] = make_float4(v[j][0], v[j][1], v[j][2], v[j][3]);
    }

    __device__ void add(const float4 (*slot)[WARP], int lane) {
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            float4 other = slot[j][lane];
            v[j][0] += other.x, v[j][1] += other.y, v[j][2] += other.z, v[j][3] += other.w;
        }
    }

    // Writes cell g + 8r.
    __device__ void store(const Pool &pool, int cell, int c0, int q, int r) const {
#pragma unroll
        for (int n = 0; n < GROUPS; n++) {
            float out[16];
#pragma unroll
            for (int j = 0; j < 16; j++)
                out[j] = v[8 * n + j % 8][2 * r + j / 8];
            int c = c0 + 64 * n;
            if constexpr (sizeof(OutCode<D>) == 1) {
                store_sums<D, 16>(pool, cell, c + 16 * q, out);
            } else {
                store_sums<D, 8>(pool, cell, c + 8 * q, out);
                store_sums<D, 8>(pool, cell, c + 32 + 8 * q, out + 8);
            }
        }
#pragma unroll
        for (int n = 0; n < TAILS; n++) {
            const float(*s)[4] = v + 8 * GROUPS + 2 * n;
            float out[4] = {s[0][2 * r], s[1][2 * r], s[0][2 * r + 1], s[1][2 * r + 1]};
            store_sums<D, 4>(pool, cell, c0 + 64 * GROUPS + 16 * n + 4 * q, out);
        }
    }

    __device__ bool finite() const {
        float probes[4] = {}; // stay 0
#pragma unroll
        for (int j = 0; j < COUNT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                probes[i] += 0 * v[j][i];
        return probes[0] + probes[1] + probes[2] + probes[3] == 0;
    }
};

// ---- the kernel
// ----------------------------------------------------------------------------------

// blockIdx.x: 8 warps, 1 to 8 of them a tile; blockIdx.y: which CHANNELS channels. T: the depth is
// turned, W: the map has weights.
template <BevDtype D, int GROUPS, int TAILS, bool T, bool W>
__global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS)
    v4_tiles_kernel(const __grid_constant__ Pool pool_, const __grid_constant__ TileMap map) {
    using Sums = TileSums<D, GROUPS, TAILS>;
    __shared__ float4 partial[TILE_WARPS / 2][Sums::COUNT][WARP];
    Pool pool = pool_;
    if constexpr (TAILS > 0)
        pool.channels = Sums::CHANNELS; // a constant from here on
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP, g = lane / 4, q = lane % 4;
    int worker = (int)blockIdx.x * TILE_WARPS + warp, c0 = (int)blockIdx.y * Sums::CHANNELS;
    if ((int)blockIdx.x >= map.tile_blocks) {
        int first = (worker - map.tile_blocks * TILE_WARPS) * EMPTY_CELLS;
        clear_empty<D, Sums::CHANNELS>(pool, map, c0, first);
        return;
    }
    Share share = share_of<TILE_LARGEST>(map.shares, worker);
    int at = 0, end = 0, cells[2] = {NO_CELL, NO_CELL};
    if (share.owner < map.shares.owners) {
        at = map.starts[share.owner] + share.part;
        end = map.starts[share.owner + 1];
        cells[0] = map.cells[share.owner * TILE_CELLS + g];
        cells[1] = map.cells[share.owner * TILE_CELLS + g + 8];
    }
    Step<W> step = {};
    if (at < end)
        step.read(map, at, g);

    Sums sums = {};
    bool waited = !T; // for the kernel that turns the depth
    while (at < end) {
        SlabFeatures<D, GROUPS, TAILS> features;
        SlabDepths<D, T, W> depths;
        uint32_t depth[SPLIT<D, W>][4];
        features.load(pool, map, step.slab.x, c0, g, q);
        if (!waited)
            wait_for_previous_kernel();
        waited = true;
        depths.load(pool, map, step, q);
        at += 1 << share.log_parts;
        if (at < end)
            step.read(map, at, g); // the next one, while this one's loads are under way
        depths.finish(depth);
        sums.add(features, depth);
    }
    if ((int)blockIdx.x * TILE_WARPS < map.shares.first_worker[0]) // the block has a shared tile
        join_parts(
            share, warp, TILE_WARPS, [&](int slot) { sums.put(partial[slot], lane); },
            [&](int slot) { sums.add(partial[slot], lane); });
    if (share.part > 0)
        return;
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (cells[r] != NO_CELL)
            sums.store(pool, cells[r], c0, q, r);
    if (__any_sync(~0u, !sums.finite()))
        pool_point_by_point<D, T, W>(pool, map, share.owner, c0, Sums::CHANNELS);
}

// ---- turning the depth -------------------------------------------------------------------------

struct Frustums {
    int cameras, bins, height, width, slabs; // slabs = ceil(height / 16)
};

// (camera, bin, h, w) -> (camera, w, slab, bin, 16): a thread gathers 16 image rows, coalesced over
// w, and writes them side by side; rows past the image are 0. Thread (camera, bin, slab, w).
template <typename Code>
__global__ void v4_turn_kernel(const Code *depth, Frustums f, uint4 *turned) {
    let_next_kernel_start();
    int64_t i = thread_number();
    if (i >= (int64_t)f.cameras * f.bins * f.slabs * f.width)
        return;
    int w, slab, bin;
    int64_t rest = divide(i, f.width, &w);
    rest = divide(rest, f.slabs, &slab);
    int camera = (int)divide(rest, f.bins, &bin);
    const Code *from =
        depth + (((int64_t)camera * f.bins + bin) * f.height + slab * SLAB) * f.width + w;
    alignas(16) Code codes[SLAB];
#pragma unroll
    for (int k = 0; k < SLAB; k++)
        codes[k] = slab * SLAB + k < f.height ? __ldg(from + (int64_t)k * f.width) : Code(0);
    constexpr int WORDS = sizeof codes / sizeof(uint4);
    int64_t to = (((int64_t)camera * f.width + w) * f.slabs + slab) * f.bins + bin;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        uint4 word;
        memcpy(&word, (const char *)codes + 16 * j, sizeof word);
        turned[to * WORDS + j] = word;
    }
}

// ---- launching ---------------------------------------------------------------------------------

// Channels a block takes for problems of `channels`; 0: none, use pieces.
static inline int tile_channels(int64_t channels, bool weighted) {
    if (channels == 80)
        return 80;
    return channels % 128 == 0 && !weighted ? 128 : channels % 64 == 0 ? 64 : 0;
}

template <BevDtype D, int GROUPS, int TAILS, bool T, bool W>
static inline cudaError_t tiles_enter(Pool pool, const TileMap &map, bool overlap,
                                      cudaStream_t stream) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    unsigned clear_blocks = blocks_for(map.empties, EMPTY_CELLS * TILE_WARPS);
    config.gridDim = dim3((unsigned)map.tile_blocks + clear_blocks,
                          (unsigned)pool.channels / (64 * GROUPS + 16 * TAILS));
    config.blockDim = TILE_THREADS;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = T && overlap;
    pool.scale /= SPLIT_SCALE<D, W>;
    return cudaLaunchKernelEx(&config, v4_tiles_kernel<D, GROUPS, TAILS, T, W>, pool, map);
}

// `overlap`: the device can start a kernel before the one before it has ended.
template <BevDtype D>
static inline cudaError_t tiles_launch(const BevProblem *problem, const TileMap &map,
                                       const Frustums &frustums, bool overlap,
                                       cudaStream_t stream) {
    using Bits = typename std::conditional<DEPTH_OF<D> == BEV_FP8, uint8_t, uint16_t>::type;
    Pool pool = pool_of(problem);
    int channels = tile_channels(pool.channels, pool.weights != NULL);
    cudaError_t status;
    if (map.turned) {
        int64_t threads =
            (int64_t)frustums.cameras * frustums.bins * frustums.slabs * frustums.width;
        v4_turn_kernel<Bits><<<blocks_for(threads, 256), 256, 0, stream>>>(
            (const Bits *)pool.depth, frustums, (uint4 *)map.turned);
    }
    if (pool.weights)
        return channels == 80 ? tiles_enter<D, 1, 1, true, true>(pool, map, overlap, stream)
                              : tiles_enter<D, 1, 0, true, true>(pool, map, overlap, stream);
    with_flag(map.turned, [&]<bool T>() {
        status = channels == 80    ? tiles_enter<D, 1, 1, T, false>(pool, map, overlap, stream)
                 : channels == 128 ? tiles_enter<D, 2, 0, T, false>(pool, map, overlap, stream)
                                   : tiles_enter<D, 1, 0, T, false>(pool, map, overlap, stream);
    });
    return status;
}

#endif
