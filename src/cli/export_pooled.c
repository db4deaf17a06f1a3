#include "src/cli/export_pooled.h"

#include "kernels/clean.h"
#include "kernels/codec.h"
#include "src/base/data.h"
#include "src/cli/snapshot_backward.h"
#include "src/run/session.h"
#include "src/scene/npz.h"

#include <stdlib.h>
#include <string.h>

/* What was computed, until it is written. */
typedef struct {
    const Options *options;
    const BevKernel *forward, *backward; /* backward: NULL when no gradients are wanted */
    BevDtype dtype;
    BevAlign align;
    Pooled pooled;
    HostProblem problem; /* of the way back */
    void *codes;         /* both gradients, as stored */
} Export;

static bool choose(Export *export, Err *err) {
    const Options *options = export->options;
    const char *name = options->pooled;
    size_t length = strlen(name);
    int direction = options->direction ? choices_find(CHOICE_DIRECTION, options->direction) : 0;
    unsigned where;
    if (length < 5 || strcmp(name + length - 4, ".npy") != 0)
        return err_set(err, ERR_USAGE, name, "name it FILE.npy", "--pooled writes .npy files");
    if (!select_devices(options->device, &where, err))
        return false;
    if (options->dtype)
        export->dtype = (BevDtype)choices_find(CHOICE_DTYPE, options->dtype);
    if (direction == BEV_FORWARD)
        export->forward =
            options->kernel ? select_kernel(options->kernel, where, err) : select_best(where);
    else
        export->forward = snapshot_backward_kernels(options, where, &export->backward, err);
    return export->forward != NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool go_back(Export *export, Workload *workload, Err *err) {
    HostProblem *problem = &export->problem;
    if (!workload_problem_backward(workload, export->dtype, export->align, problem, err))
        return false;
    export->codes = malloc(bev_output_bytes(&problem->view));
    if (!export->codes)
        return err_set(err, ERR_FAILED, "gradients", "choose a smaller scene", "out of memory");
    Session *session = NULL;
    bool ok = session_open(&session, export->backward, &problem->view, err) &&
              session_poison(session, err) && session_run(session, err) &&
              session_read(session, export->codes, err);
    session_close(session);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes a tensor as float32: a header of NumPy's format 1.0, then the values. */
static bool write_npy(const char *path, const BevTensor *tensor, int rank, const int64_t *shape,
                      Err *err) {
    NpyArray array = {.type = NPY_F4, .rank = rank, .count = tensor->rows * tensor->row_len};
    memcpy(array.shape, shape, (size_t)rank * sizeof *shape);
    size_t values = (size_t)array.count * sizeof(float);
    char *bytes = malloc(NPY_WRITTEN_BYTES + values);
    if (!bytes)
        return err_set(err, ERR_FAILED, path, "choose a smaller grid", "out of memory");
    size_t header = npy_write_header(&array, bytes);
    bev_tensor_decode(tensor, 0, tensor->rows, (float *)(bytes + header));
    bool ok = data_write(path, bytes, header + values, err);
    free(bytes);
    char text[128];
    npy_shape_text(&array, text, sizeof text);
    if (ok)
        clean_print(stdout, path);
    if (ok)
        printf(": %s", text);
    return ok;
}

/* The same for NAME-WHAT.npy, where --pooled is NAME.npy. */
static bool write_beside(const Export *export, const char *what, const BevTensor *tensor, int rank,
                         const int64_t *shape, Err *err) {
    const char *name = export->options->pooled;
    size_t size = strlen(name) + strlen(what) + 2;
    char *path = malloc(size);
    if (!path)
        return err_set(err, ERR_FAILED, name, "", "out of memory");
    snprintf(path, size, "%.*s-%s.npy", (int)strlen(name) - 4, name, what);
    bool ok = write_npy(path, tensor, rank, shape, err);
    free(path);
    return ok;
}

static bool write_gradients(const Export *export, Err *err) {
    const BevProblem *view = &export->problem.view;
    const BevShape *s = &view->shape;
    BevTensor depth = view->grad_depth, feat = view->grad_feat;
    depth.data = export->codes;
    feat.data = (char *)export->codes + bev_tensor_bytes(&depth);
    const int64_t out_axes[] = {s->ny, s->nx, s->channels};
    const int64_t depth_axes[] = {s->cameras, s->depth_bins, s->feat_h, s->feat_w};
    const int64_t feat_axes[] = {s->cameras, s->feat_h, s->feat_w, s->channels};
    if (!write_beside(export, "grad_out", &view->grad_out, 3, out_axes, err))
        return false;
    printf(", random\n");
    if (!write_beside(export, "grad_depth", &depth, 4, depth_axes, err))
        return false;
    printf(", by %s\n", export->backward->name);
    if (!write_beside(export, "grad_feat", &feat, 4, feat_axes, err))
        return false;
    printf(", by %s\n", export->backward->name);
    return true;
}

static bool write_all(const Export *export, Err *err) {
    const BevProblem *view = &export->pooled.problem.view;
    BevTensor out = view->out;
    out.data = export->pooled.codes;
    const int64_t axes[] = {view->shape.ny, view->shape.nx, view->shape.channels};
    if (!write_npy(export->options->pooled, &out, 3, axes, err))
        return false;
    printf(", pooled by %s, %s, %s\n", export->forward->name, bev_dtypes[export->dtype].title,
           bev_aligns[export->align].title);
    return !export->backward || write_gradients(export, err);
}

bool export_pooled(const Options *options, Workload *workload, BevAlign align, Err *err) {
    Export export = {.options = options, .dtype = BEV_FP32, .align = align};
    bool ok =
        choose(&export, err) &&
        pooled_run(&export.pooled, workload, options->arguments[0],
                   (KernelConfig){export.forward, export.dtype, align}, LATENCY_OFF, NULL, err) &&
        (!export.backward || go_back(&export, workload, err)) && write_all(&export, err);
    pooled_free(&export.pooled);
    problem_free(&export.problem);
    free(export.codes);
    return ok;
}
