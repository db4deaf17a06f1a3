/* Host memory that the GPU reads and writes at full speed. Its functions are there in builds with
 * CUDA only. */
#ifndef BEV_STAGING_H
#define BEV_STAGING_H

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Staging {
    void *memory; /* NULL: none */
    size_t bytes;
    bool pinned; /* scarce in some places: then it is any other memory, only slower */
} Staging;

/* At least `bytes`. Pinning takes milliseconds, so that what was given back is handed out again
 * where it fits. Any thread may call. */
bool staging_take(Staging *staging, size_t bytes, Err *err);
void staging_give(const Staging *staging);

#ifdef __cplusplus
}
#endif
#endif
