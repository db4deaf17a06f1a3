/* Gradient descent on depth: the curve of the loss, and the time of a step. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

enum { TEXT_ROWS = 4, CHART_ROWS = 13 };
static const double LEAST_LOSS = 1e-9; /* that the curve shows: its scale is logarithmic */

static bool training_shown(const PanelData *data) {
    return data->live->frame.training != NULL;
}

static int training_want(Sheet *sheet, const PanelData *data, int width) {
    (void)sheet, (void)width;
    return data->live->frame.training->step > 0 ? CHART_ROWS + TEXT_ROWS : 1 + TEXT_ROWS;
}

/* ---- the curve ------------------------------------------------------------------------------- */

static void draw_curve(Sheet *sheet, Area area, const LiveTraining *training, const char *note) {
    double steps[LIVE_TRAIN_STEPS + 1], values[LIVE_TRAIN_STEPS + 1];
    double least = INFINITY, most = LEAST_LOSS;
    for (int i = 0; i <= training->step; i++) {
        steps[i] = i;
        values[i] = fmax(training->losses[i], LEAST_LOSS);
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    const PlotSeries series = {
        .name = "loss", .x = steps, .y = values, .count = training->step + 1, .strong = true};
    const ChartSpec spec = {.title = "Training: loss by step",
                            .x = {.title = "step", .hi = training->step},
                            .y = {.title = "loss",
                                  .log = true,
                                  .lo = pow(10, floor(log10(least))),
                                  .hi = pow(10, ceil(log10(most * 1.001)))},
                            .series = &series,
                            .series_count = 1};
    sheet_chart(sheet, area, &spec, note);
}

/* ---- the figures ----------------------------------------------------------------------------- */

static void draw_loss(Sheet *sheet, Area line, const LiveTraining *training) {
    char text[96] = "waits for its first step";
    if (training->step >= 0)
        snprintf(text, sizeof text, "loss %.3g, was %.3g", training->losses[training->step],
                 training->losses[0]);
    sheet_line(sheet, line, cell_style(INK_TEXT), text);
}

static void draw_depth(Sheet *sheet, Area line, const LiveTraining *training) {
    char text[96];
    if (training->step < 0)
        return;
    snprintf(text, sizeof text, "depth in wrong bins %.0f %%, was %.0f %%",
             100 * training->depth_error, 100 * training->first_error);
    sheet_line(sheet, line, cell_style(INK_TEXT), text);
}

/* Of one step. */
static void draw_times(Sheet *sheet, Area line, const LiveTraining *training) {
    char text[160], forward[32], backward[32], rest[32];
    reading_text(UNIT_US, &training->forward_us, forward, sizeof forward);
    reading_text(UNIT_US, &training->backward_us, backward, sizeof backward);
    reading_text(UNIT_US, &training->rest_us, rest, sizeof rest);
    snprintf(text, sizeof text, "forward %s, backward %s, rest %s", forward, backward, rest);
    sheet_figures(sheet, line, INK_TEXT, text);
}

/* Most steps raise the loss where the gradient does not lead down. */
static void draw_taken_back(Sheet *sheet, Area line, const LiveTraining *training) {
    char text[96];
    bool most = 2 * training->taken_back > training->step;
    if (!training->taken_back)
        return;
    snprintf(text, sizeof text, "%d of %d steps taken back%s", training->taken_back, training->step,
             most ? ": a wrong gradient?" : "");
    sheet_line(sheet, line, most ? cell_bold(INK_BAD) : cell_style(INK_MUTED), text);
}

static void training_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveTraining *training = data->live->frame.training;
    char note[64] = "";
    if (training->step >= 0)
        snprintf(note, sizeof note, "step %d%s", training->step,
                 training->step >= data->live->job.train_steps ? ", stopped" : "");
    int chart = area.h - TEXT_ROWS;
    if (training->step > 0 && chart >= CHART_CELLS_LEAST) {
        draw_curve(sheet, (Area){area.x, area.y, area.w, chart}, training, note);
        area = (Area){area.x, area.y + chart, area.w, TEXT_ROWS};
    } else {
        area = sheet_title(sheet, area, "Training", note);
    }
    if (training->text[0]) {
        char text[256];
        snprintf(text, sizeof text, "n/a: %s", training->text);
        sheet_paragraph(sheet, area, INK_WARN, text);
        return;
    }
    void (*const lines[TEXT_ROWS])(Sheet *, Area, const LiveTraining *) = {
        draw_loss, draw_depth, draw_times, draw_taken_back};
    for (int i = 0; i < TEXT_ROWS && i < area.h; i++)
        lines[i](sheet, (Area){area.x, area.y + i, area.w, 1}, training);
}

const Panel training_panel = {.origin = ORIGIN_TRAINING,
                              .menu = "train ",
                              .point = PANEL_NONE,
                              .fold = 7,
                              .grow = 1,
                              .height = 5,
                              .want = training_want,
                              .shown = training_shown,
                              .draw = training_draw};
