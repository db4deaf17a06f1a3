/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a transposition of `from` (outer, a, b) to `to` (outer, b, a) on a stream. Both lie in
 * device memory and do not overlap. An element has 1, 2 or 4 bytes. */
bool cuda_transpose(const void *from, void *to, size_t bytes, int64_t outer, int64_t a, int64_t b,
                    void *stream, Err *err);

#ifdef __cplusplus
}
#endif
