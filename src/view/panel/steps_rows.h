/* SPDX-License-Identifier: MIT */
/* A step that is being drawn: what the files of the steps page share. Private to this folder. */
#pragma once

#include "src/view/panel/panel.h"

enum { STEP_LANES = WARP_LANES, LABEL_W = 9 };

/* A step that is being drawn into the rows that are left of an area. */
typedef struct {
    Sheet *sheet;
    Area left;
    const StepsView *view;
    int number; /* of the step, from 0 */
    const Step *step;
    const StepPoint *points; /* those of the step */
    StepValues values;
    LaneRegisters lanes[STEP_LANES]; /* after the step; zero where no values are shown */
} StepPage;

/* Write a text as the next row, or a label, the signs of a warp's lanes and a text. The chosen lane
 * is reversed; '.': no sign; NULL: no lanes. */
void page_say(StepPage *page, CellStyle style, const char *text);
void page_label(StepPage *page, const char *label, const char *signs, CellStyle style,
                const char *text);

/* Returns the sign of a cell: that of the first lane that works on it. */
char cell_letter(const StepPage *page, int32_t cell);

/* Returns the point to show: the chosen lane's, else the first point of the cell, else the first
 * point. NULL: the step has none. */
const StepPoint *focus_of(const StepPage *page);

/* Returns the sign of a lane: 0 ... 9, a ... v. */
char lane_sign(int lane);

/* Returns the colour of a lane's sign: eight in turn, other ones for lane 0 and lane 8. */
Ink steps_lane_ink(const Sheet *sheet, char sign);

/* Write V4's step as a product of small matrices: 16 image rows by 16 cells, times their features.
 */
void matrix_rows(StepPage *page);

/* Writes how the additions of a step meet: lanes that queue, or a tree of shuffles. */
void meeting_rows(StepPage *page);

/* Writes the lanes' registers after a step, in as many rows as are left: a table, all sums, or one
 * lane. */
void register_rows(StepPage *page);

/* Draws the columns of a step's instructions. */
void headings_draw(Sheet *sheet, Area row);

/* Writes the instructions of a step. Neighbours that access the same array alike share a row. */
void instruction_rows(StepPage *page);
