/* Legend colours must differ for normal, protan, deutan and tritan vision, on white and on the dark
 * background, measured as CIELAB distances after simulated colour blindness (Machado, Oliveira
 * and Fernandes 2009, severity 1). */
#include "src/scene/world.h"
#include "tests/support/tap.h"

#include <math.h>

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

static double linear(uint8_t srgb) {
    double c = srgb / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double lab_curve(double t) {
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static Lab lab(const uint8_t color[3], const Vision *vision) {
    double seen[3];
    for (int i = 0; i < 3; i++) {
        const double *row = vision->matrix + 3 * i;
        double sum =
            row[0] * linear(color[0]) + row[1] * linear(color[1]) + row[2] * linear(color[2]);
        seen[i] = fmin(fmax(sum, 0), 1);
    }
    double x = lab_curve((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047);
    double y = lab_curve(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
    double z = lab_curve((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883);
    return (Lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double apart(const uint8_t a[3], const uint8_t b[3], const Vision *vision) {
    Lab p = lab(a, vision), q = lab(b, vision);
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}

static void test_pairs(const Vision *vision, double limit) {
    double closest = INFINITY;
    int one = 0, other = 0;
    for (int i = 0; i < CLASS_COUNT; i++)
        for (int j = i + 1; j < CLASS_COUNT; j++) {
            double distance = apart(world_classes[i].color, world_classes[j].color, vision);
            if (distance >= closest)
                continue;
            closest = distance;
            one = i;
            other = j;
        }
    tap_ok(closest >= limit, "%s: closest are %s and %s, %.1f apart", vision->name,
           world_classes[one].name, world_classes[other].name, closest);
}

static void test_background(const Vision *vision, const char *name, const uint8_t background[3]) {
    double closest = INFINITY;
    int which = 0;
    for (int i = 0; i < CLASS_COUNT; i++) {
        double distance = apart(world_classes[i].color, background, vision);
        if (distance < closest) {
            closest = distance;
            which = i;
        }
    }
    tap_ok(closest >= 17, "%s: on %s the closest is %s, %.1f apart", vision->name, name,
           world_classes[which].name, closest);
}

TAP_SUITE(classes) {
    static const uint8_t white[3] = {255, 255, 255}, dark[3] = {16, 20, 24};
    for (size_t i = 0; i < sizeof visions / sizeof *visions; i++) {
        bool rare = strcmp(visions[i].name, "tritan") == 0; /* 1 reader in 10,000 */
        test_pairs(&visions[i], rare ? 11 : 13.5);
        test_background(&visions[i], "white", white);
        test_background(&visions[i], "dark", dark);
    }
    bool named = true;
    for (int i = 0; i < CLASS_COUNT; i++)
        for (int j = 0; j < i; j++)
            named &= strcmp(world_classes[i].name, world_classes[j].name) != 0 &&
                     strcmp(world_classes[i].title, world_classes[j].title) != 0;
    tap_ok(named, "every class has a name and a title of its own");
}
