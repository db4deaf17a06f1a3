/* SPDX-License-Identifier: MIT */
/* Maps from the caller's arrays: they are checked and copied to where kernels read them. */
#include "src/lib/lib_internal.h"

#include "src/scene/scatter.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------- */

BevShape lib_shape(const BevpoolShape *shape, int64_t channels) {
    return (BevShape){
        .cameras = shape->batch * shape->cameras,
        .depth_bins = shape->depth_bins,
        .feat_h = shape->feat_h,
        .feat_w = shape->feat_w,
        .channels = channels,
        .nx = shape->nx,
        .ny = shape->batch * shape->nz * shape->ny,
        .nz = shape->batch * shape->nz,
    };
}

/* Returns whether the product of positive sizes fits int32. */
static bool product_fits_int32(const int64_t *sizes, int count) {
    int64_t product = 1;
    for (int i = 0; i < count; i++) {
        if (sizes[i] > INT32_MAX / product)
            return false;
        product *= sizes[i];
    }
    return true;
}

BevpoolStatus lib_check_shape(const BevpoolShape *s, BevpoolError *error) {
    static const char *const names[] = {"batch",  "cameras", "depth_bins", "feat_h",
                                        "feat_w", "nz",      "ny",         "nx"};
    const int64_t sizes[] = {s->batch,  s->cameras, s->depth_bins, s->feat_h,
                             s->feat_w, s->nz,      s->ny,         s->nx};
    const int64_t cells[] = {s->batch, s->nz, s->ny, s->nx};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        FAIL_ON(sizes[i] < 1, BEVPOOL_BAD_ARGUMENT, "shape.%s is %lld, expected at least 1",
                names[i], (long long)sizes[i]);
    FAIL_ON(!product_fits_int32(sizes, 5), BEVPOOL_BAD_ARGUMENT,
            "shape: batch x cameras x depth_bins x feat_h x feat_w exceeds int32");
    FAIL_ON(!product_fits_int32(cells, 4), BEVPOOL_BAD_ARGUMENT,
            "shape: batch x nz x ny x nx exceeds int32");
    return BEVPOOL_OK;
}

/* ---- keeping a map --------------------------------------------------------------------------- */

BevpoolStatus lib_map_keep(BevpoolMap **map, const BevpoolShape *shape, const BevMap *arrays,
                           void *memory, int32_t device, BevpoolError *error) {
    BevpoolMap *made = calloc(1, sizeof *made);
    if (!made) {
        lib_free(device, memory);
        return lib_fail(error, BEVPOOL_NO_MEMORY, "map: out of memory");
    }
    *made = (BevpoolMap){.device = device, .shape = *shape, .map = *arrays, .memory = memory};
    atomic_init(&made->references, 1);
    *map = made;
    return lib_ok(error);
}

/* Makes a map of a GPU of arrays on the host, which are copied into one block of its memory. */
static BevpoolStatus keep_upload(BevpoolMap **map, const BevpoolShape *shape, BevMap *host,
                                 int32_t device, BevpoolError *error) {
    BevMap copy = *host;
    void *memory = NULL;
    TRY(lib_allocate(device, &memory, bev_map_place(host, NULL), error));
    bev_map_place(&copy, memory);
    const BevMapArrays from = bev_map_arrays(host), to = bev_map_arrays(&copy);
    BevpoolStatus status = BEVPOOL_OK;
    for (int i = 0; !status && i < BEV_MAP_ARRAYS; i++)
        if (from.count[i])
            status =
                lib_copy(device, *to.array[i], *from.array[i], (size_t)from.count[i] * 4, error);
    if (!status)
        return lib_map_keep(map, shape, &copy, memory, device, error);
    lib_free(device, memory);
    return status;
}

/* ---- from the caller's arrays ---------------------------------------------------------------- */

/* Returns the caller's arrays as a map. Kernels and copies only read them. */
static BevMap map_of(const BevpoolArrays *a) {
    return (BevMap){
        .points = a->points,
        .intervals = a->intervals,
        .ranks_depth = (int32_t *)a->ranks_depth,
        .ranks_feat = (int32_t *)a->ranks_feat,
        .ranks_bev = (int32_t *)a->ranks_bev,
        .interval_starts = (int32_t *)a->interval_starts,
        .interval_lengths = (int32_t *)a->interval_lengths,
        .weights = (float *)a->weights,
    };
}

