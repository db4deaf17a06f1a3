/* SPDX-License-Identifier: MIT */
/* Moving cameras: their poses, and the map that is made again in the caller's memory. */
#include "src/lib/lib_internal.h"

#include "src/scene/scatter.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- poses ----------------------------------------------------------------------------------- */

BevpoolStatus bevpool_pose(BevpoolPose *pose, const BevpoolCamera *camera, const double image[9],
                           const double bev[16], BevpoolError *error) {
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    PoseParts parts = {0};
    FAIL_ON(!pose || !camera, BEVPOOL_BAD_ARGUMENT, "%s is NULL", pose ? "camera" : "pose");
    memcpy(parts.to_ego, camera->rotation, sizeof parts.to_ego);
    memcpy(parts.position_m, camera->position_m, sizeof parts.position_m);
    memcpy(parts.intrinsics, camera->intrinsics, sizeof parts.intrinsics);
    memcpy(parts.image, image ? image : same, sizeof parts.image);
    memcpy(parts.bev, same, sizeof parts.bev);
    for (int row = 0; bev && row < 3; row++) { /* three columns of a rotation, one of a move */
        memcpy(&parts.bev[3 * row], &bev[4 * row], 3 * sizeof *bev);
        parts.bev_move_m[row] = bev[4 * row + 3];
    }
    pose_compose(&parts, pose->matrix, pose->origin_m);
    for (int i = 0; i < 9; i++)
        FAIL_ON(!isfinite(pose->matrix[i]) || !isfinite(pose->origin_m[i % 3]), BEVPOOL_BAD_MAP,
                "camera.intrinsics, image or bev: singular or not finite");
    return lib_ok(error);
}

static BevpoolStatus check_matrices(const BevpoolMatrices *m, const BevpoolPose *poses,
                                    int32_t device, BevpoolError *error) {
    FAIL_ON(!m || !poses, BEVPOOL_BAD_ARGUMENT, "%s is NULL", m ? "poses" : "matrices");
    FAIL_ON(m->size != sizeof *m, BEVPOOL_BAD_ARGUMENT, "matrices.size is %zu, expected %zu",
            m->size, sizeof *m);
    FAIL_ON(m->batch < 1 || m->cameras < 1 || m->batch > INT32_MAX / m->cameras,
            BEVPOOL_BAD_ARGUMENT, "matrices: %lld samples of %d cameras", (long long)m->batch,
            (int)m->cameras);
    const bool size_fits = m->bev ? m->bev_size == 3 || m->bev_size == 4 : m->bev_size == 0;
    FAIL_ON(!size_fits, BEVPOOL_BAD_ARGUMENT, "matrices.bev_size is %d, expected %s",
            (int)m->bev_size, m->bev ? "3 or 4" : "0, since bev is NULL");
    const LibNamed arrays[] = {
        {"sensor2ego", m->sensor2ego},         {"intrinsics", m->intrinsics},
        {"image_rotation", m->image_rotation}, {"image_translation", m->image_translation},
        {"bev", m->bev ? m->bev : poses}, /* without bev there is nothing to check here */
        {"poses", poses}};
    return lib_check_arrays(device, arrays, sizeof arrays / sizeof *arrays, error);
}

BevpoolStatus bevpool_poses(const BevpoolMatrices *m, BevpoolPose *poses, int32_t device,
                            void *stream, BevpoolError *error) {
    ENTER(device);
    TRY(check_matrices(m, poses, device, error));
    TRY(lib_check_stream(device, stream, error));
    PoseArrays arrays = {m->sensor2ego, m->intrinsics, m->image_rotation, m->image_translation,
                         m->bev,        m->bev_size,   m->wide != 0};
    TRY(lib_compose(&arrays, m->batch, m->cameras, poses, device, stream, error));
    return lib_ok(error);
}

/* ---- the map --------------------------------------------------------------------------------- */

/* Makes a rig for poses. Its intrinsics are the identity: update_on_cpu() sets each rotation to the
 * matrix of a pose, which includes the intrinsics. */
