/* SPDX-License-Identifier: MIT */
/* What the parts of a chart in pixels share, and the names in charts of lines and dots. */
#pragma once

#include "src/view/chart/chart.h"

/* Type sizes: of a wide page, or of a narrow one and of a box on a larger page. */
typedef struct {
    double title, body, small;
} PlotType;

typedef struct {
    Pen *pen;
    FigureTheme theme;
    const PlotType *type;
    bool boxed;        /* on a larger page: where room is short, the note goes */
    const char *aside; /* muted words at the right of the title; NULL: none */
    bool cells;        /* texts are characters, PLOT_CELL_H high */
} PlotFrame;

enum { PLOT_CELL_H = 16, PLOT_DOT = 5 }; /* a dot's radius: its size tells nothing */

TextStyle plot_muted(const PlotFrame *frame);

/* Draws a text on a patch in the page's colour, so that no line runs through the text. */
void plot_text(const PlotFrame *frame, double x, double baseline, double max_w,
               const TextStyle *style, const char *text);

/* Whether a series is grey, because another one is to be looked at. */
bool plot_is_muted(const ChartSpec *spec, const PlotSeries *series);
Rgb plot_series_color(const PlotFrame *frame, const ChartSpec *spec, const PlotSeries *series);

/* Finds the place of a point in the chart. False: it is beyond the x axis, or has no value. */
bool plot_point(const ChartSpec *spec, Box chart, const PlotSeries *series, int i, double *x,
                double *y);

/* The side on which lines have their names: where their ends are farther apart. */
typedef struct {
    bool left;
    double w; /* room beside the chart */
} PlotSide;

PlotSide plot_names_side(const PlotFrame *frame, const ChartSpec *spec, Box chart);

/* Draws names at the ends of lines, names of dots and of lines that end within the chart, and
 * labels of points. */
void plot_names_draw(const PlotFrame *frame, const ChartSpec *spec, Box chart, PlotSide side);
