/* SPDX-License-Identifier: MIT */
/* Measures how far a wrong calibration or a delay moves the ground-truth objects in the grid, in
 * metres. An object is a box. The pixels of an object are the feature pixels whose ray meets the
 * object first, by the rig that took the pictures. The mass of an object is the depth probability
 * of all bins of these pixels. */
#pragma once

#include "src/base/units.h"
#include "src/scene/photos.h"

/* The objects of one moment and their pixels. */
typedef struct {
    int64_t count;       /* number of objects; 0: no objects are known */
    TrueBox *boxes;      /* [count] */
    int64_t *pixels;     /* [count] */
    int64_t pixel_count; /* number of pixels of all cameras */
    int32_t *object_of;  /* [camera, h, w]: index of the object; -1: no object */
    float *surface_m;    /* [camera, h, w]: depth at which the pixel's ray meets the object */
} Objects;

/* The position error is the distance between two places of an object's mass: with the fault and
 * without. Depth, format and cells do not change it: without a fault the error is 0. Mass counts
 * only where the right rig puts it into the box, or at most half a cell or half a bin outside. */
typedef struct {
    double range_m;     /* distance from the ego's origin to the box's middle, seen from above */
    double share;       /* share of the mass in the box and half a cell around it; NaN: no mass */
    double right_share; /* that share by the rig without fault, nearest */
    double in_grid;     /* share of the mass inside the grid; NaN: no mass */
    bool lost;          /* less than a tenth of the mass that counts is left in the grid */
    /* Position error seen from above: along the ray away from the camera, and across it to the
     * left. NaN: lost, or no mass. */
    double along_m, across_m;
    double error_m; /* the length of (along_m, across_m) */
    /* How far behind the visible surface the depths put the mass that counts: the mean along the
     * ray, seen from above. No fault changes this distance. NaN: no mass. */
    double behind_m;
} ObjectError;

enum { OBJECT_BANDS = 4 };

/* Objects with mass at one range. The means of errors leave out lost objects. NaN: no object. */
typedef struct {
    int count, lost;
    double share, right_share, error_m, along_m, across_m; /* means */
} ObjectBand;

void objects_free(Objects *objects); /* accepts an empty struct */

/* Finds the objects of a scene. They come from its world at `time_s`, where everything hides what
 * is behind, or from the boxes of `photos`. Without a rig or a box there are none. In a world, a
 * delayed camera's pixels belong to the objects where they stood at the camera's time. */
bool objects_of_scene(const Rig *rig, const World *world, const Photos *photos, double time_s,
                      Objects *objects, Err *err);

/* Measures each object by the map of the rig `wrong`. `depth` is (camera, depth, h, w) before any
 * format. `right` took the pictures and has the cameras' delays. `errors` has room for all
 * objects. Fails without memory. */
bool objects_measure(const Objects *objects, const Rig *right, const Rig *wrong, const BevMap *map,
                     const float *depth, ObjectError *errors);

/* Averages by range. An object counts if the right rig puts some of its mass into its box. */
void objects_bands(const ObjectError *errors, int64_t count, ObjectBand bands[OBJECT_BANDS]);

/* Returns the name of a band: "below 15 m", "15 to 30 m", "beyond 45 m". */
ShortText object_band_text(int band);
