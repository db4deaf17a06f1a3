/* The kinds of charts, by name. */
#ifndef BEV_PLOTS_H
#define BEV_PLOTS_H

#include "src/cli/comparison.h"
#include "src/view/chart/chart.h"

/* What a chart is made of; all borrowed. */
typedef struct {
    const char *scene;
    const Lab *lab;
    const LabGpus *gpus;          /* the first is the one that charts of one GPU show */
    const Comparison *comparison; /* for the published tables; else NULL */
    const Options *options;
    bool svg; /* else PNG */
} PlotRequest;

typedef struct {
    const char *name, *summary;
    bool needs_profiles, needs_comparison; /* the lab's, of every kernel */
    bool (*draw)(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err);
} PlotKind;

extern const PlotKind plot_kinds[];
extern const int plot_kind_count;

/* The row of that name; NULL with an error that names the nearest. */
const PlotKind *plot_kind_find(const char *name, Err *err);

/* Sweeps, in a file of their own. `over` of the options: channels, points or grid. */
bool plot_sweep(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err);
extern const char *const sweep_names[]; /* ends with NULL */

/* The chart as a PNG or SVG file, in the theme that was asked for. */
bool plots_chart(const PlotRequest *request, ChartSpec *spec, uint8_t **bytes, size_t *length,
                 Err *err);

#endif
