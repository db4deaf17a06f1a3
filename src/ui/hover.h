/* SPDX-License-Identifier: MIT */
/* What lies under a mouse while no button is pressed. An outline shows it at once, and a tooltip
 * once the mouse has rested. Terminal and window share this code. The loop has the clock. */
#pragma once

#include "src/view/panel/spots.h"

/* What the mouse is over. All zero: the mouse is over nothing. */
typedef struct {
    bool over;  /* the mouse is over something, in `box` */
    bool told;  /* the tooltip is shown */
    bool fresh; /* the mouse has just come; since_ms is not set yet */
    Box box;
    Origin figure;   /* the last figure in `box` that was under the mouse */
    double x, y;     /* the place of the mouse */
    double since_ms; /* when the mouse came */
} Hover;

/* Tells that the mouse is at (x, y), or that the drawing is new. Returns true where the outline, or
 * the figure within it, is another one. */
bool hover_move(Hover *hover, const Spots *spots, double x, double y);

/* Removes the outline until the mouse moves. Returns true where there was one. */
bool hover_end(Hover *hover);

/* Whether the tooltip is to be shown now. Returns true only once for each. */
bool hover_due(Hover *hover, double now_ms);

/* Returns the milliseconds until the tooltip is due; INFINITY: none will be. */
double hover_in_ms(const Hover *hover, double now_ms);
