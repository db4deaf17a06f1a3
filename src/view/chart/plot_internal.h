/* What the pixel charts of lines and of bars share. Internal to the plot*.c files. */
#pragma once

#include "src/view/chart/chart.h"
#include "src/view/draw/ink.h"

/* Type sizes and distances: of a page of its own, or of a box on a larger page. */
typedef struct {
    double title, body, small;
    double axis_left, axis_bottom; /* room for the labels and titles of the axes */
    double axis_title;             /* from the chart down to the title's baseline */
} PlotType;

typedef struct {
    Pen *pen;
    FigureTheme theme;
    const PlotType *type;
    bool dense; /* a box on a larger page: small type, the legend under the chart */
} PlotFrame;

/* The two kinds of charts, drawn into a box. */
void plot_lines_draw(const PlotFrame *frame, Box box, const ChartSpec *spec);
void plot_bars_draw(const PlotFrame *frame, Box box, const ChartSpec *spec);
/* Height of the chart proper on a page of its own. */
enum { PLOT_LINES_H = 440 };
double plot_bars_height(const ChartSpec *spec);

TextStyle plot_body(const PlotFrame *frame);
TextStyle plot_muted(const PlotFrame *frame);

/* Position of a value in the box; y grows upwards. */
double plot_x(const PlotAxis *axis, Box box, double value);
double plot_y(const PlotAxis *axis, Box box, double value);

void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box);
void plot_draw_y_axis(const PlotFrame *frame, const PlotAxis *axis, Box box);

/* Marks with their labels above the chart, reading upwards, so that they cover nothing. Labels that
 * have no room beside each other move right, as far as the chart goes. At most PLOT_MARKS. */
enum { PLOT_MARKS = 32 };
void plot_draw_marks(const PlotFrame *frame, const PlotAxis *axis, Box box, const PlotMark *marks,
                     int count, double label_h);

/* Height that the labels of marks need. */
double plot_mark_space(const PlotFrame *frame, const PlotMark *marks, int count);

/* Draws title and subtitle at the head of a box; returns the y below them. */
double plot_head(const PlotFrame *frame, Box box, const char *title, const char *subtitle);

/* Draws the note, each of its lines as a paragraph; returns their height. */
double plot_note(const PlotFrame *frame, double x, double y, double w, const char *note);

/* The same height, without drawing. */
double plot_note_height(const PlotFrame *frame, double w, const char *note);

/* Of a page of its own: the room for the note with its margins, as on other pages at least. */
double plot_note_room(const PlotFrame *frame, double w, const char *note);
