/* SPDX-License-Identifier: MIT */
/* The back end for charts in character cells: lines as Braille dots, bars as blocks. Draws any
 * ChartSpec of src/view/chart/chart.h, also without colour and in ASCII. */
#pragma once

#include "src/view/chart/chart.h"
#include "src/view/panel/sheet.h"
#include "src/view/term/cells.h"

/* Returns the rows that the chart would like to have, title included. */
int chart_cells_want(const ChartSpec *spec);

/* Draws on a sheet of cells: the title with `note` at its end, and the chart. A row names the bars
 * that have no room. */
void chart_cells_draw(Sheet *sheet, Area area, const ChartSpec *spec, const char *note);
