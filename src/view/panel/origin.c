#include "src/view/panel/origin.h"

#include "src/state/live_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One question and the text that answers it. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Origin *origin;
    const BevKernel *kernel; /* the kernel of the figure */
    const LiveKernel *row;   /* and its row; NULL: none */
    const char *scene;
    char inputs[160]; /* "V4 FP16 nearest on canonical" */
    char place[160];  /* "here (NVIDIA H200), 2026-11-26" */
    char text[ORIGIN_TEXT_MAX];
} Answer;

__attribute__((format(printf, 2, 3))) static void say(Answer *answer, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(answer->text, sizeof answer->text, format, args);
    va_end(args);
}

static void fill(Answer *answer) {
    const KernelConfig *job = &answer->live->job.config, *now = &answer->state->job.config;
    const LiveDevice *device = &answer->live->device;
    const char *date = answer->live->date;
    KernelConfig config = job->kernel ? *job : *now;
    char label[96];
    config.kernel = answer->kernel;
    answer->row = live_known_kernel(answer->live, answer->kernel);
    answer->scene = menu_name(&answer->state->menu.scenes, answer->state->job.scene);
    kernel_config_label(&config, label, sizeof label);
    snprintf(answer->inputs, sizeof answer->inputs, "%s on %s", label, answer->scene);
    snprintf(answer->place, sizeof answer->place, "here (%s)%s%s",
             device->name[0] ? device->name : "this machine", date[0] ? ", " : "", date);
}

/* ---- figures of a kernel -------------------------------------------------------------------- */

static void timed(Answer *answer, const Reading *figure, const char *how) {
    const LiveKernel *row = answer->row;
    char origin[48];
    if (!row || !figure->source) {
        say(answer, "n/a: %s. %s.", unknown_reason(UNKNOWN_LATENCY, answer->live, row, BEV_FP32),
            answer->inputs);
    } else if (figure->source == SOURCE_RECORDED) {
        say(answer, "recorded: %s, file %s. %s: %s.", row->recorded_on, row->recorded_file,
            answer->inputs, how);
    } else {
        latency_origin(row, origin, sizeof origin);
        say(answer, "%s %s. %s: %s.", origin, answer->place, answer->inputs, how);
    }
}

static void latency(Answer *answer) {
    const LiveKernel *row = answer->row;
    bool in_a_row =
        !row || row->median_us.source != SOURCE_MEASURED || row->protocol == TIMING_SERIES;
    timed(answer, row ? &row->median_us : &(Reading){0},
          in_a_row ? "launches in a row, caches warm" : "launches one by one, beside the display");
}

/* The memory panel beside a CPU kernel has the bytes of its CUDA twin. */
static void bandwidth(Answer *answer) {
    const LiveKernel *row = answer->row;
    char bytes[32], how[128];
    unit_text(UNIT_BYTES, row ? row->effective_gbps.value * row->median_us.value * 1e3 : NAN, bytes,
              sizeof bytes);
    snprintf(how, sizeof how, "%s that %s requests / median%s", bytes, answer->kernel->name,
             answer->kernel->where == BEV_CPU ? ", not the bytes of its CUDA twin" : "");
    timed(answer, row ? &row->effective_gbps : &(Reading){0}, how);
}

static void prepare(Answer *answer) {
    timed(answer, answer->row ? &answer->row->prepare_us : &(Reading){0}, "prepared once a map");
}

static void compiled(Answer *answer) {
    const LiveKernel *row = answer->row;
    if (row && row->registers.source)
        say(answer, "computed: by the driver from the compiled code of %s, for %s.",
            answer->kernel->title, answer->live->device.name);
    else
        say(answer, "n/a: no code of %s is loaded on a GPU.", answer->kernel->title);
}

static void speedup(Answer *answer) {
    const LiveKernel *row = answer->row;
    const LiveSpeedup *pairs = &answer->live->speedup;
    bool headline = !answer->origin->kernel;
    const Reading ratio = headline ? pairs->ratio
                          : row    ? live_speedup(answer->live, row)
                                   : (Reading){0};
    const BevKernel *baseline = answer->state->job.baseline.kernel;
    const char *name = answer->kernel->title;
    bool paired = headline && pairs->most > 0;
    char times[80], base[64], here[48] = "";
    if (answer->live->timed)
        snprintf(here, sizeof here, "%d pairs timed here%s", pairs->pairs,
                 pairs->scatter ? ", which scatter" : "");
    snprintf(base, sizeof base, "%s (row %s)", baseline->title, baseline->name);
    speedup_origin(answer->live, times, sizeof times);
    if (ratio.source == SOURCE_RECORDED)
        say(answer, "recorded: %s, file %s. Latency of %s / latency of %s, on %s%s%s.",
            headline ? pairs->recorded_on : row->recorded_on,
            headline ? pairs->recorded_file : row->recorded_file, base, name, answer->scene,
            headline && here[0] ? "; " : "", headline ? here : "");
    else if (ratio.source == SOURCE_COMPUTED)
        say(answer, "computed: selection and baseline are the same.");
    else if (ratio.source)
        say(answer, "measured %s. Latency of %s / latency of %s, on %s%s%s.", answer->place, base,
            name, answer->scene, paired ? ": " : "", paired ? times : ", of the medians");
    else
        say(answer, "n/a: no latencies of %s and %s from one source.", base, name);
}

