/* The chart of the memory model: in the side column, or in the BEV's place where that has no room.
 */
#include "src/view/window/window_internal.h"

enum { LEAST_SIDE_H = 320 };

bool window_has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

bool window_chart_fits(const WindowView *view) {
    const Box *side = &view->layout.side;
    return side->w >= WINDOW_SIDE_W && side->h >= LEAST_SIDE_H;
}

void window_draw_chart_over(const WindowView *view) {
    static const Panel *const panels[] = {&model_panel, NULL};
    const WindowLayout *at = &view->layout;
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!window_has_chart(view) || window_chart_fits(view))
        return;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, right - WINDOW_MARGIN, bottom - at->bev.y};
    double under = at->keys.w > 0 ? at->keys.y : at->h;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    window_draw_panels(view, box, panels);
}
