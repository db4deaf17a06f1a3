#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/cli/library_run.h"

#include "src/lib/bevpool.h"
#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 }; /* of a workspace, as the library asks */

_Static_assert((int)BEVPOOL_UINT8 == (int)BEV_UINT8 && (int)BEVPOOL_BACKWARD == (int)BEV_BACKWARD,
               "the library numbers formats and directions as kernels do");

typedef struct {
    const BevKernel *kernel;
    const BevProblem *host;
    int32_t device;
    BevpoolMap *map;
    BevpoolPlan *plan;
    void *arrays[BEVPOOL_ROLES]; /* on the host; the outputs lie in the caller's block */
    void *workspace;             /* on the host */
    BevpoolCall call;            /* the same where the kernel runs */
} Run;

/* ---- memory where the kernel runs ------------------------------------------------------------ */

static bool find_device(Run *run, Err *err) {
    run->device = BEVPOOL_CPU;
    (void)err;
#ifdef HAVE_CUDA
    DeviceInfo info;
    if (run->kernel->where == BEV_CUDA && !device_info(&info, err))
        return false;
    if (run->kernel->where == BEV_CUDA)
        run->device = info.index;
#endif
    return true;
}

/* *place: `host` itself on the CPU, a copy of it on a GPU. */
static bool bring(const Run *run, void *host, size_t bytes, void **place, Err *err) {
    (void)bytes, (void)err;
#ifdef HAVE_CUDA
    if (run->device != BEVPOOL_CPU)
        return device_bring(place, host, bytes, err);
#endif
    (void)run;
    *place = host;
    return true;
}

static bool is_output(int32_t role) {
    return role == BEVPOOL_OUT || role == BEVPOOL_GRAD_DEPTH || role == BEVPOOL_GRAD_FEAT;
}

/* Copies what a GPU computed to the host, once the launch is done. */
static bool fetch_outputs(const Run *run, Err *err) {
    (void)run, (void)err;
#ifdef HAVE_CUDA
    for (int32_t role = 0; run->device != BEVPOOL_CPU && role < BEVPOOL_ROLES; role++) {
        const BevpoolTensor *tensor = &run->call.tensors[role];
        if (is_output(role) && tensor->bytes &&
            !device_fetch(run->arrays[role], tensor->data, tensor->bytes, err))
            return false;
    }
#endif
    return true;
}

static void drop_copies(const Run *run) {
    (void)run;
#ifdef HAVE_CUDA
    if (run->device == BEVPOOL_CPU)
        return;
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++)
        device_drop(run->call.tensors[role].data);
    device_drop(run->call.workspace);
#endif
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* True for a success. Else passes on the library's error. */
static bool passed(BevpoolStatus status, const BevpoolError *error, Err *err) {
    if (status == BEVPOOL_OK)
        return true;
    bool device = status == BEVPOOL_NO_DEVICE || status == BEVPOOL_WRONG_DEVICE ||
                  status == BEVPOOL_DEVICE_FAILED;
    err_set(err, device ? ERR_DEVICE : ERR_FAILED, "libbevpool", "", "%s", error->text);
#ifdef HAVE_CUDA
    if (status == BEVPOOL_DEVICE_FAILED)
        return device_failed(err);
#endif
    return false;
}

/* ---- map, plan, call ------------------------------------------------------------------------- */

