/* What was run, on what, how fast: one column a selection. Unknown is "n/a", never 0. */
#include "src/scene/scatter.h"
#include "src/view/figure/figure_internal.h"
#include "src/view/draw/text.h"

#include <stdio.h>

enum { ROW = 24, HEADING_ROW = 28, LABEL_W = 96, VALUE_MAX = 128 };

static const char *const source_titles[] = {"n/a", "measured", "recorded", "model"};

static void copy(const char *text, char *value) {
    snprintf(value, VALUE_MAX, "%s", text ? text : "n/a");
}

static void kernel_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].kernel, value);
}

static void dtype_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].dtype, value);
}

static void align_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].align, value);
}

static void device_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].device, value);
}

static void latency_fact(const Figure *figure, int s, char *value) {
    const FigureSelection *config = &figure->spec->selections[s];
    char time[32];
    text_microseconds(config->latency_us, time, sizeof time);
    if (config->latency_source == SOURCE_UNKNOWN || time[0] == 'n')
        copy(NULL, value);
    else
        snprintf(value, VALUE_MAX, "%s (%s)", time, source_titles[config->latency_source]);
}

static ScatterStats stats_of(const Figure *figure, int s) {
    const BevMap *map = figure->spec->selections[s].map;
    if (!map)
        return (ScatterStats){.points = -1, .intervals = -1, .longest = -1};
    return scatter_stats(map, figure->spec->nx * figure->spec->ny);
}

static void points_fact(const Figure *figure, int s, char *value) {
    text_count(stats_of(figure, s).points, value, VALUE_MAX);
}

static void intervals_fact(const Figure *figure, int s, char *value) {
    text_count(stats_of(figure, s).intervals, value, VALUE_MAX);
}

static void longest_fact(const Figure *figure, int s, char *value) {
    ScatterStats stats = stats_of(figure, s);
    char count[32];
    text_count(stats.longest, count, sizeof count);
    if (stats.longest < 0)
        copy(NULL, value);
    else
        snprintf(value, VALUE_MAX, "%s points", count);
}

static void grid_fact(const Figure *figure, int s, char *value) {
    (void)s;
    const Grid *grid = &figure->grid;
    double dx = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / grid->ny;
    int used = snprintf(value, VALUE_MAX, "%d \u00d7 %d cells", grid->nx, grid->ny);
    if (figure->spec->rig && dx == dy)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
    else if (figure->spec->rig)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g m", dx, dy);
}

static void channels_fact(const Figure *figure, int s, char *value) {
    (void)s;
    text_count(figure->spec->channels, value, VALUE_MAX);
}

static const struct {
    const char *label;
    void (*write)(const Figure *figure, int config, char *value);
    bool shared; /* the same for every selection: written once, across the columns */
} facts[] = {
    {"Kernel", kernel_fact, false},
    {"Format", dtype_fact, false},
    {"Alignment", align_fact, false},
    {"Device", device_fact, false},
    {"Latency", latency_fact, false},
    {"Points", points_fact, false},
    {"Intervals", intervals_fact, false},
    {"Longest", longest_fact, false},
    {"Grid", grid_fact, true},
    {"Channels", channels_fact, true},
};

double facts_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    int columns = figure->spec->selection_count;
    double column_w = (w - LABEL_W) / columns, y = top;
    TextStyle head = style_heading(pen), label = style_body(pen), value_style = style_body(pen);
    label.color = pen->theme->muted;
    pen_text(pen, x, y + SIZE_HEADING, LABEL_W, &head, "Run");
    for (int s = 0; columns > 1 && s < columns; s++)
        pen_text(pen, x + LABEL_W + s * column_w, y + SIZE_HEADING, column_w, &head,
                 figure->panels[s].letter);
    y += HEADING_ROW;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++, y += ROW) {
        double baseline = y + ROW / 2.0 + 0.36 * SIZE_BODY;
        pen_text(pen, x, baseline, LABEL_W - 8, &label, facts[i].label);
        int written = facts[i].shared ? 1 : columns;
        for (int s = 0; s < written; s++) {
            char value[VALUE_MAX];
            facts[i].write(figure, s, value);
            pen_text(pen, x + LABEL_W + s * column_w, baseline,
                     facts[i].shared ? w - LABEL_W : column_w - 12, &value_style, value);
        }
    }
    return y - top;
}
