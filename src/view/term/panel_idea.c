/* The lesson of the selected rung in a sentence, and what it had to prepare for it. */
#include "src/view/term/panel.h"

#include <stdio.h>

enum { MAX_LINES = 3 };

/* A chart needs the rows. */
static bool idea_shown(const Show *show) {
    return show->state->chart == CHART_NONE;
}

static int idea_want(const Show *show, int width) {
    const BevVariant *variant = show->state->job.choice.variant;
    return 1 + draw_paragraph(NULL, (Area){0, 0, width, MAX_LINES}, INK_TEXT, variant->idea);
}

/* What stands beside the launch: made once a calibration, never counted as latency. */
static void prepared_text(const LiveKernel *kernel, char *text, size_t size) {
    char time[32];
    text[0] = '\0';
    if (!kernel || !kernel->variant->prepare || !kernel->prepare_us.source)
        return;
    reading_text(UNIT_US, &kernel->prepare_us, time, sizeof time);
    snprintf(text, size, "prepared once: %s, %s", time,
             source_names[kernel->prepare_us.source]);
}

static void idea_draw(Cells *cells, Area area, const Show *show) {
    const BevVariant *variant = show->state->job.choice.variant;
    char title[64], note[64];
    snprintf(title, sizeof title, "The idea of %s", variant->title);
    prepared_text(live_kernel(show->live, variant), note, sizeof note);
    draw_paragraph(cells, panel_title(cells, area, title, note), INK_TEXT, variant->idea);
}

const DashPanel idea_panel = {.name = "idea",
                              .fold = 0,
                              .spare = true,
                              .grow = 7,
                              .height = 3,
                              .want = idea_want,
                              .shown = idea_shown,
                              .draw = idea_draw};
