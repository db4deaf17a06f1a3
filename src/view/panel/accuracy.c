/* SPDX-License-Identifier: MIT */
/* The error of each number format, and whether the selected kernel passes the gates in it. */
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
    [COL_DTYPE] = {"", 9, 0, true},
    [COL_A] = {"gate A", 6, 0, true},
    [COL_B] = {"gate B", 6, 0, true},
    [COL_C] = {"gate C", 6, 0, true},
    [COL_MAX] = {"max abs", 7, 1, false},
    [COL_REL] = {"rel L2", 7, 3, false},
    [COL_COSINE] = {"cosine", 8, 4, false},
    [COL_SPECIAL] = {"NaN+Inf", 7, 5, false},
    [COL_WORST] = {"worst cell", 10, 6, false},
    [COL_ATOL] = {"at 1e-2", 7, 2, true},
};

/* A verdict of a gate. NVIDIA's tolerance has no colours: healthy formats of few bits exceed it. */
static const struct {
    const char *gate, *tolerance;
    Ink ink;
} verdicts[] = {[LIVE_UNKNOWN] = {"", "skip", INK_MUTED},
                [LIVE_PASS] = {"pass", "within", INK_GOOD},
                [LIVE_FAIL] = {"FAIL", "above", INK_BAD},
                [LIVE_SKIP] = {"skip", "skip", INK_MUTED}};

static void verdict_cell(Table *table, int column, LiveVerdict verdict) {
    CellStyle style = table->style;
    table->style.ink = verdicts[verdict].ink;
    if (verdict == LIVE_FAIL)
        table->style.attributes |= CELL_BOLD;
    table_cell(table, column, verdicts[verdict].gate);
    table->style = style;
}

static void error_cell(Table *table, int column, double value) {
    table_cell(table, column, isnan(value) ? "" : text_of_unit(UNIT_ERROR, value).text);
}

static void draw_figures(Table *table, const PanelData *data, const LiveAccuracy *accuracy) {
    verdict_cell(table, COL_A, accuracy->gate_a);
    verdict_cell(table, COL_B, accuracy->gate_b);
    verdict_cell(table, COL_C, accuracy->gate_c);
    error_cell(table, COL_MAX, accuracy->max_abs);
    error_cell(table, COL_REL, accuracy->rel_l2);
    table_number(table, COL_COSINE, "%.6f", accuracy->cosine);
    table_number(table, COL_SPECIAL, "%.0f",
                 (double)(accuracy->nan_count + accuracy->inf_count + accuracy->left_out));
    const bool placed = accuracy->worst_cell >= 0 && data->state->scene.nx > 0;
    table_cell(table, COL_WORST,
               accuracy->output ? accuracy->output
               : placed         ? state_cell_place(data->state, accuracy->worst_cell).text
                                : "none");
    table_cell(table, COL_ATOL, verdicts[live_tolerance(accuracy)].tolerance);
}

/* Returns why the format has no figures. NULL: it has some. */
static const char *reason_of(const PanelData *data, BevDtype dtype) {
    const KernelConfig *config = &data->state->job.config;
    bool supported = config->kernel->dtypes >> dtype & 1;
    if (supported && data->live->accuracy[dtype].source != SOURCE_UNKNOWN)
        return NULL;
    return unknown_reason(UNKNOWN_ACCURACY, data->live, live_kernel(data->live, config->kernel),
                          dtype);
}

static void draw_row(Table *table, Area area, const PanelData *data, BevDtype dtype) {
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const char *reason = reason_of(data, dtype);
    const Area row = {area.x, table->y, area.w, 1};
    bool selected = dtype == data->state->job.config.dtype;
    if (selected)
        sheet_paper(table->sheet, row, INK_SELECTED);
    sheet_spot(table->sheet, row, ACTION_DTYPE, 0, bev_dtypes[dtype].name);
    table->style = (CellStyle){.ink = selected          ? INK_ACCENT
                                      : accuracy->stale ? INK_MUTED
                                                        : INK_TEXT,
                               .attributes = selected ? CELL_BOLD : 0};
    table->sheet->origin.dtype = dtype;
    table_cell(
        table, COL_DTYPE,
        short_text("%s%s", bev_dtypes[dtype].title, live_accuracy_mark(data->live, dtype)).text);
    if (reason) {
        table->style.ink = INK_MUTED;
        sheet_line(table->sheet, area_behind(row, table->x[COL_A] - row.x), table->style, reason);
    } else
        draw_figures(table, data, accuracy);
    table->y++;
}

/* Writes at which moment all rows are judged, and what the mark of a row means, if any has it. */
static ShortText marks_text(const PanelData *data) {
    const int dtype = data->state->job.config.dtype;
    const ShortText at = live_judged_text(&data->state->scene, &data->live->accuracy[dtype]);
    bool stale = false;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        stale |= !reason_of(data, (BevDtype)i) && live_accuracy_mark(data->live, (BevDtype)i)[0];
    return short_text("%s%s%s", at.text[0] ? ", " : "", at.text, stale ? ", ! stale" : "");
}

void accuracy_draw(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const FigureSource source = data->live->accuracy[config->dtype].source;
    const bool backward = config->kernel->direction == BEV_BACKWARD;
    const ShortText title = short_text("Accuracy of %s, %s%s", config->kernel->title,
                                       bev_aligns[config->align].name, kernel_way(config->kernel));
    const ShortText marks = marks_text(data);
    const ShortText by =
        short_text("scales %s, ", scales_name(data->state, data->live->job.scales));
    const ShortText note =
        !source ? short_text("not checked")
                : short_text("%s%s%s%s", backward ? "" : by.text, source_names[source],
                             backward ? " against FP64" : "", marks.text);
    sheet->origin.dtype = config->dtype;
    area = sheet_title(
        sheet, area, title.text,
        sheet_note(sheet, area, title.text, note.text, marks.text[0] ? marks.text + 2 : note.text));
    Table table;
    Column shown[COL_COUNT];
    memcpy(shown, columns, sizeof shown);
    if (backward)
        shown[COL_WORST].title = "worst in";
    table_begin(&table, sheet, area, shown, COL_COUNT, NULL);
    /* Where not all rows fit: those around the selected one. */
    int room = area.h - 1 < BEV_DTYPE_COUNT ? area.h - 1 : BEV_DTYPE_COUNT;
    int first = (int)config->dtype - room / 2;
    first = first > BEV_DTYPE_COUNT - room ? BEV_DTYPE_COUNT - room : first < 0 ? 0 : first;
    for (int i = first; i < first + room; i++)
        if (!data->still || !reason_of(data, (BevDtype)i)) /* a figure has rows with figures only */
            draw_row(&table, area, data, (BevDtype)i);
}
