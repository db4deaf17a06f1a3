/* SPDX-License-Identifier: MIT */
#include "src/state/rgb.h"

#include <math.h>
#include <stdio.h>

RgbChoice rgb_from(int64_t first, int64_t channels) {
    RgbChoice rgb = {.channel = {first, first + 1, first + 2}};
    for (int k = 0; channels > 0 && k < 3; k++)
        rgb.channel[k] %= channels;
    return rgb;
}

/* Reads "12" or "12:LOW:HIGH" at the start of `text`; returns its length; 0: neither form. */
static int parse_one(const char *text, RgbChoice *rgb, int k) {
    long long channel;
    int used = 0, more = 0;
    if (text[0] < '0' || text[0] > '9' || sscanf(text, "%6lld%n", &channel, &used) != 1)
        return 0;
    rgb->channel[k] = channel;
    rgb->lo[k] = rgb->hi[k] = 0;
    if (text[used] != ':')
        return used;
    bool ok = sscanf(text + used, ":%lf:%lf%n", &rgb->lo[k], &rgb->hi[k], &more) == 2 &&
              isfinite(rgb->lo[k]) && isfinite(rgb->hi[k]) && rgb->lo[k] < rgb->hi[k];
    return ok ? used + more : 0;
}

bool rgb_parse(const char *text, RgbChoice *rgb) {
    RgbChoice read = {{0}, {0}, {0}};
    for (int k = 0; k < 3; k++) {
        int used = parse_one(text, &read, k);
        if (!used || text[used] != (k < 2 ? ',' : '\0'))
            return false;
        text += used + 1;
    }
    *rgb = read;
    return true;
}
