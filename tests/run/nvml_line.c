/* Prints what NVML says about the GPU at PCI address argv[1] (none: the first) in one line, then
 * how long closing took. test_nvml.sh runs it against fake libraries. */
#include "src/run/cuda/driver.h"
#include "src/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, OF_A_HANG_MS = 500 };

int main(int argc, char **argv) {
    Sensors sensors;
    char throttle[64] = "";
    Nvml *nvml = nvml_open(argc > 1 ? argv[1] : "");
    double end = clock_ms() + (getenv("FAKE_NVML_HANG") ? OF_A_HANG_MS : PATIENCE_MS);
    while (!nvml_latest(nvml, &sensors) && clock_ms() < end)
        usleep(1000);
    if (sensors.throttle_known)
        throttle_text(sensors.throttle, throttle, sizeof throttle);
    printf("SM %g MHz, memory %g MHz, %g C, %g of %g W, throttle '%s'\n", sensors.clock_mhz,
           sensors.memory_clock_mhz, sensors.temperature_c, sensors.power_w, sensors.power_limit_w,
           throttle);
    double begun = clock_ms();
    nvml_close(nvml);
    puts(clock_ms() - begun < 2000 ? "closed" : "closed late");
    return 0;
}