static void set_rig(Rig *rig, const BevpoolFrustum *f) {
    *rig = (Rig){
        .camera_count = f->cameras,
        .frustum = {.input_w = f->input_w,
                    .input_h = f->input_h,
                    .feat_w = f->feat_w,
                    .feat_h = f->feat_h,
                    .depth_start_m = f->depth_start_m,
                    .depth_stop_m = f->depth_start_m + (f->depth_bins - 0.5) * f->depth_step_m,
                    .depth_step_m = f->depth_step_m},
        .grid = {f->x_min_m, f->x_max_m, f->y_min_m, f->y_max_m, f->z_min_m, f->z_max_m, f->nx,
                 f->ny, f->nz, f->truncate != 0}};
    if (f->depths_m)
        frustum_set_bins(&rig->frustum, f->depths_m, f->depth_bins);
    for (int i = 0; i < f->cameras; i++) {
        Camera *camera = &rig->cameras[i];
        camera->cut = (ImageCut){f->input_w, f->input_h, 1, 1, 0, 0};
        camera_set_intrinsics(camera, 1, 0, 0);
        memcpy(camera->rotation, camera->intrinsics, sizeof camera->rotation);
        snprintf(camera->name, sizeof camera->name, "%d", i);
    }
}

static BevpoolStatus check_frustum(const BevpoolFrustum *f, Rig *rig, BevpoolError *error) {
    Err err = {0};
    FAIL_ON(f->size != sizeof *f, BEVPOOL_BAD_ARGUMENT, "frustum.size is %zu, expected %zu",
            f->size, sizeof *f);
    TRY(lib_check_range("frustum.", "batch", f->batch, 1, INT32_MAX, error));
    TRY(lib_check_range("frustum.", "cameras", f->cameras, 1, RIG_MAX_CAMERAS, error));
    TRY(lib_check_range("frustum.", "align", f->align, 0, BEV_ALIGN_COUNT - 1, error));
    TRY(lib_check_range("frustum.", "depth_bins", f->depth_bins, 1, FRUSTUM_MAX_BINS, error));
    TRY(lib_check_range("frustum.", "nz", f->nz, 1, INT32_MAX, error));
    TRY(lib_check_range("frustum.", "most_entries", f->most_entries, 0, INT32_MAX, error));
    set_rig(rig, f);
    return rig_check(rig, "frustum", &err) ? BEVPOOL_OK : lib_pass(error, BEVPOOL_BAD_MAP, &err);
}

static BevMoving moving_of(const BevpoolFrustum *f, const Rig *rig, const BevpoolShape *shape) {
    GridAxes axes = axes_of_grid(&rig->grid);
    BevMoving moving = {
        .shape = lib_shape(shape, 1),
        .samples = f->batch,
        .align = (BevAlign)f->align,
        .grid = {.truncate = rig->grid.truncate},
        .u_step = frustum_u_px(&rig->frustum, 1),
        .v_step = frustum_v_px(&rig->frustum, 1),
        .depth_start_m = f->depth_start_m,
        .depth_step_m = f->depth_step_m,
        .most_entries = f->most_entries,
    };
    for (int axis = 0; axis < 3; axis++) {
        moving.grid.min_m[axis] = axes.min_m[axis];
        moving.grid.max_m[axis] = axes.max_m[axis];
        moving.grid.cell_m[axis] = axes.cell_m[axis];
        moving.grid.count[axis] = axes.count[axis];
    }
    return moving;
}

/* Copies the row of depths, if there is one, to where kernels read it. */
static BevpoolStatus put_depths(const Rig *rig, int32_t device, double **depths,
                                BevpoolError *error) {
    double row[FRUSTUM_MAX_BINS];
    int64_t count = rig->frustum.bins.count;
    size_t bytes = (size_t)count * sizeof *row;
    *depths = NULL;
    if (!count)
        return BEVPOOL_OK;
    for (int64_t i = 0; i < count; i++)
        row[i] = frustum_depth_m(&rig->frustum, (double)i);
    TRY(lib_allocate(device, (void **)depths, bytes, error));
    return lib_copy(device, *depths, row, bytes, error);
}

/* Makes the handle of a moving map. The map owns `depths`, which lie on the device. */
static BevpoolStatus keep_moving(BevpoolMap **map, const BevpoolShape *shape,
                                 const BevMoving *moving, double *depths, int32_t device,
                                 BevpoolError *error) {
    static float some; /* kernels ask whether weights exist */
    const BevShape *s = &moving->shape;
    const bool weighted = moving->align != BEV_NEAREST;
    int64_t points = s->cameras * s->depth_bins * s->feat_h * s->feat_w * (weighted ? 4 : 1);
    int64_t cells = s->nx * s->ny;
    BevMap bounds = {.points = points,
                     .intervals = cells < points ? cells : points,
                     .weights = weighted ? &some : NULL};
    if (points > INT32_MAX) {
        lib_free(device, depths);
        return lib_fail(error, BEVPOOL_BAD_MAP, "frustum: more than 2147483647 points");
    }
    TRY(lib_map_keep(map, shape, &bounds, depths, device, error));
    (*map)->moving = *moving;
    (*map)->moving.depths_m = depths;
    (*map)->map.moving = &(*map)->moving;
    return BEVPOOL_OK;
}

