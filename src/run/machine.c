/* SPDX-License-Identifier: MIT */
#include "src/run/machine.h"

#include "config.h"
#include "kernels/clean.h"
#include "kernels/threads.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Reads the name of the first core, which is in the first lines. It allocates no memory. */
static void read_cpu_name(char name[128]) {
    char text[1024], raw[128];
    int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "model name");
    bool found = line && sscanf(line, "model name : %127[^\n]", raw) == 1;
    clean_text(found ? raw : NULL, name, 128);
}

/* Describes the GPU if this process already uses it: opening a GPU for its name takes too long. */
static void read_gpu(Machine *machine) {
#ifdef HAVE_CUDA
    DeviceInfo info;
    if (!device_opened() || !device_info(&info, NULL))
        return;
    clean_text(info.name, machine->gpu, sizeof machine->gpu);
    snprintf(machine->driver, sizeof machine->driver, "%s", info.driver);
    snprintf(machine->cuda, sizeof machine->cuda, "%s", info.runtime);
#else
    (void)machine;
#endif
}

static int64_t positive(long value) {
    return value > 0 ? value : 0;
}

void machine_label(const Machine *machine, char *label, size_t size) {
    enum { DAY = sizeof "2026-11-20" - 1 };
    if (machine->gpu[0])
        snprintf(label, size, "%.63s, driver %.15s, CUDA %.15s, %.*s", machine->gpu,
                 machine->driver, machine->cuda, DAY, machine->date);
    else
        snprintf(label, size, "%.63s, %d threads, %.*s", machine->cpu, machine->threads, DAY,
                 machine->date);
}

void machine_read(Machine *machine) {
    cpu_set_t set;
    memset(machine, 0, sizeof *machine);
    read_cpu_name(machine->cpu);
    machine->cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    machine->threads = bev_threads();
    machine->l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    machine->l3_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    machine->memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
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
