/* SPDX-License-Identifier: MIT */
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

/* Returns where a control stands. A heading stays with its group. */
HelpPlace help_place(const HelpLayout *layout, Action action) {
    HelpPlace place = {.page = 0};
    int column = 0, row = 0;
    for (int i = 0; i <= (int)action; i++) {
        if (!is_listed(i))
            continue;
        bool heading = begins_group(i);
        int blank = heading && row > 0 && !layout->close, block = heading ? 1 + group_size(i) : 1;
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

/* Returns the rows for the help: all but the title, the edge, the log and, on tall screens, the key
 * bar. */
static int rows_left(int screen_rows) {
    int rows = screen_rows - (screen_rows >= 54 ? 11 : screen_rows >= 30 ? 6 : 3);
    return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

int help_rows(int columns) {
    HelpLayout layout = {.columns = columns, .rows = LEAST_ROWS, .pages = 1};
    while (help_place(&layout, ACTION_COUNT - 1).page > 0)
        layout.rows++;
    return layout.rows;
}

HelpLayout help_layout(int screen_rows) {
    HelpLayout layout = {.columns = 1, .rows = rows_left(screen_rows), .pages = 1};
    if (!screen_rows || help_place(&layout, ACTION_COUNT - 1).page == 0) {
        layout.rows = help_rows(1);
        return layout;
    }
    layout.close = true;
    const HelpPlace last = help_place(&layout, ACTION_COUNT - 1);
    layout.pages = last.page + 1;
    layout.rows = last.page ? layout.rows : last.row + 1;
    return layout;
}

int help_glossary_width(int screen_columns) {
    bool narrow = screen_columns && screen_columns - 2 < HELP_LEAST_W;
    int width = (narrow ? screen_columns - 2 : HELP_LEAST_W) - 4;
    return width > 2 * GLOSSARY_INDENT ? width : 2 * GLOSSARY_INDENT;
}

HelpPlace help_glossary_place(const HelpLayout *layout, int screen_columns, int row, int *height) {
    int page = 0, y = 0, width = help_glossary_width(screen_columns) - GLOSSARY_INDENT;
    for (int i = 0;; i++) {
        *height = glossary_lines(glossary[i].text, width);
        if (y > 0 && y + *height > layout->rows) {
            page++;
            y = 0;
        }
        if (i == row)
            return (HelpPlace){.page = page, .row = y};
        y += *height;
    }
}

HelpLayout help_glossary(int screen_columns, int screen_rows) {
    HelpLayout layout = {.columns = 1, .rows = rows_left(screen_rows ? screen_rows : 24)};
    int height;
    layout.pages =
        help_glossary_place(&layout, screen_columns, glossary_count - 1, &height).page + 1;
    return layout;
}

int help_pages(const State *state) {
    return (state->glossary ? help_glossary(state->columns, state->rows) : help_layout(state->rows))
        .pages;
}
