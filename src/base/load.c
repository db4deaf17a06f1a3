/* SPDX-License-Identifier: MIT */
#include "src/base/load.h"

#include "src/base/clock.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads a line of /proc/stat about one core: the core's number and the ticks in which it worked.
 * Ticks that the host of a virtual machine took (steal) count as work. False: another line. */
static bool read_core(const char *line, unsigned *core, double *ticks) {
    unsigned long long user, nice, system, irq, soft_irq, steal; /* idle and waiting are skipped */
    bool read = sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", core, &user, &nice,
                       &system, &irq, &soft_irq, &steal) == 7;
    *ticks = read ? (double)(user + nice + system + irq + soft_irq + steal) : 0;
    return read;
}

/* Returns the seconds that the cores of this process have worked, summed over the cores. *cores
 * receives the number of cores; 0: /proc/stat lists none. */
static double cores_busy_s(int *cores) {
    char line[512];
    unsigned core;
    double ticks, sum = 0;
    cpu_set_t ours;
    FILE *file = fopen("/proc/stat", "r");
    *cores = 0;
    if (sched_getaffinity(0, sizeof ours, &ours) < 0)
        CPU_ZERO(&ours);
    while (file && fgets(line, sizeof line, file))
        if (read_core(line, &core, &ticks) && core < CPU_SETSIZE && CPU_ISSET(core, &ours)) {
            sum += ticks;
            ++*cores;
        }
    if (file)
        fclose(file);
    return sum / (double)sysconf(_SC_CLK_TCK);
}

static double process_cpu_s(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

Load load_now(void) {
    Load load = {.own_s = process_cpu_s(RUSAGE_SELF) + process_cpu_s(RUSAGE_CHILDREN),
                 .wall_s = clock_us() * 1e-6};
    load.busy_s = cores_busy_s(&load.cores);
    return load;
}

double load_of_others(const Load *then) {
    const Load now = load_now();
    double others_s = now.busy_s - then->busy_s - (now.own_s - then->own_s);
    double all_s = now.cores * (now.wall_s - then->wall_s);
    return all_s > 0 && others_s > 0 ? others_s / all_s : 0;
}
