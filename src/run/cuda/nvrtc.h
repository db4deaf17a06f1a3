/* SPDX-License-Identifier: MIT */
/* Compiles a CUDA kernel while the program runs, and launches it. libnvrtc and libcuda are loaded
 * when they are needed. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>

typedef struct {
    char *image; /* machine code for the first GPU; NULL: not compiled */
    size_t bytes;
    char *log; /* the compiler's messages; may be NULL */
} NvrtcResult;

/* Compiles `source` for the first GPU. Messages call the source `name`. Headers are searched in the
 * folder `headers`. ERR_DEVICE: no driver, no GPU or no libnvrtc; ERR_FAILED: does not compile. The
 * caller frees image and log, also after a failure. */
bool nvrtc_compile(const char *source, const char *name, const char *headers, NvrtcResult *result,
                   Err *err);

/* Loads an image into the current CUDA context and finds its kernel `function`: extern "C", one
 * argument by value. The image stays loaded until the process ends. */
bool nvrtc_load(const char *image, const char *function, Err *err);

/* Enqueues two things on `stream` (a cudaStream_t). First `bytes` bytes at `out` on the device, a
 * multiple of 4, are cleared. Then the loaded kernel is launched with `argument`, in blocks of
 * NVRTC_BLOCK, for at least `threads` threads. */
enum { NVRTC_BLOCK = 256 };
bool nvrtc_launch(const void *argument, void *out, size_t bytes, long threads, void *stream,
                  Err *err);
