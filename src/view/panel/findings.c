/* SPDX-License-Identifier: MIT */
/* What to do next: the findings of the memory model about the selection, the largest gain first. */
#include "src/state/keys.h"
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { KEY_W = 6, WORD_W = 14, GAIN_W = 8, OTHER_W = 10, MORE_W = 20, MORE_FROM_W = 76 };

/* Draws a finding. Enter opens the first one, a click any. Where there is room, others say their
 * word. */
static void draw_advice(Sheet *sheet, Area row, const Advice *advice, bool first) {
    const Command *command = &advice->command;
    const Finding *finding = &advice->finding;
    char text[64];
    const bool wide = row.w >= MORE_FROM_W;
    const int more = wide ? MORE_W : 0, key_w = wide ? WORD_W : KEY_W;
    const int gain_w = advice->of ? OTHER_W : GAIN_W;
    int x = row.x + key_w, w = row.w - key_w - gain_w - more;
    sheet_spot(sheet, row, command->action, 0, command->argument);
    snprintf(text, sizeof text, ":%s %s", keys[command->action].word, command->argument);
    sheet_text(sheet, row.x, row.y, key_w, cell_style(first ? INK_ACCENT : INK_MUTED),
               first                                      ? "Enter"
               : wide && sheet_width(sheet, text) < key_w ? text
                                                          : "click");
    snprintf(text, sizeof text, "%s", finding->advice);
    if (sheet_width(sheet, text) > w)
        text[strcspn(text, "(")] = '\0';
    sheet_text(sheet, x, row.y, w, cell_style(INK_TEXT), text);
    snprintf(text, sizeof text, "%s%s%s%.1f \u00d7", advice->of ? advice->of : "",
             advice->of ? " " : "", advice->estimate ? "~" : "", finding->gain);
    sheet_right(sheet, x + w, row.y, gain_w, cell_bold(INK_TEXT), text);
    sheet_right(sheet, x + w + gain_w, row.y, more, cell_style(INK_MUTED),
                command->action == ACTION_EXPLAIN ? "a lesson; Esc: back" : "tries it");
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Advice advice[FINDINGS_MAX + 1];
    const int count = live_advice(data->state, data->live, advice);
    char note[160];
    snprintf(note, sizeof note, "estimated gain, model of %s", prediction_gpu(data->state).text);
    area = sheet_title(sheet, area, "What to do next", note);
    for (int i = 0; i < count && i < area.h; i++)
        draw_advice(sheet, (Area){area.x, area.y + i, area.w, 1}, &advice[i], i == 0);
    const MemoryModel *model = data->live->model;
    const KernelConfig *config = &data->state->job.config;
    bool known = model && model->dtype == config->dtype && model->align == config->align;
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   known ? "no cost stands out: compare formats (d)" : "findings follow");
}
