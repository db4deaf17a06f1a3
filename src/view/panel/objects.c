/* Where the mass of the true objects lies: by range, of the selection and of a baseline. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

static int bands_shown(const LiveObjects *objects) {
    int count = 0;
    for (int band = 0; band < OBJECT_BANDS; band++)
        count += objects->now[band].count > 0;
    return count;
}

/* Whether a fault or a comparison may have moved the objects. */
static bool is_changed(const PanelData *data) {
    const Job *job = &data->live->job;
    char text[8];
    bool changed = data->live->objects.compared;
    for (int i = 0; !changed && i < data->state->scene.camera_count; i++)
        changed = camera_faults(job, i, text, sizeof text);
    return changed;
}

bool objects_shown(const PanelData *data) {
    const LiveObjects *objects = &data->live->objects;
    return objects->known && bands_shown(objects) > 0 && is_changed(data);
}

/* clang-format off */
enum { COL_RANGE, COL_COUNT, COL_SHARE, COL_OFF, COL_BASE_SHARE, COL_BASE_OFF, COLUMNS };
/* clang-format on */

static const Column columns[COLUMNS] = {
    [COL_RANGE] = {"range", 12, 0, true},         [COL_COUNT] = {"objects", 10, 3, false},
    [COL_SHARE] = {"in box", 6, 0, false},        [COL_OFF] = {"off", 7, 0, false},
    [COL_BASE_SHARE] = {"baseline", 8, 2, false}, [COL_BASE_OFF] = {"off", 7, 1, false},
};

static void draw_figures(Table *table, int share, int off, const ObjectBand *band) {
    char text[32];
    snprintf(text, sizeof text, isfinite(band->share) ? "%.0f %%" : "n/a", 100 * band->share);
    table_cell(table, share, text);
    snprintf(text, sizeof text, isfinite(band->offset_m) ? "%.2f m" : "n/a", band->offset_m);
    table_cell(table, off, text);
}

void objects_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveObjects *objects = &data->live->objects;
    area = sheet_title(sheet, area, "True objects", "computed: by map and depth, any kernel");
    Table table;
    table_begin(&table, sheet, area, columns, objects->compared ? COLUMNS : COL_BASE_SHARE, NULL);
    for (int band = 0; band < OBJECT_BANDS && table.y < area.y + area.h; band++) {
        char text[32];
        if (!objects->now[band].count)
            continue;
        table.style = cell_style(INK_TEXT);
        object_band_text(band, text, sizeof text);
        table_cell(&table, COL_RANGE, text);
        const ObjectBand *now = &objects->now[band];
        snprintf(text, sizeof text, now->lost ? "%d, %d lost" : "%d", now->count, now->lost);
        table_cell(&table, COL_COUNT, text);
        draw_figures(&table, COL_SHARE, COL_OFF, &objects->now[band]);
        if (objects->compared)
            draw_figures(&table, COL_BASE_SHARE, COL_BASE_OFF, &objects->baseline[band]);
        table.y++;
    }
}
