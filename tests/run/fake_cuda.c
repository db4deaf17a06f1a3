/* SPDX-License-Identifier: MIT */
/* A driver library and, under another name, a management library, that answer as environment
 * variables tell them: the faults of machines that we do not have. Only the calls of
 * src/run/cuda/driver.c.
 *
 *     FAKE_CUDA_VERSION     newest CUDA version supported, 13000 unless set
 *     FAKE_CUDA_INIT        what cuInit returns, 0 unless set (100: no device)
 *     FAKE_CUDA_HANG        cuInit does not return
 *     FAKE_CUDA_CRASH       cuInit crashes
 *     FAKE_CUDA_DEVICES     number of GPUs, 1 unless set
 *     FAKE_CUDA_CAPABILITY  10 * major + minor of each, 90 unless set
 *     FAKE_NVML_STATUS      what all questions return, 0 unless set (3: not supported)
 *     FAKE_NVML_REASONS     bits of why clocks are held back, 0 unless set
 *     FAKE_NVML_HANG        seconds that the question for the power takes, 0 unless set */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 0) : otherwise;
}

int cuInit(unsigned flags) {
    while (setting("FAKE_CUDA_HANG", 0))
        pause();
    if (setting("FAKE_CUDA_CRASH", 0))
        abort();
    return flags ? INVALID_VALUE : setting("FAKE_CUDA_INIT", SUCCESS);
}

int cuDriverGetVersion(int *version) {
    *version = setting("FAKE_CUDA_VERSION", 13000);
    return SUCCESS;
}

int cuDeviceGetCount(int *count) {
    *count = setting("FAKE_CUDA_DEVICES", 1);
    return SUCCESS;
}

int cuDeviceGet(int *device, int index) {
    *device = index;
    return index < setting("FAKE_CUDA_DEVICES", 1) ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    int capability = setting("FAKE_CUDA_CAPABILITY", 90);
    *value = attribute == CAPABILITY_MAJOR ? capability / 10 : capability % 10;
    return device >= 0 && (attribute == CAPABILITY_MAJOR || attribute == CAPABILITY_MINOR)
               ? SUCCESS
               : INVALID_VALUE;
}

/* ---- management ------------------------------------------------------------------------------ */

enum { NOT_FOUND = 6, CLOCK_SM = 1 };

static int the_device;

int nvmlInit_v2(void) {
    return SUCCESS;
}

int nvmlShutdown(void) {
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device) {
    *device = &the_device;
    return strcmp(pci, "0000:1b:00.0") ? NOT_FOUND : SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &the_device;
    return index ? NOT_FOUND : SUCCESS;
}

static int answer(void *device, unsigned *value, unsigned is) {
    *value = is;
    return device == &the_device ? setting("FAKE_NVML_STATUS", SUCCESS) : INVALID_VALUE;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
    return answer(device, mhz, kind == CLOCK_SM ? 1980 : 2619);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    return sensor ? INVALID_VALUE : answer(device, celsius, 41);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    sleep((unsigned)setting("FAKE_NVML_HANG", 0));
    return answer(device, milliwatts, 131500);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
    return answer(device, milliwatts, 700000);
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits) {
    unsigned low;
    int status = answer(device, &low, (unsigned)setting("FAKE_NVML_REASONS", 0));
    *bits = low;
    return status;
}
