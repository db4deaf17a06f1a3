/* What a car saw at one moment, beside the tensors of its network: photographs, the boxes of the
 * true objects, a sweep of its LiDAR, the time. Every part is optional; the pictures show the
 * parts. */
#pragma once

#include "src/scene/geometry.h"
#include "src/scene/world.h"

enum {
    PHOTOS_MAX_PIXELS = 8192, /* of an image in a file, per axis */
    PHOTOS_MAX_BOXES = 4096,
    PHOTOS_MAX_SWEEP = 4000000, /* points of a LiDAR sweep */
    PHOTOS_KEPT_W = 704,        /* columns of a photograph that is kept, at most */
    PHOTO_CHANNELS = 8          /* of features that are made from photographs */
};

typedef struct {
    double center_m[3]; /* x, y, z, in the ego frame */
    double size_m[3];   /* length along the heading, width, height */
    double yaw;         /* radians, anticlockwise from x */
    char label[32];     /* "": none */
} TrueBox;

typedef struct {
    int64_t cameras, h, w; /* of the photographs that are kept; 0: none */
    uint8_t *srgb;         /* (camera, h, w, 3): what the network's input shows; NULL: none */
    int64_t box_count;
    TrueBox *boxes;
    int64_t sweep_count;
    float *sweep_m; /* (sweep_count, 3): a LiDAR sweep in the ego frame */
    bool has_time;
    double time_s; /* mean of the cameras' timestamps */
} Photos;

/* What the strip of camera views shows: photographs, the norm of the features, the mean of the
 * depth distribution, or how much of it falls outside of the grid. */
typedef enum { STRIP_IMAGE, STRIP_NORM, STRIP_DEPTH, STRIP_DROPPED, STRIP_COUNT } Strip;
extern const char *const strip_names[STRIP_COUNT]; /* "image", "norm", "depth", "dropped" */

/* What is drawn of boxes and LiDAR on the BEV; bits. */
enum { TRUTH_BOXES = 1, TRUTH_LIDAR = 2, TRUTH_COUNT = 4 };
extern const char *const truth_names[TRUTH_COUNT]; /* "off", "boxes", "lidar", "both" */

/* Frees the photos' memory and zeroes the struct. */
void photos_free(Photos *photos);

/* Corners of a box seen from above, in metres, anticlockwise. */
void photos_box_corners(const TrueBox *box, double corners[4][2]);

/* The size at which photographs of this input are kept: its own, or fewer pixels. */
void photos_kept_size(int64_t input_h, int64_t input_w, int64_t *h, int64_t *w);

/* Features of PHOTO_CHANNELS channels for (camera, feat_h, feat_w) pixels, as a stand-in for those
 * of a network: mean linear red, green, blue of the pixel's part of the photograph, 1, the mean
 * differences of brightness to the right and down, their length, the deviation of the brightness.
 * `feat` has room for them. */
void photos_features(const Photos *photos, const Frustum *frustum, float *feat);

/* The boxes of a world's solids at one moment: `count` objects that can move, then all others, as
 * many as there are solids. The caller frees. */
bool photos_world_boxes(const World *world, double time_s, TrueBox **boxes, int64_t *count,
                        Err *err);

/* Adds a LiDAR sweep of 32 beams from the roof of a car in the world; there must be none yet. The
 * caller frees. */
bool photos_world_sweep(const World *world, double time_s, Photos *photos, Err *err);

/* What a car in the world would record: the pictures of its cameras at the network's input, a box a
 * vehicle and pedestrian, and that sweep. The caller frees. */
bool photos_of_world(const Rig *rig, const World *world, double time_s, Photos *photos, Err *err);
