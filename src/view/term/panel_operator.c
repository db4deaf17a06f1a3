/* Of an operator scene, in the place of cameras: that there are none, and the bars of its cells or
 * rows. */
#include "src/view/term/panel.h"

#include <math.h>

static bool operator_shown(const PanelData *data) {
    return data->state->scene.has_operator;
}

static int operator_want(const PanelData *data, int width) {
    (void)data, (void)width;
    return 8;
}

/* The height of column x of `columns`: the highest bar of those that share it. */
static double column_height(const OperatorBars *bars, int x, int columns) {
    int first = bars->count * x / columns, end = bars->count * (x + 1) / columns;
    double height = operator_bar_height(bars, first);
    for (int bar = first + 1; bar < end; bar++)
        height = fmax(height, operator_bar_height(bars, bar));
    return height;
}

/* Eighths of a sign, and on screens without colour signs of ASCII. */
static void draw_columns(Cells *cells, Area area, const OperatorBars *bars) {
    enum { EIGHTHS = 8 };
    for (int x = 0; x < area.w; x++) {
        double height = column_height(bars, x, area.w);
        int level = (int)ceil(height * area.h * EIGHTHS);
        for (int y = area.h - 1; y >= 0 && level > 0; y--, level -= EIGHTHS)
            cells_put(cells, area.x + x, area.y + y,
                      0x2580 + (uint32_t)(level < EIGHTHS ? level : EIGHTHS),
                      cell_style(INK_ACCENT));
    }
}

static void operator_draw(Cells *cells, Area area, const PanelData *data) {
    const OperatorSpec *spec = &data->state->scene.operator_spec;
    const OperatorBars *bars = data->live->frame.bars;
    char text[160];
    area = panel_title(cells, area, "No cameras", operator_kinds[spec->kind].title);
    operator_describe(spec, text, sizeof text);
    int rows = draw_paragraph(NULL, area, INK_TEXT, text);
    if (rows < area.h || !bars)
        draw_paragraph(cells, area, INK_TEXT, text);
    area.y += rows;
    area.h -= rows;
    if (!bars || area.h < 1)
        return;
    operator_bars_title(spec, bars, text, sizeof text);
    if (area.h > 2 && cells_width(text) <= area.w) {
        cells_text(cells, area.x, area.y++, area.w, cell_style(INK_MUTED), text);
        area.h--;
    }
    draw_columns(cells, area, bars);
}

const DashPanel operator_panel = {.point = PANEL_STRIP,
                                  .fold = 6,
                                  .grow = 2,
                                  .height = 6,
                                  .want = operator_want,
                                  .shown = operator_shown,
                                  .draw = operator_draw};
