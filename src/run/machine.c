#include "src/run/machine.h"

#include "config.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static void read_cpu_name(char name[128]) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    strcpy(name, "n/a");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %127[^\n]", name) == 1)
            break;
    if (file)
        fclose(file);
}

/* Only the GPU that this process already uses: opening one just for its name would take time. */
static void read_gpu(Machine *machine) {
#ifdef HAVE_CUDA
    DeviceInfo info;
    if (!device_opened() || !device_info(&info, NULL))
        return;
    snprintf(machine->gpu, sizeof machine->gpu, "%s", info.name);
    snprintf(machine->driver, sizeof machine->driver, "%s", info.driver);
    snprintf(machine->cuda, sizeof machine->cuda, "%s", info.runtime);
#else
    (void)machine;
#endif
}

static int64_t positive(long value) {
    return value > 0 ? value : 0;
}

static void read_cpu(Machine *machine) {
    read_cpu_name(machine->cpu);
    cpu_set_t set;
    machine->cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#ifdef _OPENMP
    machine->threads = omp_get_max_threads();
#else
    machine->threads = 1;
#endif
    machine->l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    machine->l3_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    machine->memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
}

void machine_read(Machine *machine) {
    memset(machine, 0, sizeof *machine);
    read_cpu(machine);
    read_gpu(machine);
    struct utsname name;
    if (uname(&name) == 0)
        snprintf(machine->system, sizeof machine->system, "%.20s %.60s %.30s", name.sysname,
                 name.release, name.machine);
#ifdef __clang__
    snprintf(machine->compiler, sizeof machine->compiler, "%s", __VERSION__);
#else
    snprintf(machine->compiler, sizeof machine->compiler, "gcc %s", __VERSION__);
#endif
    snprintf(machine->version, sizeof machine->version, "%s", PACKAGE_VERSION);
    time_t now = time(NULL);
    struct tm utc;
    strftime(machine->date, sizeof machine->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}
