/* SPDX-License-Identifier: MIT */
/* The page of `bevscope snapshot`: the BEV, the camera views, the legend, and panels of the
 * display. Pure: the same input gives the same bytes. */
#pragma once

#include "src/view/panel/panel.h"

/* The contents of the page, all borrowed: the state, its frame and their pictures. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture;       /* has bev.baseline, too, if two sides are compared */
    const BevPicture *difference; /* A - B; NULL: nothing is compared */
    const char *scene;            /* the scene's title */
    const char *title;            /* NULL: the result is the title */
    const char *subtitle;         /* NULL: names the view and the kernel */
    bool outlines;                /* draws footprints of the true solids */
    bool table;                   /* draws the panels of all kernels and of the accuracy */
} FigureSpec;

/* ---- the parts of a figure; the window draws its BEV with them ------------------------------- */

enum { MAX_PANELS = 3 };

typedef struct Figure Figure;

/* A panel with a BEV picture. */
typedef struct {
    const Figure *figure;
    const BevPicture *bev;
    bool baseline;      /* the panel shows side B of a comparison */
    Box box;            /* the place on the page */
    const char *letter; /* "A", "B", "A − B"; NULL: the only panel */
} FigurePanel;

struct Figure {
    const FigureSpec *spec;
    const LiveFrame *frame; /* the frame of spec->live */
    const Theme *theme;
    const PanelTheme *over; /* the colours of the lines over the picture */
    Slice slice;
    Grid grid; /* the rig's grid in metres; without a rig, in cells */
    double panel_w, panel_h;
    double ring_step_m; /* 0: no rings */
    int stretch;        /* how many times larger heights are drawn (slice.h) */
    int panel_count;
    FigurePanel panels[MAX_PANELS];
};

/* A figure arranged on its page; it borrows the spec. */
typedef struct {
    PageSpec page;
    Figure figure;
    double strip_top;
    bool blocks_below; /* legends and facts stand below the panels, not beside them */
    double side_x, side_w, side_top;
} FigurePage;

/* Arranges the figure. Returns &page->page; its scale may be changed. */
const PageSpec *figure_page(const FigureSpec *spec, double scale, FigurePage *page);

/* Makes the data that all parts share: slice, theme, and the grid in metres or cells. */
Figure figure_of(const FigureSpec *spec);
/* Computes the page position of ego coordinates (or cells). */
void panel_point(const FigurePanel *panel, double x_m, double y_m, double *px, double *py);
/* Returns the distance between range rings; 0: no rings. */
double panel_ring_step(const Figure *figure);

/* ---- parts ----------------------------------------------------------------------------------- */

/* Draws axes with ticks on all four sides of a panel. */
void axes_draw(Pen *pen, const FigurePanel *panel, bool labelled);
/* Draws boxes and LiDAR of the moment, rings, fields of view, outlines and the ego vehicle. */
void overlay_draw(Pen *pen, const FigurePanel *panel);
/* Writes each camera's name where the middle of its field of view leaves the panel. Few names on a
 * large picture have room beside each other and between the numbers of the rings. */
void names_draw(Pen *pen, const FigurePanel *panel);

/* ---- backward: these draw nothing for a frame without a loss on single cells ----------------- */

/* Draws the cells of the loss, translucent over the picture. `strong`: the cells are opaque with a
 * rim. A few cells then get a ring, so that a reader finds them. */
void loss_draw(Pen *pen, const FigurePanel *panel, bool strong);
