/* Where the time of a frame goes, from features to pixels. */
#include "src/view/panel.h"

#include <math.h>
#include <stdio.h>

static const struct {
    Ink ink;
    uint32_t texture;
} looks[STAGE_COUNT] = {
    [STAGE_FEATURES] = {INK_FEATURES, 0x2588}, [STAGE_MAP] = {INK_INDEX, 0x2592},
    [STAGE_ENCODE] = {INK_DEPTH, 0x2593},      [STAGE_UPLOAD] = {INK_RULE, 0x2591},
    [STAGE_POOL] = {INK_ACCENT, 0x2588},       [STAGE_READ] = {INK_MUTED, 0x2592},
    [STAGE_DRAW] = {INK_OUTPUT, 0x2593},
};

static int collect(const LiveData *live, Segment segments[STAGE_COUNT], double *total) {
    int known = 0;
    *total = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const Reading *us = &live->stages_us[stage];
        bool counts = us->source && !us->stale;
        segments[stage] =
            (Segment){counts ? us->value : 0, looks[stage].ink, looks[stage].texture};
        *total += segments[stage].value;
        known += us->source != SOURCE_UNKNOWN;
    }
    return known;
}

/* Pooling first: where not all entries fit, it is the one to know. */
static const Stage legend_order[STAGE_COUNT] = {
    STAGE_POOL, STAGE_FEATURES, STAGE_DRAW, STAGE_READ, STAGE_ENCODE, STAGE_MAP, STAGE_UPLOAD};

static void entry_text(const LiveData *live, Stage stage, char *text, size_t size) {
    char time[32];
    reading_text(UNIT_US, &live->stages_us[stage], time, sizeof time);
    snprintf(text, size, "%s %s%s", stage_names[stage], time,
             reading_mark(&live->stages_us[stage]));
}

/* Each known stage with its colour and time; whole entries only. Returns the rows needed; without
 * cells it only counts them. */
static int draw_legend(Cells *cells, Area area, const LiveData *live) {
    int x = area.x, rows = 1;
    for (int i = 0; i < STAGE_COUNT; i++) {
        Stage stage = legend_order[i];
        char text[64];
        if (!live->stages_us[stage].source)
            continue;
        entry_text(live, stage, text, sizeof text);
        int width = cells_width(text) + 2;
        if (x + width > area.x + area.w) {
            x = area.x;
            rows++;
        }
        if (cells && rows <= area.h) {
            cells_put(cells, x, area.y + rows - 1, cells->color ? 0x25a0 : looks[stage].texture,
                      cell_style(looks[stage].ink));
            cells_text(cells, x + 2, area.y + rows - 1, width, cell_style(INK_TEXT), text);
        }
        x += width + 2;
    }
    return rows;
}

static int pipeline_want(const Show *show, int width) {
    return 2 + draw_legend(NULL, (Area){0, 0, width, 0}, show->live);
}

static void pipeline_draw(Cells *cells, Area area, const Show *show) {
    Segment segments[STAGE_COUNT];
    double total;
    int known = collect(show->live, segments, &total);
    char note[64] = "n/a", time[32];
    if (known) {
        figure_text(UNIT_US, total, time, sizeof time);
        snprintf(note, sizeof note, "%s a frame", time);
    }
    area = panel_title(cells, area, "Pipeline, features to pixels", note);
    if (!known)
        return;
    draw_stack(cells, area.x, area.y, area.w, segments, STAGE_COUNT, total, NAN);
    draw_legend(cells, (Area){area.x, area.y + 1, area.w, area.h - 1}, show->live);
}

const DashPanel pipeline_panel = {.name = "pipeline",
                                  .fold = 1,
                                  .grow = 5,
                                  .height = 3,
                                  .want = pipeline_want,
                                  .draw = pipeline_draw};
