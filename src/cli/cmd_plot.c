/* One chart of the memory model. */
#include "src/cli/choices.h"
#include "src/cli/plots.h"
#include "src/cli/selection.h"
#include "src/model/data.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcasecmp(path + length - tail, suffix);
}

static bool check_output(const Options *options, Err *err) {
    if (!options->output)
        return err_set(err, ERR_USAGE, "plot", "add -o FILE.png or -o FILE.svg",
                       "no picture is named");
    if (!has_suffix(options->output, ".png") && !has_suffix(options->output, ".svg"))
        return err_set(err, ERR_USAGE, options->output, "name it .png or .svg",
                       "the suffix does not say which format");
    return true;
}

/* Charts of one GPU show the first. */
static unsigned default_gpus(const char *kind) {
    return strcmp(kind, "working-set") ? 1u << (gpu_find("a6000") - gpus) : (1u << gpu_count) - 1;
}

bool cmd_plot(const Options *options, Err *err) {
    const PlotKind *kind = plot_kind_find(options->arguments[0], err);
    const char *scene = options->arguments[1];
    WorkloadOptions workload = select_workload(options);
    Comparison comparison = {0};
    LabGpus known = {0};
    Lab lab = {0};
    BevDtype dtype;
    BevAlign align;
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (!kind || !check_output(options, err) || !lab_selection(options, &dtype, &align, err))
        return false;
    PlotRequest request = {.scene = scene,
                           .lab = &lab,
                           .gpus = &known,
                           .comparison = &comparison,
                           .options = options,
                           .svg = has_suffix(options->output, ".svg")};
    bool ok = lab_gpus(options, default_gpus(kind->name), &known, err) &&
              lab_open(&lab, scene, &workload, dtype, align,
                       kind->needs_profiles ? LAB_ALL_RUNGS : 0, err) &&
              (!kind->needs_comparison || comparison_make(&known, false, &comparison, err)) &&
              kind->draw(&request, &bytes, &length, err) &&
              data_write(options->output, bytes, length, err);
    free(bytes);
    lab_close(&lab);
    lab_gpus_free(&known);
    return ok;
}
