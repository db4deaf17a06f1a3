/* SPDX-License-Identifier: MIT */
/* What the files of the steps page share: the step that is being drawn. Private to this folder. */
#pragma once

#include "src/view/panel/panel.h"

enum { STEP_LANES = WARP_LANES, LABEL_W = 9 };

/* The step that is being drawn. */
typedef struct {
    Sheet *sheet;
    Area left; /* the rows that are not drawn yet */
    const StepsView *view;
    int number; /* of the step, from 0 */
    const Step *step;
    const StepPoint *points; /* the points of the step */
    StepValues values;
    LaneRegisters lanes[STEP_LANES]; /* after the step; zero where no values are shown */
} StepPage;

/* Writes a text as the next row. */
void page_say(StepPage *page, CellStyle style, const char *text);
/* Writes the next row: a label, the signs of a warp's lanes, and a text. The chosen lane is
 * reversed. A lane with '.' has no sign. `signs` NULL: the row has no lanes. */
void page_label(StepPage *page, const char *label, const char *signs, CellStyle style,
                const char *text);

/* Returns the sign of a cell: the sign of the first lane that works on the cell. */
char cell_letter(const StepPage *page, int32_t cell);

/* Returns the point to show: the chosen lane's point, else the chosen cell's first point, else the
 * step's first point. NULL: the step has no points. */
const StepPoint *focus_of(const StepPage *page);
/* Returns the sign of a lane: 0 ... 9, a ... v. */
char lane_sign(int lane);
/* Returns the colour of a lane's sign. There are eight colours, which move on by one every eight
 * lanes: lanes 0 and 8, which often stand below each other, differ. */
Ink steps_lane_ink(const Sheet *sheet, char sign);

/* Writes V4's step as a product of matrices: 16 image rows by 16 cells, times the features. */
void matrix_rows(StepPage *page);
/* Writes how the sums of a step's lanes meet: in a queue of lanes, or in a tree of shuffles. */
void meeting_rows(StepPage *page);
/* Writes the lanes' registers after a step, in as many rows as are left: a table, all sums, or one
 * lane. */
void register_rows(StepPage *page);
/* Draws the names of the columns of a step's instructions. */
void headings_draw(Sheet *sheet, Area row);
/* Writes the instructions of a step. Neighbours that access the same array alike share a row. */
void instruction_rows(StepPage *page);
