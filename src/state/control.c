/* SPDX-License-Identifier: MIT */
/* The log, and what all controls' handlers share: numbers, switches, lists, changes of the job. */
#include "src/state/control.h"

#include "kernels/clean.h"

#include <stdarg.h>
#include <strings.h>

/* ---- the log --------------------------------------------------------------------------------- */

unsigned log_say(Log *log, Action action, const char *format, ...) {
    LogLine *line = &log->lines[0];
    const bool held = action < ACTION_COUNT && keys[action].held;
    if (!log->count || !held || line->action != action) {
        memmove(log->lines + 1, log->lines, sizeof *log->lines * (LOG_LINES - 1));
        log->count += log->count < LOG_LINES;
        log->said++;
    }
    *line = (LogLine){.action = action};
    va_list args;
    va_start(args, format);
    vsnprintf(line->said, sizeof line->said, format, args);
    va_end(args);
    /* A note may come from a file or a driver, and may contain control characters. */
    clean_text(line->said, line->said, sizeof line->said);
    snprintf(line->text, sizeof line->text, "%s", line->said);
    return STEP_REDRAW;
}

static bool is_certain(const Reading *reading) {
    return reading->source != SOURCE_UNKNOWN && !reading->stale;
}

/* Returns "10.2 to 6.1 MB". The text is "" where `after` is unknown or stale. A doubtful figure has
 * its mark. A stale figure `before` is compared, because the reader saw it. */
static ShortText change_text(Unit unit, const Reading *before, const Reading *after) {
    bool comparable = before->source == after->source && !before->doubtful;
    ShortText text = {""};
    if (!is_certain(after))
        return text;
    text = text_of_change(unit, comparable ? before->value : NAN, after->value);
    const char *mark = after->source == SOURCE_MODEL ? "" : reading_mark(after);
    if (mark[0])
        text_add(text.text, sizeof text.text, " %s", mark);
    return text;
}

/* Whether `after` has a first estimate in place of a complete latency, which follows. */
static bool latency_follows(const Headline *before, const Headline *after) {
    return after->estimate && !before->estimate;
}

/* Returns the change of the latency. A latency within the noise of the figure before is no effect
 * of the change. */
static ShortText latency_text(const Headline *before, const Headline *after) {
    const Reading none = {.source = SOURCE_UNKNOWN}, *is = &after->latency_us;
    const bool comparable =
        !strcmp(before->latency_of, after->latency_of) && !before->estimate && !after->estimate;
    const Reading *was = comparable ? &before->latency_us : &none;
    const ShortText change = change_text(UNIT_US, was, is);
    if (!change.text[0])
        return change;
    if (latency_follows(before, after))
        return short_text("follows");
    if (was->source == is->source && !is->doubtful && before->swing_us[0] <= is->value &&
        is->value <= before->swing_us[1])
        return short_text("within its noise");
    ShortText text = short_text("%s%s", after->estimate ? "~" : "", change.text);
    if (after->latency_of[0])
        text_add(text.text, sizeof text.text, " (%.60s%s)", after->latency_of,
                 after->estimate ? ", ~ estimate until replayed" : "");
    return text;
}

/* Returns the change of the largest error. Errors of other moments are not compared. */
static ShortText error_text(const Headline *before, const Headline *after) {
    const Reading none = {.source = SOURCE_UNKNOWN};
    const bool comparable = !strcmp(before->max_abs_of, after->max_abs_of);
    ShortText text =
        change_text(UNIT_ERROR, comparable ? &before->max_abs : &none, &after->max_abs);
    if (!text.text[0])
        return text;
    if (comparable && before->dtype != after->dtype && is_certain(&before->max_abs))
        text = short_text("%s (%s) to %s", text_of_unit(UNIT_ERROR, before->max_abs.value).text,
                          bev_dtypes[before->dtype].title,
                          text_of_unit(UNIT_ERROR, after->max_abs.value).text);
    if (after->max_abs_of[0])
        text_add(text.text, sizeof text.text, " %s", after->max_abs_of);
    if (after->prune_change > 0)
        text_add(text.text, sizeof text.text, ", pruning changes outputs by up to %s",
                 text_of_unit(UNIT_ERROR, after->prune_change).text);
    return text;
}

