/* SPDX-License-Identifier: MIT */
/* Prints what driver_probe says about GPU argv[1], within argv[2] ms, to a program built as the
 * default is: one line, "usable" or the error. argv[3]: how many files it may open. With
 * "sensors PCI" it prints what NVML says about the GPU at that address. test_device.sh runs it
 * against fake libraries. */
#include "src/base/clock.h"
#include "src/run/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int print_sensors(const char *pci) {
    enum { PATIENCE_MS = 3000, OF_A_HANG_MS = 500, CLOSING_MS = 2000 };
    Sensors sensors;
    char throttle[64] = "";
    Nvml *nvml = nvml_open(pci);
    double end = clock_ms() + (getenv("FAKE_NVML_HANG") ? OF_A_HANG_MS : PATIENCE_MS);
    while (!nvml_latest(nvml, &sensors) && clock_ms() < end)
        usleep(1000);
    if (sensors.throttle_known)
        throttle_text(sensors.throttle, throttle, sizeof throttle);
    double begun = clock_ms();
    nvml_close(nvml);
    printf("SM %g MHz, memory %g MHz, %g C, %g of %g W, throttle '%s'\n", sensors.clock_mhz,
           sensors.memory_clock_mhz, sensors.temperature_c, sensors.power_w, sensors.power_limit_w,
           throttle);
    return clock_ms() - begun > CLOSING_MS;
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "sensors"))
        return print_sensors(argv[2]);
    const DriverNeeds needs = {.needed_version = 13000,
                               .oldest_capability = 86,
                               .patience_ms = argc > 2 ? atoi(argv[2]) : 0};
    if (argc > 3)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)atoi(argv[3]), (rlim_t)atoi(argv[3])});
    Err err = {0};
    int version;
    char line[1024];
    if (driver_probe(argc > 1 ? atoi(argv[1]) : 0, &needs, &version, &err)) {
        printf("usable, CUDA %d\n", version);
        return 0;
    }
    err_line(&err, line, sizeof line);
    printf("%s\n", line);
    return err.kind;
}
