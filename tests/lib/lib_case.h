/* SPDX-License-Identifier: MIT */
/* A problem of the judges' cases as a program sees it that uses the library: a shape, arrays, a
 * call on host memory; and the same problem pooled by the kernel itself. */
#pragma once

#include "kernels/codec.h"
#include "src/accuracy/cases.h"
#include "src/lib/bevpool.h"
#include "src/scene/geometry.h"
#include "src/scene/problem.h"
#include "tests/support/tap.h"

enum { CASE_ALIGNMENT = 256 }; /* of the memory that bevpool.h asks for */

static BevpoolError error; /* of the call before */

static inline void fine(BevpoolStatus status, const char *step) {
    if (status)
        tap_note("%s: %s", bevpool_status_name(status), error.text);
    tap_need(status == BEVPOOL_OK, step);
}

/* A check that a call gave this status, and a text with these words. */
static inline void refused(BevpoolStatus status, BevpoolStatus wanted, const char *words) {
    tap_ok(status == wanted && error.status == (int32_t)wanted && strstr(error.text, words),
           "%s: %s", bevpool_status_name(wanted), error.text);
}

static inline void bad_argument(BevpoolStatus status, const char *words) {
    refused(status, BEVPOOL_BAD_ARGUMENT, words);
}

static inline BevpoolShape lib_case_shape(const BevShape *s) {
    return (BevpoolShape){1, s->cameras, s->depth_bins, s->feat_h, s->feat_w, 1, s->ny, s->nx};
}

static inline BevpoolArrays lib_case_arrays(const BevMap *map) {
    return (BevpoolArrays){map->points,           map->intervals, map->ranks_depth,
                           map->ranks_feat,       map->ranks_bev, map->interval_starts,
                           map->interval_lengths, map->weights};
}

static inline BevpoolMap *map_of(const HostProblem *host, int32_t device) {
    BevpoolMap *map = NULL;
    BevpoolShape shape = lib_case_shape(&host->view.shape);
    BevpoolArrays arrays = lib_case_arrays(&host->view.map);
    fine(bevpool_map_from_arrays(&map, &shape, &arrays, device, 0, &error), "a map");
    return map;
}

static inline BevpoolPlan *plan_of(const HostProblem *host, BevpoolMap *map, const char *kernel,
                                   int32_t out_layout) {
    BevpoolPlan *plan = NULL;
    BevpoolOptions options = {.size = sizeof options,
                              .channels = host->view.shape.channels,
                              .dtype = (int32_t)host->view.dtype,
                              .direction = (int32_t)host->view.direction,
                              .out_layout = out_layout,
                              .kernel = kernel};
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan");
    return plan;
}

/* The rig as the library takes it; `cameras` is memory for RIG_MAX_CAMERAS of them. */
static inline void lib_rig_from(const Rig *rig, BevpoolCamera *cameras, BevpoolRig *to) {
    const Frustum *f = &rig->frustum;
    const ImageCut *cut = &rig->cameras[0].cut;
    const Grid *g = &rig->grid;
    for (int i = 0; i < rig->camera_count; i++) {
        memcpy(cameras[i].intrinsics, rig->cameras[i].intrinsics, sizeof cameras[i].intrinsics);
        memcpy(cameras[i].rotation, rig->cameras[i].rotation, sizeof cameras[i].rotation);
        memcpy(cameras[i].position_m, rig->cameras[i].position_m, sizeof cameras[i].position_m);
    }
    *to = (BevpoolRig){.size = sizeof *to, .cameras = cameras, .camera_count = rig->camera_count};
    to->image_w = cut->image_w, to->image_h = cut->image_h, to->resize = cut->resize_x;
    to->crop_x = cut->crop_x, to->crop_y = cut->crop_y;
    to->input_w = f->input_w, to->input_h = f->input_h;
    to->feat_w = f->feat_w, to->feat_h = f->feat_h;
    to->depth_start_m = f->depth_start_m, to->depth_stop_m = f->depth_stop_m;
    to->depth_step_m = f->depth_step_m;
    to->x_min_m = g->x_min_m, to->x_max_m = g->x_max_m;
    to->y_min_m = g->y_min_m, to->y_max_m = g->y_max_m;
    to->z_min_m = g->z_min_m, to->z_max_m = g->z_max_m;
    to->nx = g->nx, to->ny = g->ny, to->nz = g->nz;
}

static inline void *lib_aligned(size_t bytes) {
    return aligned_alloc(CASE_ALIGNMENT, (bytes / CASE_ALIGNMENT + 1) * CASE_ALIGNMENT);
}

static inline BevpoolTensor lib_tensor_of(const BevTensor *t) {
    return (BevpoolTensor){t->data, bev_code_bytes(t->dtype, t->rows, t->row_len),
                           (int32_t)t->dtype, t->scale};
}

/* The scales of a block or channel that features have besides the tensor's. */
static inline BevpoolTensor lib_scales_of(const BevTensor *feat) {
    if (feat->channel_scales)
        return (BevpoolTensor){feat->channel_scales, (size_t)feat->row_len * sizeof(float),
                               BEVPOOL_FP32, 0};
    return (BevpoolTensor){feat->block_scales,
                           bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len),
                           BEVPOOL_FP8, 0};
}

/* A forward call on the problem's own tensors; output and workspace are new and full of NaN. */
static inline BevpoolCall lib_call(const HostProblem *host, const BevpoolPlan *plan) {
    const BevProblem *view = &host->view;
    size_t scratch = bevpool_plan_workspace_bytes(plan);
    BevpoolCall call = {.size = sizeof call};
    call.tensors[BEVPOOL_DEPTH] = lib_tensor_of(&view->depth);
    call.tensors[BEVPOOL_FEAT] = lib_tensor_of(&view->feat);
    call.tensors[BEVPOOL_FEAT_SCALES] = lib_scales_of(&view->feat);
    call.tensors[BEVPOOL_OUT] = lib_tensor_of(&view->out);
    call.tensors[BEVPOOL_OUT].data = lib_aligned(call.tensors[BEVPOOL_OUT].bytes);
    memset(call.tensors[BEVPOOL_OUT].data, 0xff, call.tensors[BEVPOOL_OUT].bytes);
    call.workspace = lib_aligned(scratch);
    call.workspace_bytes = scratch;
    memset(call.workspace, 0xff, scratch);
    return call;
}

static inline void lib_call_free(BevpoolCall *call) {
    free(call->tensors[BEVPOOL_OUT].data);
    free(call->workspace);
}

static inline bool lib_same_output(const BevpoolCall *call, const BevProblem *view) {
    return !memcmp(call->tensors[BEVPOOL_OUT].data, view->out.data,
                   call->tensors[BEVPOOL_OUT].bytes);
}
