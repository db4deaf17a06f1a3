/* SPDX-License-Identifier: MIT */
/* Cameras, frustum and BEV grid: they give the point in space of a feature pixel at a depth. The
 * frustum convention is that of BEVDet and CUDA-BEVFusion:
 *   u = linspace(0, input_w - 1, feat_w), v = linspace(0, input_h - 1, feat_h)
 *   d = arange(depth_start, depth_stop, depth_step), or a row of depths
 *   undo crop and resize, unproject with K^-1, then transform from camera to ego.
 * Ego frame: x forward, y left, z up, in metres. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIG_MAX_CAMERAS = 32, FRUSTUM_MAX_BINS = 1024 };

/* Depths of bins with unequal steps, in ascending metres. count 0: the steps are equal. */
typedef struct {
    int64_t count;
    double m[FRUSTUM_MAX_BINS];
} DepthBins;

/* How a camera's own image becomes the network's input: u_in = resize_x * u - crop_x, v_in =
 * resize_y * v - crop_y. Cameras with images of different sizes share one input size. */
typedef struct {
    int image_w, image_h; /* the camera's own image, pixels */
    double resize_x, resize_y;
    double crop_x, crop_y; /* pixels cut from the left and the top after the resize */
} ImageCut;

typedef struct {
    char name[32];
    ImageCut cut;
    double intrinsics[9]; /* K (3, 3), row-major, in pixels of the camera's own image */
    double rotation[9];   /* camera to ego (3, 3), row-major; camera axes right, down, forward */
    double position_m[3]; /* in the ego frame */
    double delay_s;       /* age of the camera's picture at the moment of the scene */
} Camera;

/* How the network's input becomes the feature map and the depth bins. All cameras share this. */
typedef struct {
    int input_w, input_h;                             /* network input, pixels */
    int feat_w, feat_h;                               /* feature map */
    double depth_start_m, depth_stop_m, depth_step_m; /* bins at start, start + step, ... < stop */
    DepthBins bins;                                   /* count > 0: these bins are used instead */
} Frustum;

/* The BEV grid. A point is inside when min <= p < max on every axis. Cell (x, y, z) has number (z *
 * ny + y) * nx + x. Along x it covers x_min + x * cell <= p < x_min + (x + 1) * cell, where cell is
 * (x_max - x_min) / nx. The axes y and z work alike. `truncate`: cell numbers are cut toward zero,
 * as LSS, BEVDet and CUDA-BEVFusion do. Points up to a cell below min are then in cell 0. */
typedef struct {
    double x_min_m, x_max_m, y_min_m, y_max_m, z_min_m, z_max_m;
    int nx, ny;
    int nz; /* slices in height; 0 counts as 1 */
    int truncate;
} Grid;

/* Ways to number cells: as the scene says, or by either value of Grid.truncate. */
typedef enum { ROUNDING_SCENE, ROUNDING_FLOOR, ROUNDING_TRUNCATE, ROUNDING_COUNT } GridRounding;
extern const char *const rounding_names[ROUNDING_COUNT]; /* "scene", "floor", "truncate" */

typedef struct {
    int camera_count;
    Camera cameras[RIG_MAX_CAMERAS];
    Frustum frustum;
    Grid grid;
} Rig;

/* Sets how the grid numbers its cells. True: the numbering changed. */
bool grid_use_rounding(Grid *grid, GridRounding rounding);

/* Sets the rotation and the position. Yaw turns anticlockwise from the x axis. Positive pitch looks
 * up. Positive roll turns the camera's right axis down. */
void camera_set_pose(Camera *camera, double yaw_deg, double pitch_deg, double roll_deg,
                     const double position_m[3]);

/* Sets K from the focal length and the principal point, in pixels of the camera's own image. */
void camera_set_intrinsics(Camera *camera, double focal_px, double cx_px, double cy_px);

/* Returns the number of depth bins: of `bins`, or of arange(start, stop, step). 0: none. */
int64_t frustum_depth_bins(const Frustum *frustum);

/* Returns the depth of bin d in metres. The edges of a bin are at d - 0.5 and d + 0.5. */
double frustum_depth_m(const Frustum *frustum, double d);

/* Returns the fractional bin at a depth, the inverse of frustum_depth_m. */
double frustum_bin_at(const Frustum *frustum, double depth_m);

/* Sets a row of depths. Start, stop and step become those of equal steps over the same range. */
void frustum_set_bins(Frustum *frustum, const double *depths_m, int64_t count);

/* Return the pixel of the network input at feature column w or row h: linspace(0, input - 1, feat).
 * A single column or row is at 0, as in numpy. */
