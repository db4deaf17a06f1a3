/* SPDX-License-Identifier: MIT */
/* The recording of a car at one moment, beside the tensors of its network: photographs, the boxes
 * of ground-truth objects, a LiDAR sweep and the time. Every part is optional. */
#pragma once

#include "src/scene/geometry.h"
#include "src/scene/world.h"

enum {
    PHOTOS_MAX_PIXELS = 8192, /* pixels of an image in a file, along each axis */
    PHOTOS_MAX_BOXES = 4096,
    PHOTOS_MAX_SWEEP = 4000000, /* points of a LiDAR sweep */
    PHOTOS_KEPT_W = 704,        /* the most columns of a photograph that is kept */
    PHOTO_CHANNELS = 8          /* channels of the features that are made from photographs */
};

/* A box begins with the TRUE_BOX_NUMBERS numbers of a row of the array boxes. */
enum { TRUE_BOX_NUMBERS = 7 };
typedef struct {
    double center_m[3];     /* x, y, z of the centre in the ego frame */
    double size_m[3];       /* length along the heading, width, height */
    double yaw;             /* radians, anticlockwise from x */
    double velocity_mps[2]; /* of an object of a world; boxes of files have 0 */
    char label[32];         /* "": no label */
} TrueBox;

typedef struct {
    int64_t cameras, h, w; /* sizes of the kept photographs; 0: none */
    uint8_t *srgb;         /* (camera, h, w, 3): the part in the network's input; NULL: none */
    int64_t box_count;
    TrueBox *boxes;
    int64_t sweep_count;
    float *sweep_m; /* (sweep_count, 3): points of a LiDAR sweep in the ego frame */
    bool has_time;
    double time_s; /* mean of the cameras' timestamps */
} Photos;

/* The contents of the camera strip: photographs, the norm of the features, or of the depth
 * distribution the mean or the share outside the grid. */
typedef enum { STRIP_IMAGE, STRIP_NORM, STRIP_DEPTH, STRIP_DROPPED, STRIP_COUNT } Strip;
extern const char *const strip_names[STRIP_COUNT]; /* "image", "norm", "depth", "dropped" */

/* The ground truth that is drawn on the BEV, as bits. */
enum { TRUTH_BOXES = 1, TRUTH_LIDAR = 2, TRUTH_COUNT = 4 };
extern const char *const truth_names[TRUTH_COUNT]; /* "off", "boxes", "lidar", "both" */

/* Frees the photos' memory and zeroes the struct. */
void photos_free(Photos *photos);

/* Computes the corners of a box seen from above, in metres, anticlockwise. */
void photos_box_corners(const TrueBox *box, double corners[4][2]);

/* Computes the size at which photographs are kept: the input's own, or smaller. */
void photos_kept_size(int64_t input_h, int64_t input_w, int64_t *h, int64_t *w);

/* Makes features of PHOTO_CHANNELS channels for (camera, feat_h, feat_w) pixels, in place of a
 * network's. Each pixel has a part of the photograph. Channels 0 to 2 are the mean linear red,
 * green and blue of the part; channel 3 is 1. Channels 4 and 5 are the mean brightness differences
 * to the right and down, channel 6 their length. Channel 7 is the standard deviation of the
 * brightness. The caller allocates `feat`. */
void photos_features(const Photos *photos, const Frustum *frustum, float *feat);

/* Whether a solid is an object: people mark vehicles and pedestrians in recordings. */
static inline bool photos_is_object(const Solid *solid) {
    return solid->class == CLASS_CAR || solid->class == CLASS_TRUCK ||
           solid->class == CLASS_PEDESTRIAN;
}

/* Lists the boxes of a world's objects at a moment, in the order of solids. The caller frees. */
bool photos_world_boxes(const World *world, double time_s, TrueBox **boxes, int64_t *count,
                        Err *err);

/* Adds a LiDAR sweep of 32 beams from a car's roof; `photos` has none yet. The caller frees. */
bool photos_world_sweep(const World *world, double time_s, Photos *photos, Err *err);

/* Makes the recording of a car in the world. It has the cameras' pictures at the network's input
 * size, a box for each vehicle and pedestrian, and a LiDAR sweep. The caller frees. */
bool photos_of_world(const Rig *rig, const World *world, double time_s, Photos *photos, Err *err);
