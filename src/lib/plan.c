/* SPDX-License-Identifier: MIT */
/* Plans: choose the kernel, prepare it, and divide its workspace. */
#include "src/lib/lib_internal.h"

#include "kernels/codec.h"

#include <stdlib.h>

#define TENSOR(name) #name, offsetof(BevProblem, name)
#define BOTH         .forward = true, .backward = true
const LibRole lib_roles[BEVPOOL_ROLES] = {
    [BEVPOOL_DEPTH] = {TENSOR(depth), BEVPOOL_DEPTH, BOTH},
    [BEVPOOL_FEAT] = {TENSOR(feat), BEVPOOL_FEAT, BOTH},
    [BEVPOOL_FEAT_SCALES] = {"feat_scales", 0, BEVPOOL_FEAT_SCALES, BOTH},
    [BEVPOOL_OUT] = {TENSOR(out), BEVPOOL_OUT, .forward = true, .written = true},
    [BEVPOOL_GRAD_OUT] = {TENSOR(grad_out), BEVPOOL_OUT, .backward = true},
    [BEVPOOL_GRAD_DEPTH] = {TENSOR(grad_depth), BEVPOOL_DEPTH, .backward = true, .written = true},
    [BEVPOOL_GRAD_FEAT] = {TENSOR(grad_feat), BEVPOOL_FEAT, .backward = true, .written = true},
};

BevTensor *lib_tensor(BevProblem *problem, int32_t role) {
    size_t at = lib_roles[role].tensor;
    return at ? (BevTensor *)((char *)problem + at) : NULL;
}

bool lib_role_used(const BevProblem *problem, int32_t role) {
    const LibRole *row = &lib_roles[role];
    bool scaled = bev_dtypes[problem->dtype].block || bev_is_whole(problem->dtype);
    return (problem->direction == BEV_BACKWARD ? row->backward : row->forward) &&
           (row->tensor || scaled);
}

bool lib_role_strided(const BevProblem *problem, int32_t role) {
    return problem->stage == BEV_VIEW && lib_roles[role].like != BEVPOOL_OUT;
}

/* ---- which kernel ---------------------------------------------------------------------------- */

static bool is_offered(const BevKernel *row, int32_t device, int32_t direction, BevStage stage) {
    const BevWhere where = device == BEVPOOL_CPU ? BEV_CPU : BEV_CUDA;
    const bool asked_for =
        row->where == where && (int32_t)row->direction == direction && row->stage == stage;
    const bool reads_strides = row->prepare; /* the reference of a view does not */
    return asked_for && row->launch && !row->wrong_on_purpose &&
           (stage == BEV_POOL || reads_strides);
}

bool lib_prepares_late(const BevpoolPlan *plan) {
    return plan->map->map.moving && plan->map->device == BEVPOOL_CPU;
}

static bool offered_to(const BevKernel *row, const BevpoolPlan *plan) {
    return is_offered(row, plan->map->device, (int32_t)plan->problem.direction,
                      plan->problem.stage);
}

const char *bevpool_kernel_name(int32_t device, int32_t direction, int32_t index) {
    int32_t offered = 0; /* the kernels offered so far */
    for (int i = 0; device >= BEVPOOL_CPU && bev_kernels[i]; i++) {
        if (!is_offered(bev_kernels[i], device, direction, BEV_POOL))
            continue;
        if (offered++ == index)
            return bev_kernels[i]->name;
    }
    return NULL;
}

/* Loads the code of all kernels that are offered. */
BevpoolStatus bevpool_warm_up(int32_t device, int32_t direction, BevpoolError *error) {
    TRY(lib_check_range("", "direction", direction, 0, BEV_DIRECTION_COUNT - 1, error));
    ENTER(device);
    for (int i = 0; bev_kernels[i]; i++)
        if (is_offered(bev_kernels[i], device, direction, bev_kernels[i]->stage) &&
            bev_kernels[i]->code)
            TRY_GPU(lib_cuda_load(bev_kernels[i]->code, &err));
    return lib_ok(error);
}

/* Returns why the plan cannot take a row, or NULL. Sets how the row would write the output. A
 * channels-first kernel writes (c, cell), which is (B, C, Z, Y, X) only for one sample. */
