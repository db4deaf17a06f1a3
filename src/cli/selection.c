#include "src/cli/selection.h"

#include "config.h"
#include "kernels/clean.h"
#include "kernels/codec.h"
#include "src/base/progress.h"
#include "src/scene/scatter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

enum { HAS_CUDA = 1 };

static bool open_cuda(int index, Err *err) {
    return device_open(index, err);
}
#else
enum { HAS_CUDA = 0 };

static bool open_cuda(int index, Err *err) {
    (void)index;
    return err_set(err, ERR_DEVICE, "cuda", "configure it --with-cuda, or use --device cpu",
                   "this build has no CUDA kernels");
}
#endif

bool select_devices(const char *word, unsigned *where, Err *err) {
    *where = 1u << BEV_CPU;
    if (!strcmp(word, "cpu"))
        return true;
    bool automatic = !strcmp(word, "auto");
    char *end;
    long index = strtol(word, &end, 10);
    bool is_number = end != word && !*end && index >= 0 && index < 1024;
    if (!automatic && !is_number && strcmp(word, "cuda"))
        return err_set(err, ERR_USAGE, "--device", "auto, cpu, cuda or a number from 0",
                       "'%s' is no device", word);
    Err why = {0};
    if (open_cuda(is_number ? (int)index : 0, &why)) {
        *where = automatic ? *where | 1u << BEV_CUDA : 1u << BEV_CUDA;
        return true;
    }
    if (!automatic) {
        *err = why;
        err->kind = ERR_DEVICE;
        return false;
    }
    if (HAS_CUDA) {
        char line[1024];
        err_line(&why, line, sizeof line);
        fprintf(stderr, "bevscope: %s; the CPU takes over\n", line);
    }
    return true;
}

static bool runs_on(const BevKernel *kernel, unsigned where) {
    return where & 1u << kernel->where;
}

const BevKernel *select_kernel(const char *word, unsigned where, Err *err) {
    const BevKernel *named = bev_kernel_find(word);
    if (named && bev_unavailable(named)) {
        err_set(err, ERR_DEVICE, word, "see bevscope --list", "this kernel %s",
                bev_unavailable(named));
        return NULL;
    }
    if (named && runs_on(named, where))
        return named;
    for (int device = BEV_CUDA; !named && device >= BEV_CPU; device--)
        for (int i = 0; bev_kernels[i]; i++)
            if ((int)bev_kernels[i]->where == device && runs_on(bev_kernels[i], where) &&
                bev_kernels[i]->launch && !strcasecmp(bev_kernels[i]->title, word))
                return bev_kernels[i];
    err_set(err, ERR_DEVICE, word, "see bevscope --list", "this kernel does not run on %s",
            where == 1u << BEV_CPU ? "the CPU" : "the chosen device");
    return NULL;
}

const BevKernel *select_best(unsigned where) {
    return bev_default(where & 1u << BEV_CUDA ? BEV_CUDA : BEV_CPU);
}

bool select_single(const Options *options, const char *says, const char *hint, Err *err) {
    const char *const lists[] = {options->dtype, options->align};
    for (int i = 0; i < 2; i++)
        if (lists[i] && (strchr(lists[i], ',') || !strcmp(lists[i], "all")))
            return err_set(err, ERR_USAGE, i ? "--align" : "--dtype", hint, "%s, not '%s'", says,
                           lists[i]);
    return true;
}

bool select_changed(const char *words, unsigned where, KernelConfig *config, Err *err) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy, *word; (word = strtok_r(rest, ",/ ", &rest));) {
        int dtype = choices_find(CHOICE_DTYPE, word), align = choices_find(CHOICE_ALIGN, word);
        if (dtype >= 0)
            config->dtype = (BevDtype)dtype;
        else if (align >= 0)
            config->align = (BevAlign)align;
        else if (!choices_check(CHOICE_KERNEL, word, false, "compare", err) ||
                 !(config->kernel = select_kernel(word, where, err)))
            return false;
    }
    return true;
}

