// What the files here that call CUDA share. Seen by .cu files only.
#ifndef BEV_DEVICE_CUH
#define BEV_DEVICE_CUH

#include "kernels/cuda/common.cuh"
#include "src/run/cuda/device.h"

#include <nvtx3/nvToolsExt.h>

// TRY_CUDA for code outside kernels/: also notices when CUDA is done for.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!cuda_ok((call), "cuda", err))                                                         \
            return device_failed(err);                                                             \
    } while (0)

// A named stretch of time in a profiler's picture.
struct Range {
    explicit Range(const char *name) {
        nvtxRangePushA(name);
    }
    ~Range() {
        nvtxRangePop();
    }
};

// Of the open device.
int device_index();

#endif
