/* The side column: what the colours mean, then the probed cell or the selection. And the header and
 * the log line. */
#include "src/state/live_text.h"
#include "src/view/bev/gradient_strip.h"
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

enum { WORDS_H = 148, LADDER_W = 300, LESSON_CHART_H = 240 };

double window_heading(const WindowView *view, Box at, const char *text) {
    TextStyle style = style_heading(view->pen);
    pen_text(view->pen, at.x, at.y + SIZE_HEADING, at.w, &style, text);
    return SIZE_HEADING + 10;
}

static TextStyle small_text(const WindowView *view) {
    TextStyle style = style_muted(view->pen);
    style.color = view->pen->theme->text;
    return style;
}

double window_line(const WindowView *view, Box at, const char *text) {
    TextStyle style = small_text(view);
    pen_text(view->pen, at.x, at.y + SIZE_SMALL + 1, at.w, &style, text);
    return WINDOW_ROW;
}

/* As many lines as the text needs where there is room; else one line, or none. */
static double sentence(const WindowView *view, Box room, const char *text) {
    TextStyle style = small_text(view);
    if (room.h < WINDOW_ROW)
        return 0;
    if (room.h < 3 * WINDOW_ROW || pen_text_width(view->pen, &style, text) <= room.w)
        return window_line(view, room, text);
    return pen_paragraph(view->pen, room.x, room.y + 1, room.w, &style, text) + 2;
}

static Box below(Box at, double y) {
    return (Box){at.x, y, at.w, at.y + at.h - y};
}

/* ---- the probed cell ------------------------------------------------------------------------ */

static void where_text(const WindowView *view, char *text, size_t size) {
    const LiveFrame *frame = &view->live->frame;
    const Slice *slice = &view->spec.slice;
    int64_t x = view->live->probe.cell % frame->nx, row = view->live->probe.cell / frame->nx;
    int64_t y = row % slice->rows, z = row / slice->rows;
    int n = snprintf(text, size, "cell x %lld, y %lld", (long long)x, (long long)y);
    if (slice->slices > 1)
        n += snprintf(text + n, size - (size_t)n, ", z %lld", (long long)z);
    if (!frame->rig || n < 0 || (size_t)n >= size)
        return;
    const Grid *grid = &frame->rig->grid;
    double forward = grid->x_min_m + ((double)x + 0.5) * (grid->x_max_m - grid->x_min_m) / grid->nx;
    double left = grid->y_min_m + ((double)y + 0.5) * (grid->y_max_m - grid->y_min_m) / grid->ny;
    snprintf(text + n, size - (size_t)n, ":  %.2f m %s, %.2f m %s", fabs(forward),
             forward < 0 ? "back" : "forward", fabs(left), left < 0 ? "right" : "left");
}

static const char *camera_label(const WindowView *view, int camera) {
    const Rig *rig = view->live->frame.rig;
    return rig && camera < rig->camera_count ? rig->cameras[camera].name : "camera";
}

static const double columns[] = {0, 0.36, 0.58, 0.80, 1}; /* where they end, of the width */

/* One point: camera, pixel, depth bin, probability, weight. */
static void contribution_row(const WindowView *view, Box at, const LiveContribution *one) {
    char cells[5][48];
    const Rig *rig = view->live->frame.rig;
    snprintf(cells[0], sizeof cells[0], "%s", camera_label(view, one->camera));
    snprintf(cells[1], sizeof cells[1], "%d, %d", one->w, one->h);
    if (rig)
        snprintf(cells[2], sizeof cells[2], "%.1f m",
                 frustum_depth_m(&rig->frustum, one->depth_bin));
    else
        snprintf(cells[2], sizeof cells[2], "bin %d", one->depth_bin);
    snprintf(cells[3], sizeof cells[3], "%.4f", one->depth);
    snprintf(cells[4], sizeof cells[4], "%.3f", one->weight);
    TextStyle style = small_text(view);
    for (int i = 0; i < 5; i++) {
        style.align = i ? ALIGN_RIGHT : ALIGN_LEFT;
        double room = i ? (columns[i] - columns[i - 1]) * at.w - 4 : columns[1] * at.w * 0.62;
        double x = at.x + columns[i] * at.w;
        pen_text(view->pen, x, at.y + SIZE_SMALL + 1, room, &style, cells[i]);
    }
}

