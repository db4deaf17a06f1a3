#include "src/view/draw/color.h"

#include <math.h>

Rgb rgb_hex(uint32_t hex) {
    return (Rgb){(uint8_t)(hex >> 16), (uint8_t)(hex >> 8), (uint8_t)hex};
}

static double clamp01(double value) {
    return value > 0 ? (value < 1 ? value : 1) : 0; /* NaN compares false: 0 */
}

static uint8_t encode(double linear) {
    double v = clamp01(linear);
    double s = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
    return (uint8_t)lround(255 * s);
}

static double decode(uint8_t code) {
    double s = code / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

Rgb rgb_from_linear(double r, double g, double b) {
    return (Rgb){encode(r), encode(g), encode(b)};
}

static uint8_t mix(uint8_t a, uint8_t b, double t) {
    return (uint8_t)lround(a + (b - a) * t);
}

Rgb rgb_mix(Rgb a, Rgb b, double t) {
    double u = clamp01(t);
    return (Rgb){mix(a.r, b.r, u), mix(a.g, b.g, u), mix(a.b, b.b, u)};
}

double rgb_luminance(Rgb color) {
    return 0.2126 * decode(color.r) + 0.7152 * decode(color.g) + 0.0722 * decode(color.b);
}

double rgb_contrast(Rgb a, Rgb b) {
    double la = rgb_luminance(a) + 0.05, lb = rgb_luminance(b) + 0.05;
    return la > lb ? la / lb : lb / la;
}
