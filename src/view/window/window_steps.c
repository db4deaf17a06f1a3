/* The step that is shown, in the side column: its instructions and the counters so far. */
#include "src/scene/slice.h"
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

/* The counters of a kernel, after its title where two stand under each other. */
static double totals(const WindowView *view, Box at, const Steps *steps, bool named) {
    char text[400];
    TextStyle style = style_muted(view->pen);
    int n = named ? snprintf(text, sizeof text, "%s ", steps->kernel->title) : 0;
    steps_totals_text(steps, view->state->step_at, text + n, sizeof text - (size_t)n);
    return pen_paragraph(view->pen, at.x, at.y, at.w, &style, text);
}

static double head(const WindowView *view, Box at, int number) {
    const LiveSteps *live = view->live->frame.steps;
    const Steps *steps = &live->selection;
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    char text[160], pass[32] = "";
    if (steps->passes > 1)
        snprintf(pass, sizeof pass, ", pass %d of %d", steps_pass(steps, number), steps->passes);
    snprintf(text, sizeof text, "Step %d of %d%s: %s", number + 1, steps->step_count, pass,
             step_phases[step->phase]);
    double used = window_heading(view, at, text);
    snprintf(text, sizeof text, "%s, cell %s; warp %d of %d: block %lld, warp %d",
             steps->kernel->title, cell_place(&steps->shape, live->cell, ", ").text, step->warp + 1,
             steps->warp_count,
             (long long)warp->block, warp->number);
    return used + window_line(view, (Box){at.x, at.y + used, at.w, WINDOW_ROW}, text) + 4;
}

double window_draw_steps(const WindowView *view, Box at) {
    const LiveSteps *live = view->live->frame.steps;
    const Steps *steps = &live->selection;
    int number = view->state->step_at;
    bool both = live->baseline.step_count > 0;
    double y = at.y;
    if (number >= steps->step_count) {
        y += window_heading(view, at, "Steps");
        y += window_line(view, (Box){at.x, y, at.w, WINDOW_ROW},
                         steps->step_count ? "its steps are over" : live->error_text);
        if (steps->step_count)
            y += totals(view, (Box){at.x, y + 6, at.w, 0}, steps, true) + 6;
        return y - at.y;
    }
    const Step *step = &steps->steps[number];
    double bottom = at.y + at.h - (both ? 6 : 3) * WINDOW_ROW; /* the counters are below it */
    y += head(view, at, number);
    for (int i = 0; i < step->instruction_count && bottom > y + WINDOW_ROW;) {
        int count = step_alike(steps, step, i);
        y += instruction_row(view, (Box){at.x, y, at.w, WINDOW_ROW},
                             &steps->instructions[step->first_instruction + i], count);
        i += count;
    }
    if (bottom > y + 3 * WINDOW_ROW)
        y += window_draw_lanes(view, (Box){at.x, y + 6, at.w, bottom - y - 6}, number) + 6;
    y += totals(view, (Box){at.x, y + 6, at.w, 0}, steps, both) + 6;
    if (both)
        y += totals(view, (Box){at.x, y + 6, at.w, 0}, &live->baseline, true) + 6;
    return y - at.y;
}
