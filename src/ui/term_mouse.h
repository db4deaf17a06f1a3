/* The mouse in the terminal: from the terminal's reports, and from the places of the drawing, to
 * the events of the display. The window has the same events. */
#pragma once

#include "src/view/term/dash_spots.h"

/* A report, in columns and rows from 0. Only the first button counts: MOVE, while it is pressed;
 * HOVER, while none is. */
typedef struct {
    enum { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE, MOUSE_HOVER, MOUSE_MENU, MOUSE_WHEEL } kind;
    int column, row;
    int steps; /* WHEEL: up (+) or down (-) */
} MouseReport;

/* The action of the pressed button; all zero: not pressed. */
typedef struct {
    enum {
        POINTER_UP,
        POINTER_CLICK,
        POINTER_PIXEL,
        POINTER_PAN,
        POINTER_WIPE,
        POINTER_TIME
    } doing;
    bool on_bev, has_command;
    Command command; /* of the spot that it was pressed on */
    int column, row; /* where it was last */
} TermPointer;

/* Follows a report. `spots` belong to the drawing on the screen. True: *event is to be applied;
 * false: nothing is under the mouse, or the report lies outside the screen. */
bool term_pointer_follow(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                         const State *state, Event *event);
