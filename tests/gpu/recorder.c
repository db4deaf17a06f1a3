/* SPDX-License-Identifier: MIT */
/* Records on a GPU what `bench` does not time: the hardware counters of each CUDA kernel, with warm
 * caches, or the time of a clear of the output. FILE is JSON for samples/recorded.
 *
 *     recorder counters|clear DTYPE,... KERNEL,...|all FILE SCENE...
 *
 * Exits with 77 if there is no GPU, or no permission to count. */
#include "src/cachesim/limits.h"
#include "src/run/bench.h"
#include "src/run/counters.h"
#include "src/run/cuda/device.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SKIP = 77 };

typedef struct {
    const char *kernels;
    CounterReader *reader; /* NULL: a clear is timed */
    json_t *rows;
} Recorder;

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (!strncmp(list, name, length) && (list[length] == ',' || !list[length]))
            return true;
    return false;
}

/* Appends a row; the caller adds figures. */
static json_t *add_row(Recorder *recorder, const char *scene, const BevProblem *p,
                       const char *kernel, double median_us) {
    json_t *row = json_pack("{ss ss ss ss sI sI sI ss sf}", "scene", scene, "kernel", kernel,
                            "dtype", bev_dtypes[p->dtype].name, "align", bev_aligns[p->align].name,
                            "channels", (json_int_t)p->shape.channels, "points",
                            (json_int_t)p->map.points, "intervals", (json_int_t)p->map.intervals,
                            "cache", "warm", "median_us", median_us);
    json_array_append_new(recorder->rows, row);
    printf("%s, %s, %s, %s: %.2f us\n", scene, bev_dtypes[p->dtype].name,
           bev_aligns[p->align].name, kernel, median_us);
    return row;
}

static bool record_clear(Recorder *recorder, const char *scene, const BevProblem *p, Err *err) {
    Timing clear;
    if (!device_time_clear(p, &timing_default, &clear, err))
        return false;
    json_t *row = add_row(recorder, scene, p, "clear", clear.median_us);
    json_object_set_new(row, "where", json_string("cuda"));
    json_object_set_new(row, "noise", json_real(clear.noise));
    json_object_set_new(row, "settled", json_boolean(clear.settled));
    return true;
}

/* Counters make no sense if a rate is outside 0 to 1, or if the L2 traffic is less than one sector
 * per output row. */
static bool sensible(const Counters *counters, const BevProblem *p) {
    double all = counters_l2_hit_rate(counters), reads = counters_l2_read_hit_rate(counters);
    return all >= 0 && all <= 1 && reads >= 0 && reads <= 1 && counters_dram_bytes(counters) >= 0 &&
           counters->value[COUNTER_L2_SECTORS] > (double)p->map.intervals &&
           counters->value[COUNTER_OCCUPANCY] > 0 && counters->value[COUNTER_OCCUPANCY] <= 100;
}

static bool record_counters(Recorder *recorder, const char *scene, const BevProblem *p,
                            const BevKernel *kernel, Err *err) {
    Session *session;
    Timing warm;
    Counters counters;
    if (!session_open(&session, kernel, p, err))
        return false;
    bool ok = session_time(session, CACHE_WARM, &timing_default, &warm, err) &&
              counters_read(recorder->reader, session, &counters, err);
    session_close(session);
    if (!ok)
        return false;
    json_t *row = add_row(recorder, scene, p, kernel->name, warm.median_us);
    for (int i = 0; i < COUNTER_COUNT; i++)
        json_object_set_new(row, counter_rows[i].key,
                            isnan(counters.value[i]) ? json_null() : json_real(counters.value[i]));
    return sensible(&counters, p) ||
           err_set(err, ERR_FAILED, kernel->name, "", "%s: the counters make no sense", scene);
}

static bool record(void *context, const char *scene, Workload *workload, const HostProblem *problem,
                   Err *err) {
    Recorder *recorder = context;
    (void)workload;
    if (!recorder->reader)
        return record_clear(recorder, scene, &problem->view, err);
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        bool wanted =
            !strcmp(recorder->kernels, "all") || listed(recorder->kernels, kernel->name);
        if (kernel->where == BEV_CUDA && wanted && !bev_unsupported(kernel, &problem->view) &&
            !record_counters(recorder, scene, &problem->view, kernel, err))
            return false;
    }
    return true;
}

static json_t *machine(Err *err) {
    DeviceInfo info;
    Limits limits;
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    if (!device_info(&info, err) || !probe_limits(PROBE_ALL, &limits, err))
        return NULL;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_pack("{ss ss ss ss so}", "gpu", info.name, "driver", info.driver, "cuda",
                     info.runtime, "date", date, "limits", limits_json(&limits));
}

static unsigned dtype_mask(const char *names) {
    unsigned mask = 0;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        if (listed(names, bev_dtypes[i].name))
            mask |= 1u << i;
    return mask;
}

int main(int argc, char **argv) {
    Err err = {0};
    Recorder recorder = {.rows = json_array()};
    if (argc < 6 || (strcmp(argv[1], "counters") && strcmp(argv[1], "clear"))) {
        fputs("recorder counters|clear DTYPE,... KERNEL,...|all FILE SCENE...\n", stderr);
        return 2;
    }
    bool counts = !strcmp(argv[1], "counters");
    recorder.kernels = argv[3];
    const BenchPlan plan = {.scenes = (const char *const *)argv + 5,
                            .scene_count = argc - 5,
                            .dtypes = dtype_mask(argv[2]),
                            .aligns = 1u << BEV_NEAREST,
                            .job = job_plain()};
    json_t *root = NULL;
    int status = SKIP;
    if (device_open(0, &err) && (root = machine(&err)) &&
        (!counts || counters_open(&recorder.reader, COUNTERS_FULL, &err))) {
        root = json_pack("{so sO}", "machine", root, counts ? "counters" : "results",
                         recorder.rows);
        status = !plan_each_problem(&plan, record, &recorder, &err) ||
                 json_dump_file(root, argv[4], JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    }
    if (err.what[0])
        fprintf(stderr, "recorder: %s: %s\n", err.where, err.what);
    counters_close(recorder.reader);
    json_decref(root);
    json_decref(recorder.rows);
    return status;
}
