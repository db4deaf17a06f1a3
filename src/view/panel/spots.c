/* SPDX-License-Identifier: MIT */
#include "src/view/panel/spots.h"

#include "src/view/bev/strip.h"
#include "src/view/bev/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void spots_clear(Spots *spots) {
    if (spots)
        *spots = (Spots){.wipe_x = NAN};
}

void spots_cover(Spots *spots, Box box) {
    spots->over = box;
    spots->over_spots = spots->count;
    spots->over_figures = spots->figure_count;
}

void spots_add(Spots *spots, Box box, Action action, int step, const char *argument) {
    if (!spots || spots->count == SPOTS_MAX)
        return;
    Command *command = &spots->list[spots->count].command;
    *command = (Command){.action = action, .step = step};
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    spots->list[spots->count++].box = box;
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

/* Returns the figure drawn last of those under the point, which is the smallest; -1: none. */
static int figure_at(const Spots *spots, double x, double y) {
    int first = spots_over(spots, x, y) ? spots->over_figures : 0, i = spots->figure_count - 1;
    while (i >= first && !inside(&spots->figures[i].box, x, y))
        i--;
    return i < first ? -1 : i;
}

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

bool spots_answer(const Spots *spots, double x, double y, const State *state, const LiveData *live,
                  char text[ORIGIN_TEXT_MAX]) {
    const Origin *origin = spots_figure(spots, x, y);
    if (origin)
        origin_text(state, live, origin, text);
    return origin != NULL;
}

bool spots_on_time(const Spots *spots, double x, double y) {
    const Box *bar = &spots->time;
    double slack = bar->h > 1 ? 3 : 0; /* in pixels: a thin bar is hard to hit */
    return bar->w > 0 && !spots_over(spots, x, y) &&
           inside(&(Box){bar->x, bar->y - slack, bar->w, bar->h + 2 * slack}, x, y);
}

/* Returns the box under a point. A command's box comes before the figures in it: a click is about
 * the whole row. */
const Box *spots_box(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y), figure = figure_at(spots, x, y);
    if (spots_on_time(spots, x, y))
        return &spots->time;
    if (spot >= 0)
        return &spots->list[spot].box;
    return figure < 0 || spots->figures[figure].origin.topic == ORIGIN_PICTURE
               ? NULL
               : &spots->figures[figure].box;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y);
    return spot < 0 ? NULL : &spots->list[spot].command;
}

const KeyRow *spots_control(const Spots *spots, double x, double y) {
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
    const KeyRow *control = spots_control(spots, x, y);
    Command command = {.action = ACTION_COMMANDS};
    snprintf(command.argument, sizeof command.argument, "%s%s", control ? control->word : "on",
             control ? " " : "");
    return command;
}

bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command) {
    const KeyRow *control = spots_control(spots, x, y);
    if (!control || control->group >= GROUP_LESSON || steps == 0)
        return false;
    *command = (Command){.action = control->action, .step = steps > 0 ? -1 : 1};
    return true;
}

/* ---- tooltips -------------------------------------------------------------------------------- */

/* Writes the word with its first sentence, or with two where the first one is short. */
static void explain(const GlossaryRow *row, char text[TIP_TEXT_MAX]) {
    enum { SHORT = 30 };
    const char *end = strstr(row->text, ". ");
    if (end && end - row->text < SHORT)
        end = strstr(end + 1, ". ");
    int length = end ? (int)(end - row->text) + 1 : (int)strlen(row->text);
    snprintf(text, TIP_TEXT_MAX, "%s: %.*s", row->word, length, row->text);
}

/* Returns the word of the value that a click sets, else of the one that is set, of the control, or
 * of its help. */
static const GlossaryRow *word_of(const KeyRow *control, const Command *command,
                                  const char *value) {
    bool sets = command->argument[0] && command->action != ACTION_COMMANDS;
    const BevKernel *kernel =
        sets && command->action == ACTION_KERNEL ? bev_kernel_find(command->argument) : NULL;
    const GlossaryRow *row = glossary_find(kernel ? kernel->title
                                           : sets ? command->argument
                                                  : value);
    row = row ? row : glossary_find(control->word);
    return row ? row : glossary_mentioned(control->help);
}

/* "dtype: FP16 (key d)", and what a click does. */
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

/* Returns the first figure of a row: the row is about it. NULL: there is none. */
static const Origin *first_figure(const Spots *spots, const Box *box) {
    for (int i = 0; i < spots->figure_count; i++) {
        const Box *figure = &spots->figures[i].box;
        if (figure->y >= box->y && figure->y < box->y + box->h && figure->x >= box->x &&
            figure->x < box->x + box->w)
            return &spots->figures[i].origin;
    }
    return NULL;
}

bool spots_tip(const Spots *spots, double x, double y, const State *state, const LiveData *live,
               Tip *tip) {
    const Command *command = spots_at(spots, x, y);
    const KeyRow *control = spots_control(spots, x, y);
    const Box *box = spots_box(spots, x, y);
    bool time = spots_on_time(spots, x, y);
    *tip = (Tip){.clickable = time || command};
    if (!box)
        return false;
    /* Beside the figures of a row, its first figure is under the mouse. */
    const Origin *first = first_figure(spots, box), *under = spots_figure(spots, x, y);
    const Origin *origin = under ? under : first;
    if (time) {
        snprintf(tip->title, sizeof tip->title, "time: %.2f s", state->job.time_s);
        snprintf(tip->help, sizeof tip->help, "drag: another moment; %s plays on",
                 key_of(ACTION_PLAY).name);
    } else if (command && command->action < ACTION_COUNT)
        tell_control(control ? control : &keys[command->action], command, state, tip);
    const GlossaryRow *row = origin && origin->word ? glossary_find(origin->word) : NULL;
    const char *word = row ? row->word : origin ? origin_word(origin->topic) : NULL;
    if (word && !tip->title[0])
        snprintf(tip->title, sizeof tip->title, "%s", word);
    if (word && (!tip->meaning[0] || (first && first->topic != origin->topic)))
        explain(glossary_find(word), tip->meaning);
    /* A setting's source says nothing that the control does not. */
    if (origin && live && !time && !(command && origin->topic == ORIGIN_SETTING))
        origin_text(state, live, origin, tip->source);
    tip->box = *box;
    return true;
}

void tip_line(const Tip *tip, char *text, size_t size) {
    size_t length = strlen(tip->title);
    bool twice = !strncmp(tip->title, tip->meaning, length) && tip->meaning[length] == ':';
    const char *const parts[] = {twice ? "" : tip->title, tip->help, tip->source, tip->meaning};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *between = !text[0] ? "" : text[strlen(text) - 1] == '.' ? " " : "; ";
        if (parts[i][0])
            text_add(text, size, "%s%s", between, parts[i]);
    }
}
