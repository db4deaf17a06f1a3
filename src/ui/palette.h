/* Any colour as the nearest one that a terminal has. */
#ifndef BEV_PALETTE_H
#define BEV_PALETTE_H

#include "src/view/draw/color.h"

/* Number of the colour in a terminal of `colors` (8, 16, 88, 256 or more). */
int palette_nearest(Rgb color, int colors);

/* Half again as far from its grey: what a picture needs to keep its hues in so few colours. */
Rgb palette_vivid(Rgb color);

#endif