static double contribution_head(const WindowView *view, Box at) {
    static const char *const titles[] = {"camera", "pixel", "depth", "probability", "weight"};
    TextStyle style = style_muted(view->pen);
    for (int i = 0; i < 5; i++) {
        style.align = i ? ALIGN_RIGHT : ALIGN_LEFT;
        pen_text(view->pen, at.x + columns[i] * at.w, at.y + SIZE_SMALL + 1, at.w * 0.22, &style,
                 titles[i]);
    }
    return WINDOW_ROW;
}

static double contributions(const WindowView *view, Box at) {
    const LiveProbe *probe = &view->live->probe;
    double y = at.y + contribution_head(view, at);
    int room = (int)((at.y + at.h - y) / WINDOW_ROW), shown = probe->contribution_count;
    if (shown > room)
        shown = room - 1;
    for (int i = 0; i < shown; i++, y += WINDOW_ROW)
        contribution_row(view, (Box){at.x, y, at.w, WINDOW_ROW}, &probe->contributions[i]);
    if (shown >= 0 && shown < probe->points) {
        char text[64];
        snprintf(text, sizeof text, "and %lld more, none heavier",
                 (long long)(probe->points - shown));
        y += window_line(view, (Box){at.x, y, at.w, WINDOW_ROW}, text);
    }
    return y - at.y;
}

/* Which kernels the legend calls A and B. */
static double difference_sides(const WindowView *view, Box at) {
    char a[128], b[128], text[300];
    live_side_label(view->live, false, a, sizeof a);
    live_side_label(view->live, true, b, sizeof b);
    snprintf(text, sizeof text, "A: %s   B: %s", a, b);
    return sentence(view, at, text);
}

/* "largest error against FP64 0.021", or why it is not known. */
static void error_text(const LiveData *live, char *text, size_t size) {
    const KernelConfig *config = &live->job.config;
    const LiveAccuracy *accuracy = &live->accuracy[config->dtype];
    char number[64];
    if (accuracy->source != SOURCE_UNKNOWN)
        unit_text(UNIT_ERROR, accuracy->max_abs, number, sizeof number);
    else
        snprintf(number, sizeof number, "n/a: %s",
                 unknown_reason(UNKNOWN_ACCURACY, live, live_kernel(live, config->kernel),
                                config->dtype));
    snprintf(text, size, "largest error against FP64 %s%s", number,
             accuracy->source != SOURCE_UNKNOWN && accuracy->stale ? " (stale)" : "");
}

/* "training: step 57, loss 0.0067, was 0.18", or why it does not go on. */
static void training_text(const LiveTraining *training, char *text, size_t size) {
    if (training->text[0])
        snprintf(text, size, "training: n/a: %.130s", training->text);
    else if (training->step < 0)
        snprintf(text, size, "training: waits for its first step");
    else
        snprintf(text, size, "training: step %d, loss %.3g, was %.3g", training->step,
                 training->losses[training->step], training->losses[0]);
}

/* Where no cell is probed: what is selected, and how to probe. */
static double overview(const WindowView *view, Box at) {
    const LiveData *live = view->live;
    const ScatterStats *stats = &live->intervals.stats;
    char text[160], number[32] = "n/a";
    double y = at.y + window_heading(view, at, "Selection");
    if (view->state->compare == COMPARE_DIFFERENCE)
        y += difference_sides(view, below(at, y));
    else if (live->job.config.kernel)
        y += sentence(view, below(at, y), live->job.config.kernel->idea);
    if (live->memory.known)
        unit_text(UNIT_BYTES, bev_footprint_total(live->memory.footprint), number, sizeof number);
    snprintf(text, sizeof text, "footprint %s", number);
    y += sentence(view, below(at, y), text);
    if (live->intervals.known) {
        char points[32], cells[32];
        unit_text(UNIT_COUNT, (double)stats->points, points, sizeof points);
        unit_text(UNIT_COUNT, (double)stats->intervals, cells, sizeof cells);
        snprintf(text, sizeof text, "%s points in %s %s, the fullest holds %d", points, cells,
                 live->intervals.of_pixels ? "pixels" : "cells", stats->longest);
    } else
        snprintf(text, sizeof text, "points n/a");
    y += sentence(view, below(at, y), text);
    error_text(live, text, sizeof text);
    y += sentence(view, below(at, y), text);
    y += 8;
    y += sentence(view, below(at, y), "Point at a cell to read it, click to see its rays.");
    return y - at.y;
}

