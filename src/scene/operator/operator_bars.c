/* SPDX-License-Identifier: MIT */
/* Computes the bars that the display shows of an operator scene, in place of cameras. */
#include "src/scene/operator/operator.h"

#include "src/base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_falling(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

bool operator_bars(const OperatorSpec *spec, const BevMap *map, OperatorBars *bars, Err *err) {
    BarsOf of = operator_kinds[spec->kind].bars;
    int64_t all = of == BARS_SORTED_ROWS ? spec->rows : spec->cells;
    int32_t *uses = calloc((size_t)all, sizeof *uses); /* points of each cell or row */
    *bars = (OperatorBars){.count = all < OPERATOR_BARS ? (int)all : OPERATOR_BARS};
    if (!uses)
        return err_no_memory(err, "bars", "choose fewer points");
    for (int64_t t = 0; t < map->points; t++)
        uses[of == BARS_SORTED_ROWS ? map->ranks_feat[t] : map->ranks_bev[t]]++;
    if (of != BARS_CELLS)
        qsort(uses, (size_t)all, sizeof *uses, compare_falling);
    for (int bar = 0; bar < bars->count; bar++) {
        int64_t first = all * bar / bars->count, end = all * (bar + 1) / bars->count;
        double sum = 0;
        for (int64_t i = first; i < end; i++) {
            sum += uses[i];
            bars->most = uses[i] > bars->most ? uses[i] : bars->most;
        }
        bars->points[bar] = (float)(sum / (double)(end - first));
    }
    free(uses);
    return true;
}

double operator_bar_height(const OperatorBars *bars, int bar) {
    double most = 0;
    for (int i = 0; i < bars->count; i++)
        most = fmax(most, bars->points[i]);
    return most > 0 ? log1p(bars->points[bar]) / log1p(most) : 0;
}

void operator_bars_title(const OperatorSpec *spec, const OperatorBars *bars, char *text,
                         size_t size) {
    const OperatorInfo *info = &operator_kinds[spec->kind];
    snprintf(text, size, "%s: up to %s (log)", info->bars_title,
             text_of_unit(UNIT_COUNT, (double)bars->most).text);
}
