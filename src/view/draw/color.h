/* sRGB colours: from linear light, mixed, and measured for contrast. */
#ifndef BEV_COLOR_H
#define BEV_COLOR_H

#include <stdint.h>

typedef struct {
    uint8_t r, g, b;
} Rgb;

Rgb rgb_hex(uint32_t hex); /* 0xRRGGBB */

/* Linear light 0..1 (clamped; NaN counts as 0) to sRGB. */
Rgb rgb_from_linear(double r, double g, double b);

/* t = 0: a, t = 1: b; clamped. Mixed in sRGB, as screens and picture editors do. */
Rgb rgb_mix(Rgb a, Rgb b, double t);

/* Relative luminance 0..1 and contrast ratio 1..21, as WCAG 2 defines them. */
double rgb_luminance(Rgb color);
double rgb_contrast(Rgb a, Rgb b);

#endif
