// Host memory that the GPU reads and writes at full speed. Seen by .cu files only.
#ifndef BEV_STAGING_CUH
#define BEV_STAGING_CUH

#include "src/bench/device.cuh"

struct Staging {
    void *memory; // NULL: none
    size_t bytes;
    bool pinned; // scarce in some places: then it is any other memory, only slower
};

// At least `bytes`. Pinning takes milliseconds, so that what was given back last is handed out
// again where it is large enough.
bool staging_take(Staging *staging, size_t bytes, Err *err);
void staging_give(const Staging *staging);

#endif
