/* What lies under a mouse that no button presses: an outline at once, a tooltip when the mouse has
 * rested. The same in terminal and window; the loop has the clock. */
#pragma once

#include "src/view/panel/spots.h"

/* All zero: nothing lies there. */
typedef struct {
    bool over;  /* something does, in `box` */
    bool told;  /* its tooltip is shown */
    bool fresh; /* the mouse has just come; since_ms is not set yet */
    Box box;
    Origin figure;   /* in it, the last one under the mouse */
    double x, y;     /* of the mouse */
    double since_ms; /* when it came */
} Hover;

/* The mouse is at (x, y), or the drawing is a new one. True: another outline, or
 * another figure in it. */
bool hover_move(Hover *hover, const Spots *spots, double x, double y);

/* Nothing is outlined until the mouse moves. True: something was. */
bool hover_end(Hover *hover);

/* Whether the tooltip is to be shown now; true once. */
bool hover_due(Hover *hover, double now_ms);

/* Milliseconds until then; INFINITY: there is none to show. */
double hover_in_ms(const Hover *hover, double now_ms);
