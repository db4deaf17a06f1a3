/* Charts: lines and dots over two axes, and bars. Pure: the same spec gives the same bytes. */
#ifndef BEV_PLOT_H
#define BEV_PLOT_H

#include "src/view/draw/pen.h"

typedef struct {
    const char *title; /* with the unit */
    bool log;
    double lo, hi; /* lo > 0 where log */
} PlotAxis;

typedef struct {
    const char *name;
    const double *x, *y; /* values that are not finite leave a gap */
    int count;
    int color;   /* of plot_color */
    bool dots;   /* single points; else a line */
    bool faint;  /* dashed */
    bool strong; /* the one that the reader is looking for */
} PlotSeries;

/* An upright line through the whole chart, its label above; in ascending order of x. */
typedef struct {
    double x;
    const char *label;
    bool strong;
} PlotMark;

typedef struct {
    const char *title, *subtitle;
    const char *note; /* under the chart: what is a model, what is measured; paragraphs by lines */
    PlotAxis x, y;
    const PlotSeries *series;
    int series_count;
    const PlotMark *marks;
    int mark_count;
    FigureTheme theme;
    double scale; /* pixels per unit; 0: 1 */
} PlotLines;

enum { PLOT_PARTS = 6 };

typedef struct {
    const char *group; /* heading above the bar; NULL: as the bar before */
    const char *label;
    double parts[PLOT_PARTS]; /* stacked, in the order of `part_names`; NaN: absent */
    char text[48];            /* at the bar's end */
    bool faint;
} PlotBar;

typedef struct {
    const char *title, *subtitle, *note;
    PlotAxis x; /* bars that reach beyond hi are cut there, and say so */
    const char *const *part_names;
    int part_count;
    const PlotBar *bars;
    int bar_count;
    const PlotMark *marks;
    int mark_count;
    FigureTheme theme;
    double scale;
} PlotBars;

/* Colours that stay apart for most colour-blind readers, on light and dark pages. */
enum { PLOT_COLORS = 12 };
Rgb plot_color(int index, FigureTheme theme);

/* Draws into a box of somebody's page, in small type, the legend under the chart; what has no room
 * is left out, the note first. */
void plot_lines_draw(Pen *pen, Box box, const PlotLines *spec);
void plot_bars_draw(Pen *pen, Box box, const PlotBars *spec);

bool plot_lines_image(const PlotLines *spec, Image *image, Err *err);
bool plot_lines_svg(const PlotLines *spec, uint8_t **bytes, size_t *length, Err *err);
bool plot_lines_layout(const PlotLines *spec, FigureLayout *layout, Err *err);

bool plot_bars_image(const PlotBars *spec, Image *image, Err *err);
bool plot_bars_svg(const PlotBars *spec, uint8_t **bytes, size_t *length, Err *err);
bool plot_bars_layout(const PlotBars *spec, FigureLayout *layout, Err *err);

#endif
