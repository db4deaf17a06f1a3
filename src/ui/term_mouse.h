/* The mouse in the terminal. Reports of the terminal and the places in the drawing give the events
 * of the display. The window gives the same events. */
#pragma once

#include "src/view/term/dash_spots.h"

/* A report, in columns and rows from 0. Only the first button counts. MOVE comes while it is
 * pressed, HOVER while no button is. */
typedef struct {
    enum { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_MOVE, MOUSE_HOVER, MOUSE_MENU, MOUSE_WHEEL } kind;
    int column, row;
    int steps; /* WHEEL: up (+) or down (-) */
} MouseReport;

/* The drag of the pressed button; all zero: the button is not pressed. */
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

/* Follows a report. `spots` belong to the drawing on the screen. Returns true where *event is to be
 * applied; false where nothing is under the mouse, or the report lies outside the screen. */
bool term_pointer_follow(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                         const State *state, Event *event);
