/* The parts of a figure and what they share. For the files of this folder, and for the window,
 * which draws its BEV with them. */
#pragma once

#include "src/view/figure/figure.h"
#include "src/view/draw/pen.h"
#include "src/view/bev/raster.h"

enum { MAX_PANELS = 3 };

/* One BEV picture. `box` is the raster on the page; `letter` names it where there are several. */
typedef struct {
    CellField field;
    RasterStyle style;
    Image raster;
    Box box;
    const char *letter; /* "A", "B", "A − B"; NULL: the only panel */
    bool difference;
} FigurePanel;

typedef struct {
    const FigureSpec *spec;
    const Theme *theme;
    Grid grid; /* the rig's; without a rig, cells instead of metres */
    double panel_w, panel_h;
    double band;        /* width of the frame that names the cameras; 0: none */
    double ring_step_m; /* 0: no rings */
    int stretch;        /* times that heights are drawn larger: slice.h */
    int32_t *shown;     /* (cell of the picture): the cell of the grid; NULL: a flat grid */
    int panel_count;
    FigurePanel panels[MAX_PANELS];
    StripInput strip;
    float *strip_values; /* NULL: the strip shows what the cameras saw */
    ValueRange strip_range;
} Figure;

/* Decodes and renders the panels and sizes them. Free with figure_free, also on failure. */
bool figure_prepare(const FigureSpec *spec, Figure *figure, Err *err);
void figure_free(Figure *figure);

/* Without a rig no metres are known: the axes count cells. */
Grid figure_grid(const FigureSpec *spec);

/* "n/a" for NULL. */
const char *known(const char *text);

/* Page position of ego coordinates (or cells). */
void panel_point(const Figure *figure, const FigurePanel *panel, double x_m, double y_m, double *px,
                 double *py);
double panel_px_per_m(const Figure *figure); /* 0 without a rig */

/* From the ego vehicle to the nearest and the farthest cell; from one range ring to the next, 0
 * where there are none. */
void panel_distances(const Grid *grid, double *nearest, double *farthest);
double panel_ring_step(const Figure *figure);

/* ---- parts: with pen->measuring they only measure ------------------------------------------- */

/* Space that the axes take to the left of and below a panel. */
double axes_left(const Figure *figure, bool labelled);
double axes_bottom(const Figure *figure);
void axes_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labelled);

extern const Rgb truth_lidar; /* the dots */

/* Boxes and LiDAR of the moment, cut to the panel. */
void truth_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);

/* Rings, camera wedges, outlines, ego vehicle. */
void overlay_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);
/* Where the middle row of an image column looks from and to on the ground plane, as a unit vector.
 * False: straight up or down. */
bool overlay_column(const Figure *figure, int camera, double u_px, double from_m[2],
                    double direction[2]);

/* The frame around the panel that shows the coverage of each camera. */
void band_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);

/* Blocks of the side column, `w` wide, drawn below `top`; they return their height. */
double header_block(Pen *pen, const Figure *figure, double x, double top, double w);
double legend_block(Pen *pen, const Figure *figure, const FigurePanel *panel, double x, double top,
                    double w);
double overlay_key_block(Pen *pen, const Figure *figure, double x, double top, double w);
double facts_block(Pen *pen, const Figure *figure, double x, double top, double w);
double gradient_block(Pen *pen, const Figure *figure, double x, double top, double w);
double table_block(Pen *pen, const Figure *figure, double x, double top, double w);
double table_width(Pen *pen, const Figure *figure);

/* The camera views over the whole width. */
double strip_block(Pen *pen, const Figure *figure, double x, double top, double w);

/* ---- the way back: they draw nothing where the spec has none -------------------------------- */

/* Lines around the cells of the loss. */
void loss_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);
/* The picture of a camera, lit by gradients. */
bool lit_camera(const FigureSpec *spec, int64_t camera, Image *image, Err *err);
/* A frame around the strongest pixel, where it is one of this camera. */
void strongest_draw(Pen *pen, const FigureSpec *spec, int64_t camera, Box box);
