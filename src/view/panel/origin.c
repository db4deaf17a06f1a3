#include "src/view/panel/origin.h"

#include "src/state/live_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One question and the text that answers it. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Origin *origin;
    const BevKernel *kernel; /* the kernel of the figure */
    char text[ORIGIN_TEXT_MAX];
} Answer;

__attribute__((format(printf, 2, 3))) static void say(Answer *answer, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(answer->text, sizeof answer->text, format, args);
    va_end(args);
}

static const char *scene_of(const Answer *answer) {
    return menu_name(&answer->state->menu.scenes, answer->state->job.scene);
}

/* "V4 FP16 nearest on canonical". */
static void inputs_of(const Answer *answer, char text[160]) {
    const KernelConfig *job = &answer->live->job.config, *now = &answer->state->job.config;
    KernelConfig config = job->kernel ? *job : *now;
    char label[96];
    config.kernel = answer->kernel;
    kernel_config_label(&config, label, sizeof label);
    snprintf(text, 160, "%s on %s", label, scene_of(answer));
}

/* "here (NVIDIA H200), 2026-11-26". */
static void here(const Answer *answer, char text[160]) {
    const LiveDevice *device = &answer->live->device;
    const char *date = answer->live->date;
    snprintf(text, 160, "here (%s)%s%s", device->name[0] ? device->name : "this machine",
             date[0] ? ", " : "", date);
}

/* ---- figures of a kernel -------------------------------------------------------------------- */

static const LiveKernel *row_of(const Answer *answer) {
    return live_known_kernel(answer->live, answer->kernel);
}

static void timed(Answer *answer, const Reading *figure, const char *how) {
    const LiveKernel *row = row_of(answer);
    char inputs[160], place[160], origin[48];
    inputs_of(answer, inputs);
    here(answer, place);
    if (!row || !figure->source) {
        say(answer, "n/a: %s. %s.",
            unknown_reason(UNKNOWN_LATENCY, answer->live, row, BEV_FP32), inputs);
    } else if (figure->source == SOURCE_RECORDED) {
        say(answer, "recorded: %s, file %s. %s: %s.", row->recorded_on, row->recorded_file, inputs,
            how);
    } else {
        latency_origin(row, origin, sizeof origin);
        say(answer, "%s %s. %s: %s.", origin, place, inputs, how);
    }
}

static void latency(Answer *answer) {
    const LiveKernel *row = row_of(answer);
    bool in_a_row = !row || row->median_us.source != SOURCE_MEASURED ||
                    row->protocol == TIMING_SERIES;
    timed(answer, row ? &row->median_us : &(Reading){0},
          in_a_row ? "launches in a row, caches warm" : "launches one by one, beside the display");
}

static void bandwidth(Answer *answer) {
    const LiveKernel *row = row_of(answer);
    timed(answer, row ? &row->effective_gbps : &(Reading){0},
          "requested bytes / median; the ceiling is a probe's, of the same machine");
}

static void prepare(Answer *answer) {
    const LiveKernel *row = row_of(answer);
    timed(answer, row ? &row->prepare_us : &(Reading){0}, "prepared once a calibration");
}

static void compiled(Answer *answer) {
    const LiveKernel *row = row_of(answer);
    if (row && row->registers.source)
        say(answer, "computed: by the driver from the compiled code of %s, for %s.",
            answer->kernel->title, answer->live->device.name);
    else
        say(answer, "n/a: no code of %s is loaded on a GPU.", answer->kernel->title);
}

static void speedup(Answer *answer) {
    const LiveKernel *row = row_of(answer);
    const Reading ratio = row ? live_speedup(answer->live, row) : (Reading){0};
    const LiveSpeedup *pairs = &answer->live->speedup;
    const char *base = answer->state->job.baseline.kernel->title, *name = answer->kernel->title;
    bool selected = answer->kernel == answer->state->job.config.kernel;
    char place[160], times[48];
    here(answer, place);
    speedup_origin(answer->live, times, sizeof times);
    if (ratio.source == SOURCE_RECORDED)
        say(answer, "recorded: %s, file %s. Latency of %s / latency of %s, on %s.",
            selected ? pairs->recorded_on : row->recorded_on,
            selected ? pairs->recorded_file : row->recorded_file, base, name, scene_of(answer));
    else if (ratio.source == SOURCE_COMPUTED)
        say(answer, "computed: selection and baseline are the same.");
    else if (ratio.source)
        say(answer, "measured %s. Latency of %s / latency of %s, on %s%s%s.", place, base, name,
            scene_of(answer), selected ? ": " : "", selected ? times : "");
    else
        say(answer, "n/a: no latencies of %s and %s from one source.", base, name);
}

