/* The error of each number format, and whether the selected kernel passes the gates in it. */
#include "src/state/live_text.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
enum {
    COL_DTYPE, COL_A, COL_B, COL_C, COL_MAX, COL_REL, COL_COSINE, COL_SPECIAL, COL_WORST, COL_ATOL,
    COL_COUNT
};
/* clang-format on */

static const Column columns[COL_COUNT] = {
    [COL_DTYPE] = {"", 6, 0, true},
    [COL_A] = {"A kernel", 8, 0, true},
    [COL_B] = {"B format", 8, 0, true},
    [COL_C] = {"C exact", 7, 0, true},
    [COL_MAX] = {"max abs", 7, 1, false},
    [COL_REL] = {"rel L2", 7, 3, false},
    [COL_COSINE] = {"cosine", 8, 4, false},
    [COL_SPECIAL] = {"NaN+Inf", 7, 5, false},
    [COL_WORST] = {"worst cell", 10, 6, false},
    [COL_ATOL] = {"at 1e-2", 7, 2, true},
};

static const struct {
    const char *text;
    Ink ink;
} verdicts[] = {[LIVE_UNKNOWN] = {"n/a", INK_MUTED},
                [LIVE_PASS] = {"pass", INK_GOOD},
                [LIVE_FAIL] = {"FAIL", INK_BAD},
                [LIVE_SKIP] = {"skip", INK_MUTED}};

static void verdict_cell(Table *table, int column, LiveVerdict verdict) {
    CellStyle style = table->style;
    table->style.ink = verdicts[verdict].ink;
    if (verdict == LIVE_FAIL)
        table->style.attributes |= CELL_BOLD;
    table_cell(table, column, verdicts[verdict].text);
    table->style = style;
}

/* Not a gate: formats of few bits are above it in a healthy program. */
static void tolerance_cell(Table *table, LiveVerdict verdict) {
    CellStyle style = table->style;
    table->style.ink = verdict == LIVE_FAIL ? INK_WARN : verdicts[verdict].ink;
    table_cell(table, COL_ATOL, verdict == LIVE_FAIL ? "above" : verdicts[verdict].text);
    table->style = style;
}

static void error_cell(Table *table, int column, double value) {
    char text[32];
    unit_text(UNIT_ERROR, value, text, sizeof text);
    table_cell(table, column, text);
}

static void draw_figures(Table *table, const PanelData *data, const LiveAccuracy *accuracy) {
    char text[48];
    error_cell(table, COL_MAX, accuracy->max_abs);
    error_cell(table, COL_REL, accuracy->rel_l2);
    snprintf(text, sizeof text, isfinite(accuracy->cosine) ? "%.6f" : "n/a", accuracy->cosine);
    table_cell(table, COL_COSINE, text);
    snprintf(text, sizeof text, "%lld", (long long)(accuracy->nan_count + accuracy->inf_count));
    table_cell(table, COL_SPECIAL, text);
    int64_t nx = data->state->scene.nx;
    if (accuracy->output)
        snprintf(text, sizeof text, "%s", accuracy->output);
    else if (accuracy->worst_cell >= 0 && nx > 0)
        snprintf(text, sizeof text, "%s", state_cell_place(data->state, accuracy->worst_cell).text);
    else
        snprintf(text, sizeof text, "none");
    table_cell(table, COL_WORST, text);
}

static void draw_row(Table *table, Area area, const PanelData *data, BevDtype dtype) {
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const KernelConfig *config = &data->state->job.config;
    bool selected = dtype == config->dtype;
    if (selected)
        sheet_paper(table->sheet, (Area){area.x, table->y, area.w, 1}, INK_SELECTED);
    sheet_spot(table->sheet, (Area){area.x, table->y, area.w, 1}, ACTION_DTYPE, 0,
               bev_dtypes[dtype].name);
    table->style = (CellStyle){.ink = selected ? INK_ACCENT : INK_TEXT,
                               .attributes = selected ? CELL_BOLD : 0};
    char name[32];
    table->sheet->origin.dtype = dtype;
    snprintf(name, sizeof name, "%s%s", bev_dtypes[dtype].title, accuracy->stale ? "~" : "");
    table_cell(table, COL_DTYPE, name);
    const LiveKernel *row = live_kernel(data->live, config->kernel);
    bool supported = config->kernel->dtypes >> dtype & 1;
    if (!supported || accuracy->source == SOURCE_UNKNOWN) {
        table->style.ink = INK_MUTED;
        sheet_text(table->sheet, table->x[COL_A], table->y, area.x + area.w - table->x[COL_A],
                   table->style, unknown_reason(UNKNOWN_ACCURACY, data->live, row, dtype));
    } else {
        verdict_cell(table, COL_A, accuracy->gate_a);
        verdict_cell(table, COL_B, accuracy->gate_b);
        verdict_cell(table, COL_C, accuracy->gate_c);
        draw_figures(table, data, accuracy);
        tolerance_cell(table, accuracy->atol_1e2);
    }
    table->y++;
}

static int accuracy_want(Sheet *sheet, const PanelData *data, int width) {
    (void)sheet, (void)data, (void)width;
    return 2 + BEV_DTYPE_COUNT;
}

static void accuracy_draw(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    char title[96];
    snprintf(title, sizeof title, "Accuracy of %s, %s%s", config->kernel->title,
             bev_aligns[config->align].name, kernel_way(config->kernel));
    const LiveAccuracy *accuracy = &data->live->accuracy[config->dtype];
    char note[128];
    bool backward = config->kernel->direction == BEV_BACKWARD;
    const char *stale = accuracy->stale ? ", ~ stale" : "";
    if (!accuracy->source)
        snprintf(note, sizeof note, "not checked");
    else if (backward)
        snprintf(note, sizeof note, "%s against FP64%s", source_names[accuracy->source], stale);
    else
        snprintf(note, sizeof note, "scales %s, %s%s",
                 scales_name(data->state, data->live->job.scales), source_names[accuracy->source],
                 stale);
    sheet->origin.dtype = config->dtype;
    area = sheet_title(sheet, area, title, note);
    Table table;
    Column shown[COL_COUNT];
    memcpy(shown, columns, sizeof shown);
    if (backward)
        shown[COL_WORST].title = "worst in";
    table_begin(&table, sheet, area, shown, COL_COUNT);
    /* Where not all formats fit: those around the selected one. */
    int rows = area.h - 1 < BEV_DTYPE_COUNT ? area.h - 1 : BEV_DTYPE_COUNT;
    int first = (int)config->dtype - rows / 2;
    first = first > BEV_DTYPE_COUNT - rows ? BEV_DTYPE_COUNT - rows : first < 0 ? 0 : first;
    for (int dtype = first; dtype < first + rows; dtype++)
        draw_row(&table, area, data, (BevDtype)dtype);
}

const Panel accuracy_panel = {.origin = ORIGIN_ERROR,
                              .menu = "dtype ",
                              .point = PANEL_ACCURACY,
                              .fold = 3,
                              .grow = 2,
                              .height = 3,
                              .want = accuracy_want,
                              .draw = accuracy_draw};
