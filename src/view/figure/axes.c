/* The axes of a panel: ticks on all four sides, numbers to the left and below, titles that name
 * the direction. */
#include "src/view/figure/figure_internal.h"
#include "src/view/draw/ticks.h"

#include <math.h>

enum { TICK = 5, LABEL_GAP = 5, LABEL_SPACE = 34, TITLE_SPACE = 24, PX_PER_TICK = 80 };

static TextStyle tick_style(const Pen *pen) {
    return (TextStyle){.size = SIZE_SMALL, .color = pen->theme->muted};
}

double axes_left(const Figure *figure, bool labelled) {
    return figure->band + TICK + (labelled ? LABEL_GAP + LABEL_SPACE + TITLE_SPACE : 0);
}

double axes_bottom(const Figure *figure) {
    return figure->band + TICK + LABEL_GAP + SIZE_SMALL + 6 + SIZE_SMALL + 6;
}

static int tick_target(double pixels) {
    int target = (int)(pixels / PX_PER_TICK);
    return target < 1 ? 1 : target > 12 ? 12 : target;
}

static void ticks_x(Pen *pen, const Figure *figure, const Panel *panel, bool labelled) {
    const Grid *grid = &figure->grid;
    double left = panel->box.x - figure->band, right = panel->box.x + panel->box.w + figure->band;
    Ticks ticks = ticks_linear(grid->x_min_m, grid->x_max_m, tick_target(panel->box.h));
    TextStyle style = tick_style(pen);
    style.align = ALIGN_RIGHT;
    for (int i = 0; i < ticks.count; i++) {
        double px, py;
        panel_point(figure, panel, ticks.at[i], 0, &px, &py);
        pen_line(pen, left - TICK, py, left, py, pen->theme->muted, 1, 1);
        pen_line(pen, right, py, right + TICK, py, pen->theme->muted, 1, 1);
        if (labelled)
            pen_text(pen, left - TICK - LABEL_GAP, py + 0.35 * SIZE_SMALL, LABEL_SPACE, &style,
                     ticks.label[i]);
    }
}

static void ticks_y(Pen *pen, const Figure *figure, const Panel *panel) {
    const Grid *grid = &figure->grid;
    double top = panel->box.y - figure->band, bottom = panel->box.y + panel->box.h + figure->band;
    Ticks ticks = ticks_linear(grid->y_min_m, grid->y_max_m, tick_target(panel->box.w));
    TextStyle style = tick_style(pen);
    style.align = ALIGN_CENTER;
    for (int i = 0; i < ticks.count; i++) {
        double px, py;
        panel_point(figure, panel, 0, ticks.at[i], &px, &py);
        pen_line(pen, px, top - TICK, px, top, pen->theme->muted, 1, 1);
        pen_line(pen, px, bottom, px, bottom + TICK, pen->theme->muted, 1, 1);
        pen_text(pen, px, bottom + TICK + LABEL_GAP + 0.8 * SIZE_SMALL, PX_PER_TICK, &style,
                 ticks.label[i]);
    }
}

void axes_draw(Pen *pen, const Figure *figure, const Panel *panel, bool labelled) {
    bool metres = figure->spec->rig != NULL;
    ticks_x(pen, figure, panel, labelled);
    ticks_y(pen, figure, panel);
    TextStyle style = tick_style(pen);
    style.align = ALIGN_CENTER;
    style.color = pen->theme->text;
    double bottom = panel->box.y + panel->box.h + axes_bottom(figure) - 0.3 * SIZE_SMALL;
    pen_text(pen, panel->box.x + panel->box.w / 2, bottom, fmax(panel->box.w, 110), &style,
             metres ? "\u2190 y left (m)" : "\u2190 y (cells)");
    if (!labelled)
        return;
    style.turn = TURN_UP;
    pen_text(pen, panel->box.x - axes_left(figure, true) + SIZE_SMALL,
             panel->box.y + panel->box.h / 2, fmax(panel->box.h, 110), &style,
             metres ? "x forward (m) \u2192" : "x (cells) \u2192");
}
