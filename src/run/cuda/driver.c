/* SPDX-License-Identifier: MIT */
#include "src/run/cuda/driver.h"

#include "src/base/clock.h"
#include "src/base/worker.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* dlsym gives an object pointer; POSIX promises that it may be copied to a function pointer. */
bool find_function(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

bool find_functions(void *library, const char *const *names, void *functions, size_t size) {
    bool all = library;
    for (size_t i = 0; library && i < size / sizeof(void *); i++)
        all &= find_function(library, names[i], (void **)functions + i);
    return all;
}

/* ---- libcuda.so: is there a usable GPU? ----------------------------------------------------- */

static const char use_cpu[] = "install or update the NVIDIA driver, or use --device cpu";

/* The driver functions that find a usable GPU, with the prototypes of the driver's ABI. */
typedef struct {
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *count);
    int (*get)(int *device, int index);
    int (*name)(char *name, int size, int device);
    int (*attribute)(int *value, int attribute, int device);
} Driver;

enum { NO_DEVICE = 100, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
enum { OLDEST = 80 }; /* the compute capability that all kernels need, 10 * major + minor */

/* Whether the loader finds a file of that name, loadable or not. */
static bool can_be_found(const char *name) {
    const char *error = dlerror();
    return error && !(strstr(error, name) && strstr(error, "No such file"));
}

static bool load_cuda(Driver *driver, Err *err) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library && !can_be_found("libcuda.so.1"))
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "no NVIDIA driver: libcuda.so.1 was not found");
    static const char *const names[] = {"cuInit",           "cuDriverGetVersion",
                                        "cuDeviceGetCount", "cuDeviceGet",
                                        "cuDeviceGetName",  "cuDeviceGetAttribute"};
    return find_functions(library, names, driver, sizeof *driver) ||
           err_set(err, ERR_DEVICE, "cuda", use_cpu,
                   "the NVIDIA driver is broken: libcuda.so.1 cannot be used");
}

/* The oldest architecture is there as PTX, too. It and all newer architectures run this PTX. */
static bool check_capability(const DriverNeeds *needs, int index, const char *name, int capability,
                             Err *err) {
    int oldest = needs->oldest_capability, major = capability / 10, minor = capability % 10;
    char hint[96];
    if (capability >= oldest)
        return true;
    if (capability < OLDEST)
        return err_set(err, ERR_DEVICE, "cuda", "use --device cpu",
                       "GPU %d, %s, has compute capability %d.%d: the kernels need %d.%d or newer",
                       index, name, major, minor, OLDEST / 10, OLDEST % 10);
    snprintf(hint, sizeof hint, "configure with CUDA_ARCH=%d, or use --device cpu", capability);
    return err_set(err, ERR_DEVICE, "cuda", hint,
                   "no code for GPU %d, %s, compute capability %d.%d: built for %d.%d and newer",
                   index, name, major, minor, oldest / 10, oldest % 10);
}

static bool check_device(const Driver *driver, const DriverNeeds *needs, int index, Err *err) {
    int device, major = 0, minor = 0;
    char name[96] = "unknown";
    if (driver->get(&device, index) || driver->attribute(&major, CAPABILITY_MAJOR, device) ||
        driver->attribute(&minor, CAPABILITY_MINOR, device))
        return err_set(err, ERR_DEVICE, "cuda", "use --device cpu", "GPU %d does not answer",
                       index);
    driver->name(name, sizeof name, device);
    return check_capability(needs, index, name, 10 * major + minor, err);
}

static bool probe(int index, const DriverNeeds *needs, int *version, Err *err) {
    Driver driver = {.init = NULL};
    *version = 0;
    if (!load_cuda(&driver, err))
        return false;
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

/* ---- in a child: a driver may hang or crash -------------------------------------------------- */

typedef enum { ASK_ANSWERED, ASK_HUNG, ASK_DIED, ASK_UNASKED } AskEnd;
typedef void Work(const void *context, void *answer);

/* Runs in the child. The child dies with its parent, prints nothing, and runs no exit functions of
 * its parent. A pipe takes PIPE_BUF bytes at once. */
static void answer_parent(Work *work, const void *context, void *answer, size_t size, int to) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    work(context, answer);
    _exit(write(to, answer, size) == (ssize_t)size ? 0 : 1);
}

static AskEnd wait_for_answer(int from, void *answer, size_t size, int ms) {
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    double until = clock_ms() + ms, left;
    while ((left = until - clock_ms()) > 0) {
        int ready = poll(&waiting, 1, (int)left + 1);
        if (ready > 0)
            return read(from, answer, size) == (ssize_t)size ? ASK_ANSWERED : ASK_DIED;
        if (ready < 0 && errno != EINTR)
            return ASK_DIED;
    }
    return ASK_HUNG;
}

