/* SPDX-License-Identifier: MIT */
/* The command palette: the typed text, the rows that fit, and the chosen row as a line of a
 * script. The help. Both float over the panels. */
#include "src/state/palette.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>

enum { KEY_W = 6, MARK_W = 2 };

/* Returns the rows that the palette wants: its entries, the title and the line at the bottom. */
int palette_want(Sheet *sheet, const PanelData *data, int width) {
    PaletteRow rows[PALETTE_ROWS];
    int want = palette_rows(data->state, data->live, rows) + 2;
    (void)sheet, (void)width;
    return want < PALETTE_LOW ? PALETTE_LOW : want > PALETTE_HIGH ? PALETTE_HIGH : want;
}

/* The texts of a palette row, by column. */
typedef struct {
    const PaletteRow *row;
    ShortText value; /* a control's value; the title of a row that is a value */
    char help[256];  /* the purpose, or the reason why it cannot be used */
    KeyText key;
    bool usable;
} Line;

/* Returns a palette row with the texts of its columns: value, help and key. The help of a group
 * lists its controls. */
static Line line_of(const PanelData *data, const PaletteRow *row) {
    const Action first = row->command.action;
    const bool is_control = row->kind == PALETTE_CONTROL;
    Line line = {.row = row, .usable = true};
    if (row->kind == PALETTE_GROUP) {
        for (int i = (int)first; i < ACTION_COUNT && keys[i].group == keys[first].group; i++)
            text_add(line.help, sizeof line.help, "%s%s", line.help[0] ? ", " : "", keys[i].word);
        return line;
    }
    snprintf(line.help, sizeof line.help, "%s", row->help);
    line.usable = palette_usable(data->state, &row->command, line.help, sizeof line.help);
    line.value = is_control ? state_value(data->state, first) : short_text("%s", row->title);
    if (is_control && keys[first].keys[0])
        line.key = keys_name(keys[first].keys[0]);
    return line;
}

/* The widths of the columns. Names and values take what they need, the help takes the rest. */
typedef struct {
    int name, value, help;
} Widths;

static int wider_text(const Sheet *sheet, int w, const char *text) {
    int wanted = text[0] ? sheet_width(sheet, text) + 2 : 0;
    return wanted > w ? wanted : w;
}

/* Chooses the widths of the palette's columns for the rows that are shown. */
static Widths widths_of(const Sheet *sheet, const Line *lines, int count, int w) {
    enum { VALUE_MOST = 20 };
    Widths widths = {0, 0, 0};
    bool keys_shown = false;
    for (int i = 0; i < count; i++) {
        widths.name = wider_text(sheet, widths.name, lines[i].row->name);
        widths.value = wider_text(sheet, widths.value, lines[i].value.text);
        keys_shown |= lines[i].key.name[0] != '\0';
    }
    widths.name = widths.name < w * 3 / 5 ? widths.name : w * 3 / 5;
    widths.value = widths.value < VALUE_MOST ? widths.value : VALUE_MOST;
    widths.help = w - MARK_W - widths.name - widths.value - (keys_shown ? KEY_W : 0);
    return widths;
}

/* Draws a row of the palette: name, value, help and key. A click on the row does what Enter does.
 * `tries`: the chosen value is in force until Enter or Escape. */
static void draw_row(Sheet *sheet, Area area, const Line *line, Widths widths, bool chosen,
                     bool tries) {
    const Command *command = &line->row->command;
    const Area key = area_behind(area, area.w - KEY_W);
    CellStyle name = cell_style(line->usable ? INK_TEXT : INK_MUTED);
    if (line->row->kind == PALETTE_GROUP)
        sheet_spot(sheet, area, ACTION_COMMANDS, 0, line->row->name);
    else
        sheet_spot(sheet, area, command->action, command->step, command->argument);
    if (chosen) {
        sheet_paper(sheet, area, INK_SELECTED);
        name = cell_bold(line->usable ? INK_ACCENT : INK_MUTED);
    }
    sheet_cell(sheet, &area, MARK_W, cell_bold(INK_ACCENT), chosen ? ">" : "");
    sheet_cell(sheet, &area, widths.name, name, line->row->name);
    sheet_cell(sheet, &area, widths.value,
               chosen && tries ? cell_bold(INK_WARN) : cell_style(INK_TITLE), line->value.text);
    if (widths.help > 8)
        sheet_cell(sheet, &area, widths.help, cell_style(INK_MUTED), line->help);
    sheet_right(sheet, key, cell_style(INK_ACCENT), line->key.name);
}

