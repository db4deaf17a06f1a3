/* SPDX-License-Identifier: MIT */
/* How long each stage of a frame takes, from features to pixels. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    Ink ink;
    uint32_t texture;
} looks[STAGE_COUNT] = {
    [STAGE_FEATURES] = {INK_FEATURES, 0x2588}, [STAGE_MAP] = {INK_INDEX, 0x2592},
    [STAGE_ENCODE] = {INK_DEPTH, 0x2593},      [STAGE_UPLOAD] = {INK_RULE, 0x2591},
    [STAGE_POOL] = {INK_ACCENT, 0x2588},       [STAGE_READ] = {INK_MUTED, 0x2592},
    [STAGE_DRAW] = {INK_OUTPUT, 0x2593},
};

/* Fills a segment for each stage, and their total. A stale stage did not run for this frame: its
 * segment is 0. Returns how many stages have a time, stale ones too. */
static int collect_segments(const LiveData *live, Segment segments[STAGE_COUNT], double *total) {
    int known = 0;
    *total = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const Reading *us = &live->stages_us[stage];
        bool counts = us->source && !us->stale;
        segments[stage] = (Segment){counts ? us->value : 0, looks[stage].ink, looks[stage].texture};
        *total += segments[stage].value;
        known += us->source != SOURCE_UNKNOWN;
    }
    return known;
}

/* The order of the legend. Pooling comes first, since later entries may have no room. */
static const Stage legend_order[STAGE_COUNT] = {
    STAGE_POOL, STAGE_MAP, STAGE_FEATURES, STAGE_DRAW, STAGE_READ, STAGE_ENCODE, STAGE_UPLOAD};

/* Writes a stage's name and time. A map that was made for this frame has its ratio to the pooling.
 */
static void entry_text(const LiveData *live, Stage stage, char *text, size_t size) {
    snprintf(text, size, "%s %s%s", stage_names[stage],
             reading_text(UNIT_US, &live->stages_us[stage]).text,
             reading_mark(&live->stages_us[stage]));
    const Reading *us = &live->stages_us[stage], *pool = &live->stages_us[STAGE_POOL];
    if (stage == STAGE_MAP && !us->stale && pool->source && !pool->stale && pool->value > 0)
        text_add(text, size, ", %.1f x pool", us->value / pool->value);
}

/* The place of the legend's next entry. On a quiet sheet rows are only counted. */
typedef struct {
    Sheet *sheet;
    Area area;
    int x, rows;
} Legend;

/* Puts an entry, which is not broken, on this or the next row. STAGE_COUNT: it has no colour. */
static void put_entry(Legend *legend, Stage stage, const char *text) {
    Sheet *sheet = legend->sheet;
    Area area = legend->area;
    int mark = stage < STAGE_COUNT ? 2 : 0, width = sheet_width(sheet, text) + mark;
    if (legend->x + width > area.x + area.w) {
        legend->x = area.x;
        legend->rows++;
    }
    int y = area.y + legend->rows - 1;
    if (legend->rows <= area.h) {
        if (mark)
            sheet_key(sheet, legend->x, y, looks[stage].ink, looks[stage].texture);
        sheet_text(sheet, legend->x + mark, y, width, cell_style(mark ? INK_TEXT : INK_MUTED),
                   text);
    }
    legend->x += width + 2;
}

/* Draws each known stage with its time, then the time from key to picture. Returns its rows. */
static int draw_legend(Sheet *sheet, Area area, const PanelData *data) {
    Legend legend = {sheet, area, area.x, 1};
    const Pace *pace = &data->state->pace;
    char text[96];
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (!data->live->stages_us[legend_order[i]].source)
            continue;
        entry_text(data->live, legend_order[i], text, sizeof text);
        put_entry(&legend, legend_order[i], text);
    }
    if (pace->keys) {
        snprintf(text, sizeof text, "key to picture %s, p99 %s",
                 reading_text(UNIT_US, &pace->key_us).text,
                 reading_text(UNIT_US, &pace->key_p99_us).text);
        put_entry(&legend, STAGE_COUNT, text);
    }
    return legend.rows;
}

/* Whether any stage has a time. Scripts have no clock, and so no times. */
bool pipeline_shown(const PanelData *data) {
    Segment segments[STAGE_COUNT];
    double total;
    return collect_segments(data->live, segments, &total) > 0;
}

void pipeline_draw(Sheet *sheet, Area area, const PanelData *data) {
    Segment segments[STAGE_COUNT];
    double total;
    bool some_stale = false;
    char note[96];
    collect_segments(data->live, segments, &total);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        some_stale |= data->live->stages_us[stage].stale;
    const BevKernel *stand_in = data->live->stand_in;
    snprintf(note, sizeof note, "%s a frame, each stage once%s%s%s",
             text_of_figure(UNIT_US, total).text, some_stale ? ", ! stale: not counted" : "",
             stand_in ? ", pooled by " : "",
             stand_in ? stand_in->title : "");
    area = sheet_title(sheet, area, "Pipeline, features to pixels", note);
    sheet_stack(sheet, area.x, area.y, area.w, segments, STAGE_COUNT, total, NAN);
    draw_legend(sheet, (Area){area.x, area.y + 1, area.w, area.h - 1}, data);
}
