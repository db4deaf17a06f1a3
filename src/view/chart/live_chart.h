/* SPDX-License-Identifier: MIT */
/* From the live display's state to a chart of the memory model; for terminal and window alike. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/chart/chart.h"

/* Returns the chart that the state asks for. The state's chart is not CHART_NONE, and live->model
 * is known. */
ChartInput chart_live_input(const State *state, const LiveData *live, ChartRoom room,
                            FigureTheme theme);
