/* Random moving cameras: flips, scales, cameras that roll, see nothing or are not finite; and what
 * pooling and its gradients are for them, by the formula and in double precision. */
#pragma once

#include "tests/lib/lib_case.h"

#include <math.h>

enum { MOVING_CAMERAS = 4, MOVING_SAMPLES = 2 };

typedef struct {
    BevpoolFrustum frustum;
    BevpoolPose poses[MOVING_SAMPLES * MOVING_CAMERAS];
    int64_t channels, depths, feats, cells; /* depths, feats, cells: rows of all samples */
    float *depth, *feat, *grad_out;         /* as the library takes them, channels last */
    double *out, *grad_depth, *grad_feat;
} MovingCase;

static uint64_t moving_state;

static inline double moving_random(double low, double high) {
    moving_state = moving_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(moving_state >> 11) / 9007199254740992.0;
}

static inline int moving_int(int low, int high) {
    return (int)moving_random(low, high + 0.999);
}

/* A pose by bevpool_pose, of a camera anywhere, whose image and BEV may be flipped. */
static inline BevpoolPose moving_pose(const BevpoolFrustum *f) {
    BevpoolPose pose;
    const double u = f->input_w / 2.0, v = f->input_h / 2.0;
    BevpoolCamera camera = {.intrinsics = {0, 0, u, 0, 0, v, 0, 0, 1}};
    Camera own = {0};
    const double at_m[3] = {moving_random(-1, 1), moving_random(-1, 1), moving_random(1, 2)};
    const double flip = moving_int(0, 1) ? -1 : 1, scale = moving_random(0.8, 1.2);
    const double turn = moving_random(-0.1, 0.1), bev = moving_random(-0.4, 0.4);
    const double image[9] = {flip * cos(turn), -sin(turn), flip < 0 ? f->input_w - 1 : 3,
                             sin(turn),        cos(turn),  -2, 0, 0, 1};
    const double side = moving_int(0, 1) ? -scale : scale;
    const double grid[16] = {scale * cos(bev), -scale * sin(bev), 0, 0.1, side * sin(bev),
                             side * cos(bev),  0, 0, 0, 0, scale, 0, 0, 0, 0, 1};
    camera.intrinsics[0] = camera.intrinsics[4] = f->input_w * moving_random(0.4, 1.2);
    camera_set_pose(&own, moving_random(0, 360), moving_random(-20, 20),
                    moving_int(0, 3) ? moving_random(-3, 3) : moving_random(-90, 90), at_m);
    memcpy(camera.rotation, own.rotation, sizeof camera.rotation);
    memcpy(camera.position_m, own.position_m, sizeof camera.position_m);
    fine(bevpool_pose(&pose, &camera, image, grid, &error), "a pose");
    if (moving_int(0, 15) == 0)
        pose.matrix[moving_int(0, 8)] = NAN;
    else if (moving_int(0, 15) == 0)
        memset(pose.matrix, 0, sizeof pose.matrix); /* all points at the camera */
    return pose;
}

/* ---- what is right --------------------------------------------------------------------------- */

typedef struct {
    int count;
    int64_t cells[4];
    double weights[4];
} MovingSplat;

static inline MovingSplat moving_splat(const BevpoolFrustum *f, const double at_m[3]) {
    MovingSplat splat = {0};
    const double low[3] = {f->x_min_m, f->y_min_m, f->z_min_m};
    const double high[3] = {f->x_max_m, f->y_max_m, f->z_max_m};
    const int counts[3] = {f->nx, f->ny, f->nz};
    double at[3];
    bool inside[3];
    for (int i = 0; i < 3; i++) {
        double cell_m = (high[i] - low[i]) / counts[i];
        at[i] = (at_m[i] - low[i]) / cell_m;
        inside[i] = at_m[i] < high[i] &&
                    (f->truncate ? at_m[i] > low[i] - cell_m : at_m[i] >= low[i]);
    }
    if (!inside[2] || (f->align == BEVPOOL_NEAREST && !(inside[0] && inside[1])))
        return splat;
    int64_t z = (int64_t)fmin(trunc(at[2]), counts[2] - 1);
    double shift = f->align == BEVPOOL_BILINEAR ? 0.5 : 0;
    double x = f->align == BEVPOOL_NEAREST ? fmin(trunc(at[0]), counts[0] - 1) : at[0] - shift;
    double y = f->align == BEVPOOL_NEAREST ? fmin(trunc(at[1]), counts[1] - 1) : at[1] - shift;
    if (!(x > -1 && x < counts[0] && y > -1 && y < counts[1]))
        return splat;
    for (int i = 0; i < 4; i++) {
        double cx = floor(x) + i / 2, cy = floor(y) + i % 2;
        double weight = (1 - fabs(x - cx)) * (1 - fabs(y - cy));
        if (cx < 0 || cx >= counts[0] || cy < 0 || cy >= counts[1] || !((float)weight > 0))
            continue;
        splat.cells[splat.count] = (z * counts[1] + (int64_t)cy) * counts[0] + (int64_t)cx;
        splat.weights[splat.count++] = (float)weight;
    }
    return splat;
}

