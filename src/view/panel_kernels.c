/* One row a rung: how long it takes, against the baseline and against the machine. */
#include "src/view/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    COL_NUMBER,
    COL_KERNEL,
    COL_MEDIAN,
    COL_MARK,
    COL_SPEEDUP,
    COL_BAR,
    COL_P95,
    COL_P99,
    COL_TREND,
    COL_GBPS,
    COL_CEILING,
    COL_REGISTERS,
    COL_BITS,
    COL_COUNT
};

static const Column columns[COL_COUNT] = {
    [COL_NUMBER] = {"", 2, 0, false},          [COL_KERNEL] = {"kernel", 13, 0, true},
    [COL_MEDIAN] = {"median", 8, 0, false},    [COL_MARK] = {"", 1, 0, true},
    [COL_SPEEDUP] = {"speed-up", 8, 1, false}, [COL_BAR] = {"less is better", 14, 2, true},
    [COL_P95] = {"p95", 8, 5, false},          [COL_P99] = {"p99", 8, 4, false},
    [COL_TREND] = {"trend", 10, 6, true},      [COL_GBPS] = {"GB/s", 6, 3, false},
    [COL_CEILING] = {"ceiling", 7, 7, false},  [COL_REGISTERS] = {"regs", 4, 8, false},
    [COL_BITS] = {"bits", 6, 9, true},
};

static Ink row_ink(const Show *show, const LiveKernel *kernel) {
    if (kernel->variant == show->state->job.choice.variant)
        return INK_ACCENT;
    if (kernel->variant == show->state->job.baseline.variant)
        return INK_BASELINE;
    return kernel->skipped ? INK_MUTED : INK_TEXT;
}

static double slowest(const LiveData *live) {
    double max = 0;
    for (int i = 0; i < live->kernel_count; i++)
        if (live->kernels[i].median_us.source)
            max = fmax(max, live->kernels[i].median_us.value);
    return max;
}

static void cell_reading(Table *table, Cells *cells, int column, Unit unit,
                         const Reading *reading) {
    char text[32];
    reading_text(unit, reading, text, sizeof text);
    table_cell(table, cells, column, text);
}

/* A bare number; its unit stands over the column. */
static void cell_number(Table *table, Cells *cells, int column, const char *format, double value) {
    char text[32] = "n/a";
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    table_cell(table, cells, column, text);
}

static double value_of(const Reading *reading) {
    return reading->source ? reading->value : NAN;
}

static void draw_figures(Table *table, Cells *cells, const Show *show, const LiveKernel *kernel) {
    const LiveData *live = show->live;
    double median = value_of(&kernel->median_us);
    cell_reading(table, cells, COL_MEDIAN, UNIT_US, &kernel->median_us);
    const char *mark = reading_mark(&kernel->median_us);
    table_cell(table, cells, COL_MARK, kernel->unsettled && !mark[0] ? "?" : mark);
    double speedup = value_of(&live->baseline_us) / median;
    cell_number(table, cells, COL_SPEEDUP, speedup < 9.95 ? "%.2f\u00d7" : "%.1f\u00d7", speedup);
    cell_reading(table, cells, COL_P95, UNIT_US, &kernel->p95_us);
    cell_reading(table, cells, COL_P99, UNIT_US, &kernel->p99_us);
    double gbps = value_of(&kernel->effective_gbps);
    cell_number(table, cells, COL_GBPS, "%.0f", gbps);
    cell_number(table, cells, COL_CEILING, "%.0f %%",
                100 * gbps / value_of(&live->device.ceiling_gbps));
    cell_number(table, cells, COL_REGISTERS, "%.0f", value_of(&kernel->registers));
    if (table_has(table, COL_BAR) && isfinite(median))
        draw_bar(cells, table->x[COL_BAR], table->y, columns[COL_BAR].width, median, slowest(live),
                 table->style.ink == INK_TEXT ? INK_RULE : table->style.ink);
    if (table_has(table, COL_TREND))
        draw_sparkline(cells, table->x[COL_TREND], table->y, columns[COL_TREND].width,
                       kernel->history_us, kernel->history_count, table->style.ink);
}

