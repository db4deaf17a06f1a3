/* SPDX-License-Identifier: MIT */
/* The surface of a panel: columns and rows of text with bars, curves and signs. Each has the ink of
 * its role. Two back ends draw a sheet: src/view/term/cells_sheet.c in character cells, and
 * src/view/panel/pen_sheet.c with a pen and a proportional font. Spots are the places that answer
 * the mouse, in the units of the screen. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/chart/chart.h"

/* ---- where a figure comes from: source, inputs and date -------------------------------------- */

/* The topics of figures. Each topic is a row of origin.inc. */
typedef enum {
    ORIGIN_NONE,
#define TOPIC(id, ...) ORIGIN_##id,
#include "src/view/panel/origin.inc"
#undef TOPIC
    ORIGIN_COUNT
} OriginTopic;

typedef struct {
    OriginTopic topic;
    const BevKernel *kernel; /* of the figure; NULL: the selection */
    BevDtype dtype;
    const char *word; /* a word of the glossary; NULL or not in the glossary: the topic's word */
} Origin;

enum { ORIGIN_TEXT_MAX = 320 };

/* Writes one or two sentences that begin with the source of a figure: "measured", "recorded",
 * "model", "published", "computed", "set" or "n/a". Returns false if `origin` is NULL. */
bool origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]);

/* ---- places ---------------------------------------------------------------------------------- */

enum { SPOTS_MAX = 128, FIGURES_MAX = 1024 };

/* All zero: nothing can be clicked. */
typedef struct {
    int count;
    struct {
        Box box;
        Command command;
    } list[SPOTS_MAX]; /* chips, heads, rows of tables, cameras, hints on the key bar */
    int figure_count;
    struct {
        Box box;
        Origin origin;
    } figures[FIGURES_MAX];
    Box time;                      /* the time bar; w 0: none */
    double from_s, to_s;           /* the moments at the ends of the time bar */
    Box bev;                       /* the picture seen from above; w 0: none */
    double x_lo, x_hi, y_lo, y_hi; /* cells at the bottom, top, right and left of the picture */
    double wipe_x;                 /* where the picture is divided; NaN: nowhere */
    Box cameras[RIG_MAX_CAMERAS];  /* the camera views; w 0: the view is not shown */
    Box over;                      /* the palette or the help, which hides what lies below */
    int over_spots, over_figures;  /* how many places were noted before `over`: hidden there */
} Spots;

/* Forgets all places; `spots` may be NULL. */
void spots_clear(Spots *spots);

/* Notes that a figure stands in the box. `spots` NULL: does nothing. */
void spots_add_figure(Spots *spots, Box box, const Origin *origin);

/* Whether the point lies on the palette or the help, which float over the panels. */
bool spots_over(const Spots *spots, double x, double y);

/* Returns the feature pixel under a point, (camera * feat_h + h) * feat_w + w, where pixels can be
 * chosen: backward, and where dropped points are shown. -1: none. */
int64_t spots_pixel(const Spots *spots, double x, double y, const State *state,
                    const LiveFrame *frame);
/* Returns the origin of the figure under a point, for origin_text; NULL: no figure. */
const Origin *spots_figure(const Spots *spots, double x, double y);
/* Returns the box under a point, of a spot or else of a figure that is no picture; NULL: none. */
const Box *spots_box(const Spots *spots, double x, double y);
/* Returns the command of the spot under a point; NULL: no spot. */
const Command *spots_at(const Spots *spots, double x, double y);

/* A tooltip for the place under a point. */
enum { TIP_TEXT_MAX = ORIGIN_TEXT_MAX, TIP_LINE_MAX = 3 * TIP_TEXT_MAX };
typedef struct {
    Box box;                    /* the place that the tooltip explains, for an outline */
    bool clickable;             /* a click or a drag does something there */
    char title[128];            /* the control with its value and key, or the word for the figure */
    char help[96];              /* what the control, or a click, does; "": no control */
    char meaning[TIP_TEXT_MAX]; /* a sentence of the glossary; "": none */
    char source[TIP_TEXT_MAX];  /* where the figure comes from; "": no figure */
} Tip;

/* Makes the tooltip of a point. False: nothing lies there, or only a picture. */
bool spots_tip(const Spots *spots, double x, double y, const State *state, const LiveData *live,
               Tip *tip);
/* Writes the tip's texts in one line, the most important ones first. */
void tip_line(const Tip *tip, char *text, size_t size);

