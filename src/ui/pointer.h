/* SPDX-License-Identifier: MIT */
/* The mouse: what was drawn under it turns presses, moves and the wheel into events. Terminal and
 * window share this code, each in the units of its drawing. */
#pragma once

#include "src/view/term/dash_spots.h"

/* Only the first button counts. MOVE comes while it is pressed, HOVER while no button is. */
typedef enum {
    MOUSE_PRESS,
    MOUSE_RELEASE,
    MOUSE_MOVE,
    MOUSE_HOVER,
    MOUSE_MENU,
    MOUSE_WHEEL
} MouseKind;

/* A report of the terminal, in columns and rows from 0. */
typedef struct {
    MouseKind kind;
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
    Command command;              /* of the spot that it was pressed on */
    double x, y;                  /* where it was last */
    char answer[ORIGIN_TEXT_MAX]; /* where the clicked figure comes from */
} Pointer;

/* What was drawn. */
typedef struct {
    const Spots *spots;
    Box screen, bev;               /* w 0: without bounds; no picture */
    double x_lo, x_hi, y_lo, y_hi; /* cells in view: bottom, top, right and left edge of `bev` */
    double wipe_x, wipe_slack;     /* the divider, and how near it is hit; NaN: there is none */
    double wipe_from, wipe_to;     /* where it stands at 0 and 1 */
    double slack;                  /* a click may move so far */
    bool hovers;                   /* the cursor follows the mouse, and a click pins */
} PointerPlace;

/* Follows the mouse at (x, y). `pixel`: the feature pixel there, -1: none. `live` NULL: figures do
 * not answer. Returns true where *event is to be applied. Its text is the pointer's. */
bool pointer_follow(Pointer *pointer, MouseKind kind, double x, double y, double steps,
                    int64_t pixel, const PointerPlace *place, const State *state,
                    const LiveData *live, Event *event);

/* The same for a report of the terminal. `spots` belong to the drawing on the screen. */
bool term_pointer_follow(Pointer *pointer, const MouseReport *report, const DashSpots *spots,
                         const State *state, const LiveData *live, Event *event);
