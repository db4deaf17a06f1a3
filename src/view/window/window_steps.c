/* The step that is shown, in the side column: its instructions and the counters so far. */
#include "src/view/window/window_internal.h"

#include <stdio.h>

static double instruction_row(const WindowView *view, Box at, const StepInstruction *first,
                              int count) {
    static const double ends[] = {0.40, 0.58, 0.78, 1};
    double bytes = 0, sectors = 0;
    char cells[4][48];
    for (int i = 0; i < count; i++) {
        bytes += first[i].bytes;
        sectors += first[i].sectors;
    }
    snprintf(cells[0], sizeof cells[0], "%s %s", first->wave ? ">" : "  ", first->name);
    snprintf(cells[1], sizeof cells[1], "%s", step_accesses[first->access]);
    snprintf(cells[2], sizeof cells[2], "%.0f B", bytes);
    snprintf(cells[3], sizeof cells[3], "%.0f sector%s", sectors, sectors == 1 ? "" : "s");
    for (int i = 0; i < 4; i++) {
        TextStyle style = style_muted(view->pen);
        style.color = view->pen->theme->text;
        if (i >= 2)
            style.align = ALIGN_RIGHT;
        double left = i ? ends[i - 1] : 0, x = i >= 2 ? ends[i] : left;
        pen_text(view->pen, at.x + x * at.w, at.y + SIZE_SMALL + 1, (ends[i] - left) * at.w - 4,
                 &style, cells[i]);
    }
    return WINDOW_ROW;
}

double window_draw_steps(const WindowView *view, Box at) {
    const LiveSteps *live = view->live->frame.steps;
    const Steps *steps = &live->selection;
    int number = view->state->step_at;
    char text[320];
    double y = at.y;
    if (number >= steps->step_count) {
        y += window_heading(view, at, "Steps");
        return y + window_line(view, (Box){at.x, y, at.w, WINDOW_ROW}, live->error_text) - at.y;
    }
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    snprintf(text, sizeof text, "Step %d of %d: %s", number + 1, steps->step_count,
             step_phases[step->phase]);
    y += window_heading(view, at, text);
    snprintf(text, sizeof text, "%s, cell %lld, %lld; warp %d of %d: block %lld, warp %d",
             steps->kernel->title, (long long)(live->cell % steps->shape.nx),
             (long long)(live->cell / steps->shape.nx), step->warp + 1, steps->warp_count,
             (long long)warp->block, warp->number);
    y += window_line(view, (Box){at.x, y, at.w, WINDOW_ROW}, text) + 4;
    for (int i = 0; i < step->instruction_count && at.y + at.h - y > 5 * WINDOW_ROW;) {
        int count = step_alike(steps, step, i);
        y += instruction_row(view, (Box){at.x, y, at.w, WINDOW_ROW},
                             &steps->instructions[step->first_instruction + i], count);
        i += count;
    }
    TextStyle style = style_muted(view->pen);
    steps_totals_text(steps, number, text, sizeof text);
    return y + pen_paragraph(view->pen, at.x, y + 6, at.w, &style, text) + 6 - at.y;
}