/* Whether the point is on the time bar or near. */
bool spots_on_time(const Spots *spots, double x, double y);
/* Returns the command of dragging the time bar to `x`: a step in time. */
Command spots_drag_time(const Spots *spots, double x, const State *state);

/* Returns the command of a right click: opens the palette at the values of the spot's control. */
Command spots_menu(const Spots *spots, double x, double y);
/* Finds the command of the wheel: a step of the spot's control. Returns false without a control. */
bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command);

/* ---- the surface ----------------------------------------------------------------------------- */

/* A part of a stacked bar. Screens without colour draw its texture, a glyph, not its ink. */
typedef struct {
    double value;
    Ink ink;
    uint32_t texture;
} Segment;

typedef struct Sheet Sheet;

/* A back end's functions. Texts longer than `w` columns end with an ellipsis; `text` returns the
 * columns used. The full width of a stack stands for `scale`. `limit` is a mark across the stack;
 * NaN: none. A stack longer than the scale ends with an arrow. Heights of bars are shares of the
 * area's height, -1 to 1. If any height is negative, all bars begin in the middle. */
typedef struct {
    int (*width)(const Sheet *sheet, const char *text);
    int (*text)(Sheet *sheet, int x, int y, int w, CellStyle style, TextAlign align,
                const char *text); /* left or right */
    void (*sign)(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style);
    void (*paper)(Sheet *sheet, Area area, Ink paper);
    void (*title)(Sheet *sheet, Area area, const char *title, const char *note);
    void (*stack)(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                  double limit);
    void (*bars)(Sheet *sheet, Area area, const double *heights, int count, Ink ink);
    void (*frame)(Sheet *sheet, Area area);   /* around the area, where no text stands */
    void (*box)(Sheet *sheet, Area area);     /* blanks the area; the edge lies inside */
    int (*chart_rows)(const ChartSpec *spec); /* rows that a chart wants, with title; NULL: all */
    void (*chart)(Sheet *sheet, Area area, const ChartSpec *spec, const char *note);
    void (*picture)(Sheet *sheet, Area area, const Image *image);
} SheetBackEnd;

struct Sheet {
    const SheetBackEnd *back;
    void *surface; /* the back end's surface */
    int columns, rows;
    double left, top, column_w, row_h; /* place on the screen, and the size of a cell */
    bool color, ascii;                 /* whether there are colours; whether all glyphs are ASCII */
    bool light;                        /* theme */
    bool pixels;                       /* bars and charts are exact and text is proportional */
    bool quiet;                        /* draws and notes nothing, and only finds out sizes */
    int bottom;                        /* of a quiet sheet: the row below the whole layout */
    Spots *spots;                      /* receives what can be clicked; may be NULL */
    Origin origin;                     /* the origin of the figures that are drawn next */
};

enum { SHEET_ROW = 18 }; /* usual height of a row; its text is two thirds as high */

/* Returns a sheet of pixels in a box. Rows are `row_h` high, and columns fill the box's width. */
Sheet pen_sheet(Pen *pen, Box box, double row_h, Spots *spots);
/* Returns a sheet over the area with cells `times` as large. Only sheets of pixels can do so. */
Sheet sheet_magnified(const Sheet *sheet, Area area, double times);

/* Returns a quiet copy of a sheet. A panel laid out on the copy draws nothing: `bottom` tells its
 * rows. */
Sheet sheet_quiet(const Sheet *sheet);

/* Return the area without its first rows, or without its first columns. */
Area area_below(Area area, int rows);
Area area_behind(Area area, int columns);
/* Return the first row, or the first columns, and take them off the area. Without a row left, the
 * returned area has height 0: texts and bars draw nothing there. */
Area area_row(Area *area);
Area area_columns(Area *area, int columns);
Box sheet_box(const Sheet *sheet, Area area);

/* ---- text ----------------------------------------------------------------------------------- */

/* Returns the columns that a text takes. */
int sheet_width(const Sheet *sheet, const char *text);
/* Write a text into the area's first row: sheet_line at the left, sheet_right at the right end.
 * sheet_line returns the columns used. */
int sheet_line(Sheet *sheet, Area area, CellStyle style, const char *text);
void sheet_right(Sheet *sheet, Area area, CellStyle style, const char *text);

/* Returns the first text that `w` columns hold, or else the last text. NULL ends the list. */
const char *sheet_shortened(const Sheet *sheet, int w, const char *const texts[]);
/* Writes a text into the next columns of a row, of which the last one stays blank. */
void sheet_cell(Sheet *sheet, Area *row, int columns, CellStyle style, const char *text);
/* Returns the bytes of the first words that fit into `w` columns; of all words if none fits. */
int sheet_fit(const Sheet *sheet, const char *text, int w);

