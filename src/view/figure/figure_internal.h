/* SPDX-License-Identifier: MIT */
/* The parts of a figure and their shared data. The window draws its BEV with them too. */
#pragma once

#include "src/view/figure/figure.h"
#include "src/view/panel/panel.h"

enum { MAX_PANELS = 3 };

/* One BEV picture. `box` is its place on the page. `letter` names it where there are several. */
typedef struct {
    const BevPicture *bev;
    bool baseline; /* the panel shows side B of a comparison */
    Box box;
    const char *letter; /* "A", "B", "A − B"; NULL: the only panel */
} FigurePanel;

typedef struct {
    const FigureSpec *spec;
    const LiveFrame *frame; /* frame of spec->live */
    const Theme *theme;
    const PanelTheme *over; /* of the lines over the picture */
    Slice slice;
    Grid grid; /* grid of the rig in metres; without a rig, in cells */
    double panel_w, panel_h;
    double ring_step_m; /* 0: no rings */
    int stretch;        /* how many times larger heights are drawn (slice.h) */
    int panel_count;
    FigurePanel panels[MAX_PANELS];
} Figure;

/* Makes the data that all parts share: slice, theme, and the grid in metres or cells. */
Figure figure_of(const FigureSpec *spec);

/* Returns the decoded cells of a panel. */
static inline const CellField *panel_field(const FigurePanel *panel) {
    return panel->baseline ? &panel->bev->other : &panel->bev->field;
}

/* Makes the shared data, and also the panels and their sizes. */
Figure figure_prepare(const FigureSpec *spec);

/* Computes the page position of ego coordinates (or cells). */
void panel_point(const Figure *figure, const FigurePanel *panel, double x_m, double y_m, double *px,
                 double *py);
double panel_px_per_m(const Figure *figure); /* 0 without a rig */

/* panel_distances yields the distances from the ego vehicle to the nearest and the farthest cell.
 * panel_ring_step returns the distance between range rings; 0: no rings. */
void panel_distances(const Grid *grid, double *nearest, double *farthest);
double panel_ring_step(const Figure *figure);

/* ---- parts: with pen->measuring they only measure ------------------------------------------- */

/* Return the space of the axes to the left of a panel, and below it. */
double axes_left(bool labelled);
double axes_bottom(void);
void axes_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool labelled);

extern const Rgb truth_lidar; /* colour of the LiDAR dots */

/* Draws the boxes and LiDAR of the moment, clipped to the panel. */
void truth_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);

/* Draws rings, fields of view, outlines and the ego vehicle. */
void overlay_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);
/* Finds where the middle row of an image column starts and points on the ground plane. `direction`
 * is a unit vector. False: the column looks straight up or down. */
bool overlay_column(const Figure *figure, int camera, double u_px, double from_m[2],
                    double direction[2]);

/* Writes each camera's name where the middle of its field of view leaves the panel. */
void names_draw(Pen *pen, const Figure *figure, const FigurePanel *panel);

/* The blocks of the side column, `w` wide, are drawn below `top`. They return their height. */
double header_block(Pen *pen, const Figure *figure, double x, double top, double w);
double lines_block(Pen *pen, const Figure *figure, double x, double top, double w);
double run_block(Pen *pen, const Figure *figure, double x, double top, double w);
/* Draws a panel of the display, if it is visible. `bev`: of that picture. */
double panel_block(Pen *pen, const Figure *figure, const Panel *panel, const BevPicture *bev,
                   double x, double top, double w);

/* Draws the camera views over the whole width. */
double strip_block(Pen *pen, const Figure *figure, double x, double top, double w);

/* ---- backward: these draw nothing for a frame without a loss on single cells ----------------- */

/* Draws the cells of the loss; the picture stays visible through them. `strong`: draws only the
 * cells, and a ring around few cells, so that they are easy to find. */
void loss_draw(Pen *pen, const Figure *figure, const FigurePanel *panel, bool strong);
/* Draws a frame around a feature pixel of the camera whose view is at `box`. */
void pixel_draw(Pen *pen, const LiveFrame *frame, int64_t pixel, Box box);