double frustum_u_px(const Frustum *frustum, double w);
double frustum_v_px(const Frustum *frustum, double h);

/* Computes the ray of network input pixel (u, v): ego = origin + depth * direction. The depth is in
 * metres along the optical axis (not along the ray). With K = intrinsics and R = rotation:
 * direction = R K^-1 ((u + crop_x) / resize_x, (v + crop_y) / resize_y, 1). Needs rig_check. */
void camera_ray(const Camera *camera, double u_px, double v_px, double origin_m[3],
                double direction[3]);

static inline void point_on_ray(const double origin_m[3], const double direction[3], double depth_m,
                                double at_m[3]) {
    for (int axis = 0; axis < 3; axis++)
        at_m[axis] = origin_m[axis] + depth_m * direction[axis];
}

/* Projects a point: the inverse of camera_ray. Yields the pixel, which may lie outside the network
 * input, and the depth along the optical axis. False: the depth is below 0.1 m. */
bool camera_project(const Camera *camera, const double ego_m[3], double *u_px, double *v_px,
                    double *depth_m);

/* Checks that the camera's own image holds the network's input, except for one pixel. The error
 * names the camera. `file` and `place` are those of data_refuse. */
bool camera_check_cut(const Camera *camera, const Frustum *frustum, const char *file,
                      const char *place, Err *err);

bool rig_has_one_cut(const Rig *rig);

/* The axes x, y, z of a grid: lower end, upper end, size of a cell, number of cells. */
typedef struct {
    double min_m[3], max_m[3], cell_m[3];
    int count[3];
} GridAxes;
GridAxes axes_of_grid(const Grid *grid);

/* Fills `directions`, (camera, h, w, 3), with the directions of all feature pixels' rays. */
void rig_directions(const Rig *rig, double *directions);

/* Computes the ego coordinates of frustum point (camera, d, h, w). */
void rig_point(const Rig *rig, int camera, int64_t d, int64_t h, int64_t w, double ego_m[3]);

/* Returns the cell of a point. -1: the point is outside the grid. */
int64_t grid_cell(const Grid *grid, const double at_m[3]);

/* Return the number of slices of a grid, or of a problem's grid, at least 1. */
static inline int grid_slices(const Grid *grid) {
    return grid->nz ? grid->nz : 1;
}
static inline int64_t shape_slices(const BevShape *shape) {
    return shape->nz ? shape->nz : 1;
}

/* Returns the shape of the pooling problem of this rig with `channels` channels. */
BevShape rig_shape(const Rig *rig, int64_t channels);

/* Where a camera looks. The heading is anticlockwise from the x axis, the tilt upwards, in degrees.
 * `horizon_px` is the input row where the horizon crosses the middle column. NaN: nowhere. */
typedef struct {
    double heading_deg, tilt_deg, horizon_px;
} CameraView;
CameraView camera_view(const Camera *camera, const Frustum *frustum);

/* Checks that a rig has a camera, finite numbers, an invertible K, proper rotations, no empty range
 * and no size below 1. Callers check the products of sizes. Errors start with `where`. */
bool rig_check(const Rig *rig, const char *where, Err *err);

/* An error in a camera's calibration. The map is built with the error. The camera's picture stays
 * the same, because the camera itself has not moved. */
enum { FAULTS = 8 };
typedef union {
    struct {
        double yaw_deg, pitch_deg, roll_deg, height_m, x_m, y_m, focal_percent, delay_ms;
    };
    double each[FAULTS]; /* the members above, in the order of fault_infos */
} CameraError;

/* Describes one kind of error. Each row is a control, and an option of the same name. */
typedef struct {
    const char *word, *name, *unit; /* "shift-x", "x", "m" */
} FaultInfo;
extern const FaultInfo fault_infos[FAULTS];

/* Applies the error to the camera. Yaw turns about the vertical axis. Pitch turns about the
 * camera's right axis (positive: up). Roll turns about the forward axis (positive: the right axis
 * turns down). Then the camera moves by x, y and height, and its focal length grows by a
 * percentage. The delay does not change the map, only the picture. */
void camera_apply_error(Camera *camera, const CameraError *error);
bool camera_error_equal(const CameraError *a, const CameraError *b);

/* Whether two errors give the same map. Only the delay may differ. */
bool camera_error_same_map(const CameraError *a, const CameraError *b);

/* Whether the error leaves the map as calibrated. */
bool camera_error_keeps_map(const CameraError *error);

#ifdef __cplusplus
}
#endif
