/* SPDX-License-Identifier: MIT */
/* Two panels. Kernels: a row for each kernel with its latency, its speed-up and its share of the
 * memory's ceiling. Pipeline: how long each stage of a frame takes, from features to pixels. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
enum {
    COL_NUMBER, COL_KERNEL, COL_MEDIAN, COL_MARK, COL_SPEEDUP, COL_BAR, COL_P95, COL_P99, COL_GBPS,
    COL_CEILING, COL_REGISTERS, COL_OCCUPANCY, COL_BITS, COL_COUNT
};
/* clang-format on */

enum { NARROW = 27, WIDE = 69, WIDE_BAR = 24 }; /* in pixels */

static const Column columns[COL_COUNT] = {
    [COL_NUMBER] = {"", 2, 0, false},          [COL_KERNEL] = {"kernel", 13, 0, true},
    [COL_MEDIAN] = {"median", 8, 0, false},    [COL_MARK] = {"", 1, 0, true},
    [COL_SPEEDUP] = {"speed-up", 8, 1, false}, [COL_BAR] = {"median as bar", 14, 2, true},
    [COL_P95] = {"p95", 7, 5, false},          [COL_P99] = {"p99", 7, 4, false},
    [COL_GBPS] = {"GB/s", 6, 3, false},        [COL_CEILING] = {"ceiling", 7, 6, false},
    [COL_REGISTERS] = {"regs", 4, 7, false},   [COL_OCCUPANCY] = {"occ%", 4, 9, false},
    [COL_BITS] = {"bits", 5, 8, true},
};

/* The topics of the columns that are no latency. */
static const OriginTopic topics[COL_COUNT] = {
    [COL_SPEEDUP] = ORIGIN_SPEEDUP,    [COL_GBPS] = ORIGIN_BANDWIDTH,
    [COL_CEILING] = ORIGIN_BANDWIDTH,  [COL_REGISTERS] = ORIGIN_COMPILED,
    [COL_OCCUPANCY] = ORIGIN_COMPILED,
};

/* Fills a cell with a reading. The cell of an unknown figure stays blank. */
static void fill_reading_cell(Table *table, int column, Unit unit, const Reading *reading) {
    table_cell(table, column, reading->source ? reading_text(unit, reading).text : "");
}

static double value_of(const Reading *reading) {
    return reading->source ? reading->value : NAN;
}

/* Draws the bar of a latency. If a kernel takes longer than the scale, the scale takes only a part
 * of the column. The bars of such kernels end with an arrow behind the scale: a slower kernel's bar
 * is longer, by the logarithm. */
static void draw_bar(Table *table, double median, const Ladder *ladder) {
    Ink ink = table->style.ink == INK_TEXT ? INK_MUTED : table->style.ink;
    const int w = table->columns[COL_BAR].width;
    const bool some_beyond = ladder->longest_us > ladder->scale_us * (1 + 1e-9);
    const int scale_w = some_beyond ? (int)lround(0.7 * w) : w;
    const double beyond =
        log(median / ladder->scale_us) / log(ladder->longest_us / ladder->scale_us);
    int bar_w = scale_w;
    if (some_beyond && median > ladder->scale_us)
        bar_w += (int)lround((w - scale_w) * beyond);
    /* A bar longer than its scale ends with an arrow: half of the median makes it so. */
    const double full = bar_w > scale_w ? median / 2 : ladder->scale_us;
    table->sheet->origin.topic = ORIGIN_BAR;
    sheet_bar(table->sheet, (Area){table->x[COL_BAR], table->y, bar_w, 1}, median, full, ink);
    table->sheet->origin.topic = ORIGIN_LATENCY;
}

