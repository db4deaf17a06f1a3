/* The parts of the live picture and what they share. Internal to the scene_*.c files. */
#ifndef BEV_WINDOW_INTERNAL_H
#define BEV_WINDOW_INTERNAL_H

#include "src/view/figure/figure_internal.h"
#include "src/view/window/window_image.h"

enum { SCENE_MARGIN = 12, SCENE_GAP = 10, SCENE_SIDE_W = 320, SCENE_LINE = 22 };

extern const Rgb scene_mark; /* the cell looked at and its pixels: like no class, like no map */
extern const Rgb scene_baseline; /* the pinned baseline's bars and curves */
extern const Rgb scene_fault;    /* what went wrong, or was made wrong on purpose */

typedef struct {
    const State *state;
    const LiveData *live;
    const ScenePicture *picture; /* NULL: nothing is computed yet */
    SceneLayout layout;
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the part of the grid in view, and all of it */
} SceneView;

/* The BEV as the parts of the figure know one: its legend, lines and axes are drawn by those. */
bool scene_has_bev(const SceneView *view);
Panel scene_panel(const SceneView *view);

/* A raster with its pixels kept square and crisp; (left, top) is what lies at the box's corner,
 * one raster pixel is px_w x px_h units. */
void scene_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                  double px_h);

/* Position of a cell coordinate in the BEV box. */
void scene_point(const SceneView *view, double x, double y, double *px, double *py);

void scene_draw_header(const SceneView *view);
void scene_draw_strip(const SceneView *view);
void scene_draw_bev(const SceneView *view);      /* its cells */
void scene_draw_over_bev(const SceneView *view); /* what lies over them, and the axes */
void scene_draw_side(const SceneView *view);
void scene_draw_log(const SceneView *view);

/* Whether the state asks for a chart; a pinned cell takes its place. */
bool scene_has_chart(const SceneView *view);
/* In the side column or, where that has no room for it, in the place of the BEV. */
bool scene_chart_fits(const SceneView *view);
void scene_draw_chart(const SceneView *view, Box beside);
void scene_draw_chart_over(const SceneView *view);

/* A bar a rung, taller where there is room; the least height, 0: there is none to show. */
double scene_ladder_height(const SceneView *view);
void scene_draw_ladder(const SceneView *view, Box at);

void scene_draw_keys(const SceneView *view);
void scene_draw_help(const SceneView *view);

/* "12.3 ms measured (stale)": the figure and where it comes from; "n/a" where it is unknown. */
void scene_reading(const Reading *value, char *text, size_t size);

#endif
