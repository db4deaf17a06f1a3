/* SPDX-License-Identifier: MIT */
/* Depth distributions and camera features in FP32, before any storage format. They are the output
 * of a network and the input of BEV pooling. Worlds make them by ray casting and embedding. */
#pragma once

#include "src/base/give_up.h"
#include "src/scales/ranges.h"
#include "src/scene/geometry.h"
#include "src/scene/photos.h"
#include "src/scene/world.h"

/* ---- embedding: class, colour and height as a vector of C channels --------------------------- */

/* Rows of the embedding: one for each class, then red, green, blue and height. Pooling is linear,
 * so the coordinates of a pooled vector are sums. The coordinate of a class is its pooled depth
 * probability, called its mass. The coordinate of red is the mass times red. */
enum { EMBED_R = CLASS_COUNT, EMBED_G, EMBED_B, EMBED_HEIGHT, EMBED_DIMS };
#define EMBED_HEIGHT_M 10.0 /* a height of 10 m has coordinate 1, the scale of the colours */

typedef struct {
    int64_t channels;
    double *columns; /* (channels, EMBED_DIMS), the transposed matrix for decoding; owns memory */
    float *rows; /* (EMBED_DIMS, channels), unit length; orthogonal when channels >= EMBED_DIMS */
} Embedding;

/* Makes a seeded Gaussian random matrix and orthonormalises it in double. With fewer than
 * EMBED_DIMS channels the rows cannot be orthogonal. They then only have unit length, and
 * embedding_decode returns false. */
bool embedding_init(Embedding *embedding, int64_t channels, uint64_t seed, Err *err);
void embedding_free(Embedding *embedding); /* accepts NULL */

/* Encodes coordinates: vector[c] = sum over i of parts[i] * rows[i][c]. */
void embedding_encode(const Embedding *embedding, const float parts[EMBED_DIMS], float *vector);

/* Decodes a vector of orthonormal rows: parts[i] = sum over c of vector[c] * rows[i][c]. */
bool embedding_decode(const Embedding *embedding, const float *vector, float parts[EMBED_DIMS]);

/* Changes the embedding so that it encodes and decodes features after features_add_outlier. */
void embedding_add_outlier(Embedding *embedding, double factor);

/* Returns the class with the largest share of a pooled vector. CLASS_COUNT: the vector is zero, or
 * the embedding cannot be decoded. */
WorldClass embedding_class(const Embedding *embedding, const float *vector);

/* ---- features -------------------------------------------------------------------------------- */

typedef struct {
    float *depth; /* (camera, depth, h, w) */
    float *feat;  /* (camera, h, w, c) */
    /* The magnitudes that the scales of a format must keep, for depth, feat and their pooled
     * output. Borrowed. NULL: each scale keeps the largest magnitude of the values themselves. */
    const ScaleRanges *scales;
} Features;

/* The cameras' pictures before the embedding. */
typedef struct {
    int64_t cameras, h, w;
    float *color;   /* (camera, h, w, 3), linear 0..1, sky included */
    uint8_t *class; /* (camera, h, w), the most frequent class of the pixel; CLASS_COUNT: sky */
    float *depth_m; /* (camera, h, w), mean over the sub-rays that hit something; NaN: sky */
    const uint8_t *srgb; /* photographs (camera, h, w, 3), borrowed; if set, others are NULL */
} CameraViews;

/* Returns views that borrow photographs. Without photographs the views are empty. */
static inline CameraViews camera_views_of_photos(const Photos *photos) {
    return (CameraViews){
        .cameras = photos->cameras, .h = photos->h, .w = photos->w, .srgb = photos->srgb};
}

/* The number of rays for each feature pixel. Figures and measurements use sub_rays_full (4 x 12).
 * sub_rays_draft (2 x 4) costs a sixth, for moving pictures. */
typedef struct {
    int columns, rows;
} SubRays;
extern const SubRays sub_rays_full, sub_rays_draft;

typedef struct {
    const Rig *rig;
    const World *world;
    int64_t channels;
    uint64_t seed;      /* seed of the embedding */
    double temperature; /* temperature of the depth distribution */
    double time_s;
    SubRays rays;
    const GiveUp *give_up; /* NULL: the computation never ends early */
} FeaturesRequest;

/* Ray-casts `world` through the cameras of `rig`, at time_s less each camera's delay. Each feature
 * pixel is the mean over sub-rays through its footprint (supersampling):
 * - Feature: the mean of e[class] + r e[R] + g e[G] + b e[B] + height / EMBED_HEIGHT_M e[HEIGHT],
 *   with the rows e of the embedding of `channels` and `seed`.
 * - Depth: each hit at depth z adds a Gaussian with standard deviation SIGMA_AT_10M_M * (z / 10)^2
 *   metres, at least a quarter bin. The pixel's sum is raised to 1 / temperature and normalised.
 * - Sky and hits beyond the last bin have a zero feature. Their share of depth is in the last bin.
 * `features` are arrays of the caller. `views` may be NULL; the caller frees it with
 * camera_views_free. A feature pixel has four rows of view pixels, each with rays.columns of them.
 * The result does not depend on the number of threads. `give_up` is asked once for each row of
 * pixels. Returns false after an error or after give_up, which leaves `err` unchanged. Then nothing
 * is to be freed. */
bool features_render(const FeaturesRequest *request, const Features *features, CameraViews *views,
                     Err *err);

/* The error of stereo depth grows with z^2. It is 2 m at 50 m, a pixel of disparity. */
#define SIGMA_AT_10M_M 0.08

/* Return the numbers of floats in `depth` and in `feat`. */
static inline size_t features_depth_count(const BevShape *shape) {
    return (size_t)(shape->cameras * shape->depth_bins * shape->feat_h * shape->feat_w);
}
static inline size_t features_feat_count(const BevShape *shape) {
    return (size_t)(shape->cameras * shape->feat_h * shape->feat_w * shape->channels);
}

/* Multiplies channel 0 by `factor`. Trained networks have such outliers, too. */
void features_add_outlier(const BevShape *shape, const Features *features, double factor);
enum { FEATURES_MAX_OUTLIER = 1000 };

void features_free(Features *features);
void camera_views_free(CameraViews *views);

/* Renders camera pictures of w x h pixels, without features. See features_render. */
bool camera_views_render(const Rig *rig, const World *world, int64_t h, int64_t w, double time_s,
                         CameraViews *views, Err *err);
