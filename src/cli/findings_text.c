/* SPDX-License-Identifier: MIT */
/* Prints what limits each kernel by the memory model. bevscope regime prints this. */
#include "src/base/json_fields.h"
#include "src/cachesim/findings.h"
#include "src/cli/model.h"
#include "src/scene/scatter.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static IntervalLengths interval_lengths(const SceneModel *scene) {
    const BevProblem *problem = &scene->problem.view;
    ScatterStats stats = scatter_stats(&problem->map, problem->shape.nx * problem->shape.ny);
    return (IntervalLengths){stats.longest, stats.median, stats.cells, stats.intervals,
                             problem->shape.nz};
}

static const char *format_name(const SceneModel *scene) {
    return bev_dtypes[scene->problem.view.dtype].title;
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

/* Prints a kernel without findings. A kernel with wrong sums has a limiting term, but no gain. */
static void print_no_finding(const Prediction *p, const BevKernel *kernel, FILE *out) {
    char own[24];
    unit_text(UNIT_US, p->term_us[p->limiter], own, sizeof own);
    if (!kernel->wrong_on_purpose) {
        fputs(" no term stands out", out);
        return;
    }
    fprintf(out, " %s (%s ", limit_names[p->limiter], term_names[p->limiter]);
    text_put(own, out);
    fputs("); wrong on purpose, so no gain is given", out);
}

static void print_kernel(const SceneModel *scene, const Finding *findings, int count,
                         const PredictedKernel *kernel, int gpu, bool all, FILE *out) {
    const Prediction prediction = kernel->predicted[gpu];
    char us[24];
    unit_text(UNIT_US, prediction.latency_us, us, sizeof us);
    fprintf(out, "%s %s on %s, ", kernel->title, format_name(scene),
            scene->memory->gpus[gpu].title);
    text_put(us, out);
    fputs(":", out);
    if (!count)
        print_no_finding(&prediction, kernel->kernel, out);
    else if (!all)
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

/* Returns the bytes of one shell word (clean_for_shell). Quoted words may have blanks. */
static size_t word_length(const char *text) {
    size_t length = 0;
    for (bool quoted = false; text[length] && (quoted || text[length] != ' '); length++) {
        quoted ^= text[length] == '\'';
        length += !quoted && text[length] == '\\'; /* also counts the escaped character */
    }
    return length;
}

/* Prints a command in lines of 78 columns that a shell joins again. Lines end between words. A
 * longer list is broken after a comma, without an indent. */
static void print_command(const char *text, FILE *out) {
    enum { WIDTH = 76, INDENT = 6 };
    int at = fprintf(out, "%*s", INDENT, "");
    bool list = false;
    for (size_t length; *text; text += length) {
        size_t word = word_length(text);
        bool whole = (word < WIDTH - 2 * INDENT || memchr(text, '\'', word)) && !list;
        length = whole ? word : strcspn(text, ", ");
        length += text[length] == ',' || text[length] == ' ';
        if (at + (int)length > WIDTH && list)
            at = fprintf(out, "\\\n") - 2;
        else if (at + (int)length > WIDTH)
            at = fprintf(out, "\\\n%*s", 2 * INDENT, "") - 2;
        at += fprintf(out, "%.*s", (int)length, text);
        list = text[length - 1] == ',';
    }
    fputs("\n", out);
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
            print_command(steps[i].commands[j], out);
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

/* Adds the findings of a kernel on a GPU to the array. False: out of memory. */
static bool add_json(json_t *array, const SceneModel *scene, const PredictedKernel *kernel, int gpu,
                     const Finding *findings, int count) {
    bool whole = array != NULL;
    for (int i = 0; whole && i < count; i++)
        whole =
            json_array_append_new(
                array, json_pack("{so ss ss ss ss sf ss ss ss}", "scene", fields_text(scene->scene),
                                 "dtype", bev_dtypes[scene->memory->dtype].name, "align",
                                 bev_aligns[scene->memory->align].name, "kernel", kernel->name,
                                 "gpu", scene->memory->gpus[gpu].title, "gain", findings[i].gain,
                                 "finding", findings[i].text, "evidence", findings[i].evidence,
                                 "lesson", findings[i].lesson)) == 0;
    return whole;
}

json_t *findings_json(const SceneModel *scene, const ChosenGpus *chosen) {
    Finding findings[FINDINGS_MAX];
    const MemoryModel *model = scene->memory;
    const IntervalLengths lengths = interval_lengths(scene);
    json_t *array = json_array();
    bool whole = array != NULL;
    for (int gpu = 0; gpu < chosen->count; gpu++) {
        int count;
        const PredictedKernel *kernel = NULL;
        while ((kernel = model_next(model, kernel))) {
            count = findings_of(model, kernel->kernel, gpu, NULL, &lengths, findings);
            whole = whole && add_json(array, scene, kernel, gpu, findings, count);
        }
        count = make_workflow(scene, gpu, &kernel, findings);
        whole = whole && add_json(array, scene, kernel, gpu, findings, count);
    }
    if (whole)
        return array;
    json_decref(array);
    return NULL;
}
