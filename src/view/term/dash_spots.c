/* SPDX-License-Identifier: MIT */
#include "src/view/term/dash_spots.h"

static bool inside(const Area *area, int column, int row) {
    return column >= area->x && row >= area->y && column < area->x + area->w &&
           row < area->y + area->h;
}

int64_t dash_pixel_at(const DashSpots *spots, int column, int row) {
    const Area *camera = &spots->camera;
    if (!inside(camera, column, row) || spots->squares <= 0)
        return -1;
    int64_t w = (column - camera->x) / spots->squares, h = 2 * (row - camera->y) / spots->squares;
    return spots->first_pixel + h * spots->feat_w + w;
}
