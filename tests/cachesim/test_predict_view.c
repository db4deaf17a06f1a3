/* The model of the view transform: laws that it must obey, and its distance from what was recorded
 * on an H100 (samples/recorded/h100-view.json). */
#include "src/cachesim/predict.h"
#include "src/run/recorded.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

static const char *const rows[] = {"view_v2", "view_v4", "view"};
enum { ROWS = 3 };

typedef struct {
    OpenProblem *of;
    const BevProblem *view;
    Profile profiles[ROWS]; /* of the rows that pool */
} Opened;

static void open_scene(Opened *opened, const char *scene) {
    opened->of = open_problem(scene, BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    opened->view = opened->of->view;
    for (int i = 0; i < ROWS; i++)
        need(profile_make(view_pools(bev_kernel_find(rows[i])), opened->view, NULL,
                          &opened->profiles[i], &err),
             &err);
    need(problem_turn_view(&opened->of->problem, &err), &err);
    opened->of->problem.view.out_samples = 1;
}

static void close_scene(Opened *opened) {
    for (int i = 0; i < ROWS; i++)
        profile_free(&opened->profiles[i]);
    close_problem(opened->of);
}

static double recorded_us(const char *scene, const char *kernel) {
    RecordedSet set;
    double us = NAN;
    need(recorded_load_samples(&set, &err), &err);
    for (int i = 0; i < set.count; i++)
        for (int j = 0; j < set.recordings[i].row_count; j++) {
            const RecordedRow *row = &set.recordings[i].rows[j];
            if (strstr(set.recordings[i].label, "H100") && !strcmp(row->scene, scene) &&
                !strcmp(row->kernel, kernel) && !strcmp(row->cache, "warm"))
                us = row->median_us;
        }
    recorded_free(&set);
    return us;
}

static Prediction predicted(const Opened *opened, const BevProblem *problem, int row,
                            const Gpu *gpu) {
    return predict_view(bev_kernel_find(rows[row]), problem, &opened->profiles[row], gpu);
}

static void test_recorded(const Opened *opened, const char *scene) {
    for (int i = 0; i < ROWS; i++) {
        const Prediction p = predicted(opened, opened->view, i, gpu_find("h100"));
        double us = recorded_us(scene, rows[i]), error = p.latency_us / us - 1;
        tap_ok(fabs(error) <= 0.3, "%s, %s: %.1f us predicted, %.1f recorded, %+.0f %%", scene,
               rows[i], p.latency_us, us, 100 * error);
    }
}

/* The bytes of the launches that are counted, without those of the row that pools. */
static double counted_bytes(const ViewLaunch *launches, int count) {
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += launches[i].read_bytes + launches[i].write_bytes;
    return bytes;
}

static void test_bytes(const BevProblem *problem) {
    ViewLaunch launches[VIEW_LAUNCHES];
    BevProblem pooling = *problem;
    pooling.stage = BEV_POOL;
    for (int i = 0; i < 2; i++) {
        const BevKernel *kernel = bev_kernel_find(rows[i]);
        int count = view_launches(kernel, problem, launches);
        double pooled = bev_traffic_total(bev_traffic(view_pools(kernel), &pooling));
        double formula = bev_traffic_total(bev_traffic(kernel, problem));
        tap_ok(count == 4 && fabs(counted_bytes(launches, count) + pooled - formula) < 1,
               "%s: its launches ask for the bytes of its formula", rows[i]);
    }
    const BevKernel *view = bev_kernel_find("view");
    int count = view_launches(view, problem, launches);
    double rest = bev_traffic_total(bev_traffic(view, problem)) - counted_bytes(launches, count);
    double v4 = bev_traffic_total(bev_traffic(bev_kernel_find("v4"), &pooling));
    tap_ok(count == 3 && rest > 0 && rest < v4,
           "view: what is left to V4 is less than V4 alone, which writes empty cells");
    BevProblem last = *problem;
    last.out_samples = 0;
    tap_ok(view_launches(view, &last, launches) == 2 &&
               view_launches(bev_kernel_find("view_v4"), &last, launches) == 3,
           "with channels last there is no launch for the grid");
    tap_ok(!view_launches(bev_kernel_find("v4"), problem, launches) &&
               !view_launches(bev_kernel_find("cpu_view"), problem, launches) &&
               !view_launches(bev_kernel_find("grad_view"), problem, launches) &&
               !view_launches(bev_kernel_find("view_reference"), problem, launches),
           "other rows have no model");
}

static void test_laws(const Opened *opened) {
    const BevProblem *problem = opened->view;
    bool ordered = true, adds = true;
    for (int g = 0; g < gpu_count; g++) {
        ViewLaunch launches[VIEW_LAUNCHES];
        Prediction all[ROWS];
        for (int i = 0; i < ROWS; i++)
            all[i] = predicted(opened, problem, i, &gpus[g]);
        ordered &= all[2].latency_us < all[1].latency_us && all[1].latency_us < all[0].latency_us;
        double sum = 0;
        int count = view_launches(bev_kernel_find("view"), problem, launches);
        for (int i = 0; i < count; i++)
            sum += predict_view_launch(&launches[i], problem, &opened->profiles[2], &gpus[g])
                       .latency_us;
        adds &= fabs(sum - all[2].latency_us) < 1e-9 && all[2].launch_us > 1.7;
    }
    tap_ok(ordered, "fused is faster than by parts, V4 than V2, on every GPU");
    tap_ok(adds, "all is the sum of the launches");
    BevProblem deeper = *problem;
    deeper.shape.depth_bins *= 2;
    deeper.depth.rows *= 2;
    double more = predicted(opened, &deeper, 1, gpu_find("h100")).term_us[TERM_CHAIN] -
                  predicted(opened, problem, 1, gpu_find("h100")).term_us[TERM_CHAIN];
    tap_ok(more > 25 && more < 40, "twice the bins: %.1f us more, in the chain of a thread", more);
    Gpu small = *gpu_find("h100");
    small.l2_bytes = 4 << 20;
    tap_ok(predicted(opened, problem, 2, &small).term_us[TERM_DRAM] > 2 &&
               predicted(opened, problem, 2, gpu_find("h100")).term_us[TERM_DRAM] == 0,
           "arrays that the L2 does not hold come from DRAM");
}

TAP_SUITE(predict_view) {
    static Opened opened;
    open_scene(&opened, "canonical");
    test_bytes(opened.view);
    test_laws(&opened);
    test_recorded(&opened, "canonical");
    close_scene(&opened);
}

/* All configurations that were recorded. */
TAP_HARD_SUITE(predict_view_recorded) {
    static const char *const scenes[] = {"large", "xlarge", "hires"};
    static Opened opened;
    for (int i = 0; i < 3; i++) {
        open_scene(&opened, scenes[i]);
        test_recorded(&opened, scenes[i]);
        close_scene(&opened);
    }
}
