/* SPDX-License-Identifier: MIT */
/* What to do next: the findings of the memory model about the selection, the largest gain first. */
#include "src/state/keys.h"
#include "src/state/live_text.h"
#include "src/view/panel/panel.h"

#include <stdio.h>

enum { NUMBER_W = 3, GAIN_W = 8, MORE_W = 12, MORE_FROM_W = 60 };

/* A click tries a faster kernel, or opens the lesson of a cost. */
static void draw_finding(Sheet *sheet, Area row, const PanelData *data, const Finding *finding,
                         int number, int shown) {
    const BevKernel *try =
        finding->faster ? bev_counterpart(finding->faster, state_where(data->state)) : NULL;
    char text[32];
    int more = row.w < MORE_FROM_W ? 0 : MORE_W;
    int x = row.x + NUMBER_W, w = row.w - NUMBER_W - GAIN_W - more;
    snprintf(text, sizeof text, "%d", number);
    if (try)
        sheet_spot(sheet, row, ACTION_KERNEL, 0, kernel_word(try));
    else
        sheet_spot(sheet, row, ACTION_EXPLAIN, 0, text);
    snprintf(text, sizeof text, "%d", shown);
    sheet_text(sheet, row.x, row.y, NUMBER_W, cell_style(INK_MUTED), text);
    sheet_text(sheet, x, row.y, w, cell_style(INK_TEXT), finding->advice);
    snprintf(text, sizeof text, "%.1f \u00d7", finding->gain);
    sheet_right(sheet, x + w, row.y, GAIN_W, cell_bold(INK_TEXT), text);
    snprintf(text, sizeof text, "lesson %d", finding->lesson);
    sheet_right(sheet, x + w + GAIN_W, row.y, more, cell_style(INK_MUTED),
                try ? "click: try" : text);
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Finding findings[FINDINGS_MAX];
    int count = live_findings(data->state, data->live, findings), shown = 0;
    char on[128], note[160];
    prediction_gpu(data->state, on, sizeof on);
    snprintf(note, sizeof note, "estimated gain, model of %s", on);
    area = sheet_title(sheet, area, "What to do next", note);
    bool drawn[FINDINGS_MAX] = {false};
    for (int next = 0; next >= 0 && shown < area.h; shown++) { /* the largest gain first */
        next = -1;
        for (int i = 0; i < count; i++)
            if (!drawn[i] && findings[i].gain > (next < 0 ? 0 : findings[next].gain))
                next = i;
        if (next < 0)
            break;
        drawn[next] = true;
        draw_finding(sheet, (Area){area.x, area.y + shown, area.w, 1}, data, &findings[next],
                     next + 1, shown + 1);
    }
    if (!shown)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   data->live->model ? "no cost stands out: compare formats (d)"
                                     : "findings follow");
}
