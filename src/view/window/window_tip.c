/* SPDX-License-Identifier: MIT */
/* Draws the tooltip of the window: a box beside the thing under the mouse. */
#include "src/view/panel/pen_sheet.h"
#include "src/view/window/window_image.h"

#include <math.h>
#include <string.h>

enum { TIP_W = 420, TIP_PAD = 8, TIP_ROW = 17, TIP_ROWS = 12, PARTS = 4 };

/* Draws the texts of the tip and returns their rows. A quiet sheet only counts the rows. */
static int draw_texts(Sheet *sheet, const Tip *tip) {
    const struct {
        const char *text;
        Ink ink;
    } parts[PARTS] = {{tip->title, INK_ACCENT},
                      {tip->help, INK_TEXT},
                      {tip->meaning, INK_MUTED},
                      {tip->source, INK_TEXT}};
    int row = 0;
    for (int i = 0; i < PARTS; i++) {
        Area area = {0, row, sheet->columns, TIP_ROWS};
        if (parts[i].text[0])
            row += sheet_paragraph(sheet, area, parts[i].ink, parts[i].text);
    }
    return row;
}

/* Places the tooltip below the outline, or above it near the picture's lower edge. */
Box window_tip_place(Pen *pen, const Tip *tip, double w, double h) {
    double width = fmin(TIP_W, w - 2 * TIP_PAD);
    Sheet sheet = pen_sheet(pen, (Box){0, 0, width - 2 * TIP_PAD, h}, TIP_ROW, NULL);
    Sheet quiet = sheet_quiet(&sheet);
    Box box = {tip->box.x, tip->box.y + tip->box.h + 6, width, 0};
    box.h = draw_texts(&quiet, tip) * TIP_ROW + 2 * TIP_PAD;
    if (box.y + box.h > h)
        box.y = fmax(0, tip->box.y - box.h - 6);
    box.x = fmax(0, fmin(box.x, w - width));
    return box;
}

void window_tip_draw(Pen *pen, Box box, const Tip *tip) {
    Box in = {box.x + TIP_PAD, box.y + TIP_PAD, box.w - 2 * TIP_PAD, box.h - 2 * TIP_PAD};
    pen_fill(pen, box, pen->theme->page, 1);
    pen_frame(pen, (Box){box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1}, pen->theme->muted, 1, 1);
    Sheet sheet = pen_sheet(pen, in, TIP_ROW, NULL);
    draw_texts(&sheet, tip);
}
