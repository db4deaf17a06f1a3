/* SPDX-License-Identifier: MIT */
#include "src/scene/geometry.h"

#include "src/base/data.h"
#include "src/base/units.h"
#include "src/scene/splat.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { RIGHT, DOWN, FORWARD }; /* columns of a camera's rotation */

/* ---- cameras -------------------------------------------------------------------------------- */

void camera_set_pose(Camera *camera, double yaw_deg, double pitch_deg, double roll_deg,
                     const double position_m[3]) {
    const double rad = M_PI / 180;
    double cy = cos(yaw_deg * rad), sy = sin(yaw_deg * rad);
    double cp = cos(pitch_deg * rad), sp = sin(pitch_deg * rad);
    double cr = cos(roll_deg * rad), sr = sin(roll_deg * rad);
    double forward[3] = {cp * cy, cp * sy, sp};
    double level_right[3] = {sy, -cy, 0};
    double level_down[3] = {sp * cy, sp * sy, -cp}; /* forward x right */
    for (int axis = 0; axis < 3; axis++) {
        double *row = camera->rotation + 3 * axis;
        row[RIGHT] = cr * level_right[axis] + sr * level_down[axis];
        row[DOWN] = cr * level_down[axis] - sr * level_right[axis];
        row[FORWARD] = forward[axis];
        camera->position_m[axis] = position_m[axis];
    }
}

void camera_set_intrinsics(Camera *camera, double focal_px, double cx_px, double cy_px) {
    const double k[9] = {focal_px, 0, cx_px, 0, focal_px, cy_px, 0, 0, 1};
    memcpy(camera->intrinsics, k, sizeof k);
}

/* Returns the determinant of K, whose last row is 0 0 1 (rig_check). */
static double intrinsics_det(const double k[9]) {
    return k[0] * k[4] - k[1] * k[3];
}

void camera_ray(const Camera *camera, double u_px, double v_px, double origin_m[3],
                double direction[3]) {
    const ImageCut *cut = &camera->cut;
    const double *k = camera->intrinsics;
    double u = (u_px + cut->crop_x) / cut->resize_x - k[2];
    double v = (v_px + cut->crop_y) / cut->resize_y - k[5], det = intrinsics_det(k);
    double right = (k[4] * u - k[1] * v) / det, down = (k[0] * v - k[3] * u) / det;
    for (int axis = 0; axis < 3; axis++) {
        const double *row = camera->rotation + 3 * axis;
        direction[axis] = row[RIGHT] * right + row[DOWN] * down + row[FORWARD];
        origin_m[axis] = camera->position_m[axis];
    }
}

bool camera_project(const Camera *camera, const double ego_m[3], double *u_px, double *v_px,
                    double *depth_m) {
    const double nearest_m = 0.1, *k = camera->intrinsics;
    const ImageCut *cut = &camera->cut;
    double own[3] = {0}; /* right, down, forward */
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 3; i++)
            own[i] += camera->rotation[3 * axis + i] * (ego_m[axis] - camera->position_m[axis]);
    *depth_m = own[FORWARD];
    if (!(*depth_m >= nearest_m))
        return false;
    double right = own[RIGHT] / *depth_m, down = own[DOWN] / *depth_m;
    *u_px = (k[0] * right + k[1] * down + k[2]) * cut->resize_x - cut->crop_x;
    *v_px = (k[3] * right + k[4] * down + k[5]) * cut->resize_y - cut->crop_y;
    return true;
}

CameraView camera_view(const Camera *camera, const Frustum *frustum) {
    const double deg = 180 / M_PI, *r = camera->rotation;
    const double forward[3] = {r[FORWARD], r[3 + FORWARD], r[6 + FORWARD]};
    const double middle = (frustum->input_w - 1) / 2.0, bottom = frustum->input_h - 1.0;
    double origin[3], top[3], low[3];
    camera_ray(camera, middle, 0, origin, top);
    camera_ray(camera, middle, bottom, origin, low);
    double fall = top[2] - low[2];
    return (CameraView){
        .heading_deg = atan2(forward[1], forward[0]) * deg,
        .tilt_deg = asin(fmin(fmax(forward[2], -1), 1)) * deg,
        .horizon_px = fabs(fall) > 1e-6 ? bottom * top[2] / fall : NAN,
    };
}

/* ---- frustum and rig ------------------------------------------------------------------------- */

int64_t frustum_depth_bins(const Frustum *frustum) {
    if (frustum->bins.count)
        return frustum->bins.count;
    double bins = ceil((frustum->depth_stop_m - frustum->depth_start_m) / frustum->depth_step_m);
    if (!(bins >= 1)) /* NaN also fails this test */
        return 0;
    return bins > INT_MAX ? INT64_MAX : (int64_t)bins; /* INT64_MAX: too many for any memory */
}

