#include "src/state/help.h"

enum { LEAST_ROWS = 10 };

static bool begins_group(int control) {
    return control == 0 || keys[control].group != keys[control - 1].group;
}

static int group_size(int control) {
    int size = 1;
    while (control + size < ACTION_COUNT && !begins_group(control + size))
        size++;
    return size;
}

/* A heading stays with its group, and a blank row above it where another group stands there. */
HelpPlace help_place(const HelpLayout *layout, Action action) {
    HelpPlace place = {.page = 0};
    int column = 0, row = 0;
    for (int i = 0; i <= (int)action; i++) {
        bool heading = begins_group(i);
        int blank = heading && row > 0, block = heading ? 1 + group_size(i) : 1;
        bool whole = block <= layout->rows;
        if (row + blank + (whole ? block : 1 + heading) > layout->rows) {
            column++;
            row = blank = 0;
        }
        row += blank + heading;
        place = (HelpPlace){column / layout->columns, column % layout->columns, row, heading};
        row++;
    }
    return place;
}

/* What the dashboard leaves to the help: all but its title, the log and, on tall screens, the key
 * bar. */
static int rows_left(int screen_rows) {
    return screen_rows - (screen_rows >= 54 ? 10 : screen_rows >= 30 ? 5 : 2);
}

int help_rows(int columns) {
    HelpLayout layout = {.columns = columns, .rows = LEAST_ROWS, .pages = 1};
    while (help_place(&layout, ACTION_COUNT - 1).page > 0)
        layout.rows++;
    return layout.rows;
}

HelpLayout help_layout(int screen_columns, int screen_rows) {
    HelpLayout layout = {.columns = (screen_columns - 2 + HELP_GAP) / (HELP_COLUMN_W + HELP_GAP),
                         .rows = rows_left(screen_rows),
                         .pages = 1};
    if (layout.columns < 1)
        layout.columns = 1;
    if (layout.rows < LEAST_ROWS)
        layout.rows = LEAST_ROWS;
    if (screen_columns && screen_rows)
        layout.pages = help_place(&layout, ACTION_COUNT - 1).page + 1;
    if (layout.pages == 1 && help_rows(layout.columns) < layout.rows)
        layout.rows = help_rows(layout.columns);
    return layout;
}
