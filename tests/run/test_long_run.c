/* A long run: what is kept by minute, sensors of a CPU from a folder like /sys, the loop. */
#include "src/run/backend.h"
#include "src/run/long_run.h"
#include "tests/support/folder.h"
#include "tests/support/test_kernel.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>

/* ---- what is kept ---------------------------------------------------------------------------- */

static Sensors hot(double clock_mhz, double temperature_c, unsigned long long throttle) {
    Sensors sensors = sensors_unknown;
    sensors.clock_mhz = clock_mhz;
    sensors.temperature_c = temperature_c;
    sensors.throttle_known = true;
    sensors.throttle = throttle;
    return sensors;
}

/* Two minutes at 10 frames a second: in the second one the GPU is too hot, and frames last twice as
 * long; then nothing for a minute, and a last frame. */
static void fill(LongRun *run) {
    for (int i = 0; i < 1200; i++) {
        bool late = i >= 600;
        long_run_frame(run, 0.1 * i, late ? 10 : i == 77 ? 300 : 5);
        const Sensors now = late ? hot(1200 + i % 20, 87, 0x40) : hot(1980, 60 + i / 100, 0x1);
        if (i % 10 == 0)
            long_run_sense(run, 0.1 * i, &now);
    }
    long_run_frame(run, 200, 5);
    long_run_end(run, 201);
}

static void test_minutes(void) {
    LongRun run;
    Err err;
    char text[128], line[256];
    if (!tap_ok(long_run_begin(&run, 240, &err), "a run begins"))
        return;
    fill(&run);
    const LongMinute *m = run.minutes;
    tap_ok(run.minute_count == 3 && m[0].number == 0 && m[1].number == 1 && m[2].number == 3,
           "a minute without a frame has no row");
    tap_ok(m[0].frames == 600 && m[1].frames == 600 && m[2].frames == 1 && run.tail.count == 1201,
           "frames belong to the minute in which they end");
    tap_ok(fabs(m[0].median_us / 5 - 1) < 0.012 && m[0].most_us == 300 &&
               fabs(m[1].median_us / 10 - 1) < 0.012 && m[1].most_us == 10,
           "each minute has a median and a largest frame of its own");
    tap_ok(m[0].sensors.held == 0 && m[0].sensors.reasons == 0x1 && m[1].sensors.held == 60 &&
               m[1].sensors.reasons == 0x40 && run.sensors.held == 60,
           "an idle clock is not held back, a thermal limit is, for 60 readings of that minute");
    tap_ok(m[0].sensors.clock_mhz == 1980 && fabs(m[1].sensors.clock_mhz - 1205) < 1e-9 &&
               m[1].sensors.least_clock_mhz == 1200 && m[0].sensors.temperature_c == 65 &&
               isnan(m[2].sensors.clock_mhz) && isnan(m[1].sensors.power_w),
           "the mean and the least clock, the highest temperature; unknown ones are not 0");
    throttle_text(run.sensors.reasons, text, sizeof text);
    tap_ok(!strcmp(text, "idle, thermal"), "all reasons are named: %s", text);
    long_run_line(&run, 1, line, sizeof line);
    tap_ok(strstr(line, "2:00 of 4:00: p50 ") == line &&
               strstr(line, "1205 MHz, 87 C, throttle ther"),
           "a minute in a line: %s", line);
    long_run_line(&run, -1, line, sizeof line);
    tap_ok(strstr(line, "3:21 of 4:00: p50 ") == line && strstr(line, "p99.9 "), "all: %s", line);
    long_run_free(&run);
}

/* A minute too many has no room, and is not lost. */
static void test_room(void) {
    LongRun run;
    Err err;
    bool ok = long_run_begin(&run, 60, &err);
    for (int i = 0; ok && i < 10; i++)
        long_run_frame(&run, 59.0 * i, 3);
    if (ok)
        long_run_end(&run, 600);
    tap_ok(ok && run.minute_count == run.minute_capacity && run.tail.count == 10 &&
               run.minutes[0].frames + run.minutes[1].frames == 10,
           "frames after the last minute that has room belong to it");
    long_run_free(&run);
}

/* ---- sensors of a CPU ------------------------------------------------------------------------ */

