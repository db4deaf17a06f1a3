/* The figure as PNG and SVG: the same spec gives the same bytes, and a reader understands them. */
#include "src/view/figure/figure.h"
#include "tests/view/figure_case.h"
#include "tests/support/tap.h"

#include <math.h>
#include <unistd.h>

static void test_same_pixels(const Case *c, double scale) {
    Subject subject;
    Image first = {0}, second = {0};
    uint8_t *png = NULL, *again = NULL;
    size_t length = 0, length_again = 0;
    subject_open(&subject, c);
    subject.spec.scale = scale;
    bool drawn =
        figure_image(&subject.spec, &first, NULL) && figure_image(&subject.spec, &second, NULL) &&
        image_png(&first, &png, &length, NULL) && image_png(&second, &again, &length_again, NULL);
    tap_ok(drawn && length == length_again && !memcmp(png, again, length),
           "%s at scale %g: same PNG twice", c->name, scale);
    FigureLayout layout;
    if (tap_ok(figure_layout(&subject.spec, &layout, NULL), "%s: its layout", c->name)) {
        tap_ok(first.w == lround(layout.w * scale) && first.h == lround(layout.h * scale),
               "%s: %d x %d pixels are the page times the scale", c->name, first.w, first.h);
        figure_layout_free(&layout);
    }
    free(png);
    free(again);
    image_free(&first);
    image_free(&second);
    subject_close(&subject);
}

/* Tags that nest and attributes in quotes: what a reader must be able to rely on. */
static bool well_formed(const char *p, const char *end) {
    char stack[64][32];
    int depth = 0, elements = 0;
    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        const char *close = memchr(p, '>', (size_t)(end - p));
        if (!close)
            return false;
        int quotes = 0;
        for (const char *q = p; q < close; q++)
            quotes += *q == '"';
        size_t name = strcspn(p + 1, " />?\n");
        if (quotes % 2 || name >= 32)
            return false;
        if (p[1] == '/') {
            size_t closing = strcspn(p + 2, ">");
            if (!depth || strlen(stack[depth - 1]) != closing ||
                memcmp(stack[--depth], p + 2, closing))
                return false;
        } else if (p[1] != '?' && close[-1] != '/') {
            if (depth == 64)
                return false;
            memcpy(stack[depth], p + 1, name);
            stack[depth++][name] = '\0';
        }
        elements++;
        p = close;
    }
    return depth == 0 && elements > 100;
}

static bool rsvg_reads(const uint8_t *svg, size_t length) {
    char path[] = "/tmp/bevscope-figure-XXXXXX", command[128];
    int file = mkstemp(path);
    if (file < 0)
        return false;
    bool written = write(file, svg, length) == (ssize_t)length;
    close(file);
    snprintf(command, sizeof command, "rsvg-convert %s >/dev/null", path);
    bool read = written && system(command) == 0;
    unlink(path);
    return read;
}

static void test_svg(const Case *c) {
    Subject subject;
    uint8_t *svg = NULL, *again = NULL;
    size_t length = 0, length_again = 0;
    subject_open(&subject, c);
    bool drawn = figure_svg(&subject.spec, &svg, &length, NULL) &&
                 figure_svg(&subject.spec, &again, &length_again, NULL);
    if (tap_ok(drawn, "%s: drawn as SVG", c->name)) {
        tap_ok(length == length_again && !memcmp(svg, again, length), "%s: same SVG twice",
               c->name);
        tap_ok(length > 100 && !memcmp(svg, "<?xml", 5) &&
                   well_formed((char *)svg, (char *)svg + length),
               "%s: well-formed", c->name);
        tap_ok(!well_formed((char *)svg, (char *)svg + length / 2), "%s: but not by half", c->name);
        tap_ok(memmem(svg, length, "data:image/png;base64,", 22) != NULL,
               "%s: carries the grid as a picture", c->name);
        if (system("command -v rsvg-convert >/dev/null 2>&1") != 0)
            tap_skip("rsvg-convert reads it", "rsvg-convert is not installed");
        else
            tap_ok(rsvg_reads(svg, length), "%s: rsvg-convert reads it", c->name);
    }
    free(svg);
    free(again);
    subject_close(&subject);
}

static void test_failures(void) {
    Subject subject;
    Image image;
    uint8_t *svg;
    size_t length;
    Err err;
    subject_open(&subject, &cases[0]);
    subject.spec.embedding = NULL;
    tap_ok(!figure_image(&subject.spec, &image, &err) && !image.rgba &&
               strstr(err.what, "embedding"),
           "a view that cannot be shown is refused");
    tap_ok(!figure_svg(&subject.spec, &svg, &length, &err) && !svg, "as SVG too");
    subject.spec.embedding = &subject.embedding;
    subject.spec.scale = 50;
    tap_ok(!figure_image(&subject.spec, &image, &err) && strstr(err.hint, "scale"),
           "a page too large is refused");
    subject_close(&subject);
}

TAP_SUITE(figure_bytes) {
    test_same_pixels(&cases[0], 1);
    test_same_pixels(&cases[5], 0.6);
    test_svg(&cases[0]);
    test_svg(&cases[5]);
    test_failures();
}
