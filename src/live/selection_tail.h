/* What the selection's launches took since it was selected, each waited for alone, and the sensors
 * of its device meanwhile. */
#pragma once

#include "src/base/tail.h"
#include "src/run/long_run.h"
#include "src/state/live_data.h"

typedef struct {
    Tail tail;
    LongSensors sensors;
    double since_ms; /* when it was selected */
} SelectionTail;

SelectionTail selection_tail_begin(void);

/* Of a selection on that device. */
void selection_tail_fill(const SelectionTail *tail, BevWhere where, LiveTail *live);
