/* SPDX-License-Identifier: MIT */
#include "src/view/panel/spots.h"

#include <stdio.h>
#include <string.h>

/* One question, and what the sentences of origin.inc take from it. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Origin *origin;
    const BevKernel *kernel; /* the kernel of the figure */
    const LiveKernel *row;   /* the kernel's row; NULL: none */
    const char *scene;
    char inputs[160]; /* "V4 FP16 nearest on canonical" */
    char here[160];   /* "here (NVIDIA H200), 2026-11-26" */
    char base[64], time[16];
    ShortText gpu;
    KeyText play;
    char source[448], detail[320]; /* "": the topic has none */
} Answer;

#define WRITE(answer, field, ...) snprintf((answer)->field, sizeof(answer)->field, __VA_ARGS__)

/* Fills in what every source sentence may name: kernel, scene, machine, baseline, time. */
static void fill_answer(Answer *answer) {
    const KernelConfig *job = &answer->live->job.config, *now = &answer->state->job.config;
    const LiveDevice *device = &answer->live->device;
    const BevKernel *baseline = answer->state->job.baseline.kernel;
    const char *date = answer->live->date;
    KernelConfig config = job->kernel ? *job : *now;
    config.kernel = answer->kernel;
    answer->row = live_known_kernel(answer->live, answer->kernel);
    answer->scene = menu_name(&answer->state->menu.scenes, answer->state->job.scene);
    WRITE(answer, inputs, "%s on %s", kernel_config_label(&config).text, answer->scene);
    WRITE(answer, here, "here (%s)%s%s", device->name[0] ? device->name : "this machine",
          date[0] ? ", " : "", date);
    WRITE(answer, base, "%s (row %s)", baseline->title, baseline->name);
    WRITE(answer, time, "%.2f", answer->live->frame.time_s);
    answer->play = key_of(ACTION_PLAY);
    answer->gpu = prediction_gpu(answer->state);
}

/* ---- figures of a kernel -------------------------------------------------------------------- */

/* Writes the source of a figure of the kernel's row, or why it is unknown. */
static bool timed(Answer *answer) {
    const LiveKernel *row = answer->row;
    const OriginTopic topic = answer->origin->topic;
    const Reading *figure = !row                        ? NULL
                            : topic == ORIGIN_BANDWIDTH ? &row->effective_gb_s
                            : topic == ORIGIN_PREPARE   ? &row->prepare_us
                                                        : &row->median_us;
    if (!row || !figure->source) {
        WRITE(answer, detail, "%s", unknown_reason(UNKNOWN_LATENCY, answer->live, row, BEV_FP32));
        return false;
    }
    if (figure->source == SOURCE_RECORDED)
        WRITE(answer, source, "recorded: %s, file %s", row->recorded_on, row->recorded_file);
    else
        WRITE(answer, source, "%s %s", latency_origin(row).text, answer->here);
    return true;
}

static bool compiled(Answer *answer) {
    return answer->row && answer->row->registers.source;
}

/* Writes the source of a speed-up. That of the headline comes from pairs of launches, those of the
 * table from the medians. */
static bool speedup(Answer *answer) {
    const LiveSpeedup *pairs = &answer->live->speedup;
    const LiveKernel *row = answer->row;
    bool headline = !answer->origin->kernel;
    const Reading none = {0}, ratio = headline ? pairs->ratio
                                      : row    ? live_speedup(answer->live, row)
                                               : none;
    char times[80];
    speedup_origin(answer->live, times, sizeof times);
    if (ratio.source == SOURCE_RECORDED)
        WRITE(answer, source, "recorded: %s, file %s",
              headline ? pairs->recorded_on : row->recorded_on,
              headline ? pairs->recorded_file : row->recorded_file);
    else
        WRITE(answer, source, "%s %s", source_names[ratio.source], answer->here);
    if (ratio.source == SOURCE_MEASURED)
        WRITE(answer, detail, ": %s", headline && times[0] ? times : "of the medians");
    return ratio.source != SOURCE_UNKNOWN;
}

