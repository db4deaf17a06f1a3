/* SPDX-License-Identifier: MIT */
/* The plugin as a test in C drives it: TensorRT's registry, a plugin made of fields, launches
 * through IPluginV3OneRuntime. tests/gpu/trt_host.cpp does it with TensorRT's C++ interface. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { TRT_NHWC, TRT_NCHW, TRT_NCHW_PACKED } TrtLayout; /* packed: HWC8 and its kin */

typedef struct {
    BevAlign align;
    TrtLayout layout;
    const char *kernel; /* NULL: the plugin chooses */
    bool static_map;
    bool rehearsal; /* made for the builder, which times it on any memory */
} TrtFields;

/* Opens TensorRT and the plugin. NULL, or why there is none. */
const char *trt_host_open(void);

/* What TensorRT's logger was told last; "" for nothing. */
const char *trt_host_said(void);

/* A plugin for the problem: its grid, scales, stage and shapes; attached to a context unless it
 * rehearses. It borrows the problem's shape and format. NULL: refused. */
typedef struct TrtPlugin TrtPlugin;
TrtPlugin *trt_host_make(const BevProblem *problem, const TrtFields *fields);
TrtPlugin *trt_host_clone(const TrtPlugin *plugin);
void trt_host_free(TrtPlugin *plugin);

/* Bytes of workspace as getWorkspaceSize says, and the tactics of the configuration. */
size_t trt_host_workspace(const TrtPlugin *plugin);
int trt_host_tactics(const TrtPlugin *plugin);
bool trt_host_set_tactic(TrtPlugin *plugin, int index);

/* onShapeChange and enqueue with device arrays: depth, feat, the five of the map, weights. */
enum { TRT_INPUTS = 8 };
bool trt_host_enqueue(TrtPlugin *plugin, const void *const inputs[TRT_INPUTS], void *output,
                      void *workspace, void *stream);

/* The last of them alone, as TensorRT does from the second time on. */
bool trt_host_again(TrtPlugin *plugin, const void *const inputs[TRT_INPUTS], void *output,
                    void *workspace, void *stream);

#ifdef __cplusplus
}
#endif
