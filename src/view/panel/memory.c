/* SPDX-License-Identifier: MIT */
/* Two panels. Memory: the bytes that pooling touches, as a table. Resident: the same bytes as bars
 * beside the L2 caches of GPUs. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TENSORS = 5 }; /* the last, gradients, are of backward kernels */

static const struct {
    const char *name;
    Ink ink;
    uint32_t texture;
} tensors[TENSORS] = {{"features", INK_FEATURES, 0x2588},
                      {"depth", INK_DEPTH, 0x2593},
                      {"indices", INK_INDEX, 0x2592},
                      {"output", INK_OUTPUT, 0x2591},
                      {"gradients", INK_ACCENT, 0x2588}};

/* The bytes of each tensor. Bilinear weights count as indices: both are read together. */
typedef struct {
    double of[TENSORS];
} Bytes;

static Bytes footprint_bytes(const BevFootprint *f) {
    return (Bytes){{f->feat, f->depth, f->index + f->weight, f->out, f->grads}};
}

static Bytes traffic_bytes(const BevTraffic *t) {
    return (Bytes){{t->feat, t->depth, t->index + t->weight, t->out_read + t->out_write,
                    t->grad_read + t->grad_write}};
}

static double total(Bytes bytes) {
    double sum = 0;
    for (int i = 0; i < TENSORS; i++)
        sum += bytes.of[i];
    return sum;
}

/* Returns the bytes of the FP32 sums that some kernels keep in memory beside the output. */
static double bytes_of_fp32_sums(const PredictedKernel *kernel) {
    return kernel->profile.encoded * sizeof(float);
}

/* Returns the bytes that a kernel touches. FP32 sums count as output. The bytes that belong to no
 * other tensor are indices, at most as many as the index arrays have: a kernel's own tables beyond
 * them are no tensor. */
static Bytes touched_bytes(const PredictedKernel *kernel, const BevFootprint *f) {
    enum { INDICES = 2 }; /* in tensors[] */
    const BevTraffic *asked = &kernel->requested;
    Bytes touched = {{fmin(asked->feat, f->feat), fmin(asked->depth, f->depth), 0,
                      f->out + bytes_of_fp32_sums(kernel), 0}};
    const double rest = fmax(kernel->own_bytes - total(touched), 0);
    touched.of[INDICES] = fmin(rest, f->index + f->weight);
    return touched;
}

/* Returns the share of the frustum's points outside of the grid. NaN: unknown. Only a nearest map
 * that was not pruned has exactly one entry for each point inside. */
static double share_outside(const LiveData *live) {
    const BevShape *shape = &live->frame.shape;
    double all = (double)(shape->cameras * shape->depth_bins * shape->feat_h * shape->feat_w);
    bool nearest = live->job.config.align == BEV_NEAREST;
    bool counted = live->intervals.known && !live->intervals.pruned.points && nearest;
    return counted && all > 0 ? 1 - (double)live->intervals.stats.points / all : NAN;
}

/* ---- the figures ---------------------------------------------------------------------------- */

/* Returns bytes in MB, so that the columns of a table can be compared. Few bytes are in kB or B: in
 * MB their digits would be zeros. */
static ShortText megabytes(double bytes) {
    return bytes < 1000      ? short_text("%.0f B", bytes)
           : bytes < 9995    ? short_text("%.2f kB", bytes / 1e3)
           : bytes < 9.995e6 ? short_text("%.2f MB", bytes / 1e6)
           : bytes < 99.95e6 ? short_text("%.1f MB", bytes / 1e6)
                             : short_text("%.0f MB", bytes / 1e6);
}

static const Column figure_columns[] = {{"", 9, 0, true},           {"total", 7, 0, false},
                                        {"features", 10, 1, false}, {"depth", 7, 1, false},
                                        {"indices", 9, 1, false},   {"output", 8, 1, false}};
static const Column backward_columns[] = {{"", 9, 0, true},           {"total", 8, 0, false},
                                          {"features", 10, 1, false}, {"depth", 9, 2, false},
                                          {"indices", 9, 2, false},   {"grad_out", 10, 1, false},
                                          {"gradients", 11, 1, false}};

