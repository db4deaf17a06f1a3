/* SPDX-License-Identifier: MIT */
/* From the matrices of a camera to its pose: for the CPU and for a kernel. */
#pragma once

#ifdef __CUDACC__
#define POSE_INLINE static __host__ __device__ inline
#else
#define POSE_INLINE static inline
#endif

POSE_INLINE void pose_multiply(const double a[9], const double b[9], double product[9]) {
    for (int i = 0; i < 9; i++)
        product[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] +
                     a[i / 3 * 3 + 2] * b[6 + i % 3];
}

/* Inverts a matrix by cofactors. A singular matrix gives numbers that are not finite. */
POSE_INLINE void pose_invert(const double m[9], double inverse[9]) {
    for (int i = 0; i < 9; i++) {
        int row = i % 3, column = i / 3; /* transposed */
        const double *a = m + (row + 1) % 3 * 3, *b = m + (row + 2) % 3 * 3;
        int c = (column + 1) % 3, d = (column + 2) % 3;
        inverse[i] = a[c] * b[d] - a[d] * b[c];
    }
    double det = m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6];
    for (int i = 0; i < 9; i++)
        inverse[i] /= det;
}

/* The matrices and moves that a camera's pose is composed of. */
typedef struct {
    double to_ego[9], position_m[3]; /* of the camera's frame in that of the vehicle */
    double intrinsics[9];
    double image[9];              /* (u, v, 1) of the image to that of the network's input */
    double bev[9], bev_move_m[3]; /* the vehicle's frame to that of the grid */
} PoseParts;

/* Sets matrix (3, 3) and origin_m (3): bev * to_ego * inverse(intrinsics) * inverse(image). */
POSE_INLINE void pose_compose(const PoseParts *p, double matrix[9], double origin_m[3]) {
    double product[9], inverse[9];
    pose_multiply(p->bev, p->to_ego, product);
    pose_invert(p->intrinsics, inverse);
    pose_multiply(product, inverse, matrix);
    for (int i = 0; i < 9; i++)
        product[i] = matrix[i];
    pose_invert(p->image, inverse);
    pose_multiply(product, inverse, matrix);
    for (int i = 0; i < 3; i++)
        origin_m[i] = p->bev[3 * i] * p->position_m[0] + p->bev[3 * i + 1] * p->position_m[1] +
                      p->bev[3 * i + 2] * p->position_m[2] + p->bev_move_m[i];
}

/* The arrays of many cameras, as BEVDet has them: float, or double where `wide`. */
typedef struct {
    const void *to_ego, *intrinsics, *image_rotation, *image_move, *bev;
    int bev_size, wide; /* bev_size: 3 or 4 rows and columns; 0: none */
} PoseArrays;

POSE_INLINE double pose_number(const void *array, long long i, int wide) {
    return wide ? ((const double *)array)[i] : ((const float *)array)[i];
}

/* Returns the parts of camera i, which is one of `sample`. */
POSE_INLINE PoseParts pose_parts(const PoseArrays *a, long long i, long long sample) {
    PoseParts parts;
    for (int k = 0; k < 9; k++) {
        int row = k / 3, column = k % 3, n = a->bev_size;
        parts.to_ego[k] = pose_number(a->to_ego, 16 * i + 4 * row + column, a->wide);
        parts.intrinsics[k] = pose_number(a->intrinsics, 9 * i + k, a->wide);
        parts.image[k] = pose_number(a->image_rotation, 9 * i + k, a->wide);
        if (column == 2 && row < 2)
            parts.image[k] += pose_number(a->image_move, 3 * i + row, a->wide);
        parts.bev[k] =
            n ? pose_number(a->bev, sample * n * n + n * row + column, a->wide) : row == column;
    }
    for (int k = 0; k < 3; k++) {
        parts.position_m[k] = pose_number(a->to_ego, 16 * i + 4 * k + 3, a->wide);
        parts.bev_move_m[k] =
            a->bev_size == 4 ? pose_number(a->bev, 16 * sample + 4 * k + 3, a->wide) : 0;
    }
    return parts;
}