BevpoolStatus lib_check_counts(const BevpoolArrays *a, bool found_here, BevpoolError *error) {
    FAIL_ON(a->points < 0 || a->points > INT32_MAX, BEVPOOL_BAD_MAP,
            "points: %lld, expected 0 to 2147483647", (long long)a->points);
    FAIL_ON(!found_here && (a->intervals < (a->points > 0) || a->intervals > a->points),
            BEVPOOL_BAD_MAP, "intervals: %lld, expected %d to %lld, at most one a point",
            (long long)a->intervals, a->points > 0, (long long)a->points);
    return BEVPOOL_OK;
}

/* Demands on the caller's arrays, as bits. IN_PLACE: all arrays lie on the device. */
enum { ANYWHERE = 0, WITH_INTERVALS = 1, IN_PLACE = 2 };

static BevpoolStatus check_arrays(const BevpoolArrays *a, unsigned demands, int32_t device,
                                  BevpoolError *error) {
    static const char *const names[BEV_MAP_ARRAYS] = {
        "ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths", "weights"};
    BevMap map = map_of(a);
    const BevMapArrays list = bev_map_arrays(&map);
    /* The caller gives no intervals: the library will find them. */
    const bool found_here =
        !(demands & WITH_INTERVALS) && !a->interval_starts && !a->interval_lengths;
    TRY(lib_check_counts(a, found_here, error));
    for (int i = 0; i < BEV_MAP_ARRAYS; i++) {
        const void *array = *list.array[i];
        bool of_intervals = strncmp(names[i], "interval", 8) == 0;
        FAIL_ON(!array && list.count[i] && (!of_intervals || !found_here), BEVPOOL_BAD_ARGUMENT,
                "%s is NULL", names[i]);
        FAIL_ON((uintptr_t)array % 4, BEVPOOL_BAD_ARGUMENT,
                "%s does not begin on a multiple of 4 bytes", names[i]);
        const bool in_place = (demands & IN_PLACE) && list.count[i];
        const LibAllowed allowed = in_place ? LIB_DEVICE_ONLY : LIB_OR_HOST;
        if (array)
            TRY(lib_check_place(device, array, names[i], allowed, error));
    }
    return BEVPOOL_OK;
}

/* Copies the arrays to the host, from the host or the device. */
static BevpoolStatus copy_to_host(BevMap *host, const BevpoolArrays *a, int32_t device,
                                  BevpoolError *error) {
    BevMap given = map_of(a);
    if (!given.interval_starts)
        given.intervals = 0;
    *host = (BevMap){.points = given.points, .intervals = given.intervals};
    const BevMapArrays from = bev_map_arrays(&given), to = bev_map_arrays(host);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++) {
        size_t bytes = (size_t)from.count[i] * 4;
        if (!*from.array[i])
            continue;
        *to.array[i] = malloc(bytes + 1);
        FAIL_ON(!*to.array[i], BEVPOOL_NO_MEMORY, "map: out of memory");
        if (bytes)
            TRY(lib_copy(device, *to.array[i], *from.array[i], bytes, error));
    }
    return BEVPOOL_OK;
}

BevpoolStatus lib_arrays_in_place(BevMap *map, const BevpoolArrays *a, int32_t device,
                                  BevpoolError *error) {
    TRY(check_arrays(a, IN_PLACE, device, error));
    *map = map_of(a);
    if (!map->interval_starts)
        map->intervals = 0;
    FAIL_ON(map->weights, BEVPOOL_UNSUPPORTED, "weights: arrays that change have none");
    return BEVPOOL_OK;
}

static BevpoolStatus check_ascends(const BevMap *host, BevpoolError *error) {
    for (int64_t t = 1; t < host->points; t++)
        FAIL_ON(host->ranks_bev[t] < host->ranks_bev[t - 1], BEVPOOL_BAD_MAP,
                "ranks_bev[%lld] is %d, less than the one before: sort points by cell",
                (long long)t, (int)host->ranks_bev[t]);
    return BEVPOOL_OK;
}

/* Finds the intervals if they are missing, and checks the map unless the flags trust it. */
static BevpoolStatus complete_map(BevMap *host, const BevpoolShape *shape, uint32_t flags,
                                  BevpoolError *error) {
    Err err = {0};
    BevShape seen = lib_shape(shape, 1);
    if (!host->interval_starts) {
        TRY(check_ascends(host, error));
        if (!scatter_find_intervals(host, &err))
            return lib_pass(error, BEVPOOL_NO_MEMORY, &err);
    }
    if (flags & BEVPOOL_TRUST_MAP)
        return BEVPOOL_OK;
    return scatter_check(host, &seen, "map", &err) ? check_ascends(host, error)
                                                   : lib_pass(error, BEVPOOL_BAD_MAP, &err);
}