static void figure_row(Table *table, const char *name, const char *word, Bytes bytes) {
    table->style = cell_style(INK_TEXT);
    table_name(table, 0, name, word);
    table->style = cell_bold(INK_TITLE);
    table_cell(table, 1, megabytes(total(bytes)).text);
    for (int i = 0; 2 + i < table->count; i++) {
        table->style = cell_style(tensors[i].ink);
        table_cell(table, 2 + i, megabytes(bytes.of[i]).text);
    }
    table->sheet->origin.word = NULL;
    table->y++;
}

/* Returns the name of the row of the kernel's requests: "V4's requests", or "requests" where the
 * kernel's name has no room. */
static ShortText requests_name(const Table *table, const LiveData *live, const char *about) {
    const BevKernel *kernel = live->job.config.kernel;
    const ShortText whole = short_text("%s%s's requests", about, kernel ? kernel->title : "kernel");
    const bool fits = sheet_width(table->sheet, whole.text) <= table->columns[0].width;
    return fits ? whole : short_text("%srequests", about);
}

/* Draws the bytes that the threads request, before any cache, by the model of the selection. */
static void requested_row(Table *table, const PanelData *data, int width) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    sheet_origin(table->sheet, ORIGIN_REQUESTED, NULL);
    if (predicted) {
        figure_row(table, requests_name(table, data->live, prediction_about(predicted)).text,
                   "kernel traffic", traffic_bytes(&predicted->requested));
        return;
    }
    table->style = cell_style(INK_MUTED);
    table_name(table, 0, requests_name(table, data->live, "").text, "kernel traffic");
    sheet_line(table->sheet, (Area){table->x[1], table->y, width - table->x[1], 1}, table->style,
               unknown_reason(UNKNOWN_MODEL, data->live, NULL, data->live->job.config.dtype));
    table->y++;
}

/* Draws above each column the colour or texture of its tensor in the bars. */
static void draw_keys(const Table *table) {
    for (int i = 0; 2 + i < table->count; i++)
        if (table_has(table, 2 + i)) {
            const Column *column = &table->columns[2 + i];
            const int end =
                table->x[2 + i] + column->width - sheet_width(table->sheet, column->title);
            Area key = {end - 2, table->y - 1, 2, 1};
            sheet_key(table->sheet, &key, tensors[i].ink, tensors[i].texture);
        }
}

/* The tensors that stay in the L2 from one launch of the selection to the next. */
typedef enum { STAYS_UNKNOWN, STAYS_ALL, STAYS_INPUTS, STAYS_NOT } Stays;

/* Sentences about what the DRAM transfers. */
typedef struct {
    ShortText whole;    /* "5.38 MB of 6.40 MB of output go to DRAM" */
    ShortText brief;    /* "5.38 MB go to DRAM" */
    const char *reason; /* ": each new line evicts the oldest"; "": none */
} Moved;

/* Returns the sentences about a prediction's DRAM transfers. The written bytes are a share of the
 * output, and have a reason, only where the DRAM transfers nothing but output. */
static Moved moved_of(const Prediction *there, double output_bytes) {
    const ShortText writes = megabytes(there->dram_write_bytes);
    const ShortText reads = megabytes(there->dram_read_bytes);
    const ShortText output = megabytes(output_bytes);
    /* More than the output, and 1 % for rounding, is written only where FP32 sums are written. */
    const bool writes_sums = there->dram_write_bytes > 1.01 * output_bytes;
    Moved moved = {.brief = short_text("%s go to DRAM", writes.text), .reason = ""};
    if (prediction_dram_bytes(*there) < 1) {
        moved.whole = short_text("nothing goes to DRAM or comes from it");
        moved.brief = short_text("nothing goes to DRAM");
    } else if (there->dram_read_bytes >= 1 || writes_sums) {
        moved.whole = short_text("%s, %s come", moved.brief.text, reads.text);
    } else {
        moved.whole = short_text("%s of %s of output go to DRAM", writes.text, output.text);
        moved.reason = ": each new line evicts the oldest";
    }
    return moved;
}

/* Draws what the DRAM transfers, in the words that have room: "V4 on RTX A6000: 5.38 MB of 6.40 MB
 * of output go to DRAM: each new line evicts the oldest". Returns false while there is no model. */
