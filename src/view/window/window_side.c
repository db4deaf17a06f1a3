/* The side column: what the colours mean, and the panels below it. And the header and the log. */
#include "src/state/live_text.h"
#include "src/view/window/pen_sheet.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

/* ---- the column ----------------------------------------------------------------------------- */

/* Which panels stand in the column: the first ones that have room. */
static const Panel *const usual[] = {&cell_panel,     &training_panel, &gradients_panel,
                                     &kernels_panel,  &accuracy_panel, &memory_panel,
                                     &course_panel,   &intervals_panel, &findings_panel, NULL};
static const Panel *const with_cell[] = {&cell_panel, &training_panel, &gradients_panel, NULL};
static const Panel *const with_steps[] = {&steps_panel, NULL};
static const Panel *const with_chart[] = {&model_panel, NULL};
static const Panel *const with_lesson[] = {&lesson_panel, &model_panel, &kernels_panel,
                                           &accuracy_panel, &memory_panel, &intervals_panel, NULL};

static const Panel *const *choose(const WindowView *view) {
    return view->state->lesson.open  ? with_lesson
           : view->live->frame.steps ? with_steps
           : window_has_chart(view)  ? with_chart
           : view->state->pinned     ? with_cell
                                     : usual;
}

void window_draw_panels(const WindowView *view, Box box, const Panel *const *panels) {
    const PanelData data = {view->state, view->live};
    const LessonPane *lesson = &view->state->lesson;
    Sheet sheet = pen_sheet(view->pen, box, SHEET_ROW, view->spots);
    Stack stack = {.area = {0, 0, sheet.columns, sheet.rows}};
    if (lesson->open)
        stack.point = lesson->point;
    stack_add_whole(&sheet, &stack, panels[0], &data);
    for (int i = 1; panels[i]; i++) /* what a lesson points at comes first */
        if (stack.point != PANEL_NONE && panels[i]->point == stack.point)
            stack_add_whole(&sheet, &stack, panels[i], &data);
    for (int i = 1; panels[i]; i++)
        stack_add_whole(&sheet, &stack, panels[i], &data);
    stack_draw(&sheet, &stack, &data);
}

void window_draw_side(const WindowView *view) {
    Box side = view->layout.side;
    if (side.w <= 0 || (window_has_chart(view) && !window_chart_fits(view)))
        return;
    double y = side.y;
    if (window_has_bev(view)) {
        FigurePanel panel = window_panel(view);
        y += legend_block(view->pen, &view->whole, &panel, side.x, y, side.w) + 12;
    }
    window_draw_panels(view, (Box){side.x, y, side.w, side.y + side.h - y}, choose(view));
}

/* ---- header, log ---------------------------------------------------------------------------- */

/* "12.3 ms measured, stale": the figure, where it comes from and how it was timed. */
static void latency_text(const LiveData *live, const LiveKernel *row, char *text, size_t size) {
    char number[24], origin[40];
    if (!row->median_us.source) {
        snprintf(text, size, "%s", unknown_reason(UNKNOWN_LATENCY, live, row, BEV_FP32));
        return;
    }
    latency_origin(row, origin, sizeof origin);
    figure_text(UNIT_US, row->median_us.value, number, sizeof number);
    snprintf(text, size, "%s %s", number, origin);
}

/* What the header leaves out where there is no room, in this order. */
typedef enum { ALL_FACTS, NO_RATE, NO_TIME } Brevity;

static void header_facts(const WindowView *view, Brevity brevity, char *text, size_t size) {
    const LiveData *live = view->live;
    const LiveKernel *row = live_kernel(live, live->job.config.kernel);
    char label[96], latency[80] = "n/a", time[32] = "", fps[32] = "", by[64] = "";
    kernel_config_label(&live->job.config, label, sizeof label);
    if (row)
        latency_text(live, row, latency, sizeof latency);
    if (brevity < NO_TIME)
        live_time_text(live, &view->state->scene, time, sizeof time);
    if (live->fps.source != SOURCE_UNKNOWN && brevity < NO_RATE)
        snprintf(fps, sizeof fps, "   %.0f frames/s", live->fps.value);
    if (live->stand_in)
        snprintf(by, sizeof by, " (%s by %s)",
                 live->stand_in == live->job.config.kernel ? "baseline" : "picture",
                 live->stand_in->title);
    snprintf(text, size, "%s%s   %s%s%s%s", label, by, latency, time[0] ? "   " : "", time, fps);
}

void window_draw_header(const WindowView *view) {
    Box at = view->layout.header;
    const SceneFacts *scene = &view->state->scene;
    char text[256];
    if (at.w <= 0)
        return;
    TextStyle title = style_heading(view->pen);
    TextStyle facts = aligned(style_body(view->pen), ALIGN_RIGHT);
    double right = 0;
    if (view->live->job.config.kernel) {
        Brevity brevity = ALL_FACTS;
        do
            header_facts(view, brevity, text, sizeof text);
        while (pen_text_width(view->pen, &facts, text) > at.w * 0.7 && brevity++ < NO_TIME);
        right = pen_text(view->pen, at.x + at.w, at.y + 16, at.w * 0.7, &facts, text);
    }
    pen_text(view->pen, at.x, at.y + 16, at.w - right - WINDOW_GAP, &title,
             scene->title[0]  ? scene->title
             : scene->name[0] ? scene->name
                              : "bevscope");
}

void window_draw_log(const WindowView *view) {
    Box at = view->layout.log;
    TextStyle style = style_body(view->pen);
    if (at.w <= 0)
        return;
    if (view->live->error_text[0])
        style.color = window_fault;
    const Log *log = &view->state->log;
    const char *text = view->live->error_text[0] ? view->live->error_text
                       : log->count              ? log->lines[0].text
                                                 : "";
    char line[LOG_LENGTH];
    text_micro(text, line, sizeof line);
    if (line[0])
        pen_text(view->pen, at.x, at.y + 16, at.w, &style, line);
}