static const char *why_refused(const BevKernel *row, BevpoolPlan *plan) {
    bool first = row->writes_first && plan->out_layout == BEVPOOL_CHANNELS_FIRST;
    plan->problem.out_samples = first ? plan->map->shape.batch : 0;
    if (row->channels_first && plan->map->shape.batch > 1)
        return "its output has channels first, which does not fit a batch of several samples";
    if (plan->map->view && row->prepare && !row->plan_optional)
        return "it prepares for one map, and that of a view may change";
    if (plan->map->map.moving && plan->map->device != BEVPOOL_CPU && !row->update)
        return "its map cannot be made again on the stream";
    return bev_unsupported(row, &plan->problem);
}

/* Prepares the plan's kernel, unless the map may change later. */
static BevpoolStatus prepare_kernel(BevpoolPlan *plan, BevpoolError *error) {
    Err err = {0};
    if (!plan->kernel->prepare || plan->map->view || lib_prepares_late(plan) ||
        plan->kernel->prepare(&plan->problem, &plan->plan, &err))
        return BEVPOOL_OK;
    return lib_pass(error, err.kind == ERR_USAGE ? BEVPOOL_UNSUPPORTED : BEVPOOL_NO_MEMORY, &err);
}

/* Takes the kernel of that name if it fits the plan. The kernel is not prepared. */
static BevpoolStatus take_named(BevpoolPlan *plan, const char *name, BevpoolError *error) {
    const BevKernel *row = bev_kernel_find(name);
    FAIL_ON(!row || !offered_to(row, plan), BEVPOOL_UNSUPPORTED,
            "kernel %s: not among those of this build, device and direction "
            "(bevpool_kernel_name lists them)",
            name);
    const char *reason = why_refused(row, plan);
    FAIL_ON(reason, BEVPOOL_UNSUPPORTED, "kernel %s: %s", name, reason);
    plan->kernel = row;
    return BEVPOOL_OK;
}

/* Takes and prepares the default kernel. If the default kernel refuses, takes the last row that
 * fits and gives the same bits in each run. If there is none, takes the last row that fits. */
static BevpoolStatus take_best(BevpoolPlan *plan, BevpoolError *error) {
    enum { DEFAULT, DETERMINISTIC, ANY, PASSES };
    int count = 0;
    while (bev_kernels[count])
        count++;
    BevpoolStatus status =
        lib_fail(error, BEVPOOL_UNSUPPORTED, "no kernel of this build does that");
    for (int pass = DEFAULT; pass < PASSES; pass++)
        for (int i = count; i-- > 0;) {
            const BevKernel *row = bev_kernels[i];
            bool wanted = pass == ANY || (pass == DEFAULT ? row->is_default : row->deterministic);
            if (!wanted || row->skips || !offered_to(row, plan) || why_refused(row, plan))
                continue;
            plan->kernel = row;
            status = prepare_kernel(plan, error);
            if (status != BEVPOOL_UNSUPPORTED)
                return status;
        }
    return status;
}

/* ---- the problem ----------------------------------------------------------------------------- */

/* Returns whether there is a view. Options of older programs are shorter and have none. */
static bool has_view(const BevpoolOptions *o) {
    return o->size > offsetof(BevpoolOptions, view) && o->view;
}

static BevpoolStatus check_options(const BevpoolOptions *o, const BevpoolShape *shape,
                                   BevpoolError *error) {
    const size_t before_view = offsetof(BevpoolOptions, view); /* the size in older programs */
    FAIL_ON(o->size != sizeof *o && o->size != before_view, BEVPOOL_BAD_ARGUMENT,
            "options.size is %zu, expected %zu", o->size, sizeof *o);
    int64_t rows = shape->batch * shape->cameras * shape->feat_h * shape->feat_w;
    int64_t cells = shape->batch * shape->nz * shape->ny * shape->nx;
    /* bytes fit into 64 bits: a number has at most 8 bytes */
    int64_t most = INT64_MAX / 8 / (rows > cells ? rows : cells);
    most = most < INT32_MAX ? most : INT32_MAX;
    TRY(lib_check_range("options.", "channels", o->channels, 1, most, error));
    TRY(lib_check_range("options.", "dtype", o->dtype, 0, BEV_DTYPE_COUNT - 1, error));
    TRY(lib_check_range("options.", "direction", o->direction, 0, BEV_DIRECTION_COUNT - 1, error));
    TRY(lib_check_range("options.", "feat_layout", o->feat_layout, 0, 1, error));
    TRY(lib_check_range("options.", "out_layout", o->out_layout, 0, 1, error));
    FAIL_ON(o->direction == BEVPOOL_BACKWARD && o->dtype > BEVPOOL_BF16, BEVPOOL_UNSUPPORTED,
            "gradients are FP32, FP16 or BF16, not %s", bev_dtypes[o->dtype].title);
    FAIL_ON(bev_dtypes[o->dtype].block && o->feat_layout == BEVPOOL_CHANNELS_FIRST,
            BEVPOOL_UNSUPPORTED,
            "%s features share scales along the channels, which must come last",
            bev_dtypes[o->dtype].title);
    return BEVPOOL_OK;
}

