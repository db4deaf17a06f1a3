/* Cameras, frustum and BEV grid: where a feature pixel at a depth lands on the ground plane.
 * Convention of BEVDet and CUDA-BEVFusion; ego frame x forward, y left, z up, metres. */
#ifndef BEV_GEOMETRY_H
#define BEV_GEOMETRY_H

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIG_MAX_CAMERAS = 32 };

typedef struct {
    char name[32];
    double intrinsics[9]; /* K, row-major, pixels of the original image */
    double rotation[9];   /* camera to ego, row-major; camera axes right, down, forward */
    double position_m[3]; /* in the ego frame */
} Camera;

/* From the original image to the feature map: u_in = resize * u - crop_x, v_in likewise. */
typedef struct {
    int image_w, image_h; /* original image, pixels */
    double resize;
    double crop_x, crop_y; /* pixels cut from the left and the top after the resize */
    int input_w, input_h;  /* network input, pixels */
    int feat_w, feat_h;    /* feature map */
    double depth_start_m, depth_stop_m, depth_step_m; /* bins at start, start + step, ... < stop */
} Frustum;

/* A point is inside when min <= p < max on every axis. Cell (x, y) is number y * nx + x and covers
 * [x_min + x * cell, x_min + (x + 1) * cell). */
typedef struct {
    double x_min_m, x_max_m, y_min_m, y_max_m, z_min_m, z_max_m;
    int nx, ny;
} Grid;

typedef struct {
    int camera_count;
    Camera cameras[RIG_MAX_CAMERAS];
    Frustum frustum;
    Grid grid;
} Rig;

/* Sets rotation and position from angles in degrees: yaw anticlockwise from x, pitch up positive,
 * roll positive turns the camera's right axis downwards. */
void camera_set_pose(Camera *camera, double yaw_deg, double pitch_deg, double roll_deg,
                     const double position_m[3]);

/* Sets K from one focal length and the principal point, pixels of the original image. */
void camera_set_intrinsics(Camera *camera, double focal_px, double cx_px, double cy_px);

/* Number of depth bins: the length of arange(start, stop, step). 0 for an empty range. */
int64_t frustum_depth_bins(const Frustum *frustum);

/* Metres of depth bin d. */
double frustum_depth_m(const Frustum *frustum, int64_t d);

/* Pixel of the network input at feature column w / row h: linspace(0, input - 1, feat). A feature
 * map of one column or row sits at 0, as linspace does. */
double frustum_u_px(const Frustum *frustum, double w);
double frustum_v_px(const Frustum *frustum, double h);

/* The ray of input pixel (u, v): ego = origin + depth * direction, `depth` being metres along the
 * optical axis (not along the ray). The augmentation is undone. Needs a checked rig. */
void camera_ray(const Camera *camera, const Frustum *frustum, double u_px, double v_px,
                double origin_m[3], double direction[3]);

/* The input pixel and depth of an ego point; false when it lies behind the camera. */
bool camera_project(const Camera *camera, const Frustum *frustum, const double ego_m[3],
                    double *u_px, double *v_px, double *depth_m);

/* Ego coordinates of frustum point (camera, d, h, w). */
void rig_point(const Rig *rig, int camera, int64_t d, int64_t h, int64_t w, double ego_m[3]);

/* The shape of a problem on this rig with `channels` features. */
BevShape rig_shape(const Rig *rig, int64_t channels);

/* Refuses what cannot be computed with: no camera, singular K, non-finite numbers, a rotation that
 * is none, empty or inverted ranges, sizes below 1 or products beyond int32 ranks. `where` heads
 * the error ("samples/intersection.json: $.grid.x_m"). */
bool rig_check(const Rig *rig, const char *where, Err *err);

#ifdef __cplusplus
}
#endif
#endif
