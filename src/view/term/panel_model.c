/* The memory model of what is selected: the chart that the state asks for, and below it what the
 * what-if GPU would take, with the parts of that. */
#include "src/view/term/panel.h"

#include "kernels/regime.h"
#include "src/view/term/canvas.h"
#include "src/state/live_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 3, AXIS = 2, LABEL_W = 6, LEAST_CHART = 5, CHART_ROWS = 9 };

/* ---- whose line is it ------------------------------------------------------------------------ */

static const PredictedKernel *baseline_kernel(const Show *show) {
    const State *state = show->state;
    const KernelConfig *config = &show->live->job.config, *baseline = &show->live->job.baseline;
    bool same_problem = baseline->dtype == config->dtype && baseline->align == config->align;
    return baseline->kernel && same_problem
               ? model_of_kernel(show->live->model, baseline->kernel, state->gpu, state->l2)
               : NULL;
}

/* The selection in its colour, the baseline in its own, the others for comparison. */
static Ink kernel_ink(const Show *show, const PredictedKernel *predicted) {
    const PredictedKernel *selected = prediction_kernel(show->state, show->live);
    const PredictedKernel *baseline = baseline_kernel(show);
    if (selected && !strcmp(predicted->name, selected->name))
        return INK_ACCENT;
    return baseline && !strcmp(predicted->name, baseline->name) ? INK_BASELINE : INK_MUTED;
}

/* Kernels in the order in which they are drawn, the selection last; returns their number. Without
 * colour lines cannot be told apart: then there is the selection alone. */
