/* SPDX-License-Identifier: MIT */
/* The log: a line for each change, completed with what the change did to the figures. */
#include "src/state/control.h"

#include "kernels/clean.h"

#include <stdarg.h>

unsigned log_say(Log *log, Action action, const char *format, ...) {
    LogLine *line = &log->lines[0];
    const bool key_is_held = action < ACTION_COUNT && keys[action].held;
    const bool replaces_own_line = log->count && key_is_held && line->action == action;
    if (!replaces_own_line) {
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
 * its mark. A stale figure `before` is compared, because it was on the screen. */
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

/* Whether `after` has only a first estimate of the latency. The complete latency comes later. */
static bool latency_follows(const Headline *before, const Headline *after) {
    return after->estimate && !before->estimate;
}

/* Returns the change of the latency. A latency within the noise of the earlier latency is no effect
 * of the change. */
static ShortText latency_text(const Headline *before, const Headline *after) {
    const Reading none = {.source = SOURCE_UNKNOWN}, *now = &after->latency_us;
    const bool comparable =
        !strcmp(before->latency_of, after->latency_of) && !before->estimate && !after->estimate;
    const Reading *earlier = comparable ? &before->latency_us : &none;
    const ShortText change = change_text(UNIT_US, earlier, now);
    if (!change.text[0])
        return change;
    if (latency_follows(before, after))
        return short_text("follows");
    const bool in_swing = before->swing_us[0] <= now->value && now->value <= before->swing_us[1];
    if (earlier->source == now->source && !now->doubtful && in_swing)
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

static void add_change(LogLine *line, const char *figure, ShortText change) {
    const char *before = strlen(line->text) == strlen(line->said) ? ": " : ", ";
    if (change.text[0])
        text_add(line->text, sizeof line->text, "%s%s %s", before, figure, change.text);
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
    bool newest_found = false;
    for (int i = 0; i < log->count; i++) {
        LogLine *line = &log->lines[i];
        if (!line->open || line->open > after->serial)
            continue;
        if (!newest_found)
            describe_change(line, after);
        const bool timed = is_certain(&after->footprint_bytes) && is_certain(&after->latency_us) &&
                           !after->latency_us.doubtful && !latency_follows(&line->before, after);
        const bool complete = (line->values_only || timed) && is_certain(&after->max_abs);
        /* Older lines are closed as they are: their figures were never on the screen. */
        if (newest_found || complete)
            line->open = 0;
        newest_found = true;
    }
}
