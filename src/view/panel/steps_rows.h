/* SPDX-License-Identifier: MIT */
/* Rows below one another, and what the files of the steps page share. Private to this folder. */
#pragma once

#include "src/cachesim/steps.h"
#include "src/view/panel/steps_page.h"

enum { STEP_LANES = WARP_LANES, LABEL_W = 9 };

/* The page that is being drawn, row after row; rows past the area's end are not drawn. */
typedef struct {
    Sheet *sheet;
    Area area;
    int row;
} Rows;

/* Returns the place of the next row. h 0: there is no room. */
Area rows_next(Rows *rows);

/* Writes a text as the next row. */
void rows_say(Rows *rows, CellStyle style, const char *text);

/* Writes a label, and a text behind it. */
void rows_label(Rows *rows, const char *label, CellStyle style, const char *text);

/* Returns the rows that are left. */
int rows_left(const Rows *rows);

/* Draws the signs of a warp's lanes behind a label. The chosen lane is reversed; '.': no sign. */
void lanes_draw(Sheet *sheet, Area row, const char signs[STEP_LANES], int chosen);

/* Returns the sign of a cell: that of the first lane that works on it. */
char cell_letter(const Steps *steps, const Step *step, int32_t cell);

/* Returns "front", or "camera 2" without a rig. */
ShortText camera_text(const StepsView *view, int64_t camera);

/* Returns the point to show: the chosen lane's, else the first point of the cell, else the first
 * point. NULL: the step has none. */
const StepPoint *focus_of(const StepsView *view, const Step *step);

/* Returns the sign of a lane: 0 ... 9, a ... v. */
char lane_sign(int lane);

/* Returns the colour of a lane's sign: eight in turn, other ones for lane 0 and lane 8. */
Ink steps_lane_ink(const Sheet *sheet, char sign);

/* Write V4's step as a product of small matrices: 16 image rows by 16 cells, times their features.
 */
void matrix_rows(Rows *rows, const StepsView *view, int number);

/* Writes how the additions of a step meet: lanes that queue, or a tree of shuffles. */
void meeting_rows(Rows *rows, const StepsView *view, int number);

/* Writes the lanes' registers after a step, in as many rows as are left: a table, all sums, or one
 * lane. */
void register_rows(Rows *rows, const StepsView *view, int number);

/* Draws the columns of a step's instructions. */
void headings_row(Rows *rows);

/* Writes the instructions of a step. Neighbours that access the same array alike share a row. */
void instruction_rows(Rows *rows, const Steps *steps, const Step *step);