static inline void moving_add(MovingCase *m, int64_t depth, int64_t feat, int64_t cell,
                              double weight) {
    double dot = 0;
    for (int64_t c = 0; c < m->channels; c++) {
        double f = m->feat[feat * m->channels + c], g = m->grad_out[cell * m->channels + c];
        m->out[cell * m->channels + c] += weight * m->depth[depth] * f;
        m->grad_feat[feat * m->channels + c] += weight * m->depth[depth] * g;
        dot += f * g;
    }
    m->grad_depth[depth] += weight * dot;
}

static inline void moving_solve(MovingCase *m) {
    const BevpoolFrustum *f = &m->frustum;
    int64_t pixels = (int64_t)f->feat_h * f->feat_w;
    int64_t in_sample = (int64_t)f->nx * f->ny * f->nz;
    for (int64_t rank = 0; rank < m->depths; rank++) {
        int64_t pixel = rank % pixels, bin = rank / pixels % f->depth_bins;
        int64_t camera = rank / pixels / f->depth_bins;
        const BevpoolPose *pose = &m->poses[camera];
        double u = f->feat_w > 1 ? (double)(pixel % f->feat_w) *
                                       ((double)(f->input_w - 1) / (f->feat_w - 1))
                                 : 0;
        double v = f->feat_h > 1 ? (double)(pixel / f->feat_w) *
                                       ((double)(f->input_h - 1) / (f->feat_h - 1))
                                 : 0;
        double depth = f->depth_start_m + (double)bin * f->depth_step_m, at_m[3];
        for (int i = 0; i < 3; i++) {
            const double *row = pose->matrix + 3 * i;
            at_m[i] = pose->origin_m[i] + depth * (row[0] * u + row[1] * v + row[2]);
        }
        MovingSplat splat = moving_splat(f, at_m);
        for (int i = 0; i < splat.count; i++)
            moving_add(m, rank, camera * pixels + pixel,
                       camera / f->cameras * in_sample + splat.cells[i], splat.weights[i]);
    }
}

static inline MovingCase moving_case(uint64_t seed, int64_t channels) {
    MovingCase m = {.channels = channels};
    BevpoolFrustum *f = &m.frustum;
    moving_state = seed * 2654435761u + 1;
    *f = (BevpoolFrustum){.size = sizeof *f,
                          .batch = moving_int(1, MOVING_SAMPLES),
                          .cameras = moving_int(1, MOVING_CAMERAS),
                          .align = moving_int(0, 2),
                          .input_w = moving_int(30, 400),
                          .input_h = moving_int(20, 200),
                          .feat_w = moving_int(1, 40),
                          .feat_h = moving_int(1, 36),
                          .depth_bins = moving_int(1, 40),
                          .depth_start_m = moving_random(0.5, 2),
                          .depth_step_m = moving_random(0.3, 1.5),
                          .x_min_m = -20,
                          .x_max_m = 21,
                          .y_min_m = -18.5,
                          .y_max_m = 18.5,
                          .z_min_m = -5,
                          .z_max_m = 4,
                          .nx = moving_int(1, 60),
                          .ny = moving_int(1, 60),
                          .nz = moving_int(1, 3),
                          .truncate = moving_int(0, 1)};
    int64_t cameras = f->batch * f->cameras;
    for (int64_t i = 0; i < cameras; i++)
        m.poses[i] = moving_pose(f);
    m.feats = cameras * f->feat_h * f->feat_w;
    m.depths = m.feats * f->depth_bins;
    m.cells = f->batch * f->nx * f->ny * f->nz;
    f->most_entries = 4 * m.depths; /* there is always room */
    m.depth = malloc((size_t)m.depths * sizeof *m.depth);
    m.feat = malloc((size_t)(m.feats * channels) * sizeof *m.feat);
    m.grad_out = malloc((size_t)(m.cells * channels) * sizeof *m.grad_out);
    m.out = calloc((size_t)(m.cells * channels), sizeof *m.out);
    m.grad_depth = calloc((size_t)m.depths, sizeof *m.grad_depth);
    m.grad_feat = calloc((size_t)(m.feats * channels), sizeof *m.grad_feat);
    for (int64_t i = 0; i < m.depths; i++)
        m.depth[i] = (float)moving_random(0, 1);
    for (int64_t i = 0; i < m.feats * channels; i++)
        m.feat[i] = (float)moving_random(-1, 1);
    for (int64_t i = 0; i < m.cells * channels; i++)
        m.grad_out[i] = (float)moving_random(-1, 1);
    moving_solve(&m);
    return m;
}

