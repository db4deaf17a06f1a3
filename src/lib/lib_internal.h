/* SPDX-License-Identifier: MIT */
/* The files of the library share this header: the objects behind the public handles, errors, and
 * the functions that differ between the CPU and a GPU. */
#pragma once

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/lib/lib_cuda.h"

#include <stdatomic.h>

/* A call of lib_cuda.h with its result. Builds without CUDA do not have these functions and never
 * enter a GPU (lib_enter): there the call is not made, and the result is false. */
#ifdef HAVE_CUDA
#define ON_GPU(call) (call)
#else
#define ON_GPU(call) (sizeof(call) == 0)
#endif

struct BevpoolMap {
    atomic_int references; /* the caller's reference, and one for each plan */
    int32_t device;
    BevpoolShape shape;
    BevMap map; /* allocated by scatter.h; on a GPU part of `memory` */
    void *memory;
    bool view; /* the arrays are the caller's and may change between launches */
    Rig *rig; /* cameras that move; NULL: fixed ones. With it `memory` holds the distances of the
               * depth bins instead of arrays */
    BevMoving moving; /* a map of moving cameras or of changing cells: map.moving points here */
};

/* A transposed copy, in the workspace, of an array that has another layout than the kernel's. */
typedef struct {
    bool used;
    size_t offset;       /* in the workspace */
    int64_t outer, rows; /* the caller's array: (outer, channels, rows) */
} LibCopy;

struct BevpoolPlan {
    BevpoolMap *map;
    const BevKernel *kernel;
    BevPlan *plan;
    BevProblem problem; /* without data and workspace */
    int32_t feat_layout, out_layout; /* the caller's layouts */
    LibCopy copies[BEVPOOL_ROLES];
    size_t workspace_bytes;
    LibReplays *replays; /* on a GPU, of a moving map: its updates as graphs */
};

/* ---- errors (error.c) ------------------------------------------------------------------------ */

/* Fills `error` (may be NULL) and returns `status`. */
BevpoolStatus lib_fail(BevpoolError *error, BevpoolStatus status, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills `error` from an error of a kernel or a map. An error of a GPU has BEVPOOL_DEVICE_FAILED in
 * place of `status`, and a host without memory has BEVPOOL_NO_MEMORY. */
BevpoolStatus lib_pass(BevpoolError *error, BevpoolStatus status, const Err *err);

/* Checks that `value` is from `least` to `most`. The error names the value: `of`, then `name`. */
BevpoolStatus lib_check_range(const char *of, const char *name, int64_t value, int64_t least,
                              int64_t most, BevpoolError *error);

/* Empties `error` and returns BEVPOOL_OK. */
BevpoolStatus lib_ok(BevpoolError *error);

/* These macros end the enclosing function, which has a `BevpoolError *error`.
 * FAIL_ON: with an error of the caller, if the condition holds.
 * TRY, TRY_GPU: with the status of a call that fails; a call of lib_cuda.h fills `err`.
 * ENTER: if the device cannot be entered; else it is the thread's up to the end of the scope. */
#define FAIL_ON(condition, status, ...)                                                            \
    do {                                                                                           \
        if (condition)                                                                             \
            return lib_fail(error, (status), __VA_ARGS__);                                         \
    } while (0)

#define TRY(call)                                                                                  \
    do {                                                                                           \
        BevpoolStatus status_ = (call);                                                            \
        if (status_)                                                                               \
            return status_;                                                                        \
    } while (0)

#define TRY_GPU(call)                                                                              \
    do {                                                                                           \
        Err err = {0};                                                                             \
        if (!ON_GPU(call))                                                                         \
            return lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);                                   \
    } while (0)

#define ENTER(its_device)                                                                          \
    LIB_LEFT_AT_END LibEntered entered_ = {.device = BEVPOOL_CPU};                                 \
    TRY(lib_enter(&entered_, (its_device), error))

/* ---- tensors (plan.c) ------------------------------------------------------------------------ */

/* A role of the arrays of a call. */
typedef struct {
    const char *name;
    size_t tensor;          /* the offset of its tensor in BevProblem; 0: it has none */
    int32_t like;           /* the role whose shape it has */
    bool forward, backward; /* directions of launches that have it */
    bool written;
} LibRole;

extern const LibRole lib_roles[BEVPOOL_ROLES];

/* Returns the problem's tensor of a role; NULL for the scales of features. */
BevTensor *lib_tensor(BevProblem *problem, int32_t role);

/* Returns whether each launch prepares its kernel again, with scratch memory that the launch itself
 * allocates. Launches on a moving map of the CPU do so. */
bool lib_prepares_late(const BevpoolPlan *plan);

/* Returns whether a launch of that direction and format reads or writes the role. */
bool lib_role_used(const BevProblem *problem, int32_t role);

/* Returns whether a launch reads or writes the role by the strides of a view. */
bool lib_role_strided(const BevProblem *problem, int32_t role);