/* Sets the parts of a plan's problem that do not depend on the kernel. */
static BevpoolStatus set_problem(BevpoolPlan *plan, const BevpoolOptions *options,
                                 BevpoolError *error) {
    const BevShape shape = lib_shape(&plan->map->shape, options->channels);
    const BevMap *map = &plan->map->map;
    plan->problem =
        bev_bare_problem(&shape, map, (BevDirection)options->direction, (BevDtype)options->dtype,
                         map->weights ? BEV_BILINEAR : BEV_NEAREST);
    plan->feat_layout = options->feat_layout;
    plan->out_layout = options->out_layout;
    return has_view(options) ? lib_view(&plan->problem, options->view, error) : BEVPOOL_OK;
}

/* ---- workspace ------------------------------------------------------------------------------- */

/* Divides the workspace: the kernel's scratch, then a copy of each array in another layout. */
static void divide_workspace(BevpoolPlan *plan) {
    const BevShape *shape = &plan->problem.shape;
    const BevKernel *kernel = plan->kernel;
    size_t bytes = kernel->workspace_bytes && !lib_prepares_late(plan)
                       ? kernel->workspace_bytes(&plan->problem, plan->plan)
                       : 0;
    int32_t native = kernel->channels_first ? BEVPOOL_CHANNELS_FIRST : BEVPOOL_CHANNELS_LAST;
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        bool feat = lib_roles[role].like == BEVPOOL_FEAT;
        bool out = lib_roles[role].like == BEVPOOL_OUT;
        int32_t wanted = feat ? plan->feat_layout : plan->out_layout;
        bool as_wanted = wanted == native || lib_role_strided(&plan->problem, role) ||
                         (out && plan->problem.out_samples);
        if (!lib_role_used(&plan->problem, role) || (!feat && !out) || as_wanted)
            continue;
        int64_t outer = feat ? shape->cameras : plan->map->shape.batch;
        int64_t rows = feat ? shape->feat_h * shape->feat_w : shape->nx * shape->ny / outer;
        bytes = (bytes + LIB_ALIGNMENT - 1) / LIB_ALIGNMENT * LIB_ALIGNMENT;
        plan->copies[role] = (LibCopy){true, bytes, outer, rows};
        bytes += bev_tensor_bytes(lib_tensor(&plan->problem, role));
    }
    plan->workspace_bytes = bytes;
}

/* ---- the handle ------------------------------------------------------------------------------ */

/* Chooses and prepares the plan's kernel, and divides its workspace. */
static BevpoolStatus fill_plan(BevpoolPlan *plan, const BevpoolOptions *options,
                               BevpoolError *error) {
    TRY(set_problem(plan, options, error));
    if (options->kernel) {
        TRY(take_named(plan, options->kernel, error));
        TRY(prepare_kernel(plan, error));
    } else {
        TRY(take_best(plan, error));
    }
    FAIL_ON(plan->problem.map.moving && plan->map->device != BEVPOOL_CPU &&
                !ON_GPU(lib_cuda_replays_open(&plan->replays)),
            BEVPOOL_NO_MEMORY, "plan: out of memory");
    divide_workspace(plan);
    return BEVPOOL_OK;
}

BevpoolStatus bevpool_plan_create(BevpoolPlan **plan, BevpoolMap *map,
                                  const BevpoolOptions *options, BevpoolError *error) {
    FAIL_ON(!plan, BEVPOOL_BAD_ARGUMENT, "plan is NULL");
    *plan = NULL;
    FAIL_ON(!map || !options, BEVPOOL_BAD_ARGUMENT, "%s is NULL", map ? "options" : "map");
    TRY(check_options(options, &map->shape, error));
    ENTER(map->device);
    BevpoolPlan *made = calloc(1, sizeof *made);
    FAIL_ON(!made, BEVPOOL_NO_MEMORY, "plan: out of memory");
    atomic_fetch_add(&map->references, 1);
    made->map = map;
    BevpoolStatus status = fill_plan(made, options, error);
    if (status) {
        bevpool_plan_destroy(made);
        return status;
    }
    *plan = made;
    return lib_ok(error);
}