/* Draws a timed kernel's figures. Only times of one source have bars, which have one scale. */
static void draw_figures(Table *table, const PanelData *data, const LiveKernel *row,
                         const Ladder *ladder) {
    fill_reading_cell(table, COL_MEDIAN, UNIT_US, &row->median_us);
    table_cell(table, COL_MARK, ladder_mark(row));
    Reading speedup = live_speedup(data->live, row);
    /* A blank takes the place of a mark, so that the figures stay aligned. */
    const char *mark = reading_mark(&speedup)[0] ? reading_mark(&speedup) : " ";
    const char *format = speedup.value < 9.95 ? "%.2f\u00d7%s" : "%.1f\u00d7%s";
    if (speedup.source && !speedup.doubtful)
        table_cell(table, COL_SPEEDUP, short_text(format, speedup.value, mark).text);
    fill_reading_cell(table, COL_P95, UNIT_US, &row->p95_us);
    fill_reading_cell(table, COL_P99, UNIT_US, &row->p99_us);
    double gb_s = value_of(&row->effective_gb_s);
    table_number(table, COL_GBPS, "%.0f", gb_s);
    const Reading *ceiling = row->median_us.source == SOURCE_RECORDED
                                 ? &row->ceiling_gb_s
                                 : &data->live->device.ceiling_gb_s;
    table_number(table, COL_CEILING, "%.0f %%", 100 * gb_s / value_of(ceiling));
    table_number(table, COL_REGISTERS, "%.0f", value_of(&row->registers));
    table_number(table, COL_OCCUPANCY, "%.0f", 100 * value_of(&row->occupancy));
    if (table_has(table, COL_BAR) && row->median_us.source == ladder->bars)
        draw_bar(table, value_of(&row->median_us), ladder);
}

/* Draws a kernel's row: its figures and whether its bits vary, or why the kernel has no latency. */
static void draw_row(Table *table, Area area, const PanelData *data, const Ladder *ladder,
                     int number) {
    const LiveKernel *row = ladder->kernels[number];
    const Area line = {area.x, table->y, area.w, 1};
    bool selected = row->kernel == data->state->job.config.kernel;
    sheet_origin(table->sheet, ORIGIN_LATENCY, row->kernel);
    sheet_spot(table->sheet, line, ACTION_KERNEL, 0, kernel_word(row->kernel));
    if (selected)
        sheet_paper(table->sheet, line, INK_SELECTED);
    const bool baseline = row->kernel == data->state->job.baseline.kernel;
    const Ink unselected = baseline ? INK_BASELINE : row->skipped ? INK_MUTED : INK_TEXT;
    table->style = selected ? cell_bold(INK_ACCENT) : cell_style(unselected);
    table_number(table, COL_NUMBER, selected && !table->sheet->color ? ">%.0f" : "%.0f",
                 number + 1);
    table_cell(table, COL_KERNEL, row->kernel->title);
    if (!row->median_us.source) {
        const Area at = area_behind(line, table->x[COL_MEDIAN] - line.x);
        const char *const why[] = {unknown_reason(UNKNOWN_LATENCY, data->live, row, BEV_FP32),
                                   "not for this problem", NULL};
        sheet_line(table->sheet, at, table->style, sheet_shortened(table->sheet, at.w, why));
    } else {
        draw_figures(table, data, row, ladder);
        table_cell(table, COL_BITS,
                   row->kernel->wrong_on_purpose ? "wrong"
                   : row->kernel->deterministic  ? "same"
                                                 : "vary");
    }
    table->y++;
}

/* Chooses the rows where not all fit: the selection, its baseline, the fastest kernel, then the
 * selection's neighbours. A printed page has no rows without a latency. Returns how many rows are
 * shown, in the order of the table. */
static int choose_rows(const Ladder *ladder, const PanelData *data, int room,
                       int shown[LIVE_MAX_KERNELS]) {
    int ranks[LIVE_MAX_KERNELS]; /* the lowest are shown */
    int selected = -1, fastest = -1, rows = 0;
    for (int i = 0; i < ladder->count; i++) {
        const Reading *median = &ladder->kernels[i]->median_us;
        selected = ladder->kernels[i]->kernel == data->state->job.config.kernel ? i : selected;
        if (median->source &&
            (fastest < 0 || median->value < ladder->kernels[fastest]->median_us.value))
            fastest = i;
    }
    for (int i = 0; i < ladder->count; i++) {
        const bool baseline = ladder->kernels[i]->kernel == data->state->job.baseline.kernel;
        const int neighbour = 1 + 2 * abs(i - selected) + (i > selected); /* 3, 4, 5, ... */
        ranks[i] = i == selected ? 0 : baseline ? 1 : i == fastest ? 2 : neighbour;
    }
    for (int i = 0; i < ladder->count; i++) {
        int better = 0;
        for (int other = 0; other < ladder->count; other++)
            better += ranks[other] < ranks[i];
        if (better < room && (ladder->kernels[i]->median_us.source || !data->still))
            shown[rows++] = i;
    }
    return rows;
}