static bool draw_moved(Sheet *sheet, Area area, const PanelData *data) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    if (!predicted)
        return false;
    const Prediction there = prediction_of(data->state, data->live, predicted);
    const Moved unknown = {{"DRAM traffic is being replayed"}, {"being replayed"}, ""};
    const Moved moved = predicted->estimate /* its sample has no L2 */
                            ? unknown
                            : moved_of(&there, data->live->memory.footprint.out);
    const ShortText gpu = prediction_gpu(data->state);
    const char *kernel = predicted->title, *whole = moved.whole.text;
    const ShortText on_gpu = short_text("%s on %s: %s%s", kernel, gpu.text, whole, moved.reason);
    const ShortText with_reason = short_text("%s: %s%s", kernel, whole, moved.reason);
    const ShortText without = short_text("%s: %s", kernel, whole);
    const ShortText brief = short_text("%s: %s", kernel, moved.brief.text);
    const char *const texts[] = {on_gpu.text, with_reason.text, without.text, brief.text, NULL};
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    sheet_line(sheet, area, cell_style(INK_MUTED), sheet_shortened(sheet, area.w, texts));
    return true;
}

/* Draws how many requests hit the predicted GPU's L2. */
static void draw_requests(Sheet *sheet, Area area, const PanelData *data) {
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    if (!predicted)
        return;
    ShortText line = short_text("%s: L2 hits %s%.1f %% (each write is one), %s",
                                prediction_gpu(data->state).text, prediction_about(predicted),
                                100 * prediction_of(data->state, data->live, predicted).hit_rate,
                                prediction_sectors(predicted).text);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    sheet_figures(sheet, area, INK_MUTED, line.text);
}

/* Draws the figures of hardware counters if the user has asked for counters. */
static void draw_counted(Sheet *sheet, Area area, const PanelData *data) {
    const LiveCounters *counters = &data->live->counters;
    char text[160], line[192];
    if (!live_counters_line(counters, &data->live->job, text, sizeof text))
        return;
    snprintf(line, sizeof line, "%s%s: %s", counters->stale ? "stale, " : "",
             source_names[counters->source], text);
    sheet_origin(sheet, ORIGIN_COUNTERS, NULL);
    sheet_figures(sheet, area, counters->stale ? INK_MUTED : INK_TEXT, line);
}

/* Draws the table of bytes, then what the DRAM transfers, the L2 hits, and the counters. */
void memory_draw(Sheet *sheet, Area area, const PanelData *data) {
    enum { NAMED_W = 80, REQUESTS_W = 16 }; /* the width from which "V4's requests" has room */
    const LiveMemory *memory = &data->live->memory;
    area = sheet_title(sheet, area, "Bytes of a launch", model_whose(data->live));
    if (!memory->known) {
        sheet_line(sheet, area, cell_style(INK_MUTED), "the bytes follow");
        return;
    }
    const BevKernel *kernel = data->live->job.config.kernel;
    const bool backward = kernel && kernel->direction == BEV_BACKWARD;
    Table table;
    Column columns[TENSORS + 2];
    const size_t size = backward ? sizeof backward_columns : sizeof figure_columns;
    memcpy(columns, backward ? backward_columns : figure_columns, size);
    columns[0].width = area.w < NAMED_W ? columns[0].width : REQUESTS_W;
    table_begin(&table, sheet, area, columns, (int)(size / sizeof *columns), NULL);
    draw_keys(&table);
    figure_row(&table, "footprint", "footprint", footprint_bytes(&memory->footprint));
    if (backward)
        figure_row(&table, requests_name(&table, data->live, "").text, "kernel traffic",
                   traffic_bytes(&memory->own));
    else
        figure_row(&table, "gather", "gather traffic", traffic_bytes(&memory->gather));
    if (!backward)
        requested_row(&table, data, area.x + area.w);
    area = area_below(area, table.y - area.y);
    if (draw_moved(sheet, area, data))
        area_row(&area);
    draw_requests(sheet, area_row(&area), data);
    draw_counted(sheet, area, data);
}

/* ---- does it stay in the L2? ---------------------------------------------------------------- */

enum { MARK_W = 2, NAME_W = 13, SIZE_W = 9, VERDICT_W = 28, BRIEF_W = 19, PERCENT_W = 7 };
enum { MOST_GPUS = 3, NOTE_W = 39, WHOLE_FROM_W = 60 };
static const double FULL = 1.8; /* how many L2s the full width of a bar stands for */

typedef struct {
    const char *name;
    double bytes;
    const char *word; /* the GPU that a click chooses; NULL: none */
    int gpu;          /* in gpus[] */
    bool chosen;      /* the model's figures on the screen are of this GPU */
} Cache;

