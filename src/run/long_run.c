#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/run/long_run.h"

#include "src/base/clock.h"
#include "src/base/units.h"
#include "src/run/cuda/driver.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double MINUTE_S = 60, READING_S = 1;

/* ---- what is kept ---------------------------------------------------------------------------- */

const LongSensors long_sensors_none = {
    .clock_mhz = NAN, .least_clock_mhz = NAN, .temperature_c = NAN, .power_w = NAN};

bool long_run_begin(LongRun *run, double seconds, Err *err) {
    memset(run, 0, sizeof *run);
    run->sensors = long_sensors_none;
    run->wanted_s = seconds;
    run->minute_capacity = (int)ceil(seconds / MINUTE_S) + 1;
    run->minutes = calloc((size_t)run->minute_capacity, sizeof *run->minutes);
    return run->minutes || err_set(err, ERR_FAILED, "long run", "", "out of memory");
}

void long_run_free(LongRun *run) {
    free(run->minutes);
    run->minutes = NULL;
}

static void close_minute(LongRun *run) {
    LongMinute *minute = &run->minutes[run->minute_count - 1];
    minute->frames = run->minute_tail.count;
    minute->median_us = tail_quantile(&run->minute_tail, 0.5);
    minute->p99_us = tail_quantile(&run->minute_tail, 0.99);
    minute->most_us = tail_quantile(&run->minute_tail, 1);
}

/* The open minute, which is that of `at_s`. What comes after the room belongs to the last one. */
static LongMinute *minute_at(LongRun *run, double at_s) {
    int number = (int)(at_s / MINUTE_S);
    LongMinute *open = run->minute_count ? &run->minutes[run->minute_count - 1] : NULL;
    run->seconds = at_s;
    if (open && (open->number >= number || run->minute_count == run->minute_capacity))
        return open;
    if (open)
        close_minute(run);
    memset(&run->minute_tail, 0, sizeof run->minute_tail);
    open = &run->minutes[run->minute_count++];
    *open = (LongMinute){.number = number, .sensors = long_sensors_none};
    return open;
}

void long_run_frame(LongRun *run, double at_s, double us) {
    minute_at(run, at_s);
    tail_add(&run->tail, us);
    tail_add(&run->minute_tail, us);
}

void long_sensors_add(LongSensors *sum, const Sensors *sensors) {
    sum->readings++;
    if (!isnan(sensors->clock_mhz)) {
        double mean = sum->clocks++ ? sum->clock_mhz : 0;
        sum->clock_mhz = mean + (sensors->clock_mhz - mean) / sum->clocks;
    }
    sum->least_clock_mhz = fmin(sum->least_clock_mhz, sensors->clock_mhz);
    sum->temperature_c = fmax(sum->temperature_c, sensors->temperature_c);
    sum->power_w = fmax(sum->power_w, sensors->power_w);
    sum->throttle_known |= sensors->throttle_known;
    sum->reasons |= sensors->throttle;
    sum->held += throttle_holds(sensors->throttle);
}

void long_run_sense(LongRun *run, double at_s, const Sensors *sensors) {
    long_sensors_add(&minute_at(run, at_s)->sensors, sensors);
    long_sensors_add(&run->sensors, sensors);
}

void long_run_end(LongRun *run, double at_s) {
    if (run->minute_count)
        close_minute(run);
    run->seconds = at_s;
}

/* ---- in a line ------------------------------------------------------------------------------- */

static void clock_text(double seconds, char text[16]) {
    snprintf(text, 16, "%d:%02d", (int)(seconds / 60) % 10000, (int)fmod(seconds, 60));
}

static void sensors_text(const LongSensors *sensors, char *text, size_t size) {
    char throttle[64];
    int at = 0;
    if (isfinite(sensors->clock_mhz))
        at += snprintf(text + at, size - (size_t)at, ", %.0f MHz", sensors->clock_mhz);
    if (isfinite(sensors->temperature_c))
        at += snprintf(text + at, size - (size_t)at, ", %.0f C", sensors->temperature_c);
    throttle_text(sensors->reasons, throttle, sizeof throttle);
    if (sensors->throttle_known)
        snprintf(text + at, size - (size_t)at, ", throttle %s", throttle);
}

void long_run_line(const LongRun *run, int minute, char *text, size_t size) {
    const LongMinute *row = minute < 0 ? NULL : &run->minutes[minute];
    char at[16], of[16], median[32], tail[32], sensors[128] = "";
    clock_text(row ? MINUTE_S * (row->number + 1) : run->seconds, at);
    clock_text(run->wanted_s, of);
    unit_text(UNIT_US, row ? row->median_us : tail_quantile(&run->tail, 0.5), median,
              sizeof median);
    unit_text(UNIT_US, row ? row->p99_us : tail_quantile(&run->tail, 0.999), tail, sizeof tail);
    sensors_text(row ? &row->sensors : &run->sensors, sensors, sizeof sensors);
    snprintf(text, size, "%s of %s: p50 %s, %s %s%s", at, of, median, row ? "p99" : "p99.9", tail,
             sensors);
}

