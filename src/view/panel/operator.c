/* SPDX-License-Identifier: MIT */
/* An operator scene, in the place of cameras: its description, and the bars of its cells or
 * rows. */
#include "src/view/panel/panel.h"

#include <stdlib.h>

void operator_draw(Sheet *sheet, Area area, const PanelData *data) {
    const OperatorSpec *spec = &data->state->scene.operator_spec;
    const OperatorBars *bars = data->live->frame.bars;
    char text[160];
    area = sheet_title(sheet, area, "No cameras", operator_kinds[spec->kind].title);
    operator_describe(spec, text, sizeof text);
    int rows = sheet_paragraph_rows(sheet, area, INK_TEXT, text);
    if (rows < area.h || !bars)
        sheet_paragraph(sheet, area, INK_TEXT, text);
    area = area_below(area, rows);
    if (!bars || area.h < 1)
        return;
    operator_bars_title(spec, bars, text, sizeof text);
    if (area.h > 2 && sheet_width(sheet, text) <= area.w) {
        sheet_line(sheet, area, cell_style(INK_MUTED), text);
        area = area_below(area, 1);
    }
    double *heights = malloc((size_t)bars->count * sizeof *heights);
    for (int i = 0; heights && i < bars->count; i++)
        heights[i] = operator_bar_height(bars, i);
    if (heights)
        sheet_bars(sheet, area, heights, bars->count, INK_ACCENT);
    free(heights);
}
