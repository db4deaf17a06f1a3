/* Clock, temperature and power of the GPU at work, and why its clock is held back; NVML tells them
 * (cuda/driver.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NaN: unknown. */
typedef struct {
    double clock_mhz, memory_clock_mhz, temperature_c, power_w, power_limit_w;
    bool throttle_known;
    unsigned long long throttle; /* NVML's bits of reasons why the clock is held back; 0: none */
} Sensors;

extern const Sensors sensors_unknown;

/* Names the reasons: "none", "thermal, power cap". */
void throttle_text(unsigned long long reasons, char *text, size_t size);

#ifdef __cplusplus
}
#endif
