#include "src/cli/counted.h"

#include <string.h>

enum {
    SCENE,
    KERNEL,
    DTYPE,
    ALIGN,
    CACHE,
    SOURCE,
    MACHINE,
    HITS,
    READ_HITS,
    MODEL_HITS,
    HITS_OFF,
    DRAM,
    MODEL_DRAM,
    DRAM_OFF,
    LATENCY,
    MODEL_LATENCY,
    LATENCY_OFF,
    COUNTER_0,
    COUNT = COUNTER_0 + COUNTER_COUNT
};

static ReportColumn columns[COUNT] = {
    [SCENE] = {"scene", NULL, 0},
    [KERNEL] = {"kernel", "kernel", 0},
    [DTYPE] = {"dtype", "dtype", 0},
    [ALIGN] = {"align", "align", 0},
    [CACHE] = {"cache", NULL, 0},
    [SOURCE] = {"source", "source", 0},
    [MACHINE] = {"machine", NULL, 0},
    [HITS] = {"l2_hit_rate", "L2 hits", 3},
    [READ_HITS] = {"l2_read_hit_rate", "of reads", 3},
    [MODEL_HITS] = {"l2_hit_rate_model", "model", 3},
    [HITS_OFF] = {"l2_hit_off_points", "off, points", 2},
    [DRAM] = {"dram_mb", "DRAM MB", 3},
    [MODEL_DRAM] = {"dram_mb_model", "model", 3},
    [DRAM_OFF] = {"dram_off_percent", "off, %", 2},
    [LATENCY] = {"median_us", "us", 3},
    [MODEL_LATENCY] = {"predicted_us", "model", 3},
    [LATENCY_OFF] = {"latency_off_percent", "off, %", 2},
};

/* The counters' own columns come from their table. */
Report counted_table(void) {
    for (int i = 0; i < COUNTER_COUNT; i++)
        columns[COUNTER_0 + i] = (ReportColumn){counter_rows[i].key, counter_rows[i].heading, 3};
    return (Report){.columns = columns, .column_count = COUNT};
}

typedef struct {
    const Lab *lab;
    const char *scene, *kernel;
    const Gpu *gpu;     /* whose facts the model takes; NULL: in no table */
    const char *source; /* "measured" or "recorded", on `machine` */
    const char *machine;
    double latency_us;
    Counters counters;
} Counted;

static double percent_off(double model, double counted) {
    return 100 * (model / counted - 1);
}

/* Of a problem that stays in L2 so few bytes come from DRAM that a percentage says nothing. */
static bool worth_a_percentage(double dram_bytes, const BevProblem *problem) {
    return dram_bytes > 0.01 * bev_footprint_total(bev_footprint(problem));
}

/* V3 is one of two kernels, by the L2's size. */
static const Profile *profile_of(const Counted *counted) {
    const BevProblem *problem = &counted->lab->problem.view;
    if (!counted->gpu)
        return NULL;
    const char *kernel = counted->kernel;
    if (!strcmp(kernel, bev_v3()->name))
        kernel = bev_v3_choose(problem, counted->gpu->l2_bytes).kernel->name;
    return lab_profile(counted->lab, kernel);
}

static void fill_model(Cell *cells, const Counted *counted) {
    const Profile *profile = profile_of(counted);
    if (!profile)
        return;
    Prediction model = predict(profile, counted->gpu, true);
    double model_bytes = model.dram_read_bytes + model.dram_write_bytes;
    double bytes = counters_dram_bytes(&counted->counters);
    cells[MODEL_HITS] = cell_real(model.hit_rate);
    cells[HITS_OFF] = cell_real(100 * (model.hit_rate - counters_l2_hit_rate(&counted->counters)));
    cells[MODEL_DRAM] = cell_real(model_bytes * 1e-6);
    if (worth_a_percentage(bytes, &counted->lab->problem.view))
        cells[DRAM_OFF] = cell_real(percent_off(model_bytes, bytes));
    cells[MODEL_LATENCY] = cell_real(model.latency_us);
    cells[LATENCY_OFF] = cell_real(percent_off(model.latency_us, counted->latency_us));
}

