/* SPDX-License-Identifier: MIT */
/* Charts. A ChartSpec has the content of a chart as plain values, and nothing about its drawing.
 * Two back ends draw any spec: plot_*() here in pixels, src/view/term/cells_sheet.c in character
 * cells.
 *
 * To add a chart of the memory model
 *   1. a row of CHARTS (src/cachesim/memory_model.h). The control `chart`, `bevscope plot` and what
 *      is replayed follow the row. A source other than the model is a topic of
 *      src/view/panel/origin.inc and the field `source` of the spec;
 *   2. charts.c: a function that fills the spec, and its line of fill_chart[]. Both back ends draw
 *      the spec. New data is a field of MemoryModel, which live/live_model.c and cli/plots.c set.
 * tests/view/test_chart.c fails while a step is missing. The same input gives the same bytes. */
#pragma once

#include "src/cachesim/memory_model.h"
#include "src/view/draw/pen.h"

/* ---- what a chart consists of --------------------------------------------------------------- */

typedef struct {
    const char *title; /* with the unit */
    bool log;
    double lo, hi;    /* lo > 0 where log */
    const char *unit; /* beside the last label in character cells; NULL: none */
} PlotAxis;

typedef struct {
    const char *name;
    const double *x, *y; /* values that are not finite leave a gap */
    int count;
    int color;                 /* index for plot_color() */
    bool dots;                 /* single points; else a line */
    bool faint;                /* dashed; of dots: hollow */
    bool strong;               /* the selection: the reader looks at this series */
    bool baseline;             /* the selection is compared with this series */
    bool peer;                 /* grey where another series is strong */
    const char *const *labels; /* (count) beside the points; NULL: none */
} PlotSeries;

PlotSeries plot_series(const char *name, const double *x, const double *y, int count, int color);

/* A vertical line through the whole chart, with a label at the top. Marks are sorted by x. */
typedef struct {
    double x;
    const char *label;
    bool strong;
} PlotMark;

enum { PLOT_PARTS = 6, BAR_TEXT = 96, ALL_PIECES = 8 };

typedef struct {
    const char *group; /* heading above the bar; NULL: the bar belongs to the group before it */
    const char *label;
    double parts[PLOT_PARTS];  /* stacked, in the order of ChartSpec.part_names; NaN, 0: absent */
    double tick;               /* where a hollow tick stands; 0: none */
    char text[BAR_TEXT];       /* at the bar's end; pieces after commas are dropped to save room */
    const TimelineSpan *spans; /* (span_count), drawn instead of `parts`: a lane of a time line */
    int span_count, span_part; /* the colour is that of a part */
    bool strong;               /* the selection */
    bool baseline;             /* the selection is compared with this bar */
} PlotBar;

/* Lines and dots over two axes, or bars along the x axis. All pointers are borrowed. */
typedef struct {
    const char *title, *subtitle;
    const char *note;   /* under the chart: what is model, what is measured; a paragraph a line */
    const char *source; /* of the figures, in a few words; NULL: the model */
    PlotAxis x, y;      /* bars end at x.hi with a sign that they go on; y is for lines only */
    const PlotSeries *series;
    int series_count;
    const char *const *part_names; /* (part_count) */
    int part_count;                /* 0: a chart of lines */
    const PlotBar *bars;
    int bar_count;
    const Ink *part_inks;  /* inks of parts with their names in them; NULL: plot_inks */
    const char *tick_name; /* the meaning of the hollow ticks; NULL: there are none */
    bool zero;             /* the lower edge of a logarithmic y axis has the label 0 */
    bool meets;            /* lines have a dot where they meet a strong mark */
    const PlotMark *marks;
    int mark_count;
    FigureTheme theme;
} ChartSpec;

void chart_sort_marks(PlotMark *marks, int count);

/* Returns the first `pieces` pieces of a bar's text. Commas separate pieces. */
ShortText chart_bar_text(const PlotBar *bar, int pieces);
/* Returns where a bar ends: the sum of its parts, or the end of its last span. */
double chart_bar_end(const ChartSpec *spec, const PlotBar *bar);
/* Returns the ink of a part. Bars of one part are grey, except the strong one and the baseline. */
Ink chart_part_ink(const ChartSpec *spec, const PlotBar *bar, int part);

/* Returns the value of a line at x. NaN: the line does not reach x. */
double chart_crossing(const ChartSpec *spec, const PlotSeries *series, double x);
/* Returns where a value lies on an axis: 0 at lo, 1 at hi. */
double chart_along(const PlotAxis *axis, double value);

/* ---- charts of the memory model ------------------------------------------------------------- */

/* The room for a chart, which decides the length of its texts. */
typedef enum {
    ROOM_PAGE, /* a page of its own: `bevscope plot`, the report */
    ROOM_BOX,  /* beside other things in the window */
    ROOM_LOW   /* few rows: a low window, the terminal */
} ChartRoom;

/* The inputs of a chart of the memory model. All pointers are borrowed. */
typedef struct {
    Chart chart; /* not CHART_NONE */
    ChartRoom room;
    const char *scene;
    const MemoryModel *model;
    int gpu;        /* the chosen GPU of the model */
    GpuEdit edit;   /* the user's changes to that GPU */
    unsigned asked; /* bit i: GPU i of the model stands out, and a page has bars for that GPU */
    const BevKernel *kernel, *baseline; /* the selection and its baseline; or NULL */
    double rel_l2[BEV_DTYPE_COUNT];     /* error of each format; NaN: unknown */
    const char *scales;                 /* where the scales of formats come from: ranges_label() */
    FigureTheme theme;
} ChartInput;

/* Makes the spec of a chart, which borrows from the input; free() it. NULL: no memory. */
ChartSpec *chart_make(const ChartInput *input, Err *err);

/* ---- the back end for pixels ---------------------------------------------------------------- */

/* The inks of parts, the same in pixels and in cells. */
enum { PLOT_COLORS = 5 };
extern const Ink plot_inks[PLOT_COLORS];
Rgb plot_color(int index, FigureTheme theme);

/* Draws a chart into a box of a larger page, in small type. `aside` stands at the right of the
 * title. Where room is short, the note is left out. */
void plot_draw(Pen *pen, Box box, const ChartSpec *spec, const char *aside);

/* Draws lines and dots for a screen of characters, which are 8 x 16 units large. Title, axis
 * titles, note and weak marks are left out. Texts are only noted in the layout of the pen. */
void plot_cells(Pen *pen, Box box, const ChartSpec *spec);

/* How a chart is written into a file. Type has the same size in pages of every width. */
typedef struct {
    PictureFormat format;
    double w, scale; /* width in units of 1/96 inch, 0: PLOT_W; pixels per unit, 0: 1 */
} PictureFile;
enum { PLOT_W = 1200 };

/* A chart as a page of its own. The page borrows the spec. */
typedef struct {
    PageSpec page;
    const ChartSpec *spec;
} PlotPage;

/* Makes a page of the width `w`, 0: PLOT_W, as high as its contents. Returns &plot->page. */
const PageSpec *plot_page(const ChartSpec *spec, double w, double scale, PlotPage *plot);
