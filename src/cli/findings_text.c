/* SPDX-License-Identifier: MIT */
/* Prints what limits each kernel by the memory model. bevscope regime prints this. */
#include "src/cachesim/findings.h"
#include "src/cli/model.h"
#include "src/scene/scatter.h"

#include <stdlib.h>

static IntervalLengths interval_lengths(const SceneModel *scene) {
    const BevProblem *problem = &scene->problem.view;
    ScatterStats stats = scatter_stats(&problem->map, problem->shape.nx * problem->shape.ny);
    return (IntervalLengths){stats.longest, stats.median, stats.cells, stats.intervals,
                             problem->shape.nz};
}

static void print_evidence(const Finding *finding, FILE *out) {
    fputs("      ", out);
    text_put(finding->evidence, out);
    fputs("\n", out);
}

static void print_finding(const Finding *finding, const char *before, FILE *out) {
    fputs(before, out);
    text_put(finding->text, out);
    fprintf(out, " (learn %s)\n", finding->lesson);
}

static void print_kernel(const SceneModel *scene, const Finding *findings, int count,
                         const PredictedKernel *kernel, int gpu, bool all, FILE *out) {
    const Prediction prediction = kernel->predicted[gpu];
    char us[24];
    unit_text(UNIT_US, prediction.latency_us, us, sizeof us);
    fprintf(out, "%s %s on %s, ", kernel->title, bev_dtypes[scene->problem.view.dtype].title,
            scene->memory->gpus[gpu].title);
    text_put(us, out);
    fputs(":", out);
    if (!count && !kernel->kernel->wrong_on_purpose) {
        fputs(" no term stands out", out);
    } else if (!count) { /* wrong sums have a limiting term, but no gain */
        fprintf(out, " %s (%s ", limit_names[prediction.limiter], term_names[prediction.limiter]);
        unit_text(UNIT_US, prediction.term_us[prediction.limiter], us, sizeof us);
        text_put(us, out);
        fputs("); wrong on purpose, so no gain is given", out);
    } else if (!all)
        print_finding(findings, " ", out);
    fputs(count && !all ? "" : "\n", out);
    for (int i = 0; all && i < count; i++) {
        print_finding(&findings[i], "  ", out);
        print_evidence(&findings[i], out);
    }
}

/* Makes the workflow of an operator scene, or of forward pooling, for its fastest kernel. *kernel
 * NULL: none. */
static int make_workflow(const SceneModel *scene, int gpu, const PredictedKernel **kernel,
                         Finding steps[WORKFLOW_STEPS]) {
    const Scene *of = scene->workload.scene;
    const IntervalLengths lengths = interval_lengths(scene);
    Prediction prediction;
    const WorkflowScene sum = {scene->scene, !of->has_operator ? WORKFLOW_POOLING
                                             : of->operator_spec.kind == OPERATOR_HISTOGRAM
                                                 ? WORKFLOW_COUNTING
                                                 : WORKFLOW_OPERATOR};
    *kernel = findings_fastest(scene->memory, gpu, NULL, &prediction);
    return *kernel ? workflow_of(scene->memory, (*kernel)->kernel, gpu, NULL, &lengths, &sum, steps)
                   : 0;
}

static void print_workflow(const SceneModel *scene, int gpu, FILE *out) {
    Finding steps[WORKFLOW_STEPS];
    const PredictedKernel *kernel;
    int count = make_workflow(scene, gpu, &kernel, steps);
    if (count)
        fprintf(out, "Workflow on %s, with %s (learn %s):\n", scene->memory->gpus[gpu].title,
                kernel->title, steps->lesson);
    for (int i = 0; i < count; i++) {
        fputs("  ", out);
        text_put(steps[i].text, out);
        fputs("\n", out);
        print_evidence(&steps[i], out);
        for (int j = 0; j < 2 && steps[i].commands[j][0]; j++)
            fprintf(out, "%s%s\n", output_command, steps[i].commands[j]);
    }
}

void findings_print(const SceneModel *scene, const ChosenGpus *chosen, bool all, FILE *out) {
    Finding findings[FINDINGS_MAX];
    const MemoryModel *model = scene->memory;
    const IntervalLengths lengths = interval_lengths(scene);
    for (int gpu = 0; gpu < chosen->count; gpu++) {
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model, kernel));) {
            int count = findings_of(model, kernel->kernel, gpu, NULL, &lengths, findings);
            print_kernel(scene, findings, count, kernel, gpu, all, out);
        }
        print_workflow(scene, gpu, out);
    }
}

static void add_rows(Report *report, const SceneModel *scene, const PredictedKernel *kernel,
                     int gpu, const Finding *findings, int count) {
    for (int i = 0; i < count; i++) {
        report_row(report);
        add_text(report, "scene", NULL, scene->scene);
        add_text(report, "dtype", NULL, bev_dtypes[scene->memory->dtype].name);
        add_text(report, "align", NULL, bev_aligns[scene->memory->align].name);
        add_text(report, "kernel", NULL, kernel->name);
        add_text(report, "gpu", NULL, scene->memory->gpus[gpu].title);
        add_real(report, "gain", NULL, 0, findings[i].gain);
        add_text(report, "finding", NULL, findings[i].text);
        add_text(report, "evidence", NULL, findings[i].evidence);
        add_text(report, "lesson", NULL, findings[i].lesson);
    }
}

void findings_add(Report *report, const SceneModel *scene, const ChosenGpus *chosen) {
    Finding findings[FINDINGS_MAX];
    const IntervalLengths lengths = interval_lengths(scene);
    for (int gpu = 0; gpu < chosen->count; gpu++) {
        const PredictedKernel *kernel = NULL;
        while ((kernel = model_next(scene->memory, kernel)))
            add_rows(report, scene, kernel, gpu, findings,
                     findings_of(scene->memory, kernel->kernel, gpu, NULL, &lengths, findings));
        int count = make_workflow(scene, gpu, &kernel, findings);
        add_rows(report, scene, kernel, gpu, findings, count);
    }
}
