/* SPDX-License-Identifier: MIT */
/* Where a figure comes from, the places of a drawing for the mouse, and tooltips. */
#include "src/view/bev/strip.h"
#include "src/view/panel/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A figure whose origin is asked for, and the parts that fill the sentences of origin.inc. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Origin *origin;
    const BevKernel *kernel; /* the kernel of the figure */
    const LiveKernel *row;   /* the kernel's row; NULL: none */
    const char *scene;
    ShortText inputs; /* "V4 FP16 nearest on canonical" */
    ShortText here;   /* "here (NVIDIA H200), 2026-11-26" */
    ShortText base, time, gpu;
    KeyText play;
    char source[448], detail[320]; /* "": the topic has none */
} Answer;

#define WRITE(answer, field, ...) snprintf((answer)->field, sizeof(answer)->field, __VA_ARGS__)

/* ---- figures of a kernel -------------------------------------------------------------------- */

/* The functions NAME_source() write the source of a figure and more about it. They return whether
 * the figure is known. This one is about the times of a kernel's row. */
static bool time_source(Answer *answer) {
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
        WRITE(answer, source, "%s %s", latency_origin(row).text, answer->here.text);
    return true;
}

static bool compiled_source(Answer *answer) {
    return answer->row && answer->row->registers.source;
}

/* Writes the source of a speed-up. The headline's speed-up comes from pairs of launches, the
 * table's from the medians. */
static bool speedup_source(Answer *answer) {
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
        WRITE(answer, source, "%s %s", source_names[ratio.source], answer->here.text);
    if (ratio.source == SOURCE_MEASURED)
        WRITE(answer, detail, ": %s", headline && times[0] ? times : "of the medians");
    return ratio.source != SOURCE_UNKNOWN;
}

/* Writes the source of an error: what was judged, where, and against which limit. */
static bool error_source(Answer *answer) {
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
          answer->here.text, accuracy->stale ? ", before the last change" : "",
          accuracy->output ? accuracy->output : "The grid", answer->kernel->title,
          bev_dtypes[dtype].title, answer->scene, moment.text[0] ? ", " : "", moment.text);
    WRITE(answer, detail, "Its largest value: %s. Gate B: rel L2 up to %g%s%s",
          text_of_unit(UNIT_ERROR, accuracy->largest).text, accuracy->rel_l2_limit,
          scaled ? "; scales: " : "", scaled ? scales_name(state, answer->live->job.scales) : "");
    return true;
}

/* ---- figures of GPU and model --------------------------------------------------------------- */

static bool here_source(Answer *answer) {
    return answer->live->timed;
}

static bool model_source(Answer *answer) {
    return answer->live->model != NULL;
}

static bool network_source(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    if (!memory || !memory->networks.count)
        return false;
    WRITE(answer, detail, "%.90s%s", memory->networks.list[0].source,
          memory->networks.count > 1 ? ", and others" : "");
    return true;
}

static bool timeline_source(Answer *answer) {
    const MemoryModel *memory = answer->live->model;
    const BevKernel *row = model_row(answer->kernel);
    if (!memory)
        return false;
    const Timeline *found =
        timeline_find(&memory->timelines, answer->scene, row ? row->name : NULL);
    if (found)
        WRITE(answer, detail, "%s %s %s on %s, %s", found->kernel, found->dtype, found->align,
              found->scene, found->label);
    return found != NULL;
}

static bool counters_source(Answer *answer) {
    const LiveCounters *counted = &answer->live->counters;
    if (!counted->source)
        return false;
    WRITE(answer, source, "%s %s", source_names[counted->source], answer->here.text);
    WRITE(answer, detail, "%s%s", kernel_config_label(&counted->config).text,
          counted->stale ? ", before the last change" : "");
    return true;
}

