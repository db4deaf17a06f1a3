/* What the GPU says about itself while it works: clocks, temperature, power, why it is held back.
 * NVML is loaded at run time and optional. It may take its time or hang, so it is asked about once
 * a second on a thread of its own, and nobody waits for it. */
#ifndef BEV_NVML_H
#define BEV_NVML_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    /* NaN: unknown. */
    double sm_clock_mhz, memory_clock_mhz, temperature_c, power_w, power_limit_w;
    char throttle[64]; /* "none", "idle", "thermal, power cap"; "": unknown */
} NvmlFacts;

typedef struct Nvml Nvml;

/* Starts asking about the GPU at that PCI address ("0000:1b:00.0"; "": the first one). NULL: no
 * thread; everything is unknown then. */
Nvml *nvml_open(const char *pci);

/* Accepts NULL. Waits a moment for a call under way; one that hangs is left behind. */
void nvml_close(Nvml *nvml);

/* The latest answers into *facts; returns how often was asked so far, 0 before the first time.
 * Accepts NULL. */
uint64_t nvml_latest(Nvml *nvml, NvmlFacts *facts);

#endif