/* What the loss on this cell reaches, or why that is not known. */
static void gradients_text(const LiveFrame *frame, char *text, size_t size) {
    const LiveGradients *gradients = &frame->gradients;
    if (!gradients->grad_feat)
        snprintf(text, size, "loss: %s", gradients->text);
    else
        snprintf(text, size, "loss on %s: %lld pixels would have to change",
                 !gradients->loss->inside       ? "all cells"
                 : gradients->loss->count == 1 ? "this cell"
                                               : "the yellow cells",
                 (long long)gradient_count(&frame->shape, gradients->grad_feat));
}

static double readout(const WindowView *view, Box at) {
    const LiveProbe *probe = &view->live->probe;
    const char *dtype = bev_dtypes[view->live->job.config.dtype].title;
    double y = at.y;
    char text[160];
    if (probe->cell < 0)
        return 0;
    y += window_heading(view, at, view->state->pinned ? "Pinned cell" : "Cell");
    where_text(view, text, sizeof text);
    y += sentence(view, below(at, y), text);
    if (probe->interval >= 0)
        snprintf(text, sizeof text, "%lld points, interval %lld", (long long)probe->points,
                 (long long)probe->interval);
    else
        snprintf(text, sizeof text, "no point falls into it");
    y += sentence(view, below(at, y), text);
    snprintf(text, sizeof text, "norm  %s %.6g   FP64 %.6g", dtype, probe->value,
             probe->fp64_original);
    y += sentence(view, below(at, y), text);
    if (probe->channel >= 0) {
        snprintf(text, sizeof text, "channel %lld  %s %.6g   FP64 %.6g", (long long)probe->channel,
                 dtype, probe->channel_value, probe->channel_fp64);
        y += sentence(view, below(at, y), text);
    }
    if (view->live->frame.gradients.loss) {
        gradients_text(&view->live->frame, text, sizeof text);
        y += sentence(view, below(at, y), text);
    }
    if (view->state->pinned && !view->live->frame.gradients.grad_depth &&
        probe->contribution_count && at.y + at.h - y > 3 * WINDOW_ROW)
        y += contributions(view, (Box){at.x, y + 6, at.w, at.y + at.h - y - 6}) + 6;
    return y - at.y;
}

/* ---- the column ----------------------------------------------------------------------------- */

/* The probed cell, else the selection; under it the ladder, or the points of a pinned cell. */
static void words(const WindowView *view, Box at) {
    double used = 0, ladder = window_ladder_height(view);
    bool steps = view->live->frame.steps != NULL;
    char text[160];
    if (at.h > 5 * WINDOW_ROW && steps)
        used = window_draw_steps(view, at);
    else if (at.h > 5 * WINDOW_ROW)
        used = view->live->probe.cell < 0 ? overview(view, at) : readout(view, at);
    if (view->live->frame.training && used > 0) {
        training_text(view->live->frame.training, text, sizeof text);
        used += sentence(view, below(at, at.y + used), text);
    }
    if (view->live->frame.gradients.grad_depth && !steps)
        used += 8 + window_draw_bins(view, below(at, at.y + used + 8));
    double top = fmax(used + 8, WORDS_H);
    if (ladder && !view->state->pinned && at.w >= LADDER_W && at.h >= top + ladder)
        window_draw_ladder(view, (Box){at.x, at.y + top, at.w, at.h - top});
}

void window_draw_side(const WindowView *view) {
    Box side = view->layout.side;
    if (side.w <= 0 || (window_has_chart(view) && !window_chart_fits(view)))
        return;
    bool has_course = side.h > 420 && !window_has_chart(view) && !view->state->lesson.open &&
                      window_has_course(view);
    double bottom = side.y + side.h - (has_course ? WINDOW_COURSE_H : 0), y = side.y;
    if (window_has_bev(view)) {
        FigurePanel panel = window_panel(view);
        y += legend_block(view->pen, &view->whole, &panel, side.x, y, side.w) + 16;
    }
    if (view->state->lesson.open)
        y += window_draw_lesson(view, (Box){side.x, y, side.w, bottom - y}) + 16;
    if (window_has_chart(view) && (!view->state->lesson.open || bottom - y >= LESSON_CHART_H))
        window_draw_chart(view, (Box){side.x, y, side.w, bottom - y});
    else if (!view->state->lesson.open)
        words(view, (Box){side.x, y, side.w, bottom - y});
    if (has_course)
        window_draw_course(view, (Box){side.x, bottom + 8, side.w, WINDOW_COURSE_H - 8});
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
