#include "src/run/sensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
