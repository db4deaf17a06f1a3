/* The charts of the memory model: for a page of their own (`bevscope plot`), the report, and the
 * side of the window. Pure. */
#ifndef BEV_CHART_H
#define BEV_CHART_H

#include "src/cachesim/memory_model.h"
#include "src/view/chart/plot.h"

typedef struct {
    Chart chart; /* not CHART_NONE */
    const char *scene;
    const MemoryModel *model;
    int gpu, l2; /* charts of one GPU: its place in the model, its L2 as model_l2_bytes() */
    unsigned
        asked; /* bits by place in the model: GPUs whose marks stand out, whose bars are drawn */
    const char *selected;           /* the name of the kernel to look at; NULL: none */
    double rel_l2[BEV_DTYPE_COUNT]; /* error of each format; NaN: unknown */
    bool brief;                     /* few words: the chart stands on a page of other things */
    bool low;                       /* few rows as well */
    FigureTheme theme;
} ChartSpec;

bool chart_image(const ChartSpec *spec, Image *image, Err *err);
bool chart_svg(const ChartSpec *spec, uint8_t **bytes, size_t *length, Err *err);
void chart_draw(Pen *pen, Box box, const ChartSpec *spec);

#endif
