// Latencies of loads that wait for each other, one by one: where in the memory a buffer is. Seen by
// .cu files only.
#ifndef BEV_PROBE_CHASE_CUH
#define BEV_PROBE_CHASE_CUH

#include "src/run/cuda/device.cuh"

#include <algorithm>
#include <vector>

constexpr int LINE = 128, CHASED = 4096; // loads
constexpr size_t CHASE_BYTES = CHASED * sizeof(uint32_t);

template <bool L1> __device__ uint32_t load_past(const uint32_t *address) {
    uint32_t value;
    if (L1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(address));
    else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

// One thread walks `lines` lines of the zeroed buffer, `stride` lines a step. A load cannot start
// before the last one's value, zero, is there to be added to its address: the cycles from start to
// start are its latency. The rest of the address is worked out meanwhile.
template <bool L1>
__global__ void chase_kernel(const uint32_t *buffer, uint32_t lines, uint32_t stride,
                             uint32_t *cycles) {
    __shared__ uint32_t noted[CHASED + 1];
    const uint32_t *at = buffer;
    uint32_t line = 0, zero = 0;
#pragma unroll 1
    for (int i = 0; i <= CHASED; i++) {
        zero = load_past<L1>(at + zero);
        noted[i] = (uint32_t)clock();
        line = line + stride < lines ? line + stride : line + stride - lines;
        at = buffer + int64_t(line) * (LINE / 4);
        asm volatile("" : "+l"(at)); // or the compiler adds zero first, and all of it waits
    }
    for (int i = 0; i < CHASED; i++)
        cycles[i] = noted[i + 1] - noted[i] + zero;
}

// Enqueues loads all over `bytes` of a zeroed buffer, past L1 or not. `results` has room for
// CHASE_BYTES.
template <bool L1>
bool chase_start(const void *buffer, int64_t bytes, uint32_t *results, cudaStream_t stream,
                 Err *err) {
    uint32_t lines = uint32_t(bytes / LINE);
    uint32_t stride = uint32_t(lines * 0.618) | 1; // the golden section: no two near in time
    chase_kernel<L1><<<1, 1, 0, stream>>>((const uint32_t *)buffer, lines, stride, results);
    TRY(cudaGetLastError());
    return true;
}

// Waits for them: their cycles in ascending order.
inline bool chase_finish(const uint32_t *results, cudaStream_t stream,
                         std::vector<uint32_t> *cycles, Err *err) {
    cycles->resize(CHASED);
    TRY(cudaMemcpyAsync(cycles->data(), results, CHASE_BYTES, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    std::sort(cycles->begin(), cycles->end());
    return true;
}

// Share of sorted latencies below a limit.
inline double chase_below(const std::vector<uint32_t> &cycles, double limit) {
    auto found = std::lower_bound(cycles.begin(), cycles.end(), uint32_t(limit));
    return double(found - cycles.begin()) / double(cycles.size());
}

#endif
