/* SPDX-License-Identifier: MIT */
/* Backward in the display's pipeline: a loss on cells, and a kernel's gradients of it. */
#include "src/live/pipeline.h"
#include "tests/live/engine_fixture.h"

static Pipeline *pipeline;
static LiveData live;

static const LiveGradients *run(bool later) {
    Err err = {0};
    state.job.serial++;
    PipelineNeeds needs = {.gradients_later = later};
    need(pipeline_run(pipeline, &state, needs, &live, &err) == PIPELINE_DONE, &err);
    return &live.frame.gradients;
}

static double dot(const float *a, const float *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static int64_t depths(void) {
    const BevShape *s = &live.frame.shape;
    return s->cameras * s->depth_bins * s->feat_h * s->feat_w;
}

/* The gradient of half the grid's squared norm is the grid: the frame shows the adjoint identity.
 */
static void test_all(void) {
    state.job.loss = LOSS_ALL;
    const LiveGradients *gradients = run(false);
    const BevShape *s = &live.frame.shape;
    tap_need(gradients->grad_feat != NULL, gradients->text);
    double pooled = dot(live.frame.pooled, live.frame.pooled, s->nx * s->ny * s->channels);
    double depth = dot(live.frame.features->depth, gradients->grad_depth, depths());
    double feat = dot(live.frame.features->feat, gradients->grad_feat,
                      s->cameras * s->feat_h * s->feat_w * s->channels);
    tap_ok(pooled > 0 && fabs(depth / pooled - 1) < 1e-5 && fabs(feat / pooled - 1) < 1e-5,
           "on all cells: the gradients are adjoint to pooling: %g, %g, %g", pooled, depth, feat);
    const float *before = gradients->grad_feat;
    tap_ok(run(false)->grad_feat == before, "the same loss is not computed again");
    tap_ok(live.intervals.of_pixels && live.memory.footprint.grads > 0,
           "points of pixels, and a footprint with gradients");
}

/* Leads the probe to the cell with the longest pooled vector. */
static void probe_strongest(void) {
    int64_t channels = live.frame.channels;
    double most = 0;
    for (int64_t cell = 0; cell < live.frame.nx * live.frame.ny; cell++) {
        const float *row = live.frame.pooled + cell * channels;
        double norm = dot(row, row, channels);
        if (norm > most)
            state.job.probe_cell = cell;
        most = fmax(most, norm);
    }
}

static void test_cell(void) {
    state.job.loss = LOSS_CELL;
    tap_ok(!run(false)->grad_feat && strstr(live.frame.gradients.text, "point at a cell"),
           "on no cell there is none, and it says what to do");
    probe_strongest();
    const LiveGradients *gradients = run(false);
    int64_t touched = 0;
    for (int64_t i = 0; gradients->grad_depth && i < depths(); i++)
        touched += gradients->grad_depth[i] != 0;
    tap_ok(touched > 0 && touched <= live.probe.points && gradients->loss->count == 1,
           "on a cell: of its %lld points %lld have a depth that would have to change",
           (long long)live.probe.points, (long long)touched);
    state.job.loss = LOSS_BOX;
    gradients = run(false);
    tap_ok(gradients->grad_feat || strstr(gradients->text, "no object covers cell"),
           "on an object, where there is one: %s", gradients->text);
}

static void test_later(void) {
    state.job.loss = LOSS_CELL;
    state.job.config.dtype = BEV_FP16;
    const LiveGradients *gradients = run(true);
    tap_ok(pipeline_lacks_gradients(pipeline) && !gradients->grad_feat && gradients->loss->inside,
           "a slow kernel's gradients come later; its loss is shown at once");
    tap_ok(run(false)->grad_feat && !pipeline_lacks_gradients(pipeline), "then they are there");
    state.job.config.kernel = bev_default(BEV_CPU, BEV_FORWARD);
    tap_ok(!run(true)->loss && !pipeline_lacks_gradients(pipeline) && !live.intervals.of_pixels,
           "forward there is none");
}

TAP_SUITE(loss) {
    Err err;
    tap_need(pipeline_open(&pipeline, &err), "a pipeline");
    live_init(&live);
    fresh(ASYMMETRIC);
    state.job.config = (KernelConfig){bev_kernel_find("grad_reference"), BEV_FP32, BEV_BILINEAR};
    state.job.baseline = state.job.config;
    test_all();
    test_cell();
    test_later();
    pipeline_close(pipeline);
}
