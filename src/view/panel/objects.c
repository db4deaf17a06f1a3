/* SPDX-License-Identifier: MIT */
/* How far faults move the ground-truth objects: by range, of the selection and of a baseline. */
#include "src/view/panel/panel.h"

bool objects_shown(const PanelData *data) {
    const LiveObjects *objects = &data->live->objects;
    int objects_now = 0;
    for (int band = 0; band < OBJECT_BANDS; band++)
        objects_now += objects->now[band].count;
    return objects->known && objects_now > 0; /* known: a camera of either job has a fault */
}

/* clang-format off */
enum { COL_RANGE, COL_COUNT, COL_SHARE, COL_ERROR, COL_ALONG, COL_ACROSS, COL_BASE_SHARE,
       COL_BASE_ERROR, COLUMNS };

static const Column columns[COLUMNS] = {
    [COL_RANGE] = {"range", 12, 0, true},         [COL_COUNT] = {"objects", 10, 0, false},
    [COL_SHARE] = {"in box", 13, 3, false},        [COL_ERROR] = {"error m", 7, 0, false},
    [COL_ALONG] = {"along", 6, 1, false},         [COL_ACROSS] = {"across", 6, 1, false},
    [COL_BASE_SHARE] = {"baseline", 8, 4, false}, [COL_BASE_ERROR] = {"error m", 7, 2, false},
};
/* clang-format on */

void objects_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveObjects *objects = &data->live->objects;
    area = sheet_title(sheet, area, "Ground truth",
                       "in box: weight in the object's own box, was: without fault");
    Table table;
    table_begin(&table, sheet, area, columns, objects->compared ? COLUMNS : COL_BASE_SHARE, NULL);
    for (int band = 0; band < OBJECT_BANDS && table.y < area.y + area.h; band++) {
        const ObjectBand *now = &objects->now[band], *baseline = &objects->baseline[band];
        if (!now->count)
            continue;
        table.style = cell_style(INK_TEXT);
        table_cell(&table, COL_RANGE, object_band_text(band).text);
        table_cell(&table, COL_COUNT,
                   short_text(now->lost ? "%d, %d lost" : "%d", now->count, now->lost).text);
        table_cell(&table, COL_SHARE,
                   short_text("%.0f, was %.0f %%", 100 * now->share, 100 * now->right_share).text);
        table_number(&table, COL_ERROR, "%.2f", now->error_m);
        table_number(&table, COL_ALONG, "%+.2f", now->along_m);
        table_number(&table, COL_ACROSS, "%+.2f", now->across_m);
        if (objects->compared) {
            table_number(&table, COL_BASE_SHARE, "%.0f %%", 100 * baseline->share);
            table_number(&table, COL_BASE_ERROR, "%.2f", baseline->error_m);
        }
        table.y++;
    }
}