static void draw_title(Sheet *sheet, Area *area, const PanelData *data, const Ladder *ladder,
                       int rows) {
    char note[96], part[32] = "";
    ladder_note(ladder, data->live->machine_busy, note, sizeof note);
    const KernelConfig *config = &data->state->job.config;
    if (rows < ladder->count)
        snprintf(part, sizeof part, ", %d of %d", rows, ladder->count);
    const ShortText title = short_text(
        "%s, %s %s%s%s", config->kernel->where == BEV_CPU ? "Kernels on a CPU" : "Kernels",
        bev_dtypes[config->dtype].title, bev_aligns[config->align].name, kernel_way(config->kernel),
        part);
    /* Where the note is too long, "measured" goes: the marks need their explanations more. */
    const char *comma = strchr(note, ',');
    const char *marks = comma ? comma + strlen(", ") : note;
    *area =
        sheet_title(sheet, *area, title.text, sheet_note(sheet, *area, title.text, note, marks));
}

/* Leaves out the columns in which no row has a figure. To find out, draws the rows on a sheet that
 * shows nothing. */
static void drop_empty_columns(const Sheet *sheet, Area area, const PanelData *data,
                               const Ladder *ladder, const int *shown, int rows,
                               Column wanted[COL_COUNT]) {
    Sheet quiet = sheet_quiet(sheet);
    Table table;
    table_begin(&table, &quiet, area, wanted, COL_COUNT, NULL);
    for (int i = 0; i < rows; i++)
        draw_row(&table, area, data, ladder, shown[i]);
    for (int i = 0; i < COL_COUNT; i++)
        if (wanted[i].rank && i != COL_BAR && !(table.filled >> i & 1))
            wanted[i].rank = COL_COUNT + 1; /* no table shows so high a rank */
}

void kernels_draw(Sheet *sheet, Area area, const PanelData *data) {
    Ladder ladder = ladder_of(data->state, data->live);
    enum { HEADS = 2 }; /* rows of the title and of the columns' names */
    int shown[LIVE_MAX_KERNELS], rows = choose_rows(&ladder, data, area.h - HEADS, shown);
    draw_title(sheet, &area, data, &ladder, rows);
    if (!ladder.count) {
        sheet_line(sheet, area, cell_style(INK_MUTED), "the kernels follow");
        return;
    }
    Table table;
    Column wanted[COL_COUNT];
    memcpy(wanted, columns, sizeof wanted);
    if (area.w < NARROW) /* the median is more important than the end of a name */
        wanted[COL_KERNEL].width -= NARROW - area.w;
    if (sheet->pixels) { /* where bars are exact they say the most */
        wanted[COL_BAR].rank = 1;
        wanted[COL_BAR].width = area.w >= WIDE ? WIDE_BAR : wanted[COL_BAR].width;
        wanted[COL_SPEEDUP].rank = 2;
    }
    drop_empty_columns(sheet, area, data, &ladder, shown, rows, wanted);
    table_begin(&table, sheet, area, wanted, COL_COUNT, topics);
    for (int i = 0; i < rows; i++)
        draw_row(&table, area, data, &ladder, shown[i]);
}

/* ---- the stages of a frame ------------------------------------------------------------------- */