/* Writes a file of the folder, and the folders on its way. */
static void put_deep(const char *name, const char *text) {
    char path[320];
    snprintf(path, sizeof path, "%s", in_folder(name));
    for (char *at = strchr(path + strlen(folder) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    put(path, text);
}

static void test_cpu(void) {
    char command[64], path[128];
    CpuHeat heat = {0};
    Sensors s;
    folder_open();
    sensors_cpu(folder, &heat, &s);
    tap_ok(isnan(s.clock_mhz) && isnan(s.temperature_c) && !s.throttle_known && !heat.known &&
               strstr(sensor_missing(BEV_CPU, SENSOR_CLOCK), "cpufreq") &&
               strstr(sensor_missing(BEV_CUDA, SENSOR_CLOCK), "NVML"),
           "where there are no files nothing is known, and there is a reason");
    for (int core = 0; core < 256; core++) {
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core);
        put_deep(path, "2450000\n");
    }
    put_deep("class/thermal/thermal_zone0/type", "acpitz\n");
    put_deep("class/thermal/thermal_zone0/temp", "99000\n");
    put_deep("class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    put_deep("class/thermal/thermal_zone1/temp", "71500\n");
    put_deep("class/hwmon/hwmon2/name", "k10temp\n");
    put_deep("class/hwmon/hwmon2/temp1_input", "64000\n");
    put_deep("devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "12\n");
    sensors_cpu(folder, &heat, &s);
    tap_ok(
        s.clock_mhz == 2450 && s.temperature_c == 71.5 && s.throttle_known && s.throttle == 0,
        "%g MHz, %g C of the processor, not of the board, and not throttled since the first look",
        s.clock_mhz, s.temperature_c);
    put_deep("devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "14\n");
    sensors_cpu(folder, &heat, &s);
    bool was_hot = s.throttle == THROTTLE_THERMAL;
    sensors_cpu(folder, &heat, &s);
    tap_ok(was_hot && s.throttle == 0, "a count that grew is a thermal limit since the last look");
    snprintf(command, sizeof command, "rm -r %s", folder);
    tap_need(system(command) == 0, command);
}

static int launches, raise_after, fail_after;

LAUNCH(launch) {
    launches++;
    usleep(2000);
    if (launches == raise_after)
        raise(SIGINT);
    return launches != fail_after || err_set(err, ERR_FAILED, "test", "", "the device is gone");
}

static int ticks;

static void tick(const LongRun *run, void *context) {
    (void)context;
    ticks += run->tail.count > 0;
}

static bool runs(double seconds, double period_ms, LongRun *run, Err *err) {
    const BevKernel kernel = TEST_KERNEL("test", .launch = launch);
    const BevProblem problem = {.shape = {.cameras = 1}};
    const LongOptions options = {.seconds = seconds, .period_ms = period_ms, .tick = tick};
    Session *session;
    launches = ticks = 0;
    if (!session_open(&session, &kernel, &problem, err) || !long_run_begin(run, seconds, err))
        return false;
    bool ok = long_run(run, session, BEV_CPU, &options, err);
    session_close(session);
    return ok;
}

static void test_loop(void) {
    LongRun run;
    Err err = {0};
    bool ok = runs(1.2, 20, &run, &err);
    tap_ok(ok && !run.interrupted && run.tail.count >= 5 && run.tail.count <= 61 &&
               run.tail.least_us >= 2000 && run.seconds >= 1.2 && ticks >= 1,
           "for 1.2 s a frame each 20 ms, never more: %d, p50 %.0f us", (int)run.tail.count,
           tail_quantile(&run.tail, 0.5));
    tap_ok(run.sensors.readings >= 1 && run.minutes[0].frames == run.tail.count,
           "sensors were read, and the open minute is closed");
    long_run_free(&run);
    signal(SIGINT, SIG_DFL); /* a shell in the background lets its children ignore it */
    raise_after = 60;
    ok = runs(600, 0, &run, &err);
    tap_ok(ok && run.interrupted && !strcmp(run.interrupted, "SIGINT") && launches == 60 &&
               run.tail.count > 10 && run.minutes[0].frames == run.tail.count,
           "SIGINT ends a run, and all its frames are there: %d", (int)run.tail.count);
    struct sigaction now;
    sigaction(SIGINT, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL, "then the signal kills again");
    long_run_free(&run);
    raise_after = 0;
    fail_after = 60;
    ok = runs(600, 0, &run, &err);
    tap_ok(!ok && !strcmp(err.what, "the device is gone") && run.tail.count > 10 &&
               run.minutes[0].frames == run.tail.count,
           "a failure keeps the frames before it");
    long_run_free(&run);
    fail_after = 0;
}

TAP_SUITE(long_run) {
    test_minutes();
    test_room();
    test_cpu();
    test_loop();
}
