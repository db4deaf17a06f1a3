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

void ladder_note(const Ladder *ladder, char *note, size_t size) {
    bool measured = false, recorded = false, stale = false, unsettled = false;
    for (int i = 0; i < ladder->count; i++) {
        const LiveKernel *row = ladder->kernels[i];
        const char *mark = reading_mark(&row->median_us);
        measured |= row->median_us.source == SOURCE_MEASURED;
        recorded |= mark[0] == 'r';
        stale |= mark[0] == '~';
        unsettled |= row->unsettled && row->median_us.source && !mark[0];
    }
    snprintf(note, size, "%s%s%s%s", measured || recorded ? "" : "not measured",
             measured ? "measured, " : "", recorded ? "r recorded, " : "",
             stale ? "~ stale, " : "");
    if (unsettled)
        snprintf(note + strlen(note), size - strlen(note), "? unsettled");
    size_t length = strlen(note);
    if (length > 1 && note[length - 2] == ',')
        note[length - 2] = '\0';
}