static const struct {
    Ink ink;
    uint32_t texture;
} looks[STAGE_COUNT] = {
    [STAGE_FEATURES] = {INK_FEATURES, 0x2588}, [STAGE_MAP] = {INK_INDEX, 0x2592},
    [STAGE_ENCODE] = {INK_DEPTH, 0x2593},      [STAGE_UPLOAD] = {INK_RULE, 0x2591},
    [STAGE_POOL] = {INK_ACCENT, 0x2588},       [STAGE_READ] = {INK_MUTED, 0x2592},
    [STAGE_DRAW] = {INK_OUTPUT, 0x2593},
};

/* The order of the legend. Pooling comes first, since later entries may have no room. */
static const Stage legend_order[STAGE_COUNT] = {
    STAGE_POOL, STAGE_MAP, STAGE_FEATURES, STAGE_DRAW, STAGE_READ, STAGE_ENCODE, STAGE_UPLOAD};

/* Returns a stage's name and time. A map made for this frame is compared with the pooling. */
static ShortText stage_text(const LiveData *live, Stage stage) {
    const Reading *us = &live->stages_us[stage], *pool = &live->stages_us[STAGE_POOL];
    ShortText text =
        short_text("%s %s%s", stage_names[stage], reading_text(UNIT_US, us).text, reading_mark(us));
    const bool made_map = stage == STAGE_MAP && !us->stale;
    const bool pooled = pool->source && !pool->stale && pool->value > 0;
    if (made_map && pooled)
        text_add(text.text, sizeof text.text, ", %.1f x pool", us->value / pool->value);
    return text;
}

/* Puts an entry of the legend into the row, or into the next row where the entry has no room.
 * `stage` gives the colour; STAGE_COUNT: none. */
static void put_entry(Sheet *sheet, Area *row, Area *below, Stage stage, const char *text) {
    const bool colored = stage < STAGE_COUNT;
    const int width = sheet_width(sheet, text);
    if (width + (colored ? 2 : 0) > row->w)
        *row = area_row(below);
    if (colored)
        sheet_key(sheet, row, looks[stage].ink, looks[stage].texture);
    sheet_line(sheet, *row, cell_style(colored ? INK_TEXT : INK_MUTED), text);
    area_columns(row, width + 2);
}

/* Draws each known stage with its time, then the time from key to picture. */
static void draw_legend(Sheet *sheet, Area area, const PanelData *data) {
    const Pace *pace = &data->state->pace;
    Area row = area_row(&area);
    for (int i = 0; i < STAGE_COUNT; i++)
        if (data->live->stages_us[legend_order[i]].source)
            put_entry(sheet, &row, &area, legend_order[i],
                      stage_text(data->live, legend_order[i]).text);
    const ShortText key =
        short_text("key to picture %s, p99 %s", reading_text(UNIT_US, &pace->key_us).text,
                   reading_text(UNIT_US, &pace->key_p99_us).text);
    if (pace->keys)
        put_entry(sheet, &row, &area, STAGE_COUNT, key.text);
}

/* Whether any stage has a time. Scripts have no clock, and so no times. */
bool pipeline_shown(const PanelData *data) {
    bool known = false;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        known |= data->live->stages_us[stage].source != SOURCE_UNKNOWN;
    return known;
}

void pipeline_draw(Sheet *sheet, Area area, const PanelData *data) {
    Segment segments[STAGE_COUNT];
    double total = 0;
    bool some_stale = false;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const Reading *us = &data->live->stages_us[stage];
        bool counts = us->source && !us->stale; /* a stale stage did not run for this frame */
        segments[stage] = (Segment){counts ? us->value : 0, looks[stage].ink, looks[stage].texture};
        total += segments[stage].value;
        some_stale |= us->stale;
    }
    const BevKernel *stand_in = data->live->stand_in;
    const ShortText note =
        short_text("%s a frame%s%s%s", text_of_figure(UNIT_US, total).text,
                   some_stale ? ", ! stale: not counted" : "", stand_in ? ", pooled by " : "",
                   stand_in ? stand_in->title : "");
    area = sheet_title(sheet, area, "Pipeline, features to pixels", note.text);
    sheet_stack(sheet, area_row(&area), segments, STAGE_COUNT, total, NAN);
    draw_legend(sheet, area, data);
}
