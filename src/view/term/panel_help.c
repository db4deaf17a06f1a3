/* The help screen: every control with its keys, its value and what it does, or the glossary. All
 * controls keep working while it is shown. */
#include "src/view/term/panel.h"

#include "src/state/glossary.h"
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

static void draw_controls(Cells *cells, Area area, const State *state, int page) {
    HelpLayout layout = help_layout(cells->columns, cells->rows);
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

static void draw_glossary(Cells *cells, Area area, int page) {
    HelpLayout layout = help_glossary(cells->columns, cells->rows);
    int width = help_glossary_width(&layout, cells->columns);
    for (int i = 0; i < glossary_count; i++) {
        int height;
        HelpPlace place = help_glossary_place(&layout, cells->columns, i, &height);
        int x = area.x + place.column * (width + HELP_GAP), y = area.y + place.row;
        int room = area.y + area.h - y;
        if (place.page != page || room <= 0)
            continue;
        cells_text(cells, x, y, GLOSSARY_WORD_MAX, cell_bold(INK_ACCENT), glossary[i].word);
        draw_paragraph(
            cells,
            (Area){x + GLOSSARY_INDENT, y, width - GLOSSARY_INDENT, height < room ? height : room},
            INK_TEXT, glossary[i].text);
    }
}

void help_draw(Cells *cells, Area area, const Show *show) {
    const State *state = show->state;
    HelpLayout layout = state->glossary ? help_glossary(cells->columns, cells->rows)
                                        : help_layout(cells->columns, cells->rows);
    int page = state->help_page % layout.pages;
    char turn[16], close[16], note[96];
    keys_name(keys[state->glossary ? ACTION_GLOSSARY : ACTION_HELP].keys[0], turn, sizeof turn);
    keys_name(keys[ACTION_ESCAPE].keys[0], close, sizeof close);
    if (layout.pages > 1)
        snprintf(note, sizeof note, "page %d of %d: %s turns it, %s closes", page + 1, layout.pages,
                 turn, close);
    else
        snprintf(note, sizeof note, "keys work here, too; %s or %s closes", turn, close);
    cells_erase(cells, area, INK_DEFAULT);
    area = panel_title(cells, area, state->glossary ? "Glossary" : "Help", note);
    if (state->glossary)
        draw_glossary(cells, area, page);
    else
        draw_controls(cells, area, state, page);
}