/* Draws what Enter and Tab do: "Enter, or a script: dtype; Tab: dtype NAME". */
static void draw_foot(Sheet *sheet, Area area, const PanelData *data, const Line *line) {
    const PaletteRow *row = line->row;
    const char *argument = argument_words[keys[row->command.action].argument];
    char text[2 * PALETTE_NAME + 80];
    bool control = row->kind == PALETTE_CONTROL, tries = data->state->palette.tries && control;
    if (row->kind == PALETTE_GROUP)
        snprintf(text, sizeof text, "Enter opens the group");
    else if (palette_drops(data->state, row) && !argument[0])
        snprintf(text, sizeof text, "%s takes no value: %s", row->name,
                 keys[row->command.action].help);
    else if (palette_drops(data->state, row))
        snprintf(text, sizeof text, "%s: no such value; Tab: %s%s", row->name, row->name, argument);
    else if (control && argument[0])
        snprintf(text, sizeof text, "Enter, or a script: %s; Tab: %s%s%s", row->name, row->name,
                 argument, tries ? "; now at " : "");
    else
        snprintf(text, sizeof text, "Enter, or a script: %s", row->name);
    area_columns(&area, sheet_line(sheet, area, cell_style(INK_MUTED), text) + 1);
    if (tries)
        sheet_line(sheet, area, cell_bold(INK_WARN), line->value.text);
}

/* Returns the title's note: which row is chosen, "2 of 12", or why no row is what was typed. */
static ShortText note_text(const Palette *palette, const PaletteRow *rows, int at, int count) {
    const KeyRow *typed = keys_beginning(palette->text);
    if (palette->tries)
        return short_text("Enter keeps it, Esc takes it back");
    if (!count)
        return short_text("nothing has that name");
    const bool lists_typed =
        rows[0].kind == PALETTE_VALUE && &keys[rows[0].command.action] == typed;
    if (typed && typed->list && !lists_typed)
        return short_text("no such %s; like it: %d of %d", typed->word, at + 1, count);
    return short_text("%d of %d", at + 1, count);
}

/* Draws the rows around the chosen row, and below what Enter does, or the row's help if cut. */
void palette_draw(Sheet *sheet, Area area, const PanelData *data) {
    const Palette *palette = &data->state->palette;
    PaletteRow rows[PALETTE_ROWS];
    Line lines[PALETTE_HIGH];
    const int count = palette_rows(data->state, data->live, rows), room = area.h - 2;
    const int at = palette->row < count ? palette->row : count - 1;
    const int first = at >= room ? at - room + 1 : 0;
    const int shown = (int)fmin(count - first, fmin(room, PALETTE_HIGH));
    area = sheet_title(sheet, area, short_text(": %s_", palette->text).text,
                       note_text(palette, rows, at, count).text);
    for (int i = 0; i < shown; i++)
        lines[i] = line_of(data, &rows[first + i]);
    const Widths widths = widths_of(sheet, lines, shown, area.w);
    for (int i = 0; i < shown; i++)
        draw_row(sheet, area_row(&area), &lines[i], widths, first + i == at, palette->tries);
    if (shown < 1)
        return;
    const Area foot = area_below(area, area.h - 1);
    const Line *chosen = &lines[at - first];
    const bool help_is_cut = sheet_width(sheet, chosen->help) > widths.help - 1;
    if (help_is_cut && chosen->row->kind != PALETTE_GROUP)
        sheet_line(sheet, foot, cell_style(INK_TEXT), chosen->help);
    else
        draw_foot(sheet, foot, data, chosen);
}

/* ---- the help: the table of keys, or the glossary -------------------------------------------- */

enum { KEYS_W = 13, WORD_W = 12, VALUE_W = 12, TEXT_W = HELP_TEXT_W };

/* Draws a control of the help: keys, word, value and help. A narrow row leaves out the value. */
static void draw_control(Sheet *sheet, Area row, const State *state, const KeyRow *control) {
    const bool narrow = row.w < KEYS_W + WORD_W + VALUE_W + TEXT_W;
    sheet_cell(sheet, &row, KEYS_W, cell_bold(INK_ACCENT), keys_label(control).text);
    sheet_cell(sheet, &row, WORD_W, cell_style(INK_TEXT), control->word);
    if (!narrow)
        sheet_line(sheet, area_columns(&row, VALUE_W), cell_bold(INK_TITLE),
                   state_value(state, control->action).text);
    sheet_line(sheet, area_behind(row, 1), cell_style(INK_MUTED), control->help);
}

/* Draws a word of the glossary. `opened`: the glossary was opened for this word. */
static void draw_word(Sheet *sheet, Area area, const GlossaryRow *row, bool opened) {
    CellStyle word = cell_bold(INK_ACCENT);
    if (opened) {
        sheet_paper(sheet, area, INK_SELECTED);
        word.attributes |= sheet->color ? 0 : CELL_REVERSE;
    }
    sheet_line(sheet, area_columns(&area, GLOSSARY_INDENT), word, row->word);
    sheet_paragraph(sheet, area, INK_TEXT, row->text);
}