/* Lists the L2 caches that the panel compares: those of the article's two GPUs, and before them the
 * chosen GPU's. If that GPU is one of the two, unchanged, this machine's L2 takes its place. */
static int list_caches(const PanelData *data, Cache caches[MOST_GPUS]) {
    const LiveDevice *device = &data->live->device;
    const Gpu *article[] = {gpu_find("a6000"), gpu_find("pro6000")};
    const Gpu *chosen = gpus + data->state->gpu;
    bool what_if = data->state->edit.l2_mib > 0;
    int count = 0;
    if (what_if || (chosen != article[0] && chosen != article[1]))
        caches[count++] = (Cache){what_if ? "what-if L2" : chosen->title,
                                  state_gpu(data->state).l2_bytes, NULL, data->state->gpu, true};
    else if (device->where == BEV_CUDA && device->l2_bytes.source)
        caches[count++] =
            (Cache){"this GPU", device->l2_bytes.value, NULL, data->state->gpu, false};
    for (int i = 0; i < 2; i++)
        caches[count++] = (Cache){article[i]->title, article[i]->l2_bytes, article[i]->name,
                                  (int)(article[i] - gpus), !what_if && article[i] == chosen};
    return count;
}

/* Returns which tensors stay in the L2 of a GPU, by the model. *lost is the share of the output
 * that goes to DRAM. */
static Stays stays_in(const PanelData *data, const Cache *cache, double *lost) {
    const double little = 0.05; /* a smaller share in the DRAM: the L2 has kept the tensors */
    const State *state = data->state;
    const BevFootprint *f = &data->live->memory.footprint;
    const PredictedKernel *predicted = prediction_kernel(state, data->live);
    if (!predicted)
        return STAYS_UNKNOWN;
    const Prediction there =
        model_predict(data->live->model, predicted, cache->gpu, cache->word ? NULL : &state->edit);
    *lost = there.dram_write_bytes / f->out;
    if (there.dram_read_bytes > little * (f->feat + f->depth + f->index + f->weight))
        return STAYS_NOT;
    return there.dram_write_bytes > little * f->out ? STAYS_INPUTS : STAYS_ALL;
}

/* Draws the hollow tick of the gather traffic, but not within the bar or on a full L2's mark. */
static void draw_gather_tick(Sheet *sheet, Area bar, const Cache *cache, double touched,
                             double gathered) {
    const double columns_a_byte = bar.w / (FULL * cache->bytes);
    const bool beyond = gathered * columns_a_byte >= bar.w; /* an arrow follows the tick */
    const int tick = beyond ? bar.w - 4 : (int)(gathered * columns_a_byte);
    const int limit_mark = (int)(bar.w / FULL);
    if (tick <= touched * columns_a_byte || tick == limit_mark)
        return;
    sheet_sign(sheet, bar.x + tick, bar.y, 0x25cb, cell_style(INK_TITLE));
    if (beyond)
        sheet_sign(sheet, bar.x + tick + 2, bar.y, 0x2192, cell_style(INK_TITLE));
}

/* Draws an L2's row: its name and size, the bar of the touched bytes, and which tensors stay. */
static void draw_cache(Sheet *sheet, Area row, const PanelData *data, const Cache *cache,
                       Bytes bytes, double gathered) {
    static const char *const verdicts[] = {"", "stays", "output leaves", "leaves"};
    static const Ink inks[] = {INK_TEXT, INK_GOOD, INK_WARN, INK_BAD};
    const bool whole = row.w >= WHOLE_FROM_W;
    const int verdict_w = whole ? VERDICT_W : BRIEF_W;
    Area at = area_behind(row, MARK_W);
    double lost = 0;
    const Stays stays = stays_in(data, cache, &lost);
    const PredictedKernel *of = prediction_kernel(data->state, data->live);
    sheet_origin(sheet, ORIGIN_CACHES, NULL);
    if (cache->word)
        sheet_spot(sheet, row, ACTION_GPU, 0, cache->word);
    if (cache->chosen)
        sheet_sign(sheet, row.x, row.y, 0x25b8, cell_style(INK_TEXT));
    sheet_line(sheet, area_columns(&at, NAME_W), cell_style(INK_TEXT), cache->name);
    sheet_right(sheet, area_columns(&at, whole ? SIZE_W : 0), cell_style(INK_MUTED),
                short_text("%.4g MiB", cache->bytes / (1 << 20)).text);
    const Area bar = area_behind(area_columns(&at, at.w - verdict_w - 1), 1);
    sheet_origin(sheet, ORIGIN_SHAPES, NULL);
    sheet->origin.word = of ? "working set" : NULL;
    Segment segments[TENSORS];
    for (int i = 0; i < TENSORS; i++)
        segments[i] = (Segment){bytes.of[i], tensors[i].ink, tensors[i].texture};
    const double touched = total(bytes);
    sheet_stack(sheet, bar, segments, TENSORS, FULL * cache->bytes, cache->bytes);
    if (whole)
        draw_gather_tick(sheet, bar, cache, touched, gathered);
    sheet_line(sheet, area_behind(at, 1), cell_style(INK_TEXT),
               short_text("%s%.0f %%", prediction_about(of), 100 * touched / cache->bytes).text);
    if (!of)
        sheet_right(sheet, row, cell_style(INK_MUTED), "all arrays");
    if (stays == STAYS_UNKNOWN)
        return;
    const ShortText full = stays == STAYS_INPUTS
                               ? short_text("%.0f %% of output leaves", 100 * fmin(lost, 1))
                               : short_text("%s: %s", of->title, verdicts[stays]);
    const bool fits = whole && sheet_width(sheet, full.text) <= verdict_w - PERCENT_W;
    sheet_right(sheet, row, cell_bold(inks[stays]), fits ? full.text : verdicts[stays]);
}