static void draw_row(Table *table, Cells *cells, Area area, const Show *show, int number) {
    const LiveKernel *kernel = &show->live->kernels[number];
    bool selected = kernel->variant == show->state->job.choice.variant;
    char text[64];
    if (selected)
        cells_erase(cells, (Area){area.x, table->y, area.w, 1}, INK_SELECTED);
    table->style =
        (CellStyle){.ink = row_ink(show, kernel), .attributes = selected ? CELL_BOLD : 0};
    snprintf(text, sizeof text, selected && !cells->color ? ">%d" : "%d", number + 1);
    table_cell(table, cells, COL_NUMBER, text);
    table_cell(table, cells, COL_KERNEL, kernel->variant->title);
    if (kernel->skipped) {
        int x = table->x[COL_MEDIAN], w = area.x + area.w - x;
        cells_text(cells, x, table->y, w, table->style,
                   cells_width(kernel->skipped) <= w ? kernel->skipped : "not for this problem");
    } else {
        draw_figures(table, cells, show, kernel);
        const char *bits = kernel->variant->wrong_on_purpose ? "wrong"
                           : kernel->variant->deterministic  ? "same"
                                                             : "vary";
        table_cell(table, cells, COL_BITS, bits);
    }
    table->y++;
}

/* Explains the marks that are on the screen, and only those. */
static void make_note(const LiveData *live, char *note, size_t size) {
    bool seen[4] = {0}; /* measured, recorded, stale, unsettled */
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *kernel = &live->kernels[i];
        const char *mark = reading_mark(&kernel->median_us);
        seen[0] |= kernel->median_us.source == SOURCE_MEASURED;
        seen[1] |= mark[0] == 'r';
        seen[2] |= mark[0] == '~';
        seen[3] |= kernel->unsettled && kernel->median_us.source && !mark[0];
    }
    snprintf(note, size, "%s%s%s%s",
             seen[0]   ? "measured"
             : seen[1] ? ""
                       : "not measured",
             seen[1] ? (seen[0] ? ", r recorded" : "r recorded") : "", seen[2] ? ", ~ stale" : "",
             seen[3] ? ", ? unsettled" : "");
}

static int kernels_want(const Show *show, int width) {
    (void)width;
    return 2 + (show->live->kernel_count > 0 ? show->live->kernel_count : 1);
}

static int row_of(const LiveData *live, const BevVariant *variant) {
    for (int i = 0; i < live->kernel_count; i++)
        if (live->kernels[i].variant == variant)
            return i;
    return 0;
}

/* Where not all rows fit: those around the selection, and the baseline above or below them. */
static int visible_rows(const Show *show, int room, int shown[LIVE_MAX_KERNELS]) {
    int count = show->live->kernel_count, rows = room < count ? room : count;
    int first = row_of(show->live, show->state->job.choice.variant) - rows / 2;
    first = first > count - rows ? count - rows : first < 0 ? 0 : first;
    for (int i = 0; i < rows; i++)
        shown[i] = first + i;
    int baseline = row_of(show->live, show->state->job.baseline.variant);
    if (rows > 1 && baseline < first)
        shown[0] = baseline;
    else if (rows > 1 && baseline >= first + rows)
        shown[rows - 1] = baseline;
    return rows;
}

static void kernels_draw(Cells *cells, Area area, const Show *show) {
    char note[96], title[96];
    make_note(show->live, note, sizeof note);
    const Choice *choice = &show->state->job.choice;
    snprintf(title, sizeof title, "Kernels, %s %s", bev_dtypes[choice->dtype].title,
             bev_aligns[choice->align].name);
    /* The marks need their explanation more than the unmarked figures do. */
    const char *marks = strchr(note, ',');
    bool too_long = marks && cells_width(title) + cells_width(note) + 4 > area.w;
    area = panel_title(cells, area, title, too_long ? marks + 2 : note);
    if (!show->live->kernel_count) {
        cells_text(cells, area.x, area.y, area.w, cell_style(INK_MUTED), "n/a");
        return;
    }
    Table table;
    table_begin(&table, cells, area, columns, COL_COUNT);
    int shown[LIVE_MAX_KERNELS], rows = visible_rows(show, area.h - 1, shown);
    for (int i = 0; i < rows; i++)
        draw_row(&table, cells, area, show, shown[i]);
}

const DashPanel kernels_panel = {"kernels", 5, 5, kernels_want, kernels_draw};
