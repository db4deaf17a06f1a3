/* SPDX-License-Identifier: MIT */
/* Every panel in cells, where nothing is drawn twice, and in pixels, where each text has a place.
 */
#include "src/view/panel/panel.h"
#include "tests/view/page_texts.h"
#include "tests/support/screen.h"

enum { COLUMNS = 70, ROWS = 40, W = 540, H = ROWS * SHEET_ROW };

static Spots clicks; /* of the last drawing in pixels */

/* In the middle of a larger page, so that what leaves the panel's box is seen. */
static void draw_page(Pen *pen, const void *context) {
    const Panel *panel = context;
    const PanelData data = {.state = &state, .live = &live};
    Sheet sheet = pen_sheet(pen, (Box){W, H, W, H}, SHEET_ROW, &clicks);
    clicks.count = 0;
    panel->draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* Texts that lie on another one or leave the box; -1: there is none at all. */
static int wrong_texts(const Panel *panel, FigureTheme theme) {
    const PageSpec page = {3 * W, 3 * H, 1, theme, draw_page, panel, NULL};
    FigureLayout layout;
    Err err;
    if (!page_layout(&page, &layout, &err) || !layout.count)
        return -1;
    /* A chart's labels may stand a little beside it. */
    int wrong = count_outside(&layout, (Box){W, H, W, H}, 12) + count_overlaps(&layout, 2);
    figure_layout_free(&layout);
    return wrong;
}

static bool drawn_in_cells(const Panel *panel) {
    const PanelData data = {.state = &state, .live = &live};
    cells_clear(&cells);
    Sheet sheet = cells_sheet(&cells), quiet = sheet_quiet(&sheet);
    int want = panel_want(&quiet, panel, &data, COLUMNS);
    bool blank = true;
    for (int i = 0; i < COLUMNS * ROWS; i++)
        blank &= !cells.cells[i].drawn;
    panel->draw(&sheet, (Area){0, 0, COLUMNS, ROWS}, &data);
    return blank && want > 0 && shows(" ") && !cells.collisions && cells.cells[0].drawn;
}

SCREEN_SUITE(panels) {
    int count = 0, seen = 0;
    for (int i = 0; all_panels[i]; i++, count++) {
        begin_simulated(COLUMNS, ROWS);
        use("chart mrc");
        const PanelData data = {.state = &state, .live = &live};
        if (all_panels[i]->shown && !all_panels[i]->shown(&data))
            continue;
        seen++;
        tap_ok(drawn_in_cells(all_panels[i]),
               "panel %d in cells: measured without a trace, drawn once", i);
        int dark = wrong_texts(all_panels[i], THEME_DARK),
            light = wrong_texts(all_panels[i], THEME_LIGHT);
        tap_ok(!dark && !light, "panel %d in pixels: every text has its place (%d, %d)", i, dark,
               light);
        if (all_panels[i] == &kernels_panel)
            tap_ok(clicks.count == ladder_of(&state, &live).count &&
                       spots_at(&clicks, clicks.list[2].box.x + 1, clicks.list[2].box.y + 1) ==
                           &clicks.list[2].command,
                   "each kernel can be clicked");
    }
    tap_ok(seen >= 8 && seen < count, "%d of %d panels are shown in this state", seen, count);
}

/* A cell with points may still be empty. */
SCREEN_SUITE(panels_empty_cell) {
    begin(COLUMNS, ROWS);
    LiveProbe *probe = &live.probe;
    live.frame.nx = live.frame.ny = 200;
    *probe = (LiveProbe){
        .cell = 5, .interval = 2, .points = 3, .channel = -1, .bin_least = 4, .bin_most = 9};
    probe->contribution_count = 3;
    tap_ok(drawn_in_cells(&cell_panel) && shows("3 points; depth bins 4 to 9") &&
               shows("each has probability 0 and adds nothing"),
           "points without a probability say why nothing arrives");
    state.pinned = true;
    probe->contributions[0] = (LiveContribution){.depth = 0.25f, .weight = 1};
    tap_ok(drawn_in_cells(&cell_panel) && !shows("has probability 0") &&
               shows("and 2 more, near 0"),
           "others do not; a point that brings nothing has no row");
}
