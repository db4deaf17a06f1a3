/* Where each control stands on the terminal's help screen: in columns of text, and on pages where
 * one screen does not hold them all. State and view ask the same function. */
#pragma once

#include "src/state/keys.h"

enum { HELP_KEYS_W = 13, HELP_WORD_W = 12, HELP_VALUE_W = 12, HELP_TEXT_W = 41, HELP_GAP = 3 };
enum { HELP_COLUMN_W = HELP_KEYS_W + HELP_WORD_W + HELP_VALUE_W + HELP_TEXT_W };

/* Columns of text, rows of a column, pages. */
typedef struct {
    int columns, rows, pages;
} HelpLayout;

/* For a terminal of that size; one page without a terminal. */
HelpLayout help_layout(int screen_columns, int screen_rows);

typedef struct {
    int page, column, row;
    bool heading; /* its group begins here: the heading is in the row above */
} HelpPlace;

/* The fewest rows in which so many columns hold all controls on one page. */
int help_rows(int columns);

HelpPlace help_place(const HelpLayout *layout, Action action);

/* The glossary, the other part of the help. 80 x 24 is assumed where there is no terminal. */
HelpLayout help_glossary(int screen_columns, int screen_rows);

/* The pages of the part of the help that is shown. */
int help_pages(const State *state);

/* The width of a column of text, its words included. */
int help_glossary_width(const HelpLayout *layout, int screen_columns);

/* Where row `row` of the glossary begins. *height receives the lines that it takes. */
HelpPlace help_glossary_place(const HelpLayout *layout, int screen_columns, int row, int *height);