/* Runs work(context, answer) in a child and copies the answer of `size` bytes to the parent. An
 * answer has no pointers. A child that has not answered within `ms` is killed and not waited for,
 * because it may sleep in the kernel. ASK_UNASKED: no child could be made, and errno says why. */
static AskEnd ask_child(Work *work, const void *context, void *answer, size_t size, int ms) {
    int ends[2];
    assert(size <= PIPE_BUF);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return ASK_UNASKED;
    pid_t child = fork();
    if (child == 0)
        answer_parent(work, context, answer, size, ends[1]);
    int why = errno;
    close(ends[1]);
    AskEnd end = child < 0 ? ASK_UNASKED : wait_for_answer(ends[0], answer, size, ms);
    close(ends[0]);
    errno = why;
    if (child > 0 && end == ASK_HUNG)
        kill(child, SIGKILL);
    if (child > 0)
        waitpid(child, NULL, end == ASK_HUNG ? WNOHANG : 0);
    return end;
}

enum { PROBE_MS = 10000, VERSION_MS = 3000 };

typedef struct {
    int index;
    const DriverNeeds *needs;
} Question;

typedef struct {
    bool usable;
    int version;
    Err err;
} Answer;

static void answer_question(const void *context, void *memory) {
    const Question *question = context;
    Answer *answer = memory;
    answer->usable = probe(question->index, question->needs, &answer->version, &answer->err);
}

bool driver_probe(int index, const DriverNeeds *needs, int *version, Err *err) {
    static bool asked; /* a child asks once: no child can use CUDA after this process has used it */
    static AskEnd end;
    static int why; /* the errno of ASK_UNASKED */
    int patience_ms = needs->patience_ms ? needs->patience_ms : PROBE_MS;
    const Question question = {index, needs};
    Answer answer = {.usable = false};
    if (asked && end == ASK_ANSWERED)
        return probe(index, needs, version, err);
    if (!asked) {
        end = ask_child(answer_question, &question, &answer, sizeof answer, patience_ms);
        why = errno;
    }
    asked = true;
    *version = answer.version;
    if (end == ASK_HUNG)
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "the NVIDIA driver hangs: no answer within %d s", patience_ms / 1000);
    if (end == ASK_UNASKED)
        return err_set(err, ERR_DEVICE, "cuda", use_cpu,
                       "no process can be started that asks the NVIDIA driver: %s", strerror(why));
    if (end == ASK_DIED)
        return err_set(err, ERR_DEVICE, "cuda", use_cpu, "the NVIDIA driver crashes as it starts");
    if (!answer.usable && err)
        *err = answer.err;
    return answer.usable;
}

/* ---- libnvidia-ml.so: prototypes and numbers as in its ABI ---------------------------------- */

enum { PERIOD_MS = 1000, PATIENCE_MS = 1000 };

typedef void *Device;

enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };

/* The first four functions are needed. Each of the others may be missing. */
typedef struct {
    int (*init)(void);
    int (*shut_down)(void);
    int (*by_pci)(const char *pci, Device *device);
    int (*by_index)(unsigned index, Device *device);
    int (*version)(char *text, unsigned size);
    int (*clock)(Device device, int kind, unsigned *mhz);
    int (*temperature)(Device device, int sensor, unsigned *celsius);
    int (*power)(Device device, unsigned *milliwatts);
    int (*power_limit)(Device device, unsigned *milliwatts);
    int (*reasons)(Device device, unsigned long long *bits);
} Library;

