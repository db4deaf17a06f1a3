/* SPDX-License-Identifier: MIT */
/* What to do next: the findings of the memory model about the selection, the largest gain first. */
#include "src/state/keys.h"
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { KEY_W = 6, WORD_W = 14, GAIN_W = 8, OTHER_W = 10, EFFECT_W = 18, SENTENCE_FROM_W = 76 };

/* Draws an advice: "Enter  an output in fewer bits: 1.6 times as fast  (opens a lesson)", or where
 * there is little room the gain in a column of its own. Enter opens the first one, a click any. */
static void draw_advice(Sheet *sheet, Area row, const Advice *advice, bool first) {
    const Command *command = &advice->command;
    const bool wide = row.w >= SENTENCE_FROM_W;
    const int key_w = wide ? WORD_W : KEY_W, gain_w = advice->of ? OTHER_W : GAIN_W;
    const ShortText word = short_text(":%s %s", keys[command->action].word, command->argument);
    sheet_spot(sheet, row, command->action, 0, command->argument);
    sheet_line(sheet, area_columns(&row, key_w), cell_style(first ? INK_ACCENT : INK_MUTED),
               first                                           ? "Enter"
               : wide && sheet_width(sheet, word.text) < key_w ? word.text
                                                               : "click");
    ShortText what = short_text("%s", advice->finding.advice);
    const ShortText gain = short_text(
        "%s%s%s%s%.1f %s", wide ? ": " : "", advice->of ? advice->of : "", advice->of ? " " : "",
        advice->estimate ? "~" : "", advice->finding.gain, wide ? "times as fast" : "\u00d7");
    char *aside = strstr(what.text, " (");
    const int room = row.w - (wide ? sheet_width(sheet, gain.text) : gain_w);
    if (aside && sheet_width(sheet, what.text) > room)
        *aside = '\0';
    Area advised = {row.x, row.y, room, 1};
    area_columns(&row, sheet_line(sheet, advised, cell_style(INK_TEXT), what.text));
    if (!wide)
        sheet_right(sheet, row, cell_bold(INK_TEXT), gain.text);
    else
        area_columns(&row, sheet_line(sheet, row, cell_bold(INK_TEXT), gain.text));
    if (wide && row.w >= EFFECT_W)
        sheet_right(sheet, row, cell_style(INK_MUTED),
                    command->action == ACTION_EXPLAIN ? "(opens a lesson)" : "(tries it)");
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Advice advice[FINDINGS_MAX + 1];
    const int count = live_advice(data->state, data->live, advice);
    area = sheet_title(
        sheet, area, "What to do next",
        short_text("estimated gain, model of %s", prediction_gpu(data->state).text).text);
    for (int i = 0; i < count && i < area.h; i++)
        draw_advice(sheet, (Area){area.x, area.y + i, area.w, 1}, &advice[i], i == 0);
    const MemoryModel *model = data->live->model;
    const KernelConfig *config = &data->state->job.config;
    bool known = model && model->dtype == config->dtype && model->align == config->align;
    if (!count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   known ? "no cost stands out: compare formats (d)" : "findings follow");
}
