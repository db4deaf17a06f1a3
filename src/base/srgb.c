/* SPDX-License-Identifier: MIT */
#include "src/base/srgb.h"

#include <math.h>
#include <pthread.h>

enum { STEPS = 4096 };
static double light_of[256];        /* the light of each level */
static double least_of[257];        /* the least light that rounds to each level */
static uint8_t level_of[STEPS + 1]; /* [i]: the level of i / STEPS of full light */
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static double light_formula(double level) {
    double s = level / 255;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static void fill_tables(void) {
    for (int level = 0; level < 256; level++) {
        light_of[level] = light_formula(level);
        least_of[level] = light_formula(level - 0.5);
    }
    least_of[256] = INFINITY;
    for (int i = 0, level = 0; i <= STEPS; i++) {
        while (least_of[level + 1] <= (double)i / STEPS)
            level++;
        level_of[i] = (uint8_t)level;
    }
}

double srgb_light(uint8_t level) {
    pthread_once(&filled, fill_tables);
    return light_of[level];
}

uint8_t srgb_level(double light) {
    const double bounded = fmin(fmax(light, 0), 1); /* fmax makes NaN 0 */
    pthread_once(&filled, fill_tables);
    int level = level_of[(int)(bounded * STEPS)];
    while (least_of[level + 1] <= bounded)
        level++;
    return (uint8_t)level;
}
