#include "src/view/term/dash_spots.h"

static bool inside(const Area *area, int column, int row) {
    return column >= area->x && row >= area->y && column < area->x + area->w &&
           row < area->y + area->h;
}

bool dash_cell_at(const DashSpots *spots, int column, int row, double *x, double *y) {
    const Area *bev = &spots->bev;
    if (bev->w <= 0 || bev->h <= 0)
        return false;
    double right = (column + 0.5 - bev->x) / bev->w, down = (row + 0.5 - bev->y) / bev->h;
    *y = spots->y_hi - right * (spots->y_hi - spots->y_lo);
    *x = spots->x_hi - down * (spots->x_hi - spots->x_lo);
    return inside(bev, column, row);
}

int64_t dash_pixel_at(const DashSpots *spots, int column, int row) {
    const Area *camera = &spots->camera;
    if (!inside(camera, column, row) || spots->squares <= 0)
        return -1;
    int64_t w = (column - camera->x) / spots->squares, h = 2 * (row - camera->y) / spots->squares;
    return spots->first_pixel + h * spots->feat_w + w;
}
