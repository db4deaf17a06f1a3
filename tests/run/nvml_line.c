/* Prints what NVML says about the GPU at PCI address argv[1] (none: the first) in one line, then
 * how long closing took. test_nvml.sh runs it against fake libraries. */
#include "src/run/cuda/driver.h"
#include "src/base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000 };

int main(int argc, char **argv) {
    NvmlFacts facts;
    Nvml *nvml = nvml_open(argc > 1 ? argv[1] : "");
    double end = clock_ms() + PATIENCE_MS;
    while (!nvml_latest(nvml, &facts) && clock_ms() < end)
        usleep(1000);
    printf("SM %g MHz, memory %g MHz, %g C, %g of %g W, throttle '%s'\n", facts.sm_clock_mhz,
           facts.memory_clock_mhz, facts.temperature_c, facts.power_w, facts.power_limit_w,
           facts.throttle);
    double begun = clock_ms();
    nvml_close(nvml);
    puts(clock_ms() - begun < 2000 ? "closed" : "closed late");
    return 0;
}
