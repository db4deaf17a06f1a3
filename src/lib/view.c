/* SPDX-License-Identifier: MIT */
/* View transforms: checks the strides of a network's arrays. */
#include "src/lib/lib_internal.h"

#include <float.h>
#include <math.h>

enum { DIMS = 4 };

static const char *const dims[DIMS] = {"cameras", "channels", "rows", "columns"};

int64_t lib_view_extent(const BevShape *shape, int64_t channels, const BevStrides *s) {
    return 1 + (shape->cameras - 1) * s->camera + (channels - 1) * s->channel +
           (shape->feat_h - 1) * s->row + (shape->feat_w - 1) * s->column;
}

/* Checks that no two elements share memory. In ascending order of strides, each stride must be at
 * least the extent of the dimensions before. Dimensions of one element are ignored. */
static BevpoolStatus check_strides(const char *name, const int64_t sizes[DIMS],
                                   const int64_t strides[DIMS], BevpoolError *error) {
    int64_t extent = 1; /* elements from the first up to the end of the last */
    bool done[DIMS] = {0};
    for (int turn = 0; turn < DIMS; turn++) {
        int next = -1;
        for (int i = 0; i < DIMS; i++)
            if (!done[i] && (next < 0 || strides[i] < strides[next]))
                next = i;
        done[next] = true;
        if (sizes[next] == 1)
            continue;
        FAIL_ON(strides[next] < extent, BEVPOOL_BAD_ARGUMENT,
                "view.%s: %lld from one to the next of %s, expected %lld or more: "
                "elements overlap or run backwards",
                name, (long long)strides[next], dims[next], (long long)extent);
        FAIL_ON(strides[next] > INT64_MAX / 16 / sizes[next], BEVPOOL_BAD_ARGUMENT,
                "view.%s: %lld is too large", name, (long long)strides[next]);
        extent += (sizes[next] - 1) * strides[next];
    }
    return BEVPOOL_OK;
}

static BevpoolStatus take_strides(BevStrides *to, const char *name, const BevShape *shape,
                                  int64_t channels, const int64_t given[DIMS],
                                  BevpoolError *error) {
    const int64_t pixels = shape->feat_h * shape->feat_w;
    const int64_t sizes[DIMS] = {shape->cameras, channels, shape->feat_h, shape->feat_w};
    if (!given[0] && !given[1] && !given[2] && !given[3]) {
        *to = (BevStrides){channels * pixels, pixels, shape->feat_w, 1};
        return BEVPOOL_OK;
    }
    *to = (BevStrides){given[0], given[1], given[2], given[3]};
    return check_strides(name, sizes, given, error);
}

BevpoolStatus lib_view(BevProblem *problem, const BevpoolView *view, BevpoolError *error) {
    const BevShape *shape = &problem->shape;
    float temperature = view->temperature == 0 ? 1 : view->temperature;
    FAIL_ON(problem->dtype > BEV_BF16, BEVPOOL_UNSUPPORTED,
            "a view reads FP32, FP16 or BF16, not %s", bev_dtypes[problem->dtype].title);
    FAIL_ON(view->softmax != 0 && view->softmax != 1, BEVPOOL_BAD_ARGUMENT,
            "view.softmax is %d, expected 0 or 1", (int)view->softmax);
    const bool can_be_inverted = temperature >= FLT_MIN && isfinite(temperature);
    FAIL_ON(!can_be_inverted, BEVPOOL_BAD_ARGUMENT, /* kernels multiply by the inverse */
            "view.temperature is %g, expected a finite number of %g or more", (double)temperature,
            (double)FLT_MIN);
    problem->stage = BEV_VIEW;
    problem->view.softmax = view->softmax;
    problem->view.temperature = temperature;
    TRY(take_strides(&problem->view.depth, "depth_strides", shape, shape->depth_bins,
                     view->depth_strides, error));
    return take_strides(&problem->view.feat, "feat_strides", shape, shape->channels,
                        view->feat_strides, error);
}
