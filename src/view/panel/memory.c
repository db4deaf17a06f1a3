/* Footprint versus L2: the bytes that pooling touches, and whether they fit into a cache. */
#include "src/view/panel/panel.h"

#include "kernels/regime.h"
#include "src/cachesim/findings.h"
#include "src/state/live_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TENSORS = 5, MAX_CACHES = 4 }; /* the last, gradients, are of backward kernels */

static const struct {
    const char *name;
    Ink ink;
    uint32_t texture;
} tensors[TENSORS] = {{"features", INK_FEATURES, 0x2588},
                      {"depth", INK_DEPTH, 0x2593},
                      {"indices", INK_INDEX, 0x2592},
                      {"output", INK_OUTPUT, 0x2591},
                      {"gradients", INK_ACCENT, 0x2588}};

/* Bilinear weights are read along with the indices. */
static void footprint_segments(const BevFootprint *f, Segment segments[TENSORS]) {
    double bytes[TENSORS] = {f->feat, f->depth, f->index + f->weight, f->out, f->grads};
    for (int i = 0; i < TENSORS; i++)
        segments[i] = (Segment){bytes[i], tensors[i].ink, tensors[i].texture};
}

static void traffic_segments(const BevTraffic *t, Segment segments[TENSORS]) {
    double bytes[TENSORS] = {t->feat, t->depth, t->index + t->weight, t->out_read + t->out_write,
                             t->grad_read + t->grad_write};
    for (int i = 0; i < TENSORS; i++)
        segments[i] = (Segment){bytes[i], tensors[i].ink, tensors[i].texture};
}

static double total(const Segment segments[TENSORS]) {
    double sum = 0;
    for (int i = 0; i < TENSORS; i++)
        sum += segments[i].value;
    return sum;
}

/* ---- the figures ---------------------------------------------------------------------------- */

/* In MB, so that columns can be compared; in kB and B where MB would show zeros. */
static void megabytes(double bytes, char *text, size_t size) {
    if (bytes < 1000)
        snprintf(text, size, "%.0f B", bytes);
    else if (bytes < 9995)
        snprintf(text, size, "%.2f kB", bytes / 1e3);
    else
        snprintf(text, size,
                 bytes < 9.995e6   ? "%.2f MB"
                 : bytes < 99.95e6 ? "%.1f MB"
                                   : "%.0f MB",
                 bytes / 1e6);
}

static const Column figure_columns[] = {{"", 9, 0, true},           {"total", 7, 0, false},
                                        {"features", 10, 1, false}, {"depth", 7, 1, false},
                                        {"indices", 9, 1, false},   {"output", 8, 1, false}};
static const Column backward_columns[] = {{"", 9, 0, true},           {"total", 8, 0, false},
                                          {"features", 10, 1, false}, {"depth", 9, 2, false},
                                          {"indices", 9, 2, false},   {"grad_out", 10, 1, false},
                                          {"gradients", 11, 1, false}};

static bool goes_backward(const PanelData *data) {
    return data->live->job.config.kernel &&
           data->live->job.config.kernel->direction == BEV_BACKWARD;
}

static void figure_row(Table *table, const char *name, const char *word, const Segment *segments) {
    char text[32];
    table->style = cell_style(INK_TEXT);
    table_name(table, 0, name, word);
    megabytes(total(segments), text, sizeof text);
    table->style = cell_bold(INK_TITLE);
    table_cell(table, 1, text);
    for (int i = 0; 2 + i < table->count; i++) {
        megabytes(segments[i].value, text, sizeof text);
        table->style = cell_style(tensors[i].ink);
        table_cell(table, 2 + i, text);
    }
    table->sheet->origin.word = NULL;
    table->y++;
}

