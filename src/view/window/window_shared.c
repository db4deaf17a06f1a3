/* SPDX-License-Identifier: MIT */
/* Functions that the parts of the window share: marks, places, rasters, the BEV as a panel. */
#include "src/view/window/window_internal.h"

const Rgb window_mark = {255, 196, 0};

void window_point(const WindowView *view, double x, double y, double *px, double *py) {
    const WindowLayout *at = &view->layout;
    *px = at->bev.x + (at->y_hi - y) / (at->y_hi - at->y_lo) * at->bev.w;
    *py = at->bev.y + (at->x_hi - x) / (at->x_hi - at->x_lo) * at->bev.h;
}

void window_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                   double px_h) {
    cairo_surface_t *surface = pen_surface(image);
    pen_clip(pen, box);
    cairo_translate(pen->cr, box.x, box.y);
    cairo_scale(pen->cr, px_w, px_h);
    cairo_set_source_surface(pen->cr, surface, -left, -top);
    cairo_pattern_set_filter(cairo_get_source(pen->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(pen->cr);
    cairo_restore(pen->cr);
    cairo_surface_destroy(surface);
}

bool window_has_bev(const WindowView *view) {
    return view->picture && view->picture->bev.ready;
}

FigurePanel window_panel(const WindowView *view) {
    return (FigurePanel){.bev = &view->picture->bev, .box = view->layout.bev};
}
