/* From a spec to panels: decodes them, chooses their colours and their size. */
#include "src/view/bev/slice_content.h"
#include "src/view/draw/ticks.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdlib.h>

/* Space for the BEV: one large panel, or three in a row on a page of at most 2,400 units. */
enum { PANEL_TARGET = 1000, PANEL_MAX = 1100, COMPARE_TARGET = 640, COMPARE_MAX = 720 };
enum { BAND_WIDTH = 24 };

static BevContent content_of(const FigureSpec *spec, const FigureSelection *config) {
    return (BevContent){.nx = spec->nx,
                        .ny = spec->ny,
                        .channels = spec->channels,
                        .pooled = config->pooled,
                        .fp64_original = config->fp64_original,
                        .map = config->map,
                        .embedding = spec->embedding,
                        .channel = spec->channel,
                        .rgb = spec->rgb,
                        .depth = config->map ? config->depth : NULL,
                        .light = spec->light};
}

/* B takes the shown cells, the brightness, the principal components and the ranges of A. */
static bool decode_selections(const FigureSpec *spec, Figure *figure, Pca *pca, Err *err) {
    BevContent shared = content_of(spec, &spec->selections[0]);
    if (!slice_content(&spec->slice, &shared, err))
        return false;
    figure->shown = shared.shown;
    if (spec->view == VIEW_PCA && shared.pooled && !decode_fit_pca(&shared, pca, err))
        return false;
    for (int i = 0; i < spec->selection_count; i++) {
        BevContent content = content_of(spec, &spec->selections[i]);
        content.shown = figure->shown;
        content.pca = pca->axes ? pca : NULL;
        content.full_mass = i ? figure->panels[0].field.full_mass : 0;
        if (i && spec->view == VIEW_RGB)
            content.rgb = figure->panels[0].field.rgb;
        if (!decode_view(spec->view, &content, &figure->panels[i].field, err))
            return false;
        figure->panel_count++;
    }
    return true;
}

static bool decode_panels(const FigureSpec *spec, Figure *figure, Err *err) {
    static const char *const letters[] = {"A", "B", "A \u2212 B"};
    Pca pca = {0};
    bool decoded = decode_selections(spec, figure, &pca, err);
    pca_free(&pca);
    if (!decoded || spec->selection_count < 2)
        return decoded;
    BevContent a = content_of(spec, &spec->selections[0]);
    BevContent b = content_of(spec, &spec->selections[1]);
    a.shown = b.shown = figure->shown;
    if (!decode_difference(spec->view, &a, &b, &figure->panels[2].field, err))
        return false;
    figure->panels[2].difference = true;
    figure->panel_count++;
    for (int i = 0; i < figure->panel_count; i++)
        figure->panels[i].letter = letters[i];
    return true;
}

/* A and B share their range; the difference has its own, around zero. */
static bool choose_ranges(const FigureSpec *spec, Figure *figure, Err *err) {
    if (views[spec->view].unit) {
        const CellField *fields[FIGURE_MAX_SELECTIONS];
        for (int i = 0; i < spec->selection_count; i++)
            fields[i] = &figure->panels[i].field;
        ValueRange range;
        if (spec->range_locked)
            range = range_locked(fields, spec->selection_count, spec->range_lo, spec->range_hi);
        else if (!range_auto(fields, spec->selection_count, &range, err))
            return false;
        for (int i = 0; i < spec->selection_count; i++)
            figure->panels[i].style.range = range;
    }
    if (figure->panel_count < 3)
        return true;
    return range_symmetric(&figure->panels[2].field, &figure->panels[2].style.range, err);
}

static bool render_panels(const FigureSpec *spec, Figure *figure, Err *err) {
    const ViewInfo *view = &views[spec->view];
    for (int i = 0; i < figure->panel_count; i++) {
        FigurePanel *panel = &figure->panels[i];
        const Colormap *map = spec->colormap;
        if (panel->difference)
            map = colormap_find("signed");
        else if (!map && view->colormap)
            map = colormap_find(view->colormap);
        panel->style = raster_style(map, panel->style.range, !spec->no_fill);
        if (!raster_render(&panel->field, &panel->style, &panel->raster, err))
            return false;
    }
    return true;
}

Grid figure_grid(const FigureSpec *spec) {
    if (spec->rig)
        return slice_grid(&spec->slice, &spec->rig->grid);
    int nx = (int)spec->nx, ny = (int)spec->ny;
    return (Grid){.x_max_m = nx, .y_max_m = ny, .nx = nx, .ny = ny};
}

/* Units a metre, so that the panel fits and, where that costs little size, every cell is a whole
 * number of units in both directions. Does not depend on the figure's scale, which must not move
 * anything. */
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

static void size_panels(const FigureSpec *spec, Figure *figure) {
    const Grid *grid = &figure->grid;
    bool compare = figure->panel_count > 1;
    double h_m = grid->x_max_m - grid->x_min_m, w_m = grid->y_max_m - grid->y_min_m;
    double units =
        choose_scale(w_m, h_m, w_m / grid->ny, h_m / grid->nx,
                     compare ? COMPARE_TARGET : PANEL_TARGET, compare ? COMPARE_MAX : PANEL_MAX);
    figure->panel_w = fmax(round(units * w_m), 1);
    figure->stretch = slice_stretch(&spec->slice, grid);
    figure->panel_h = fmax(round(units * h_m * figure->stretch), 1);
    bool above = spec->rig && spec->slice.slice != SLICE_SIDE;
    figure->band = above && !compare ? BAND_WIDTH : 0;
    figure->ring_step_m = above ? panel_ring_step(figure) : 0;
}

/* The colours over the camera views. */
static bool prepare_strip(const FigureSpec *spec, Figure *figure, Err *err) {
    figure->strip = (StripInput){spec->rig, spec->features, spec->channels, spec->cameras,
                                 spec->lidar ? spec->photos : NULL};
    if (!spec->cameras || spec->strip == STRIP_IMAGE)
        return true;
    figure->strip_values = strip_values(&figure->strip, spec->strip, &figure->strip_range, err);
    return figure->strip_values != NULL;
}

bool figure_prepare(const FigureSpec *spec, Figure *figure, Err *err) {
    *figure = (Figure){.spec = spec, .theme = &themes[spec->theme], .grid = figure_grid(spec)};
    return decode_panels(spec, figure, err) && choose_ranges(spec, figure, err) &&
           render_panels(spec, figure, err) && prepare_strip(spec, figure, err) &&
           (size_panels(spec, figure), true);
}

void figure_free(Figure *figure) {
    free(figure->shown);
    free(figure->strip_values);
    for (int i = 0; i < MAX_PANELS; i++) {
        cell_field_free(&figure->panels[i].field);
        image_free(&figure->panels[i].raster);
    }
}

void panel_point(const Figure *figure, const FigurePanel *panel, double x_m, double y_m, double *px,
                 double *py) {
    const Grid *grid = &figure->grid;
    *px = panel->box.x + (grid->y_max_m - y_m) / (grid->y_max_m - grid->y_min_m) * panel->box.w;
    *py = panel->box.y + (grid->x_max_m - x_m) / (grid->x_max_m - grid->x_min_m) * panel->box.h;
}

double panel_px_per_m(const Figure *figure) {
    const Grid *grid = &figure->grid;
    return figure->spec->rig ? figure->panel_w / (grid->y_max_m - grid->y_min_m) : 0;
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
