/* The command palette: the typed text, the rows that fit, and the chosen row as a line of a
 * script. */
#include "src/state/palette.h"

#include "src/view/panel/panel.h"

#include <stdio.h>

enum { NAME_W = 24, VALUE_W = 17, KEY_W = 6, HIGH = 12, HIGH_FROM = 30 };

int palette_want(Sheet *sheet, const PanelData *data, int width) {
    (void)width;
    int rows = data->state->has_window ? HIGH_FROM : data->state->rows;
    return sheet->pixels || rows >= HIGH_FROM ? HIGH : PALETTE_LOW;
}

/* A click on the row: the same as Enter. */
static void add_spot(Sheet *sheet, Area area, const PaletteRow *row) {
    const Command *command = &row->command;
    const KeyRow *control = &keys[command->action];
    char text[PALETTE_NAME + 2];
    bool opens = row->kind == PALETTE_GROUP ||
                 (row->kind == PALETTE_CONTROL &&
                  (control->list || control->argument == ARGUMENT_NUMBER));
    snprintf(text, sizeof text, "%s%s", row->name, row->kind == PALETTE_GROUP ? "" : " ");
    if (opens && command->action != ACTION_UNDO)
        sheet_spot(sheet, area, ACTION_COMMANDS, 0, text);
    else
        sheet_spot(sheet, area, command->action, command->step, command->argument);
}

/* The words of a group's controls. */
static void group_text(Action first, char *text, size_t size) {
    size_t used = 0;
    for (int i = (int)first; i < ACTION_COUNT && keys[i].group == keys[first].group; i++)
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%s",
                                 used ? ", " : "", keys[i].word);
}

/* The control's value, or a value's title; then its purpose, or the reason why it cannot be
 * used. */
static void row_texts(const PanelData *data, const PaletteRow *row, char value[64], char help[256],
                      bool *usable) {
    value[0] = '\0';
    *usable = row->kind == PALETTE_GROUP;
    if (row->kind == PALETTE_GROUP) {
        group_text(row->command.action, help, 256);
        return;
    }
    if (row->kind == PALETTE_CONTROL)
        state_value(data->state, row->command.action, value, 64);
    else
        snprintf(value, 64, "%s", row->title);
    snprintf(help, 256, "%s", row->help);
    *usable = palette_usable(data->state, &row->command, help, 256);
}

static void draw_row(Sheet *sheet, Area area, const PanelData *data, const PaletteRow *row,
                     bool chosen) {
    char value[64], help[256], key[16] = "";
    bool usable;
    row_texts(data, row, value, help, &usable);
    int text_x = area.x + 2 + NAME_W + VALUE_W, end = area.x + area.w - KEY_W;
    const KeyRow *control = &keys[row->command.action];
    if (row->kind == PALETTE_CONTROL && control->keys[0])
        keys_name(control->keys[0], key, sizeof key);
    CellStyle name = cell_style(usable ? INK_TEXT : INK_MUTED);
    if (chosen) {
        sheet_paper(sheet, area, INK_SELECTED);
        name = cell_bold(usable ? INK_ACCENT : INK_MUTED);
        sheet_text(sheet, area.x, area.y, 1, cell_bold(INK_ACCENT), ">");
    }
    int name_w = NAME_W - 1, long_w = sheet_width(sheet, row->name);
    if (!value[0] && row->kind == PALETTE_VALUE) { /* its description has the room */
        name_w = long_w > name_w ? long_w : name_w;
        text_x = area.x + 2 + name_w + 1;
    } else if (!value[0])
        name_w += VALUE_W;
    sheet_text(sheet, area.x + 2, area.y, name_w, name, row->name);
    sheet_text(sheet, area.x + 2 + NAME_W, area.y, VALUE_W - 1,
               chosen && data->state->palette.tries ? cell_bold(INK_WARN) : cell_style(INK_TITLE),
               value);
    if (end > text_x + 8)
        sheet_text(sheet, text_x, area.y, end - text_x - 1, cell_style(INK_MUTED), help);
    sheet_right(sheet, end, area.y, KEY_W, cell_style(INK_ACCENT), key);
    add_spot(sheet, area, row);
}

/* "script: dtype fp8", and what is still to be typed. */
static void draw_script(Sheet *sheet, Area area, const PanelData *data, const PaletteRow *row) {
    char value[64], text[PALETTE_NAME + 80];
    const KeyRow *control = &keys[row->command.action];
    state_value(data->state, row->command.action, value, sizeof value);
    bool tries = data->state->palette.tries && row->kind == PALETTE_CONTROL && value[0];
    if (row->kind == PALETTE_GROUP)
        snprintf(text, sizeof text, "Enter opens the group");
    else
        snprintf(text, sizeof text, "in scripts: %s%s%s", row->name,
                 row->kind == PALETTE_VALUE ? "" : argument_words[control->argument],
                 tries ? ", now at " : "");
    int used = sheet_line(sheet, area, cell_style(INK_MUTED), text);
    if (tries)
        sheet_text(sheet, area.x + used + 1, area.y, area.w - used - 1, cell_bold(INK_WARN), value);
}

/* "2 of 12", or why there is nothing, or nothing of what was typed. */
static void note_text(const Palette *palette, const PaletteRow *rows, int at, int count, char *text,
                      size_t size) {
    const KeyRow *named = keys_beginning(palette->text);
    if (palette->tries)
        snprintf(text, size, "Enter keeps it, Esc takes it back");
    else if (!count)
        snprintf(text, size, "nothing has that name");
    else if (named && named->list &&
             (rows[0].kind != PALETTE_VALUE || &keys[rows[0].command.action] != named))
        snprintf(text, size, "no such %s; like it: %d of %d", named->word, at + 1, count);
    else
        snprintf(text, size, "%d of %d", at + 1, count);
}

void palette_draw(Sheet *sheet, Area area, const PanelData *data) {
    const Palette *palette = &data->state->palette;
    static PaletteRow rows[PALETTE_ROWS];
    int count = palette_rows(data->state, data->live, rows), room = area.h - 2;
    int at = palette->row < count ? palette->row : count - 1;
    int first = at >= room ? at - room + 1 : 0;
    char typed[PALETTE_TEXT + 4], note[64];
    note_text(palette, rows, at, count, note, sizeof note);
    snprintf(typed, sizeof typed, ": %s_", palette->text);
    sheet_paper(sheet, area, INK_DEFAULT);
    sheet_title(sheet, area, typed, note);
    for (int i = first; i < count && i < first + room; i++)
        draw_row(sheet, (Area){area.x, area.y + 1 + i - first, area.w, 1}, data, &rows[i], i == at);
    if (count)
        draw_script(sheet, (Area){area.x, area.y + area.h - 1, area.w, 1}, data, &rows[at]);
}
