/* SPDX-License-Identifier: MIT */
/* A driver library that answers as environment variables tell it: the faults of machines that we do
 * not have. Only the calls of src/run/cuda/driver.c.
 *
 *     FAKE_CUDA_VERSION     newest CUDA version supported, 13000 unless set
 *     FAKE_CUDA_INIT        what cuInit returns, 0 unless set (100: no device)
 *     FAKE_CUDA_HANG        cuInit does not return
 *     FAKE_CUDA_CRASH       cuInit crashes
 *     FAKE_CUDA_DEVICES     number of GPUs, 1 unless set
 *     FAKE_CUDA_CAPABILITY  10 * major + minor of each, 90 unless set */
#include <stdio.h>
#include <stdlib.h>
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
