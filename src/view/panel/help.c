/* SPDX-License-Identifier: MIT */
/* The help: the table of keys, or the glossary. Both scroll by entries. */
#include "src/view/panel/panel.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_W = 13, WORD_W = 12, VALUE_W = 12, TEXT_W = HELP_TEXT_W };

/* A narrow row has no value. */
static void draw_control(Sheet *sheet, Area row, const State *state, const KeyRow *control) {
    const bool narrow = row.w < KEYS_W + WORD_W + VALUE_W + TEXT_W;
    sheet_cell(sheet, &row, KEYS_W, cell_bold(INK_ACCENT), keys_label(control).text);
    sheet_cell(sheet, &row, WORD_W, cell_style(INK_TEXT), control->word);
    if (!narrow)
        sheet_line(sheet, area_columns(&row, VALUE_W), cell_bold(INK_TITLE),
                   state_value(state, control->action).text);
    sheet_line(sheet, area_behind(row, 1), cell_style(INK_MUTED), control->help);
}

/* The word that the glossary was opened at stands on the paper of a selection. */
static void draw_word(Sheet *sheet, Area area, const GlossaryRow *row, bool opened) {
    CellStyle word = cell_bold(INK_ACCENT);
    if (opened) {
        sheet_paper(sheet, area, INK_SELECTED);
        word.attributes |= sheet->color ? 0 : CELL_REVERSE;
    }
    sheet_line(sheet, area_columns(&area, GLOSSARY_INDENT), word, row->word);
    sheet_paragraph(sheet, area, INK_TEXT, row->text);
}

/* Whether a heading stands above the control: its group begins there, or the drawing does. */
static bool has_heading(int entry, int first) {
    return entry == first || keys[keys_direct(entry)].group != keys[keys_direct(entry - 1)].group;
}

static int entry_rows(const Sheet *sheet, int w, const State *state, int entry, int first) {
    enum { MOST_ROWS = 32 };
    const Area text = {0, 0, w - GLOSSARY_INDENT, MOST_ROWS};
    return state->glossary ? sheet_paragraph_rows(sheet, text, INK_TEXT, glossary[entry].text)
                           : 1 + has_heading(entry, first);
}

int help_rows(const Sheet *sheet, int w, const State *state) {
    int rows = 0;
    for (int entry = 0; entry < help_entries(state); entry++)
        rows += entry_rows(sheet, w, state, entry, 0);
    return rows;
}

/* Returns the entry at the top: the chosen one, unless those from it on leave rows empty. */
static int first_entry(const Sheet *sheet, Area area, const State *state) {
    int first = help_entries(state), rows = 0;
    while (first > 0 && rows <= area.h)
        rows += entry_rows(sheet, area.w, state, --first, 0);
    first += rows > area.h;
    return state->help_first < first ? state->help_first : first;
}

static void draw_entries(Sheet *sheet, Area area, const State *state) {
    const int first = first_entry(sheet, area, state);
    for (int entry = first; entry < help_entries(state); entry++) {
        const KeyRow *control = &keys[keys_direct(entry)];
        int rows = entry_rows(sheet, area.w, state, entry, first);
        if (rows > area.h)
            return;
        Area row = {area.x, area.y, area.w, rows};
        if (state->glossary) {
            draw_word(sheet, row, &glossary[entry], entry == state->glossary_row);
        } else {
            if (rows > 1)
                sheet_line(sheet, row, cell_bold(INK_TITLE), key_groups[control->group]);
            draw_control(sheet, area_below(row, rows - 1), state, control);
        }
        area = area_below(area, rows);
    }
}

void help_draw(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    const char *title = state->glossary ? "Glossary" : "Help";
    const char *mouse = sheet->pixels ? "mouse: wheel zooms, drag moves, right click finds"
                                      : "Shift + mouse selects text";
    const bool scrolls = help_rows(sheet, area.w, state) > area.h - 1 - sheet->pixels;
    const ShortText brief =
        short_text("%s%s closes; : finds everything else", scrolls ? "PgUp PgDn scroll, " : "",
                   key_of(ACTION_ESCAPE).name);
    const ShortText note = short_text("%s; %s", brief.text, mouse);
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    area = sheet_title(sheet, area, title, sheet_note(sheet, area, title, note.text, brief.text));
    draw_entries(sheet, area_below(area, sheet->pixels), state);
}
