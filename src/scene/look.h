/* What one pixel sees: sub-rays over its footprint, and what they meet, summed up. Shared by the
 * features and the camera views. */
#ifndef BEV_LOOK_H
#define BEV_LOOK_H

#include "src/scene/features.h"

/* A rectangle of the network input, cut into columns x rows sub-rays. */
typedef struct {
    double u_px, v_px; /* its middle */
    double width_px, height_px;
    int columns, rows;
} Footprint;

/* Direction of sub-ray (column, row): through the middle of its part. */
void footprint_ray(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                   int column, int row, double origin_m[3], double direction[3]);

/* The solids that the footprint's rays can meet. */
WorldSight footprint_sight(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                           const WorldSnapshot *still);

typedef struct {
    int rays, votes[CLASS_COUNT + 1]; /* of each class; CLASS_COUNT: sky */
    double color[3], depth_m;         /* sums over all rays, over all hits */
} Look;

void look_add(Look *look, const WorldHit *hit, const double direction[3]);

/* Writes the means into element `pixel` of the views. */
void look_store(const Look *look, CameraViews *views, int64_t pixel);

/* Allocates the three arrays. */
bool camera_views_alloc(CameraViews *views, int64_t cameras, int64_t h, int64_t w, Err *err);

/* How far a camera looks; ground further away is as good as sky. */
#define LOOK_FAR_M 400.0

#endif
