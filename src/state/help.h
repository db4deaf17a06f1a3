/* SPDX-License-Identifier: MIT */
/* The places of the controls in the help. In the terminal it is one column that floats over the
 * panels, and has several pages where the screen is too low. State and view ask the same
 * functions. */
#pragma once

#include "src/state/keys.h"

enum { HELP_KEYS_W = 13, HELP_WORD_W = 12, HELP_VALUE_W = 12, HELP_TEXT_W = 41, HELP_GAP = 3 };
enum { HELP_COLUMN_W = HELP_KEYS_W + HELP_WORD_W + HELP_VALUE_W + HELP_TEXT_W };
enum { HELP_W = HELP_COLUMN_W + 4, HELP_LEAST_W = HELP_W - HELP_VALUE_W }; /* with its edges */

/* The size of the help: columns of text, rows of a column, and pages. */
typedef struct {
    int columns, rows, pages;
    bool close; /* without blank rows between the groups */
} HelpLayout;

/* Returns the help's layout for a terminal of that height; one page where there is no terminal. */
HelpLayout help_layout(int screen_rows);

typedef struct {
    int page, column, row;
    bool heading; /* its group begins here: the heading is in the row above */
} HelpPlace;

/* Returns the fewest rows in which `columns` columns hold all controls on one page. */
int help_rows(int columns);

HelpPlace help_place(const HelpLayout *layout, Action action);

/* Returns the glossary's layout. Without a terminal, 80 x 24 is assumed. */
HelpLayout help_glossary(int screen_columns, int screen_rows);

/* Returns the number of pages of the part of the help that is open. */
int help_pages(const State *state);

/* Returns the width of the glossary: a word and its text. */
int help_glossary_width(int screen_columns);

/* Returns where row `row` of the glossary begins. *height receives the number of its lines. */
HelpPlace help_glossary_place(const HelpLayout *layout, int screen_columns, int row, int *height);