double frustum_depth_m(const Frustum *frustum, double d) {
    const DepthBins *bins = &frustum->bins;
    if (bins->count < 2)
        return frustum->depth_start_m + d * frustum->depth_step_m;
    /* The depth is interpolated linearly between two bins. Beyond both ends it is extrapolated. */
    int64_t low = (int64_t)fmin(fmax(floor(d), 0), (double)(bins->count - 2));
    return bins->m[low] + (d - (double)low) * (bins->m[low + 1] - bins->m[low]);
}

double frustum_bin_at(const Frustum *frustum, double depth_m) {
    const DepthBins *bins = &frustum->bins;
    if (bins->count < 2)
        return (depth_m - frustum->depth_start_m) / frustum->depth_step_m;
    int64_t low = 0, high = bins->count - 1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (bins->m[middle] <= depth_m)
            low = middle;
        else
            high = middle;
    }
    return (double)low + (depth_m - bins->m[low]) / (bins->m[low + 1] - bins->m[low]);
}

void frustum_set_bins(Frustum *frustum, const double *depths_m, int64_t count) {
    double last = depths_m[count - 1],
           step = count > 1 ? (last - depths_m[0]) / (double)(count - 1) : 1;
    frustum->bins.count = count;
    memcpy(frustum->bins.m, depths_m, (size_t)count * sizeof *depths_m);
    frustum->depth_start_m = depths_m[0];
    frustum->depth_step_m = step;
    frustum->depth_stop_m = last + step / 2;
}

static double linspace(int input, int feat, double index) {
    return feat > 1 ? index * ((double)(input - 1) / (feat - 1)) : 0;
}

double frustum_u_px(const Frustum *frustum, double w) {
    return linspace(frustum->input_w, frustum->feat_w, w);
}

double frustum_v_px(const Frustum *frustum, double h) {
    return linspace(frustum->input_h, frustum->feat_h, h);
}

void rig_point(const Rig *rig, int camera, int64_t d, int64_t h, int64_t w, double ego_m[3]) {
    const Frustum *frustum = &rig->frustum;
    double origin_m[3], direction[3], depth_m = frustum_depth_m(frustum, d);
    camera_ray(&rig->cameras[camera], frustum_u_px(frustum, (double)w),
               frustum_v_px(frustum, (double)h), origin_m, direction);
    point_on_ray(origin_m, direction, depth_m, ego_m);
}

void rig_directions(const Rig *rig, double *directions) {
    const Frustum *frustum = &rig->frustum;
    double origin_m[3];
    for (int camera = 0; camera < rig->camera_count; camera++)
        for (int h = 0; h < frustum->feat_h; h++)
            for (int w = 0; w < frustum->feat_w; w++, directions += 3)
                camera_ray(&rig->cameras[camera], frustum_u_px(frustum, w),
                           frustum_v_px(frustum, h), origin_m, directions);
}

bool rig_has_one_cut(const Rig *rig) {
    for (int i = 1; i < rig->camera_count; i++)
        if (memcmp(&rig->cameras[0].cut, &rig->cameras[i].cut, sizeof(ImageCut)))
            return false;
    return true;
}

GridAxes axes_of_grid(const Grid *grid) {
    GridAxes axes = {.min_m = {grid->x_min_m, grid->y_min_m, grid->z_min_m},
                     .max_m = {grid->x_max_m, grid->y_max_m, grid->z_max_m},
                     .count = {grid->nx, grid->ny, grid_slices(grid)}};
    for (int i = 0; i < 3; i++)
        axes.cell_m[i] = (axes.max_m[i] - axes.min_m[i]) / axes.count[i];
    return axes;
}

int64_t grid_cell(const Grid *grid, const double at_m[3]) {
    const SplatGrid nearest = splat_grid(grid, BEV_NEAREST);
    Splat splat;
    splat_point(&nearest, at_m, &splat);
    return splat.cells[0];
}

BevShape rig_shape(const Rig *rig, int64_t channels) {
    return (BevShape){
        .cameras = rig->camera_count,
        .depth_bins = frustum_depth_bins(&rig->frustum),
        .feat_h = rig->frustum.feat_h,
        .feat_w = rig->frustum.feat_w,
        .channels = channels,
        .nx = rig->grid.nx,
        .ny = (int64_t)rig->grid.ny * grid_slices(&rig->grid),
        .nz = grid_slices(&rig->grid),
    };
}

/* ---- checks --------------------------------------------------------------------------------- */

#define REFUSE(check_, path_, ...) data_refuse((check_)->err, (check_)->where, path_, __VA_ARGS__)

static bool check_finite(const Check *check, const char *path, const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return REFUSE(check, path, "", "element %d is %g, must be finite", i, values[i]);
    return true;
}

