/* The recorded steps in the place of the panels: the selection, and a pinned baseline beside it or
 * below it, where there is room. */
#include "src/view/term/panel.h"
#include "src/view/term/steps_page.h"

enum { TOTALS_H = 3, ROOMY = 24, SIDES_GAP = 2, SIDE_LEAST_W = 60, SIDE_LEAST_H = 13 };

static int steps_want(const PanelData *data, int width) {
    (void)data, (void)width;
    return 60;
}

static void side_draw(Cells *cells, Area area, const StepsView *view, int number) {
    int head = area.h < ROOMY ? 2 : 4, blank = area.h >= ROOMY;
    int top = steps_head_draw(cells, (Area){area.x, area.y, area.w, head}, view) + blank;
    Area step = {area.x, area.y + top, area.w, area.h - top - TOTALS_H - blank};
    int used = steps_step_draw(cells, step, view, number);
    steps_totals_draw(cells, (Area){area.x, step.y + used + blank, area.w, TOTALS_H}, view, number);
}

static void steps_draw(Cells *cells, Area area, const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    const LiveSteps *live = frame->steps;
    if (!live || !live->selection.step_count) {
        area = panel_title(cells, area, "Steps", "");
        draw_paragraph(cells, area, INK_MUTED, live ? live->error_text : "n/a: being recorded");
        return;
    }
    StepsView view = {&live->selection, frame->map, frame->features, frame->rig, live->cell};
    Area first = area, second = area;
    if (live->baseline.step_count && area.w >= 2 * SIDE_LEAST_W + SIDES_GAP) {
        first.w = second.w = (area.w - SIDES_GAP) / 2;
        second.x += area.w - second.w;
    } else if (live->baseline.step_count && area.h > 2 * SIDE_LEAST_H) {
        first.h = area.h / 2;
        second.y += first.h + 1;
        second.h -= first.h + 1;
    }
    side_draw(cells, first, &view, data->state->step_at);
    view.steps = &live->baseline;
    if (second.x > area.x || second.y > area.y)
        side_draw(cells, second, &view, data->state->step_at);
}

const DashPanel steps_panel = {
    .fold = 9, .grow = 1, .height = 10, .want = steps_want, .draw = steps_draw};
