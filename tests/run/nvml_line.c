/* Prints what NVML says about the GPU at PCI address argv[1] (none: the first) in one line, then
 * how long closing took. With "minute" as argv[2]: in the line of a long run. test_nvml.sh runs it
 * against fake libraries. */
#include "src/run/cuda/driver.h"
#include "src/base/clock.h"
#include "src/run/long_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, OF_A_HANG_MS = 500 };

/* As if one frame of 5 us had been timed when NVML was asked. */
static void print_minute(const Sensors *sensors) {
    LongRun run;
    Err err;
    char line[256];
    if (!long_run_begin(&run, 60, &err))
        return;
    long_run_frame(&run, 1, 5);
    long_run_sense(&run, 1, sensors);
    long_run_end(&run, 1);
    long_run_line(&run, 0, line, sizeof line);
    printf("%s, held %d of %d\n", line, run.sensors.held, run.sensors.readings);
    long_run_free(&run);
}

int main(int argc, char **argv) {
    Sensors sensors;
    char throttle[64] = "";
    Nvml *nvml = nvml_open(argc > 1 ? argv[1] : "");
    double end = clock_ms() + (getenv("FAKE_NVML_HANG") ? OF_A_HANG_MS : PATIENCE_MS);
    while (!nvml_latest(nvml, &sensors) && clock_ms() < end)
        usleep(1000);
    if (sensors.throttle_known)
        throttle_text(sensors.throttle, throttle, sizeof throttle);
    if (argc > 2)
        print_minute(&sensors);
    else
        printf("SM %g MHz, memory %g MHz, %g C, %g of %g W, throttle '%s'\n", sensors.clock_mhz,
               sensors.memory_clock_mhz, sensors.temperature_c, sensors.power_w,
               sensors.power_limit_w, throttle);
    double begun = clock_ms();
    nvml_close(nvml);
    puts(clock_ms() - begun < 2000 ? "closed" : "closed late");
    return 0;
}
