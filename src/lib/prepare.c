/* SPDX-License-Identifier: MIT */
/* BEVDet's five arrays of points: the checks before a GPU prepares these arrays. */
#include "src/lib/lib_internal.h"

static BevpoolStatus check_prepared(const BevpoolPoints *points, const BevpoolPrepared *out,
                                    const void *workspace, int32_t device, BevpoolError *error) {
    const LibNamed arrays[] = {{"points", points->points},
                               {"ranks_bev", out->ranks_bev},
                               {"ranks_depth", out->ranks_depth},
                               {"ranks_feat", out->ranks_feat},
                               {"interval_starts", out->interval_starts},
                               {"interval_lengths", out->interval_lengths},
                               {"counts", out->counts},
                               {"workspace", workspace}};
    TRY(lib_check_arrays(device, arrays, sizeof arrays / sizeof *arrays, error));
    FAIL_ON((uintptr_t)workspace % LIB_ALIGNMENT, BEVPOOL_WORKSPACE,
            "workspace: does not begin on a multiple of %d bytes", LIB_ALIGNMENT);
    return BEVPOOL_OK;
}

/* Checks the shape and another argument; the CPU is refused. */
static BevpoolStatus check_gpu(const BevpoolShape *shape, const void *other, int32_t device,
                               BevpoolError *error) {
    FAIL_ON(!shape || !other, BEVPOOL_BAD_ARGUMENT, "%s is NULL", shape ? "an argument" : "shape");
    FAIL_ON(device == BEVPOOL_CPU, BEVPOOL_UNSUPPORTED,
            "arrays are prepared on a GPU, not on the CPU");
    return lib_check_shape(shape, error);
}

BevpoolStatus bevpool_prepare_bytes(const BevpoolShape *shape, int32_t device, size_t *bytes,
                                    BevpoolError *error) {
    TRY(check_gpu(shape, bytes, device, error));
    ENTER(device);
    TRY_GPU(lib_cuda_prepare_bytes(shape, bytes, &err));
    return lib_ok(error);
}

BevpoolStatus bevpool_prepare(const BevpoolShape *shape, const BevpoolPoints *points,
                              const BevpoolPrepared *out, void *workspace, size_t bytes,
                              int32_t device, void *stream, BevpoolError *error) {
    size_t needed = 0;
    FAIL_ON(!points || !out || points->size != sizeof *points || out->size != sizeof *out,
            BEVPOOL_BAD_ARGUMENT, "points or out: NULL, or its size is not that of this header");
    TRY(check_gpu(shape, points, device, error));
    ENTER(device);
    TRY(lib_check_stream(device, stream, error));
    TRY(check_prepared(points, out, workspace, device, error));
    TRY_GPU(lib_cuda_prepare_bytes(shape, &needed, &err));
    FAIL_ON(bytes < needed, BEVPOOL_WORKSPACE, "workspace: has %zu bytes, needs %zu", bytes,
            needed);
    TRY_GPU(lib_cuda_prepare(shape, points, out, workspace, stream, &err));
    return lib_ok(error);
}
