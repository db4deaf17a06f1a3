/* Cameras, frustum and BEV grid: which point in space a feature pixel has at a given depth. The
 * frustum convention is that of BEVDet and CUDA-BEVFusion:
 *   u = linspace(0, input_w - 1, feat_w), v = linspace(0, input_h - 1, feat_h)
 *   d = arange(depth_start, depth_stop, depth_step)
 *   undo crop and resize, unproject with K^-1, then transform from camera to ego.
 * Ego frame: x forward, y left, z up, in metres. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIG_MAX_CAMERAS = 32 };

typedef struct {
    char name[32];
    double intrinsics[9]; /* K (3, 3), row-major, in pixels of the original image */
    double rotation[9];   /* camera to ego (3, 3), row-major; camera axes right, down, forward */
    double position_m[3]; /* in the ego frame */
} Camera;

/* From the original image to the network input, u_in = resize * u - crop_x and v_in = resize * v -
 * crop_y, and from there to the feature map and the depth bins. */
typedef struct {
    int image_w, image_h; /* original image, pixels */
    double resize;
    double crop_x, crop_y; /* pixels cut from the left and the top after the resize */
    int input_w, input_h;  /* network input, pixels */
    int feat_w, feat_h;    /* feature map */
    double depth_start_m, depth_stop_m, depth_step_m; /* bins at start, start + step, ... < stop */
} Frustum;

/* A point is inside when min <= p < max on every axis. Cell (x, y, z) has number
 * (z * ny + y) * nx + x and covers x_min + x * cell <= p < x_min + (x + 1) * cell, with cell =
 * (x_max - x_min) / nx; y and z likewise. */
typedef struct {
    double x_min_m, x_max_m, y_min_m, y_max_m, z_min_m, z_max_m;
    int nx, ny;
    int nz; /* slices in height; 0 counts as 1 */
} Grid;

typedef struct {
    int camera_count;
    Camera cameras[RIG_MAX_CAMERAS];
    Frustum frustum;
    Grid grid;
} Rig;

/* Sets rotation and position. Yaw turns anticlockwise from the x axis, positive pitch looks up, and
 * positive roll turns the camera's right axis down. */
void camera_set_pose(Camera *camera, double yaw_deg, double pitch_deg, double roll_deg,
                     const double position_m[3]);

/* Sets K from the focal length and the principal point, in pixels of the original image. */
void camera_set_intrinsics(Camera *camera, double focal_px, double cx_px, double cy_px);

/* Number of depth bins: the length of arange(start, stop, step). 0 for an empty range. */
int64_t frustum_depth_bins(const Frustum *frustum);

/* Depth of bin d in metres. */
double frustum_depth_m(const Frustum *frustum, int64_t d);

/* Pixel of the network input at feature column w or row h: linspace(0, input - 1, feat). A single
 * column or row is at 0, as in numpy. */
double frustum_u_px(const Frustum *frustum, double w);
double frustum_v_px(const Frustum *frustum, double h);

/* The ray of network input pixel (u, v): ego = origin + depth * direction, with depth in metres
 * along the optical axis (not along the ray). With K = intrinsics and R = rotation: direction = R
 * K^-1 ((u + crop_x) / resize, (v + crop_y) / resize, 1). The rig must have passed rig_check. */
void camera_ray(const Camera *camera, const Frustum *frustum, double u_px, double v_px,
                double origin_m[3], double direction[3]);

/* Ego coordinates of frustum point (camera, d, h, w). */
void rig_point(const Rig *rig, int camera, int64_t d, int64_t h, int64_t w, double ego_m[3]);

/* Slices of a grid: at least 1. */
int grid_slices(const Grid *grid);

/* The shape of the pooling problem of this rig with `channels` channels. */
BevShape rig_shape(const Rig *rig, int64_t channels);

/* Checks that a rig has a camera, finite numbers, invertible K, proper rotations, ranges that are
 * not empty, sizes of at least 1, and ranks that fit int32. Error messages start with `where`. */
bool rig_check(const Rig *rig, const char *where, Err *err);

#ifdef __cplusplus
}
#endif
