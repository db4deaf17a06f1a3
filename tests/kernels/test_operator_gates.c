/* Operator scenes: all CPU kernels by the gates, in both directions. */
#include "src/accuracy/verify.h"
#include "tests/support/tap.h"

static void note_row(const VerifyRow *row, void *context) {
    (void)context;
    if (!row->passed && !row->skipped[0])
        tap_note("%s %s %s: gates A %s, B %s, C %s", row->scene, row->config.kernel->name,
                 bev_dtypes[row->config.dtype].name, verdict_names[row->kernel.verdict],
                 verdict_names[row->format_verdict], verdict_names[row->exact.verdict]);
}

static void test_gates(const char *scene, double skew) {
    const BenchPlan plan = {.scenes = &scene,
                            .scene_count = 1,
                            .where = 1u << BEV_CPU,
                            .dtypes = (1u << BEV_DTYPE_COUNT) - 1,
                            .aligns = 1u << BEV_NEAREST,
                            .directions = (1u << BEV_DIRECTION_COUNT) - 1,
                            .workload = {.sizes = {true, skew, 10000}}};
    VerifyCount count = {0};
    Err err = {0};
    bool ok = verify_run(&plan, note_row, NULL, &count, &err);
    tap_ok(ok && count.passed >= 30 && !count.failed && !count.skipped,
           "%s, skew %g: %d selections pass the gates, %d fail, %d skipped %s", scene, skew,
           count.passed, count.failed, count.skipped, err.what);
}

TAP_SUITE(operator_gates) {
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        test_gates(operator_kinds[kind].name, 1);
    test_gates("histogram", 3);
}
