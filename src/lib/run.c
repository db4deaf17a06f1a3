/* SPDX-License-Identifier: MIT */
/* Launches: cheap checks, copies of arrays with another layout, and the kernel. */
#include "src/lib/lib_internal.h"

#include "src/scene/problem.h"

#include <math.h>

enum { WORKSPACE_ALIGNMENT = 256, GPU_ALIGNMENT = 16 };

/* ---- checks ---------------------------------------------------------------------------------- */

static BevDtype dtype_of(BevProblem *problem, int32_t role) {
    const BevTensor *tensor = lib_tensor(problem, role);
    const BevDtype of_scales = bev_is_whole(problem->dtype) ? BEV_FP32 : BEV_FP8;
    return tensor ? tensor->dtype : of_scales;
}

static BevpoolStatus check_tensor(const BevpoolPlan *plan, BevProblem *problem, int32_t role,
                                  const BevpoolTensor *tensor, BevpoolError *error) {
    const char *name = lib_roles[role].name;
    const BevDtype wanted = dtype_of(problem, role);
    const BevDtypeInfo *dtype = &bev_dtypes[wanted];
    size_t bytes = bevpool_plan_bytes(plan, role);
    const bool vectors = plan->map->device != BEVPOOL_CPU && !lib_role_strided(problem, role);
    const size_t element_bytes = dtype->bits >= 8 ? (size_t)dtype->bits / 8 : 1;
    const size_t alignment = vectors ? GPU_ALIGNMENT : element_bytes;
    FAIL_ON(!tensor->data, BEVPOOL_BAD_ARGUMENT, "%s: is NULL", name);
    FAIL_ON(tensor->dtype != (int32_t)wanted, BEVPOOL_BAD_ARGUMENT,
            "%s: has dtype %d, expected %d (%s)", name, (int)tensor->dtype, (int)wanted,
            dtype->title);
    FAIL_ON(tensor->bytes != bytes, BEVPOOL_BAD_ARGUMENT, "%s: has %zu bytes, expected %zu", name,
            tensor->bytes, bytes);
    FAIL_ON((uintptr_t)tensor->data % alignment, BEVPOOL_BAD_ARGUMENT,
            "%s: does not begin on a multiple of %zu bytes", name, alignment);
    bool scaled = dtype->bits <= 8 && role != BEVPOOL_FEAT_SCALES;
    bool fits = tensor->scale == 0 || tensor->scale == 1 ||
                (scaled && tensor->scale > 0 && isfinite(tensor->scale));
    FAIL_ON(!fits, BEVPOOL_BAD_ARGUMENT, "%s: has scale %g, expected %s", name,
            (double)tensor->scale, scaled ? "a positive number" : "1: it has none");
    return lib_check_place(plan->map->device, tensor->data, name, LIB_DEVICE_ONLY, error);
}

static BevpoolStatus check_workspace(const BevpoolPlan *plan, const BevpoolCall *call,
                                     BevpoolError *error) {
    if (!plan->workspace_bytes)
        return BEVPOOL_OK;
    FAIL_ON(!call->workspace || call->workspace_bytes < plan->workspace_bytes, BEVPOOL_WORKSPACE,
            "workspace: has %zu bytes, needs %zu", call->workspace ? call->workspace_bytes : 0,
            plan->workspace_bytes);
    FAIL_ON((uintptr_t)call->workspace % WORKSPACE_ALIGNMENT, BEVPOOL_WORKSPACE,
            "workspace: does not begin on a multiple of %d bytes", WORKSPACE_ALIGNMENT);
    return lib_check_place(plan->map->device, call->workspace, "workspace", LIB_DEVICE_ONLY, error);
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Returns the kernel's array of a role: the caller's, or its copy in the workspace. */
static void *place_of(const BevpoolPlan *plan, const BevpoolCall *call, int32_t role) {
    const LibCopy *copy = &plan->copies[role];
    return copy->used ? (char *)call->workspace + copy->offset : call->tensors[role].data;
}

/* Checks the call and sets the problem's arrays. */
static BevpoolStatus set_arrays(const BevpoolPlan *plan, const BevpoolCall *call,
                                BevProblem *problem, BevpoolError *error) {
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        if (!lib_role_used(problem, role))
            continue;
        const BevpoolTensor *given = &call->tensors[role];
        TRY(check_tensor(plan, problem, role, given, error));
        BevTensor *tensor = lib_tensor(problem, role);
        if (!tensor) {
            if (bev_is_whole(problem->dtype))
                problem->feat.channel_scales = given->data;
            else
                problem->feat.block_scales = given->data;
            continue;
        }
        tensor->data = place_of(plan, call, role);
        tensor->scale = given->scale == 0 ? 1 : given->scale;
    }
    problem->workspace = call->workspace;
    return check_workspace(plan, call, error);
}

typedef enum { INPUTS, OUTPUTS } Copies;

/* Transposes inputs into the kernel's layout, or outputs into the caller's. */
static BevpoolStatus transpose_copies(const BevpoolPlan *plan, const BevpoolCall *call,
                                      Copies copies, BevpoolError *error) {
    const bool outputs = copies == OUTPUTS;
    BevProblem problem = plan->problem;
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        const LibCopy *copy = &plan->copies[role];
        if (!copy->used || lib_roles[role].written != outputs)
            continue;
        void *caller = call->tensors[role].data, *own = place_of(plan, call, role);
        bool to_first = outputs != plan->kernel->channels_first;
        int64_t channels = problem.shape.channels;
        size_t bytes = (size_t)bev_dtypes[dtype_of(&problem, role)].bits / 8;
        TRY(lib_transpose(plan->map->device, outputs ? own : caller, outputs ? caller : own, bytes,
                          copy->outer, to_first ? copy->rows : channels,
                          to_first ? channels : copy->rows, call->stream, error));
    }
    return BEVPOOL_OK;
}

BevpoolStatus bevpool_run(const BevpoolPlan *plan, const BevpoolCall *call, BevpoolError *error) {
    FAIL_ON(!plan || !call, BEVPOOL_BAD_ARGUMENT, "%s is NULL", plan ? "call" : "plan");
    bool moves = plan->map->map.moving != NULL;
    FAIL_ON(call->size != sizeof *call && (moves || call->size != offsetof(BevpoolCall, map)),
            BEVPOOL_BAD_ARGUMENT, "call.size is %zu, expected %zu", call->size, sizeof *call);
    Err err = {0};
    BevProblem problem = plan->problem;
    TRY(lib_check_stream(plan->map->device, call->stream, error));
    if (moves)
        TRY(lib_moving_map(plan, call->map, &problem.map, error));
    TRY(set_arrays(plan, call, &problem, error));
    TRY(transpose_copies(plan, call, INPUTS, error));
    const bool launched = lib_prepares_late(plan)
                              ? problem_pool(plan->kernel, &problem, &err)
                              : plan->kernel->launch(&problem, plan->plan, call->stream, &err);
    if (!launched)
        return lib_pass(error, BEVPOOL_DEVICE_FAILED, &err);
    TRY(transpose_copies(plan, call, OUTPUTS, error));
    return lib_ok(error);
}
