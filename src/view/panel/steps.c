/* SPDX-License-Identifier: MIT */
/* The recorded steps in the place of the panels. A pinned baseline stands beside the selection, or
 * below it; without room, its counters alone. */
#include "src/view/panel/panel.h"
#include "src/view/panel/steps_page.h"

#include <stdio.h>

enum { TOTALS_H = 3, ROOMY = 24, SIDES_GAP = 2, SIDE_LEAST_W = 60, SIDE_LEAST_H = 14 };

/* Returns the rows for the counters: one where the step itself has little room. */
static int totals_height(Area area) {
    return area.h < ROOMY / 2 + 2 ? 1 : TOTALS_H;
}

/* Draws the step of one kernel: head, accesses, and the counters under them. The counters are first
 * drawn quietly, so that their rows are known. */
static void side_steps(Sheet *sheet, Area area, const StepsView *view, int number) {
    Sheet quiet = sheet_quiet(sheet);
    int head = area.h < ROOMY ? 1 : 4, blank = area.h >= ROOMY;
    StepsView shown = *view;
    shown.headings = head == 1;
    int top = steps_head_draw(sheet, (Area){area.x, area.y, area.w, head}, view) + blank;
    int totals =
        steps_totals_draw(&quiet, (Area){.w = area.w, .h = totals_height(area)}, view, number);
    Area step = {area.x, area.y + top, area.w, area.h - top - totals - blank};
    int used = steps_step_draw(sheet, step, &shown, number);
    steps_totals_draw(sheet, (Area){area.x, step.y + used + blank, area.w, totals}, view, number);
}

/* Draws the baseline's counters at the same step. */
static int short_side_steps(Sheet *sheet, Area area, const StepsView *view, int number) {
    char text[400];
    int n = snprintf(text, sizeof text, "%s %s", view->steps->kernel->title,
                     number < view->steps->step_count ? "" : "(done) ");
    steps_totals_text(view->steps, number, text + n, sizeof text - (size_t)n);
    return sheet_paragraph(sheet, area, INK_BASELINE, text);
}

void steps_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    const LiveSteps *live = frame->steps;
    const State *state = data->state;
    if (!live || !live->selection.step_count) {
        area = sheet_title(sheet, area, "Steps", "");
        sheet_paragraph(sheet, area, INK_MUTED, live ? live->error_text : "n/a: being recorded");
        return;
    }
    StepsView view = {.steps = &live->selection,
                      .map = frame->map,
                      .values = frame->features,
                      .rig = frame->rig,
                      .cell = live->cell,
                      .lane = state->step_lane,
                      .table = true};
    StepsView other = view;
    Area first = area, second = area;
    bool both = live->baseline.step_count > 0, beside = area.w >= 2 * SIDE_LEAST_W + SIDES_GAP;
    other.steps = &live->baseline;
    if (both && beside) {
        first.w = second.w = (area.w - SIDES_GAP) / 2;
        second.x += area.w - second.w;
        side_steps(sheet, second, &other, state->step_at);
    } else if (both && area.h > 2 * SIDE_LEAST_H) {
        first.h = (area.h - 1) / 2;
        second = area_below(second, first.h + 1);
        side_steps(sheet, second, &other, state->step_at);
    } else if (live->baseline_text[0]) {
        first.h--;
        sheet_line(sheet, (Area){area.x, area.y + first.h, area.w, 1}, cell_style(INK_MUTED),
                   live->baseline_text);
    } else if (both) {
        Sheet quiet = sheet_quiet(sheet);
        second.h = totals_height(area);
        second.h = short_side_steps(&quiet, second, &other, state->step_at);
        first.h -= second.h;
        second.y += first.h;
        short_side_steps(sheet, second, &other, state->step_at);
    }
    side_steps(sheet, first, &view, state->step_at);
}