static bool picture_source(Answer *answer) {
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

/* Returns the text that replaces {name} in a sentence. `length` is that of the name. */
static const char *filled_part(const Answer *a, const char *name, size_t length) {
    const struct {
        const char *name, *text;
    } parts[] = {{"inputs", a->inputs.text},
                 {"scene", a->scene},
                 {"here", a->here.text},
                 {"device", a->live->device.name},
                 {"kernel", a->kernel->title},
                 {"row", a->kernel->name},
                 {"base", a->base.text},
                 {"gpu", a->gpu.text},
                 {"time", a->time.text},
                 {"play", a->play.name},
                 {"scales", scales_name(a->state, a->live->job.scales)},
                 {"source", a->source},
                 {"detail", a->detail}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && !strncmp(parts[i].name, name, length))
            return parts[i].text;
    return "";
}

/* Writes a sentence of origin.inc. What stands in braces is replaced. */
static void fill_sentence(const Answer *answer, const char *from, char text[ORIGIN_TEXT_MAX]) {
    text[0] = '\0';
    while (*from) {
        const bool opens_brace = *from == '{';
        from += opens_brace;
        const size_t length = strcspn(from, opens_brace ? "}" : "{");
        if (opens_brace)
            text_add(text, ORIGIN_TEXT_MAX, "%s", filled_part(answer, from, length));
        else
            text_add(text, ORIGIN_TEXT_MAX, "%.*s", (int)length, from);
        from += length + opens_brace;
    }
}

bool origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]) {
    if (!origin)
        return false;
    const BevKernel *kernel = origin->kernel ? origin->kernel : state->job.config.kernel;
    const BevKernel *base = state->job.baseline.kernel;
    const char *scene = menu_name(&state->menu.scenes, state->job.scene), *date = live->date;
    const char *device = live->device.name[0] ? live->device.name : "this machine";
    KernelConfig config = live->job.config.kernel ? live->job.config : state->job.config;
    config.kernel = kernel;
    Answer answer = {
        .state = state,
        .live = live,
        .origin = origin,
        .kernel = kernel,
        .row = live_known_kernel(live, kernel),
        .scene = scene,
        .inputs = short_text("%s on %s", kernel_config_label(&config).text, scene),
        .here = short_text("here (%s)%s%s", device, date[0] ? ", " : "", date),
        .base = short_text("%s (row %s)", base->title, base->name),
        .time = short_text("%.2f", live->frame.time_s),
        .gpu = prediction_gpu(state),
        .play = key_of(ACTION_PLAY),
    };
    const bool known = !topics[origin->topic].known || topics[origin->topic].known(&answer);
    const char *from = known ? topics[origin->topic].sentence : topics[origin->topic].unknown;
    fill_sentence(&answer, from ? from : "n/a", text);
    return true;
}

/* ---- places ---------------------------------------------------------------------------------- */

void spots_clear(Spots *spots) {
    if (spots)
        *spots = (Spots){.wipe_x = NAN};
}

static bool inside(const Box *box, double x, double y) {
    return x >= box->x && x < box->x + box->w && y >= box->y && y < box->y + box->h;
}

void spots_add_figure(Spots *spots, Box box, const Origin *origin) {
    if (!spots || spots->figure_count == FIGURES_MAX)
        return;
    spots->figures[spots->figure_count].box = box;
    spots->figures[spots->figure_count++].origin = *origin;
}

bool spots_over(const Spots *spots, double x, double y) {
    return inside(&spots->over, x, y);
}

int64_t spots_pixel(const Spots *spots, double x, double y, const State *state,
                    const LiveFrame *frame) {
    const Frustum frustum = frame_frustum(frame);
    if (spots_over(spots, x, y) ||
        !(frame->gradients.grad_feat || (frame->rig && state->strip == STRIP_DROPPED)))
        return -1;
    for (int i = 0; i < RIG_MAX_CAMERAS; i++) {
        const Box *box = &spots->cameras[i];
        if (inside(box, x, y))
            return i * frame->shape.feat_h * frame->shape.feat_w +
                   gradient_pixel(&frustum, frustum.input_w, frustum.input_h,
                                  (int64_t)((x - box->x) / box->w * frustum.input_w),
                                  (int64_t)((y - box->y) / box->h * frustum.input_h));
    }
    return -1;
}