/* The requests of the threads by the model of the selection, before any cache. */
static void requested_row(Table *table, const PanelData *data, int width) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    Segment segments[TENSORS];
    sheet_origin(table->sheet, ORIGIN_REQUESTED, NULL);
    if (predicted) {
        traffic_segments(&predicted->requested, segments);
        figure_row(table, "kernel", "kernel traffic", segments);
        return;
    }
    table->style = cell_style(INK_MUTED);
    table_name(table, 0, "kernel", "kernel traffic");
    const char *why = unknown_reason(UNKNOWN_MODEL, data->live, NULL, data->live->job.config.dtype);
    sheet_text(table->sheet, table->x[1], table->y, width - table->x[1], table->style, why);
    table->y++;
}

/* Above each column the colour, or texture, that stands for it in the bars. */
static void draw_keys(const Table *table) {
    for (int i = 0; 2 + i < table->count; i++)
        if (table_has(table, 2 + i)) {
            int end = table->x[2 + i] + table->columns[2 + i].width;
            sheet_key(table->sheet,
                      end - sheet_width(table->sheet, table->columns[2 + i].title) - 2,
                      table->y - 1, tensors[i].ink, tensors[i].texture);
        }
}

/* ---- the caches ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    double bytes;   /* NaN: unknown */
    const Gpu *gpu; /* that a click predicts; NULL: none */
    double hits;    /* share of L2 lookups of the selection there, by the model; NaN: unknown */
    const char *unknown; /* why the size is */
} Cache;

/* This device, the GPU that the user made or chose, and the two GPUs of the published figures: the
 * last have no room at times. */
static int list_caches(const PanelData *data, Cache caches[MAX_CACHES]) {
    const LiveDevice *device = &data->live->device;
    const Gpu *a6000 = gpu_find("a6000"), *pro6000 = gpu_find("pro6000");
    const Gpu *picked = &gpus[data->state->gpu];
    caches[0] = (Cache){device->where == BEV_CUDA ? "this GPU's L2" : "this CPU's L3",
                        device->l2_bytes.source ? device->l2_bytes.value : NAN, NULL, NAN,
                        data->live->timed ? "not told by the system" : "scripts name no machine"};
    bool l2 = data->state->edit.l2_mib > 0;
    int count = 1;
    if (l2 || (picked != a6000 && picked != pro6000))
        caches[count++] = (Cache){l2 ? "what-if L2" : picked->title,
                                  state_gpu(data->state).l2_bytes, NULL, NAN, NULL};
    caches[count++] = (Cache){a6000->title, a6000->l2_bytes, a6000, NAN, NULL};
    caches[count++] = (Cache){pro6000->title, pro6000->l2_bytes, pro6000, NAN, NULL};
    return count;
}

static void find_hits(const PanelData *data, Cache *caches, int count) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    for (int i = 1; predicted && i < count; i++) {
        int gpu = caches[i].gpu ? (int)(caches[i].gpu - gpus) : data->state->gpu;
        const GpuEdit *edit = caches[i].gpu ? NULL : &data->state->edit;
        caches[i].hits = model_predict(data->live->model, predicted, gpu, edit).hit_rate;
    }
}

/* What is gathered is more than a cache holds, and most of it hits there nevertheless. */
static void draw_hits(Sheet *sheet, Area area, double hits) {
    char text[32];
    if (!isfinite(hits))
        return;
    snprintf(text, sizeof text,
             hits < 0.995    ? "hits %.0f %%"
             : hits < 0.9995 ? "hits %.1f %%"
                             : "all hit",
             100 * hits);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    sheet_right(sheet, area.x + area.w - 10, area.y, 10, cell_style(INK_TEXT), text);
}

static Ink regime_ink(BevRegime regime) {
    return regime == REGIME_RESIDENT ? INK_GOOD : regime == REGIME_CONTESTED ? INK_WARN : INK_BAD;
}

enum { NAME_W = 22, CLASS_W = 17, HITS_W = 11, BAR_MIN = 10 };

/* The footprint against the cache, or the gathered bytes. The bar's full width is 1.6 times the
 * cache, so that overflow is seen. `alone`: no row of gathered bytes follows. */