/* Ideal scales are the best ones: the largest value of each tensor is known. */
static void error(Answer *answer) {
    const LiveAccuracy *accuracy = &answer->live->accuracy[answer->origin->dtype];
    const BevDtypeInfo *format = &bev_dtypes[answer->origin->dtype];
    bool scaled = strcmp(format->scaling, "none") != 0;
    char scales[128] = "; scales fitted to this frame", moment[48] = "", largest[32];
    const SceneFacts *facts = &answer->state->scene;
    if (scene_moves(facts))
        live_moment_text(facts, accuracy->time_s, moment, sizeof moment);
    if (answer->live->job.scales != SCALES_IDEAL)
        snprintf(scales, sizeof scales, "; scales: %s",
                 scales_name(answer->state, answer->live->job.scales));
    unit_text(UNIT_ERROR, accuracy->largest, largest, sizeof largest);
    if (!accuracy->source)
        say(answer, "n/a: %s. It may come sooner while the scene is paused (%s).",
            unknown_reason(UNKNOWN_ACCURACY, answer->live, answer->row, answer->origin->dtype),
            key_of(ACTION_PLAY).name);
    else
        say(answer,
            "%s %s%s. %s of %s in %s on %s%s%s, against FP64 over the original inputs%s. Its "
            "largest value: %s. Gate B: rel L2 up to %g; 1e-2 is no gate.",
            source_names[accuracy->source], answer->place,
            accuracy->stale ? ", before the last change" : "",
            accuracy->output ? accuracy->output : "The grid", answer->kernel->title, format->title,
            answer->scene, moment[0] ? ", " : "", moment, scaled ? scales : "", largest,
            accuracy->rel_l2_limit);
}

/* ---- figures of GPU and model --------------------------------------------------------------- */

static void model(Answer *answer) {
    const State *state = answer->state;
    const MemoryModel *memory = answer->live->model;
    char on[128];
    prediction_gpu(state, on, sizeof on);
    if (!memory) {
        say(answer, "n/a: the memory model has no result yet. %s.", answer->inputs);
        return;
    }
    const Gpu gpu = model_gpu(memory, state->gpu, &state->edit);
    say(answer, "model: %s. %s: accesses replayed through the L2; bandwidths %s.", on,
        answer->inputs,
        isfinite(gpu.l2_gbps) ? "of DRAM by the data sheet, of L2 as measured on such a GPU"
                              : "an H200's, scaled by the data sheet");
}

static void chart(Answer *answer) {
    char on[128];
    prediction_gpu(answer->state, on, sizeof on);
    say(answer,
        "model: of the kernel, GPU or format that the label names, else of the selection on %s: "
        "accesses on %.60s replayed through the L2.",
        on, answer->scene);
}

static void network(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    char on[128];
    prediction_gpu(answer->state, on, sizeof on);
    if (memory && memory->networks.count)
        say(answer, "published: %.90s%s. A gain of pooling is its kernel / %s, model of %s.",
            memory->networks.list[0].source, memory->networks.count > 1 ? ", and others" : "",
            answer->kernel->title, on);
    else
        say(answer, "n/a: no network was read.");
}

static void timeline(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    const BevKernel *row = model_row(answer->kernel);
    const Timeline *t =
        memory ? timeline_find(&memory->timelines, answer->scene, row ? row->name : NULL) : NULL;
    if (t)
        say(answer,
            "recorded: %s %s %s on %s, %s. Ends by events of the GPU, calls by the host's clock.",
            t->kernel, t->dtype, t->align, t->scene, t->label);
    else
        say(answer, "n/a: no time line is recorded.");
}

static void counters(Answer *answer) {
    const LiveCounters *counted = &answer->live->counters;
    char label[96];
    if (!counted->source) {
        say(answer, "n/a: counters were not asked for.");
        return;
    }
    kernel_config_label(&counted->config, label, sizeof label);
    say(answer, "%s %s. Hardware counters of one launch of %s%s.", source_names[counted->source],
        answer->place, label, counted->stale ? ", before the last change" : "");
}

static void device(Answer *answer) {
    if (answer->live->timed)
        say(answer, "measured %s: read from driver and system.", answer->place);
    else
        say(answer, "set: %s. A script reads nothing from this machine.",
            answer->live->device.name);
}

/* ---- figures that one sentence explains ------------------------------------------------------ */

static void picture(Answer *answer) {
    const BevKernel *stand_in = answer->live->stand_in;
    say(answer, "computed: %s, t %.2f s%s%s.", answer->inputs, answer->live->frame.time_s,
        stand_in ? "; the picture is by " : "", stand_in ? stand_in->title : "");
}

