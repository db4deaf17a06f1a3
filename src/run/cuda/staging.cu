#include "src/run/cuda/staging.h"

#include "src/run/cuda/device.cuh"

#include <algorithm>
#include <mutex>
#include <stdlib.h>
#include <vector>

namespace {

constexpr size_t ROUND = 1 << 20; // sizes that differ by little are the same
constexpr size_t SPARE_BYTES = 64 << 20;

std::mutex lock;             // sessions and maps come and go on several threads
std::vector<Staging> spares; // the newest last

void release(const Staging &staging) {
    if (!staging.pinned)
        free(staging.memory);
    else if (device_opened())
        cudaFreeHost(staging.memory);
}

// The smallest that fits without wasting half of it; memory == NULL: there is none.
Staging take_spare(size_t bytes) {
    std::lock_guard<std::mutex> locked(lock);
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

// Takes the oldest away while there is too much; memory == NULL: it is not.
Staging take_surplus() {
    std::lock_guard<std::mutex> locked(lock);
    size_t bytes = 0;
    for (const Staging &spare : spares)
        bytes += spare.bytes;
    if (bytes <= SPARE_BYTES)
        return {};
    Staging oldest = spares.front();
    spares.erase(spares.begin());
    return oldest;
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
    {
        std::lock_guard<std::mutex> locked(lock);
        spares.push_back(*staging);
    }
    for (Staging old; (old = take_surplus()).memory;)
        release(old);
}