/* Draws the colours of the arrays, and the hollow tick. */
static void draw_legend(Sheet *sheet, Area row, double gathered, bool backward) {
    const bool has_tick = row.w >= WHOLE_FROM_W; /* as in draw_cache() */
    for (int i = 0; i < (backward ? TENSORS : TENSORS - 1); i++) {
        const char *name = backward && tensors[i].ink == INK_OUTPUT ? "grad_out" : tensors[i].name;
        if (2 + sheet_width(sheet, name) > row.w)
            break;
        sheet_key(sheet, &row, tensors[i].ink, tensors[i].texture);
        area_columns(&row, 2 + sheet_line(sheet, row, cell_style(INK_MUTED), name));
    }
    const ShortText bytes = text_of_unit(UNIT_BYTES, gathered);
    const ShortText brief = short_text("\u25cb gather traffic %s, | L2 full", bytes.text);
    const char *const texts[] = {brief.text, "\u25cb gather, | full", "| L2 full", "", NULL};
    sheet_right(sheet, row, cell_style(INK_MUTED),
                sheet_shortened(sheet, row.w, texts + (has_tick ? 0 : 2)));
}

void resident_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveMemory *memory = &data->live->memory;
    const PredictedKernel *predicted = prediction_kernel(data->state, data->live);
    char note[224] = "";
    const double gathered = bev_traffic_total(memory->gather), share = share_outside(data->live);
    const double sums = predicted ? bytes_of_fp32_sums(predicted) : 0;
    const Bytes all = footprint_bytes(&memory->footprint);
    const Bytes touched = predicted ? touched_bytes(predicted, &memory->footprint) : all;
    if (predicted)
        snprintf(note, sizeof note, "%s's %s%s, ", predicted->title, prediction_about(predicted),
                 megabytes(total(touched)).text);
    if (sums > 0)
        text_add(note, sizeof note, "FP32 sums %s, ", megabytes(sums).text);
    text_add(note, sizeof note, "all arrays %s", megabytes(total(all)).text);
    if (isfinite(share))
        text_add(note, sizeof note, ", %.1f %% of the points outside of the grid", 100 * share);
    sheet_origin(sheet, ORIGIN_SHAPES, NULL);
    sheet->origin.word = predicted ? "working set" : NULL;
    const char *title = "Does the working set stay in the L2?";
    if (sheet_width(sheet, title) * 9 / 8 + NOTE_W > area.w) /* a title's font is larger */
        title = "Stays in the L2?";
    sheet_cut_figures(sheet, area.w - sheet_width(sheet, title) - 4, note);
    area = sheet_title(sheet, area, title, memory->known ? note : "");
    if (!memory->known)
        return;
    Cache caches[MOST_GPUS];
    int count = list_caches(data, caches);
    for (int i = 0; i < count && area.h > 0; i++)
        draw_cache(sheet, area_row(&area), data, &caches[i], touched, gathered);
    draw_legend(sheet, area_row(&area), gathered, touched.of[TENSORS - 1] > 0);
    draw_moved(sheet, area, data);
}
