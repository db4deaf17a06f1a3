/* SPDX-License-Identifier: MIT */
/* How long each stage of a frame takes, from features to pixels. */
#include "src/view/panel/panel.h"

#include <math.h>

static const struct {
    Ink ink;
    uint32_t texture;
} looks[STAGE_COUNT] = {
    [STAGE_FEATURES] = {INK_FEATURES, 0x2588}, [STAGE_MAP] = {INK_INDEX, 0x2592},
    [STAGE_ENCODE] = {INK_DEPTH, 0x2593},      [STAGE_UPLOAD] = {INK_RULE, 0x2591},
    [STAGE_POOL] = {INK_ACCENT, 0x2588},       [STAGE_READ] = {INK_MUTED, 0x2592},
    [STAGE_DRAW] = {INK_OUTPUT, 0x2593},
};

/* The order of the legend. Pooling comes first, since later entries may have no room. */
static const Stage legend_order[STAGE_COUNT] = {
    STAGE_POOL, STAGE_MAP, STAGE_FEATURES, STAGE_DRAW, STAGE_READ, STAGE_ENCODE, STAGE_UPLOAD};

/* Returns a stage's name and time. A map that was made for this frame has its ratio to the pooling.
 */
static ShortText entry_text(const LiveData *live, Stage stage) {
    const Reading *us = &live->stages_us[stage], *pool = &live->stages_us[STAGE_POOL];
    bool pooled = !us->stale && pool->source && !pool->stale && pool->value > 0;
    return short_text(stage == STAGE_MAP && pooled ? "%s %s%s, %.1f x pool" : "%s %s%s",
                      stage_names[stage], reading_text(UNIT_US, us).text, reading_mark(us),
                      us->value / pool->value);
}

/* Puts an entry behind the others, or whole into the next row where it does not fit. STAGE_COUNT:
 * an entry without a colour. */
static void put_entry(Sheet *sheet, Area *row, Area *below, Stage stage, const char *text) {
    const bool colored = stage < STAGE_COUNT;
    const int width = sheet_width(sheet, text);
    if (width + (colored ? 2 : 0) > row->w)
        *row = area_row(below);
    if (colored)
        sheet_key(sheet, row, looks[stage].ink, looks[stage].texture);
    sheet_line(sheet, *row, cell_style(colored ? INK_TEXT : INK_MUTED), text);
    area_columns(row, width + 2);
}

/* Draws each known stage with its time, then the time from key to picture. */
static void draw_legend(Sheet *sheet, Area area, const PanelData *data) {
    const Pace *pace = &data->state->pace;
    Area row = area_row(&area);
    for (int i = 0; i < STAGE_COUNT; i++)
        if (data->live->stages_us[legend_order[i]].source)
            put_entry(sheet, &row, &area, legend_order[i],
                      entry_text(data->live, legend_order[i]).text);
    if (pace->keys)
        put_entry(sheet, &row, &area, STAGE_COUNT,
                  short_text("key to picture %s, p99 %s", reading_text(UNIT_US, &pace->key_us).text,
                             reading_text(UNIT_US, &pace->key_p99_us).text)
                      .text);
}

/* Whether any stage has a time. Scripts have no clock, and so no times. */
bool pipeline_shown(const PanelData *data) {
    bool known = false;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        known |= data->live->stages_us[stage].source != SOURCE_UNKNOWN;
    return known;
}

void pipeline_draw(Sheet *sheet, Area area, const PanelData *data) {
    Segment segments[STAGE_COUNT];
    double total = 0;
    bool some_stale = false;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const Reading *us = &data->live->stages_us[stage];
        bool counts = us->source && !us->stale; /* a stale stage did not run for this frame */
        segments[stage] = (Segment){counts ? us->value : 0, looks[stage].ink, looks[stage].texture};
        total += segments[stage].value;
        some_stale |= us->stale;
    }
    const BevKernel *stand_in = data->live->stand_in;
    const ShortText note =
        short_text("%s a frame, each stage once%s%s%s", text_of_figure(UNIT_US, total).text,
                   some_stale ? ", ! stale: not counted" : "", stand_in ? ", pooled by " : "",
                   stand_in ? stand_in->title : "");
    area = sheet_title(sheet, area, "Pipeline, features to pixels", note.text);
    sheet_stack(sheet, area_row(&area), segments, STAGE_COUNT, total, NAN);
    draw_legend(sheet, area, data);
}
