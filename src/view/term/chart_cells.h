/* The back end for charts in character cells: lines as Braille dots, bars as blocks. Draws any
 * ChartSpec of src/view/chart/chart.h, also without colour and in ASCII. */
#pragma once

#include "src/view/chart/chart.h"
#include "src/view/panel/sheet.h"
#include "src/view/term/cells.h"

/* Rows that the chart would like to have, title included. */
int chart_cells_want(const ChartSpec *spec);

/* Draws on a sheet of cells: the title with `note` at its end, the chart, and a legend if there is
 * a row for it. Bars that have no room are left out, the strong one last. */
void chart_cells_draw(Sheet *sheet, Area area, const ChartSpec *spec, const char *note);
