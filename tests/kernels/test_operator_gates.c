/* SPDX-License-Identifier: MIT */
/* Scenes that checkbev has not: all CPU kernels by the gates, in both directions, on small
 * operators of each kind and on a grid with height. */
#include "src/accuracy/verify.h"
#include "tests/support/folder.h"
#include "tests/support/scenes.h"

static int passed, failed, skipped;

static void note_row(const VerifyRow *row, void *context) {
    (void)context;
    passed += row->passed;
    skipped += row->skipped[0] != '\0';
    failed += !row->passed && !row->skipped[0];
    if (!row->passed && !row->skipped[0])
        tap_note("%s %s %s: gates A %s, B %s, C %s", row->scene, row->config.kernel->name,
                 bev_dtypes[row->config.dtype].name, verdict_names[row->kernel.verdict],
                 verdict_names[row->format_verdict], verdict_names[row->exact.verdict]);
}

static void test_gates(const char *scene, const char *name, double skew, unsigned aligns) {
    BenchPlan plan = {.scenes = &scene,
                            .scene_count = 1,
                            .where = 1u << BEV_CPU,
                            .dtypes = (1u << BEV_DTYPE_COUNT) - 1,
                            .aligns = aligns,
                            .directions = (1u << BEV_DIRECTION_COUNT) - 1,
                            .job = job_plain()};
    if (skew > 0)
        plan.job.sizes = (OperatorChange){true, skew, 10000};
    passed = failed = skipped = 0;
    Err err = {0};
    bool ok = verify_run(&plan, note_row, NULL, &err);
    tap_ok(ok && passed >= 30 && !failed && (!skipped || !skew),
           "%s, skew %g: %d selections pass the gates, %d fail, %d skipped %s", name, skew,
           passed, failed, skipped, err.what);
}

static void test_small(OperatorKind kind, double skew) {
    bool voxels = kind == OPERATOR_VOXELIZE, bags = kind == OPERATOR_EMBEDDING_BAG;
    const char *scene = in_folder("small.json"), *name = operator_kinds[kind].name;
    char text[400];
    snprintf(text, sizeof text,
             "{\"bevscope\": 1, \"title\": \"Small\", \"operator\": \"%s\", \"points\": 8000, "
             "\"cells\": %d, \"channels\": %d, \"skew\": 1, \"seed\": 16%s%s}",
             name, voxels ? 10000 : 1024, kind == OPERATOR_HISTOGRAM ? 1 : 32,
             bags ? ", \"rows\": 4096" : "", voxels ? ", \"world\": \"intersection\"" : "");
    put(scene, text);
    test_gates(scene, name, skew, 1u << BEV_NEAREST);
    unlink(scene);
}

TAP_SUITE(operator_gates) {
    folder_open();
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        test_small((OperatorKind)kind, 1);
    test_small(OPERATOR_HISTOGRAM, 3);
    write_tall_toy(in_folder("tall.json"));
    test_gates(in_folder("tall.json"), "seven slices", 0, (1u << BEV_ALIGN_COUNT) - 1);
    unlink(in_folder("tall.json"));
    folder_close();
}

TAP_HARD_SUITE(operator_gates_scenes) {
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        test_gates(operator_kinds[kind].name, operator_kinds[kind].name, 1, 1u << BEV_NEAREST);
    test_gates("histogram", "histogram", 3, 1u << BEV_NEAREST);
}
