#include "src/bench/staging.cuh"

#include <mutex>
#include <stdlib.h>
#include <utility>

namespace {

std::mutex lock; // sessions come and go on several threads
Staging spare;

void release(const Staging *staging) {
    if (!staging->pinned)
        free(staging->memory);
    else if (device_opened())
        cudaFreeHost(staging->memory);
}

// Takes the spare away, which may be none.
Staging take_spare() {
    std::lock_guard<std::mutex> locked(lock);
    return std::exchange(spare, Staging{});
}

} // namespace

bool staging_take(Staging *staging, size_t bytes, Err *err) {
    *staging = take_spare();
    if (staging->memory && staging->bytes >= bytes)
        return true;
    release(staging);
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
    Staging old;
    {
        std::lock_guard<std::mutex> locked(lock);
        old = std::exchange(spare, *staging);
    }
    release(&old);
}