static void add(Report *report, const Counted *counted) {
    const BevProblem *problem = &counted->lab->problem.view;
    Cell cells[COUNT] = {0};
    cells[SCENE] = cell_text(counted->scene);
    cells[KERNEL] = cell_text(counted->kernel);
    cells[DTYPE] = cell_text(bev_dtypes[problem->dtype].name);
    cells[ALIGN] = cell_text(bev_aligns[problem->align].name);
    cells[CACHE] = cell_text(cache_names[CACHE_WARM]);
    cells[SOURCE] = cell_text(counted->source);
    cells[MACHINE] = cell_text(counted->machine);
    cells[HITS] = cell_real(counters_l2_hit_rate(&counted->counters));
    cells[READ_HITS] = cell_real(counters_l2_read_hit_rate(&counted->counters));
    cells[DRAM] = cell_real(counters_dram_bytes(&counted->counters) * 1e-6);
    cells[LATENCY] = cell_real(counted->latency_us);
    for (int i = 0; i < COUNTER_COUNT; i++)
        cells[COUNTER_0 + i] = cell_real(counted->counters.value[i]);
    fill_model(cells, counted);
    report_add(report, cells);
}

void counted_sources(const Report *report, FILE *out) {
    const char *last = "";
    for (int i = 0; i < report->row_count; i++) {
        const Cell *cells = &report->cells[i * COUNT];
        if (strcmp(cells[MACHINE].text, last))
            fprintf(out, "%s on %s\n", cells[SOURCE].text, cells[MACHINE].text);
        last = cells[MACHINE].text;
    }
}

/* ---- measured ------------------------------------------------------------------------------- */

static bool measure(CounterReader *reader, const BevKernel *kernel, Counted *counted, Err *err) {
    Session *session;
    Timing timing;
    if (!session_open_once(&session, kernel, &counted->lab->problem.view, err))
        return false;
    bool ok = session_time(session, CACHE_WARM, &timing_default, &timing, err) &&
              counters_read(reader, session, &counted->counters, err);
    session_close(session);
    counted->kernel = kernel->name;
    counted->latency_us = timing.median_us;
    return ok;
}

bool counted_measure(Report *report, CounterReader *reader, const Lab *lab, const char *scene,
                     const char *label, Err *err) {
    Counted counted = {.lab = lab,
                       .scene = scene,
                       .gpu = gpu_of_device(label),
                       .source = "measured",
                       .machine = label};
    bool ok = true;
    for (int i = 0; ok && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where != BEV_CUDA || bev_unsupported(kernel, &lab->problem.view))
            continue;
        ok = measure(reader, kernel, &counted, err);
        if (ok)
            add(report, &counted);
    }
    return ok;
}

/* ---- recorded ------------------------------------------------------------------------------- */

static void recall(Report *report, const Lab *lab, const Gpu *gpu, const Recording *recording,
                   const char *scene) {
    const BevProblem *problem = &lab->problem.view;
    for (int i = 0; i < recording->counted_count; i++) {
        const CountedRow *row = &recording->counted[i];
        if (!strcmp(row->scene, scene) && !strcmp(row->dtype, bev_dtypes[problem->dtype].name) &&
            !strcmp(row->align, bev_aligns[problem->align].name))
            add(report, &(Counted){lab, scene, row->kernel, gpu, "recorded", recording->label,
                                   row->median_us, row->counters});
    }
}

void counted_recall(Report *report, const Lab *lab, const LabGpus *chosen_gpus, const char *scene) {
    for (int g = 0; g < chosen_gpus->count; g++)
        for (int i = 0; i < chosen_gpus->recorded.count; i++)
            if (lab_taken_on(&chosen_gpus->recorded.recordings[i], &chosen_gpus->gpus[g]))
                recall(report, lab, &chosen_gpus->gpus[g], &chosen_gpus->recorded.recordings[i],
                       scene);
}
