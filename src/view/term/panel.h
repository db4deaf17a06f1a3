/* What the panels of the dashboard share. A panel is a small file with one row: how tall it is at
 * least, how tall it would like to be, and how it is drawn into an area. */
#ifndef BEV_PANEL_H
#define BEV_PANEL_H

#include "src/state/live_data.h"
#include "src/view/bev/bev_picture.h"
#include "src/view/term/cells.h"

/* What a panel may show. */
typedef struct {
    const State *state;
    const LiveData *live;
    const BevPicture *picture; /* NULL: there is none yet */
} Show;

typedef struct {
    const char *name;
    int fold;   /* the lowest folds away first when there is no room */
    bool spare; /* folds away, too, where panels that grow first could not show all they have */
    int grow;   /* the lowest gets rows beyond its height first */
    int height; /* at least */
    int (*want)(const Show *show, int width);
    bool (*shown)(const Show *show); /* NULL: always */
    void (*draw)(Cells *cells, Area area, const Show *show);
} DashPanel;

extern const DashPanel memory_panel, kernels_panel, accuracy_panel, intervals_panel, pipeline_panel,
    model_panel, idea_panel, bev_panel;

/* The fixed parts; they fold nothing and return the rows they used. */
int header_draw(Cells *cells, Area area, const Show *show);
int headline_height(int columns, int rows);
void headline_draw(Cells *cells, Area area, const Show *show);
void log_draw(Cells *cells, Area area, const Show *show);
void key_bar_draw(Cells *cells, Area area, const Show *show);
void help_draw(Cells *cells, Area area, const Show *show);

/* ---- the BEV --------------------------------------------------------------------------------- */

/* Draws the part of the picture that the viewport shows, as large as it fits into `area` with
 * square grid cells, with ego vehicle, cursor and pinned cell. Returns the area used. */
Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state);

/* The grid cell shown at column x, row y of an area that bev_cells_draw returned; false outside. */
bool bev_cells_at(Area used, const State *state, int x, int y, int64_t *cell_x, int64_t *cell_y);

/* ---- pieces ---------------------------------------------------------------------------------- */

/* "Title ------------ note": the first line of a panel. Returns the area below. */
Area panel_title(Cells *cells, Area area, const char *title, const char *note);

/* Text broken at spaces, in at most area.h rows; what is left over ends with an ellipsis. Returns
 * the rows used; without cells they are only counted. */
int draw_paragraph(Cells *cells, Area area, Ink ink, const char *text);

/* Colours tensors and stages apart with a texture, too, for screens without colour. */
typedef struct {
    double value;
    Ink ink;
    uint32_t texture;
} Segment;

/* A stacked bar in one row: `scale` is what the full width w stands for. The limit (NaN: none) is a
 * mark across it. What does not fit ends with an arrow. */
void draw_stack(Cells *cells, int x, int y, int w, const Segment *segments, int count, double scale,
                double limit);

/* The same with one segment. */
void draw_bar(Cells *cells, int x, int y, int w, double value, double scale, Ink ink);

/* The newest `w` values as a curve of eighth blocks, the oldest on the left. */
void draw_sparkline(Cells *cells, int x, int y, int w, const float *values, int count, Ink ink);

/* ---- tables ---------------------------------------------------------------------------------- */

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

/* Chooses the columns for the area's width and writes their titles. */
void table_begin(Table *table, Cells *cells, Area area, const Column *columns, int count);
bool table_has(const Table *table, int column);
void table_cell(const Table *table, Cells *cells, int column, const char *text);

#endif
