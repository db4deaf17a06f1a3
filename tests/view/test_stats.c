/* SPDX-License-Identifier: MIT */
/* A place in the sorted order, and principal components. */
#include "src/view/bev/stats.h"
#include "tests/support/tap.h"

#include <math.h>

/* Points on a known line with a little spread across it. */
TAP_SUITE(stats_pca) {
    enum { COUNT = 101 };
    float vectors[COUNT * 3];
    for (int i = 0; i < COUNT; i++) {
        float along = (float)(i - 50) / 50, across = i % 2 ? 0.1f : -0.1f;
        vectors[3 * i] = 5 - 0.6f * along + 0.8f * across;
        vectors[3 * i + 1] = -0.8f * along - 0.6f * across;
        vectors[3 * i + 2] = 7;
    }
    Pca pca;
    Err err;
    if (!tap_ok(pca_fit(vectors, COUNT, 3, &pca, &err), "fits"))
        return;
    tap_ok(fabs(pca.axes[0] - 0.6) < 1e-3 && fabs(pca.axes[1] - 0.8) < 1e-3 &&
               fabs(pca.axes[2]) < 1e-9,
           "finds the axis, with its largest entry positive");
    tap_ok(fabs(pca.axes[3] - 0.8) < 1e-3 && fabs(pca.axes[4] + 0.6) < 1e-3,
           "finds the second axis across it");
    tap_ok(pca.axes[6] == 0 && pca.axes[7] == 0 && pca.axes[8] == 0 && pca.sigma[2] == 0,
           "has no third axis where there is no third dimension");
    tap_ok(pca.explained[0] > 0.95 && fabs(pca.explained[0] + pca.explained[1] - 1) < 1e-9,
           "shares of the variance sum to one");
    double at[PCA_COMPONENTS];
    pca_project(&pca, vectors, 1, at);
    tap_ok(fabs(at[0] - sqrt(3)) < 0.05 && at[2] == 0, "the end of a line is 1.7 sigma out");
    pca_free(&pca);
    pca_free(NULL);
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Every place of arrays of every size, values few and many. */
TAP_SUITE(stats_nth) {
    enum { MOST = 40 };
    uint32_t random = 1;
    int wrong = 0, asked = 0;
    for (int kinds = 1; kinds <= 64; kinds *= 4)
        for (size_t count = 1; count <= MOST; count++) {
            float values[MOST], sorted[MOST], moved[MOST];
            for (size_t i = 0; i < count; i++) {
                random = random * 1664525 + 1013904223;
                values[i] = sorted[i] = (float)(random >> 16 & (uint32_t)(kinds - 1)) - 8;
            }
            qsort(sorted, count, sizeof *sorted, ascending);
            for (size_t n = 0; n < count; n++, asked++) {
                memcpy(moved, values, sizeof moved);
                wrong += nth_smallest(moved, count, n) != sorted[n];
                qsort(moved, count, sizeof *moved, ascending);
                wrong += memcmp(moved, sorted, count * sizeof *moved) != 0;
            }
        }
    tap_ok(asked > 3000 && wrong == 0, "%d values at their places without sorting", asked);
}
