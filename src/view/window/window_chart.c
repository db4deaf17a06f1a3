/* The charts of the window: the ladder of kernels, latency over time, and the memory model. */
#include "src/state/live_text.h"
#include "src/view/chart/live_chart.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ladder: a bar a kernel, so that the window alone tells which one wins ------------------ */

enum { ROW_MIN = 19, ROW_MAX = 30, LADDER_HEAD = SIZE_HEADING + 12, TITLE_W = 116, ARROW_W = 9 };
enum { MARK_W = 14, TIME_W = 86 + MARK_W }; /* the heading explains the mark */

static Rgb row_color(const WindowView *view, const LiveKernel *row) {
    const Job *job = &view->state->job;
    const Theme *theme = view->pen->theme;
    return row->kernel == job->config.kernel     ? theme->accent
           : row->kernel == job->baseline.kernel ? window_baseline
                                                 : theme->rule;
}

/* A bar that is longer than the scale ends with an arrow. */
static void draw_kernel_bar(const WindowView *view, Box at, double share, Rgb color) {
    double w = fmin(share, 1) * at.w;
    pen_fill(view->pen, (Box){at.x, at.y, fmax(w, 1), at.h}, color, 1);
    if (share <= 1)
        return;
    cairo_t *cr = view->pen->cr;
    cairo_move_to(cr, at.x + at.w, at.y);
    cairo_rel_line_to(cr, ARROW_W, at.h / 2);
    cairo_line_to(cr, at.x + at.w, at.y + at.h);
    pen_color(view->pen, color, 1);
    cairo_fill(cr);
}

static void draw_kernel(const WindowView *view, Box at, const LiveKernel *row, double scale_us) {
    char time[32];
    TextStyle style = style_muted(view->pen);
    bool selected = row->kernel == view->state->job.config.kernel;
    bool known = row->median_us.source != SOURCE_UNKNOWN;
    style.size = at.h < 24 ? SIZE_SMALL : SIZE_BODY;
    style.bold = selected;
    style.color = known ? view->pen->theme->text : view->pen->theme->muted;
    double baseline = at.y + (at.h + style.size) / 2 - 2;
    pen_text(view->pen, at.x, baseline, TITLE_W - 6, &style, row->kernel->title);
    Box bar = {at.x + TITLE_W, at.y + at.h / 6, at.w - TITLE_W - TIME_W - ARROW_W, at.h * 2 / 3};
    if (!known) {
        pen_text(view->pen, bar.x, baseline, at.w - TITLE_W, &style,
                 unknown_reason(UNKNOWN_LATENCY, view->live, row, BEV_FP32));
        return;
    }
    draw_kernel_bar(view, bar, row->median_us.value / scale_us, row_color(view, row));
    reading_text(UNIT_US, &row->median_us, time, sizeof time);
    pen_text(view->pen, at.x + at.w - MARK_W + 4, baseline, MARK_W, &style, ladder_mark(row));
    style.align = ALIGN_RIGHT;
    pen_text(view->pen, at.x + at.w - MARK_W, baseline, TIME_W - MARK_W, &style, time);
}

double window_ladder_height(const WindowView *view) {
    Ladder ladder = ladder_of(view->state, view->live);
    return ladder.count ? LADDER_HEAD + ladder.count * ROW_MIN : 0;
}

void window_draw_ladder(const WindowView *view, Box at) {
    Ladder ladder = ladder_of(view->state, view->live);
    const KernelConfig *config = &view->state->job.config;
    TextStyle heading = style_heading(view->pen);
    TextStyle note = aligned(style_muted(view->pen), ALIGN_RIGHT);
    char text[96];
    ladder_note(&ladder, text, sizeof text);
    double used =
        pen_text(view->pen, at.x + at.w, at.y + SIZE_HEADING, at.w / 2, &note, text) + WINDOW_GAP;
    snprintf(text, sizeof text, "Latency, %s %s%s", bev_dtypes[config->dtype].title,
             bev_aligns[config->align].name, kernel_way(config->kernel));
    pen_text(view->pen, at.x, at.y + SIZE_HEADING, at.w - used, &heading, text);
    double row = fmin(ROW_MAX, floor((at.h - LADDER_HEAD) / ladder.count));
    for (int i = 0; i < ladder.count; i++) {
        Box box = {at.x, at.y + LADDER_HEAD + i * row, at.w, row};
        draw_kernel(view, box, ladder.kernels[i], ladder.scale_us);
        spots_add(view->spots, box, ACTION_KERNEL, 0, ladder.kernels[i]->kernel->name);
    }
}