void select_say_if_empty(const char *scene, BevAlign align, int64_t points) {
    static char said[256];
    char line[256], clean[200];
    clean_text(scene, clean, sizeof clean);
    snprintf(line, sizeof line, "%s, %s", clean, bev_aligns[align].name);
    if (points > 0 || !strcmp(line, said))
        return;
    progress_hide();
    fprintf(stderr, "bevscope: %s: %s\n", line, scatter_empty);
    memcpy(said, line, sizeof said);
}

WorkloadOptions select_workload(const Options *options) {
    return (WorkloadOptions){.time_s = options->time_s,
                             .temperature = options->temperature,
                             .channels = options->channels,
                             .evenness = options->evenness};
}

/* Each item of a list as a bit by position in bev_kernels[]; "all" and NULL: 0, every kernel. */
static bool select_kernels(const char *list, unsigned where, unsigned *kernels, Err *err) {
    char copy[256];
    *kernels = 0;
    snprintf(copy, sizeof copy, "%s", list ? list : "all");
    for (char *rest = copy, *word; (word = strtok_r(rest, ",", &rest));) {
        if (!strcmp(word, "all")) {
            *kernels = 0;
            return true;
        }
        const BevKernel *kernel = select_kernel(word, where, err);
        if (!kernel)
            return false;
        for (int i = 0; bev_kernels[i]; i++)
            *kernels |= bev_kernels[i] == kernel ? 1u << i : 0;
    }
    return true;
}

bool select_plan(const Options *options, unsigned dtypes, unsigned aligns, BenchPlan *plan,
                 Err *err) {
    *plan = (BenchPlan){.dtypes = choices_mask(CHOICE_DTYPE, options->dtype, dtypes),
                        .aligns = choices_mask(CHOICE_ALIGN, options->align, aligns),
                        .workload = select_workload(options)};
    return select_devices(options->device, &plan->where, err) &&
           select_kernels(options->kernel, plan->where, &plan->kernels, err);
}

/* ---- one kernel run ------------------------------------------------------------------------- */

static bool run_once(Pooled *pooled, LatencyWanted latency, Err *err) {
    const BevProblem *view = &pooled->problem.view;
    Session *session = NULL;
    Timing timing = {0};
    bool ok = session_open(&session, pooled->config.kernel, view, err) &&
              session_poison(session, err) && session_run(session, err) &&
              session_read(session, pooled->codes, err);
    if (ok && latency == LATENCY_MEASURED) {
        ok = session_time(session, CACHE_WARM, &timing_quick, &timing, err);
        pooled->latency_us = timing.median_us;
        pooled->unsettled = ok && !timing.settled;
    }
    session_close(session);
    return ok;
}

bool pooled_run(Pooled *pooled, Workload *workload, const char *scene, KernelConfig config,
                LatencyWanted latency, const RecordedSet *recorded, Err *err) {
    *pooled = (Pooled){.config = config};
    if (!workload_problem(workload, config.dtype, config.align, &pooled->problem, err))
        return false;
    BevTensor out = pooled->problem.view.out;
    pooled->codes = malloc(bev_code_bytes(out.dtype, out.rows, out.row_len));
    pooled->values = malloc((size_t)(out.rows * out.row_len) * sizeof *pooled->values);
    if (!pooled->codes || !pooled->values)
        return err_set(err, ERR_FAILED, "output", "choose a smaller grid", "out of memory");
    if (!run_once(pooled, latency, err))
        return false;
    out.data = pooled->codes;
    bev_tensor_decode(&out, 0, out.rows, pooled->values);
    const RecordedRow *row = NULL;
    if (latency == LATENCY_RECORDED && !workload->options.evenness)
        row = recorded_find(recorded, scene, pooled->problem.view.shape.channels, &config,
                            CACHE_WARM, NULL);
    if (row)
        pooled->latency_us = row->median_us;
    return true;
}

void pooled_free(Pooled *pooled) {
    problem_free(&pooled->problem);
    free(pooled->codes);
    free(pooled->values);
    *pooled = (Pooled){0};
}