/* Makes the handle of a frustum; the rig becomes the map's. */
static BevpoolStatus keep_frustum(BevpoolMap **map, const BevpoolFrustum *f, Rig *rig,
                                  int32_t device, BevpoolError *error) {
    TRY(check_frustum(f, rig, error));
    ENTER(device);
    BevpoolShape shape = {f->batch,  f->cameras, f->depth_bins, f->feat_h,
                          f->feat_w, f->nz,      f->ny,         f->nx};
    double *depths = NULL;
    TRY(lib_check_shape(&shape, error));
    TRY(put_depths(rig, device, &depths, error));
    BevMoving moving = moving_of(f, rig, &shape);
    TRY(keep_moving(map, &shape, &moving, depths, device, error));
    (*map)->rig = rig;
    return BEVPOOL_OK;
}

BevpoolStatus bevpool_map_moving(BevpoolMap **map, const BevpoolFrustum *frustum, int32_t device,
                                 BevpoolError *error) {
    FAIL_ON(!map, BEVPOOL_BAD_ARGUMENT, "map is NULL");
    *map = NULL;
    FAIL_ON(!frustum, BEVPOOL_BAD_ARGUMENT, "frustum is NULL");
    Rig *rig = malloc(sizeof *rig);
    FAIL_ON(!rig, BEVPOOL_NO_MEMORY, "frustum: out of memory");
    BevpoolStatus status = keep_frustum(map, frustum, rig, device, error);
    if (status)
        free(rig);
    return status;
}

BevpoolStatus bevpool_map_changing(BevpoolMap **map, const BevpoolShape *shape,
                                   int64_t most_entries, int32_t device, BevpoolError *error) {
    FAIL_ON(!map || !shape, BEVPOOL_BAD_ARGUMENT, "%s is NULL", map ? "shape" : "map");
    *map = NULL;
    TRY(lib_check_range("", "most_entries", most_entries, 0, INT32_MAX, error));
    FAIL_ON(device == BEVPOOL_CPU, BEVPOOL_UNSUPPORTED,
            "a map of arrays that change is made on a GPU: take bevpool_map_from_arrays");
    TRY(lib_check_shape(shape, error));
    BevMoving moving = {.shape = lib_shape(shape, 1),
                        .samples = shape->batch,
                        .most_entries = most_entries,
                        .of_cells = true};
    ENTER(device);
    return keep_moving(map, shape, &moving, NULL, device, error);
}

/* ---- on the CPU: the arrays of the map, in the caller's memory ------------------------------- */

/* The head of the memory; the arrays follow, with room for all points. */
typedef struct {
    int32_t flags, unused; /* there is always room: 0 */
    int64_t points, intervals;
} CpuMap;

static BevpoolStatus update_on_cpu(const BevpoolMap *map, const BevpoolPose *poses, void *memory,
                                   BevpoolError *error) {
    CpuMap *head = memory;
    BevMap all = map->map;
    Rig *rig = malloc(sizeof *rig);
    FAIL_ON(!rig, BEVPOOL_NO_MEMORY, "update: out of memory");
    *rig = *map->rig;
    bev_map_place(&all, (char *)memory + LIB_ALIGNMENT);
    all.points = all.intervals = 0;
    for (int64_t b = 0; b < map->moving.samples; b++) {
        BevMap one = {0};
        Err err = {0};
        for (int i = 0; i < rig->camera_count; i++, poses++) {
            memcpy(rig->cameras[i].rotation, poses->matrix, sizeof poses->matrix);
            memcpy(rig->cameras[i].position_m, poses->origin_m, sizeof poses->origin_m);
        }
        if (!scatter_build(rig, map->moving.align, ~0u, NULL, &one, &err)) {
            free(rig);
            return lib_pass(error, BEVPOOL_NO_MEMORY, &err);
        }
        lib_append_map(&all, &one, &map->shape, b);
        scatter_free(&one);
    }
    free(rig);
    *head = (CpuMap){.points = all.points, .intervals = all.intervals};
    return lib_ok(error);
}

/* ---- plans ----------------------------------------------------------------------------------- */