static bool check_sizes(const Check *check, const char *path, int a, int b) {
    return (a >= 1 && b >= 1) ||
           REFUSE(check, path, "", "size %d, must be at least 1", a < b ? a : b);
}

/* Checks that min < max, and that min, max and max - min are finite. */
static bool check_range(const Check *check, const char *path, double min, double max) {
    const double range[2] = {min, max};
    if (!check_finite(check, path, range, 2))
        return false;
    if (!(max > min))
        return REFUSE(check, path, "", "range %g to %g is empty or inverted", min, max);
    return isfinite(max - min) || REFUSE(check, path, "", "range %g to %g is too wide", min, max);
}

/* Checks that the depths of the bins are above 0 and ascend, listed or in equal steps. */
static bool check_depth(const Check *check, const Frustum *frustum) {
    const char *path = "frustum.depth_m";
    const DepthBins *bins = &frustum->bins;
    for (int64_t i = 0; i < bins->count; i++) {
        double before = i ? bins->m[i - 1] : 0;
        if (!(bins->m[i] > before) || !isfinite(bins->m[i]))
            return REFUSE(check, "frustum.depth_bins", "depths in metres, ascending",
                          "element %lld is %g, must be above %g", (long long)i, bins->m[i], before);
    }
    if (!check_range(check, path, frustum->depth_start_m, frustum->depth_stop_m) ||
        !check_finite(check, path, &frustum->depth_step_m, 1))
        return false;
    if (!(frustum->depth_start_m > 0))
        return REFUSE(check, path, "", "start %g m, must be above 0", frustum->depth_start_m);
    return frustum->depth_step_m > 0 ||
           REFUSE(check, path, "", "step %g m, must be above 0", frustum->depth_step_m);
}

static bool check_intrinsics(const Check *check, const char *path, const double k[9]) {
    if (!check_finite(check, path, k, 9))
        return false;
    if (k[6] != 0 || k[7] != 0 || k[8] != 1)
        return REFUSE(check, path, "", "last row is %g %g %g, must be 0 0 1", k[6], k[7], k[8]);
    double largest = fmax(fmax(fabs(k[0]), fabs(k[1])), fmax(fabs(k[3]), fabs(k[4])));
    double det = intrinsics_det(k);
    return fabs(det) > 1e-9 * largest * largest ||
           REFUSE(check, path, "focal lengths must not be 0", "K is singular: determinant %g", det);
}

/* Checks that a rotation has orthonormal columns and determinant 1. The tolerance allows
 * calibrations that are stored as float16, with errors of 1e-3. */
static bool check_rotation(const Check *check, const char *path, const double r[9]) {
    const double tolerance = 4e-3;
    if (!check_finite(check, path, r, 9))
        return false;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double dot = r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j];
            if (!(fabs(dot - (i == j)) <= tolerance))
                return REFUSE(check, path, "",
                              "not a rotation: column %d . column %d is %g, must be %d", i, j, dot,
                              i == j);
        }
    double det = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                 r[2] * (r[3] * r[7] - r[4] * r[6]);
    return det > 0 || REFUSE(check, path, "the camera axes are right, down, forward",
                             "not a rotation: determinant %g, a mirror image", det);
}

/* Returns the path of a camera's field: "cameras[2].resize". */
static ShortText camera_path(int camera, const char *field) {
    return short_text("cameras[%d].%s", camera, field);
}

/* Checks all numbers of a camera. An error names the field. */
static bool check_camera(const Check *check, const Camera *camera, int i) {
    const ImageCut *cut = &camera->cut;
    const double resize[] = {cut->resize_x, cut->resize_y}, crop[] = {cut->crop_x, cut->crop_y};
    if (!check_sizes(check, camera_path(i, "image_px").text, cut->image_w, cut->image_h) ||
        !check_finite(check, camera_path(i, "resize").text, resize, 2) ||
        !check_finite(check, camera_path(i, "crop_px").text, crop, 2) ||
        !check_intrinsics(check, camera_path(i, "intrinsics").text, camera->intrinsics) ||
        !check_rotation(check, camera_path(i, "rotation").text, camera->rotation) ||
        !check_finite(check, camera_path(i, "position_m").text, camera->position_m, 3))
        return false;
    return (resize[0] > 0 && resize[1] > 0) ||
           REFUSE(check, camera_path(i, "resize").text, "", "%g, must be above 0",
                  fmin(resize[0], resize[1]));
}

