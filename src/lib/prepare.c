/* SPDX-License-Identifier: MIT */
/* BEVDet's five arrays of points: what is checked before a GPU prepares them. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/lib/lib_internal.h"

#ifdef HAVE_CUDA
#include "src/lib/lib_cuda.h"

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
    size_t needed;
    LibPoints from = {.shape = lib_shape(shape, 1),
                      .samples = shape->batch,
                      .points = points->points,
                      .wide = points->wide,
                      .count = {(int)shape->nx, (int)shape->ny, (int)shape->nz}};
    for (int axis = 0; axis < 3; axis++) {
        from.lower[axis] = points->lower_m[axis];
        from.cell[axis] = points->cell_m[axis];
    }
    const LibPrepared to = {out->ranks_bev,       out->ranks_depth,      out->ranks_feat,
                            out->interval_starts, out->interval_lengths, out->counts};
    BevpoolStatus status = lib_check_stream(device, stream, error);
    if (status || (status = check_prepared(points, out, workspace, device, error)))
        return status;
    if (!lib_cuda_prepare_bytes(&from.shape, &needed, &err))
        return lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
    if (bytes < needed)
        return lib_fail(error, BEVPOOL_WORKSPACE, "workspace: has %zu bytes, needs %zu", bytes,
                        needed);
    return lib_cuda_prepare(&from, &to, workspace, stream, &err)
               ? BEVPOOL_OK
               : lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
}
#endif

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
#ifdef HAVE_CUDA
    Err err = {0};
    const BevShape all = lib_shape(shape, 1);
    if (!lib_cuda_prepare_bytes(&all, bytes, &err))
        status = lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
#endif
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
#ifdef HAVE_CUDA
    status = prepare_on_gpu(shape, points, out, workspace, bytes, device, stream, error);
#else
    (void)workspace, (void)bytes, (void)stream;
#endif
    lib_leave(device, before);
    return status ? status : lib_ok(error);
}