/* Ideal scales are the best ones: the largest value of each tensor is known. */
static void error(Answer *answer) {
    const LiveAccuracy *accuracy = &answer->live->accuracy[answer->origin->dtype];
    const BevDtypeInfo *format = &bev_dtypes[answer->origin->dtype];
    bool scaled = strcmp(format->scaling, "none") != 0;
    char place[160], scales[128] = "; scales fitted to this frame";
    here(answer, place);
    if (answer->live->job.scales != SCALES_IDEAL)
        snprintf(scales, sizeof scales, "; scales: %s",
                 scales_name(answer->state, answer->live->job.scales));
    if (!accuracy->source)
        say(answer, "n/a: %s.",
            unknown_reason(UNKNOWN_ACCURACY, answer->live, row_of(answer), answer->origin->dtype));
    else
        say(answer, "%s %s%s. %s of %s in %s on %s, against FP64 over the original inputs%s.",
            source_names[accuracy->source], place,
            accuracy->stale ? ", before the last change" : "",
            accuracy->output ? accuracy->output : "The grid", answer->kernel->title, format->title,
            scene_of(answer), scaled ? scales : "");
}

/* ---- figures of GPU and model --------------------------------------------------------------- */

static void model(Answer *answer) {
    const State *state = answer->state;
    const MemoryModel *memory = answer->live->model;
    char on[128], inputs[160];
    prediction_gpu(state, on, sizeof on);
    inputs_of(answer, inputs);
    if (!memory) {
        say(answer, "n/a: the memory model has no result yet. %s.", inputs);
        return;
    }
    FigureSource ceilings = model_ceilings(memory, state->gpu, &state->edit).source;
    say(answer, "model: %s. %s: accesses replayed through the L2; bandwidths %s.", on, inputs,
        ceilings == SOURCE_MODEL      ? "from the data sheet"
        : ceilings == SOURCE_RECORDED ? "recorded by a probe"
                                      : "measured by a probe");
}

static void network(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    char on[128];
    prediction_gpu(answer->state, on, sizeof on);
    if (memory && memory->networks.count)
        say(answer, "published: %.90s%s. A gain of pooling is V2 / %s, model of %s.",
            memory->networks.list[0].source, memory->networks.count > 1 ? ", and others" : "",
            answer->kernel->title, on);
    else
        say(answer, "n/a: no network was read.");
}

static void timeline(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    const BevKernel *row = model_row(answer->kernel);
    const Timeline *t =
        memory ? timeline_find(&memory->timelines, scene_of(answer), row ? row->name : NULL) : NULL;
    if (t)
        say(answer, "%s: %s %s %s on %s, %s. Ends by events of the GPU, calls by the host's clock.",
            source_names[t->source], t->kernel, t->dtype, t->align, t->scene, t->label);
    else
        say(answer, "n/a: no time line is recorded. bench --timeline measures one on a GPU.");
}

static void counters(Answer *answer) {
    const LiveCounters *counted = &answer->live->counters;
    char place[160], label[96];
    here(answer, place);
    if (!counted->source) {
        say(answer, "n/a: counters were not asked for.");
        return;
    }
    kernel_config_label(&counted->config, label, sizeof label);
    say(answer, "%s %s. Hardware counters of one launch of %s%s.", source_names[counted->source],
        place, label, counted->stale ? ", before the last change" : "");
}

static void device(Answer *answer) {
    char place[160];
    here(answer, place);
    if (answer->live->timed)
        say(answer, "measured %s: read from driver and system.", place);
    else
        say(answer, "set: %s. A script reads nothing from this machine.",
            answer->live->device.name);
}

