/* What the panels of the dashboard share. A panel is a row of DashPanel: how high it is at least,
 * how high it would like to be, and how it is drawn into an area. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/bev_picture.h"
#include "src/view/term/cells.h"
#include "src/view/term/spots.h"

/* What a panel draws from. */
typedef struct {
    const State *state;
    const LiveData *live;
    const BevPicture *picture; /* may be NULL: none yet */
    DashSpots *spots;          /* receives what can be clicked; may be NULL */
} PanelData;

typedef struct {
    LessonPanel point; /* what lessons call it */
    int fold;   /* the lowest is left out first when there is no room */
    bool spare; /* also left out where kernels and accuracy would not show all their rows */
    int grow;   /* the lowest is first to get more rows than `height` */
    int height; /* rows, at least */
    int (*want)(const PanelData *data, int width);
    bool (*shown)(const PanelData *data); /* NULL: always */
    void (*draw)(Cells *cells, Area area, const PanelData *data);
} DashPanel;

extern const DashPanel memory_panel, kernels_panel, accuracy_panel, intervals_panel, pipeline_panel,
    model_panel, idea_panel, bev_panel, steps_panel, camera_panel, gradients_panel,
    training_panel, findings_panel, operator_panel;

/* The fixed parts, which are never left out. header_draw returns the rows that it used. */
int header_draw(Cells *cells, Area area, const PanelData *data);
int headline_height(int columns, int rows);
void headline_draw(Cells *cells, Area area, const PanelData *data);
void findings_line_draw(Cells *cells, Area area, const PanelData *data); /* the first, where no panel is */
void log_draw(Cells *cells, Area area, const PanelData *data);
void key_bar_draw(Cells *cells, Area area, const PanelData *data);
void help_draw(Cells *cells, Area area, const PanelData *data);

/* The lesson, and how many rows it would like; the frame around a panel that it points at, drawn
 * where the screen is blank. */
int lesson_want(const PanelData *data, int width);
void lesson_draw(Cells *cells, Area area, const PanelData *data);
void lesson_frame(Cells *cells, Area area);

/* ---- the BEV -------------------------------------------------------------------------------- */

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);

/* ---- pieces --------------------------------------------------------------------------------- */

/* "Title ------------ note": the first line of a panel. Returns the area below. */
Area panel_title(Cells *cells, Area area, const char *title, const char *note);

/* Text broken at spaces into at most area.h rows; the last one ends with an ellipsis where text is
 * left over. Returns the rows used; with `cells` NULL it only counts them. */
int draw_paragraph(Cells *cells, Area area, Ink ink, const char *text);

/* As many figures of a line, separated by commas, as there is room for; cuts `line` at a comma. */
void draw_figure_line(Cells *cells, Area area, Ink ink, char *line);

/* A part of a stacked bar; the texture stands for the ink on screens without colour. */
typedef struct {
    double value;
    Ink ink;
    uint32_t texture;
} Segment;

/* A stacked bar in one row; the full width w stands for `scale`. The limit (NaN: none) is a mark
 * across it. A bar that is longer than the scale ends with an arrow. */
void draw_stack(Cells *cells, int x, int y, int w, const Segment *segments, int count, double scale,
                double limit);

/* The same with one segment. */
void draw_bar(Cells *cells, int x, int y, int w, double value, double scale, Ink ink);

/* The newest `w` values as a curve of eighth blocks, the oldest on the left. */
void draw_sparkline(Cells *cells, int x, int y, int w, const float *values, int count, Ink ink);

/* ---- tables --------------------------------------------------------------------------------- */

/* A column is left out, the highest rank first, until the rest fits. */
typedef struct {
    const char *title;
    int width, rank; /* rank 0: always there */
    bool left;       /* text; else right-aligned figures */
} Column;

enum { TABLE_MAX_COLUMNS = 16 };

typedef struct {
    const Column *columns;
    int count;
    int x[TABLE_MAX_COLUMNS]; /* -1: left out */
    int y;                    /* the row to be written next */
    CellStyle style;          /* of that row */
} Table;

/* Chooses the columns that fit into the area's width and writes their titles. */
void table_begin(Table *table, Cells *cells, Area area, const Column *columns, int count);
bool table_has(const Table *table, int column);
void table_cell(const Table *table, Cells *cells, int column, const char *text);