/* Returns the rows of an entry of the help. The first entry of a group has a heading, and so has
 * entry `first`, which stands at the top of the screen. */
static int entry_rows(const Sheet *sheet, int w, const State *state, int entry, int first) {
    enum { MOST_ROWS = 32 };
    const Area text = {0, 0, w - GLOSSARY_INDENT, MOST_ROWS};
    if (state->glossary)
        return sheet_paragraph_rows(sheet, text, glossary[entry].text);
    const bool begins =
        entry == first || keys[keys_direct(entry)].group != keys[keys_direct(entry - 1)].group;
    return 1 + begins;
}

/* Returns the rows of all entries of the help, `w` columns wide. */
static int help_rows(const Sheet *sheet, int w, const State *state) {
    int rows = 0;
    for (int entry = 0; entry < help_entries(state); entry++)
        rows += entry_rows(sheet, w, state, entry, 0);
    return rows;
}

/* Returns the entry at the top: the entry that the user has scrolled to. The last entries fill the
 * area, so that no rows stay empty below them. */
static int first_entry(const Sheet *sheet, Area area, const State *state) {
    int last_first = help_entries(state), rows = 0;
    while (last_first > 0 && rows <= area.h)
        rows += entry_rows(sheet, area.w, state, --last_first, 0);
    last_first += rows > area.h;
    return state->help_first < last_first ? state->help_first : last_first;
}

static void draw_entries(Sheet *sheet, Area area, const State *state) {
    const int first = first_entry(sheet, area, state);
    for (int entry = first; entry < help_entries(state); entry++) {
        const KeyRow *control = &keys[keys_direct(entry)];
        int rows = entry_rows(sheet, area.w, state, entry, first);
        if (rows > area.h)
            return;
        Area row = {area.x, area.y, area.w, rows};
        if (state->glossary)
            draw_word(sheet, row, &glossary[entry], entry == state->glossary_row);
        else
            draw_control(sheet, area_below(row, rows - 1), state, control);
        if (!state->glossary && rows > 1)
            sheet_line(sheet, row, cell_bold(INK_TITLE), key_groups[control->group]);
        area = area_below(area, rows);
    }
}

static void help_draw(Sheet *sheet, Area area, const PanelData *data) {
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

/* ---- what floats over the panels ------------------------------------------------------------- */

/* Returns the area of w x h in the room that hides the least of the picture. The area lies under
 * the picture, or beside the picture if `least_w` columns have room there, or else at the room's
 * lower end. */
static Area place_overlay(Area room, Area picture, int w, int h, int least_w) {
    enum { GAP = 1 };
    const int left = picture.x - GAP - room.x;
    const int right = room.x + room.w - picture.x - picture.w - GAP;
    const int under = room.y + room.h - picture.y - picture.h, beside = left > right ? left : right;
    const bool stands_beside = picture.w && under < h && beside >= least_w;
    const int room_w = stands_beside && beside < room.w ? beside : room.w;
    w = w < room_w ? w : room_w;
    h = h < room.h ? h : room.h;
    return (Area){picture.w && left > right ? room.x : room.x + room.w - w, room.y + room.h - h, w,
                  h};
}

/* Draws a box over the drawing so far. Returns the area within it for a title and a text. */
static Area draw_float(Sheet *sheet, Area area) {
    const int top = sheet->pixels; /* in cells the title stands on the edge */
    Spots *spots = sheet->spots;
    sheet->back->box(sheet, area);
    if (spots) {
        spots->over = sheet_box(sheet, area);
        spots->over_spots = spots->count, spots->over_figures = spots->figure_count;
    }
    return (Area){area.x + 2, area.y + top, area.w - 4, area.h - 1 - top};
}

/* Draws the palette. The typed text keeps its place, while rows come and go under it. */
void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 110, LEAST_W = 28, LOW = 9, HIGH_FROM = 26 };
    int edges = sheet->pixels ? 2 : 1, most = room.h < HIGH_FROM ? LOW : PALETTE_HIGH;
    int rows = panel_want(sheet, &palette_panel, data, room.w);
    Area at = place_overlay(room, picture, MOST_W, most + edges, LEAST_W);
    at.h = rows + edges < at.h ? rows + edges : at.h;
    panel_draw(sheet, draw_float(sheet, at), &palette_panel, data);
}

void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 82, LEAST_W = 70 };
    int w = data->state->glossary ? LEAST_W : MOST_W, edges = sheet->pixels ? 4 : 2;
    int rows = help_rows(sheet, (w < room.w ? w : room.w) - 4, data->state);
    Area at = place_overlay(room, picture, w, rows + edges, LEAST_W);
    help_draw(sheet, draw_float(sheet, at), data);
}
