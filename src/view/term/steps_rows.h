/* What the files of the steps page share. Private to steps_page.c and steps_strip.c. */
#pragma once

#include "src/view/term/steps_page.h"

enum { STEP_LANES = 32 };

/* The page that is being drawn, row after row; rows past the area's end are not drawn. */
typedef struct {
    Cells *cells;
    Area area;
    int row;
} Rows;

/* Where the next row goes; h 0: there is no room. */
Area rows_next(Rows *rows);

/* A text as the next row. */
void rows_say(Rows *rows, CellStyle style, const char *text);

/* Eight colours in turn, so that neighbouring lanes can be told apart. */
Ink steps_lane_ink(const Cells *cells, int lane);

/* The instructions of a step; neighbours that access the same array alike share a row. */
void instruction_rows(Rows *rows, const Steps *steps, const Step *step);
