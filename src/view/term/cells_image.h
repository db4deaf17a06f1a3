/* Cells as a picture, drawn with the DejaVu Sans Mono font: frames of scripts, pictures for the
 * README. Blocks are drawn as rectangles, so that bars and half blocks join without seams. */
#ifndef BEV_CELLS_IMAGE_H
#define BEV_CELLS_IMAGE_H

#include "src/view/term/cells.h"
#include "src/view/draw/image.h"

/* `scale` 1: cells of 9 x 18 pixels. Same cells, same pixels. */
bool cells_image(const Cells *cells, double scale, Image *image, Err *err);

#endif
