#include "src/run/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char use_cpu[] = "install or update the NVIDIA driver, or use --device cpu";

/* The few driver functions that answer the question; prototypes as in the driver's ABI. */
typedef struct {
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *count);
    int (*get)(int *device, int index);
    int (*name)(char *name, int size, int device);
    int (*attribute)(int *value, int attribute, int device);
} Driver;

enum { NO_DEVICE = 100, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

/* dlsym gives an object pointer; POSIX promises that it may be copied into a function pointer. */
static bool find(void *library, const char *symbol, void *function) {
    void *address = dlsym(library, symbol);
    memcpy(function, &address, sizeof address);
    return address;
}

static bool load(Driver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "cuInit", &driver->init) &&
           find(library, "cuDriverGetVersion", &driver->version) &&
           find(library, "cuDeviceGetCount", &driver->count) &&
           find(library, "cuDeviceGet", &driver->get) &&
           find(library, "cuDeviceGetName", &driver->name) &&
           find(library, "cuDeviceGetAttribute", &driver->attribute);
}

static bool refuse_capability(const DriverNeeds *needs, int index, const char *name, int capability,
                              Err *err) {
    char built[96] = "", hint[96];
    for (const int *c = needs->capabilities; *c; c++) {
        size_t used = strlen(built);
        snprintf(built + used, sizeof built - used, "%s%d.%d", used ? ", " : "", *c / 10, *c % 10);
    }
    snprintf(hint, sizeof hint, "configure with CUDA_ARCH=%d, or use --device cpu", capability);
    return err_set(err, ERR_DEVICE, "cuda", hint,
                   "no code for GPU %d, %s, compute capability %d.%d: built for %s", index, name,
                   capability / 10, capability % 10, built);
}

/* PTX of the newest architecture serves what comes after, so only older GPUs are left out; and
 * code for 8.6 serves no 8.0, code for 9.0 no 8.9. */
static bool has_code(const DriverNeeds *needs, int capability) {
    int newest = 0;
    for (const int *c = needs->capabilities; *c; c++) {
        if (*c / 10 == capability / 10 && *c <= capability)
            return true;
        newest = *c;
    }
    return capability >= newest;
}

static bool check_device(const Driver *driver, const DriverNeeds *needs, int index, Err *err) {
    int device, major = 0, minor = 0;
    char name[96] = "unknown";
    if (driver->get(&device, index) || driver->attribute(&major, CAPABILITY_MAJOR, device) ||
        driver->attribute(&minor, CAPABILITY_MINOR, device))
        return err_set(err, ERR_DEVICE, "cuda", "use --device cpu", "GPU %d does not answer",
                       index);
    driver->name(name, sizeof name, device);
    int capability = 10 * major + minor;
    return has_code(needs, capability) || refuse_capability(needs, index, name, capability, err);
}

bool driver_probe(int index, const DriverNeeds *needs, int *version, Err *err) {
    Driver driver;
    if (!load(&driver))
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "no NVIDIA driver: libcuda.so.1 was not found");
    *version = 0;
    if (driver.version(version) || *version < needs->needed_version)
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "the NVIDIA driver is too old: it supports CUDA %d.%d, needed is %d.%d",
                       *version / 1000, *version % 1000 / 10, needs->needed_version / 1000,
                       needs->needed_version % 1000 / 10);
    int count = 0, status = driver.init(0);
    if (status && status != NO_DEVICE)
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "the NVIDIA driver does not start: error %d", status);
    if (status == NO_DEVICE || driver.count(&count) || count < 1)
        return err_set(err, ERR_DEVICE, "cuda", "use --device cpu",
                       "the NVIDIA driver finds no GPU");
    if (index >= count)
        return err_set(err, ERR_DEVICE, "cuda", "see bevscope info",
                       "GPU %d was asked for, the last one is %d", index, count - 1);
    return check_device(&driver, needs, index, err);
}

void driver_version(char *text, unsigned size) {
    int (*init)(void), (*shut_down)(void), (*version)(char *, unsigned);
    *text = '\0';
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    if (find(library, "nvmlInit_v2", &init) && find(library, "nvmlShutdown", &shut_down) &&
        find(library, "nvmlSystemGetDriverVersion", &version) && init() == 0) {
        if (version(text, size))
            *text = '\0';
        shut_down();
    }
    dlclose(library);
}
