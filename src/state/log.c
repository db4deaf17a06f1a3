/* SPDX-License-Identifier: MIT */
#include "src/state/control.h"

#include "kernels/clean.h"
#include "src/base/units.h"

#include <stdarg.h>
#include <string.h>

static LogLine *push_line(Log *log, Action action) {
    bool held = action < ACTION_COUNT && keys[action].held;
    bool again = log->count && held && log->lines[0].action == action;
    if (!again) {
        memmove(log->lines + 1, log->lines, sizeof *log->lines * (LOG_LINES - 1));
        log->count += log->count < LOG_LINES;
        log->said++;
    }
    log->lines[0] = (LogLine){.action = action};
    return &log->lines[0];
}

unsigned log_say(Log *log, Action action, const char *format, ...) {
    LogLine *line = push_line(log, action);
    va_list args;
    va_start(args, format);
    vsnprintf(line->said, sizeof line->said, format, args);
    va_end(args);
    /* A note may come from a file or a driver, and may contain control characters. */
    clean_text(line->said, line->said, sizeof line->said);
    snprintf(line->text, sizeof line->text, "%s", line->said);
    return STEP_REDRAW;
}

void log_await(Log *log, uint64_t serial, const Headline *before, bool values_only) {
    log->lines[0].open = serial;
    log->lines[0].before = *before;
    log->lines[0].values_only = values_only;
}

static bool is_certain(const Reading *reading) {
    return reading->source != SOURCE_UNKNOWN && !reading->stale;
}

static double value_of(const Reading *reading) {
    return is_certain(reading) ? reading->value : NAN;
}

/* Returns the figure before the change; NaN where its source differs from the one after it. A stale
 * figure counts, because the reader saw it. */
static double value_before(const Reading *before, const Reading *after) {
    return before->source == after->source && !before->doubtful ? before->value : NAN;
}

/* Writes "10.2 to 6.1 MB", or "" for a figure that is unknown or of an earlier moment. A figure
 * that is doubtful or not measured here has its mark. */
static void change_text(Unit unit, const Reading *before, const Reading *after, char *text,
                        size_t size) {
    text[0] = '\0';
    if (is_certain(after))
        unit_change(unit, value_before(before, after), value_of(after), text, size);
    const char *mark = after->source == SOURCE_MODEL ? "" : reading_mark(after);
    size_t length = strlen(text);
    if (is_certain(after) && mark[0])
        snprintf(text + length, size - length, " %s", mark);
}

/* Whether a complete latency is to follow the first estimate: the two are not compared. */
static bool latency_follows(const Headline *before, const Headline *after) {
    return after->estimate && !before->estimate;
}

/* Writes the change of the latency. A latency within the swing before the change is no effect of
 * the change and gets no text: the screen would soon show another figure. */
static void latency_text(const Headline *before, const Headline *after, char *text, size_t size) {
    const Reading none = {.source = SOURCE_UNKNOWN}, *is = &after->latency_us;
    const bool same = !strcmp(before->latency_of, after->latency_of) &&
                      before->estimate == after->estimate;
    if (is_certain(is) && latency_follows(before, after)) {
        snprintf(text, size, "follows");
        return;
    }
    const Reading *was = same ? &before->latency_us : &none;
    bool swings = was->source == is->source && is_certain(is) && before->swing_us[0] <= is->value &&
                  is->value <= before->swing_us[1];
    if (!swings || is->doubtful) {
        change_text(UNIT_US, was, is, text, size);
        const size_t length = strlen(text);
        if (length && after->latency_of[0])
            snprintf(text + length, size - length, " (%.60s%s)", after->latency_of,
                     after->estimate ? ", ~ first estimate" : "");
        return;
    }
    snprintf(text, size, "within its noise");
}

static void add_change(LogLine *line, const char *name, const char *change) {
    const size_t length = strlen(line->text), said = strlen(line->said);
    if (change[0])
        snprintf(line->text + length, sizeof line->text - length, "%s%s %s",
                 length > said ? ", " : ": ", name, change);
}

/* Completes a line of the log with what the control changed. */
static void describe_change(LogLine *line, const Headline *after) {
    enum { CHANGE = 128 };
    char footprint[CHANGE], latency[CHANGE], error[CHANGE];
    const Headline *before = &line->before;
    change_text(UNIT_BYTES, &before->footprint_bytes, &after->footprint_bytes, footprint,
                sizeof footprint);
    latency_text(before, after, latency, sizeof latency);
    /* An error at another time says nothing about the change. */
    const Reading none = {.source = SOURCE_UNKNOWN};
    bool same_moment = before->max_abs_s == after->max_abs_s || line->action == ACTION_STEP;
    change_text(UNIT_ERROR, same_moment ? &before->max_abs : &none, &after->max_abs, error,
                sizeof error);
    if (!same_moment && is_certain(&after->max_abs)) {
        size_t length = strlen(error);
        snprintf(error + length, sizeof error - length, " at t %.2f s", after->max_abs_s);
    }
    snprintf(line->text, sizeof line->text, "%s", line->said);
    add_change(line, "footprint", line->values_only ? "" : footprint);
    add_change(line, "latency", line->values_only ? "" : latency);
    add_change(line, "max error", error);
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
