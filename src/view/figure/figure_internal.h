/* The parts of a figure and what they share. For the files of this folder, and for the window,
 * which draws its BEV with them. */
#pragma once

#include "src/view/figure/figure.h"
#include "src/view/panel/panel.h"

enum { MAX_PANELS = 3 };

/* One BEV picture. `box` is its place on the page; `letter` names it where there are several. */
typedef struct {
    const BevPicture *bev;
    bool baseline; /* the other half of a comparison, B */
    Box box;
    const char *letter; /* "A", "B", "A − B"; NULL: the only panel */
} FigurePanel;

typedef struct {
    const FigureSpec *spec;
    const LiveFrame *frame; /* of spec->live */
    const Theme *theme;
    Slice slice;
    Grid grid; /* the rig's; without a rig, cells instead of metres */
    double panel_w, panel_h;
    double band;        /* width of the frame that names the cameras; 0: none */
    double ring_step_m; /* 0: no rings */
    int stretch;        /* times that heights are drawn larger: slice.h */
    int panel_count;
    FigurePanel panels[MAX_PANELS];
} Figure;

/* What the parts share: slice, grid in metres or else in cells, theme. */
Figure figure_of(const FigureSpec *spec);

/* The decoded cells of a panel. */
static inline const CellField *panel_field(const FigurePanel *panel) {
    return panel->baseline ? &panel->bev->other : &panel->bev->field;
}

/* The same with the panels and their size. */
Figure figure_prepare(const FigureSpec *spec);

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
double run_block(Pen *pen, const Figure *figure, double x, double top, double w);
/* A panel of the display, where it is shown. */
double panel_block(Pen *pen, const Figure *figure, const Panel *panel, double x, double top,
                   double w);

/* The camera views over the whole width. */
double strip_block(Pen *pen, const Figure *figure, double x, double top, double w);

/* ---- backward: nothing is drawn of a frame that has no loss on single cells ------------------ */

/* The cells of the loss, through which the picture is still seen; `strong`: the cells alone, in a
 * ring where they are too few to be found. */
void loss_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool strong);
/* A frame around a feature pixel of a camera whose view is at `box`. */
void pixel_draw(Pen *pen, const LiveFrame *frame, int64_t pixel, Box box);
