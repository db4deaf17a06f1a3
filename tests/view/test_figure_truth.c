/* The figure is true: directions are right, what is unknown says so, what is broken is counted. */
#include "src/view/figure/figure.h"
#include "tests/view/figure_case.h"
#include "tests/support/tap.h"

#include <math.h>

TAP_SUITE(figure_truth_directions) {
    Subject subject;
    FigureLayout layout;
    subject_open(&subject, &cases[0]);
    if (tap_ok(figure_layout(&subject.spec, &layout, NULL), "directions")) {
        const FigureText *forward = find_text(&layout, "50"), *back = NULL, *left = NULL;
        const FigureText *right = NULL;
        for (size_t i = 0; i < layout.count; i++) { /* the x axis is written first */
            const FigureText *t = &layout.texts[i];
            back = !strcmp(t->text, "\u221250") && !back ? t : back;
            left = !strcmp(t->text, "50") && t != forward ? t : left;
            right = !strcmp(t->text, "\u221250") && t != back ? t : right;
        }
        tap_ok(forward && back && forward->y < back->y && fabs(forward->x - back->x) < 30,
               "x grows upwards");
        tap_ok(left && right && left->x < right->x && fabs(left->y - right->y) < 1,
               "y grows to the left");
        tap_ok(find_text(&layout, "x forward (m) \u2192") &&
                   find_text(&layout, "\u2190 y left (m)"),
               "the axes say so");
        tap_ok(find_text(&layout, "20 m") && find_text(&layout, "50 m"),
               "range rings carry their metres");
        tap_ok(find_text(&layout, "camera-0") && find_text(&layout, "camera-5"),
               "cameras carry their names");
        figure_layout_free(&layout);
    }
    subject_close(&subject);
}

TAP_SUITE(figure_truth_unknown) {
    Subject subject;
    FigureLayout layout;
    subject_open(&subject, &cases[0]);
    FigureSelection *config = &subject.spec.selections[0];
    config->latency_us = 0;
    config->latency_source = SOURCE_UNKNOWN;
    config->device = NULL;
    config->map = NULL;
    subject.spec.table = NULL;
    if (tap_ok(figure_layout(&subject.spec, &layout, NULL), "unknown values")) {
        int unknown = 0;
        for (size_t i = 0; i < layout.count; i++)
            unknown += !strcmp(layout.texts[i].text, "n/a");
        tap_ok(unknown == 5, "device, latency, points, intervals, longest are n/a (%d)", unknown);
        tap_ok(!contains(&layout, "\u00b5s"), "no time is made up");
        figure_layout_free(&layout);
    }
    static const struct {
        FigureSource source;
        const char *text;
    } sources[] = {{SOURCE_MEASURED, "17.3 \u00b5s (measured)"},
                   {SOURCE_RECORDED, "17.3 \u00b5s (recorded)"},
                   {SOURCE_MODEL, "17.3 \u00b5s (model)"}};
    config->latency_us = 17.3;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        config->latency_source = sources[i].source;
        if (!tap_ok(figure_layout(&subject.spec, &layout, NULL), "a source"))
            continue;
        tap_ok(find_text(&layout, sources[i].text) != NULL, "%s", sources[i].text);
        figure_layout_free(&layout);
    }
    subject_close(&subject);
}

TAP_SUITE(figure_truth_broken_counted) {
    Subject subject;
    FigureLayout layout;
    subject_open(&subject, &cases[1]);
    if (tap_ok(figure_layout(&subject.spec, &layout, NULL), "a field with a NaN")) {
        tap_ok(contains(&layout, "not a number: 1, infinite: 0"), "the legend counts it");
        figure_layout_free(&layout);
    }
    subject_close(&subject);
}

/* One hot cell ahead and left of the middle: its colour fills the upper left of the panel. */
TAP_SUITE(figure_truth_hot_cell) {
    const Case c = {"hot cell",   8,     8,     -4,    4,     -4,   4,    1,
                    VIEW_CHANNEL, false, false, false, false, true, false};
    Subject subject;
    Image image;
    subject_open(&subject, &c);
    memset(subject.pooled[0], 0, sizeof(float) * 8 * 8 * CHANNELS);
    subject.pooled[0][(5 * 8 + 6) * CHANNELS] = 1; /* y = 5, x = 6 */
    subject.spec.outlines = false;
    if (tap_ok(figure_image(&subject.spec, &image, NULL), "a picture of one hot cell")) {
        Rgb hot = colormap_at(colormap_find("viridis"), 1);
        double x_sum = 0, y_sum = 0, count = 0;
        for (int y = 0; y < image.h; y++)
            for (int x = 0; x < image.w; x++) {
                Rgb p = image_get(&image, x, y);
                if (p.r == hot.r && p.g == hot.g && p.b == hot.b) {
                    x_sum += x;
                    y_sum += y;
                    count++;
                }
            }
        double cell = 1000.0 / 8;
        tap_ok(count > 0.9 * cell * cell, "is as large as its cell (%.0f pixels)", count);
        tap_ok(x_sum / count < 500 && y_sum / count < 420, "and lies ahead, left (%.0f, %.0f)",
               x_sum / count, y_sum / count);
        image_free(&image);
    }
    subject_close(&subject);
}
