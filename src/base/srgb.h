/* sRGB levels and the light that they stand for (IEC 61966-2-1). From tables: a picture asks a
 * million times. */
#pragma once

#include <stdint.h>

/* The light of a level, 0 to 1. */
double srgb_light(uint8_t level);

/* The level nearest to a light: below 0 and NaN 0, above 1 255. */
uint8_t srgb_level(double light);