static void setting(Answer *a) {
    bool wrong = a->state->job.config.kernel->wrong_on_purpose;
    const BevKernel *stand_in = a->live->stand_in;
    if (stand_in)
        say(a,
            "set: by you, by the scene %s or by the program. The picture is by %s, whose sums are "
            "%s: another kernel is too slow while the scene plays%s.",
            a->scene, stand_in->title, wrong ? "right" : "the same up to rounding",
            wrong ? "; pause to see its own" : "");
    else
        say(a, "set: by you, by the scene %s or by the program; nothing is measured.", a->scene);
}

/* Answers that are the same for every selection. */
static const char *const fixed[ORIGIN_COUNT] = {
    [ORIGIN_CACHES] =
        "published: sizes of A6000, PRO 6000 and the chosen GPU are the data sheets' (what-if L2: "
        "yours); this machine's is read from driver or system. The bar's line is 100 % of it. "
        "Streaming: the footprint is larger; a kernel may read less, as V4, and hit.",
    [ORIGIN_BAR] = "computed: the latency of the row as a bar. Behind an arrow the scale has "
                   "ended: from there on the length is the logarithm.",
    [ORIGIN_LOG] =
        "set: the line tells a control and its effect. Marks beside figures: r recorded, m model, "
        "p published, b beside pictures, s single launches, ~ stale, ? unsettled; no mark: "
        "measured or computed.",
    [ORIGIN_LESSON] = "set: the lesson's text. The lesson names the source of each figure it asks "
                      "for.",
};

static void sentence(Answer *a) {
    switch (a->origin->topic) {
    case ORIGIN_SHAPES:
        return say(
            a,
            "computed: bytes from shapes and map. %s. Indices: of points (bilinear: with weights); "
            "in the footprint starts and lengths of intervals, too.",
            a->inputs);
    case ORIGIN_REQUESTED:
        return say(
            a,
            "model: bytes that the threads ask for, counted along their accesses. %s. No cache and "
            "no GPU is in it. Indices: starts and lengths, too. Output: a clear before the kernel, "
            "too.",
            a->inputs);
    case ORIGIN_MAP:
        return say(a, "computed: counted in the scatter map of %s, rig as set now.", a->scene);
    case ORIGIN_PIPELINE:
        return say(
            a,
            "measured %s: wall time of the newest frames, by stage; one marked ~ did not run for "
            "the last frame and is no part of the sum. Pool: one launch a frame, beside all else; "
            "a latency is a median of launches.",
            a->place);
    case ORIGIN_MASS:
        return say(a,
                   "computed: the scale of the picture of %s, t %.2f s; half of the cells "
                   "with mass are at full brightness.",
                   a->scene, a->live->frame.time_s);
    case ORIGIN_OBJECTS:
        return say(
            a,
            "computed: from map and depth of %s, t %.2f s, not from the kernel's sums: the share "
            "in its true box and half a cell around, and how far its centre is from the surface "
            "hit. Pixels at an edge have depth of what is behind, too; of a narrow object all do.",
            a->scene, a->live->frame.time_s);
    case ORIGIN_BITS:
        return say(a,
                   "computed: a code that you set, decoded; scales %s, those of the frame of %s.",
                   scales_name(a->state, a->live->job.scales), a->scene);
    case ORIGIN_STEPS:
        return say(a, "computed: the accesses of each warp, recorded step by step. %s.", a->inputs);
    case ORIGIN_GRADIENTS:
        return say(a, "computed: half the squared norm of the chosen cells, backward by %s.",
                   a->inputs);
    default:
        if (fixed[a->origin->topic])
            say(a, "%s", fixed[a->origin->topic]);
    }
}

void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]) {
    static void (*const answers[ORIGIN_COUNT])(Answer *) = {
        [ORIGIN_DEVICE] = device,   [ORIGIN_LATENCY] = latency,   [ORIGIN_BANDWIDTH] = bandwidth,
        [ORIGIN_SPEEDUP] = speedup, [ORIGIN_COMPILED] = compiled, [ORIGIN_PREPARE] = prepare,
        [ORIGIN_ERROR] = error,     [ORIGIN_MODEL] = model,       [ORIGIN_COUNTERS] = counters,
        [ORIGIN_PICTURE] = picture, [ORIGIN_NETWORK] = network,   [ORIGIN_TIMELINE] = timeline,
        [ORIGIN_CHART] = chart,     [ORIGIN_SETTING] = setting,
    };
    Answer answer = {.state = state,
                     .live = live,
                     .origin = origin,
                     .kernel = origin->kernel ? origin->kernel : state->job.config.kernel,
                     .text = "n/a"};
    fill(&answer);
    (answers[origin->topic] ? answers[origin->topic] : sentence)(&answer);
    snprintf(text, ORIGIN_TEXT_MAX, "%s", answer.text);
}
