/* A management library that answers as environment variables tell it: the faults of machines that
 * we do not have. Only the calls of src/run/cuda/driver.c.
 *
 *     FAKE_NVML_INIT     what nvmlInit_v2 returns, 0 unless set
 *     FAKE_NVML_HANDLE   what looking the GPU up returns, 0 unless set
 *     FAKE_NVML_STATUS   what all questions return, 0 unless set (3: not supported)
 *     FAKE_NVML_REASONS  bits of why clocks are held back, 0 unless set
 *     FAKE_NVML_HANG     seconds that the question for the power takes, 0 unless set
 *
 * Compiled with -DOLD it has the older name of the reasons, with -DPOOR no temperature and power.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INVALID_ARGUMENT = 2, NOT_FOUND = 6, CLOCK_SM = 1, CLOCK_MEMORY = 2 };

static int the_device;

static int setting(const char *name) {
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 0) : 0;
}

static int answer(void *device) {
    return device == &the_device ? setting("FAKE_NVML_STATUS") : INVALID_ARGUMENT;
}

int nvmlInit_v2(void) {
    return setting("FAKE_NVML_INIT");
}

int nvmlShutdown(void) {
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device) {
    *device = &the_device;
    return strcmp(pci, "0000:1b:00.0") ? NOT_FOUND : setting("FAKE_NVML_HANDLE");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &the_device;
    return index ? NOT_FOUND : setting("FAKE_NVML_HANDLE");
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
    *mhz = kind == CLOCK_SM ? 1980 : kind == CLOCK_MEMORY ? 2619 : 1;
    return answer(device);
}

#ifndef POOR
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    *celsius = 41;
    return sensor ? INVALID_ARGUMENT : answer(device);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    sleep((unsigned)setting("FAKE_NVML_HANG"));
    *milliwatts = 131500;
    return answer(device);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
    *milliwatts = 700000;
    return answer(device);
}
#endif

#ifdef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits) {
#else
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits) {
#endif
    *bits = (unsigned)setting("FAKE_NVML_REASONS");
    return answer(device);
}
