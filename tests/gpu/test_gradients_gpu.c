/* SPDX-License-Identifier: MIT */
/* Kernels of backward, as checkbev cannot try them: a hundred runs with the same bits where a
 * CUDA row claims that, and gradients of more than 2^31 elements for the rows of CPU and GPU that
 * have the memory. Skipped without a GPU. */
#include "kernels/codec.h"
#include "src/run/cuda/device.h"
#include "tests/gpu/on_gpu.h"

#include <unistd.h>

static Err err; /* why a step failed */

static void test_scene(const char *name, unsigned dtypes) {
    Workload workload;
    if (!tap_ok(ok_or_note(workload_open(&workload, name, NULL, &err), &err), "%s opens", name))
        return;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        for (int align = 0; dtypes >> dtype & 1 && align <= BEV_BILINEAR; align++) {
            HostProblem problem;
            if (!tap_ok(ok_or_note(workload_problem_backward(&workload, (BevDtype)dtype,
                                                             (BevAlign)align, &problem, &err),
                                   &err),
                        "%s, %s, %s", name, bev_dtypes[dtype].name, bev_aligns[align].name))
                continue;
            for (int i = 0; bev_kernels[i]; i++)
                if (bev_kernels[i]->where == BEV_CUDA && bev_kernels[i]->launch &&
                    !bev_unsupported(bev_kernels[i], &problem.view))
                    check_same_bits(bev_kernels[i], &problem.view);
            problem_free(&problem);
        }
    workload_close(&workload);
}

/* Image columns of 32 pixels, each of which sees one cell of its own: grad_v4's columns serve. The
 * first and the last columns have depths and features, the others zeros. */
enum {
    HEIGHT = 32,
    COLUMNS = 68750,
    PIXELS = HEIGHT * COLUMNS,
    CHANNELS = 1024,
    LIVE_COLUMNS = 64
};

typedef struct {
    BevProblem problem;
    int32_t *ranks, *cells, *starts, *lengths;
} Wide;

static bool is_live(int column) {
    return column < LIVE_COLUMNS || column >= COLUMNS - LIVE_COLUMNS;
}

static int cell_of(int column) {
    return column * HEIGHT + HEIGHT - 1;
}

/* Whole numbers and powers of two: every product and sum is a half. */
static float grad_of_column(int column) {
    return (float)(column % 8 + 1) / 64;
}

static float feature_of(int pixel) {
    return (float)(pixel % 4 + 1) / 4;
}

