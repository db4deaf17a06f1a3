/* Every control with its keys, what it stands at and what it does. All of them keep working while
 * it is shown. */
#include "src/view/term/panel.h"

#include "src/state/help.h"

#include <stdio.h>

static void draw_control(Cells *cells, int x, int y, const State *state, const KeyRow *row) {
    char text[64];
    keys_label(row, text, sizeof text);
    cells_text(cells, x, y, HELP_KEYS_W - 1, cell_bold(INK_ACCENT), text);
    x += HELP_KEYS_W;
    cells_text(cells, x, y, HELP_WORD_W - 1, cell_style(INK_TEXT), row->word);
    x += HELP_WORD_W;
    state_value(state, row->action, text, sizeof text);
    cells_text(cells, x, y, HELP_VALUE_W, cell_bold(INK_TITLE), text);
    x += HELP_VALUE_W;
    cells_text(cells, x + 1, y, HELP_TEXT_W - 1, cell_style(INK_MUTED), row->help);
}

void help_draw(Cells *cells, Area area, const Show *show) {
    const State *state = show->state;
    HelpLayout layout = help_layout(cells->columns, cells->rows);
    int page = state->help_page % layout.pages;
    char note[64] = "keys work here, too; ? or Esc closes";
    if (layout.pages > 1)
        snprintf(note, sizeof note, "page %d of %d: ? turns it, Esc closes", page + 1,
                 layout.pages);
    cells_erase(cells, area, INK_DEFAULT);
    area = panel_title(cells, area, "Help", note);
    for (int i = 0; i < ACTION_COUNT; i++) {
        HelpPlace place = help_place(&layout, (Action)i);
        int x = area.x + place.column * (HELP_COLUMN_W + HELP_GAP), y = area.y + place.row;
        if (place.page != page || y >= area.y + area.h)
            continue;
        if (place.heading)
            cells_text(cells, x, y - 1, HELP_COLUMN_W, cell_bold(INK_TITLE),
                       key_groups[keys[i].group]);
        draw_control(cells, x, y, state, &keys[i]);
    }
}
