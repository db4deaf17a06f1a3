/* Which three channels the view "rgb" shows as red, green and blue, each with its range. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t channel[3];
    double lo[3], hi[3]; /* lo == hi: the range of the channel's own values */
} RgbChoice;

/* Three channels from one on, around the end of `channels` (0: unknown), with their own ranges. */
RgbChoice rgb_from(int64_t first, int64_t channels);

/* Reads "0,1,2" or with ranges "0:0:1,1:0:1,2". False: the text is none of these. */
bool rgb_parse(const char *text, RgbChoice *rgb);
