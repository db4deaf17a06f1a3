#include "src/run/sensors.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

const Sensors sensors_unknown = {.clock_mhz = NAN,
                                 .memory_clock_mhz = NAN,
                                 .temperature_c = NAN,
                                 .power_w = NAN,
                                 .power_limit_w = NAN};

/* ---- reasons --------------------------------------------------------------------------------- */

static const struct {
    unsigned long long bits;
    const char *name;
} reasons_of[] = {
    {THROTTLE_IDLE, "idle"},    {0x4, "power cap"},
    {0x80, "power brake"},      {THROTTLE_THERMAL | 0x40, "thermal"},
    {0x8, "hardware slowdown"}, {0x2, "clock setting"},
    {0x10, "sync boost"},       {0x100, "display"},
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

bool throttle_holds(unsigned long long reasons) {
    return (reasons & ~(unsigned long long)THROTTLE_IDLE) != 0;
}

const char *sensor_missing(BevWhere where, Sensor sensor) {
    static const char *const cpu[SENSOR_COUNT] = {[SENSOR_CLOCK] = "no cpufreq in /sys",
                                                  [SENSOR_TEMPERATURE] = "no CPU sensor in /sys",
                                                  [SENSOR_THROTTLE] =
                                                      "no thermal_throttle in /sys"};
    return where == BEV_CPU ? cpu[sensor] : "NVML does not tell it";
}

/* ---- the CPU --------------------------------------------------------------------------------- */

enum { MOST_CORES = 8, MOST_SENSORS = 64, PATH = 512 };

/* The first line of root/path. */
static bool read_line(const char *root, const char *path, char line[64]) {
    char full[PATH];
    snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *file = fopen(full, "re");
    bool ok = file && fgets(line, 64, file);
    if (file)
        fclose(file);
    return ok;
}

static bool read_number(const char *root, const char *path, long long *number) {
    char line[64];
    return read_line(root, path, line) && sscanf(line, "%lld", number) == 1;
}

static double mean_clock_mhz(const char *root) {
    cpu_set_t cores;
    double sum_khz = 0;
    int count = 0;
    long long khz;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        return NAN;
    for (int core = 0; core < CPU_SETSIZE && count < MOST_CORES; core++) {
        char path[PATH];
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core);
        if (!CPU_ISSET(core, &cores) || !read_number(root, path, &khz))
            continue;
        sum_khz += (double)khz;
        count++;
    }
    return count ? sum_khz * 1e-3 / count : NAN;
}

/* The hottest of root/class/KIND/PREFIX0, 1, ...: those whose file `type` has a name of `names`. */
static double hottest_c(const char *root, const char *kind, const char *type, const char *value,
                        const char *const names[]) {
    double hottest = NAN;
    for (int i = 0; i < MOST_SENSORS; i++) {
        char path[PATH], name[64];
        long long thousandths;
        snprintf(path, sizeof path, "class/%s%d/%s", kind, i, type);
        if (!read_line(root, path, name))
            continue;
        bool wanted = false;
        for (int j = 0; names[j]; j++)
            wanted |= strstr(name, names[j]) != NULL;
        snprintf(path, sizeof path, "class/%s%d/%s", kind, i, value);
        if (wanted && read_number(root, path, &thousandths))
            hottest = fmax(hottest, (double)thousandths * 1e-3);
    }
    return hottest;
}

/* On from the last call: how often the processor slowed itself down because it was too hot. */
static void read_heat(const char *root, CpuHeat *heat, Sensors *sensors) {
    const char *const path = "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count";
    long long count;
    if (!read_number(root, path, &count))
        return;
    sensors->throttle_known = true;
    if (heat->known && count > heat->count)
        sensors->throttle = THROTTLE_THERMAL;
    *heat = (CpuHeat){true, count};
}

void sensors_cpu(const char *root, CpuHeat *heat, Sensors *sensors) {
    static const char *const zones[] = {"x86_pkg_temp", "cpu", "CPU", NULL};
    static const char *const chips[] = {"coretemp", "k10temp", "zenpower", NULL};
    *sensors = sensors_unknown;
    sensors->clock_mhz = mean_clock_mhz(root);
    sensors->temperature_c = fmax(hottest_c(root, "thermal/thermal_zone", "type", "temp", zones),
                                  hottest_c(root, "hwmon/hwmon", "name", "temp1_input", chips));
    read_heat(root, heat, sensors);
}
