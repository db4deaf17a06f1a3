/* SPDX-License-Identifier: MIT */
/* Figures of made-up scenes of every shape: no two texts overlap and none leaves the page;
 * directions are right, what is unknown says so, what is broken is counted; strips of gradients;
 * a reader understands PNG and SVG. That they are the same twice: tests/cli/test_cli.sh. */
#include "src/base/ref.h"
#include "src/scene/scatter.h"
#include "src/view/figure/figure.h"
#include "tests/support/live_fixture.h"
#include "tests/view/page_texts.h"
#include "tests/view/view_check.h"

#include <unistd.h>

enum { CHANNELS = 16, BINS = 59, FEAT_H = 16, FEAT_W = 44 };

/* Everything that a spec borrows. */
typedef struct {
    State state;
    LiveData live;
    Picture *picture;
    BevPicture difference;
    Rig rig;
    World world;
    Solid solids[2];
    Embedding embedding;
    Features features;
    Photos photos;
    CameraViews cameras;
    BevMap maps[2];
    float *pooled[2];
    double *fp64_original;
    GridLoss loss;
    float *grad_depth, *grad_feat;
    FigureSpec spec;
} Subject;

static Subject subject;     /* the figure that a check looks at */
static FigureLayout layout; /* of the subject */
static Err err;

/* What a case has; BROKEN: one value is a NaN. TABLE: that of the kernels. */
enum { COMPARE = 1, STRIP = 2, TABLE = 4, LONG_NAMES = 8, NO_MAP = 16, BROKEN = 32 };

typedef struct {
    const char *name;
    int nx, ny;
    double x_min, x_max, y_min, y_max; /* metres */
    int cameras;                       /* 0: no rig */
    ViewKind view;
    unsigned has;
} Case;

