/* Any colour as the nearest one that a terminal has. */
#ifndef BEV_PALETTE_H
#define BEV_PALETTE_H

#include "src/view/color.h"

/* Number of the colour in a terminal of `colors` (8, 16, 88, 256 or more). */
int palette_nearest(Rgb color, int colors);

#endif
