/* SPDX-License-Identifier: MIT */
/* What the pixel charts of lines and of bars share. Internal to the plot*.c files. */
#pragma once

#include "src/view/chart/chart.h"
#include "src/view/draw/ink.h"

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
    bool cells;        /* texts are characters, CELL_H high */
} PlotFrame;

enum { CELL_H = 16 };

/* Draw the two kinds of charts into a box. */
void plot_lines_draw(const PlotFrame *frame, Box box, const ChartSpec *spec);
void plot_bars_draw(const PlotFrame *frame, Box box, const ChartSpec *spec);
/* Returns the height of the rows on a page of its own. */
double plot_bars_height(const ChartSpec *spec);

TextStyle plot_body(const PlotFrame *frame);
TextStyle plot_muted(const PlotFrame *frame);
/* Returns the ink of the selection or of the baseline; else `usual`. */
Rgb plot_role(const PlotFrame *frame, bool strong, bool baseline, Rgb usual);

/* Returns the position of a value in the box; y grows upwards. */
double plot_x(const PlotAxis *axis, Box box, double value);
double plot_y(const PlotAxis *axis, Box box, double value);

/* Returns the height of the labels and the title under a chart. */
double plot_axis_height(const PlotFrame *frame);
void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box, Box whole);

/* Draws a text on a patch in the page's colour, so that no line runs through the text. */
void plot_text(const PlotFrame *frame, double x, double baseline, double max_w,
               const TextStyle *style, const char *text);

/* Marks stand in the chart: a vertical line, which ends above the data at its label. Labels that
 * would touch stand below each other, and none goes beyond `right`. The band above the data, whose
 * x axis goes from `x` to x + w, has plot_mark_band() of height. */
double plot_mark_band(const PlotFrame *frame, const ChartSpec *spec, double x, double w,
                      double right);
void plot_draw_marks(const PlotFrame *frame, const ChartSpec *spec, Box chart, double right);

/* Draws the names of parts in their colours, or of the series of several dots; a line ends where
 * the box does. Returns the height, 0 where there is nothing to tell apart. */
double plot_keys(const PlotFrame *frame, const ChartSpec *spec, Box box, double y);

void plot_dot(const PlotFrame *frame, double x, double y, double radius, Rgb color, bool hollow);

/* Draws title and subtitle at the head of a box; returns the y below them. */
double plot_head(const PlotFrame *frame, Box box, const ChartSpec *spec);

/* Draws the note, each of its lines as a paragraph; returns their height. */
double plot_note(const PlotFrame *frame, double x, double y, double w, const char *note);

/* Returns the height of the note, without drawing it. */
double plot_note_height(const PlotFrame *frame, double w, const char *note);
