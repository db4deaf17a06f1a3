/* Times the CUDA kernels on the six configurations and on an even map; gate A checks each one
 * first. Prints one table, and with a file name writes all figures as JSON.
 *
 *     ladder [--dtypes fp16,fp8] [--aligns nearest,bilinear] [--only v3,v4] [--quick] [FILE.json]
 *     ladder --counters ... [FILE.json]   reads the hardware counters of each kernel, caches warm;
 *                                         without --quick on the larger configurations too
 *     --backward       the kernels of the way back; --scenes canonical,hires  only these
 *     --channels 128   instead of each configuration's own
 *
 * Exits with 77 if there is no GPU, with 1 if a gate fails. */
#include "src/run/counters.h"
#include "src/run/cuda/device.h"
#include "src/accuracy/gates.h"
#include "src/run/session.h"
#include "src/scene/scene.h"
#include "src/base/random.h"
#include "src/scene/scatter.h"
#include "src/inputs/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIP = 77, SEED = 2026, EVEN_POINTS = 209000, EVEN_CELLS = 200, EVEN_CHANNELS = 80 };

typedef struct {
    unsigned dtypes, aligns;
    const char *only, *scenes;
    int64_t channels; /* 0: each configuration's own */
    bool quick, counters, backward;
    CounterReader *reader; /* open if `counters` */
    TimingOptions timing;
    FILE *json;
    int results, failures;
} Ladder;

static int complain(const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    fprintf(stderr, "ladder: %s\n", line);
    return 1;
}

/* ---- one row on one problem ------------------------------------------------------------------ */

typedef struct {
    const char *scene;
    HostProblem problem;
    double *reference, *abs_sum; /* FP64 over the stored values */
    int32_t *points;             /* of each cell */
    void *codes;
} Case;

/* Whether a name is in a list with commas. */
static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (!strncmp(list, name, length) && (list[length] == ',' || !list[length]))
            return true;
    return false;
}

/* Poisons the output, runs once and applies gate A; a kernel that is wrong on purpose is only run.
 */
static bool right(Session *session, const BevKernel *kernel, Case *c, Err *err) {
    BevProblem *problem = &c->problem.view;
    if (!session_poison(session, err) || !session_run(session, err) ||
        !session_read(session, c->codes, err) || !session_inputs_untouched(session, err))
        return false;
    BevDtype accumulate = kernel->accumulate[problem->dtype];
    GateResult gate = gate_kernel(problem, accumulate, c->codes, c->reference, c->abs_sum,
                                  c->points, NULL);
    if (gate.verdict == GATE_PASS || kernel->wrong_on_purpose)
        return true;
    return err_set(err, ERR_GATE, kernel->name, "",
                   "%s %s: gate A, cell %lld channel %lld: %g, "
                   "not %g +- %g; %lld bad",
                   c->scene, bev_dtypes[problem->dtype].name, (long long)gate.cell,
                   (long long)gate.channel, gate.got, gate.want, gate.bound, (long long)gate.bad);
}

/* What all results of a kernel have in common. */
typedef struct {
    const char *kernel;
    double prepare_us;
    double traffic_mb; /* by the kernel's own model */
} Timed;

static void write_result(Ladder *ladder, const Case *c, const Timed *kernel, const char *cache,
                         const Timing *t) {
    const BevProblem *p = &c->problem.view;
    if (!ladder->json)
        return;
    fprintf(ladder->json,
            "%s\n    {\"scene\": \"%s\", \"kernel\": \"%s\", \"where\": \"cuda\", \"dtype\": "
            "\"%s\", \"align\": \"%s\", \"channels\": %lld, \"points\": %lld, \"intervals\": %lld, "
            "\"cache\": \"%s\", \"median_us\": %.3f, \"p95_us\": %.3f, \"p99_us\": %.3f, "
            "\"noise\": %.4f, \"settled\": %s, \"samples\": %d, \"prepare_us\": %.1f, "
            "\"traffic_mb\": %.3f, \"footprint_mb\": %.3f, \"effective_gbps\": %.1f}",
            ladder->results++ ? "," : "", c->scene, kernel->kernel, bev_dtypes[p->dtype].name,
            bev_aligns[p->align].name, (long long)p->shape.channels, (long long)p->map.points,
            (long long)p->map.intervals, cache, t->median_us, t->p95_us, t->p99_us, t->noise,
            t->settled ? "true" : "false", t->samples, kernel->prepare_us, kernel->traffic_mb,
            bev_footprint_total(bev_footprint(p)) * 1e-6, kernel->traffic_mb * 1e3 / t->median_us);
}

