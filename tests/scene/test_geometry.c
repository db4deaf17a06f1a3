/* SPDX-License-Identifier: MIT */
/* Cameras, frustum and grid: the conventions are compared with explicit matrices. What is no rig:
 * test_npz_refused.c, test_scene_json.c. */
#include "src/scene/geometry.h"
#include "tests/support/scenes.h"

#include <math.h>

static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance;
}

/* Columns of a camera's rotation. */
enum { RIGHT, DOWN, FORWARD };

static bool axis_is(const Camera *camera, int column, double x, double y, double z) {
    const double *of = camera->rotation + column;
    return near(of[0], x, 1e-12) && near(of[3], y, 1e-12) && near(of[6], z, 1e-12);
}

static Camera posed(double yaw_deg, double pitch_deg, double roll_deg) {
    Camera camera = {.name = ""};
    camera_set_pose(&camera, yaw_deg, pitch_deg, roll_deg, (const double[]){1, 2, 3});
    return camera;
}

static void test_pose(void) {
    const Camera level = posed(0, 0, 0), left = posed(90, 0, 0), up = posed(0, 30, 0),
                 rolled = posed(0, 0, 30);
    tap_ok(axis_is(&level, FORWARD, 1, 0, 0) && axis_is(&level, RIGHT, 0, -1, 0) &&
               axis_is(&level, DOWN, 0, 0, -1),
           "a level camera looks along x, its right is -y, its down is -z");
    tap_ok(!memcmp(level.position_m, (double[]){1, 2, 3}, sizeof level.position_m),
           "position is taken over");
    tap_ok(axis_is(&left, FORWARD, 0, 1, 0),
           "yaw turns anticlockwise: 90 degrees look along y, left");
    tap_ok(axis_is(&up, FORWARD, sqrt(0.75), 0, 0.5), "positive pitch looks up");
    tap_ok(axis_is(&rolled, RIGHT, 0, -sqrt(0.75), -0.5),
           "positive roll turns the right axis downwards");
}

static void test_frustum(void) {
    Frustum f = {704, 256, 44, 16, 1, 60, 1, {0}};
    tap_ok(frustum_u_px(&f, 0) == 0 && near(frustum_u_px(&f, 43), 703, 1e-9) &&
               near(frustum_v_px(&f, 15), 255, 1e-9),
           "feature pixels run from 0 to the input's last pixel");
    tap_ok(near(frustum_u_px(&f, 1), 703.0 / 43, 1e-12), "and lie evenly in between");
    f.feat_w = f.feat_h = 1;
    tap_ok(frustum_u_px(&f, 0) == 0 && frustum_v_px(&f, 0) == 0, "a single one lies at 0");
    tap_ok(frustum_depth_bins(&f) == 59, "1 to 60 m by 1 m are 59 bins");
    tap_ok(frustum_depth_m(&f, 0) == 1 && frustum_depth_m(&f, 58) == 59, "of 1 m to 59 m");
    f.depth_step_m = 2;
    tap_ok(frustum_depth_bins(&f) == 30, "by 2 m 30, the last at 59 m");
    f.depth_step_m = 100;
    tap_ok(frustum_depth_bins(&f) == 1, "one bin where the step is longer than the range");
    f.depth_stop_m = 1;
    tap_ok(frustum_depth_bins(&f) == 0, "none in an empty range");
    f.depth_stop_m = NAN;
    tap_ok(frustum_depth_bins(&f) == 0, "none up to NaN");
}

static void invert(const double m[9], double out[9]) {
    double det = 0;
    for (int i = 0; i < 3; i++)
        det += m[i] *
               (m[3 + (i + 1) % 3] * m[6 + (i + 2) % 3] - m[3 + (i + 2) % 3] * m[6 + (i + 1) % 3]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3, p = (r + 1) % 3, q = (r + 2) % 3;
            out[3 * r + c] = (m[3 * a + p] * m[3 * b + q] - m[3 * a + q] * m[3 * b + p]) / det;
        }
}

static void multiply(const double m[9], const double v[3], double out[3]) {
    for (int r = 0; r < 3; r++)
        out[r] = m[3 * r] * v[0] + m[3 * r + 1] * v[1] + m[3 * r + 2] * v[2];
}

/* BEVDet: undo the augmentation on (u, v), scale to (u d, v d, d), then rotation * K^-1. */
static void bevdet_point(const Rig *rig, int c, int d, int h, int w, double ego[3]) {
    const Frustum *f = &rig->frustum;
    const ImageCut *cut = &rig->cameras[c].cut;
    double u = (f->input_w - 1.0) * w / (f->feat_w - 1),
           v = (f->input_h - 1.0) * h / (f->feat_h - 1);
    double depth = f->depth_start_m + d * f->depth_step_m;
    const double scaled[3] = {(u + cut->crop_x) / cut->resize_x * depth,
                              (v + cut->crop_y) / cut->resize_y * depth, depth};
    double inverse[9], seen[3];
    invert(rig->cameras[c].intrinsics, inverse);
    multiply(inverse, scaled, seen);
    multiply(rig->cameras[c].rotation, seen, ego);
    for (int axis = 0; axis < 3; axis++)
        ego[axis] += rig->cameras[c].position_m[axis];
}

static void test_points(Rig *rig) {
    double worst = 0, worst_back = 0;
    int seen = 0;
    for (int c = 0; c < rig->camera_count; c++)
        for (int d = 0; d < 59; d += 7)
            for (int h = 0; h < rig->frustum.feat_h; h += 5)
                for (int w = 0; w < rig->frustum.feat_w; w += 3) {
                    double want[3], got[3], u, v, depth;
                    bevdet_point(rig, c, d, h, w, want);
                    rig_point(rig, c, d, h, w, got);
                    for (int axis = 0; axis < 3; axis++)
                        worst = fmax(worst, fabs(got[axis] - want[axis]));
                    seen += camera_project(&rig->cameras[c], got, &u, &v, &depth);
                    worst_back = fmax(worst_back, fabs(u - frustum_u_px(&rig->frustum, w)));
                    worst_back = fmax(worst_back, fabs(v - frustum_v_px(&rig->frustum, h)));
                    worst_back = fmax(worst_back, fabs(depth - frustum_depth_m(&rig->frustum, d)));
                }
    tap_ok(seen > 1000 && worst < 1e-11, "points agree with BEVDet's matrices: %d, worst %.1e m",
           seen, worst);
    tap_ok(worst_back < 1e-9, "and project back to their pixel and depth: worst %.1e", worst_back);
}

static void test_behind(const Rig *rig) {
    double u, v, depth, ego[3], origin[3], direction[3];
    camera_ray(&rig->cameras[0], 100, 100, origin, direction);
    for (int axis = 0; axis < 3; axis++)
        ego[axis] = origin[axis] - 5 * direction[axis];
    tap_ok(!camera_project(&rig->cameras[0], ego, &u, &v, &depth),
           "a point behind the camera is not projected");
    tap_ok(!camera_project(&rig->cameras[0], origin, &u, &v, &depth),
           "nor is the camera's own place");
}

TAP_SUITE(geometry) {
    Scene *scene = load_scene("intersection");
    test_pose();
    test_frustum();
    test_points(&scene->rig);
    test_behind(&scene->rig);
    scene->rig.cameras[1].intrinsics[1] = 3; /* skew, and unlike focal lengths */
    scene->rig.cameras[1].intrinsics[0] = 1400;
    scene->rig.cameras[2].cut.crop_x = 35.5; /* the scene crops rows alone */
    test_points(&scene->rig);
    drop_scene(scene);
}
