#include "src/cli/export_pooled.h"

#include "kernels/clean.h"
#include "kernels/codec.h"
#include "src/base/data.h"
#include "src/cli/library_run.h"
#include "src/cli/snapshot_backward.h"
#include "src/run/session.h"
#include "src/scene/npz.h"
#include "src/scene/slice.h"

#include <stdlib.h>
#include <string.h>

/* One direction. */
typedef struct {
    const BevKernel *kernel; /* NULL: not wanted */
    HostProblem problem;
    void *codes; /* the grid, or both gradients, as stored */
} Side;

/* What was computed, until it is written. */
typedef struct {
    const Options *options;
    BevDtype dtype;
    BevAlign align;
    Side forward, backward;
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
        export->forward.kernel =
            options->kernel ? select_kernel(options->kernel, where, err) : select_best(where);
    else
        export->forward.kernel =
            snapshot_backward_kernels(options, where, &export->backward.kernel, err);
    return export->forward.kernel != NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool run_session(const Side *side, Err *err) {
    Session *session = NULL;
    bool ok = session_open(&session, side->kernel, &side->problem.view, err) &&
              session_poison(session, err) && session_run(session, err) &&
              session_read(session, side->codes, err);
    session_close(session);
    return ok;
}

static bool run(Side *side, Err *err) {
    const BevProblem *view = &side->problem.view;
    side->codes = malloc(bev_output_bytes(view));
    if (!side->codes)
        return err_set(err, ERR_FAILED, "output", "choose a smaller scene", "out of memory");
    return library_has(side->kernel) ? library_run(side->kernel, view, side->codes, err)
                                     : run_session(side, err);
}

static bool run_all(Export *export, Workload *workload, Err *err) {
    Side *forward = &export->forward, *backward = &export->backward;
    BevDtype dtype = export->dtype;
    return workload_problem(workload, dtype, export->align, &forward->problem, err) &&
           run(forward, err) &&
           (!backward->kernel ||
            (workload_problem_backward(workload, dtype, export->align, &backward->problem, err) &&
             run(backward, err)));
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

/* The axes of a grid: (ny, nx, c), with slices (nz, ny, nx, c). Returns their number. */
static int grid_axes(const BevShape *shape, int64_t axes[4]) {
    Slice whole = slice_of(shape, SLICE_MAX);
    const int64_t all[] = {whole.slices, whole.rows, shape->nx, shape->channels};
    bool flat = whole.slices == 1;
    memcpy(axes, all + flat, sizeof all - flat * sizeof *all);
    return flat ? 3 : 4;
}

/* Reports where the library ran the kernel. */
static const char *whose(const BevKernel *kernel) {
    return library_has(kernel) ? " of libbevpool" : "";
}

static bool write_gradients(const Export *export, Err *err) {
    const Side *side = &export->backward;
    const BevProblem *view = &side->problem.view;
    const BevShape *s = &view->shape;
    BevTensor depth = view->grad_depth, feat = view->grad_feat;
    depth.data = side->codes;
    feat.data = (char *)side->codes + bev_tensor_bytes(&depth);
    int64_t out_axes[4];
    int out_rank = grid_axes(s, out_axes);
    const int64_t depth_axes[] = {s->cameras, s->depth_bins, s->feat_h, s->feat_w};
    const int64_t feat_axes[] = {s->cameras, s->feat_h, s->feat_w, s->channels};
    if (!write_beside(export, "grad_out", &view->grad_out, out_rank, out_axes, err))
        return false;
    printf(", random\n");
    if (!write_beside(export, "grad_depth", &depth, 4, depth_axes, err))
        return false;
    printf(", by %s%s\n", side->kernel->name, whose(side->kernel));
    if (!write_beside(export, "grad_feat", &feat, 4, feat_axes, err))
        return false;
    printf(", by %s%s\n", side->kernel->name, whose(side->kernel));
    return true;
}

static bool write_all(const Export *export, Err *err) {
    const Side *side = &export->forward;
    const BevProblem *view = &side->problem.view;
    BevTensor out = view->out;
    out.data = side->codes;
    int64_t axes[4];
    int rank = grid_axes(&view->shape, axes);
    if (!write_npy(export->options->pooled, &out, rank, axes, err))
        return false;
    printf(", pooled by %s%s, %s, %s\n", side->kernel->name, whose(side->kernel),
           bev_dtypes[export->dtype].title, bev_aligns[export->align].title);
    return !export->backward.kernel || write_gradients(export, err);
}

static void free_side(Side *side) {
    problem_free(&side->problem);
    free(side->codes);
}

bool export_pooled(const Options *options, Workload *workload, BevAlign align, Err *err) {
    Export export = {.options = options, .dtype = BEV_FP32, .align = align};
    bool ok = choose(&export, err) && run_all(&export, workload, err) && write_all(&export, err);
    free_side(&export.forward);
    free_side(&export.backward);
    return ok;
}
