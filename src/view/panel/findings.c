/* SPDX-License-Identifier: MIT */
/* What to do next: the findings of the memory model about the selection, the largest gain first. */
#include "src/state/keys.h"
#include "src/state/live_text.h"
#include "src/view/panel/panel.h"

#include <stdio.h>

enum { NUMBER_W = 3, ENTER_W = 7, GAIN_W = 8, MORE_W = 12, MORE_FROM_W = 60 };

/* Enter takes the first one, a click any. */
static void draw_advice(Sheet *sheet, Area row, const Advice *advice, int number) {
    const Command *command = &advice->command;
    const Finding *finding = &advice->finding;
    char text[32];
    const bool wide = row.w >= MORE_FROM_W;
    int more = wide ? MORE_W : 0, number_w = wide ? ENTER_W : NUMBER_W;
    int x = row.x + number_w, w = row.w - number_w - GAIN_W - more;
    sheet_spot(sheet, row, command->action, 0, command->argument);
    snprintf(text, sizeof text, "%d", number);
    sheet_text(sheet, row.x, row.y, number_w, cell_style(number == 1 ? INK_ACCENT : INK_MUTED),
               number == 1 && wide ? "Enter" : text);
    sheet_text(sheet, x, row.y, w, cell_style(INK_TEXT), finding->advice);
    snprintf(text, sizeof text, "%.1f \u00d7", finding->gain);
    sheet_right(sheet, x + w, row.y, GAIN_W, cell_bold(INK_TEXT), text);
    sheet_right(sheet, x + w + GAIN_W, row.y, more, cell_style(INK_MUTED),
                command->action == ACTION_KERNEL ? "tries it" : "its lesson");
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Advice advice[FINDINGS_MAX];
    const int count = live_advice(data->state, data->live, advice);
    char on[128], note[160];
    prediction_gpu(data->state, on, sizeof on);
    snprintf(note, sizeof note, "estimated gain, model of %s", on);
    area = sheet_title(sheet, area, "What to do next", note);
    for (int i = 0; i < count && i < area.h; i++)
        draw_advice(sheet, (Area){area.x, area.y + i, area.w, 1}, &advice[i], i + 1);
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   data->live->model ? "no cost stands out: compare formats (d)"
                                     : "findings follow");
}
