/* The layout of the figure: for any grid no two texts overlap, and none leaves the page. */
#include "src/view/figure/figure.h"
#include "tests/view/figure_case.h"
#include "tests/support/tap.h"

static void test_layout(const Case *c) {
    Subject subject;
    FigureLayout layout;
    Err err = {0};
    subject_open(&subject, c);
    if (tap_ok(figure_layout(&subject.spec, &layout, &err), "%s: is laid out", c->name)) {
        tap_ok(layout.count > 20, "%s: has %zu texts", c->name, layout.count);
        tap_ok(count_overlaps(&layout) == 0, "%s: no two texts overlap", c->name);
        tap_ok(count_outside(&layout) == 0, "%s: no text leaves the page", c->name);
        tap_ok(layout.w <= 2400 && layout.w >= 1000, "%s: %.0f wide", c->name, layout.w);
        if (c->long_names)
            tap_ok(contains(&layout, "\u2026"), "%s: are cut with an ellipsis", c->name);
        figure_layout_free(&layout);
    } else {
        tap_note("%s: %s", err.where, err.what);
    }
    subject_close(&subject);
}

/* The detector itself: two texts moved onto each other, one moved off the page. */
static void test_detector(void) {
    Subject subject;
    FigureLayout layout;
    subject_open(&subject, &cases[0]);
    if (tap_ok(figure_layout(&subject.spec, &layout, NULL), "a layout to spoil")) {
        layout.texts[3].x = layout.texts[7].x + 1;
        layout.texts[3].y = layout.texts[7].y + 1;
        tap_ok(count_overlaps(&layout) > 0, "an overlap is found");
        layout.texts[3].x = layout.w;
        tap_ok(count_outside(&layout) == 1, "a text off the page is found");
        figure_layout_free(&layout);
    }
    subject_close(&subject);
    figure_layout_free(NULL);
}

TAP_SUITE(figure_layout) {
    for (int i = 0; i < CASE_COUNT; i++)
        test_layout(&cases[i]);
    test_detector();
}
