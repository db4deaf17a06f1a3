// The L2 carve-out. From compute capability 8.0 on, a part of the L2 can be reserved for persisting
// accesses, normally to keep a few important lines. Here it keeps unimportant lines, so that the
// rest of the program sees a smaller L2.
#include "src/run/cuda/cuda_internal.cuh"

namespace {

struct {
    int64_t bytes;       // granted by the driver
    char *buffer;        // the lines that nobody uses
    uint32_t *results;   // latencies of loads from them
    double limit_cycles; // loads that take longer come from DRAM
} carveout;

constexpr int THREADS = 1024;

// Every multiprocessor reads the whole buffer, because an L2 of two partitions keeps a copy in
// each. Loads with evict_last are the persisting ones.
__global__ void __launch_bounds__(THREADS)
    keep_kernel(const uint4 *buffer, int64_t vectors, uint32_t *sink) {
    uint64_t policy;
    uint32_t sum = 0;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    for (int64_t i = threadIdx.x; i < vectors; i += THREADS) {
        uint4 v;
        asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(buffer + i), "l"(policy));
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum) // never true: the buffer is zero
        *sink = sum;
}

bool allowed(int64_t bytes, Err *err) {
    int most = 0;
    TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device_index()));
    if (most <= 0)
        return err_set(err, ERR_DEVICE, "L2 carve-out", "MIG slices and older GPUs cannot",
                       "this device cannot reserve a part of its L2");
    return bytes <= most || err_set(err, ERR_DEVICE, "L2 carve-out", "ask for less",
                                    "%.1f MB were asked for, %.1f MB are the most",
                                    (double)bytes / 1048576, most / 1048576.0);
}

bool give_back(Err *err) {
    cudaFree(carveout.buffer);
    cudaFree(carveout.results);
    carveout = {};
    TRY(cudaCtxResetPersistingL2Cache());
    TRY(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
    return true;
}

bool take(int64_t bytes, Err *err) {
    Limits limits;
    size_t granted;
    if (!allowed(bytes, err) ||
        !probe_limits(1u << LIMIT_L2_LATENCY | 1u << LIMIT_DRAM_LATENCY, &limits, err))
        return false;
    carveout.limit_cycles = (limits.value[LIMIT_L2_LATENCY] + limits.value[LIMIT_DRAM_LATENCY]) / 2;
    TRY(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)bytes));
    TRY(cudaDeviceGetLimit(&granted, cudaLimitPersistingL2CacheSize));
    if (!cuda_allocate((void **)&carveout.buffer, granted, "L2 carve-out", err) ||
        !cuda_allocate((void **)&carveout.results, CHASE_BYTES, "L2 carve-out", err))
        return device_failed(err);
    TRY(cudaMemset(carveout.buffer, 0, granted));
    carveout.bytes = (int64_t)granted;
    return true;
}

} // namespace

bool l2_carveout_fill(cudaStream_t stream, Err *err) {
    if (!carveout.bytes)
        return true;
    int multiprocessors;
    TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_index()));
    if (!chase_start(false, carveout.buffer, carveout.bytes, carveout.results, stream, err))
        return false;
    keep_kernel<<<multiprocessors, THREADS, 0, stream>>>((const uint4 *)carveout.buffer,
                                                         carveout.bytes / (int64_t)sizeof(uint4),
                                                         (uint32_t *)carveout.buffer);
    TRY(cudaGetLastError());
    return true;
}

extern "C" {

bool l2_carveout_set(int64_t bytes, Err *err) {
    if (!device_usable(err) || (carveout.bytes && !give_back(err)))
        return false;
    if (bytes == 0 || take(bytes, err))
        return true;
    give_back(NULL);
    return false;
}

int64_t l2_carveout_bytes(void) {
    return carveout.bytes;
}

bool l2_carveout_held(double *bytes, Err *err) {
    std::vector<uint32_t> cycles;
    *bytes = 0;
    if (!carveout.bytes)
        return true;
    if (!device_usable(err) || !chase_finish(carveout.results, cudaStreamPerThread, &cycles, err))
        return false;
    *bytes = (double)carveout.bytes * chase_below(cycles, carveout.limit_cycles);
    return true;
}

} // extern "C"
