/* SPDX-License-Identifier: MIT */
// Measures the limits of this GPU. Each kernel here does one thing: it reads, it multiplies and
// adds, or it waits for one load after the other. The fastest of a few runs counts.
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

// ---- bandwidth ---------------------------------------------------------------------------------

constexpr int THREADS = 256;
constexpr int LOADS = 8;                                   // in flight, per thread
constexpr int64_t CHUNK = THREADS * LOADS * sizeof(uint4); // what a block reads at a time
constexpr int64_t READ_BYTES = int64_t(4) << 30;           // read by one launch

// The blocks read `turns` chunks in all and go round the buffer. The number of chunks is no
// multiple of the number of blocks, so every chunk is read by multiprocessors all over the chip, on
// both sides of a partitioned L2. Loads bypass L1.
__global__ void __launch_bounds__(THREADS)
    read_kernel(const uint4 *buffer, unsigned chunks, unsigned turns, uint32_t *sink) {
    uint32_t sum = 0;
    for (unsigned turn = blockIdx.x; turn < turns; turn += gridDim.x) {
        const uint4 *chunk = buffer + int64_t(turn % chunks) * (THREADS * LOADS) + threadIdx.x;
        uint4 v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            v[i] = __ldcg(chunk + i * THREADS);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum |= v[i].x | v[i].y | v[i].z | v[i].w;
    }
    if (sum) // never true: the buffer is zero, but the compiler cannot know
        *sink = sum;
}

// ---- arithmetic --------------------------------------------------------------------------------

constexpr int CHAINS = 8; // independent sums per thread, enough to hide an instruction's latency
constexpr int STEPS = 4096;

__device__ float multiply_add(float x, float a, float b) {
    return fmaf(x, a, b);
}

__device__ __half2 multiply_add(__half2 x, __half2 a, __half2 b) {
    return __hfma2(x, a, b);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) multiply_add_kernel(T a, uint32_t *sink) {
    T x[CHAINS] = {a};
    for (int i = 1; i < CHAINS; i++)
        x[i] = multiply_add(x[i - 1], a, a);
#pragma unroll 16
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            x[i] = multiply_add(x[i], a, a); // stays between a and 1
    for (int i = 1; i < CHAINS; i++)
        x[0] = multiply_add(x[0], a, x[i]);
    if (reinterpret_cast<uint32_t &>(x[0]) == 0) // never true
        *sink = 1;
}

// One warp computes 16 x 8 results, each the sum of 16 products.
__device__ void multiply_tiles(float d[4], const uint32_t a[4], const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(THREADS) tensor_kernel(uint32_t codes, uint32_t *sink) {
    uint32_t a[4] = {codes, codes, codes, codes}, b[2] = {codes, codes};
    float d[CHAINS][4] = {};
#pragma unroll 4
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            multiply_tiles(d[i], a, b);
    float sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];
    if (sum < 0) // never true
        *sink = 1;
}

constexpr double FMA_FLOP = 2, TENSOR_FLOP = 2.0 * 16 * 8 * 16 / WARP; // per thread

// ---- latency -----------------------------------------------------------------------------------

constexpr int LINE = 128;