/* Makes the map without the host; *map stays NULL where the host must look at the arrays. */
static BevpoolStatus keep_on_gpu(BevpoolMap **map, const BevpoolShape *shape,
                                 const BevpoolArrays *arrays, int32_t device, uint32_t flags,
                                 BevpoolError *error) {
    const BevMap given = map_of(arrays);
    BevShape seen = lib_shape(shape, 1);
    BevMap copy;
    void *memory;
    bool sound;
    if (device == BEVPOOL_CPU || !given.points || check_arrays(arrays, IN_PLACE, device, NULL))
        return BEVPOOL_OK;
    TRY_GPU(lib_cuda_take(&given, &seen, flags & BEVPOOL_TRUST_MAP, &copy, &memory, &sound, &err));
    return sound ? lib_map_keep(map, shape, &copy, memory, device, error) : BEVPOOL_OK;
}

/* Checks the arguments of a new map. */
static BevpoolStatus check_map(BevpoolMap **map, const BevpoolShape *shape,
                               const BevpoolArrays *arrays, uint32_t flags, BevpoolError *error) {
    FAIL_ON(!map, BEVPOOL_BAD_ARGUMENT, "map is NULL");
    *map = NULL;
    FAIL_ON(!shape || !arrays, BEVPOOL_BAD_ARGUMENT, "%s is NULL", shape ? "arrays" : "shape");
    FAIL_ON(flags & ~(uint32_t)BEVPOOL_TRUST_MAP, BEVPOOL_BAD_ARGUMENT, "flags: unknown bits 0x%x",
            (unsigned)flags);
    return lib_check_shape(shape, error);
}

/* A map of a GPU is made without the host if the arrays allow it. */
BevpoolStatus bevpool_map_from_arrays(BevpoolMap **map, const BevpoolShape *shape,
                                      const BevpoolArrays *arrays, int32_t device, uint32_t flags,
                                      BevpoolError *error) {
    BevMap host = {0};
    TRY(check_map(map, shape, arrays, flags, error));
    ENTER(device);
    TRY(check_arrays(arrays, ANYWHERE, device, error));
    TRY(keep_on_gpu(map, shape, arrays, device, flags, error));
    if (*map)
        return BEVPOOL_OK;
    BevpoolStatus status = copy_to_host(&host, arrays, device, error);
    if (!status)
        status = complete_map(&host, shape, flags, error);
    if (!status)
        status = device == BEVPOOL_CPU ? lib_map_keep(map, shape, &host, NULL, device, error)
                                       : keep_upload(map, shape, &host, device, error);
    if (status || device != BEVPOOL_CPU)
        scatter_free(&host);
    return status;
}

BevpoolStatus bevpool_map_view(BevpoolMap **map, const BevpoolShape *shape,
                               const BevpoolArrays *arrays, int32_t device, BevpoolError *error) {
    TRY(check_map(map, shape, arrays, 0, error));
    ENTER(device);
    const BevMap of_caller = map_of(arrays);
    TRY(check_arrays(arrays, WITH_INTERVALS | IN_PLACE, device, error));
    TRY(lib_map_keep(map, shape, &of_caller, NULL, device, error));
    (*map)->view = true;
    return BEVPOOL_OK;
}

/* ---- the handle ------------------------------------------------------------------------------ */

/* scatter.h allocated the arrays of a CPU's own map alone. A view's arrays are the caller's, a
 * moving map has none, and on a GPU the arrays are a part of `memory`. */
void bevpool_map_destroy(BevpoolMap *map) {
    if (!map || atomic_fetch_sub(&map->references, 1) > 1)
        return;
    LIB_LEFT_AT_END LibEntered entered = {.device = BEVPOOL_CPU};
    if (map->device == BEVPOOL_CPU && !map->view && !map->map.moving)
        scatter_free(&map->map);
    if (map->memory && !lib_enter(&entered, map->device, NULL))
        lib_free(map->device, map->memory);
    free(map->rig);
    free(map);
}

BevpoolStatus bevpool_map_shape(const BevpoolMap *map, BevpoolShape *shape, BevpoolError *error) {
    FAIL_ON(!map || !shape, BEVPOOL_BAD_ARGUMENT, "%s is NULL", map ? "shape" : "map");
    *shape = map->shape;
    return lib_ok(error);
}

BevpoolStatus bevpool_map_arrays(const BevpoolMap *map, BevpoolArrays *arrays,
                                 BevpoolError *error) {
    FAIL_ON(!map || !arrays, BEVPOOL_BAD_ARGUMENT, "%s is NULL", map ? "arrays" : "map");
    const BevMap *m = &map->map;
    *arrays = (BevpoolArrays){m->points,    m->intervals,       m->ranks_depth,      m->ranks_feat,
                              m->ranks_bev, m->interval_starts, m->interval_lengths, m->weights};
    return lib_ok(error);
}
