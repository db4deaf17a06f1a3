/* The lesson of the selected kernel in a sentence, and what it had to prepare for it. */
#include "src/view/term/panel.h"

#include <stdio.h>

enum { MAX_LINES = 3 };

/* A chart needs the rows. */
static bool idea_shown(const Show *show) {
    return show->state->chart == CHART_NONE;
}

static int idea_want(const Show *show, int width) {
    const BevKernel *kernel = show->state->job.config.kernel;
    return 1 + draw_paragraph(NULL, (Area){0, 0, width, MAX_LINES}, INK_TEXT, kernel->idea);
}

/* What stands beside the launch: made once a calibration, never counted as latency. */
static void prepared_text(const LiveKernel *row, char *text, size_t size) {
    char time[32];
    text[0] = '\0';
    if (!row || !row->kernel->prepare || !row->prepare_us.source)
        return;
    reading_text(UNIT_US, &row->prepare_us, time, sizeof time);
    snprintf(text, size, "prepared once: %s, %s", time, source_names[row->prepare_us.source]);
}

static void idea_draw(Cells *cells, Area area, const Show *show) {
    const BevKernel *kernel = show->state->job.config.kernel;
    char title[64], note[64];
    snprintf(title, sizeof title, "The idea of %s", kernel->title);
    prepared_text(live_kernel(show->live, kernel), note, sizeof note);
    draw_paragraph(cells, panel_title(cells, area, title, note), INK_TEXT, kernel->idea);
}

const DashPanel idea_panel = {.name = "idea",
                              .fold = 0,
                              .spare = true,
                              .grow = 7,
                              .height = 3,
                              .want = idea_want,
                              .shown = idea_shown,
                              .draw = idea_draw};