/* Writes the source of an error: where the format was judged, on what, and against which limit. */
static bool error(Answer *answer) {
    const State *state = answer->state;
    const BevDtype dtype = answer->origin->dtype;
    const LiveAccuracy *accuracy = &answer->live->accuracy[dtype];
    bool scaled = strcmp(bev_dtypes[dtype].scaling, "none") != 0;
    ShortText moment = {""};
    if (!accuracy->source) {
        WRITE(answer, detail, "%s",
              unknown_reason(UNKNOWN_ACCURACY, answer->live, answer->row, dtype));
        return false;
    }
    if (scene_moves(&state->scene))
        moment = live_moment_text(&state->scene, accuracy->time_s);
    WRITE(answer, source, "%s %s%s. %s of %s in %s on %s%s%s", source_names[accuracy->source],
          answer->here, accuracy->stale ? ", before the last change" : "",
          accuracy->output ? accuracy->output : "The grid", answer->kernel->title,
          bev_dtypes[dtype].title, answer->scene, moment.text[0] ? ", " : "", moment.text);
    WRITE(answer, detail, "Its largest value: %s. Gate B: rel L2 up to %g%s%s",
          text_of_unit(UNIT_ERROR, accuracy->largest).text, accuracy->rel_l2_limit,
          scaled ? "; scales: " : "", scaled ? scales_name(state, answer->live->job.scales) : "");
    return true;
}

/* ---- figures of GPU and model --------------------------------------------------------------- */

static bool timed_here(Answer *answer) {
    return answer->live->timed;
}

static bool model(Answer *answer) {
    return answer->live->model != NULL;
}

static bool network(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    if (!memory || !memory->networks.count)
        return false;
    WRITE(answer, detail, "%.90s%s", memory->networks.list[0].source,
          memory->networks.count > 1 ? ", and others" : "");
    return true;
}

static bool timeline(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    const BevKernel *row = model_row(answer->kernel);
    const Timeline *t =
        memory ? timeline_find(&memory->timelines, answer->scene, row ? row->name : NULL) : NULL;
    if (t)
        WRITE(answer, detail, "%s %s %s on %s, %s", t->kernel, t->dtype, t->align, t->scene,
              t->label);
    return t != NULL;
}

static bool counters(Answer *answer) {
    const LiveCounters *counted = &answer->live->counters;
    if (!counted->source)
        return false;
    WRITE(answer, source, "%s %s", source_names[counted->source], answer->here);
    WRITE(answer, detail, "%s%s", kernel_config_label(&counted->config).text,
          counted->stale ? ", before the last change" : "");
    return true;
}

static bool own_picture(Answer *answer) {
    const BevKernel *stand_in = answer->live->stand_in;
    WRITE(answer, detail, "%s", stand_in ? stand_in->title : "");
    return !stand_in;
}

/* ---- the sentences -------------------------------------------------------------------------- */

static const struct {
    const char *word;
    bool (*known)(Answer *);
    const char *sentence, *unknown;
} topics[ORIGIN_COUNT] = {
#define TOPIC(id, word, known, sentence, unknown) [ORIGIN_##id] = {word, known, sentence, unknown},
#include "src/view/panel/origin.inc"
#undef TOPIC
};

/* Returns what a sentence has in place of braces, by the name in them. */
static const char *filled(const Answer *a, const char *name, size_t length) {
    const struct {
        const char *name, *text;
    } parts[] = {{"inputs", a->inputs},
                 {"scene", a->scene},
                 {"here", a->here},
                 {"device", a->live->device.name},
                 {"kernel", a->kernel->title},
                 {"row", a->kernel->name},
                 {"base", a->base},
                 {"gpu", a->gpu.text},
                 {"time", a->time},
                 {"play", a->play.name},
                 {"scales", scales_name(a->state, a->live->job.scales)},
                 {"source", a->source},
                 {"detail", a->detail}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && !strncmp(parts[i].name, name, length))
            return parts[i].text;
    return "";
}

void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]) {
    Answer answer = {.state = state,
                     .live = live,
                     .origin = origin,
                     .kernel = origin->kernel ? origin->kernel : state->job.config.kernel};
    fill_answer(&answer);
    bool known = !topics[origin->topic].known || topics[origin->topic].known(&answer);
    const char *from = known ? topics[origin->topic].sentence : topics[origin->topic].unknown;
    size_t used = 0;
    for (from = from ? from : "n/a"; *from && used < ORIGIN_TEXT_MAX;) {
        bool brace = *from == '{';
        size_t length = brace ? strcspn(++from, "}") : strcspn(from, "{");
        const char *part = brace ? filled(&answer, from, length) : from;
        used += (size_t)snprintf(text + used, ORIGIN_TEXT_MAX - used, "%.*s",
                                 brace ? ORIGIN_TEXT_MAX : (int)length, part);
        from += length + brace;
    }
}

const char *origin_word(OriginTopic topic) {
    return topics[topic].word;
}
