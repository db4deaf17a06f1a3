/* Depth distributions and camera features in FP32, before any storage format: what a network
 * would hand to the pooling. For sample worlds they are ray-cast. */
#ifndef BEV_FEATURES_H
#define BEV_FEATURES_H

#include "src/scene/embedding.h"
#include "src/scene/geometry.h"
#include "src/base/give_up.h"
#include "src/scene/world.h"

typedef struct {
    float *depth; /* (camera, depth, h, w) */
    float *feat;  /* (camera, h, w, c) */
} Features;

/* What the cameras' pixels show before the embedding, for the strip of camera views. */
typedef struct {
    int64_t cameras, h, w;
    float *color;   /* (camera, h, w, 3), linear 0..1, sky included */
    uint8_t *class; /* (camera, h, w), the commonest class, CLASS_COUNT: sky */
    float *depth_m; /* (camera, h, w), mean over the pixel's hits, NaN: sky */
} CameraViews;

/* Sub-rays of one feature pixel. FULL is what every figure and measurement is made with; DRAFT is
 * six times faster, for a moving picture whose next frame comes at once. */
typedef struct {
    int columns, rows;
} SubRays;
extern const SubRays sub_rays_full, sub_rays_draft;

/* Ray-casts `world` through `rig` at time_s. Each feature pixel is supersampled over its
 * footprint, and its feature is the mean over the sub-rays of
 *     e[class] + r * e[R] + g * e[G] + b * e[B] + height / EMBED_HEIGHT_M * e[HEIGHT]
 * with e from the embedding of `channels` and `seed`. A sub-ray that hits at depth z adds a
 * Gaussian of sigma(z) = SIGMA_AT_10M_M * (z/10)^2 metres (at least a quarter bin) to the pixel's
 * depth distribution, which sums to 1 and is then raised to 1/temperature and renormalised. Sky,
 * and what lies beyond the last bin, has a zero feature and puts its share of depth into the last
 * bin. `views` may be NULL. The caller frees with features_free / camera_views_free. Deterministic
 * for any number of threads. False with nothing to free: an error; or given up, which is asked once
 * a line (NULL: never) and leaves `err` as it is. */
#define SIGMA_AT_10M_M 0.08 /* 2 m at 50 m: what one pixel of disparity is worth */

bool features_render(const Rig *rig, const World *world, int64_t channels, uint64_t seed,
                     double temperature, double time_s, SubRays rays, const GiveUp *give_up,
                     Features *features, CameraViews *views, Err *err);

/* The same into arrays of the caller's, which stay the caller's. */
bool features_render_into(const Rig *rig, const World *world, int64_t channels, uint64_t seed,
                          double temperature, double time_s, SubRays rays, const GiveUp *give_up,
                          const Features *features, CameraViews *views, Err *err);

/* How many floats `depth` and `feat` are. */
size_t features_depth_count(const BevShape *shape);
size_t features_feat_count(const BevShape *shape);

void features_free(Features *features);
void camera_views_free(CameraViews *views);

/* Rays the cameras at higher resolution for pictures only: `w` x `h` pixels a camera. Given up as
 * above. */
bool camera_views_render(const Rig *rig, const World *world, int64_t h, int64_t w, double time_s,
                         const GiveUp *give_up, CameraViews *views, Err *err);

#endif
