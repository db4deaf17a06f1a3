/* One kernel timed frame by frame for minutes or hours: quantiles of all frames, and for each
 * minute the median beside the device's sensors. A frame is one launch, waited for: no frame hides
 * behind a mean. Memory is bounded, and an interruption keeps what was measured. */
#pragma once

#include "src/base/tail.h"
#include "src/run/sensors.h"
#include "src/run/session.h"

/* The sensors of one span: of a minute, or of all. Means and extremes are NaN where unknown. */
typedef struct {
    int readings, clocks;              /* of all sensors; of them with a clock */
    double clock_mhz, least_clock_mhz; /* mean and least */
    double temperature_c;              /* the highest */
    double power_w;                    /* the highest */
    bool throttle_known;
    unsigned long long reasons; /* all that were seen */
    int held;                   /* readings in which the clock was held back */
} LongSensors;

extern const LongSensors long_sensors_none;
void long_sensors_add(LongSensors *sum, const Sensors *sensors);

/* The minute that begins `number` minutes after the run. */
typedef struct {
    int number;
    uint64_t frames;
    double median_us, p99_us, most_us; /* NaN: no frame ended in it */
    LongSensors sensors;
} LongMinute;

typedef struct {
    Tail tail; /* of all frames */
    LongSensors sensors;
    LongMinute *minutes; /* the last one is still open until long_run_end() */
    int minute_count, minute_capacity;
    double wanted_s, seconds; /* asked for, and from the first frame to the newest, or to the end */
    const char *interrupted;  /* by what, static text; NULL: the run came to its end */

    Tail minute_tail; /* of the open minute */
} LongRun;

/* Room for so many seconds; free it with long_run_free(). */
bool long_run_begin(LongRun *run, double seconds, Err *err);
void long_run_free(LongRun *run);

/* Adds a frame that ended `at_s` seconds after the run began, or a reading; times ascend. */
void long_run_frame(LongRun *run, double at_s, double us);
void long_run_sense(LongRun *run, double at_s, const Sensors *sensors);
void long_run_end(LongRun *run, double at_s);

/* "12:34 of 60:00: p50 5.10 us, p99.9 7.90 us, 1980 MHz, 41 C, throttle none": all frames so far,
 * or with p99 one of the minutes that have ended; minute -1: all. What is unknown is left out. */
void long_run_line(const LongRun *run, int minute, char *text, size_t size);

typedef struct {
    double seconds;   /* how long */
    double period_ms; /* a frame begins every so many milliseconds; 0: one after the other */
    CacheState cache;
    void (*tick)(const LongRun *run, void *context); /* once a second; or NULL */
    void *context;
} LongOptions;

/* Runs the session's kernel on `where` for that long, into a run that has begun, and ends it.
 * SIGINT, SIGTERM and SIGHUP end it early, which is no failure; a second one kills the process.
 * After a failure `run` has the frames before it. */
bool long_run(LongRun *run, Session *session, BevWhere where, const LongOptions *options, Err *err);
