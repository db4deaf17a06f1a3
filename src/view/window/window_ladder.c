/* The ladder beside the BEV: a bar a kernel, so that the window alone tells which kernel wins. */
#include "src/state/live_text.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

enum { ROW_MIN = 19, ROW_MAX = 30, LADDER_HEAD = SIZE_HEADING + 12, TITLE_W = 116, ARROW_W = 9 };
enum { MARK_W = 14, TIME_W = 86 + MARK_W }; /* the mark explains itself in the heading */

static Rgb row_color(const WindowView *view, const LiveKernel *row) {
    const Job *job = &view->state->job;
    const Theme *theme = view->pen->theme;
    return row->kernel == job->config.kernel     ? theme->accent
           : row->kernel == job->baseline.kernel ? window_baseline
                                                 : theme->rule;
}

/* Runs off with an arrow where it is longer than the others' scale. */
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
                 row->skipped ? row->skipped : "n/a");
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
    TextStyle heading = style_heading(view->pen), note = style_muted(view->pen);
    char text[96];
    note.align = ALIGN_RIGHT;
    ladder_note(&ladder, text, sizeof text);
    double used =
        pen_text(view->pen, at.x + at.w, at.y + SIZE_HEADING, at.w / 2, &note, text) + WINDOW_GAP;
    snprintf(text, sizeof text, "Latency, %s %s", bev_dtypes[config->dtype].title,
             bev_aligns[config->align].name);
    pen_text(view->pen, at.x, at.y + SIZE_HEADING, at.w - used, &heading, text);
    double row = fmin(ROW_MAX, floor((at.h - LADDER_HEAD) / ladder.count));
    for (int i = 0; i < ladder.count; i++)
        draw_kernel(view, (Box){at.x, at.y + LADDER_HEAD + i * row, at.w, row}, ladder.kernels[i],
                    ladder.scale_us);
}
