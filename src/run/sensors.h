/* Clock, temperature and power of the device at work, and why its clock is held back: of a GPU by
 * NVML (cuda/driver.h), of the CPU from /sys. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of NVML that stand for a state and for a cause on every device. */
enum { THROTTLE_IDLE = 0x1, THROTTLE_THERMAL = 0x20 };

/* NaN: unknown. */
typedef struct {
    double clock_mhz, memory_clock_mhz, temperature_c, power_w, power_limit_w;
    bool throttle_known;
    unsigned long long throttle; /* NVML's bits of reasons why the clock is held back; 0: none */
} Sensors;

extern const Sensors sensors_unknown;

/* Names the reasons: "none", "thermal, power cap". */
void throttle_text(unsigned long long reasons, char *text, size_t size);

/* Whether the clock is held back: by another reason than that there is no work. */
bool throttle_holds(unsigned long long reasons);

/* Why a device does not tell it: static texts for "clock: n/a, no cpufreq in /sys". */
typedef enum { SENSOR_CLOCK, SENSOR_TEMPERATURE, SENSOR_THROTTLE, SENSOR_COUNT } Sensor;
const char *sensor_missing(BevWhere where, Sensor sensor);

/* The CPU's, from files under `root` ("/sys"): the mean clock of the cores that the caller may run
 * on (the first few), the hottest sensor of the processor, and whether it was too hot since the
 * last call. Begin with a zeroed CpuHeat. */
typedef struct {
    bool known;
    long long count;
} CpuHeat;
void sensors_cpu(const char *root, CpuHeat *heat, Sensors *sensors);

#ifdef __cplusplus
}
#endif
