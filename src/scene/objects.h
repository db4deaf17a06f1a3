/* Where the mass of each true object lands in the grid, in metres. An object is a box; its pixels
 * are those of the feature maps whose ray meets it first, by the rig that took the pictures. Its
 * mass is the depth of all bins of its pixels, as stored. */
#pragma once

#include "src/scene/photos.h"

/* The objects of one moment and their pixels. */
typedef struct {
    int64_t count;       /* of objects; 0: none are known */
    TrueBox *boxes;      /* [count] */
    double (*seen_m)[2]; /* [count]: mean of the points that the pixels' rays meet; NaN: none */
    int64_t *pixels;     /* [count] */
    int64_t pixel_count; /* of all cameras */
    int32_t *object_of;  /* [camera, h, w]; -1: no object */
} Objects;

typedef struct {
    double range_m;    /* distance of the box's middle from the ego's origin, seen from above */
    double share;      /* of the mass that lies in the box, and half a cell around; NaN: no mass */
    double in_grid;    /* of the mass that lies in the grid; NaN: no mass */
    double ahead_m, left_m; /* from the point where the rays meet the object to the centroid of its
                               mass in the grid: away from the ego, and to the left of that
                               direction; NaN: none */
    double offset_m;   /* the length of that */
} ObjectError;

/* Objects whose middle is at most so far away; the last band has no end. */
enum { OBJECT_BANDS = 4 };
extern const double object_band_m[OBJECT_BANDS];

typedef struct {
    int count;              /* of objects with mass */
    double share, offset_m; /* means over those objects; NaN: none; of `offset_m` over those in the
                               grid */
    int lost;               /* of the objects, those without mass in the grid */
} ObjectBand;

/* Finds the pixels of `count` boxes. The `hidden` boxes behind them in `boxes` only hide others.
 * Boxes are copied. Fails without memory. Free with objects_free. */
bool objects_find(const Rig *rig, const TrueBox *boxes, int64_t count, int64_t hidden,
                  Objects *objects, Err *err);
void objects_free(Objects *objects); /* accepts an empty one */

/* Those of a scene: of the boxes of its world at `time_s`, where buildings, trees and poles hide
 * what is behind them, or of `photos`. None without a rig or a box. Of a world, a delayed camera's
 * pixels are those of the objects as they stood then. */
bool objects_of_scene(const Rig *rig, const World *world, const Photos *photos, double time_s,
                      Objects *objects, Err *err);

/* Measures each object in the grid of `grid`, by the problem's map, weights and stored depth, which
 * are in host memory. `errors` has room for all. */
void objects_measure(const Objects *objects, const Grid *grid, const BevProblem *problem,
                     ObjectError *errors);

void objects_bands(const ObjectError *errors, int64_t count, ObjectBand bands[OBJECT_BANDS]);

/* "below 15 m", "15 to 30 m", "beyond 45 m". */
void object_band_text(int band, char *text, size_t size);
