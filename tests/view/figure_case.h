/* Figures to lay out and draw: made-up scenes of every shape, and what their texts do on the page.
 */
#pragma once

#include "src/scene/scatter.h"
#include "src/view/figure/figure.h"
#include "tests/support/tap.h"

#include <math.h>

enum { CHANNELS = 16 };

/* Everything that a spec borrows. */
typedef struct {
    Rig rig;
    World world;
    Solid solids[2];
    Embedding embedding;
    CameraViews cameras;
    BevMap maps[2];
    float *pooled[2];
    double *fp64_original;
    FigureTable table;
    FigureSpec spec;
} Subject;

typedef struct {
    const char *name;
    int nx, ny;
    double x_min, x_max, y_min, y_max; /* metres */
    int cameras;                       /* 0: no rig */
    ViewKind view;
    bool compare, strip, table, long_names, no_map,
        broken_values; /* the last: one value is a NaN */
} Case;

static const Case cases[] = {
    {"square", 200, 200, -54, 54, -54, 54, 6, VIEW_COLOR, false, true, true, false, false, false},
    {"classes", 200, 200, -54, 54, -54, 54, 6, VIEW_CLASS, false, false, true, false, false, true},
    {"fine", 360, 360, -54, 54, -54, 54, 6, VIEW_POINTS, false, false, true, false, false, false},
    {"fine, compared", 360, 360, -54, 54, -54, 54, 6, VIEW_NORM, true, true, true, false, false,
     false},
    {"tall", 240, 108, -6, 90, -30, 24, 3, VIEW_PCA, false, true, true, false, false, true},
    {"tall, compared", 240, 108, -6, 90, -30, 24, 3, VIEW_ERROR, true, false, true, false, false,
     true},
    {"wide", 40, 300, -10, 10, -60, 60, 6, VIEW_CHANNEL, false, true, true, false, false, false},
    {"wide, compared", 40, 300, -10, 10, -60, 60, 6, VIEW_CLASS, true, true, false, false, false,
     false},
    {"toy", 3, 5, 1, 7, -2.5, 2.5, 1, VIEW_POINTS, false, true, true, false, false, false},
    {"toy, compared", 3, 5, 1, 7, -2.5, 2.5, 1, VIEW_COLOR, true, true, true, false, false, true},
    {"one cell", 1, 1, -50, 50, -50, 50, 6, VIEW_NORM, false, false, true, false, false, false},
    {"one row", 2, 200, -0.5, 0.5, -50, 50, 6, VIEW_NORM, false, false, true, false, false, false},
    {"one column", 200, 2, -50, 50, -0.5, 0.5, 6, VIEW_COLOR, false, true, true, false, false,
     false},
    {"far off", 100, 100, 20, 70, 10, 60, 6, VIEW_CLASS, false, false, true, false, false, false},
    {"centimetres", 50, 50, -0.01, 0.01, -0.01, 0.01, 2, VIEW_ERROR, false, false, false, false,
     false, false},
    {"kilometres", 64, 64, -9000, 9000, -9000, 9000, 6, VIEW_NORM, false, false, false, false,
     false, false},
    {"without a rig", 128, 96, 0, 1, 0, 1, 0, VIEW_NORM, false, false, true, false, false, false},
    {"without a rig, compared", 128, 96, 0, 1, 0, 1, 0, VIEW_ERROR, true, false, false, false, true,
     false},
    {"32 cameras", 200, 200, -54, 54, -54, 54, 32, VIEW_COLOR, false, true, false, false, false,
     false},
    {"long names", 200, 200, -54, 54, -54, 54, 6, VIEW_CLASS, false, true, true, true, true, false},
    {"long names, compared", 3, 5, 1, 7, -2.5, 2.5, 32, VIEW_ERROR, true, true, true, true, true,
     true},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

static const char long_name[] =
    "a name that goes on and on, as names from exported experiments do, with a checkpoint, a date "
    "and a configuration in it, and no end in sight even here";

static inline void add_cameras(Subject *subject, const Case *c) {
    Rig *rig = &subject->rig;
    rig->camera_count = c->cameras;
    rig->frustum = (Frustum){1600, 900, 0.44, 0, 140, 704, 256, 44, 16, 1, 60, 1};
    for (int i = 0; i < c->cameras; i++) {
        Camera *camera = &rig->cameras[i];
        camera_set_pose(camera, 360.0 * i / c->cameras, 0, 0, (double[]){1.2, 0, 1.5});
        camera_set_intrinsics(camera, i ? 1260 : 800, 800, 450);
        snprintf(camera->name, sizeof camera->name, c->long_names ? "%.28s-%d" : "%.6s-%d",
                 c->long_names ? long_name : "camera", i);
    }
    rig->grid = (Grid){c->x_min, c->x_max, c->y_min, c->y_max, -10, 10, c->nx, c->ny, 1};
    subject->spec.rig = rig;
}

static inline void add_world(Subject *subject) {
    subject->solids[0] = (Solid){.kind = SOLID_BOX,
                                 .class = CLASS_CAR,
                                 .center_m = {12, 4},
                                 .size_m = {4.5, 1.9, 1.5},
                                 .yaw_deg = 20};
    subject->solids[1] = (Solid){
        .kind = SOLID_CYLINDER, .class = CLASS_TREE, .center_m = {-8, -6}, .size_m = {3, 3, 5}};
    subject->world = (World){.solid_count = 2, .solids = subject->solids};
    subject->spec.world = &subject->world;
    subject->spec.outlines = true;
}

/* Camera pictures of 8 x 22 pixels. */
static inline void add_strip(Subject *subject, const Case *c) {
    int64_t cameras = c->cameras, pixels = cameras * 8 * 22;
    float *color = calloc((size_t)pixels, 3 * sizeof *color);
    for (int64_t i = 0; color && i < 3 * pixels; i++)
        color[i] = (float)(i % 7) / 7;
    subject->cameras = (CameraViews){.cameras = cameras, .h = 8, .w = 22, .color = color};
    subject->spec.cameras = &subject->cameras;
}

static inline void add_table(Subject *subject, bool long_names) {
    static const char *const header[] = {
        "kernel", "where", "latency (\u00b5s)", "over V2", "max error", "relative L2", "gate A"};
    static const char *const cells[] = {
        "Atomic", "CUDA",   NULL,     NULL,     NULL,     NULL,      "skip", "V2 (channels)",
        "CPU",    "21,412", "1.00",   "1.9e-6", "3.1e-8", "pass",    "V3",   "CPU",
        "4,312",  "4.97",   "1.9e-6", "3.1e-8", "pass",   long_name, "CUDA", "1,234",
        "12.9",   "1.9e-6", "3.1e-8", "pass"};
    subject->table = (FigureTable){.title = long_names ? long_name : "Every kernel",
                                   .columns = 7,
                                   .rows = long_names ? 4 : 3,
                                   .header = header,
                                   .cells = cells,
                                   .highlight = 2,
                                   .note = long_name};
    subject->spec.table = &subject->table;
}

/* Every other cell holds something, by a fixed rule. */
static inline void fill_values(Subject *subject, const Case *c) {
    size_t cells = (size_t)c->nx * (size_t)c->ny;
    subject->fp64_original = calloc(cells * CHANNELS, sizeof(double));
    for (int s = 0; s < 2; s++)
        subject->pooled[s] = calloc(cells * CHANNELS, sizeof(float));
    uint32_t state = 12345;
    for (size_t i = 0; i < cells * CHANNELS; i++) {
        state = state * 1664525u + 1013904223u;
        double value = i / CHANNELS % 2 ? 0 : (double)(state >> 8) / (1 << 24);
        subject->fp64_original[i] = value;
        subject->pooled[0][i] = (float)(value * (1 + 1e-6 * (state >> 28)));
        subject->pooled[1][i] = (float)(value * 1.5);
    }
    if (c->broken_values)
        subject->pooled[0][0] = NAN;
}

static inline void add_maps(Subject *subject, const Case *c) {
    Err err;
    if (!subject->spec.rig || c->no_map)
        return;
    for (int s = 0; s < 2; s++)
        if (scatter_build(&subject->rig, s ? BEV_BILINEAR : BEV_NEAREST, UINT32_MAX,
                          &subject->maps[s], &err))
            subject->spec.selections[s].map = &subject->maps[s];
}

/* The spec of a case and all that it borrows; subject_close frees it. */
static inline void subject_open(Subject *subject, const Case *c) {
    Err err;
    *subject = (Subject){0};
    subject->spec = (FigureSpec){.title = c->long_names ? long_name : "Street intersection",
                                 .view = c->view,
                                 .nx = c->nx,
                                 .ny = c->ny,
                                 .channels = CHANNELS,
                                 .selection_count = c->compare ? 2 : 1};
    fill_values(subject, c);
    for (int s = 0; s < 2; s++)
        subject->spec.selections[s] =
            (FigureSelection){.kernel = c->long_names ? long_name : "V3",
                              .dtype = "FP16",
                              .align = s ? "bilinear" : "nearest",
                              .device = c->long_names ? long_name : "CPU, 2 threads",
                              .latency_us = 4312,
                              .latency_source = SOURCE_MEASURED,
                              .pooled = subject->pooled[s],
                              .fp64_original = subject->fp64_original};
    if (c->cameras) {
        add_cameras(subject, c);
        add_world(subject);
    }
    if (c->strip)
        add_strip(subject, c);
    if (c->table)
        add_table(subject, c->long_names);
    if (embedding_init(&subject->embedding, CHANNELS, 1, &err))
        subject->spec.embedding = &subject->embedding;
    add_maps(subject, c);
}

static inline void subject_close(Subject *subject) {
    for (int s = 0; s < 2; s++) {
        scatter_free(&subject->maps[s]);
        free(subject->pooled[s]);
    }
    free(subject->fp64_original);
    free(subject->cameras.color);
    embedding_free(&subject->embedding);
}

/* ---- texts on the page ----------------------------------------------------------------------- */

static inline bool overlap(const FigureText *a, const FigureText *b) {
    const double touch = 0.25;
    return a->x + touch < b->x + b->w && b->x + touch < a->x + a->w && a->y + touch < b->y + b->h &&
           b->y + touch < a->y + a->h;
}

/* Pairs of texts that touch, each told by a note. */
static inline int count_overlaps(const FigureLayout *layout) {
    int overlaps = 0;
    for (size_t i = 0; i < layout->count; i++)
        for (size_t j = i + 1; j < layout->count; j++)
            if (overlap(&layout->texts[i], &layout->texts[j])) {
                tap_note("'%s' and '%s'", layout->texts[i].text, layout->texts[j].text);
                overlaps++;
            }
    return overlaps;
}

/* Texts within 4 of the edge of the page or beyond it, each told by a note. */
static inline int count_outside(const FigureLayout *layout) {
    int outside = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const FigureText *t = &layout->texts[i];
        if (t->x < 4 || t->y < 4 || t->x + t->w > layout->w - 4 || t->y + t->h > layout->h - 4) {
            tap_note("'%s' at %.0f, %.0f of %.0f x %.0f", t->text, t->x, t->y, layout->w,
                     layout->h);
            outside++;
        }
    }
    return outside;
}

/* The first text that is exactly this; NULL: there is none. */
static inline const FigureText *find_text(const FigureLayout *layout, const char *text) {
    for (size_t i = 0; i < layout->count; i++)
        if (!strcmp(layout->texts[i].text, text))
            return &layout->texts[i];
    return NULL;
}

/* Whether any text has this part. */
static inline bool contains(const FigureLayout *layout, const char *part) {
    for (size_t i = 0; i < layout->count; i++)
        if (strstr(layout->texts[i].text, part))
            return true;
    return false;
}
