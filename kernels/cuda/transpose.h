#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues on a stream: `to` (outer, b, a) is made of `from` (outer, a, b), both in device memory
 * and apart. An element has 1, 2 or 4 bytes. */
bool cuda_transpose(const void *from, void *to, size_t bytes, int64_t outer, int64_t a, int64_t b,
                    void *stream, Err *err);

#ifdef __cplusplus
}
#endif