static bool make_plan(Run *run, Err *err) {
    BevpoolError error;
    const BevShape *s = &run->host->shape;
    const BevMap *map = &run->host->map;
    int64_t nz = s->nz > 1 ? s->nz : 1;
    const BevpoolShape shape = {.batch = 1,
                                .cameras = s->cameras,
                                .depth_bins = s->depth_bins,
                                .feat_h = s->feat_h,
                                .feat_w = s->feat_w,
                                .nz = nz,
                                .ny = s->ny / nz,
                                .nx = s->nx};
    const BevpoolArrays arrays = {.points = map->points,
                                  .intervals = map->intervals,
                                  .ranks_depth = map->ranks_depth,
                                  .ranks_feat = map->ranks_feat,
                                  .ranks_bev = map->ranks_bev,
                                  .interval_starts = map->interval_starts,
                                  .interval_lengths = map->interval_lengths,
                                  .weights = map->weights};
    const BevpoolOptions options = {.size = sizeof options,
                                    .channels = s->channels,
                                    .dtype = (int32_t)run->host->dtype,
                                    .direction = (int32_t)run->host->direction,
                                    .feat_layout = BEVPOOL_CHANNELS_LAST,
                                    .out_layout = BEVPOOL_CHANNELS_LAST,
                                    .kernel = run->kernel->name};
    return passed(bevpool_map_from_arrays(&run->map, &shape, &arrays, run->device, 0, &error),
                  &error, err) &&
           passed(bevpool_plan_create(&run->plan, run->map, &options, &error), &error, err);
}

/* Puts the arrays that the plan uses into the call, the outputs one behind the other at `codes`. */
static bool place_arrays(Run *run, void *codes, Err *err) {
    const BevProblem *p = run->host;
    const BevTensor *tensors[BEVPOOL_ROLES] = {
        [BEVPOOL_DEPTH] = &p->depth,
        [BEVPOOL_FEAT] = &p->feat,
        [BEVPOOL_OUT] = &p->out,
        [BEVPOOL_GRAD_OUT] = &p->grad_out,
        [BEVPOOL_GRAD_DEPTH] = &p->grad_depth,
        [BEVPOOL_GRAD_FEAT] = &p->grad_feat,
    };
    char *next = codes;
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        const BevTensor *tensor = tensors[role];
        BevpoolTensor *placed = &run->call.tensors[role];
        size_t bytes = placed->bytes = bevpool_plan_bytes(run->plan, role);
        bool whole = bev_is_whole(p->dtype);
        void *scales = whole ? (void *)p->feat.channel_scales : p->feat.block_scales;
        run->arrays[role] = is_output(role) ? next : tensor ? tensor->data : scales;
        placed->dtype = tensor ? (int32_t)tensor->dtype : whole ? BEVPOOL_FP32 : BEVPOOL_FP8;
        placed->scale = tensor ? tensor->scale : 1;
        if (is_output(role)) {
            assert(bytes == 0 || bytes == bev_tensor_bytes(tensor));
            memset(next, 0xff, bytes);
            next += bytes;
        }
        if (bytes && !bring(run, run->arrays[role], bytes, &placed->data, err))
            return false;
    }
    return true;
}

static bool place_workspace(Run *run, Err *err) {
    size_t bytes = bevpool_plan_workspace_bytes(run->plan);
    run->call.workspace_bytes = bytes;
    if (!bytes)
        return true;
    run->workspace = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!run->workspace)
        return err_set(err, ERR_FAILED, run->kernel->name, "choose a smaller scene",
                       "out of memory");
    memset(run->workspace, 0xff, bytes);
    return bring(run, run->workspace, bytes, &run->call.workspace, err);
}

/* ---- one run --------------------------------------------------------------------------------- */

bool library_has(const BevKernel *kernel) {
    int32_t device = kernel->where == BEV_CPU ? BEVPOOL_CPU : 0; /* 0 stands for any GPU */
    const char *name;
    for (int32_t i = 0; (name = bevpool_kernel_name(device, (int32_t)kernel->direction, i)) != NULL;
         i++)
        if (!strcmp(name, kernel->name))
            return true;
    return false;
}

bool library_run(const BevKernel *kernel, const BevProblem *host, void *codes, Err *err) {
    BevpoolError error;
    Run run = {.kernel = kernel, .host = host, .call = {.size = sizeof run.call}};
    bool ok = find_device(&run, err) && make_plan(&run, err) && place_arrays(&run, codes, err) &&
              place_workspace(&run, err) &&
              passed(bevpool_run(run.plan, &run.call, &error), &error, err) &&
              fetch_outputs(&run, err);
    drop_copies(&run);
    bevpool_plan_destroy(run.plan);
    bevpool_map_destroy(run.map);
    free(run.workspace);
    return ok;
}
