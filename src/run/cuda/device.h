/* The GPU: the only CUDA calls outside kernels/. Only in builds with CUDA. One binary serves
 * machines with and without a driver: nothing here is touched before device_open has asked the
 * driver library itself. */
#ifndef BEV_DEVICE_H
#define BEV_DEVICE_H

#include "src/run/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses GPU `index` for this process. Fails with ERR_DEVICE and one line that tells apart: no
 * driver, driver too old, no GPU, no such index, no code for this GPU. Repeated calls are cheap.
 * After a failure that ends CUDA for the process (an illegal address, say) every call here and
 * every session fails with that reason, without touching CUDA again. */
bool device_open(int index, Err *err);

/* Whether a device was opened and still works; touches nothing. */
bool device_opened(void);

/* False with the reason when CUDA cannot be used; opens GPU 0 when none was chosen. For code that
 * makes CUDA calls of its own. */
bool device_usable(Err *err);

/* To be asked after every CUDA failure that `err` tells of: notices one that ends CUDA for the
 * process, and adds that to `err`. Returns false. */
bool device_failed(Err *err);

typedef struct {
    int index;
    char name[128];
    char driver[32];  /* its version, or "for CUDA 13.0" where only that is known */
    char runtime[32]; /* CUDA version built with */
    char pci[32];     /* "0000:1b:00.0"; "": unknown */
    int capability;   /* 10 * major + minor: 90 */
    int multiprocessors;
    int64_t l2_bytes, memory_bytes, free_bytes;
    double dram_gbps; /* 0: unknown */
    /* The code that runs on this GPU converts these formats by bit arithmetic, not by an
     * instruction. */
    bool emulated[BEV_DTYPE_COUNT];
} DeviceInfo;

/* Facts about the open device. */
bool device_info(DeviceInfo *info, Err *err);

/* session_functions of a session opened for that. */
bool device_functions(const BevKernel *kernel, const BevProblem *host, CudaFunction *functions,
                    int capacity, int *count, Err *err);

/* Time that clearing the output of `host` alone takes: part of the launch of every kernel that
 * writes only the cells with points. */
bool device_time_clear(const BevProblem *host, const TimingOptions *options, Timing *timing,
                       Err *err);

/* Time of copying `bytes` from one place on the device to another, which reads and writes them. */
bool device_time_copy(int64_t bytes, const TimingOptions *options, Timing *timing, Err *err);

#ifdef __cplusplus
}
#endif
#endif