/* ---- the sensors of a device ----------------------------------------------------------------- */

typedef struct {
    BevWhere where;
    Nvml *nvml; /* NULL: of no GPU */
    CpuHeat heat;
} Reader;

/* False: there is no answer yet. */
static bool reader_read(Reader *reader, Sensors *sensors) {
    if (reader->where == BEV_CUDA)
        return nvml_latest(reader->nvml, sensors) > 0;
    sensors_cpu("/sys", &reader->heat, sensors);
    return true;
}

/* The first reading of a CPU begins to count when it is too hot. */
static void reader_open(Reader *reader, BevWhere where) {
    Sensors ignored;
    *reader = (Reader){.where = where};
#ifdef HAVE_CUDA
    DeviceInfo info;
    if (where == BEV_CUDA && device_info(&info, NULL))
        reader->nvml = nvml_open(info.pci);
#endif
    reader_read(reader, &ignored);
}

/* ---- signals --------------------------------------------------------------------------------- */

static const struct {
    int number;
    const char *name;
} stops[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
enum { STOPS = sizeof stops / sizeof *stops };

static volatile sig_atomic_t stopped_by;

static void stop(int number) {
    stopped_by = number;
}

static const char *stop_name(void) {
    for (int i = 0; i < STOPS; i++)
        if (stops[i].number == stopped_by)
            return stops[i].name;
    return NULL;
}

/* A signal that is ignored stays so: nohup. */
static void catch_stops(struct sigaction before[STOPS]) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    stopped_by = 0;
    for (int i = 0; i < STOPS; i++) {
        sigaction(stops[i].number, NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(stops[i].number, &action, NULL);
    }
}

static void release_stops(const struct sigaction before[STOPS]) {
    for (int i = 0; i < STOPS; i++)
        sigaction(stops[i].number, &before[i], NULL);
}

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct {
    LongRun *run;
    const LongOptions *options;
    Reader reader;
    double begun_us; /* when the first frame began */
    double read_s;   /* when the sensors were read last */
} Loop;

/* Sleeps until the next multiple of the period; a signal ends the sleep. */
static void wait_for_turn(const Loop *loop) {
    double period_us = loop->options->period_ms * 1e3;
    double since_us = clock_us() - loop->begun_us;
    double rest_us = period_us > 0 ? period_us - fmod(since_us, period_us) : 0;
    struct timespec rest = {.tv_sec = (time_t)(rest_us * 1e-6),
                            .tv_nsec = (long)(fmod(rest_us, 1e6) * 1e3)};
    if (rest_us > 0 && !stopped_by)
        nanosleep(&rest, NULL);
}

static void look_around(Loop *loop, double at_s) {
    Sensors sensors;
    loop->read_s = at_s;
    if (reader_read(&loop->reader, &sensors))
        long_run_sense(loop->run, at_s, &sensors);
    if (loop->options->tick)
        loop->options->tick(loop->run, loop->options->context);
}

/* Takes a frame; false: it was the last one. */
static bool keep_frame(void *context, double us) {
    Loop *loop = context;
    if (!loop->run->tail.count)
        loop->begun_us = clock_us() - us;
    double at_s = (clock_us() - loop->begun_us) * 1e-6;
    long_run_frame(loop->run, at_s, us);
    if (at_s - loop->read_s >= READING_S)
        look_around(loop, at_s);
    if (stopped_by || at_s >= loop->options->seconds)
        return false;
    wait_for_turn(loop);
    return !stopped_by;
}

bool long_run(LongRun *run, Session *session, BevWhere where, const LongOptions *options,
              Err *err) {
    assert(run->minutes);
    Loop loop = {.run = run, .options = options};
    struct sigaction before[STOPS];
    TimingOptions timing = timing_default;
    Timing none;
    timing.keep = keep_frame;
    timing.context = &loop;
    reader_open(&loop.reader, where);
    catch_stops(before);
    bool ok = session_time(session, options->cache, &timing, &none, err);
    release_stops(before);
    run->interrupted = stop_name();
    if (run->tail.count && !run->sensors.readings) /* a second has not passed */
        look_around(&loop, run->seconds);
    if (run->tail.count)
        long_run_end(run, (clock_us() - loop.begun_us) * 1e-6);
    nvml_close(loop.reader.nvml);
    return ok;
}
