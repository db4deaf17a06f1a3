/* Every control with its keys and what it stands at. All of them keep working while it is shown. */
#include "src/view/panel.h"

#include <stdio.h>

enum { KEYS_W = 13, WORD_W = 12, VALUE_W = 12, HELP_W = 52, GAP = 3 };

/* One way to set it: what a column of the screen has room for. */
typedef struct {
    int columns, help_w;
    bool headings;
    int rows; /* of a column */
} HelpLayout;

static bool begins_group(int control) {
    return control == 0 || keys[control].group != keys[control - 1].group;
}

static int group_size(int control) {
    int size = 1;
    while (control + size < ACTION_COUNT && !begins_group(control + size))
        size++;
    return size;
}

/* Rows that must stay together from this control on: a heading and its group, or one line. */
static int block_size(const HelpLayout *layout, int control) {
    if (!layout->headings)
        return 1;
    return begins_group(control) ? 1 + group_size(control) : 1;
}

/* How many columns of `rows` rows all controls take. */
static int columns_needed(const HelpLayout *layout, int rows) {
    int columns = 1, row = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        bool heading = layout->headings && begins_group(i);
        int lines = 1 + heading;
        row += heading && row > 0;
        if (row + block_size(layout, i) > rows) {
            columns++;
            row = 0;
        }
        row += lines;
    }
    return columns;
}

static int column_width(const HelpLayout *layout) {
    return KEYS_W + WORD_W + VALUE_W + layout->help_w;
}

/* The richest of these that fits, its columns of even height; else the last, of which the end is
 * cut off. */
static HelpLayout choose_layout(Area area) {
    static const HelpLayout layouts[] = {
        {1, HELP_W, true, 0}, {2, HELP_W, true, 0}, {2, 0, true, 0},
        {3, 0, true, 0},      {2, 0, false, 0},     {3, 0, false, 0},
    };
    HelpLayout layout = layouts[0];
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        layout = layouts[i];
        int width = layout.columns * column_width(&layout) + (layout.columns - 1) * GAP;
        layout.rows = 1;
        while (layout.rows < area.h && columns_needed(&layout, layout.rows) > layout.columns)
            layout.rows++;
        if (width <= area.w && columns_needed(&layout, layout.rows) <= layout.columns)
            break;
    }
    return layout;
}

typedef struct {
    const HelpLayout *layout;
    Area area;
    int column, row;
} Cursor;

/* The next place for `rows` rows that must stay together. */
static Area next_line(Cursor *cursor, int rows) {
    const HelpLayout *layout = cursor->layout;
    if (cursor->row + rows > layout->rows) {
        cursor->column++;
        cursor->row = 0;
    }
    int width = column_width(layout);
    Area line = {cursor->area.x + cursor->column * (width + GAP), cursor->area.y + cursor->row,
                 width, 1};
    cursor->row++;
    return line;
}

static void draw_control(Cells *cells, Area line, const State *state, const KeyRow *row,
                         const HelpLayout *layout) {
    char text[64];
    if (line.x >= cells->columns)
        return;
    int x = line.x;
    keys_label(row, text, sizeof text);
    cells_text(cells, x, line.y, KEYS_W - 1, cell_bold(INK_ACCENT), text);
    x += KEYS_W;
    cells_text(cells, x, line.y, WORD_W - 1, cell_style(INK_TEXT), row->word);
    x += WORD_W;
    state_value(state, row->action, text, sizeof text);
    cells_text(cells, x, line.y, VALUE_W, cell_bold(INK_TITLE), text);
    x += VALUE_W;
    if (layout->help_w)
        cells_text(cells, x + 1, line.y, layout->help_w - 1, cell_style(INK_MUTED), row->help);
}

void help_draw(Cells *cells, Area area, const Show *show) {
    cells_erase(cells, area, INK_DEFAULT);
    int margin = area.w >= 100 ? 2 : 0;
    Area body = {area.x + margin, area.y, area.w - 2 * margin, area.h};
    body = panel_title(cells, body, "Help", "keys work here, too; ? or Esc closes");
    HelpLayout layout = choose_layout(body);
    Cursor cursor = {.layout = &layout, .area = body};
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (layout.headings && begins_group(i)) {
            cursor.row += cursor.row > 0;
            Area line = next_line(&cursor, block_size(&layout, i));
            cells_text(cells, line.x, line.y, line.w, cell_bold(INK_TITLE),
                       key_groups[keys[i].group]);
        }
        draw_control(cells, next_line(&cursor, 1), show->state, &keys[i], &layout);
    }
}