/* Loads NVML and returns its handle for dlclose. NULL: there is no NVML that can be used. */
static void *load_nvml(Library *l) {
    void *handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    static const char *const names[] = {
        "nvmlInit_v2",
        "nvmlShutdown",
        "nvmlDeviceGetHandleByPciBusId_v2",
        "nvmlDeviceGetHandleByIndex_v2",
        "nvmlSystemGetDriverVersion",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetTemperature",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetCurrentClocksEventReasons",
    };
    find_functions(handle, names, l, sizeof *l);
    if (handle && !l->reasons) /* drivers before R535 know this name only */
        find_function(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", &l->reasons);
    return l->init && l->shut_down && l->by_pci && l->by_index ? handle : NULL;
}

enum { VERSION_TEXT = 96 };

static void read_version(const void *context, void *answer) {
    Library l = {0};
    char *text = answer;
    (void)context;
    if (load_nvml(&l) && l.init() == SUCCESS && l.version &&
        l.version(text, VERSION_TEXT) != SUCCESS)
        *text = '\0';
}

void driver_version(char *text, unsigned size) {
    char found[VERSION_TEXT] = "";
    bool known = ask_child(read_version, NULL, found, sizeof found, VERSION_MS) == ASK_ANSWERED;
    snprintf(text, size, "%s", known ? found : "");
}

/* ---- one reading ----------------------------------------------------------------------------- */

const Sensors sensors_unknown = {.clock_mhz = NAN,
                                 .memory_clock_mhz = NAN,
                                 .temperature_c = NAN,
                                 .power_w = NAN,
                                 .power_limit_w = NAN};

static const struct {
    unsigned long long bits;
    const char *name;
} reasons_of[] = {
    {0x1, "idle"},
    {0x4, "power cap"},
    {0x80, "power brake"},
    {0x20 | 0x40, "thermal"},
    {0x8, "hardware slowdown"},
    {0x2, "clock setting"},
    {0x10, "sync boost"},
    {0x100, "display"},
};

void throttle_text(unsigned long long reasons, char *text, size_t size) {
    text[0] = '\0';
    for (size_t i = 0; i < sizeof reasons_of / sizeof *reasons_of; i++)
        if (reasons & reasons_of[i].bits) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", reasons_of[i].name);
        }
    if (!reasons)
        snprintf(text, size, "none");
    else if (!text[0])
        snprintf(text, size, "reason 0x%llx", reasons);
}

static void read_sensors(const Library *l, Device device, Sensors *sensors) {
    unsigned value;
    *sensors = sensors_unknown;
    if (l->clock && l->clock(device, CLOCK_SM, &value) == SUCCESS)
        sensors->clock_mhz = value;
    if (l->clock && l->clock(device, CLOCK_MEMORY, &value) == SUCCESS)
        sensors->memory_clock_mhz = value;
    if (l->temperature && l->temperature(device, SENSOR_GPU, &value) == SUCCESS)
        sensors->temperature_c = value;
    if (l->power && l->power(device, &value) == SUCCESS)
        sensors->power_w = value * 1e-3;
    if (l->power_limit && l->power_limit(device, &value) == SUCCESS)
        sensors->power_limit_w = value * 1e-3;
    sensors->throttle_known = l->reasons && l->reasons(device, &sensors->throttle) == SUCCESS;
}

/* ---- the thread ------------------------------------------------------------------------------ */

struct Nvml {
    Worker worker;
    char pci[32];

    /* Under the worker's lock. */
    uint64_t count; /* number of answers */
    Sensors sensors;
};

/* Reads and stores the sensors once a PERIOD_MS, until the thread must end. */
static void ask_sensors(Nvml *nvml, const Library *library) {
    Device device;
    int status = nvml->pci[0] ? library->by_pci(nvml->pci, &device) : library->by_index(0, &device);
    for (bool go_on = status == SUCCESS; go_on;) {
        Sensors sensors;
        read_sensors(library, device, &sensors);
        worker_lock(&nvml->worker);
        nvml->sensors = sensors;
        nvml->count++;
        worker_sleep(&nvml->worker, PERIOD_MS);
        go_on = !nvml->worker.stop;
        worker_unlock(&nvml->worker);
    }
}

static void *nvml_main(void *argument) {
    Nvml *nvml = argument;
    Library library = {0};
    void *handle = load_nvml(&library);
    if (handle && library.init() == SUCCESS) {
        ask_sensors(nvml, &library);
        library.shut_down();
    }
    if (handle)
        dlclose(handle);
    worker_lock(&nvml->worker);
    if (!nvml->count)
        nvml->count = 1; /* no answer will come: all facts stay unknown */
    worker_unlock(&nvml->worker);
    return NULL;
}

Nvml *nvml_open(const char *pci) {
    Nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return NULL;
    nvml->sensors = sensors_unknown;
    snprintf(nvml->pci, sizeof nvml->pci, "%s", pci);
    if (worker_start(&nvml->worker, nvml_main, nvml, "NVML", NULL))
        return nvml;
    free(nvml);
    return NULL;
}

void nvml_close(Nvml *nvml) {
    if (nvml && worker_end_within(&nvml->worker, PATIENCE_MS))
        free(nvml);
}

uint64_t nvml_latest(Nvml *nvml, Sensors *sensors) {
    *sensors = sensors_unknown;
    if (!nvml)
        return 0;
    worker_lock(&nvml->worker);
    *sensors = nvml->sensors;
    uint64_t count = nvml->count;
    worker_unlock(&nvml->worker);
    return count;
}
