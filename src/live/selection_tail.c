#include "src/live/selection_tail.h"

#include "src/base/clock.h"

#include <math.h>

SelectionTail selection_tail_begin(void) {
    return (SelectionTail){.sensors = long_sensors_none, .since_ms = clock_ms()};
}

static const char *missing_sensor(const LongSensors *sensors, BevWhere where) {
    return isnan(sensors->clock_mhz)       ? sensor_missing(where, SENSOR_CLOCK)
           : isnan(sensors->temperature_c) ? sensor_missing(where, SENSOR_TEMPERATURE)
           : !sensors->throttle_known      ? sensor_missing(where, SENSOR_THROTTLE)
                                           : NULL;
}

void selection_tail_fill(const SelectionTail *tail, BevWhere where, LiveTail *live) {
    const LongSensors *sensors = &tail->sensors;
    *live = (LiveTail){.launches = tail->tail.count,
                       .minutes = (clock_ms() - tail->since_ms) / 60e3,
                       .clock_mhz = sensors->clock_mhz,
                       .least_clock_mhz = sensors->least_clock_mhz,
                       .temperature_c = sensors->temperature_c,
                       .readings = sensors->readings,
                       .held = sensors->held,
                       .missing = missing_sensor(sensors, where)};
    for (int i = 0; i < TAIL_QUANTILES; i++)
        live->quantile_us[i] = tail_quantile(&tail->tail, tail_quantiles[i].part);
    if (sensors->throttle_known)
        throttle_text(sensors->reasons, live->throttle, sizeof live->throttle);
}