/* Times warm, cold and single launches; prints the warm median, marked if it did not settle. */
static bool measure(Ladder *ladder, Session *session, const BevKernel *kernel, const Case *c,
                    Err *err) {
    Timing warm, cold, single;
    TimingOptions one_by_one = ladder->timing;
    one_by_one.single = true;
    Timed timed = {.kernel = kernel->name};
    timed.traffic_mb = bev_traffic_total(bev_traffic(kernel, &c->problem.view)) * 1e-6;
    if (!session_prepare_us(session, &timed.prepare_us, err) ||
        !session_time(session, CACHE_WARM, &ladder->timing, &warm, err) ||
        !session_time(session, CACHE_COLD, &ladder->timing, &cold, err) ||
        !session_time(session, CACHE_WARM, &one_by_one, &single, err))
        return false;
    write_result(ladder, c, &timed, "warm", &warm);
    write_result(ladder, c, &timed, "cold", &cold);
    write_result(ladder, c, &timed, "single", &single);
    printf("%-14s %8.1f%c %8.1f%c %8.1f%c %10.0f\n", kernel->name, warm.median_us,
           warm.settled ? ' ' : '*', cold.median_us, cold.settled ? ' ' : '*', single.median_us,
           single.settled ? ' ' : '*', timed.prepare_us);
    return true;
}

static void write_counters(Ladder *ladder, const Case *c, const char *kernel, double median_us,
                           const Counters *counters) {
    const BevProblem *p = &c->problem.view;
    if (!ladder->json)
        return;
    fprintf(ladder->json,
            "%s\n    {\"scene\": \"%s\", \"kernel\": \"%s\", \"dtype\": \"%s\", \"align\": "
            "\"%s\", \"cache\": \"warm\", \"median_us\": %.3f",
            ladder->results++ ? "," : "", c->scene, kernel, bev_dtypes[p->dtype].name,
            bev_aligns[p->align].name, median_us);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        double value = counters->value[i];
        fprintf(ladder->json, isnan(value) ? ", \"%s\": null" : ", \"%s\": %.10g",
                counter_rows[i].key, value);
    }
    fputs("}", ladder->json);
}

/* Counters make no sense if a rate is outside 0 to 1, or if the L2 traffic is less than one sector
 * per output row. */
static bool sensible(const Counters *counters, const BevProblem *problem) {
    double all = counters_l2_hit_rate(counters), reads = counters_l2_read_hit_rate(counters);
    return all >= 0 && all <= 1 && reads >= 0 && reads <= 1 && counters_dram_bytes(counters) >= 0 &&
           counters->value[COUNTER_L2_SECTORS] > (double)problem->map.intervals &&
           counters->value[COUNTER_OCCUPANCY] > 0 && counters->value[COUNTER_OCCUPANCY] <= 100;
}

/* The warm median and the counters. */
static bool count(Ladder *ladder, Session *session, const BevKernel *kernel, const Case *c,
                  Err *err) {
    Timing warm;
    Counters counters;
    if (!session_time(session, CACHE_WARM, &ladder->timing, &warm, err) ||
        !counters_read(ladder->reader, session, &counters, err))
        return false;
    write_counters(ladder, c, kernel->name, warm.median_us, &counters);
    printf("%-14s %8.1f%c %8.2f%% %8.2f%% %10.3f MB %11.0f sectors\n", kernel->name, warm.median_us,
           warm.settled ? ' ' : '*', 100 * counters_l2_hit_rate(&counters),
           100 * counters_l2_read_hit_rate(&counters), counters_dram_bytes(&counters) * 1e-6,
           counters.value[COUNTER_L2_SECTORS]);
    return sensible(&counters, &c->problem.view) ||
           err_set(err, ERR_FAILED, kernel->name, "", "%s: the counters make no sense", c->scene);
}

static bool climb_kernel(Ladder *ladder, const BevKernel *kernel, Case *c, Err *err) {
    Session *session;
    if (!session_open(&session, kernel, &c->problem.view, err))
        return false;
    bool ok = right(session, kernel, c, err) &&
              (ladder->reader ? count : measure)(ladder, session, kernel, c, err);
    session_close(session);
    return ok;
}

/* ---- one problem ----------------------------------------------------------------------------- */

static bool case_reference(Case *c, Err *err) {
    const BevProblem *p = &c->problem.view;
    size_t outputs = (size_t)gate_values(p);
    c->reference = malloc(outputs * sizeof *c->reference);
    c->abs_sum = malloc(outputs * sizeof *c->abs_sum);
    c->codes = malloc(bev_output_bytes(p));
    c->points = gate_terms(p, err);
    if (!c->points)
        return false;
    if (!c->reference || !c->abs_sum || !c->codes)
        return err_set(err, ERR_FAILED, c->scene, "", "out of memory");
    gate_reference(p, c->reference, c->abs_sum);
    return true;
}