static void draw_cache(Sheet *sheet, Area area, const Cache *cache, const Segment *segments,
                       const char *gathered, bool alone) {
    CellStyle style = cell_style(gathered ? INK_MUTED : INK_TEXT);
    char text[64] = "n/a";
    bool known = !isnan(cache->bytes);
    sheet_origin(sheet, gathered ? ORIGIN_SHAPES : ORIGIN_CACHES, NULL);
    if (cache->gpu)
        sheet_spot(sheet, (Area){area.x, area.y, area.w, 1}, ACTION_GPU, 0, cache->gpu->name);
    if (known)
        snprintf(text, sizeof text, "%.4g MiB", cache->bytes / (1 << 20));
    sheet_right(sheet, area.x + NAME_W - 9, area.y, 8, style, gathered ? gathered : text);
    if (!gathered)
        sheet_text(sheet, area.x, area.y, NAME_W - 8, style, cache->name);
    if (!known) {
        sheet_text(sheet, area.x + NAME_W, area.y, area.w - NAME_W, cell_style(INK_MUTED),
                   cache->unknown);
        return;
    }
    if (gathered || alone)
        draw_hits(sheet, area, cache->hits);
    area.w -= alone ? HITS_W : 0;
    sheet_origin(sheet, ORIGIN_SHAPES, NULL);
    sheet_stack(sheet, area.x + NAME_W, area.y, area.w - NAME_W - CLASS_W, segments, TENSORS,
                1.6 * cache->bytes, cache->bytes);
    snprintf(text, sizeof text, "%.0f %%", 100 * total(segments) / cache->bytes);
    sheet_right(sheet, area.x + area.w - CLASS_W, area.y, 7, style, text);
    BevRegime regime = bev_regime(total(segments), cache->bytes);
    sheet_origin(sheet, ORIGIN_CACHES, NULL);
    if (!gathered)
        sheet_text(sheet, area.x + area.w - 9, area.y, 9, cell_bold(regime_ink(regime)),
                   bev_regimes[regime].name);
}

/* "; model: V4 fastest, latency-bound", once all kernels of the GPU were replayed; until then "".
 */
static void fastest_text(const PanelData *data, char *text, size_t size) {
    const MemoryModel *model = data->live->model;
    Prediction prediction;
    text[0] = '\0';
    for (int i = 0; model && i < model->kernel_count; i++)
        if (!model->kernels[i].kernel)
            return;
    const PredictedKernel *fastest =
        model ? findings_fastest(model, data->state->gpu, &data->state->edit, &prediction) : NULL;
    if (fastest)
        snprintf(text, size, "; model: %s fastest, %s", fastest->title,
                 limit_names[prediction.limiter]);
}

/* Of a footprint that is too large: what a launch of the selection moves nevertheless. False: the
 * model has not said it yet. */
static bool moved_text(const PanelData *data, const char *on, char *text, size_t size) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    char reads[32], writes[32];
    if (!predicted)
        return false;
    Prediction there =
        model_predict(data->live->model, predicted, data->state->gpu, &data->state->edit);
    megabytes(there.dram_read_bytes, reads, sizeof reads);
    megabytes(there.dram_write_bytes, writes, sizeof writes);
    snprintf(text, size, "%s: a launch of %s reads %s from DRAM, writes %s", on, predicted->title,
             reads, writes);
    return true;
}

/* Whether the footprint fits the predicted GPU's L2, and what limits the fastest kernel there. */
static void draw_meaning(Sheet *sheet, Area area, const PanelData *data) {
    static const char *const fits[REGIME_COUNT] = {[REGIME_RESIDENT] = "fits",
                                                   [REGIME_CONTESTED] = "fits barely",
                                                   [REGIME_STREAMING] = "larger than the L2"};
    BevRegime regime = bev_regime(bev_footprint_total(data->live->memory.footprint),
                                  state_gpu(data->state).l2_bytes);
    char text[256], on[128], fastest[80] = "";
    prediction_gpu(data->state, on, sizeof on);
    bool moved = regime == REGIME_STREAMING && moved_text(data, on, text, sizeof text);
    if (!moved) {
        fastest_text(data, fastest, sizeof fastest);
        snprintf(text, sizeof text, "%s: %s%s", on, fits[regime], fastest);
    }
    sheet_origin(sheet, moved || fastest[0] ? ORIGIN_MODEL : ORIGIN_SHAPES, NULL);
    if (sheet_width(sheet, text) <= area.w)
        sheet_line(sheet, area, cell_style(INK_MUTED), text);
}

