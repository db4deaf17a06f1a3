/* SPDX-License-Identifier: MIT */
/* Makes the panels of a figure, their shared data and their sizes. */
#include "src/view/draw/ticks.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>

/* The space for the BEV: one large panel, or three in a row on a page of at most 2,400 units. */
enum { PANEL_TARGET = 1000, PANEL_MAX = 1100, COMPARE_TARGET = 640, COMPARE_MAX = 720 };

Figure figure_of(const FigureSpec *spec) {
    const LiveFrame *frame = &spec->live->frame;
    const Slice slice = live_slice(frame, spec->state->job.slice);
    int nx = (int)slice.nx, ny = (int)slice.ny;
    Grid grid = {.x_max_m = nx, .y_max_m = ny, .nx = nx, .ny = ny};
    if (frame->rig)
        grid = slice_grid(&slice, &frame->rig->grid);
    return (Figure){.spec = spec,
                    .frame = frame,
                    .theme = &themes[spec->state->light ? THEME_LIGHT : THEME_DARK],
                    .over = &panel_themes[spec->picture && spec->picture->bev.light],
                    .slice = slice,
                    .grid = grid,
                    .stretch = slice_stretch(&slice, &grid)};
}

/* Returns the units for each metre, so that the panel fits. Every cell is a whole number of units
 * in both directions, where that costs little size. The figure's scale does not matter here. */
static double choose_scale(double w_m, double h_m, double cell_w_m, double cell_h_m, double target,
                           double max) {
    double longest = fmax(w_m, h_m), fallback = target / longest;
    for (int k = (int)floor(max / longest * cell_w_m); k >= 1; k--) {
        double units = k / cell_w_m, other = units * cell_h_m;
        if (units * longest < 0.7 * target)
            break;
        if (units * longest <= max && fabs(other - round(other)) < 1e-6 * other)
            return units;
    }
    return fallback;
}

static void size_panels(Figure *figure) {
    const Grid *grid = &figure->grid;
    bool compare = figure->panel_count > 1;
    double h_m = grid->x_max_m - grid->x_min_m, w_m = grid->y_max_m - grid->y_min_m;
    double units =
        choose_scale(w_m, h_m, w_m / grid->ny, h_m / grid->nx,
                     compare ? COMPARE_TARGET : PANEL_TARGET, compare ? COMPARE_MAX : PANEL_MAX);
    figure->panel_w = fmax(round(units * w_m), 1);
    figure->panel_h = fmax(round(units * h_m * figure->stretch), 1);
    bool above = figure->frame->rig && figure->slice.slice != SLICE_SIDE;
    figure->ring_step_m = above ? panel_ring_step(figure) : 0;
}

Figure figure_prepare(const FigureSpec *spec) {
    Figure figure = figure_of(spec);
    figure.panel_count = spec->difference ? MAX_PANELS : 1;
    for (int i = 0; i < figure.panel_count; i++)
        figure.panels[i].bev = &spec->picture->bev;
    if (spec->difference) {
        figure.panels[0].letter = "A";
        figure.panels[1].letter = "B";
        figure.panels[1].baseline = true;
        figure.panels[2] = (FigurePanel){.bev = spec->difference, .letter = "A \u2212 B"};
    }
    size_panels(&figure);
    return figure;
}

void panel_point(const Figure *figure, const FigurePanel *panel, double x_m, double y_m, double *px,
                 double *py) {
    const Grid *grid = &figure->grid;
    *px = panel->box.x + (grid->y_max_m - y_m) / (grid->y_max_m - grid->y_min_m) * panel->box.w;
    *py = panel->box.y + (grid->x_max_m - x_m) / (grid->x_max_m - grid->x_min_m) * panel->box.h;
}

double panel_px_per_m(const Figure *figure) {
    const Grid *grid = &figure->grid;
    return figure->frame->rig ? figure->panel_w / (grid->y_max_m - grid->y_min_m) : 0;
}

enum { MIN_RING_PX = 72, MAX_RINGS = 64 };

void panel_distances(const Grid *grid, double *nearest, double *farthest) {
    double dx = fmax(fmax(grid->x_min_m, -grid->x_max_m), 0);
    double dy = fmax(fmax(grid->y_min_m, -grid->y_max_m), 0);
    *nearest = hypot(dx, dy);
    *farthest = hypot(fmax(fabs(grid->x_min_m), fabs(grid->x_max_m)),
                      fmax(fabs(grid->y_min_m), fabs(grid->y_max_m)));
}

double panel_ring_step(const Figure *figure) {
    double scale = panel_px_per_m(figure), nearest, farthest;
    if (!(scale > 0))
        return 0;
    double step = ticks_step(MIN_RING_PX / scale, 1);
    panel_distances(&figure->grid, &nearest, &farthest);
    return step < farthest && (farthest - nearest) / step < MAX_RINGS ? step : 0;
}