static inline void moving_free(MovingCase *m) {
    void *arrays[] = {m->depth, m->feat, m->grad_out, m->out, m->grad_depth, m->grad_feat};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

/* Returns the largest difference, in units of the largest right value. */
static inline double moving_error(const float *got, const double *right, int64_t count) {
    double most = 0, largest = 1e-30;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(right[i]));
        most = isfinite(got[i]) ? fmax(most, fabs(got[i] - right[i])) : INFINITY;
        if (isinf(most))
            return most;
    }
    return most / largest;
}

/* BEVDet's matrices of two samples with two cameras each, in single or double precision; the last
 * camera's intrinsics cannot be inverted. `poses` are right for the others. */
enum { MATRIX_NUMBERS = 4 * (16 + 9 + 9 + 3) + 2 * 16 };

static inline BevpoolMatrices moving_matrices(void *numbers, bool wide, BevpoolPose poses[4]) {
    const int sizes[5] = {4 * 16, 4 * 9, 4 * 9, 4 * 3, 2 * 16};
    double all[MATRIX_NUMBERS] = {0}, *array[5];
    const void *given[5];
    for (int i = 0, at = 0; i < 5; at += sizes[i++]) {
        array[i] = all + at;
        given[i] = (char *)numbers + (size_t)at * (wide ? sizeof(double) : sizeof(float));
    }
    for (int i = 0; i < 4; i++) {
        const double degrees = 30 * i + 10, c = cos(degrees / 57.3), s = sin(degrees / 57.3);
        BevpoolCamera camera = {{100 + i, 0, 50, 0, 90, 40, 0, 0, 1},
                                {s, 0, c, -c, 0, s, 0, -1, 0},
                                {i, 0.5, 1.5}};
        double image[9] = {i % 2 ? -0.5 : 0.5, 0.1, 7, -0.1, 0.5, -i, 0, 0, 1};
        double bev[16] = {1.1 * c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        bev[3] = i < 2 ? 0.25 : -0.5;
        if (i % 2) /* the sample's */
            memcpy(bev, array[4] + 16 * (i / 2), sizeof bev);
        for (int k = 0; k < 9; k++) {
            array[0][16 * i + k / 3 * 4 + k % 3] = camera.rotation[k];
            array[1][9 * i + k] = i == 3 ? 0 : camera.intrinsics[k];
            array[2][9 * i + k] = k == 2 || k == 5 ? 0 : image[k];
        }
        for (int k = 0; k < 3; k++)
            array[0][16 * i + 4 * k + 3] = camera.position_m[k];
        array[3][3 * i] = image[2], array[3][3 * i + 1] = image[5];
        memcpy(array[4] + 16 * (i / 2), bev, sizeof bev);
        fine(bevpool_pose(&poses[i], &camera, image, bev, &error), "a pose");
    }
    for (int i = 0; i < MATRIX_NUMBERS; i++)
        if (wide)
            ((double *)numbers)[i] = all[i];
        else
            ((float *)numbers)[i] = (float)all[i];
    return (BevpoolMatrices){.size = sizeof(BevpoolMatrices), .batch = 2, .cameras = 2,
                             .wide = wide, .sensor2ego = given[0], .intrinsics = given[1],
                             .image_rotation = given[2], .image_translation = given[3],
                             .bev = given[4], .bev_size = 4};
}

/* Returns the largest difference of the right poses; infinite if the last one is finite. */
static inline double moving_pose_error(const BevpoolPose got[4], const BevpoolPose right[4]) {
    const double *a = got[0].matrix, *b = right[0].matrix; /* a pose is 12 numbers */
    double most = isfinite(got[3].matrix[0]) ? INFINITY : 0;
    for (int i = 0; i < 3 * 12; i++)
        most = fabs(a[i] - b[i]) <= 1 ? fmax(most, fabs(a[i] - b[i])) : INFINITY;
    return most;
}
