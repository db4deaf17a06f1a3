#include "src/state/help.h"

#include "src/state/glossary.h"
#include "src/state/state.h"

enum { LEAST_ROWS = 10 };

/* Whether the help lists the control. The palette lists all controls. */
static bool is_listed(int control) {
    return keys[control].direct;
}

static bool begins_group(int control) {
    int before = control - 1;
    while (before >= 0 && !is_listed(before))
        before--;
    return before < 0 || keys[control].group != keys[before].group;
}

static int group_size(int control) {
    int size = 0;
    for (int i = control; i < ACTION_COUNT && keys[i].group == keys[control].group; i++)
        size += is_listed(i);
    return size;
}

/* Returns where a control stands. A heading stays with its group. A blank row separates groups. */
HelpPlace help_place(const HelpLayout *layout, Action action) {
    HelpPlace place = {.page = 0};
    int column = 0, row = 0;
    for (int i = 0; i <= (int)action; i++) {
        if (!is_listed(i))
            continue;
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

/* Returns the rows for the help: all but the title, the log and, on tall screens, the key bar. */
static int rows_left(int screen_rows) {
    int rows = screen_rows - (screen_rows >= 54 ? 10 : screen_rows >= 30 ? 5 : 2);
    return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

/* Returns a layout of one page, with as many columns of text as fit, at least one. */
static HelpLayout one_page(int screen_columns, int screen_rows) {
    int columns = (screen_columns - 2 + HELP_GAP) / (HELP_COLUMN_W + HELP_GAP);
    return (HelpLayout){columns < 1 ? 1 : columns, rows_left(screen_rows), 1};
}

int help_rows(int columns) {
    HelpLayout layout = {.columns = columns, .rows = LEAST_ROWS, .pages = 1};
    while (help_place(&layout, ACTION_COUNT - 1).page > 0)
        layout.rows++;
    return layout.rows;
}

HelpLayout help_layout(int screen_columns, int screen_rows) {
    HelpLayout layout = one_page(screen_columns, screen_rows);
    if (screen_columns && screen_rows)
        layout.pages = help_place(&layout, ACTION_COUNT - 1).page + 1;
    if (layout.pages == 1 && help_rows(layout.columns) < layout.rows)
        layout.rows = help_rows(layout.columns);
    return layout;
}

int help_glossary_width(const HelpLayout *layout, int screen_columns) {
    int columns = screen_columns ? screen_columns : 80;
    int width = (columns - 4 + HELP_GAP) / layout->columns - HELP_GAP;
    return width > 2 * GLOSSARY_INDENT ? width : 2 * GLOSSARY_INDENT;
}

HelpPlace help_glossary_place(const HelpLayout *layout, int screen_columns, int row, int *height) {
    int column = 0, y = 0, width = help_glossary_width(layout, screen_columns) - GLOSSARY_INDENT;
    for (int i = 0;; i++) {
        *height = glossary_lines(glossary[i].text, width);
        if (y > 0 && y + *height > layout->rows) {
            column++;
            y = 0;
        }
        if (i == row)
            break;
        y += *height;
    }
    return (HelpPlace){column / layout->columns, column % layout->columns, y, false};
}

HelpLayout help_glossary(int screen_columns, int screen_rows) {
    int columns = screen_columns ? screen_columns : 80, rows = screen_rows ? screen_rows : 24;
    HelpLayout layout = one_page(columns, rows);
    int height;
    layout.pages = help_glossary_place(&layout, columns, glossary_count - 1, &height).page + 1;
    return layout;
}

int help_pages(const State *state) {
    return (state->glossary ? help_glossary : help_layout)(state->columns, state->rows).pages;
}
