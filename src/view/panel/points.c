/* SPDX-License-Identifier: MIT */
/* The points of a cell: a curve of the interval lengths, and the longest one. */
#include "src/state/live_data.h"
#include "src/view/panel/panel.h"

#include <math.h>

enum { BUCKET_W = 5 };

void points_draw(Sheet *sheet, Area area, const PanelData *data) {
    const MapIntervals *intervals = &data->live->intervals;
    const ScatterStats *stats = &intervals->stats;
    const char *of = intervals->of_pixels ? "pixel" : "cell";
    ShortText note = {""};
    double heights[LENGTH_BUCKETS];
    int last = 0, buckets = area.w / BUCKET_W < LENGTH_BUCKETS ? area.w / BUCKET_W : LENGTH_BUCKETS;
    int64_t most = 1;
    if (intervals->known)
        note =
            short_text("%s %ss, median %d", text_of_unit(UNIT_COUNT, (double)stats->intervals).text,
                       of, stats->median);
    area = sheet_title(sheet, area, short_text("Points of a %s", of).text, note.text);
    if (!intervals->known)
        return;
    for (int i = 0; i < LENGTH_BUCKETS; i++) {
        last = intervals->intervals[i] ? i + 1 : last;
        most = intervals->intervals[i] > most ? intervals->intervals[i] : most;
    }
    buckets = last < buckets ? last : buckets;
    for (int i = 0; i < buckets; i++)
        heights[i] = sqrt((double)intervals->intervals[i] / (double)most);
    if (buckets)
        sheet_bars(sheet, (Area){area.x, area.y, buckets * BUCKET_W, 1}, heights, buckets,
                   INK_INDEX);
    for (int i = 0; i < buckets && area.h > 1; i++)
        sheet_text(sheet, area.x + i * BUCKET_W, area.y + 1, BUCKET_W, cell_style(INK_MUTED),
                   short_text("%d", 1 << i).text);
    ShortText text = short_text("one %s has %d%s", of, stats->longest,
                                live_longest_empty(data->live) ? ", all of probability 0" : "");
    int x = area.x + buckets * BUCKET_W + 1, w = area.w - buckets * BUCKET_W - 1;
    if (sheet_width(sheet, text.text) > w)
        text = short_text("one %s has %d", of, stats->longest);
    if (sheet_width(sheet, text.text) > w)
        return;
    sheet_right(sheet, x, area.y, w, cell_bold(INK_WARN), text.text);
    if (intervals->of_pixels || stats->longest_cell < 0)
        return;
    sheet_spot(sheet, (Area){x, area.y, w, 2}, ACTION_FULLEST, 0, "");
    text = short_text(":fullest or a click pins %s",
                      state_cell_place(data->state, stats->longest_cell).text);
    if (area.h > 1 && sheet_width(sheet, text.text) <= w)
        sheet_right(sheet, x, area.y + 1, w, cell_style(INK_MUTED), text.text);
}
