/* SPDX-License-Identifier: MIT */
/* BEVDet's five arrays of points: what is checked before a GPU prepares them. */
#include "src/lib/lib_internal.h"

static BevpoolStatus check_prepared(const BevpoolPoints *points, const BevpoolPrepared *out,
                                    const void *workspace, int32_t device, BevpoolError *error) {
    const struct {
        const char *name;
        const void *array;
    } arrays[] = {{"points", points->points},
                  {"ranks_bev", out->ranks_bev},
                  {"ranks_depth", out->ranks_depth},
                  {"ranks_feat", out->ranks_feat},
                  {"interval_starts", out->interval_starts},
                  {"interval_lengths", out->interval_lengths},
                  {"counts", out->counts},
                  {"workspace", workspace}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        BevpoolStatus status =
            arrays[i].array ? lib_check_place(device, arrays[i].array, arrays[i].name, error)
                            : lib_fail(error, BEVPOOL_BAD_ARGUMENT, "%s is NULL", arrays[i].name);
        if (status)
            return status;
    }
    if ((uintptr_t)workspace % LIB_ALIGNMENT)
        return lib_fail(error, BEVPOOL_WORKSPACE,
                        "workspace: does not begin on a multiple of %d bytes", LIB_ALIGNMENT);
    return BEVPOOL_OK;
}

static BevpoolStatus prepare_on_gpu(const BevpoolShape *shape, const BevpoolPoints *points,
                                    const BevpoolPrepared *out, void *workspace, size_t bytes,
                                    int32_t device, void *stream, BevpoolError *error) {
    Err err = {0};
    size_t needed = 0;
    BevpoolStatus status = lib_check_stream(device, stream, error);
    if (status || (status = check_prepared(points, out, workspace, device, error)))
        return status;
    if (!ON_GPU(lib_cuda_prepare_bytes(shape, &needed, &err)))
        return lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
    if (bytes < needed)
        return lib_fail(error, BEVPOOL_WORKSPACE, "workspace: has %zu bytes, needs %zu", bytes,
                        needed);
    return ON_GPU(lib_cuda_prepare(shape, points, out, workspace, stream, &err))
               ? BEVPOOL_OK
               : lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
}

/* Enters a GPU; the CPU is refused. */
static BevpoolStatus enter_gpu(const BevpoolShape *shape, const void *other, int32_t device,
                               int *before, BevpoolError *error) {
    if (!shape || !other)
        return lib_fail(error, BEVPOOL_BAD_ARGUMENT, "%s is NULL", shape ? "an argument" : "shape");
    if (device == BEVPOOL_CPU)
        return lib_fail(error, BEVPOOL_UNSUPPORTED, "arrays are prepared on a GPU, not on the CPU");
    BevpoolStatus status = lib_check_shape(shape, error);
    return status ? status : lib_enter(device, before, error);
}

BevpoolStatus bevpool_prepare_bytes(const BevpoolShape *shape, int32_t device, size_t *bytes,
                                    BevpoolError *error) {
    int before;
    BevpoolStatus status = enter_gpu(shape, bytes, device, &before, error);
    if (status)
        return status;
    Err err = {0};
    if (!ON_GPU(lib_cuda_prepare_bytes(shape, bytes, &err)))
        status = lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
    lib_leave(device, before);
    return status ? status : lib_ok(error);
}

BevpoolStatus bevpool_prepare(const BevpoolShape *shape, const BevpoolPoints *points,
                              const BevpoolPrepared *out, void *workspace, size_t bytes,
                              int32_t device, void *stream, BevpoolError *error) {
    int before;
    if (!points || !out || points->size != sizeof *points || out->size != sizeof *out)
        return lib_fail(error, BEVPOOL_BAD_ARGUMENT,
                        "points or out: NULL, or its size is not that of this header");
    BevpoolStatus status = enter_gpu(shape, points, device, &before, error);
    if (status)
        return status;
    status = prepare_on_gpu(shape, points, out, workspace, bytes, device, stream, error);
    lib_leave(device, before);
    return status ? status : lib_ok(error);
}
