/* SPDX-License-Identifier: MIT */
// The open device: chosen once, described, and given up after an error that ends CUDA for the
// process. Pinned host memory for copies.
#include "src/run/cuda/cuda_internal.cuh"
#include "src/run/cuda/driver.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

namespace {

// Atomic: sessions run on other threads than the one that opened the device.
struct Device {
    std::atomic<bool> open, dead; // dead: CUDA has ended for this process and is not called again
    int index, driver_version;
    Err why_dead; // written before `dead` is set
} device;

const DriverNeeds *driver_needs() {
    // Any driver of the toolkit's major version runs programs of the toolkit.
    static const DriverNeeds needs = {CUDART_VERSION / 1000 * 1000, OLDEST_ARCHITECTURE / 10, 0};
    return &needs;
}

// Tells which formats this GPU's code converts by an instruction, for DeviceInfo::emulated.
__global__ void compiled_kernel(int *hardware_fp8, int *hardware_fp4) {
    *hardware_fp8 = BEV_HARDWARE_FP8;
    *hardware_fp4 = BEV_HARDWARE_FP4;
}

} // namespace

int device_index() {
    return device.index;
}

// After an error that ends CUDA every call returns that error, so waiting for a stream shows it.
// Waiting for the whole device would break the capture of a graph in another thread.
bool device_failed(Err *err) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    if (!device.dead) {
        cudaGetLastError();
        if (cudaStreamSynchronize(NULL) == cudaSuccess)
            return false;
        err_set(&device.why_dead, ERR_DEVICE, err ? err->where : "cuda",
                "the CPU goes on; restart to use the GPU again", "%.120s: CUDA is not used again",
                err ? err->what : "a CUDA call failed");
        device.dead = true;
    }
    if (err)
        *err = device.why_dead;
    return false;
}

bool device_opened(void) {
    return device.open && !device.dead;
}

// Each thread has its own current device. This function sets the device of the calling thread.
bool device_usable(Err *err) {
    if (device.dead)
        return device_failed(err);
    return device.open ? cuda_ok(cudaSetDevice(device.index), "cuda", err) : device_open(0, err);
}

// Keeps memory that a kernel's `prepare` frees in the device's memory pool, so that the next
// `prepare` need not ask the driver. The process owns the pool, and the library never sets this.
// The first allocation takes milliseconds, so it is made here and not in a timed `prepare`.
static void keep_pool(int index) {
    uint64_t kept_bytes = 256 << 20;
    cudaMemPool_t pool;
    void *first;
    if (cudaDeviceGetDefaultMemPool(&pool, index) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes) !=
            cudaSuccess ||
        cudaMallocAsync(&first, 1, 0) != cudaSuccess || cudaFreeAsync(first, 0) != cudaSuccess)
        cudaGetLastError(); // a GPU without pools
}

bool device_open(int index, Err *err) {
    if (device.dead || (device.open && device.index == index))
        return device_usable(err);
    if (!driver_probe(index, driver_needs(), &device.driver_version, err))
        return false;
    cudaFuncAttributes attributes;
    TRY(cudaSetDevice(index));
    TRY(cudaFuncGetAttributes(&attributes, compiled_kernel)); // fails if no code fits this GPU
    keep_pool(index);
    device.open = true;
    device.index = index;
    return true;
}

bool device_info(DeviceInfo *info, Err *err) {
    if (!device_usable(err))
        return false;
    cudaDeviceProp properties;
    size_t free_bytes, total_bytes;
    int memory_khz = 0, *hardware, found[2];
    TRY(cudaGetDeviceProperties(&properties, device.index));
    TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device.index);
    TRY(cudaMalloc((void **)&hardware, sizeof found));
    compiled_kernel<<<1, 1>>>(hardware, hardware + 1);
    cudaError_t status = cudaMemcpy(found, hardware, sizeof found, cudaMemcpyDeviceToHost);
    cudaFree(hardware);
    TRY(status);
    *info = {};
    if (cudaDeviceGetPCIBusId(info->pci, sizeof info->pci, device.index) != cudaSuccess)
        info->pci[0] = 0;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    driver_version(info->driver, sizeof info->driver);
    if (!info->driver[0]) // then at least the CUDA version that it supports
        snprintf(info->driver, sizeof info->driver, "for CUDA %d.%d", device.driver_version / 1000,
                 device.driver_version % 1000 / 10);
    snprintf(info->runtime, sizeof info->runtime, "%d.%d", CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10);
    info->multiprocessors = properties.multiProcessorCount;
    info->l2_bytes = properties.l2CacheSize;
    info->memory_bytes = (int64_t)total_bytes;
    info->free_bytes = (int64_t)free_bytes;
    info->dram_gb_s = 2.0 * memory_khz * 1e3 * properties.memoryBusWidth / 8 * 1e-9;
    info->emulated[BEV_FP8] = !found[0];
    info->emulated[BEV_NVFP4] = !found[1];
    return true;
}

// ---- pinned memory --------------------------------------------------------------------------

namespace {

constexpr size_t ROUND = 1 << 20; // sizes are rounded up, so that memory fits again
constexpr size_t SPARE_BYTES = 64 << 20;

std::mutex spares_lock;      // several threads take and give back
std::vector<Staging> spares; // given back and not yet taken again, the newest last

void release(const Staging &staging) {
    if (!staging.pinned)
        free(staging.memory);
    else if (device_opened())
        cudaFreeHost(staging.memory);
}

// Takes the smallest spare that fits, if at least half of it is used. memory == NULL: none fits.
Staging take_spare(size_t bytes) {
    std::lock_guard<std::mutex> locked(spares_lock);
    auto best = spares.end();
    for (auto i = spares.begin(); i != spares.end(); i++)
        if (i->bytes >= bytes && i->bytes / 2 <= bytes &&
            (best == spares.end() || i->bytes < best->bytes))
            best = i;
    if (best == spares.end())
        return {};
    Staging found = *best;
    spares.erase(best);
    return found;
}

} // namespace

bool staging_take(Staging *staging, size_t bytes, Err *err) {
    bytes = (std::max(bytes, (size_t)1) + ROUND - 1) / ROUND * ROUND;
    *staging = take_spare(bytes);
    if (staging->memory)
        return true;
    *staging = {NULL, bytes, true};
    if (cudaMallocHost(&staging->memory, bytes) != cudaSuccess) {
        cudaGetLastError(); // not a lasting error: the next call must not see it
        *staging = {malloc(bytes), bytes, false};
    }
    return staging->memory || err_set(err, ERR_FAILED, "read back", "", "out of memory");
}

void staging_give(const Staging *staging) {
    if (!staging->memory)
        return;
    std::lock_guard<std::mutex> locked(spares_lock);
    size_t bytes = 0;
    spares.push_back(*staging);
    for (const Staging &spare : spares)
        bytes += spare.bytes;
    for (; bytes > SPARE_BYTES; spares.erase(spares.begin())) { // the oldest first
        bytes -= spares.front().bytes;
        release(spares.front());
    }
}