static int kernels_in_order(const Show *show, bool color,
                            const PredictedKernel *kernels[MODEL_KERNELS]) {
    static const Ink order[] = {INK_MUTED, INK_BASELINE, INK_ACCENT};
    const MemoryModel *model = show->live->model;
    int count = 0;
    for (size_t k = color ? 0 : 2; k < 3; k++)
        for (int i = 0; i < model->kernel_count; i++)
            if (model->kernels[i].name && kernel_ink(show, &model->kernels[i]) == order[k])
                kernels[count++] = &model->kernels[i];
    return count;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static double log_at(double value, double lo, double hi) {
    return log(value / lo) / log(hi / lo);
}

/* Powers of ten below the chart, as far as they have room beside each other. */
static void draw_powers(Cells *cells, Area row, double lo, double hi, const char *unit) {
    int free_x = row.x;
    for (double value = pow(10, ceil(log10(lo))); value <= hi * 1.001; value *= 10) {
        char text[32];
        bool last = value * 10 > hi * 1.001;
        snprintf(text, sizeof text, "%g%s%s", value, last ? " " : "", last ? unit : "");
        int w = cells_width(text);
        int x = row.x + (int)(log_at(value, lo, hi) * (row.w - 1)) - (last ? 1 : w / 2);
        x = x + w > row.x + row.w ? row.x + row.w - w : x;
        if (x < free_x)
            continue;
        cells_text(cells, x, row.y, w, cell_style(INK_MUTED), text);
        free_x = x + w + 2;
    }
}

static void draw_rule(Cells *cells, Area row) {
    for (int x = row.x; x < row.x + row.w; x++)
        if (cells_at(cells, x, row.y)->glyph == ' ')
            cells_put(cells, x, row.y, 0x2500, cell_style(INK_RULE));
}

static void draw_y_label(Cells *cells, Area chart, int y, const char *text) {
    cells_text_right(cells, chart.x - LABEL_W, y, LABEL_W - 1, cell_style(INK_MUTED), text);
}

/* ---- miss-ratio curve ------------------------------------------------------------------------ */

static double worst_ratio(const PredictedKernel *const *kernels, int count) {
    double worst = 0.01;
    for (int r = 0; r < count; r++)
        for (int i = 0; i < MODEL_SIZES; i++)
            worst = fmax(worst, kernels[r]->miss_ratio[i]);
    return ceil(worst * 10) / 10;
}

/* A foot below the chart for every GPU, and a line up for the one that is asked about. */
static void draw_gpus(Cells *cells, Area chart, const Show *show, const Canvas *canvas) {
    const MemoryModel *model = show->live->model;
    double lo = model_size_mib(0), hi = model_size_mib(MODEL_SIZES - 1);
    for (int i = 0; i < model->gpu_count; i++) {
        int gpu = (show->state->gpu + i) % model->gpu_count; /* the one asked about first */
        double mib = model_l2_bytes(&model->gpus[gpu], i ? 0 : show->state->l2) / (double)(1 << 20);
        int column = (int)lround(log_at(mib, lo, hi) * (chart.w - 1));
        int x = chart.x + column, foot = chart.y + chart.h;
        if (cells_at(cells, x, foot)->glyph != ' ')
            continue;
        cells_put(cells, x, foot, 0x25b2, i ? cell_style(INK_MUTED) : cell_bold(INK_TITLE));
        for (int row = 0; row < chart.h && !i; row++)
            if (!canvas_has(canvas, column, row))
                cells_put(cells, x, chart.y + row, 0x250a, cell_style(INK_MUTED));
    }
}

static void draw_mrc(Cells *cells, Area area, const Show *show) {
    const PredictedKernel *kernels[MODEL_KERNELS];
    int count = kernels_in_order(show, cells->color, kernels);
    Area chart = {area.x + LABEL_W, area.y, area.w - LABEL_W, area.h - AXIS};
    double most = worst_ratio(kernels, count);
    char text[32];
    Canvas canvas;
    canvas_init(&canvas, chart.w, chart.h);
    for (int r = 0; r < count; r++)
        for (int i = 1; i < MODEL_SIZES; i++)
            canvas_line(&canvas, (i - 1.0) / (MODEL_SIZES - 1),
                        kernels[r]->miss_ratio[i - 1] / most, (double)i / (MODEL_SIZES - 1),
                        kernels[r]->miss_ratio[i] / most, kernel_ink(show, kernels[r]));
    canvas_put(&canvas, cells, chart.x, chart.y);
    snprintf(text, sizeof text, "%.0f %%", most * 100);
    draw_y_label(cells, chart, chart.y, text);
    draw_y_label(cells, chart, chart.y + chart.h - 1, "0 %");
    draw_gpus(cells, chart, show, &canvas);
    Area foot = {chart.x, chart.y + chart.h, chart.w, 1};
    draw_rule(cells, foot);
    foot.y++;
    draw_powers(cells, foot, model_size_mib(0), model_size_mib(MODEL_SIZES - 1), "MiB");
}

/* ---- roofline -------------------------------------------------------------------------------- */

typedef struct {
    double x_lo, x_hi, y_lo, y_hi;
} LogAxes;

static void draw_roof(Canvas *canvas, const LogAxes *axes, double gbps, double gflops, Ink ink) {
    double ridge = log_at(gflops / gbps, axes->x_lo, axes->x_hi);
    double top = log_at(gflops, axes->y_lo, axes->y_hi);
    canvas_line(canvas, 0, log_at(axes->x_lo * gbps, axes->y_lo, axes->y_hi), ridge, top, ink);
    canvas_line(canvas, ridge, top, 1, top, ink);
}

static void draw_dot(Cells *cells, Area chart, const Show *show, const LogAxes *axes,
                     const PredictedKernel *predicted) {
    const MemoryModel *model = show->live->model;
    double flops = 2.0 * (double)model->points * (double)model->channels;
    double intensity = flops / (predicted->l2_sectors * MODEL_SECTOR);
    double gflops = flops / (prediction_of(show->state, predicted)->latency_us * 1e3);
    int x = chart.x + (int)lround(log_at(intensity, axes->x_lo, axes->x_hi) * (chart.w - 1));
    int y = chart.y + (int)lround((1 - log_at(gflops, axes->y_lo, axes->y_hi)) * (chart.h - 1));
    bool inside = x >= chart.x && x < chart.x + chart.w && y >= chart.y && y < chart.y + chart.h;
    if (inside && cells_at(cells, x, y)->glyph == ' ')
        cells_put(cells, x, y, 0x25cf, cell_bold(kernel_ink(show, predicted)));
}

/* "10", "100", "1k" ... beside their rows, as far as those are apart. */
static void draw_y_powers(Cells *cells, Area chart, double lo, double hi) {
    int free_y = chart.y + chart.h;
    for (double value = lo; value <= hi; value *= 10) {
        char text[16];
        int y = chart.y + (int)lround((1 - log_at(value, lo, hi)) * (chart.h - 1));
        snprintf(text, sizeof text, value < 1000 ? "%.0f" : "%.0fk",
                 value < 1000 ? value : value / 1000);
        if (y < free_y)
            draw_y_label(cells, chart, y, text);
        free_y = y < free_y ? y : free_y;
    }
}

static void draw_roofline(Cells *cells, Area area, const Show *show) {
    const ModelCeilings *ceilings = &show->live->model->ceilings[show->state->gpu];
    const LogAxes axes = {0.01, 100, 10, 3 * ceilings->fp32_gflops};
    const PredictedKernel *kernels[MODEL_KERNELS];
    int count = kernels_in_order(show, true, kernels);
    Area chart = {area.x + LABEL_W, area.y, area.w - LABEL_W, area.h - AXIS};
    Canvas canvas;
    canvas_init(&canvas, chart.w, chart.h);
    draw_roof(&canvas, &axes, ceilings->dram_gbps, ceilings->fp32_gflops, INK_DEPTH);
    draw_roof(&canvas, &axes, ceilings->l2_gbps, ceilings->fp32_gflops, INK_FEATURES);
    for (int r = count - 1; r >= 0; r--)
        draw_dot(cells, chart, show, &axes, kernels[r]);
    canvas_put(&canvas, cells, chart.x, chart.y);
    draw_y_powers(cells, chart, axes.y_lo, axes.y_hi);
    Area foot = {chart.x, chart.y + chart.h, chart.w, 1};
    draw_rule(cells, foot);
    foot.y++;
    draw_powers(cells, foot, axes.x_lo, axes.x_hi, "FLOP/byte");
}

/* ---- rows: a GPU each, a format each --------------------------------------------------------- */

enum { NAME_W = 14, FIGURE_W = 9 };

static void draw_gpu_row(Cells *cells, Area row, const Show *show, int gpu) {
    const MemoryModel *model = show->live->model;
    const State *state = show->state;
    bool picked = gpu == state->gpu;
    int l2 = picked ? state->l2 : 0;
    double bytes = model_l2_bytes(&model->gpus[gpu], l2);
    double footprint = bev_footprint_total(model->footprint);
    const PredictedKernel *predicted =
        model_of_kernel(model, show->live->job.config.kernel, gpu, l2);
    BevRegime regime = bev_regime(footprint, bytes);
    const Segment segment = {footprint,
                             regime == REGIME_RESIDENT    ? INK_GOOD
                             : regime == REGIME_CONTESTED ? INK_WARN
                                                          : INK_BAD,
                             0x2588};
    CellStyle style = picked ? cell_bold(INK_TITLE) : cell_style(INK_TEXT);
    char text[32];
    cells_text(cells, row.x, row.y, NAME_W - 1, style, model->gpus[gpu].title);
    snprintf(text, sizeof text, "%.0f MB", bytes / (1 << 20));
    cells_text_right(cells, row.x + NAME_W, row.y, 7, style, text);
    int bar = row.x + NAME_W + 8, end = row.x + row.w;
    draw_stack(cells, bar, row.y, end - 2 * FIGURE_W - bar, &segment, 1, 1.6 * bytes, bytes);
    snprintf(text, sizeof text, "%.0f %%", 100 * footprint / bytes);
    cells_text_right(cells, end - 2 * FIGURE_W, row.y, FIGURE_W, style, text);
    figure_text(UNIT_US, predicted ? predicted->predicted[gpu][l2].latency_us : NAN, text,
                sizeof text);
    cells_text_right(cells, end - FIGURE_W, row.y, FIGURE_W, style, text);
}

static void draw_working_set(Cells *cells, Area area, const Show *show) {
    int count = show->live->model->gpu_count;
    for (int i = 0; i < count && i < area.h; i++) {
        int gpu = (show->state->gpu + i) % count; /* where not all fit, the one asked about does */
        if (area.h >= count)
            gpu = i;
        draw_gpu_row(cells, (Area){area.x, area.y + i, area.w, 1}, show, gpu);
    }
}

static double slowest_format(const Show *show) {
    const MemoryModel *model = show->live->model;
    double slowest = 0;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (model->formats[dtype].known)
            slowest = fmax(slowest,
                           prediction_of(show->state, model_v3(&model->formats[dtype],
                                                               show->state->gpu, show->state->l2))
                               ->latency_us);
    return slowest;
}

static void draw_format_row(Cells *cells, Area row, const Show *show, int dtype, double scale) {
    const ModelFormat *format = &show->live->model->formats[dtype];
    bool selected = dtype == (int)show->live->job.config.dtype;
    Ink ink = selected ? INK_ACCENT : INK_TEXT;
    CellStyle style = selected ? cell_bold(ink) : cell_style(ink);
    char text[48];
    cells_text(cells, row.x, row.y, 6, style, bev_dtypes[dtype].title);
    if (!format->known) {
        cells_text(cells, row.x + 6, row.y, row.w - 6, cell_style(INK_MUTED), "n/a");
        return;
    }
    const PredictedKernel *v3 = model_v3(format, show->state->gpu, show->state->l2);
    const Prediction *p = prediction_of(show->state, v3);
    figure_text(UNIT_US, p->latency_us, text, sizeof text);
    cells_text_right(cells, row.x + 6, row.y, FIGURE_W - 1, style, text);
    int bar = row.x + 6 + FIGURE_W, end = row.x + row.w;
    int tail = 27;
    draw_bar(cells, bar, row.y, end - tail - 1 - bar, p->latency_us, scale,
             selected ? INK_ACCENT : INK_RULE);
    char footprint[32];
    unit_text(UNIT_BYTES, format->footprint_bytes, footprint, sizeof footprint);
    snprintf(text, sizeof text, "%-5s %7s  %s", term_names[p->binding], footprint, v3->title);
    cells_text(cells, end - tail, row.y, tail, style, text);
}

static void draw_dtype(Cells *cells, Area area, const Show *show) {
    double scale = slowest_format(show);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT && dtype < area.h; dtype++)
        draw_format_row(cells, (Area){area.x, area.y + dtype, area.w, 1}, show, dtype, scale);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

/* The parts overlap: a bar each, not one on top of the other. */
static void draw_parts(Cells *cells, Area row, const Show *show) {
    const PredictedKernel *predicted = prediction_kernel(show->state, show->live);
    int w = row.w / TERM_COUNT, bar_w = w >= 24 ? w - 16 : 0;
    if (!predicted)
        return;
    const Prediction *p = prediction_of(show->state, predicted);
    for (int part = 0; part < TERM_COUNT; part++) {
        bool binds = part == (int)p->binding;
        CellStyle style = binds ? cell_bold(INK_WARN) : cell_style(INK_TEXT);
        char number[24], text[48];
        figure_text(UNIT_US, p->term_us[part], number, sizeof number);
        snprintf(text, sizeof text, "%s %s", term_names[part], number);
        cells_text(cells, row.x + part * w, row.y, w - 1, style, text);
        if (bar_w)
            draw_bar(cells, row.x + part * w + 15, row.y, bar_w, p->term_us[part],
                     p->term_us[p->binding], binds ? INK_WARN : INK_RULE);
    }
}

static void draw_words(Cells *cells, Area area, const Show *show) {
    char text[160];
    prediction_latency(show->state, show->live, text, sizeof text);
    cells_text(cells, area.x, area.y, area.w, cell_bold(INK_ACCENT), text);
    prediction_memory(show->state, show->live, text, sizeof text);
    if (cells_width(text) <= area.w)
        cells_text(cells, area.x, area.y + 1, area.w, cell_style(INK_TEXT), text);
    draw_parts(cells, (Area){area.x, area.y + 2, area.w, 1}, show);
}

/* ---- the panel ------------------------------------------------------------------------------- */

static const struct {
    const char *title;
    void (*draw)(Cells *cells, Area area, const Show *show);
} charts[CHART_COUNT] = {
    [CHART_MRC] = {"Reads that miss, by L2 size", draw_mrc},
    [CHART_ROOFLINE] = {"Roofline, GFLOP/s", draw_roofline},
    [CHART_WORKING_SET] = {"Working set of each L2, latency", draw_working_set},
    [CHART_DTYPE] = {"V3 in each format", draw_dtype},
};

static bool model_shown(const Show *show) {
    return show->state->chart != CHART_NONE;
}

static int model_want(const Show *show, int width) {
    (void)width;
    int rows = show->state->chart == CHART_WORKING_SET ? gpu_count
               : show->state->chart == CHART_DTYPE     ? BEV_DTYPE_COUNT
                                                       : CHART_ROWS + AXIS;
    return 1 + rows + WORDS;
}

/* Roofs are not the model's where the GPU itself was asked. */
static void chart_title(const Show *show, char *title, size_t size) {
    const MemoryModel *model = show->live->model;
    const char *text = charts[show->state->chart].title;
    if (model && show->state->chart == CHART_ROOFLINE)
        snprintf(title, size, "%s; roofs: %s", text,
                 source_names[model->ceilings[show->state->gpu].source]);
    else
        snprintf(title, size, "%s", text);
}

static void model_draw(Cells *cells, Area area, const Show *show) {
    const LiveData *live = show->live;
    bool on_cpu = live->job.config.kernel && live->job.config.kernel->where == BEV_CPU;
    char title[64];
    chart_title(show, title, sizeof title);
    area = panel_title(cells, area, title, on_cpu ? "model of the CUDA twin" : "model");
    if (!live->model) {
        cells_text(cells, area.x, area.y, area.w, cell_style(INK_MUTED), "n/a");
        return;
    }
    int rows = area.h - WORDS;
    charts[show->state->chart].draw(cells, (Area){area.x, area.y, area.w, rows}, show);
    draw_words(cells, (Area){area.x, area.y + rows, area.w, WORDS}, show);
}

const DashPanel model_panel = {.name = "memory model",
                               .fold = 5,
                               .grow = 3,
                               .height = 1 + LEAST_CHART + AXIS + WORDS,
                               .want = model_want,
                               .shown = model_shown,
                               .draw = model_draw};
