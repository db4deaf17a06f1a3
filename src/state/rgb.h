/* SPDX-License-Identifier: MIT */
/* The three channels that the view "rgb" shows as red, green and blue, with their ranges. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t channel[3];
    double lo[3], hi[3]; /* lo == hi: the range of the channel's own values */
} RgbChoice;

/* Returns three channels from `first` on with their own ranges, continued from 0 after the last of
 * `channels` (0: unknown). */
RgbChoice rgb_from(int64_t first, int64_t channels);

/* Reads "0,1,2", or channels with ranges "0:0:1,1:0:1,2". Returns false for any other text. */
bool rgb_parse(const char *text, RgbChoice *rgb);
