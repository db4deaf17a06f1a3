/* SPDX-License-Identifier: MIT */
/* The race and the straggler: a model's schedules of kernels, drawn on a sheet. A screen shows them
 * as panels, `bevscope plot` as pictures. */
#pragma once

#include "src/cachesim/schedule.h"
#include "src/view/panel/sheet.h"

typedef struct {
    const Race *race;
    const Image *bev;  /* the picture of the grid, a pixel a cell; NULL: cells are grey */
    const char *where; /* whose map: "canonical, FP16, nearest" */
} RaceView;

/* Draws a row a kernel and a column a moment: the moments at which the kernels end. */
void race_moments_draw(Sheet *sheet, Area area, const RaceView *view);

/* Draws when each multiprocessor works, of the slowest latency-bound kernel and of the fastest
 * kernel. */
void straggler_strips_draw(Sheet *sheet, Area area, const RaceView *view);
