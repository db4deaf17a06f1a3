/* SPDX-License-Identifier: MIT */
/* Tooltips: what a spot or a figure is, what a click does there, and where the figure comes from.
 */
#include "src/view/panel/spots.h"

#include <stdio.h>
#include <string.h>

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