static void fill_row(const BevTensor *tensor, int64_t row, float value) {
    float values[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        values[c] = value;
    bev_span_encode(tensor, row, 0, CHANNELS, values);
}

static void wide_free(Wide *wide) {
    free(wide->ranks);
    free(wide->cells);
    free(wide->starts);
    free(wide->lengths);
    free(wide->problem.depth.data);
    free(wide->problem.feat.data);
    free(wide->problem.grad_out.data);
    free(wide->problem.grad_depth.data);
    free(wide->problem.grad_feat.data);
}

static void wide_fill(Wide *wide) {
    const float one = 1;
    for (int w = 0; w < COLUMNS; w++) {
        wide->starts[w] = w * HEIGHT;
        wide->lengths[w] = HEIGHT;
        for (int h = 0; h < HEIGHT; h++) {
            int pixel = h * COLUMNS + w;
            wide->ranks[w * HEIGHT + h] = pixel;
            wide->cells[w * HEIGHT + h] = cell_of(w);
            if (!is_live(w))
                continue;
            bev_span_encode(&wide->problem.depth, 0, pixel, 1, &one);
            fill_row(&wide->problem.feat, pixel, feature_of(pixel));
        }
        if (is_live(w))
            fill_row(&wide->problem.grad_out, cell_of(w), grad_of_column(w));
    }
}

static bool wide_init(Wide *wide) {
    size_t each = sizeof(int32_t), bytes = 2;
    *wide = (Wide){.ranks = malloc(PIXELS * each),
                   .cells = malloc(PIXELS * each),
                   .starts = malloc(COLUMNS * each),
                   .lengths = malloc(COLUMNS * each)};
    BevProblem *p = &wide->problem;
    p->shape = (BevShape){1, 1, HEIGHT, COLUMNS, CHANNELS, PIXELS, 1, 1};
    p->dtype = BEV_FP16;
    p->direction = BEV_BACKWARD;
    p->map = (BevMap){.points = PIXELS,
                      .intervals = COLUMNS,
                      .ranks_depth = wide->ranks,
                      .ranks_feat = wide->ranks,
                      .ranks_bev = wide->cells,
                      .interval_starts = wide->starts,
                      .interval_lengths = wide->lengths};
    p->depth = p->grad_depth =
        (BevTensor){.dtype = BEV_FP16, .rows = 1, .row_len = PIXELS, .scale = 1};
    p->feat = p->out = p->grad_out = p->grad_feat =
        (BevTensor){.dtype = BEV_FP16, .rows = PIXELS, .row_len = CHANNELS, .scale = 1};
    p->depth.data = calloc(PIXELS, bytes);
    p->grad_depth.data = calloc(PIXELS, bytes);
    p->feat.data = calloc((size_t)PIXELS * CHANNELS, bytes);
    p->grad_out.data = calloc((size_t)PIXELS * CHANNELS, bytes);
    p->grad_feat.data = calloc((size_t)PIXELS * CHANNELS, bytes);
    bool ok = wide->ranks && wide->cells && wide->starts && wide->lengths && p->depth.data &&
              p->grad_depth.data && p->feat.data && p->grad_out.data && p->grad_feat.data;
    if (ok)
        wide_fill(wide);
    return ok;
}

/* The first pixel whose gradients are wrong, or -1. */
static int first_wrong(const Wide *wide, const void *codes) {
    const BevProblem *p = &wide->problem;
    BevTensor depth = p->grad_depth, feat = p->grad_feat;
    uint16_t row[CHANNELS], zeros[CHANNELS] = {0};
    const BevTensor one_row = {
        .dtype = BEV_FP16, .rows = 1, .row_len = CHANNELS, .scale = 1, .data = row};
    depth.data = (void *)codes; /* only read */
    feat.data = (char *)depth.data + bev_tensor_bytes(&depth);
    for (int pixel = 0; pixel < PIXELS; pixel++) {
        int column = pixel % COLUMNS;
        float grad = grad_of_column(column), want = grad * feature_of(pixel) * CHANNELS;
        bool live = is_live(column);
        if (live)
            fill_row(&one_row, 0, grad);

        if (bev_tensor_at(&depth, 0, pixel) != (live ? want : 0) ||
            memcmp((const uint16_t *)feat.data + (size_t)pixel * CHANNELS, live ? row : zeros,
                   sizeof row) != 0)
            return pixel;
    }
    return -1;
}

/* Why the kernel cannot have the memory, in `reason`. */
static bool too_large(const BevKernel *kernel, const BevProblem *p, char *reason, size_t size) {
    DeviceInfo device = {0};
    double outputs = (double)bev_output_bytes(p), inputs = 2 * outputs;
    double scratch = kernel->workspace_bytes && !kernel->prepare
                         ? (double)kernel->workspace_bytes(p, NULL)
                         : outputs;
    /* On the CPU the inputs are there already, nearly all of them pages of zeros. */
    double need = kernel->where == BEV_CUDA ? inputs + outputs + scratch : outputs + scratch;
    double there = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (kernel->where == BEV_CUDA && device_info(&device, &err))
        there = (double)device.free_bytes;
    snprintf(reason, size, "needs %.1f GB of memory, %.1f are free", need * 1e-9, there * 1e-9);
    return need * 1.05 > there;
}

static void test_wide(const BevKernel *kernel, const Wide *wide) {
    Session *session = NULL;
    char reason[128], name[96];
    const void *codes = NULL;
    snprintf(name, sizeof name, "%s: %.3f * 2^31 elements", kernel->name,
             (double)PIXELS * CHANNELS / 0x1p31);
    if (too_large(kernel, &wide->problem, reason, sizeof reason)) {
        tap_skip(name, reason);
        return;
    }
    bool ok = session_open(&session, kernel, &wide->problem, &err) &&
              session_poison(session, &err) && session_run(session, &err) &&
              session_output(session, &codes, &err);
    int wrong = ok_or_note(ok, &err) ? first_wrong(wide, codes) : -1;
    tap_ok(ok && wrong < 0, "%s, right", name);
    if (wrong >= 0)
        tap_note("first wrong: pixel %d, image column %d", wrong, wrong % COLUMNS);
    session_close(session);
}

static void need_gpu(void) {
    if (device_usable(&err))
        return;
    ok_or_note(false, &err);
    tap_skip_suite("no usable GPU");
}

TAP_SUITE(gradients_gpu) {
    need_gpu();
    test_scene("canonical", scaleless_dtypes);
    test_scene("xlarge", 1u << BEV_FP16);
}

TAP_SUITE(gradients_gpu_wide) {
    Wide wide;
    need_gpu();
    tap_need(wide_init(&wide), "memory for the problem");
    tap_ok(true, "a problem of %.3f * 2^31 elements", (double)PIXELS * CHANNELS / 0x1p31);
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->launch && !bev_unsupported(bev_kernels[i], &wide.problem))
            test_wide(bev_kernels[i], &wide);
    wide_free(&wide);
}