static void caches(Answer *answer) {
    say(answer, "published: sizes of A6000, PRO 6000 and the chosen GPU are the data sheets'. "
                "This machine's size is read from driver or system.");
}

/* ---- figures of the frame ------------------------------------------------------------------- */

static void shapes(Answer *answer) {
    char inputs[160];
    inputs_of(answer, inputs);
    say(answer, "computed: bytes from shapes and map. %s.", inputs);
}

static void map(Answer *answer) {
    say(answer, "computed: counted in the scatter map of %s, rig as set now.", scene_of(answer));
}

static void pipeline(Answer *answer) {
    char place[160];
    here(answer, place);
    say(answer, "measured %s: wall time of the newest frames, by stage.", place);
}

static void picture(Answer *answer) {
    char inputs[160];
    const BevKernel *stand_in = answer->live->stand_in;
    inputs_of(answer, inputs);
    say(answer, "computed: %s, t %.2f s%s%s.", inputs, answer->live->frame.time_s,
        stand_in ? "; the picture is by " : "", stand_in ? stand_in->title : "");
}

static void objects(Answer *answer) {
    say(answer, "computed: the grid's mass in and beside the true boxes of %s, t %.2f s.",
        scene_of(answer), answer->live->frame.time_s);
}

static void bits(Answer *answer) {
    say(answer, "computed: a code that you set, decoded; scales %s, those of the frame of %s.",
        scales_name(answer->state, answer->live->job.scales), scene_of(answer));
}

static void steps(Answer *answer) {
    char inputs[160];
    inputs_of(answer, inputs);
    say(answer, "computed: the accesses of each warp, recorded step by step. %s.", inputs);
}

static void gradients(Answer *answer) {
    char inputs[160];
    inputs_of(answer, inputs);
    say(answer, "computed: half the squared norm of the chosen cells, backward by %s.", inputs);
}

static void training(Answer *answer) {
    char place[160];
    here(answer, place);
    say(answer, "computed: gradient descent on the depth of %s. Times are measured %s.",
        scene_of(answer), place);
}

static void setting(Answer *answer) {
    say(answer, "set: by you, by the scene %s or by the program; nothing is measured.",
        scene_of(answer));
}

static void log_line(Answer *answer) {
    say(answer, "set: the line tells a control and its effect. Marks beside figures: r recorded, "
                "m model, p published, ~ stale, ? unsettled; no mark: measured or computed.");
}

static void lesson(Answer *answer) {
    say(answer, "set: the lesson's text. The lesson names the source of each figure it asks for.");
}

void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]) {
    static void (*const answers[ORIGIN_COUNT])(Answer *) = {
        [ORIGIN_SETTING] = setting,
        [ORIGIN_LOG] = log_line,
        [ORIGIN_LESSON] = lesson,
        [ORIGIN_DEVICE] = device,
        [ORIGIN_CACHES] = caches,
        [ORIGIN_SHAPES] = shapes,
        [ORIGIN_MAP] = map,
        [ORIGIN_LATENCY] = latency,
        [ORIGIN_BANDWIDTH] = bandwidth,
        [ORIGIN_SPEEDUP] = speedup,
        [ORIGIN_COMPILED] = compiled,
        [ORIGIN_PREPARE] = prepare,
        [ORIGIN_ERROR] = error,
        [ORIGIN_MODEL] = model,
        [ORIGIN_COUNTERS] = counters,
        [ORIGIN_PIPELINE] = pipeline,
        [ORIGIN_PICTURE] = picture,
        [ORIGIN_OBJECTS] = objects,
        [ORIGIN_STEPS] = steps,
        [ORIGIN_GRADIENTS] = gradients,
        [ORIGIN_TRAINING] = training,
        [ORIGIN_NETWORK] = network,
        [ORIGIN_TIMELINE] = timeline,
        [ORIGIN_BITS] = bits,
    };
    Answer answer = {state, live, origin,
                     origin->kernel ? origin->kernel : state->job.config.kernel, "n/a"};
    if (answers[origin->topic])
        answers[origin->topic](&answer);
    snprintf(text, ORIGIN_TEXT_MAX, "%s", answer.text);
}