/* ---- before there is a map ------------------------------------------------------------------- */

/* Finds the most workspace of all kernels that fit. */
static BevpoolStatus most_workspace(BevpoolPlan *plan, size_t *bytes, BevpoolError *error) {
    bool any = false;
    for (int i = 0; bev_kernels[i]; i++) {
        if (!offered_to(bev_kernels[i], plan) || why_refused(bev_kernels[i], plan))
            continue;
        any = true;
        plan->kernel = bev_kernels[i];
        divide_workspace(plan);
        *bytes = plan->workspace_bytes > *bytes ? plan->workspace_bytes : *bytes;
    }
    FAIL_ON(!any, BEVPOOL_UNSUPPORTED, "no kernel of this build does that");
    return lib_ok(error);
}

BevpoolStatus bevpool_plan_check(const BevpoolShape *shape, const BevpoolArrays *arrays,
                                 const BevpoolOptions *options, uint32_t flags,
                                 size_t *workspace_bytes, BevpoolError *error) {
    FAIL_ON(!shape || !arrays || !options || !workspace_bytes, BEVPOOL_BAD_ARGUMENT, "%s is NULL",
            !shape     ? "shape"
            : !arrays  ? "arrays"
            : !options ? "options"
                       : "workspace_bytes");
    FAIL_ON(flags & ~(uint32_t)BEVPOOL_ON_VIEW, BEVPOOL_BAD_ARGUMENT, "flags: unknown bits 0x%x",
            (unsigned)flags);
    static float some; /* kernels ask whether weights exist, and read none */
    BevpoolMap map = {.device = 0, .shape = *shape, .view = flags & BEVPOOL_ON_VIEW};
    map.map = (BevMap){.points = arrays->points, .intervals = arrays->intervals};
    map.map.weights = arrays->weights ? &some : NULL;
    TRY(lib_check_shape(shape, error));
    TRY(lib_check_counts(arrays, false, error));
    TRY(check_options(options, shape, error));
    BevpoolPlan plan = {.map = &map};
    *workspace_bytes = 0;
    TRY(set_problem(&plan, options, error));
    if (!options->kernel)
        return most_workspace(&plan, workspace_bytes, error);
    TRY(take_named(&plan, options->kernel, error));
    divide_workspace(&plan);
    *workspace_bytes = plan.workspace_bytes;
    return lib_ok(error);
}

void bevpool_plan_destroy(BevpoolPlan *plan) {
    if (!plan)
        return;
    LIB_LEFT_AT_END LibEntered entered = {.device = BEVPOOL_CPU};
    if (plan->plan && !lib_enter(&entered, plan->map->device, NULL)) {
        (void)ON_GPU(lib_cuda_replays_close(plan->replays));
        plan->kernel->release(plan->plan);
    }
    bevpool_map_destroy(plan->map);
    free(plan);
}

const char *bevpool_plan_kernel(const BevpoolPlan *plan) {
    return plan ? plan->kernel->name : NULL;
}

size_t bevpool_plan_workspace_bytes(const BevpoolPlan *plan) {
    return plan ? plan->workspace_bytes : 0;
}

size_t bevpool_plan_bytes(const BevpoolPlan *plan, int32_t role) {
    if (!plan || role < 0 || role >= BEVPOOL_ROLES || !lib_role_used(&plan->problem, role))
        return 0;
    BevProblem problem = plan->problem;
    const BevTensor *found = lib_tensor(&problem, role), *feat = &problem.feat;
    if (lib_role_strided(&problem, role)) {
        const bool is_depth = lib_roles[role].like == BEVPOOL_DEPTH;
        const BevShape *shape = &problem.shape;
        const int64_t channels = is_depth ? shape->depth_bins : shape->channels;
        const BevStrides *strides = is_depth ? &problem.view.depth : &problem.view.feat;
        return (size_t)lib_view_extent(shape, channels, strides) *
               (size_t)bev_dtypes[found->dtype].bits / 8;
    }
    if (found)
        return bev_code_bytes(found->dtype, found->rows, found->row_len);
    if (bev_is_whole(feat->dtype))
        return (size_t)feat->row_len * sizeof *feat->channel_scales;
    return bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len);
}
