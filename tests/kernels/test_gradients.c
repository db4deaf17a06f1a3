/* SPDX-License-Identifier: MIT */
/* Backward: gradients against finite differences, sessions, and gradients of the output that do
 * not fit. */
#include "src/run/session.h"
#include "tests/support/judged.h"

#include <math.h>

static Err err; /* why a step failed */

enum { SEED = 14 };

/* The loss whose gradient with respect to the output is grad_out: sum(out * grad_out), in FP64. */
static double loss(const BevProblem *problem, double *out) {
    double sum = 0;
    bev_reference(problem, out, NULL);
    for (int64_t i = 0; i < problem->out.rows * problem->out.row_len; i++)
        sum += out[i] * ((const float *)problem->grad_out.data)[i];
    return sum;
}

/* The largest difference between `grads` and central differences over all `values`, relative to the
 * largest gradient. */
static double difference(const BevProblem *problem, float *values, int64_t count, float reach,
                         const double *grads, double *out) {
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < count; i++) {
        float value = values[i];
        values[i] = value + reach;
        double above = loss(problem, out), step = values[i];
        values[i] = value - reach;
        double below = loss(problem, out);
        step -= values[i];
        values[i] = value;
        worst = fmax(worst, fabs((above - below) / step - grads[i]));
        largest = fmax(largest, fabs(grads[i]));
    }
    return worst / largest;
}

/* The loss is linear in depths and features, so that the step may be large; in logits it is not. */
static void test_differences(const char *name, BevAlign align, BevStage stage) {
    CaseData data = open_case(name, align, 1, SEED);
    HostProblem host = case_problem(&data, BEV_FP32, align);
    float *values = case_backward(&host, SEED);
    BevProblem *view = &host.view;
    bool logits = stage == BEV_VIEW;
    tap_need(!logits || problem_turn_view(&host, NULL), "its view");
    view->view.temperature = 0.5f;
    int64_t depths = view->depth.row_len, feats = view->feat.rows * view->feat.row_len;
    double *grads = malloc((size_t)(depths + feats) * sizeof *grads);
    double *out = malloc((size_t)(view->out.rows * view->out.row_len) * sizeof *out);
    tap_need(grads && out, "memory");
    bev_reference_backward(view, grads, grads + depths, NULL, NULL);
    double of_depth =
        difference(view, view->depth.data, depths, logits ? 0x1p-8f : 0.5f, grads, out);
    double of_feat = difference(view, view->feat.data, feats, 0.5f, grads + depths, out);
    tap_ok(of_depth < (logits ? 1e-4 : 1e-11),
           "%s %s %s: grad_depth is the slope of the loss (off by %.1e)", name,
           bev_aligns[align].name, bev_stages[stage].name, of_depth);
    tap_ok(of_feat < 1e-11, "%s %s %s: grad_feat is the slope of the loss (off by %.1e)", name,
           bev_aligns[align].name, bev_stages[stage].name, of_feat);
    free(grads);
    free(out);
    free(values);
    problem_free(&host);
    case_free(&data);
}

/* A session takes over another grad_out; both ways of reading give the same bytes. */
static void test_session(const BevKernel *kernel, HostProblem *host, float *values) {
    const BevShape *shape = &host->view.shape;
    size_t bytes = bev_output_bytes(&host->view);
    unsigned char *first = malloc(bytes), *later = malloc(bytes);
    const void *codes = NULL;
    Session *session = NULL;
    bool ok = first && later && session_open(&session, kernel, &host->view, &err) &&
              session_poison(session, &err) && session_run(session, &err) &&
              session_read(session, first, &err) && session_output(session, &codes, &err);
    tap_ok(ok && !memcmp(first, codes, bytes), "%s: read and output agree %s", kernel->name,
           err.what);
    for (int64_t i = 0; i < shape->ny * shape->nx * shape->channels; i++)
        values[i] *= 2;
    ok = ok && problem_set_grad_out(host, values, &err) && session_update(session, &err) &&
         session_run(session, &err) && session_read(session, later, &err) &&
         session_inputs_untouched(session, &err);
    bool twice = ok;
    for (size_t i = 0; twice && i < bytes / sizeof(float); i++)
        twice = ((float *)later)[i] == 2 * ((float *)first)[i];
    tap_ok(twice, "%s: twice the grad_out gives twice the gradients", kernel->name);
    session_close(session);
    free(first);
    free(later);
}

static void test_bad_input(HostProblem *host, float *values) {
    values[3] = NAN;
    values[5] = INFINITY;
    values[6] = -INFINITY;
    tap_ok(problem_set_grad_out(host, values, &err), "NaN and infinite values are taken");
    tap_ok(bev_unsupported(bev_kernel_find("cpu_v3"), &host->view) != NULL,
           "a forward kernel refuses a problem of backward");
}

static void test_use(void) {
    CaseData data = open_case("ragged_c19", BEV_BILINEAR, 1, SEED);
    HostProblem host = case_problem(&data, BEV_FP32, BEV_BILINEAR),
                coarse = case_problem(&data, BEV_FP8, BEV_BILINEAR);
    float *values = case_backward(&host, SEED);
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->where == BEV_CPU && !bev_unsupported(bev_kernels[i], &host.view))
            test_session(bev_kernels[i], &host, values);
    tap_ok(!problem_turn_backward(&coarse, &err) && err.kind == ERR_USAGE && coarse.view.out.data,
           "FP8 has no gradients: %s", err.what);
    test_bad_input(&host, values);
    problem_free(&coarse);
    problem_free(&host);
    free(values);
    case_free(&data);
}

TAP_SUITE(gradients) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
        test_differences("ragged_c7", (BevAlign)align, BEV_POOL);
        test_differences("one_cell_grid", (BevAlign)align, BEV_POOL);
        test_differences("ragged_c7", (BevAlign)align, BEV_VIEW);
    }
    test_use();
}
