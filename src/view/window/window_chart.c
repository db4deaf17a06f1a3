/* The chart of the memory model: beside the BEV under its legend, or in its place where there is no
 * room beside it. */
#include "src/view/chart/live_chart.h"
#include "src/state/prediction_text.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_STEP = 17, WORDS_LINES = 3, LEAST_H = 150, LEAST_SIDE_H = 320, LOW_H = 480 };

bool window_has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

/* The prediction for the selection, and whose it is. */
static void draw_words(const WindowView *view, Box at) {
    char text[200];
    TextStyle style = style_body(view->pen);
    double y = at.y + style.size;
    style.bold = true;
    prediction_latency(view->state, view->live, text, sizeof text);
    pen_text(view->pen, at.x, y, at.w, &style, text);
    style = style_muted(view->pen);
    style.color = view->pen->theme->text;
    prediction_memory(view->state, view->live, text, sizeof text);
    pen_text(view->pen, at.x, y += WORDS_STEP, at.w, &style, text);
    style = style_muted(view->pen);
    prediction_origin(view->live, text, sizeof text);
    pen_text(view->pen, at.x, y + WORDS_STEP, at.w, &style, text);
}

static void draw_nothing_yet(const WindowView *view, Box box) {
    TextStyle style = style_body(view->pen);
    style.align = ALIGN_CENTER;
    pen_frame(view->pen, box, view->pen->theme->rule, 1, 1);
    pen_text(view->pen, box.x + box.w / 2, box.y + box.h / 2, box.w, &style,
             "simulating the kernel's memory accesses ...");
}

static void draw_spec(const WindowView *view, Box box) {
    ChartRoom room = box.h < LOW_H ? ROOM_LOW : ROOM_BOX;
    ChartInput input = chart_live_input(view->state, view->live, room, view->spec.theme);
    ChartSpec *spec = chart_make(&input, &view->pen->err);
    if (spec)
        plot_draw(view->pen, box, spec);
    else
        view->pen->failed = true;
    free(spec);
}

static void draw(const WindowView *view, Box box) {
    double words = WORDS_LINES * WORDS_STEP + 8;
    Box chart = {box.x, box.y, box.w, box.h - words - WINDOW_GAP};
    if (chart.h < LEAST_H)
        return;
    if (view->live->model)
        draw_spec(view, chart);
    else
        draw_nothing_yet(view, chart);
    draw_words(view, (Box){box.x, box.y + box.h - words, box.w, words});
}

bool window_chart_fits(const WindowView *view) {
    const Box *side = &view->layout.side;
    return side->w >= WINDOW_SIDE_W && side->h >= LEAST_SIDE_H;
}

void window_draw_chart(const WindowView *view, Box beside) {
    draw(view, beside);
}

void window_draw_chart_over(const WindowView *view) {
    const WindowLayout *at = &view->layout;
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!window_has_chart(view) || window_chart_fits(view))
        return;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, right - WINDOW_MARGIN, bottom - at->bev.y};
    double under = at->keys.w > 0 ? at->keys.y : at->h;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    draw(view, box);
}
