/* SPDX-License-Identifier: MIT */
/* The documentation figure of `bevscope snapshot`: a page with the BEV, the camera views, the
 * legend, and panels of the display. Pure: the same input gives the same bytes. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/picture.h"
#include "src/view/draw/page.h"

/* The contents of the page, all borrowed: the state, its frame and their pictures. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture;       /* with `bev.baseline`: A and B, side by side */
    const BevPicture *difference; /* A - B; NULL: nothing is compared */
    const char *scene;            /* its title */
    const char *title;            /* NULL: the result */
    const char *subtitle;         /* NULL: made from the view and its kernel */
    bool outlines;                /* draws footprints of the true solids */
    bool table;                   /* draws the panels of all kernels and of the accuracy */
    double scale;                 /* pixels per unit; 0: 1, about 1,600 pixels wide */
} FigureSpec;

/* Draw the figure as pixels, or as a file in malloc'd memory. */
bool figure_image(const FigureSpec *spec, Image *image, Err *err);
bool figure_file(const FigureSpec *spec, PictureFormat format, uint8_t **bytes, size_t *length,
                 Err *err);

/* Lists where the texts stand. Free with figure_layout_free(). */
bool figure_layout(const FigureSpec *spec, FigureLayout *layout, Err *err);
