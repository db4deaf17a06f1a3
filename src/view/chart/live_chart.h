/* SPDX-License-Identifier: MIT */
/* Makes the input of a chart from the live display's state, for terminal and window. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/chart/chart.h"

/* Returns the input of the chart that the state asks for. `live->model` is known. If the state's
 * chart is CHART_NONE, the caller sets `chart`. */
ChartInput chart_live_input(const State *state, const LiveData *live, ChartRoom room,
                            FigureTheme theme);
