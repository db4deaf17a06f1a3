/* SPDX-License-Identifier: MIT */
/* The help: the table of keys, or the glossary. */
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { BRIEF_W = HELP_KEYS_W + HELP_WORD_W + HELP_GAP };

/* A screen of pixels has one page of keys. Without room for the descriptions, it has the names. */
static HelpLayout layout_of(const Sheet *sheet) {
    if (!sheet->pixels)
        return help_layout(sheet->rows);
    HelpLayout layout = {.columns = sheet->columns / (HELP_COLUMN_W - HELP_VALUE_W), .pages = 1};
    if (layout.columns < 1 || help_rows(layout.columns) + 2 > sheet->rows)
        layout.columns = sheet->columns < BRIEF_W ? 1 : sheet->columns / BRIEF_W;
    layout.rows = help_rows(layout.columns);
    return layout;
}

/* A narrow column has no values; a narrower one has the names alone. */
static void draw_control(Sheet *sheet, Area row, const State *state, const KeyRow *control) {
    char text[64];
    int x = row.x + HELP_KEYS_W, value_w = row.w < HELP_COLUMN_W ? 0 : HELP_VALUE_W;
    keys_label(control, text, sizeof text);
    sheet_text(sheet, row.x, row.y, HELP_KEYS_W - 1, cell_bold(INK_ACCENT), text);
    sheet_text(sheet, x, row.y, HELP_WORD_W - 1, cell_style(INK_TEXT), control->word);
    x += HELP_WORD_W;
    if (row.w < HELP_COLUMN_W - HELP_VALUE_W && sheet->pixels)
        return;
    state_value(state, control->action, text, sizeof text);
    if (value_w)
        sheet_text(sheet, x, row.y, value_w, cell_bold(INK_TITLE), text);
    x += value_w + 1;
    sheet_text(sheet, x, row.y, row.x + row.w - x, cell_style(INK_MUTED), control->help);
}

/* Draws one page of the controls that have a direct key, under the headings of their groups. */
static void draw_controls(Sheet *sheet, Area area, const State *state, int page) {
    HelpLayout layout = layout_of(sheet);
    int width = area.w / layout.columns;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (!keys[i].direct)
            continue;
        HelpPlace place = help_place(&layout, (Action)i);
        Area row = {area.x + place.column * width, area.y + place.row, width, 1};
        if (place.page != page || row.y >= area.y + area.h)
            continue;
        if (place.heading)
            sheet_text(sheet, row.x, row.y - 1, width, cell_bold(INK_TITLE),
                       key_groups[keys[i].group]);
        draw_control(sheet, row, state, &keys[i]);
    }
}

/* The entry that the glossary was opened at stands on the paper of a selection. */
static void draw_entry(Sheet *sheet, Area area, const GlossaryRow *row, bool opened) {
    CellStyle word = cell_bold(INK_ACCENT);
    if (opened) {
        sheet_paper(sheet, area, INK_SELECTED);
        word.attributes |= sheet->color ? 0 : CELL_REVERSE;
    }
    sheet_text(sheet, area.x, area.y, GLOSSARY_WORD_MAX, word, row->word);
    area.x += GLOSSARY_INDENT;
    area.w -= GLOSSARY_INDENT;
    sheet_paragraph(sheet, area, INK_TEXT, row->text);
}

static void draw_glossary(Sheet *sheet, Area area, int page, int opened_at) {
    HelpLayout layout = help_glossary(sheet->columns, sheet->rows);
    for (int i = 0; i < glossary_count; i++) {
        int height;
        HelpPlace place = help_glossary_place(&layout, sheet->columns, i, &height);
        int room = area.h - place.row;
        Area entry = {area.x, area.y + place.row, area.w, height < room ? height : room};
        if (place.page == page && room > 0)
            draw_entry(sheet, entry, &glossary[i], i == opened_at);
    }
}

/* In pixels each entry begins below the last line of the entry before. Returns whether all have
 * room. */
static bool flow_glossary(Sheet *sheet, Area area, int opened_at) {
    enum { LEAST_W = 62 };
    int columns = area.w < LEAST_W ? 1 : area.w / LEAST_W, width = area.w / columns, y = 0;
    for (int i = 0, column = 0; i < glossary_count; i++) {
        Area text = {0, 0, width - HELP_GAP - GLOSSARY_INDENT, area.h};
        int height = sheet_paragraph_rows(sheet, text, INK_TEXT, glossary[i].text);
        if (y + height > area.h) {
            y = 0;
            column++;
        }
        if (column == columns)
            return false;
        const Area entry = {area.x + column * width, area.y + y, width - HELP_GAP, height};
        if (!sheet->quiet)
            draw_entry(sheet, entry, &glossary[i], i == opened_at);
        y += height;
    }
    return true;
}

int help_fits(const Sheet *sheet, const State *state, bool brief) {
    HelpLayout layout = layout_of(sheet);
    Sheet quiet = sheet_quiet(sheet);
    if (state->glossary)
        return flow_glossary(&quiet, (Area){0, 2, sheet->columns, sheet->rows - 2}, -1)
                   ? sheet->rows
                   : 0;
    bool fits = layout.rows + 2 <= sheet->rows &&
                (brief || sheet->columns / layout.columns >= HELP_COLUMN_W - HELP_VALUE_W);
    return fits ? layout.rows + 2 : 0;
}

void help_draw(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    HelpLayout layout = !state->glossary ? layout_of(sheet)
                        : sheet->pixels  ? (HelpLayout){.pages = 1}
                                         : help_glossary(sheet->columns, sheet->rows);
    int page = state->help_page % layout.pages;
    KeyText turn = key_of(state->glossary ? ACTION_GLOSSARY : ACTION_HELP);
    KeyText close = key_of(ACTION_ESCAPE);
    char note[128];
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    if (layout.pages > 1)
        snprintf(note, sizeof note, "page %d of %d: %s turns it, %s closes", page + 1, layout.pages,
                 turn.name, close.name);
    else
        snprintf(note, sizeof note, "%s or %s closes; : finds everything else", turn.name,
                 close.name);
    const char *title = state->glossary ? "Glossary" : "Help";
    const char *select = sheet->pixels ? "; mouse: wheel zooms, drag moves, right click finds"
                                       : "; Shift + mouse selects text";
    if (sheet_width(sheet, title) + sheet_width(sheet, note) + sheet_width(sheet, select) + 4 <=
        area.w)
        strcat(note, select);
    area = area_below(sheet_title(sheet, area, title, note), sheet->pixels);
    if (state->glossary && sheet->pixels)
        flow_glossary(sheet, area, state->glossary_row);
    else if (state->glossary)
        draw_glossary(sheet, area, page, state->glossary_row);
    else
        draw_controls(sheet, area, state, page);
}
