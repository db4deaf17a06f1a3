/* SPDX-License-Identifier: MIT */
/* Facts from the NVIDIA driver's libraries, which are loaded at run time, without the CUDA runtime.
 * They say whether a GPU is usable, and why not. They also give the driver's version and the
 * clocks, temperature and power of a GPU at work. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds a function of a library that dlopen gave. False: the library has none of that name. */
bool find_function(void *library, const char *name, void *function);

/* Fills a struct of `size` bytes with function pointers, in the order of `names`. A function that
 * the library (NULL: none) does not have becomes NULL. Returns whether the library has all. */
bool find_functions(void *library, const char *const *names, void *functions, size_t size);

typedef struct {
    int needed_version; /* CUDA version that the driver must support, 1000 * major + 10 * minor */
    int oldest_capability; /* that code was compiled for, 10 * major + minor */
    int patience_ms;       /* the longest time that the driver's start may take; 0: 10 s */
} DriverNeeds;

/* Checks that GPU `index` exists and that code for this GPU was compiled. *version receives the
 * CUDA version that the driver supports. False: ERR_DEVICE with one line that says what is missing:
 * the driver, a newer driver, a driver that starts, the GPU, or code for the GPU. */
bool driver_probe(int index, const DriverNeeds *needs, int *version, Err *err);

/* Writes the installed driver's own version, "580.159.03", to `text`; "": unknown. */
void driver_version(char *text, unsigned size);

/* Clock, temperature and power of the GPU at work, and why its clock is held back. NaN: unknown. */
typedef struct {
    double clock_mhz, memory_clock_mhz, temperature_c, power_w, power_limit_w;
    bool throttle_known;
    unsigned long long throttle; /* NVML's bits of reasons why the clock is held back; 0: none */
} Sensors;

extern const Sensors sensors_unknown;

/* Writes the names of the reasons: "none", "thermal, power cap". */
void throttle_text(unsigned long long reasons, char *text, size_t size);

typedef struct Nvml Nvml;

/* Starts a thread that asks NVML once a second about the GPU at that PCI address ("0000:1b:00.0";
 * "": the first GPU). NVML may be slow or hang, so nobody waits for an answer. NULL: the thread did
 * not start, and everything stays unknown. */
Nvml *nvml_open(const char *pci);

/* Ends the thread. A thread whose call of NVML takes another second is left alone. Accepts NULL. */
void nvml_close(Nvml *nvml);

/* Copies the latest answers to *sensors. Returns the number of answers so far. Accepts NULL. */
uint64_t nvml_latest(Nvml *nvml, Sensors *sensors);

#ifdef __cplusplus
}
#endif