/* ---- latency over time ---------------------------------------------------------------------- */

/* 90 % of the values lie below: one slow launch must not flatten the curve. */
static double usual_us(const LiveKernel *row) {
    float values[LIVE_HISTORY];
    if (!row || !row->history_count)
        return 0;
    size_t count = (size_t)row->history_count;
    memcpy(values, row->history_us, count * sizeof *values);
    return nth_smallest(values, count, (count - 1) * 9 / 10);
}

static void curve(const WindowView *view, Box box, const LiveKernel *row, double top_us,
                  Rgb color) {
    cairo_t *cr = view->pen->cr;
    if (!row || !row->history_count)
        return;
    for (int i = 0; i < row->history_count; i++) {
        double back = row->history_count - 1 - i;
        double x = box.x + box.w * (1 - back / (LIVE_HISTORY - 1));
        double y = box.y + box.h * fmax(1 - row->history_us[i] / top_us, 0);
        (i ? cairo_line_to : cairo_move_to)(cr, x, y);
    }
    if (row->history_count == 1)
        cairo_rel_line_to(cr, -4, 0);
    pen_stroke(view->pen, color, 1, 2);
}

/* The y axis in words: from the box's lower to its upper edge. */
static void course_scale(const WindowView *view, double right, double baseline, double top_us) {
    char text[48], top[32];
    figure_text(UNIT_US, top_us, top, sizeof top);
    snprintf(text, sizeof text, "0 to %s", top);
    TextStyle style = aligned(style_muted(view->pen), ALIGN_RIGHT);
    pen_text(view->pen, right, baseline, 110, &style, text);
}

static double curve_name(const WindowView *view, double x, double baseline, const BevKernel *kernel,
                         Rgb color) {
    TextStyle style = style_muted(view->pen);
    pen_line(view->pen, x, baseline - 4, x + 14, baseline - 4, color, 1, 2);
    return 14 + 6 + pen_text(view->pen, x + 20, baseline, 110, &style, kernel->title) + 14;
}

enum { COURSE_H = WINDOW_COURSE_H - 46 };

void window_draw_course(const WindowView *view, Box at) {
    const Job *job = &view->live->job;
    const LiveKernel *selected = live_kernel(view->live, job->config.kernel);
    const LiveKernel *baseline = live_kernel(view->live, job->baseline.kernel);
    const Theme *theme = view->pen->theme;
    double top_us = 1.3 * fmax(usual_us(selected), usual_us(baseline)), y = at.y;
    y += window_heading(view, at, "Latency over time");
    Box box = {at.x, y, at.w, COURSE_H};
    pen_fill(view->pen, box, theme->tint, 1);
    pen_frame(view->pen, box, theme->rule, 1, 1);
    if (top_us <= 0) {
        window_line(view, (Box){at.x + 8, y + COURSE_H / 2.0 - 8, at.w - 16, WINDOW_ROW},
                    "n/a: not timed yet");
        return;
    }
    if (baseline != selected)
        curve(view, box, baseline, top_us, window_baseline);
    curve(view, box, selected, top_us, theme->accent);
    course_scale(view, box.x + box.w, box.y - 6, top_us);
    double x = box.x, names = box.y + box.h + 16;
    if (selected)
        x += curve_name(view, x, names, selected->kernel, theme->accent);
    if (baseline && baseline != selected && baseline->history_count)
        curve_name(view, x, names, baseline->kernel, window_baseline);
}

/* A recorded latency is one figure, without a history. */
bool window_has_course(const WindowView *view) {
    const LiveKernel *selected = live_kernel(view->live, view->live->job.config.kernel);
    return !selected || selected->median_us.source != SOURCE_RECORDED;
}

/* ---- memory model: in the side column, or in the BEV's place where that has no room --------- */

enum { WORDS_STEP = 17, WORDS_LINES = 3, LEAST_H = 150, LEAST_SIDE_H = 320, LOW_H = 480 };

bool window_has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

/* The prediction for the selection, and which kernel it is for. */
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
    TextStyle style = aligned(style_body(view->pen), ALIGN_CENTER);
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

void window_draw_chart(const WindowView *view, Box box) {
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

void window_draw_chart_over(const WindowView *view) {
    const WindowLayout *at = &view->layout;
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!window_has_chart(view) || window_chart_fits(view))
        return;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, right - WINDOW_MARGIN, bottom - at->bev.y};
    double under = at->keys.w > 0 ? at->keys.y : at->h;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    window_draw_chart(view, box);
}
