/* SPDX-License-Identifier: MIT */
/* How far apart colours look: to usual vision and with simulated colour blindness (Machado,
 * Oliveira and Fernandes 2009, severity 1). */
#pragma once

#include <math.h>
#include <stdint.h>

typedef struct {
    const char *name;
    double matrix[9]; /* linear RGB to linear RGB */
} Vision;

static const Vision visions[] = {
    {"normal", {1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {"protan",
     {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998}},
    {"deutan",
     {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881}},
    {"tritan",
     {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}},
};

typedef struct {
    double l, a, b;
} Lab;

static inline double srgb_linear(uint8_t srgb) {
    double c = srgb / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static inline double lab_curve(double t) {
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static inline Lab lab(const uint8_t color[3], const Vision *vision) {
    double seen[3];
    for (int i = 0; i < 3; i++) {
        const double *row = vision->matrix + 3 * i;
        double sum = row[0] * srgb_linear(color[0]) + row[1] * srgb_linear(color[1]) +
                     row[2] * srgb_linear(color[2]);
        seen[i] = fmin(fmax(sum, 0), 1);
    }
    double x = lab_curve((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047);
    double y = lab_curve(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
    double z = lab_curve((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883);
    return (Lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/* CIELAB distance of two sRGB colours as this vision sees them. */
static inline double vision_apart(const uint8_t a[3], const uint8_t b[3], const Vision *vision) {
    Lab p = lab(a, vision), q = lab(b, vision);
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}