static bool climb(Ladder *ladder, Case *c, Err *err) {
    const BevProblem *p = &c->problem.view;
    Timing clear;
    bool ok = case_reference(c, err) &&
              (ladder->backward || device_time_clear(p, &ladder->timing, &clear, err));
    if (ok)
        printf("\n%s, %s, %s: %lld points, %lld intervals, C = %lld\n", c->scene,
               bev_dtypes[p->dtype].name, bev_aligns[p->align].name, (long long)p->map.points,
               (long long)p->map.intervals, (long long)p->shape.channels);
    if (ok && ladder->reader)
        printf("%-14s %9s %9s %9s  from DRAM  through L2\n", "", "warm us", "L2 hits", "of reads");
    if (ok && !ladder->reader)
        printf("%-14s %9s %9s %9s %10s  us\n", "", "warm", "cold", "single", "prepare");
    if (ok && !ladder->reader && !ladder->backward) {
        printf("%-14s %8.1f\n", "(clear)", clear.median_us);
        const Timed kernel = {"clear", 0, (double)bev_tensor_bytes(&p->out) * 1e-6};
        write_result(ladder, c, &kernel, "warm", &clear);
    }
    for (int i = 0; ok && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        bool wanted = !ladder->only || listed(ladder->only, kernel->name);
        if (kernel->where != BEV_CUDA || !wanted || bev_unsupported(kernel, p))
            continue;
        Err why = {0};
        if (climb_kernel(ladder, kernel, c, &why))
            continue;
        ladder->failures++;
        complain(&why);
        ok = why.kind != ERR_DEVICE || err_set(err, why.kind, why.where, why.hint, "%s", why.what);
    }
    free(c->reference);
    free(c->abs_sum);
    free(c->points);
    free(c->codes);
    return ok;
}

static bool climb_workload(Ladder *ladder, Workload *workload, const char *name, BevAlign align,
                           Err *err) {
    bool ok = true;
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        Case c = {.scene = name};
        if (!(ladder->dtypes & 1u << dtype))
            continue;
        ok = (ladder->backward ? workload_problem_backward : workload_problem)(
                 workload, (BevDtype)dtype, align, &c.problem, err) &&
             climb(ladder, &c, err);
        problem_free(&c.problem);
    }
    return ok;
}

/* Whether a list with commas has the name. */
static bool climb_config(Ladder *ladder, const char *name, Err *err) {
    Workload workload;
    Job job = job_plain();
    job.channels = ladder->channels;
    if (ladder->scenes && !listed(ladder->scenes, name))
        return true;
    if (!workload_open(&workload, name, &job, err))
        return false;
    bool ok = true;
    for (int align = 0; ok && align < BEV_ALIGN_COUNT; align++)
        if (ladder->aligns & 1u << align)
            ok = climb_workload(ladder, &workload, name, (BevAlign)align, err);
    workload_close(&workload);
    return ok;
}

/* ---- the even map: 5 or 6 points per cell, each with its own feature row ------------------- */

static void fill_even_map(BevMap *map) {
    uint64_t seed = SEED;
    for (int32_t t = 0; t < EVEN_POINTS; t++) {
        map->ranks_bev[t] = (int32_t)((int64_t)t * EVEN_CELLS * EVEN_CELLS / EVEN_POINTS);
        map->ranks_feat[t] = t;
    }
    for (int64_t t = EVEN_POINTS - 1; t > 0; t--) { /* Fisher-Yates */
        int64_t other = random_below(&seed, t + 1);
        int32_t row = map->ranks_feat[t];
        map->ranks_feat[t] = map->ranks_feat[other];
        map->ranks_feat[other] = row;
    }
    memcpy(map->ranks_depth, map->ranks_feat, EVEN_POINTS * sizeof *map->ranks_depth);
}

