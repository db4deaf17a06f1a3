/* SPDX-License-Identifier: MIT */
/* The steps of warps as character cells: for the live display, for the text and the pictures of
 * `bevscope steps`. Pure: the same steps give the same cells. */
#pragma once

#include "src/cachesim/steps.h"
#include "src/scene/features.h"
#include "src/scene/geometry.h"
#include "src/view/panel/sheet.h"

/* The content of a page. */
typedef struct {
    const Steps *steps;
    const BevMap *map;
    const Features *values; /* FP32: the summed values; NULL: not shown */
    const Rig *rig;         /* names of the cameras; NULL: numbers */
    int64_t cell;           /* the chosen warp; -1: none */
    int lane;               /* the chosen lane of each warp; -1: all alike */
    bool table;             /* a row a lane of what it holds, where there is room */
    bool headings; /* the columns of a step's table are named in the step, where there is room: its
                      head has none */
} StepsView;

/* Which warps were recorded: four rows. Returns the rows used. */
int steps_head_draw(Sheet *sheet, Area area, const StepsView *view);

/* Step `number`, from 0, in as many rows as it takes or as the area has: a low area gets fewer
 * points and no registers. Returns the rows used; a step past the last one draws one row that says
 * so. */
int steps_step_draw(Sheet *sheet, Area area, const StepsView *view, int number);

/* Draws the counters over all steps up to and with `number`: three rows, or more where the area
 * is narrow. Returns the rows used. */
int steps_totals_draw(Sheet *sheet, Area area, const StepsView *view, int number);