bool camera_check_cut(const Camera *camera, const Frustum *frustum, const char *file,
                      const char *place, Err *err) {
    const ImageCut *cut = &camera->cut;
    const double first[] = {cut->crop_x, cut->crop_y},
                 input[] = {frustum->input_w, frustum->input_h};
    const double size[] = {cut->image_w * cut->resize_x, cut->image_h * cut->resize_y};
    for (int axis = 0; axis < 2; axis++) {
        const double end = first[axis] + input[axis];
        const double in_image = fmin(end, size[axis]) - fmax(first[axis], 0);
        if (!(in_image >= 0.5 * input[axis]))
            return data_refuse(
                err, file, place, "at least half of the crop lies in the image; the rest is black",
                "camera '%s': the input takes %s %g to %g of its image, which has %g "
                "after the resize",
                camera->name, axis ? "rows" : "columns", first[axis], end, size[axis]);
    }
    return true;
}

bool rig_check(const Rig *rig, const char *where, Err *err) {
    const Check check = {where, err};
    const Frustum *frustum = &rig->frustum;
    const Grid *grid = &rig->grid;
    if (rig->camera_count < 1 || rig->camera_count > RIG_MAX_CAMERAS)
        return REFUSE(&check, "cameras", "", "%d cameras, must be 1 to %d", rig->camera_count,
                      RIG_MAX_CAMERAS);
    for (int i = 0; i < rig->camera_count; i++)
        if (!check_camera(&check, &rig->cameras[i], i))
            return false;
    return check_sizes(&check, "frustum.input_px", frustum->input_w, frustum->input_h) &&
           check_sizes(&check, "frustum.features", frustum->feat_w, frustum->feat_h) &&
           check_depth(&check, frustum) &&
           check_range(&check, "grid.x_m", grid->x_min_m, grid->x_max_m) &&
           check_range(&check, "grid.y_m", grid->y_min_m, grid->y_max_m) &&
           check_range(&check, "grid.z_m", grid->z_min_m, grid->z_max_m) &&
           check_sizes(&check, "grid.cells", grid->nx, grid->ny) &&
           check_sizes(&check, "grid.nz", grid_slices(grid), 1);
}

/* ---- errors in a calibration ----------------------------------------------------------------- */

static void multiply_matrices(const double a[9], const double b[9], double product[9]) {
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            product[3 * row + column] = 0;
            for (int k = 0; k < 3; k++)
                product[3 * row + column] += a[3 * row + k] * b[3 * k + column];
        }
}

const char *const rounding_names[ROUNDING_COUNT] = {"scene", "floor", "truncate"};

bool grid_use_rounding(Grid *grid, GridRounding rounding) {
    int before = grid->truncate;
    if (rounding != ROUNDING_SCENE)
        grid->truncate = rounding == ROUNDING_TRUNCATE;
    return grid->truncate != before;
}

const FaultInfo fault_infos[FAULTS] = {
    {"yaw", "yaw", "deg"},          {"pitch", "pitch", "deg"}, {"roll", "roll", "deg"},
    {"height", "height", "m"},      {"shift-x", "x", "m"},     {"shift-y", "y", "m"},
    {"focal", "focal length", "%"}, {"delay", "delay", "ms"},
};

void camera_apply_error(Camera *camera, const CameraError *error) {
    const double degree = M_PI / 180;
    double yaw = error->yaw_deg * degree, pitch = error->pitch_deg * degree;
    double roll = error->roll_deg * degree;
    /* The camera axes are right, down, forward, so pitching up turns forward away from down. */
    const double about_z[9] = {cos(yaw), -sin(yaw), 0, sin(yaw), cos(yaw), 0, 0, 0, 1};
    const double about_right[9] = {1, 0, 0, 0, cos(pitch), -sin(pitch), 0, sin(pitch), cos(pitch)};
    const double about_forward[9] = {cos(roll), -sin(roll), 0, sin(roll), cos(roll), 0, 0, 0, 1};
    double yawed[9], pitched[9];
    multiply_matrices(about_z, camera->rotation, yawed);
    multiply_matrices(yawed, about_right, pitched);
    multiply_matrices(pitched, about_forward, camera->rotation);
    const double moved_m[3] = {error->x_m, error->y_m, error->height_m};
    for (int axis = 0; axis < 3; axis++)
        camera->position_m[axis] += moved_m[axis];
    for (int i = 0; i < 2; i++)
        camera->intrinsics[4 * i] *= 1 + error->focal_percent / 100;
}

bool camera_error_equal(const CameraError *a, const CameraError *b) {
    for (int i = 0; i < FAULTS; i++)
        if (a->each[i] != b->each[i])
            return false;
    return true;
}

bool camera_error_same_map(const CameraError *a, const CameraError *b) {
    CameraError with_delay_of_b = *a;
    with_delay_of_b.delay_ms = b->delay_ms;
    return camera_error_equal(&with_delay_of_b, b);
}

bool camera_error_keeps_map(const CameraError *error) {
    const CameraError none = {.each = {0}};
    return camera_error_same_map(error, &none);
}
