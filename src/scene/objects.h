/* Measures where the mass of each true object lands in the grid, in metres. An object is a box. Its
 * pixels are the feature pixels whose ray meets it first, by the rig that took the pictures. Its
 * mass is the stored depth of all bins of its pixels. */
#pragma once

#include "src/scene/photos.h"

/* The objects of one moment and their pixels. */
typedef struct {
    int64_t count;       /* number of objects; 0: no objects are known */
    TrueBox *boxes;      /* [count] */
    /* [count]: mean of the points where the pixels' rays meet the object; NaN: none */
    double (*seen_m)[2];
    int64_t *pixels;     /* [count] */
    int64_t pixel_count; /* number of pixels of all cameras */
    int32_t *object_of;  /* [camera, h, w]: index of the object; -1: no object */
} Objects;

typedef struct {
    double range_m; /* distance from the ego's origin to the box's middle, seen from above */
    double share;   /* share of the mass in the box and half a cell around it; NaN: no mass */
    double in_grid; /* share of the mass inside the grid; NaN: no mass */
    /* From the point where the rays meet the object to the centroid of its mass in the grid, away
     * from the ego and to the left of that direction. NaN: none. */
    double ahead_m, left_m;
    double offset_m; /* the length of (ahead_m, left_m) */
} ObjectError;

/* The greatest distance of an object's middle in each band. The last band has no end. */
enum { OBJECT_BANDS = 4 };
extern const double object_band_m[OBJECT_BANDS];

typedef struct {
    int count;              /* number of objects with mass */
    double share, offset_m; /* means over these objects, offset_m only over those in the grid; NaN:
                               none */
    int lost;               /* number of objects without mass in the grid */
} ObjectBand;

/* Finds the pixels of `count` boxes. `boxes` also holds `hidden` boxes behind these, which only
 * hide others. Boxes are copied. Fails without memory. Free with objects_free. */
bool objects_find(const Rig *rig, const TrueBox *boxes, int64_t count, int64_t hidden,
                  Objects *objects, Err *err);
void objects_free(Objects *objects); /* accepts an empty struct */

/* Finds the objects of a scene. They come from its world at `time_s`, where buildings, trees and
 * poles hide objects, or from `photos`. Without a rig or a box there are none. In a world, a
 * delayed camera's pixels belong to the objects where they stood at the camera's time. */
bool objects_of_scene(const Rig *rig, const World *world, const Photos *photos, double time_s,
                      Objects *objects, Err *err);

/* Measures each object in `grid`, by the problem's map, weights and stored depth in host memory.
 * `errors` has room for all objects. */
void objects_measure(const Objects *objects, const Grid *grid, const BevProblem *problem,
                     ObjectError *errors);

void objects_bands(const ObjectError *errors, int64_t count, ObjectBand bands[OBJECT_BANDS]);

/* Writes the name of a band: "below 15 m", "15 to 30 m", "beyond 45 m". */
void object_band_text(int band, char *text, size_t size);
