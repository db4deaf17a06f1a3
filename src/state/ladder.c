#include "src/state/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Twice the middle kernel, or the slowest: one very slow kernel shall not flatten all others. */
static double scale_of(double *us, int count) {
    if (!count)
        return 0;
    qsort(us, (size_t)count, sizeof *us, by_value);
    return fmin(2 * us[count / 2], us[count - 1]);
}

Ladder ladder_of(const State *state, const LiveData *live) {
    Ladder ladder = {.count = 0};
    double us[LIVE_MAX_KERNELS];
    int known = 0;
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *row = &live->kernels[i];
        if (row->kernel->where != state->job.config.kernel->where)
            continue;
        ladder.kernels[ladder.count++] = row;
        if (row->median_us.source)
            us[known++] = row->median_us.value;
    }
    ladder.scale_us = scale_of(us, known);
    return ladder;
}

const char *ladder_mark(const LiveKernel *row) {
    const char *mark = reading_mark(&row->median_us);
    if (mark[0] || !row->median_us.source)
        return mark;
    if (row->protocol == TIMING_BESIDE_PICTURES)
        return "b";
    return row->unsettled ? "?" : row->protocol == TIMING_SINGLE ? "s" : "";
}

void ladder_note(const Ladder *ladder, char *note, size_t size) {
    static const struct {
        char mark;
        const char *text;
    } marks[] = {{'r', "r recorded"},
                 {'~', "~ stale"},
                 {'s', "s single launches"},
                 {'b', "b beside pictures"},
                 {'?', "? unsettled"}};
    bool measured = false, there[128] = {false};
    for (int i = 0; i < ladder->count; i++) {
        const LiveKernel *row = ladder->kernels[i];
        measured |= row->median_us.source == SOURCE_MEASURED;
        there[(unsigned char)ladder_mark(row)[0]] = true;
    }
    snprintf(note, size, "%s", measured ? "measured" : there['r'] ? "" : "not measured");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(note);
        if (there[(unsigned char)marks[i].mark])
            snprintf(note + length, size - length, "%s%s", length ? ", " : "", marks[i].text);
    }
}
