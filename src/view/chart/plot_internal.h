/* What charts of lines and of bars share. Internal to the plot_*.c files. */
#ifndef BEV_PLOT_INTERNAL_H
#define BEV_PLOT_INTERNAL_H

#include "src/view/draw/page.h"
#include "src/view/chart/plot.h"

enum { PLOT_PAGE_W = 1200, PLOT_NOTE_H = 84 };

/* Type and distances of a page of its own, or of a box on somebody's page. */
typedef struct {
    double title, body, small;
    double axis_left, axis_bottom; /* what labels and titles of the axes take */
    double axis_title;             /* from the chart down to the title's baseline */
} PlotType;

typedef struct {
    Pen *pen;
    FigureTheme theme;
    const PlotType *type;
    bool dense; /* a box on somebody's page, small for a chart */
} PlotFrame;

PlotFrame plot_frame(Pen *pen, FigureTheme theme, bool dense);

/* Of a page of its own: the height of title and subtitle with the margin above, and what lies
 * within the margins of a page of height `h`. */
double plot_page_head(const char *subtitle);
Box plot_page_box(double h);

TextStyle plot_body(const PlotFrame *frame);
TextStyle plot_muted(const PlotFrame *frame);

/* Where a value lies on an axis; y grows upwards. */
double plot_x(const PlotAxis *axis, Box box, double value);
double plot_y(const PlotAxis *axis, Box box, double value);
bool plot_on_axis(const PlotAxis *axis, double value);

void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box);
void plot_draw_y_axis(const PlotFrame *frame, const PlotAxis *axis, Box box);

/* Labels stand above the chart, reading upwards, so that they cover nothing; where they have no
 * room beside each other they move, to the right as far as the chart goes. At most PLOT_MARKS. */
enum { PLOT_MARKS = 32 };
void plot_draw_marks(const PlotFrame *frame, const PlotAxis *axis, Box box, const PlotMark *marks,
                     int count, double label_h);

/* Height that the labels of marks need. */
double plot_mark_space(const PlotFrame *frame, const PlotMark *marks, int count);

/* Title and subtitle at the head of a box; returns the y below. Both return heights with
 * pen->measuring. */
double plot_head(const PlotFrame *frame, Box box, const char *title, const char *subtitle);

/* Paragraphs, a line of the note each; returns their height. */
double plot_note(const PlotFrame *frame, double x, double y, double w, const char *note);

/* The same, measured only. */
double plot_note_height(const PlotFrame *frame, double w, const char *note);

#endif