size_t bevpool_plan_map_bytes(const BevpoolPlan *plan) {
    if (!plan || !plan->map->map.moving)
        return 0;
    return plan->map->device == BEVPOOL_CPU ? LIB_ALIGNMENT + bev_map_place(&plan->map->map, NULL)
                                            : plan->kernel->map_bytes(&plan->problem, plan->plan);
}

static BevpoolStatus check_memory(const BevpoolPlan *plan, const void *memory,
                                  BevpoolError *error) {
    FAIL_ON(!memory || (uintptr_t)memory % LIB_ALIGNMENT, BEVPOOL_BAD_ARGUMENT,
            "map memory: %s, expected a multiple of %d bytes",
            memory ? "begins between" : "is NULL", LIB_ALIGNMENT);
    return lib_check_place(plan->map->device, memory, "map memory", LIB_DEVICE_ONLY, error);
}

BevpoolStatus lib_moving_map(const BevpoolPlan *plan, const void *memory, BevMap *map,
                             BevpoolError *error) {
    TRY(check_memory(plan, memory, error));
    map->memory = (void *)(uintptr_t)memory;
    if (plan->map->device != BEVPOOL_CPU)
        return BEVPOOL_OK;
    const CpuMap *head = memory;
    bev_map_place(map, (char *)map->memory + LIB_ALIGNMENT);
    map->points = head->points;
    map->intervals = head->intervals;
    return BEVPOOL_OK;
}

typedef enum { FROM_POSES, FROM_ARRAYS } UpdateKind;

/* Checks the arguments that updates from poses and from arrays have in common. A plan that is NULL
 * needs 0 bytes. */
static BevpoolStatus check_update(const BevpoolPlan *plan, UpdateKind kind, const void *source,
                                  const void *memory, size_t bytes, void *stream,
                                  BevpoolError *error) {
    const bool of_cells = kind == FROM_ARRAYS;
    const char *name = of_cells ? "arrays" : "poses";
    size_t needed = bevpool_plan_map_bytes(plan);
    FAIL_ON(!plan || !source, BEVPOOL_BAD_ARGUMENT, "%s is NULL", plan ? name : "plan");
    FAIL_ON(!needed || plan->map->moving.of_cells != of_cells, BEVPOOL_BAD_ARGUMENT,
            "plan: its map does not move (bevpool_map_%s makes one that does)",
            of_cells ? "changing" : "moving");
    TRY(lib_check_stream(plan->map->device, stream, error));
    TRY(check_memory(plan, memory, error));
    FAIL_ON(bytes < needed, BEVPOOL_WORKSPACE, "map memory: has %zu bytes, needs %zu", bytes,
            needed);
    return BEVPOOL_OK;
}

/* Enqueues the update of a GPU's moving map in `memory`, of poses or, if not NULL, of arrays. */
static BevpoolStatus update_on_gpu(const BevpoolPlan *plan, const BevpoolPose *poses,
                                   const BevMap *arrays, void *memory, void *stream,
                                   BevpoolError *error) {
    BevProblem problem = plan->problem;
    problem.map.memory = memory;
    if (arrays)
        TRY_GPU(lib_cuda_take_cells(arrays, &problem, stream, &err));
    else
        TRY_GPU(lib_cuda_take_poses((const BevPose *)poses, &problem, stream, &err));
    TRY_GPU(lib_cuda_update(plan->replays, plan->kernel, &problem, plan->plan, stream, &err));
    return lib_ok(error);
}

BevpoolStatus bevpool_plan_update(const BevpoolPlan *plan, const BevpoolPose *poses, void *memory,
                                  size_t bytes, void *stream, BevpoolError *error) {
    _Static_assert(sizeof(BevpoolPose) == sizeof(BevPose), "one layout");
    TRY(check_update(plan, FROM_POSES, poses, memory, bytes, stream, error));
    return plan->map->device == BEVPOOL_CPU
               ? update_on_cpu(plan->map, poses, memory, error)
               : update_on_gpu(plan, poses, NULL, memory, stream, error);
}

BevpoolStatus bevpool_plan_update_arrays(const BevpoolPlan *plan, const BevpoolArrays *arrays,
                                         void *memory, size_t bytes, void *stream,
                                         BevpoolError *error) {
    BevMap map;
    TRY(check_update(plan, FROM_ARRAYS, arrays, memory, bytes, stream, error));
    TRY(lib_arrays_in_place(&map, arrays, plan->map->device, error));
    return update_on_gpu(plan, NULL, &map, memory, stream, error);
}
