/* The documentation figure: a BEV grid with all that a reader needs to understand it. Pure: the
 * same spec gives the same bytes. */
#pragma once

#include "src/scene/features.h"
#include "src/scene/geometry.h"
#include "src/scene/slice.h"
#include "src/base/units.h"
#include "src/scene/world.h"
#include "src/view/draw/color.h"
#include "src/view/bev/decode.h"
#include "src/view/bev/strip.h"
#include "src/view/draw/image.h"
#include "src/view/draw/pen.h"

/* One pooling result. Strings that are NULL print "n/a". */
typedef struct {
    const char *scene; /* where two are compared; else NULL */
    const char *kernel, *dtype, *align, *device;
    double latency_us;
    FigureSource latency_source;
    const char *recorded_on;     /* the machine of a recorded latency; else NULL */
    const float *pooled;         /* (cell, c) */
    const double *fp64_original; /* (cell, c) in FP64, or NULL */
    const BevMap *map;           /* or NULL */
    const float *depth;          /* VIEW_RGB, (camera, depth, h, w), or NULL */
} FigureSelection;

/* A table beside or under the picture. The first column is left-aligned, the others right. */
typedef struct {
    const char *title;
    int columns, rows;
    const char *const *header; /* (columns) */
    const char *const *cells;  /* (rows, columns) */
    int highlight;             /* row that the picture shows, or -1 */
    const char *note;          /* under the table, or NULL */
} FigureTable;

/* The way back in a figure of one selection: the cells of a loss, outlined; camera pictures, lit
 * where their features feed the loss; the depth of the pixel that feeds it most. */
typedef struct {
    BevShape shape;
    const uint8_t *inside;           /* (cell of the grid): 1 in the loss, else 0 */
    const float *strength;           /* (camera, h, w): gradient_strength() */
    int64_t pixel;                   /* the strongest one, gradient_strongest(), */
    bool chosen;                     /* or a chosen one */
    const float *depth, *grad_depth; /* (depth), of that pixel */
    const uint8_t *reaches;          /* (depth), of that pixel: 1: the bin falls into the loss */
} FigureBackward;

enum { FIGURE_MAX_SELECTIONS = 2 };

typedef struct {
    const char *title;    /* of the scene */
    const char *subtitle; /* NULL: made from the view */
    ViewKind view;
    int64_t channel;          /* VIEW_CHANNEL */
    RgbChoice rgb;            /* VIEW_RGB */
    bool light;               /* VIEW_RGB: the channels are linear light */
    const Colormap *colormap; /* NULL: the view's own */
    bool no_fill;             /* cells of no mass among others stay empty */
    bool range_locked;        /* else automatic */
    double range_lo, range_hi;

    int64_t nx, ny, channels; /* cells of the picture */
    Slice slice;              /* the slice of a grid with height; zero: a flat grid */
    int selection_count; /* 2: side by side, and their difference */
    FigureSelection selections[FIGURE_MAX_SELECTIONS];

    const Rig *rig;             /* NULL: axes in cells, no ego vehicle, no cameras */
    const World *world;         /* NULL: no outlines */
    const Embedding *embedding; /* NULL: no colour and class views */
    const CameraViews *cameras; /* NULL: no strip of camera views */
    double time_s;
    bool outlines; /* footprints of the true solids */
    const Photos *photos; /* NULL: no boxes and no LiDAR */
    unsigned truth;       /* which of them: TRUTH_... */
    bool lidar;           /* its points over the camera views; needs `rig` */
    Strip strip;          /* content of the strip; of the features of: */
    const Features *features;

    const FigureBackward *backward; /* or NULL; needs `cameras` */
    const FigureTable *table;       /* or NULL */
    FigureTheme theme;
    double scale; /* pixels per unit; 0: 1, about 1,600 pixels wide */
} FigureSpec;

/* The figure as pixels, or as a file, PNG or SVG, in malloc'd memory. */
bool figure_image(const FigureSpec *spec, Image *image, Err *err);
bool figure_file(const FigureSpec *spec, bool svg, uint8_t **bytes, size_t *length, Err *err);

/* Where its texts stand; free with figure_layout_free(). */
bool figure_layout(const FigureSpec *spec, FigureLayout *layout, Err *err);