/* Write a text, broken at spaces, into at most area.h rows. If text is left over, the last row ends
 * with an ellipsis. Return the rows used. */
int sheet_paragraph(Sheet *sheet, Area area, Ink ink, const char *text);
int sheet_wrapped(Sheet *sheet, Area area, CellStyle style, const char *text);
/* Writes a paragraph into the first rows of the area, and takes those rows off the area. */
void sheet_say(Sheet *sheet, Area *area, Ink ink, const char *text);
/* Returns the rows of a paragraph in an area of that width. */
int sheet_paragraph_rows(const Sheet *sheet, Area area, const char *text);

/* Writes as many figures of a line as there is room for. Commas separate figures. Cuts `line`. */
void sheet_figures(Sheet *sheet, Area area, Ink ink, char *line);
/* Cuts figures off the end of a line until `w` columns hold the line or one figure is left. A comma
 * within a number, "1,738", separates no figures. */
void sheet_cut_figures(Sheet *sheet, int w, char *line);

/* Draws the first row of a panel: "Title ------------ note". Returns the area below. */
Area sheet_title(Sheet *sheet, Area area, const char *title, const char *note);
/* Returns the note if the note has room behind the title, else the brief note. */
const char *sheet_note(const Sheet *sheet, Area area, const char *title, const char *note,
                       const char *brief);

/* ---- marks ---------------------------------------------------------------------------------- */

void sheet_sign(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style);
/* Draws a square in an ink, and takes two columns off the row. Screens without colour draw the
 * texture. */
void sheet_key(Sheet *sheet, Area *row, Ink ink, uint32_t texture);
/* Fills an area with the colour `paper`. What is drawn next stands on that colour. */
void sheet_paper(Sheet *sheet, Area area, Ink paper);
void sheet_stack(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                 double limit);
/* Draws a stack of one segment. */
void sheet_bar(Sheet *sheet, Area row, double value, double scale, Ink ink);
void sheet_bars(Sheet *sheet, Area area, const double *heights, int count, Ink ink);
/* Finds the size in square pixels of a picture that fills the area. */
void sheet_pixels(const Sheet *sheet, Area area, int *w, int *h);
/* Draws a picture of that size. */
void sheet_picture(Sheet *sheet, Area area, const Image *image);
enum { CHART_CELLS_LEAST = 8 }; /* rows */
void sheet_chart(Sheet *sheet, Area area, const ChartSpec *spec, const char *note);

/* Sets the origin of what is drawn from now on: texts with a digit, charts and bars are figures of
 * the topic. `kernel` NULL: the selection. */
void sheet_origin(Sheet *sheet, OriginTopic topic, const BevKernel *kernel);
/* Notes the place of a figure that is drawn with signs, and not as a text. */
void sheet_figure(Sheet *sheet, Area area);

/* Makes a click into the area the command. */
void sheet_spot(Sheet *sheet, Area area, Action action, int step, const char *argument);

/* ---- tables --------------------------------------------------------------------------------- */

/* Where a table is too wide, columns are left out, those of the highest rank first. */
typedef struct {
    const char *title;
    int width, rank; /* rank 0: always there */
    bool left;       /* text; else right-aligned figures */
} Column;

enum { TABLE_MAX_COLUMNS = 16 };

typedef struct {
    Sheet *sheet;
    const Column *columns;
    int count;
    int x[TABLE_MAX_COLUMNS]; /* -1: left out */
    int y;                    /* the row to be written next */
    CellStyle style;          /* the style of that row */
    const OriginTopic *topics;
    unsigned filled; /* bit i: a cell of column i has a text */
} Table;

/* Chooses the columns that fit into the area's width and writes their titles. `topics` are the
 * topics of the columns' figures. If `topics` or a topic is NULL, the sheet's topic holds. */
void table_begin(Table *table, Sheet *sheet, Area area, const Column *columns, int count,
                 const OriginTopic *topics);
bool table_has(const Table *table, int column);

/* Writes a row's name. `word` of the glossary explains the name and the figures that follow. */
void table_name(Table *table, int column, const char *text, const char *word);
void table_cell(Table *table, int column, const char *text);
/* Writes a number. The cell of a number that is not finite stays blank. */
void table_number(Table *table, int column, const char *format, double value);