/* Returns the figure under the point; -1: none. The figure drawn last lies on the others. */
static int figure_at(const Spots *spots, double x, double y) {
    int first = spots_over(spots, x, y) ? spots->over_figures : 0, i = spots->figure_count - 1;
    while (i >= first && !inside(&spots->figures[i].box, x, y))
        i--;
    return i < first ? -1 : i;
}

/* Returns the spot under the point, the one drawn first; -1: none. */
static int spot_at(const Spots *spots, double x, double y) {
    int i = spots_over(spots, x, y) ? spots->over_spots : 0;
    while (i < spots->count && !inside(&spots->list[i].box, x, y))
        i++;
    return i < spots->count ? i : -1;
}

const Origin *spots_figure(const Spots *spots, double x, double y) {
    int figure = figure_at(spots, x, y);
    return figure < 0 ? NULL : &spots->figures[figure].origin;
}

bool spots_on_time(const Spots *spots, double x, double y) {
    const Box *bar = &spots->time;
    double slack = bar->h > 1 ? 3 : 0; /* in pixels: a thin bar is hard to hit */
    return bar->w > 0 && !spots_over(spots, x, y) &&
           inside(&(Box){bar->x, bar->y - slack, bar->w, bar->h + 2 * slack}, x, y);
}

/* A command's box comes before the boxes of figures within: a click means the whole row. */
const Box *spots_box(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y), figure = figure_at(spots, x, y);
    if (spots_on_time(spots, x, y))
        return &spots->time;
    if (spot >= 0)
        return &spots->list[spot].box;
    if (figure < 0 || spots->figures[figure].origin.topic == ORIGIN_PICTURE)
        return NULL;
    return &spots->figures[figure].box;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y);
    return spot < 0 ? NULL : &spots->list[spot].command;
}

/* Returns the control of the spot under a point; NULL: none. Chips and titles of panels open the
 * palette: their argument names the control. */
static const KeyRow *control_at(const Spots *spots, double x, double y) {
    const Command *command = spots_at(spots, x, y);
    if (!command || command->action != ACTION_COMMANDS)
        return command ? &keys[command->action] : NULL;
    return keys_beginning(command->argument);
}

Command spots_drag_time(const Spots *spots, double x, const State *state) {
    Command command = {.action = ACTION_STEP};
    double part = fmax(0, fmin((x - spots->time.x) / spots->time.w, 1));
    double to_s = spots->from_s + part * (spots->to_s - spots->from_s);
    snprintf(command.argument, sizeof command.argument, "%.3f", to_s - state->job.time_s);
    return command;
}

Command spots_menu(const Spots *spots, double x, double y) {
    const KeyRow *control = control_at(spots, x, y);
    Command command = {.action = ACTION_COMMANDS};
    snprintf(command.argument, sizeof command.argument, "%s%s", control ? control->word : "on",
             control ? " " : "");
    return command;
}

bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command) {
    const KeyRow *control = control_at(spots, x, y);
    if (!control || control->group >= GROUP_LESSON || steps == 0)
        return false;
    *command = (Command){.action = control->action, .step = steps > 0 ? -1 : 1};
    return true;
}

/* ---- tooltips -------------------------------------------------------------------------------- */

/* Writes a word of the glossary with its first sentence, or two if the first one is short. */
static void explain(const GlossaryRow *row, char text[TIP_TEXT_MAX]) {
    enum { SHORT = 30 };
    const char *end = strstr(row->text, ". ");
    if (end && end - row->text < SHORT)
        end = strstr(end + 1, ". ");
    int length = end ? (int)(end - row->text) + 1 : (int)strlen(row->text);
    snprintf(text, TIP_TEXT_MAX, "%s: %.*s", row->word, length, row->text);
}

/* Returns the glossary's row for a control: that of the value which a click sets or which is set;
 * else that of the control's own word; else that of a word in the control's help. */
