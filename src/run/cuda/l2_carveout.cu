// The set-aside of the L2 (compute capability 8.0 and up) turned round: it is meant to keep a few
// lines that matter, and here it keeps lines that do not, so that the rest of the program sees a
// smaller cache.
#include "src/run/cuda/l2_carveout.cuh"

#include "src/run/cuda/probe.h"
#include "src/run/cuda/probe_chase.cuh"

namespace {

struct {
    int64_t bytes; // granted
    char *buffer;  // the unused lines
    uint32_t *results;
    double limit_cycles; // loads that take longer come from DRAM
} aside;

constexpr int THREADS = 1024;

// Every multiprocessor reads all of it, for an L2 of two sides keeps lines for each; evict_last are
// the accesses that the set-aside is for.
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
    if (sum) // never: the buffer is zero
        *sink = sum;
}

bool allowed(int64_t bytes, Err *err) {
    int most = 0;
    TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device_index()));
    if (most <= 0)
        return err_set(err, ERR_DEVICE, "L2 set-aside", "MIG slices and older GPUs cannot",
                       "this device sets no part of its L2 aside");
    return bytes <= most || err_set(err, ERR_DEVICE, "L2 set-aside", "ask for less",
                                    "%.1f MB were asked for, %.1f MB are the most",
                                    (double)bytes / 1048576, most / 1048576.0);
}

bool give_back(Err *err) {
    cudaFree(aside.buffer);
    cudaFree(aside.results);
    aside = {};
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
    aside.limit_cycles = (limits.value[LIMIT_L2_LATENCY] + limits.value[LIMIT_DRAM_LATENCY]) / 2;
    TRY(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)bytes));
    TRY(cudaDeviceGetLimit(&granted, cudaLimitPersistingL2CacheSize));
    if (!cuda_allocate((void **)&aside.buffer, granted, "L2 set-aside", err) ||
        !cuda_allocate((void **)&aside.results, CHASE_BYTES, "L2 set-aside", err))
        return device_failed(err);
    TRY(cudaMemset(aside.buffer, 0, granted));
    aside.bytes = (int64_t)granted;
    return true;
}

} // namespace

bool l2_carveout_fill(cudaStream_t stream, Err *err) {
    if (!aside.bytes)
        return true;
    int multiprocessors;
    TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_index()));
    if (!chase_start<false>(aside.buffer, aside.bytes, aside.results, stream, err))
        return false;
    keep_kernel<<<multiprocessors, THREADS, 0, stream>>>((const uint4 *)aside.buffer,
                                                         aside.bytes / (int64_t)sizeof(uint4),
                                                         (uint32_t *)aside.buffer);
    TRY(cudaGetLastError());
    return true;
}

extern "C" {

bool l2_carveout_set(int64_t bytes, Err *err) {
    if (!device_usable(err) || (aside.bytes && !give_back(err)))
        return false;
    if (bytes == 0 || take(bytes, err))
        return true;
    give_back(NULL);
    return false;
}

int64_t l2_carveout_bytes(void) {
    return aside.bytes;
}

bool l2_carveout_held(double *bytes, Err *err) {
    std::vector<uint32_t> cycles;
    *bytes = 0;
    if (!aside.bytes)
        return true;
    if (!device_usable(err) || !chase_finish(aside.results, cudaStreamPerThread, &cycles, err))
        return false;
    *bytes = (double)aside.bytes * chase_below(cycles, aside.limit_cycles);
    return true;
}

} // extern "C"
