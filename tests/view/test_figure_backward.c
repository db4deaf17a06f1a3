/* The figure of the way back: strips of gradients, the depth bins of a pixel. */
#include "src/view/figure/figure.h"
#include "tests/view/figure_case.h"
#include "tests/support/tap.h"

enum { BINS = 59, FEAT_H = 16, FEAT_W = 44 };

/* Gradients by a fixed rule: those of one camera, and of one bin of the strongest pixel. */
typedef struct {
    uint8_t *inside;
    float *strength, depth[BINS], grad_depth[BINS];
    uint8_t reaches[BINS];
    FigureBackward figure;
} Backward;

static void add_backward(Subject *subject, Backward *backward, int64_t cameras, int cells) {
    int64_t pixels = cameras * FEAT_H * FEAT_W;
    int nx = (int)subject->spec.nx, ny = (int)subject->spec.ny;
    *backward = (Backward){.inside = calloc((size_t)(nx * ny), 1),
                           .strength = calloc((size_t)pixels, sizeof(float))};
    for (int i = 0; i < cells && i < nx * ny; i++)
        backward->inside[i] = 1;
    for (int i = 0; i < FEAT_W; i++)
        backward->strength[(cameras - 1) * FEAT_H * FEAT_W + i] = (float)(i + 1) / FEAT_W;
    for (int d = 0; d < BINS; d++)
        backward->depth[d] = d == 13 ? 0.75F : 0.25F / (BINS - 1);
    backward->grad_depth[13] = -3.25e-4F;
    backward->reaches[13] = 1;
    backward->figure =
        (FigureBackward){.shape = {cameras, BINS, FEAT_H, FEAT_W, CHANNELS, nx, ny, 1},
                         .inside = backward->inside,
                         .strength = backward->strength,
                         .pixel = (cameras - 1) * FEAT_H * FEAT_W + FEAT_W - 1,
                         .depth = backward->depth,
                         .grad_depth = backward->grad_depth,
                         .reaches = backward->reaches};
    subject->spec.backward = &backward->figure;
}

static void test_backward(const Case *base, int cells) {
    Subject subject;
    Backward backward;
    FigureLayout layout;
    Err err = {0};
    Case c = *base;
    int64_t cameras = c.cameras ? c.cameras : 6;
    subject_open(&subject, &c);
    c.cameras = (int)cameras;
    if (!c.strip || !base->cameras)
        add_strip(&subject, &c);
    add_backward(&subject, &backward, cameras, cells);
    if (tap_ok(figure_layout(&subject.spec, &layout, &err), "%s, back: is laid out", c.name)) {
        tap_ok(count_overlaps(&layout) == 0, "%s, back: no two texts overlap", c.name);
        tap_ok(count_outside(&layout) == 0, "%s, back: no text leaves the page", c.name);
        bool metres = subject.spec.rig != NULL;
        tap_ok(contains(&layout, "1 of this pixel\u2019s 59 bins") &&
                   contains(&layout, metres ? "optical axis (m)" : "depth bin") &&
                   contains(&layout, "44 of "),
               "%s, back: what to see is said", c.name);
        figure_layout_free(&layout);
    }
    Image image = {0}, forward = {0};
    subject.spec.scale = 0.6; /* quickly drawn */
    bool drawn = figure_image(&subject.spec, &image, &err);
    subject.spec.backward = NULL;
    drawn = drawn && figure_image(&subject.spec, &forward, &err);
    tap_ok(drawn && image.h >= forward.h, "%s, back: is drawn", c.name);
    image_free(&image);
    image_free(&forward);
    free(backward.inside);
    free(backward.strength);
    subject_close(&subject);
}

TAP_SUITE(figure_backward) {
    for (int i = 0; i < CASE_COUNT; i++)
        if (!cases[i].compare)
            test_backward(&cases[i], i % 2 ? 1 : 700);
}