static const GlossaryRow *word_of(const KeyRow *control, const Command *command,
                                  const char *value) {
    const bool sets_value = command->argument[0] && command->action != ACTION_COMMANDS;
    const char *word = sets_value ? command->argument : value;
    const BevKernel *kernel =
        sets_value && command->action == ACTION_KERNEL ? bev_kernel_find(word) : NULL;
    const GlossaryRow *row = glossary_find(kernel ? kernel->title : word);
    row = row ? row : glossary_find(control->word);
    return row ? row : glossary_mentioned(control->help);
}

/* Writes the title of a control's tooltip, "dtype: FP16 (key d)", and what a click does. */
static void tell_control(const KeyRow *control, const Command *command, const State *state,
                         Tip *tip) {
    const ShortText value = state_value(state, control->action);
    snprintf(tip->title, sizeof tip->title, control->direct ? "%s%s%s (key %s)" : "%s%s%s",
             control->word, value.text[0] ? ": " : "", value.text, key_of(control->action).name);
    if (command->action == ACTION_COMMANDS && control->action != ACTION_COMMANDS)
        snprintf(tip->help, sizeof tip->help, "click: its values; wheel: the next one");
    else if (command->argument[0])
        snprintf(tip->help, sizeof tip->help, "click: %s %.48s", control->word, command->argument);
    else
        snprintf(tip->help, sizeof tip->help, "%s", control->help);
    const GlossaryRow *row = word_of(control, command, value.text);
    if (row)
        explain(row, tip->meaning);
}

/* Returns the origin of the first figure in a box, the figure that a row is about. NULL: none. */
static const Origin *first_figure(const Spots *spots, const Box *box) {
    for (int i = 0; i < spots->figure_count; i++)
        if (inside(box, spots->figures[i].box.x, spots->figures[i].box.y))
            return &spots->figures[i].origin;
    return NULL;
}

bool spots_tip(const Spots *spots, double x, double y, const State *state, const LiveData *live,
               Tip *tip) {
    const Command *command = spots_at(spots, x, y);
    const KeyRow *control = control_at(spots, x, y);
    const Box *box = spots_box(spots, x, y);
    bool time = spots_on_time(spots, x, y);
    *tip = (Tip){.clickable = time || command};
    if (!box)
        return false;
    /* Between the figures of a row, the tooltip is about the row's first figure. */
    const Origin *first = first_figure(spots, box), *under = spots_figure(spots, x, y);
    const Origin *origin = under ? under : first;
    if (time) {
        snprintf(tip->title, sizeof tip->title, "time: %.2f s", state->job.time_s);
        snprintf(tip->help, sizeof tip->help, "drag: another moment; %s plays on",
                 key_of(ACTION_PLAY).name);
    } else if (command && command->action < ACTION_COUNT)
        tell_control(control ? control : &keys[command->action], command, state, tip);
    const GlossaryRow *row = origin && origin->word ? glossary_find(origin->word) : NULL;
    const char *word = row ? row->word : origin ? topics[origin->topic].word : NULL;
    const bool other_figure = first && origin && first->topic != origin->topic;
    if (word && !tip->title[0])
        snprintf(tip->title, sizeof tip->title, "%s", word);
    if (word && (!tip->meaning[0] || other_figure))
        explain(glossary_find(word), tip->meaning);
    /* The source of a setting tells nothing that the control does not. */
    if (origin && live && !time && !(command && origin->topic == ORIGIN_SETTING))
        origin_text(state, live, origin, tip->source);
    tip->box = *box;
    return true;
}

void tip_line(const Tip *tip, char *text, size_t size) {
    const size_t length = strlen(tip->title);
    const bool meaning_begins_with_title =
        !strncmp(tip->title, tip->meaning, length) && tip->meaning[length] == ':';
    const char *const parts[] = {meaning_begins_with_title ? "" : tip->title, tip->help,
                                 tip->source, tip->meaning};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t used = strlen(text);
        const char *between = used == 0 ? "" : text[used - 1] == '.' ? " " : "; ";
        if (parts[i][0])
            text_add(text, size, "%s%s", between, parts[i]);
    }
}