template <bool L1> __device__ uint32_t load_word(const uint32_t *address) {
    uint32_t value;
    if (L1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(address));
    else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

constexpr int CHASED = 4096; // loads
constexpr size_t CHASE_BYTES = CHASED * sizeof(uint32_t);

// One thread loads from `lines` lines of the zeroed buffer, `stride` lines apart. Each address
// needs the value of the load before (zero), so the cycles between two loads are the latency of
// one. The rest of the address is computed meanwhile.
template <bool L1>
__global__ void chase_kernel(const uint32_t *buffer, uint32_t lines, uint32_t stride,
                             uint32_t *cycles) {
    __shared__ uint32_t clocks[CHASED + 1];
    const uint32_t *at = buffer;
    uint32_t line = 0, zero = 0;
#pragma unroll 1
    for (int i = 0; i <= CHASED; i++) {
        zero = load_word<L1>(at + zero);
        clocks[i] = (uint32_t)clock();
        line = line + stride < lines ? line + stride : line + stride - lines;
        at = buffer + int64_t(line) * (LINE / sizeof(uint32_t));
        // Otherwise the compiler would add `zero` first, and the whole address would wait for it.
        asm volatile("" : "+l"(at));
    }
    for (int i = 0; i < CHASED; i++)
        cycles[i] = clocks[i + 1] - clocks[i] + zero;
}

// ---- the probes --------------------------------------------------------------------------------

constexpr int RUNS = 5;
enum Path { BY_L1, PAST_L1 };    // of loads
enum Before { CACHED, EVICTED }; // the state of the bytes that are loaded

struct Probe {
    int64_t l2_bytes, bytes; // bytes: of the buffer, far more than the L2
    int multiprocessors;
    char *buffer;
    uint32_t *results;            // cycles of a chase
    std::vector<uint32_t> sorted; // the same on the host, ascending
    cudaStream_t stream;
    cudaEvent_t start, stop;

    bool open(Err *err) {
        DeviceInfo info;
        if (!device_usable(err) || !device_info(&info, err))
            return false;
        l2_bytes = info.l2_bytes;
        multiprocessors = info.multiprocessors;
        bytes = std::min(16 * l2_bytes, info.free_bytes / 4) / CHUNK * CHUNK;
        if (bytes < 4 * l2_bytes)
            return err_set(err, ERR_DEVICE, "probe", "close other programs",
                           "too little GPU memory is free");
        if (!cuda_allocate((void **)&buffer, bytes, "probe", err) ||
            !cuda_allocate((void **)&results, CHASE_BYTES, "probe", err))
            return device_failed(err);
        TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        TRY(cudaEventCreate(&start));
        TRY(cudaEventCreate(&stop));
        TRY(cudaMemsetAsync(buffer, 0, bytes, stream));
        return true;
    }

    ~Probe() {
        if (!device_opened())
            return;
        cudaFree(buffer);
        cudaFree(results);
        for (cudaEvent_t event : {stop, start})
            if (event)
                cudaEventDestroy(event);
        if (stream)
            cudaStreamDestroy(stream);
    }

    // Sets *us to the time of the fastest of a few runs of `enqueue`, after a warm-up run.
    template <typename Enqueue> bool fastest_us(Enqueue enqueue, double *us, Err *err) {
        *us = INFINITY;
        for (int run = 0; run <= RUNS; run++) {
            float ms;
            TRY(cudaEventRecord(start, stream));
            enqueue();
            TRY(cudaGetLastError());
            TRY(cudaEventRecord(stop, stream));
            TRY(cudaEventSynchronize(stop));
            TRY(cudaEventElapsedTime(&ms, start, stop));
            if (run)
                *us = std::min(*us, ms * 1e3);
        }
        return true;
    }

    // Returns the number of blocks that the device holds at the same time.
    template <typename Kernel> int grid(Kernel kernel) {
        int resident = 1;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, 0);
        return resident * multiprocessors;
    }

    void read(int64_t from_bytes, int64_t read_bytes) {
        read_kernel<<<grid(read_kernel), THREADS, 0, stream>>>(
            (const uint4 *)buffer, unsigned(std::max(from_bytes, CHUNK) / CHUNK),
            unsigned(read_bytes / CHUNK), results);
    }

    bool read_gb_s(int64_t from_bytes, double *gb_s, Err *err) {
        double us;
        if (!fastest_us([&] { read(from_bytes, READ_BYTES); }, &us, err))
            return false;
        *gb_s = double(READ_BYTES) / us * 1e-3;
        return true;
    }

    template <typename Kernel, typename Argument>
    bool tflops(Kernel kernel, Argument argument, double flop, double *result, Err *err) {
        double us;
        int blocks = grid(kernel);
        if (!fastest_us([&] { kernel<<<blocks, THREADS, 0, stream>>>(argument, results); }, &us,
                        err))
            return false;
        *result = flop * blocks * THREADS * CHAINS * STEPS / us * 1e-6;
        return true;
    }

    // Sets `sorted` to the latencies of CHASED loads, each of which waits for the load before. The
    // loads are spread over the first `from_bytes` of the buffer.
    bool chase(Path path, int64_t from_bytes, Err *err) {
        uint32_t lines = uint32_t(from_bytes / LINE);
        // The golden section: lines loaded one after the other are far apart.
        uint32_t stride = uint32_t(lines * 0.618) | 1;
        auto kernel = path == BY_L1 ? chase_kernel<true> : chase_kernel<false>;
        kernel<<<1, 1, 0, stream>>>((const uint32_t *)buffer, lines, stride, results);
        TRY(cudaGetLastError());
        sorted.resize(CHASED);
        TRY(cudaMemcpyAsync(sorted.data(), results, CHASE_BYTES, cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
        std::sort(sorted.begin(), sorted.end());
        return true;
    }

    // Returns the share of the latencies that are below a limit.
    double share_below(double limit) {
        auto found = std::lower_bound(sorted.begin(), sorted.end(), uint32_t(limit));
        return double(found - sorted.begin()) / double(sorted.size());
    }

    // Sets *cycles to the median latency of loads from the first `from_bytes` of the buffer. These
    // bytes were just read (CACHED), or the whole buffer was read and has replaced them (EVICTED).
    bool latency_cycles(Path path, int64_t from_bytes, Before before, double *cycles, Err *err) {
        read(before == EVICTED ? bytes : from_bytes, before == EVICTED ? bytes : 4 * from_bytes);
        if (!chase(path, from_bytes, err))
            return false;
        *cycles = sorted[sorted.size() / 2];
        return true;
    }

    // Sets *mb to the largest part of a buffer that stays in L2 while the buffer is read again and
    // again: all of a buffer that fits, of a larger buffer what the replacement policy leaves.
    bool kept_mb(double *mb, Err *err) {
        double hit, miss;
        *mb = 0;
        if (!latency_cycles(PAST_L1, l2_bytes / 8, CACHED, &hit, err) ||
            !latency_cycles(PAST_L1, 4 * l2_bytes, EVICTED, &miss, err))
            return false;
        for (int sixteenths = 1; sixteenths <= 24; sixteenths++) {
            int64_t size = l2_bytes * sixteenths / 16 / CHUNK * CHUNK;
            read(size, 4 * size);
            if (!chase(PAST_L1, size, err))
                return false;
            *mb = std::max(*mb, double(size) * share_below((hit + miss) / 2) * 1e-6);
        }
        return true;
    }
};

// ---- copies ------------------------------------------------------------------------------------

// Sets *gb_s, NaN at first, to the larger of *gb_s and a copy's bandwidth: bytes read and written.
bool copy_gb_s(int64_t bytes, double *gb_s, Err *err) {
    const TimingOptions short_series = {.samples = 20, .min_warm_ms = 2, .max_s = 0.05};
    Timing timing;
    if (!device_time_copy(bytes, &short_series, &timing, err))
        return false;
    *gb_s = std::fmax(*gb_s, 2 * double(bytes) / timing.median_us * 1e-3);
    return true;
}

} // namespace

// Measures a limit, if it is wanted and nothing has failed.
#define PROBE(limit, measure, ...)                                                                 \
    ok = ok && (!(which >> limit & 1) ||                                                           \
                measure(__VA_ARGS__ __VA_OPT__(, ) & limits->value[limit], err))

extern "C" bool probe_limits(unsigned which, Limits *limits, Err *err) {
    Probe probe = {};
    *limits = limits_unknown();
    if (!probe.open(err))
        return false;
    int64_t l2 = probe.l2_bytes;
    bool ok = true;
    PROBE(LIMIT_DRAM_COPY, copy_gb_s, probe.bytes / 2);
    PROBE(LIMIT_DRAM_READ, probe.read_gb_s, probe.bytes);
    for (int eighths = 1; eighths <= 3; eighths++)
        PROBE(LIMIT_L2_COPY, copy_gb_s, l2 * eighths / 8);
    PROBE(LIMIT_L2_READ, probe.read_gb_s, l2 / 8);
    PROBE(LIMIT_L2_KEPT, probe.kept_mb);
    PROBE(LIMIT_FP32, probe.tflops, multiply_add_kernel<float>, 0.5f, FMA_FLOP);
    PROBE(LIMIT_HALF2, probe.tflops, multiply_add_kernel<__half2>, __floats2half2_rn(0.5f, 0.25f),
          2 * FMA_FLOP);
    PROBE(LIMIT_TENSOR, probe.tflops, tensor_kernel, 0x14001400u, TENSOR_FLOP); // two small halves
    PROBE(LIMIT_L1_LATENCY, probe.latency_cycles, BY_L1, 8192, CACHED); // 8 KB fit the L1
    PROBE(LIMIT_L2_LATENCY, probe.latency_cycles, PAST_L1, l2 / 8, CACHED);
    PROBE(LIMIT_DRAM_LATENCY, probe.latency_cycles, PAST_L1, 4 * l2, EVICTED);
    return ok;
}
