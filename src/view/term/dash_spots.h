/* SPDX-License-Identifier: MIT */
/* The dashboard's places for the mouse, in columns and rows of the screen, from 0. */
#pragma once

#include "src/view/panel/sheet.h"

/* All zero: nothing can be clicked. */
typedef struct {
    Spots clicks;                  /* kernels, the camera, hints on the key bar */
    Area bev;                      /* the picture seen from above; w 0: none */
    double x_lo, x_hi, y_lo, y_hi; /* cells in view: bottom, top, right and left edge of `bev` */
    bool has_wipe;                 /* `bev` is divided, */
    int wipe_column;               /* at this column */
    Area camera;                   /* backward: a camera's feature pixels; w 0: none */
    int squares;                   /* columns, and half rows, of one of its pixels */
    int64_t first_pixel, feat_w;   /* the pixel in its upper left corner; pixels a row */
} DashSpots;

/* The feature pixel under the upper half of a sign, as State.pixel; -1: there is none. */
int64_t dash_pixel_at(const DashSpots *spots, int column, int row);