static const Case cases[] = {
    {"square", 200, 200, -54, 54, -54, 54, 6, VIEW_COLOR, STRIP | TABLE},
    {"classes", 200, 200, -54, 54, -54, 54, 6, VIEW_CLASS, TABLE | BROKEN},
    {"fine", 360, 360, -54, 54, -54, 54, 6, VIEW_POINTS, TABLE},
    {"fine, compared", 360, 360, -54, 54, -54, 54, 6, VIEW_NORM, COMPARE | STRIP | TABLE},
    {"tall", 240, 108, -6, 90, -30, 24, 3, VIEW_PCA, STRIP | TABLE | BROKEN},
    {"tall, compared", 240, 108, -6, 90, -30, 24, 3, VIEW_ERROR, COMPARE | TABLE | BROKEN},
    {"wide", 40, 300, -10, 10, -60, 60, 6, VIEW_CHANNEL, STRIP | TABLE},
    {"wide, compared", 40, 300, -10, 10, -60, 60, 6, VIEW_CLASS, COMPARE | STRIP},
    {"toy", 3, 5, 1, 7, -2.5, 2.5, 1, VIEW_POINTS, STRIP | TABLE},
    {"toy, compared", 3, 5, 1, 7, -2.5, 2.5, 1, VIEW_COLOR, COMPARE | STRIP | TABLE | BROKEN},
    {"one cell", 1, 1, -50, 50, -50, 50, 6, VIEW_NORM, TABLE},
    {"one row", 2, 200, -0.5, 0.5, -50, 50, 6, VIEW_NORM, TABLE},
    {"one column", 200, 2, -50, 50, -0.5, 0.5, 6, VIEW_COLOR, STRIP | TABLE},
    {"far off", 100, 100, 20, 70, 10, 60, 6, VIEW_CLASS, TABLE},
    {"centimetres", 50, 50, -0.01, 0.01, -0.01, 0.01, 2, VIEW_ERROR, 0},
    {"kilometres", 64, 64, -9000, 9000, -9000, 9000, 6, VIEW_NORM, 0},
    {"without a rig", 128, 96, 0, 1, 0, 1, 0, VIEW_NORM, TABLE},
    {"without a rig, compared", 128, 96, 0, 1, 0, 1, 0, VIEW_ERROR, COMPARE | NO_MAP},
    {"32 cameras", 200, 200, -54, 54, -54, 54, 32, VIEW_COLOR, STRIP},
    {"long names", 200, 200, -54, 54, -54, 54, 6, VIEW_CLASS, STRIP | TABLE | LONG_NAMES | NO_MAP},
    {"long names, compared", 3, 5, 1, 7, -2.5, 2.5, 32, VIEW_ERROR,
     COMPARE | STRIP | TABLE | LONG_NAMES | NO_MAP | BROKEN},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

static const char long_name[] =
    "a name that goes on and on, as names from exported experiments do, with a checkpoint, a date "
    "and a configuration in it, and no end in sight even here";

static void add_rig_and_world(const Case *c) {
    Rig *rig = &subject.rig;
    rig->camera_count = c->cameras;
    rig->frustum = (Frustum){704, 256, 44, 16, 1, 60, 1, {0}};
    for (int i = 0; i < c->cameras; i++) {
        Camera *camera = &rig->cameras[i];
        camera_set_pose(camera, 360.0 * i / c->cameras, 0, 0, (double[]){1.2, 0, 1.5});
        camera_set_intrinsics(camera, i ? 1260 : 800, 800, 450);
        camera->cut = (ImageCut){1600, 900, 0.44, 0.44, 0, 140};
        snprintf(camera->name, sizeof camera->name, c->has & LONG_NAMES ? "%.28s-%d" : "%.6s-%d",
                 c->has & LONG_NAMES ? long_name : "camera", i);
    }
    rig->grid = (Grid){c->x_min, c->x_max, c->y_min, c->y_max, -10, 10, c->nx, c->ny, 1, 0};
    subject.live.frame.rig = rig;
    subject.solids[0] = (Solid){.kind = SOLID_BOX,
                                .class = CLASS_CAR,
                                .center_m = {12, 4},
                                .size_m = {4.5, 1.9, 1.5},
                                .yaw_deg = 20};
    subject.solids[1] = (Solid){
        .kind = SOLID_CYLINDER, .class = CLASS_TREE, .center_m = {-8, -6}, .size_m = {3, 3, 5}};
    subject.world = (World){.solid_count = 2, .solids = subject.solids};
    subject.live.frame.world = &subject.world;
    subject.spec.outlines = true;
}

/* Camera pictures of 8 x 22 pixels. */
static void add_strip(const Case *c) {
    int64_t cameras = c->cameras, pixels = cameras * 8 * 22;
    float *color = calloc((size_t)pixels, 3 * sizeof *color);
    for (int64_t i = 0; color && i < 3 * pixels; i++)
        color[i] = (float)(i % 7) / 7;
    subject.cameras = (CameraViews){.cameras = cameras, .h = 8, .w = 22, .color = color};
    subject.live.frame.cameras = &subject.cameras;
}

/* Every other cell holds something, by a fixed rule. */
static void fill_values(const Case *c) {
    size_t cells = (size_t)c->nx * (size_t)c->ny;
    subject.fp64_original = calloc(cells * CHANNELS, sizeof(double));
    for (int s = 0; s < 2; s++)
        subject.pooled[s] = calloc(cells * CHANNELS, sizeof(float));
    uint32_t state = 12345;
    for (size_t i = 0; i < cells * CHANNELS; i++) {
        state = state * 1664525u + 1013904223u;
        double value = i / CHANNELS % 2 ? 0 : (double)(state >> 8) / (1 << 24);
        subject.fp64_original[i] = value;
        subject.pooled[0][i] = (float)(value * (1 + 1e-6 * (state >> 28)));
        subject.pooled[1][i] = (float)(value * 1.5);
    }
    if (c->has & BROKEN)
        subject.pooled[0][0] = NAN;
}

static void add_maps(const Case *c) {
    const BevMap **to[] = {&subject.live.frame.map, &subject.live.frame.baseline_map};
    if (!subject.live.frame.rig || c->has & NO_MAP)
        return;
    for (int s = 0; s < 2; s++)
        if (scatter_build(&subject.rig, s ? BEV_BILINEAR : BEV_NEAREST, UINT32_MAX, NULL,
                          &subject.maps[s], &err))
            *to[s] = &subject.maps[s];
}

static void close_subject(void) {
    for (int s = 0; s < 2; s++) {
        scatter_free(&subject.maps[s]);
        free(subject.pooled[s]);
    }
    ref_drop(subject.picture);
    bev_picture_free(&subject.difference);
    free(subject.fp64_original);
    free(subject.cameras.color);
    free(subject.loss.inside);
    free(subject.grad_depth);
    free(subject.grad_feat);
    embedding_free(&subject.embedding);
    subject = (Subject){.picture = NULL};
}

static void fill_frame(const Case *c) {
    bool compare = c->has & COMPARE;
    LiveFrame *frame = &subject.live.frame;
    *frame = (LiveFrame){
        .nx = c->nx,
        .ny = c->ny,
        .channels = CHANNELS,
        .shape = {c->cameras ? c->cameras : 6, BINS, FEAT_H, FEAT_W, CHANNELS, c->nx, c->ny, 1},
        .pooled = subject.pooled[0],
        .baseline = compare ? subject.pooled[1] : NULL,
        .fp64_original = subject.fp64_original,
        .baseline_fp64 = subject.fp64_original,
        .features = &subject.features,
        .photos = &subject.photos,
    };
    if (c->has & LONG_NAMES && compare) {
        snprintf(frame->scene_name, sizeof frame->scene_name, "%.60s", long_name);
        snprintf(frame->other_name, sizeof frame->other_name, "%.60s", long_name + 9);
    }
    if (embedding_init(&subject.embedding, CHANNELS, 1, &err))
        frame->embedding = &subject.embedding;
}

/* The case is the subject, with all that its spec borrows. */
static void open_case(const Case *c) {
    close_subject();
    State *state = &subject.state;
    *state = fixture_state(120, 40);
    state->view = (int)c->view;
    state->light = true;
    state->compare = c->has & COMPARE ? COMPARE_WIPE : COMPARE_OFF;
    state->scene.nx = c->nx;
    subject.live = fixture_live(state);
    if (c->has & LONG_NAMES)
        snprintf(subject.live.device.name, sizeof subject.live.device.name, "%.90s", long_name);
    fill_values(c);
    fill_frame(c);
    subject.spec = (FigureSpec){.state = state,
                                .live = &subject.live,
                                .title = c->has & LONG_NAMES ? long_name : "Street intersection",
                                .table = c->has & TABLE};
    if (c->cameras)
        add_rig_and_world(c);
    if (c->has & STRIP)
        add_strip(c);
    add_maps(c);
}

/* Makes the pictures of the subject as it is now. */
static bool pictured(void) {
    ref_drop(subject.picture);
    bev_picture_free(&subject.difference);
    bool strip = subject.live.frame.cameras != NULL, compare = subject.state.compare != COMPARE_OFF;
    subject.picture = picture_of_figure(&subject.state, &subject.live, strip, &err);
    subject.spec.picture = subject.picture;
    subject.spec.difference = compare ? &subject.difference : NULL;
    if (!subject.picture || !compare)
        return subject.picture != NULL;
    State difference = subject.state;
    difference.compare = COMPARE_DIFFERENCE;
    return bev_picture_render(&subject.difference, NULL, &difference, &subject.live.frame, NULL,
                              &err);
}

/* Lays the subject out; the check's title is made as printf does. */
static const PageSpec *paged(double scale) {
    static FigurePage page;
    return figure_page(&subject.spec, scale, &page);
}

__attribute__((format(printf, 1, 2))) static bool laid_out(const char *form, ...) {
    char title[100];
    va_list args;
    va_start(args, form);
    vsnprintf(title, sizeof title, form, args);
    va_end(args);
    figure_layout_free(&layout);
    bool ok = pictured() && page_layout(paged(1), &layout, &err);
    if (!tap_ok(ok, "%s", title))
        tap_note("%s: %s", err.where, err.what);
    return ok;
}

static int count_off_page(void) {
    return count_outside(&layout, (Box){0, 0, layout.w, layout.h}, -4);
}

static void check_texts(const char *name, const char *way) {
    tap_ok(count_overlaps(&layout, 0.25) == 0, "%s%s: no two texts overlap", name, way);
    tap_ok(count_off_page() == 0, "%s%s: no text leaves the page", name, way);
}

static void test_layout(const Case *c) {
    open_case(c);
    if (laid_out("%s: is laid out", c->name)) {
        tap_ok(layout.count > 20, "%s: has %zu texts", c->name, layout.count);
        check_texts(c->name, "");
        tap_ok(layout.w <= 2400 && layout.w >= 1000, "%s: %.0f wide", c->name, layout.w);
        if (c->has & LONG_NAMES)
            tap_ok(contains(&layout, "\u2026"), "%s: are cut with an ellipsis", c->name);
    }
}

TAP_SUITE(figure_layout) {
    for (int i = 0; i < CASE_COUNT; i++)
        test_layout(&cases[i]);
}

TAP_SUITE(figure_truth_directions) {
    open_case(&cases[0]);
    if (laid_out("directions")) {
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
        subject.rig.cameras[3].position_m[2] = -0.3;
        tap_ok(laid_out("below a LiDAR") && find_text(&layout, "x (m) \u2192") &&
                   find_text(&layout, "\u2190 y (m)"),
               "in a LiDAR's frame, where a camera is below 0, x is not called forward");
    }
}

TAP_SUITE(figure_truth_sources) {
    open_case(&cases[0]);
    LiveKernel *row = &subject.live.kernels[FIXTURE_KERNELS - 1];
    subject.live.timed = subject.spec.table = false;
    row->median_us = reading(NAN, SOURCE_UNKNOWN);
    tap_ok(laid_out("no latency") && find_text(&layout, "n/a: not recorded"), "which says why");
    row->median_us = reading(17.3, SOURCE_RECORDED);
    tap_ok(laid_out("no machine") && !find_text(&layout, "\u00b5s on"),
           "a recording without a machine names none");
    snprintf(row->recorded_on, sizeof row->recorded_on, "%s",
             "NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-24");
    if (laid_out("a recording's machine"))
        tap_ok(find_text(&layout, "17.3 \u00b5s, recorded on NVIDIA H200"),
               "a recorded latency names its machine");
}

TAP_SUITE(figure_truth_broken_counted) {
    open_case(&cases[1]);
    if (laid_out("a field with a NaN"))
        tap_ok(contains(&layout, "not a number: 1, infinite: 0"), "the legend counts it");
}

/* Gradients by a fixed rule: those of one camera, and of one bin of the strongest pixel. */
static void add_backward(int64_t cameras, int cells) {
    static BevKernel kernel;
    LiveFrame *frame = &subject.live.frame;
    int64_t plane = FEAT_H * FEAT_W, last = cameras - 1;
    kernel = fixture_kernels[0];
    kernel.direction = BEV_BACKWARD;
    subject.state.job.config.kernel = subject.live.job.config.kernel = &kernel;
    subject.grad_depth = calloc((size_t)(cameras * BINS * plane), sizeof(float));
    subject.grad_feat = calloc((size_t)(cameras * plane * CHANNELS), sizeof(float));
    subject.loss = (GridLoss){.kind = LOSS_CELL,
                              .inside = calloc((size_t)(frame->nx * frame->ny), 1),
                              .class = CLASS_CAR};
    for (int i = 0; i < cells && i < frame->nx * frame->ny; i++, subject.loss.count++)
        subject.loss.inside[i] = 1;
    for (int i = 0; i < FEAT_W; i++)
        subject.grad_feat[(last * plane + i) * CHANNELS] = (float)(i + 1) / FEAT_W;
    subject.grad_depth[(last * BINS + 13) * plane + FEAT_W - 1] = -3.25e-4F;
    frame->gradients = (LiveGradients){&subject.loss, subject.grad_depth, subject.grad_feat, ""};
}

static void test_backward(const Case *base, int cells) {
    Case c = *base;
    c.cameras = c.cameras ? c.cameras : 6;
    open_case(base);
    if (!(c.has & STRIP))
        add_strip(&c);
    Image image = {0}, forward = {0};
    bool drawn = pictured() && page_image(paged(0.6), &forward, &err); /* quickly drawn */
    add_backward(c.cameras, cells);
    if (laid_out("%s, back: is laid out", c.name)) {
        check_texts(c.name, ", back");
        tap_ok(contains(&layout, "44 pixels would have to change") &&
                   contains(&layout, "norm of grad_feat") &&
                   contains(&layout, base->cameras ? "14.0 m" : "bin 13"),
               "%s, back: what to see is said", c.name);
    }
    drawn = drawn && page_image(paged(0.6), &image, &err);
    tap_ok(drawn && image.h >= forward.h, "%s, back: is drawn", c.name);
    image_free(&image);
    image_free(&forward);
}

TAP_SUITE(figure_backward) {
    for (int i = 0; i < CASE_COUNT; i++)
        if (!(cases[i].has & COMPARE))
            test_backward(&cases[i], i % 2 ? 1 : 700);
}

static void test_size(const Case *c, double scale) {
    Image image = {0};
    open_case(c);
    tap_ok(pictured() && page_image(paged(scale), &image, NULL), "%s: drawn as pixels", c->name);
    if (laid_out("%s: its layout", c->name))
        tap_ok(image.w == lround(layout.w * scale) && image.h == lround(layout.h * scale),
               "%s: %d x %d pixels are the page times the scale", c->name, image.w, image.h);
    image_free(&image);
}

/* Whether each text of the page that needs no escape stands in the document. */
static bool laid_out_in(const char *svg) {
    FigureLayout texts;
    char element[PEN_TEXT_MAX + 16];
    size_t found = 0;
    bool all = page_layout(paged(1), &texts, NULL);
    for (size_t i = 0; all && i < texts.count; i++)
        if (texts.texts[i].text[0] && !strpbrk(texts.texts[i].text, "<>&\"")) {
            snprintf(element, sizeof element, ">%s</text>", texts.texts[i].text);
            all = strstr(svg, element) != NULL;
            found++;
        }
    figure_layout_free(&texts);
    return all && found > 5;
}

static void test_svg(const Case *c) {
    MemoryStream svg = {.length = 0};
    open_case(c);
    bool drawn = pictured() && page_file(paged(1), PICTURE_SVG, &svg, NULL);
    if (tap_ok(drawn, "%s: drawn as SVG", c->name)) {
        tap_ok(strstr(svg.bytes, "<title>") && laid_out_in(svg.bytes),
               "%s: it has a title, and each text as text", c->name);
        tap_ok(memmem(svg.bytes, svg.length, "data:image/png;base64,", 22) != NULL,
               "%s: carries the grid as a picture", c->name);
    }
    free(svg.bytes);
}

static void test_failures(void) {
    Image image;
    open_case(&cases[0]);
    subject.live.frame.embedding = NULL;
    tap_ok(!pictured() && strstr(err.what, "embedding"), "a view that cannot be shown is refused");
    subject.live.frame.embedding = &subject.embedding;
    tap_ok(pictured() && !page_image(paged(50), &image, &err) && strstr(err.hint, "scale"),
           "a page too large is refused");
}

TAP_SUITE(figure_bytes) {
    test_size(&cases[0], 1);
    test_size(&cases[5], 0.6);
    test_svg(&cases[0]);
    test_svg(&cases[5]);
    test_failures();
}
