/* SPDX-License-Identifier: MIT */
/* Converts between sRGB levels and linear light (IEC 61966-2-1). Tables make this fast. */
#pragma once

#include <stdint.h>

/* Returns the linear light of a level, 0 to 1. */
double srgb_light(uint8_t level);

/* Returns the level nearest to a linear light. Below 0 and NaN give 0, above 1 gives 255. */
uint8_t srgb_level(double light);