/* How many requests hit the predicted GPU's L2. */
static void draw_requests(Sheet *sheet, Area area, const PanelData *data,
                          const PredictedKernel *predicted) {
    char line[400], on[128], sectors[48];
    if (!predicted)
        return;
    prediction_gpu(data->state, on, sizeof on);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    prediction_sectors(predicted, sectors, sizeof sectors);
    snprintf(line, sizeof line, "%s: L2 hits %.1f %%, %s", on,
             100 * prediction_of(data->state, data->live, predicted).hit_rate, sectors);
    sheet_figures(sheet, area, INK_MUTED, line);
}

/* The figures of hardware counters, where the user asked for them. */
static bool draw_counted(Sheet *sheet, Area area, const PanelData *data) {
    const LiveCounters *counters = &data->live->counters;
    char text[160], line[192];
    if (!live_counters_line(counters, &data->live->job, text, sizeof text))
        return false;
    snprintf(line, sizeof line, "%s%s: %s", counters->stale ? "stale, " : "",
             source_names[counters->source], text);
    sheet_origin(sheet, ORIGIN_COUNTERS, NULL);
    sheet_figures(sheet, area, counters->stale ? INK_MUTED : INK_TEXT, line);
    sheet_origin(sheet, ORIGIN_SHAPES, NULL);
    return true;
}

int memory_want(Sheet *sheet, const PanelData *data, int width) {
    (void)sheet, (void)width;
    Cache caches[MAX_CACHES];
    bool counted = data->live->counters.source != SOURCE_UNKNOWN;
    return 5 + 2 * list_caches(data, caches) + 3 + counted;
}

void memory_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveMemory *memory = &data->live->memory;
    int full = memory_want(sheet, data, area.w);
    area = sheet_title(sheet, area, "Footprint versus L2", model_whose(data->live));
    if (!memory->known) {
        sheet_line(sheet, area, cell_style(INK_MUTED), "n/a");
        return;
    }
    if (draw_counted(sheet, (Area){area.x, area.y + area.h - 1, area.w, 1}, data))
        area.h--;
    Segment footprint[TENSORS], gather[TENSORS];
    footprint_segments(&memory->footprint, footprint);
    bool backward = goes_backward(data);
    const char *gathered = backward ? "kernel" : "gather";
    traffic_segments(backward ? &memory->own : &memory->gather, gather);
    Table table;
    table_begin(&table, sheet, area, backward ? backward_columns : figure_columns, 6 + backward,
                NULL);
    draw_keys(&table);
    figure_row(&table, "footprint", "footprint", footprint);
    figure_row(&table, gathered, backward ? "kernel traffic" : "gather traffic", gather);
    Cache caches[MAX_CACHES];
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    int count = list_caches(data, caches);
    find_hits(data, caches, count);
    if (area.h >= 4 + count && !backward)
        requested_row(&table, data, area.x + area.w);
    int left = area.y + area.h - table.y;
    bool tall = left >= 2 * count;
    bool roomy = area.w >= NAME_W + BAR_MIN + CLASS_W + HITS_W && isfinite(caches[1].hits);
    Area line = {area.x, table.y, area.w, 1};
    bool airy = area.h + 1 >= full;
    line.y += airy;
    for (int i = 0; i < count && line.y < area.y + area.h; i++, line.y++) {
        draw_cache(sheet, line, &caches[i], footprint, NULL, !tall && roomy);
        if (tall && !isnan(caches[i].bytes)) {
            line.y++;
            draw_cache(sheet, line, &caches[i], gather, gathered, false);
        }
    }
    if (line.y < area.y + area.h && !backward)
        draw_meaning(sheet, line, data);
    line.y++;
    if (line.y < area.y + area.h)
        draw_requests(sheet, line, data, predicted);
}