static bool climb_even(Ladder *ladder, Err *err) {
    uint64_t seed = SEED;
    BevShape shape = {1, 1, 1, EVEN_POINTS, EVEN_CHANNELS, EVEN_CELLS, EVEN_CELLS, 1};
    BevMap map;
    size_t values = (size_t)EVEN_POINTS * EVEN_CHANNELS;
    Features features = {.depth = malloc(EVEN_POINTS * sizeof(float)),
                         .feat = malloc(values * sizeof(float))};
    bool ok = scatter_allocate(&map, EVEN_POINTS, 0, false, err) &&
              ((features.depth && features.feat) ||
               err_set(err, ERR_FAILED, "even", "", "out of memory"));
    if (ok) {
        fill_even_map(&map);
        for (size_t i = 0; i < EVEN_POINTS; i++)
            features.depth[i] = (float)random_unit(&seed);
        for (size_t i = 0; i < values; i++)
            features.feat[i] = (float)(2 * random_unit(&seed) - 1);
        ok = scatter_find_intervals(&map, err);
    }
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        Case c = {.scene = "even"};
        if (!(ladder->dtypes & 1u << dtype))
            continue;
        ok = problem_encode(&c.problem, &shape, (BevDtype)dtype, BEV_NEAREST, &features, &map,
                            err) &&
             climb(ladder, &c, err);
        problem_free(&c.problem);
    }
    free(features.depth);
    free(features.feat);
    scatter_free(&map);
    return ok;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void write_machine(Ladder *ladder, const DeviceInfo *info, const Limits *limits) {
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (ladder->json) {
        fprintf(ladder->json,
                "{\"machine\": {\"gpu\": \"%s\", \"driver\": \"%s\", \"cuda\": \"%s\", \"date\": "
                "\"%s\", \"seed\": %d, \"limits\": ",
                info->name, info->driver, info->runtime, date, SEED);
        json_t *object = limits_json(limits);
        json_dumpf(object, ladder->json, JSON_REAL_PRECISION(5));
        json_decref(object);
        fprintf(ladder->json, "}, \"%s\": [", ladder->reader ? "counters" : "results");
    }
    printf("%s, driver %s, built with CUDA %s, L2 %.1f MB, %d multiprocessors, %s\n", info->name,
           info->driver, info->runtime, (double)info->l2_bytes * 1e-6, info->multiprocessors, date);
}

static unsigned dtype_mask(const char *names) {
    unsigned mask = 0;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        if (strstr(names, bev_dtypes[i].name))
            mask |= 1u << i;
    return mask;
}

static unsigned align_mask(const char *names) {
    unsigned mask = 0;
    for (int i = 0; i < BEV_ALIGN_COUNT; i++)
        if (strstr(names, bev_aligns[i].name))
            mask |= 1u << i;
    return mask;
}

static const char *parse(Ladder *ladder, int argc, char **argv) {
    const char *file = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            ladder->quick = true;
        else if (!strcmp(argv[i], "--counters"))
            ladder->counters = true;
        else if (!strcmp(argv[i], "--dtypes") && i + 1 < argc)
            ladder->dtypes = dtype_mask(argv[++i]);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            ladder->only = argv[++i];
        else if (!strcmp(argv[i], "--scenes") && i + 1 < argc)
            ladder->scenes = argv[++i];
        else if (!strcmp(argv[i], "--channels") && i + 1 < argc)
            ladder->channels = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--backward"))
            ladder->backward = true;
        else if (!strcmp(argv[i], "--aligns") && i + 1 < argc)
            ladder->aligns = align_mask(argv[++i]);
        else
            file = argv[i];
    }
    return file;
}

int main(int argc, char **argv) {
    Ladder ladder = {
        .dtypes = 1u << BEV_FP16, .aligns = 1u << BEV_NEAREST, .timing = timing_default};
    const char *file = parse(&ladder, argc, argv);
    if (ladder.quick)
        ladder.timing = timing_quick;
    Err err = {0};
    DeviceInfo info;
    Limits limits;
    if (!device_open(0, &err) || !device_info(&info, &err) ||
        !probe_limits(PROBE_ALL, &limits, &err) ||
        (ladder.counters && !counters_open(&ladder.reader, COUNTERS_FULL, &err))) {
        complain(&err);
        return SKIP;
    }
    if (file && !(ladder.json = fopen(file, "w"))) {
        perror(file);
        return 1;
    }
    write_machine(&ladder, &info, &limits);
    bool ok = true, all = ladder.scenes || (ladder.reader && !ladder.quick);
    for (int i = 0; ok && i < (all ? preset_total : preset_count); i++)
        ok = climb_config(&ladder, presets[i].name, &err);
    if (ok && !ladder.backward && !ladder.scenes && ladder.aligns & 1u << BEV_NEAREST)
        ok = climb_even(&ladder, &err);
    counters_close(ladder.reader);
    if (ladder.json) {
        fputs("\n]}\n", ladder.json);
        ok = !fclose(ladder.json) && ok;
    }
    if (!ok)
        complain(&err);
    return !ok || ladder.failures;
}
