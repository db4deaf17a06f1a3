/* Kernels that leave out points of depth 0: the same bits as the row that reads all points, and
 * what an infinite feature does. */
#include "tests/support/judged.h"

#include <math.h>

static int64_t zeros_of(const CaseData *data) {
    int64_t zeros = 0;
    for (size_t i = 0; i < features_depth_count(&data->shape); i++)
        zeros += data->features.depth[i] == 0;
    return zeros;
}

/* Pools with `kernel`; the caller frees the codes. */
static void *pooled_by(const BevKernel *kernel, const HostProblem *host) {
    size_t bytes = bev_output_bytes(&host->view);
    judged_run(kernel, &host->view);
    return memcpy(malloc(bytes + 1), host->view.out.data, bytes);
}

static bool same_bits(const BevKernel *kernel, const HostProblem *host) {
    void *all = pooled_by(bev_kernel_find(kernel->skips), host), *some = pooled_by(kernel, host);
    bool same = !memcmp(all, some, bev_output_bytes(&host->view));
    free(all);
    free(some);
    return same;
}

static void test_bits(const BevKernel *kernel, const char *name) {
    int tried = 0, same = 0;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
            if (!(kernel->dtypes & 1u << dtype) || !(kernel->aligns & 1u << align))
                continue;
            CaseData data = open_case(name, (BevAlign)align, 1, 3);
            HostProblem host = case_problem(&data, (BevDtype)dtype, (BevAlign)align);
            tried++;
            same += zeros_of(&data) > 0 && same_bits(kernel, &host);
            problem_free(&host);
            case_free(&data);
        }
    tap_ok(tried > 0 && same == tried, "%s on %s: in %d of %d formats and aligns the bits of %s",
           kernel->name, name, same, tried, kernel->skips);
}

/* The first feature row whose points all have depth 0, and has points; -1: none. */
static int64_t unseen_row(const CaseData *data) {
    const BevMap *map = &data->map;
    for (int64_t row = 0; row < data->shape.cameras * data->shape.feat_h * data->shape.feat_w;
         row++) {
        int64_t points = 0, seen = 0;
        for (int64_t t = 0; t < map->points; t++)
            if (map->ranks_feat[t] == row) {
                points++;
                seen += data->features.depth[map->ranks_depth[t]] != 0;
            }
        if (points && !seen)
            return row;
    }
    return -1;
}

static int64_t not_finite(const float *values, int64_t count) {
    int64_t lost = 0;
    for (int64_t i = 0; i < count; i++)
        lost += !isfinite(values[i]);
    return lost;
}

static void test_infinity(const BevKernel *kernel) {
    CaseData data = open_case("sparse_columns", BEV_NEAREST, 1, 3);
    HostProblem host = case_problem(&data, BEV_FP32, BEV_NEAREST);
    int64_t row = unseen_row(&data), count = host.view.out.rows * host.view.out.row_len;
    tap_need(row >= 0, "a pixel without depth");
    ((float *)host.view.feat.data)[row * data.shape.channels] = INFINITY;
    float *all = pooled_by(bev_kernel_find(kernel->skips), &host), *some = pooled_by(kernel, &host);
    tap_ok(not_finite(all, count) > 0 && not_finite(some, count) == 0,
           "%s: an infinite feature reaches no cell over points of depth 0", kernel->name);
    free(all);
    free(some);
    problem_free(&host);
    case_free(&data);
}

TAP_SUITE(skips) {
    int rows = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *row = bev_kernels[i],
                        *all = row->skips ? bev_kernel_find(row->skips) : NULL;
        if (!row->skips)
            continue;
        rows++;
        tap_ok(all && all->where == row->where && all->direction == row->direction &&
                   !bev_on_ladder(row) && row->prunes,
               "%s names the row that reads all points, and is not on the ladder", row->name);
        if (!row->launch || row->where != BEV_CPU)
            continue;
        test_bits(row, "sparse");
        test_bits(row, "sparse_columns");
        test_infinity(row);
    }
    tap_ok(rows > 0, "%d rows leave out points", rows);
}