static void add_change(LogLine *line, const char *name, ShortText change) {
    bool first = strlen(line->text) == strlen(line->said);
    if (change.text[0])
        text_add(line->text, sizeof line->text, "%s%s %s", first ? ": " : ", ", name, change.text);
}

static void describe_change(LogLine *line, const Headline *after) {
    const Headline *before = &line->before;
    snprintf(line->text, sizeof line->text, "%s", line->said);
    if (!line->values_only) {
        add_change(line, "arrays",
                   change_text(UNIT_BYTES, &before->footprint_bytes, &after->footprint_bytes));
        add_change(line, "latency", latency_text(before, after));
    }
    add_change(line, "max error", error_text(before, after));
}

void log_result(Log *log, const Headline *after) {
    bool found = false;
    for (int i = 0; i < log->count; i++) {
        LogLine *line = &log->lines[i];
        if (!line->open || line->open > after->serial)
            continue;
        if (!found)
            describe_change(line, after);
        bool timed = is_certain(&after->footprint_bytes) && is_certain(&after->latency_us) &&
                     !after->latency_us.doubtful && !latency_follows(&line->before, after);
        bool complete = (line->values_only || timed) && is_certain(&after->max_abs);
        /* A line older than another open line is closed: its figures were never on the screen. */
        if (found || complete)
            line->open = 0;
        found = true;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Completes the command with its number: the argument, or a step from the control's value. A step
 * stops at the bounds of the row. Returns false, with a line in the log, for an argument outside of
 * the bounds. */
static bool complete_number(State *state, Command *command) {
    const KeyRow *row = &keys[command->action];
    const double finest = 1e6; /* rounded to 1e-6, ten steps of 0.1 and ten back give 0 again */
    char value[64];
    double now = row->value(state, value, sizeof value);
    command->number = strtod(command->argument, NULL);
    if (command->step) {
        double next =
            row->scaled ? now * pow(row->step, command->step) : now + command->step * row->step;
        command->number = clamp(round(next * finest) / finest, row->lo, row->hi);
    }
    if (command->number >= row->lo && command->number <= row->hi)
        return true;
    SAY(state, command->action, "%s: %s is not from %g to %g%s%s", row->word, command->argument,
        row->lo, row->hi, value[0] ? ": still " : "", value);
    return false;
}

/* Logs the control's new value, and marks the job as changed where the row asks for it. */
static unsigned tell_value(State *state, const KeyRow *row, const char *idea) {
    SAY(state, row->action, "%s %s%s%s", row->word, state_value(state, row->action).text,
        idea ? ": " : "", idea ? idea : "");
    if (row->asks & STEP_RUN)
        return control_await_figures(state, row->asks & (STEP_RUN_VALUES & ~STEP_RUN));
    return STEP_REDRAW | row->asks;
}

unsigned control_set(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    unsigned changed = SET(*(double *)((char *)state + row->field), command->number);
    return tell_value(state, row, NULL) | changed;
}

/* ---- switches and lists of values ------------------------------------------------------------ */

bool control_switched(const Command *command, bool now) {
    return command->step ? !now : !strcmp(command->argument, "on");
}

unsigned control_toggle(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    bool *field = (bool *)((char *)state + row->field);
    unsigned changed = SET(*field, control_switched(command, *field));
    return SAY(state, command->action, "%s", row->says[*field]) | row->asks | changed;
}

int control_find(const State *state, const Command *command) {
    ValueName values[VALUES_MAX];
    int found = keys[command->action].list(state, values) - 1;
    while (found >= 0 && strcasecmp(values[found].name, command->argument) &&
           strcasecmp(values[found].title, command->argument))
        found--;
    return found;
}

int control_pick(State *state, const Command *command, int now) {
    ValueName values[VALUES_MAX];
    int count = keys[command->action].list(state, values);
    if (command->step && count)
        return wrapped(now + command->step, count);
    int found = control_find(state, command);
    if (found < 0)
        SAY(state, command->action, "%s: there is no \"%s\"", keys[command->action].word,
            command->argument);
    return found;
}

unsigned control_choose(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    ValueName values[VALUES_MAX];
    unsigned changed = SET(*(int *)((char *)state + row->field), command->place);
    if (command->action == ACTION_CHART && command->place)
        state->all = false; /* a chart has the tables' place */
    row->list(state, values);
    return tell_value(state, row, values[command->place].help) | changed;
}

/* ---- using a control ------------------------------------------------------------------------- */

static const char *no_cameras(const SceneFacts *scene) {
    return scene->has_rig && scene->camera_count > 0 ? NULL
           : scene->nx == 0                          ? "this scene is not loaded yet"
           : scene->has_operator ? "this scene is an operator: it has no cameras"
                                 : "this scene came without its cameras";
}

/* Returns why the control does nothing here; NULL: its condition holds. A scene that is not loaded
 * yet may meet most conditions. */
static const char *why_unusable(const State *state, const KeyRow *row) {
    const SceneFacts *scene = &state->scene;
    const bool loaded = scene->nx > 0;
    switch (row->needs) {
    case NEED_CAMERAS:
        return no_cameras(scene);
    case NEED_WORLD:
        return scene->has_world ? NULL : "this scene's depth and features are given";
    case NEED_OPERATOR:
        return scene->has_operator || !loaded ? NULL : "only operator scenes, as embedding_bag";
    case NEED_TRUTH:
        return scene->has_truth || !loaded ? NULL : "no annotated boxes or LiDAR to draw here";
    case NEED_LIDAR:
        return scene->has_lidar || !loaded ? NULL : "this scene has no LiDAR";
    case NEED_STEPS:
        return state->job.steps ? NULL : "no steps are shown; the word steps shows them";
    case NEED_LESSON:
        return state->lesson.open ? NULL : "no lesson is open; the word lesson opens one";
    case NEED_WINDOW:
        return state->has_window ? NULL : "no window is open";
    case NEED_CUDA:
        return state_where(state) == BEV_CUDA ? NULL : "only a GPU has them";
    default:
        return NULL;
    }
}

unsigned control_use(State *state, const Command *given) {
    const KeyRow *row = &keys[given->action];
    const char *why = why_unusable(state, row);
    Command taken = *given, *command = &taken;
    if (why)
        return SAY(state, row->action, "%s: %s", row->word, why);
    if (row->group == GROUP_CAMERAS && !control_take_camera(state, command))
        return STEP_REDRAW;
    if (row->picks) {
        char now[96];
        command->place = control_pick(state, command, (int)row->value(state, now, sizeof now));
    }
    if (command->place < 0 ||
        (row->argument == ARGUMENT_NUMBER && !complete_number(state, command)))
        return STEP_REDRAW;
    return row->handler(state, command);
}

/* ---- changes of the job ---------------------------------------------------------------------- */

unsigned control_changed(State *state) {
    state->job.serial++;
    return STEP_REDRAW | STEP_RUN | STEP_CHANGE;
}

unsigned control_await_figures(State *state, bool values_only) {
    unsigned bits = control_changed(state);
    LogLine *line = &state->log.lines[0];
    line->open = state->job.serial;
    line->before = state->shown;
    line->values_only = values_only;
    return bits;
}

unsigned control_aligns(const State *state) {
    return state->scene.aligns ? state->scene.aligns : (1u << BEV_ALIGN_COUNT) - 1;
}
