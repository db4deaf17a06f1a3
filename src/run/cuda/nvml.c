#include "src/run/cuda/nvml.h"

#include "src/base/worker.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD_MS = 1000, PATIENCE_MS = 1000 };

/* ---- the library, prototypes and numbers as in its ABI --------------------------------------- */

typedef void *Device;

enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };

typedef struct {
    void *handle;
    int (*init)(void);
    int (*shut_down)(void);
    int (*by_pci)(const char *pci, Device *device);
    int (*by_index)(unsigned index, Device *device);
    int (*clock)(Device device, int kind, unsigned *mhz);
    int (*temperature)(Device device, int sensor, unsigned *celsius);
    int (*power)(Device device, unsigned *milliwatts);
    int (*power_limit)(Device device, unsigned *milliwatts);
    int (*reasons)(Device device, unsigned long long *bits);
} Library;

static const struct {
    unsigned long long bits;
    const char *name;
} throttle_reasons[] = {
    {0x1, "idle"},
    {0x4, "power cap"},
    {0x80, "power brake"},
    {0x20 | 0x40, "thermal"},
    {0x8, "hardware slowdown"},
    {0x2, "clock setting"},
    {0x10, "sync boost"},
    {0x100, "display"},
};

/* dlsym gives an object pointer; POSIX promises that it may be copied into a function pointer. */
static bool find(void *library, const char *symbol, void *function) {
    void *address = dlsym(library, symbol);
    memcpy(function, &address, sizeof address);
    return address;
}

/* Without the first four nothing can be asked; of the rest each may be missing. */
static bool load(Library *l) {
    l->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        return false;
    find(l->handle, "nvmlDeviceGetClockInfo", &l->clock);
    find(l->handle, "nvmlDeviceGetTemperature", &l->temperature);
    find(l->handle, "nvmlDeviceGetPowerUsage", &l->power);
    find(l->handle, "nvmlDeviceGetEnforcedPowerLimit", &l->power_limit);
    if (!find(l->handle, "nvmlDeviceGetCurrentClocksEventReasons", &l->reasons))
        find(l->handle, "nvmlDeviceGetCurrentClocksThrottleReasons", &l->reasons); /* before R535 */
    return find(l->handle, "nvmlInit_v2", &l->init) &&
           find(l->handle, "nvmlShutdown", &l->shut_down) &&
           find(l->handle, "nvmlDeviceGetHandleByPciBusId_v2", &l->by_pci) &&
           find(l->handle, "nvmlDeviceGetHandleByIndex_v2", &l->by_index);
}

/* ---- one reading ----------------------------------------------------------------------------- */

static const NvmlFacts unknown = {NAN, NAN, NAN, NAN, NAN, ""};

static void name_reasons(unsigned long long bits, char *text, size_t size) {
    text[0] = '\0';
    for (size_t i = 0; i < sizeof throttle_reasons / sizeof *throttle_reasons; i++)
        if (bits & throttle_reasons[i].bits) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", throttle_reasons[i].name);
        }
    if (!bits)
        snprintf(text, size, "none");
    else if (!text[0])
        snprintf(text, size, "reason 0x%llx", bits);
}

static void read_facts(const Library *l, Device device, NvmlFacts *facts) {
    unsigned value;
    unsigned long long bits;
    *facts = unknown;
    if (l->clock && l->clock(device, CLOCK_SM, &value) == SUCCESS)
        facts->sm_clock_mhz = value;
    if (l->clock && l->clock(device, CLOCK_MEMORY, &value) == SUCCESS)
        facts->memory_clock_mhz = value;
    if (l->temperature && l->temperature(device, SENSOR_GPU, &value) == SUCCESS)
        facts->temperature_c = value;
    if (l->power && l->power(device, &value) == SUCCESS)
        facts->power_w = value * 1e-3;
    if (l->power_limit && l->power_limit(device, &value) == SUCCESS)
        facts->power_limit_w = value * 1e-3;
    if (l->reasons && l->reasons(device, &bits) == SUCCESS)
        name_reasons(bits, facts->throttle, sizeof facts->throttle);
}

/* ---- the thread ------------------------------------------------------------------------------ */

struct Nvml {
    Worker worker;
    char pci[32];

    /* Under the lock. */
    uint64_t count;
    NvmlFacts facts;
};

/* Hands over what was read and sleeps; false: it is time to end. */
static bool publish(Nvml *nvml, const NvmlFacts *facts) {
    worker_lock(&nvml->worker);
    nvml->facts = *facts;
    nvml->count++;
    worker_sleep(&nvml->worker, PERIOD_MS);
    bool go_on = !nvml->worker.stop;
    worker_unlock(&nvml->worker);
    return go_on;
}

static void ask(Nvml *nvml, const Library *library) {
    Device device;
    NvmlFacts facts;
    int status = nvml->pci[0] ? library->by_pci(nvml->pci, &device) : library->by_index(0, &device);
    if (status != SUCCESS)
        return;
    do
        read_facts(library, device, &facts);
    while (publish(nvml, &facts));
}

static void *nvml_main(void *argument) {
    Nvml *nvml = argument;
    Library library = {0};
    if (load(&library) && library.init() == SUCCESS) {
        ask(nvml, &library);
        library.shut_down();
    }
    if (library.handle)
        dlclose(library.handle);
    worker_lock(&nvml->worker);
    nvml->count += !nvml->count; /* nothing will come: all stays unknown */
    worker_unlock(&nvml->worker);
    return NULL;
}

Nvml *nvml_open(const char *pci) {
    Err ignored; /* without sensors all stays unknown */
    Nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return NULL;
    nvml->facts = unknown;
    snprintf(nvml->pci, sizeof nvml->pci, "%s", pci);
    if (worker_start(&nvml->worker, nvml_main, nvml, "NVML", &ignored))
        return nvml;
    free(nvml);
    return NULL;
}

void nvml_close(Nvml *nvml) {
    if (nvml && worker_end_within(&nvml->worker, PATIENCE_MS))
        free(nvml);
}

uint64_t nvml_latest(Nvml *nvml, NvmlFacts *facts) {
    *facts = unknown;
    if (!nvml)
        return 0;
    worker_lock(&nvml->worker);
    *facts = nvml->facts;
    uint64_t count = nvml->count;
    worker_unlock(&nvml->worker);
    return count;
}
