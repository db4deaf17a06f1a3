/* SPDX-License-Identifier: MIT */
/* Opens, describes and probes the GPU, and gives host memory that it copies fast. Only kernels/,
 * src/run/cuda/, src/lib/ and src/scene/scatter_gpu.cu call CUDA. These functions exist only in
 * builds with CUDA. One binary serves machines with and without a driver: no CUDA call happens
 * before device_open has asked the driver library. */
#pragma once

#include "src/cachesim/limits.h"
#include "src/run/session.h"
#include "src/scene/scatter_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses GPU `index` for this process. Fails with ERR_DEVICE and one line that says why: no
 * driver, driver too old, no GPU, no such index, no code for this GPU. Repeated calls are cheap.
 * Some errors end CUDA for the process: an illegal address, for example. Afterwards every function
 * of this file and every session fails with that error and does not call CUDA. */
bool device_open(int index, Err *err);

/* Whether a device was opened and still works. Calls no CUDA. */
bool device_opened(void);

/* False with the reason if CUDA cannot be used; opens GPU 0 if none was chosen. Code that calls
 * CUDA itself asks this first, on each thread. */
bool device_usable(Err *err);

/* Call this with the error of every failed CUDA call. If the error ends CUDA for the process, this
 * is noted and added to `err`. Returns false. */
bool device_failed(Err *err);

typedef struct {
    char name[128];
    char driver[32];  /* its version, or "for CUDA 13.0" if only that is known */
    char runtime[32]; /* the CUDA version that this program was built with */
    char pci[32];     /* "0000:1b:00.0"; "": unknown */
    int multiprocessors;
    int64_t l2_bytes, memory_bytes, free_bytes;
    double dram_gb_s;               /* from memory clock and bus width; 0: unknown */
    bool emulated[BEV_DTYPE_COUNT]; /* this GPU converts the format without an instruction for it */
} DeviceInfo;

/* Reads the facts of the open device. */
bool device_info(DeviceInfo *info, Err *err);

/* Times clearing the output of `host`. Kernels that write only cells with points include such a
 * clear in their launch. */
bool device_time_clear(const BevProblem *host, const TimingOptions *options, Timing *timing,
                       Err *err);

/* Times copying `bytes` bytes from one place on the device to another. */
bool device_time_copy(int64_t bytes, const TimingOptions *options, Timing *timing, Err *err);

/* Times what `enqueue` puts into a stream: replays of a CUDA graph of it, warm. */
bool device_time(bool (*enqueue)(void *context, void *stream, Err *err), void *context,
                 const TimingOptions *options, Timing *timing, Err *err);

/* Takes memory of the device, zeroed or a copy of host memory, and gives it back. */
bool device_take(void **memory, const void *from, size_t bytes, Err *err);
void device_give(void *memory);

/* Measures limits of the open device: those whose bits (1u << Limit) are set in `which`. The other
 * limits are unknown. Each limit has a small kernel that does one thing as fast as it can. All
 * limits together take some tenths of a second, the bandwidths alone a tenth. */
bool probe_limits(unsigned which, Limits *limits, Err *err);

enum { PROBE_ALL = (1 << LIMIT_COUNT) - 1 };

/* Host memory that the GPU reads and writes at full speed. */
typedef struct Staging {
    void *memory; /* NULL: none */
    size_t bytes;
    bool pinned; /* false: the system gave no pinned memory, and copies are slower */
} Staging;

/* staging_take gives at least `bytes` bytes. Pinning takes milliseconds, so memory that was given
 * back is reused if it fits. Any thread may call both functions. */
bool staging_take(Staging *staging, size_t bytes, Err *err);
void staging_give(const Staging *staging);

/* These functions do the same as their namesakes of scatter_gpu.h, after device_usable(). Errors go
 * to device_failed(). */
bool scatter_cuda_open(ScatterGpu **builder, const Rig *rig, BevAlign align, Err *err);
void scatter_cuda_close(ScatterGpu *builder); /* accepts NULL */
bool scatter_cuda_build(ScatterGpu *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                        double *build_us, Err *err);

/* Copies a map from the device to the host. All arrays of *host are in `memory`, which the caller
 * gives back with staging_give. */
bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err);

#ifdef __cplusplus
}
#endif
