/* One chart of the memory model. */
#include "src/cli/choices.h"
#include "src/cli/output.h"
#include "src/cli/plots.h"
#include "src/cli/selection.h"
#include "src/base/data.h"

#include <stdlib.h>
#include <string.h>

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
    bool svg;
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (!kind || !output_picture(options, "plot", &svg, err) ||
        !lab_selection(options, &dtype, &align, err))
        return false;
    PlotRequest request = {.scene = scene,
                           .lab = &lab,
                           .gpus = &known,
                           .comparison = &comparison,
                           .options = options,
                           .svg = svg};
    bool ok = lab_gpus(options, default_gpus(kind->name), &known, err) &&
              lab_open(&lab, scene, &workload, dtype, align,
                       kind->needs_profiles ? LAB_ALL_KERNELS : 0, err) &&
              (!kind->needs_comparison || comparison_make(&known, false, &comparison, err)) &&
              kind->draw(&request, &bytes, &length, err) &&
              data_write(options->output, bytes, length, err);
    free(bytes);
    lab_close(&lab);
    lab_gpus_free(&known);
    return ok;
}