/* ---- views (view.c) -------------------------------------------------------------------------- */

/* Turns a problem, whose shape is set, into a problem of stage VIEW with the caller's strides. */
BevpoolStatus lib_view(BevProblem *problem, const BevpoolView *view, BevpoolError *error);

/* Returns the number of elements from the first to the last one that a view reads. */
int64_t lib_view_extent(const BevShape *shape, int64_t channels, const BevStrides *strides);

/* ---- maps (map.c) ---------------------------------------------------------------------------- */

/* Makes a map of arrays that kernels can read: scatter.h allocated the arrays, or on a GPU they lie
 * in `memory`. The map frees arrays and memory. After an error the arrays of scatter.h remain the
 * caller's, and `memory` is freed. */
BevpoolStatus lib_map_keep(BevpoolMap **map, const BevpoolShape *shape, const BevMap *arrays,
                           void *memory, int32_t device, BevpoolError *error);

/* Returns the shape as kernels see it: more samples are more cameras and more rows of cells. */
BevShape lib_shape(const BevpoolShape *shape, int64_t channels);

/* Checks that sizes are positive and that ranks and cells fit int32. */
BevpoolStatus lib_check_shape(const BevpoolShape *shape, BevpoolError *error);

/* Checks the numbers of points and intervals; `found_here`: intervals are not counted yet. */
BevpoolStatus lib_check_counts(const BevpoolArrays *arrays, bool found_here, BevpoolError *error);

/* Checks that the caller's arrays lie on a GPU, and returns them as a map without weights. Both
 * arrays of intervals may be NULL: there are none then. */
BevpoolStatus lib_arrays_in_place(BevMap *map, const BevpoolArrays *arrays, int32_t device,
                                  BevpoolError *error);

/* ---- moving cameras (moving.c) --------------------------------------------------------------- */

/* Takes the map of a launch from the caller's memory. */
BevpoolStatus lib_moving_map(const BevpoolPlan *plan, const void *memory, BevMap *map,
                             BevpoolError *error);

/* ---- where memory is (device.c) -------------------------------------------------------------- */

/* The device that was entered, and the thread's GPU before. It begins as the CPU. */
typedef struct {
    int32_t device;
    int before;
} LibEntered;

/* Checks that `device` is the CPU or a GPU that this build can use. Makes a GPU the thread's
 * current GPU. lib_leave() restores the GPU before. A variable that is declared with
 * LIB_LEFT_AT_END calls lib_leave() at the end of its scope. */
BevpoolStatus lib_enter(LibEntered *entered, int32_t device, BevpoolError *error);
void lib_leave(const LibEntered *entered);
#define LIB_LEFT_AT_END __attribute__((cleanup(lib_leave)))

/* Allocate and free memory of the entered device. */
BevpoolStatus lib_allocate(int32_t device, void **memory, size_t bytes, BevpoolError *error);
void lib_free(int32_t device, void *memory);

/* Copies to or from host memory and waits. */
BevpoolStatus lib_copy(int32_t device, void *to, const void *from, size_t bytes,
                       BevpoolError *error);

enum { LIB_ALIGNMENT = 256 }; /* of a map's memory and of each array in it */

/* Appends the map `one` of sample `sample` to `all`, whose arrays have room for it. */
void lib_append_map(BevMap *all, const BevMap *one, const BevpoolShape *shape, int64_t sample);

/* Makes the poses of all cameras, (batch, cameras), of arrays on the device that was entered. */
BevpoolStatus lib_compose(const PoseArrays *arrays, int64_t batch, int32_t cameras,
                          BevpoolPose *poses, int32_t device, void *stream, BevpoolError *error);

/* Checks that `pointer` is memory of `device`; LIB_OR_HOST allows memory of the host, too. The
 * error is BEVPOOL_BAD_ARGUMENT with the pointer's name. */
typedef enum { LIB_DEVICE_ONLY, LIB_OR_HOST } LibAllowed;
BevpoolStatus lib_check_place(int32_t device, const void *pointer, const char *name,
                              LibAllowed allowed, BevpoolError *error);

/* Checks that a kernel can use each of several arrays, none of which is NULL. */
typedef struct {
    const char *name;
    const void *array;
} LibNamed;
BevpoolStatus lib_check_arrays(int32_t device, const LibNamed *arrays, int count,
                               BevpoolError *error);

/* Checks that a launch may start: the thread's GPU is the plan's, and nothing failed before. */
BevpoolStatus lib_check_stream(int32_t device, void *stream, BevpoolError *error);

/* Transposes (outer, a, b) to (outer, b, a), of elements of 1, 2 or 4 bytes. A GPU enqueues it. */
BevpoolStatus lib_transpose(int32_t device, const void *from, void *to, size_t bytes, int64_t outer,
                            int64_t a, int64_t b, void *stream, BevpoolError *error);
