/* The documentation figure: a page with the BEV, the camera views, the legend, and panels of the
 * display. `bevscope snapshot` writes it. Pure: the same input gives the same bytes. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/picture.h"
#include "src/view/draw/pen.h"

/* What the page shows, all of it borrowed: the state with its frame, and the pictures of them. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture;       /* with `bev.baseline`: A and B, side by side */
    const BevPicture *difference; /* A - B; NULL: nothing is compared */
    const char *title;            /* of the scene */
    const char *subtitle;         /* NULL: made from the view and its kernel */
    bool outlines;                /* footprints of the true solids */
    bool table;                   /* the panels of all kernels and of the accuracy */
    double scale;                 /* pixels per unit; 0: 1, about 1,600 pixels wide */
} FigureSpec;

/* The figure as pixels, or as a file, PNG or SVG, in malloc'd memory. */
bool figure_image(const FigureSpec *spec, Image *image, Err *err);
bool figure_file(const FigureSpec *spec, bool svg, uint8_t **bytes, size_t *length, Err *err);

/* Where its texts stand; free with figure_layout_free(). */
bool figure_layout(const FigureSpec *spec, FigureLayout *layout, Err *err);
