/* SPDX-License-Identifier: MIT */
/* Turns presses, moves and the wheel of the mouse into events, by what was drawn under the mouse.
 * Terminal and window share this code, each in the units of its drawing. In the window the cursor
 * follows the mouse, and a click pins; in the terminal a click puts the cursor. */
#pragma once

#include "src/view/panel/sheet.h"

#include <stdlib.h>

/* A function of a screen that a build may lack (no_screens.c). The function is only called where
 * the screen is not impossible. */
#define MAY_LACK __attribute__((weak))

/* Whether the variable of the environment has a value. */
static inline bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value && *value;
}

/* PRESS, RELEASE and MOVE are of the first button: MOVE comes while it is pressed. HOVER comes
 * while no button is pressed. */
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
    bool in_terminal, on_bev, has_command;
    Command command;              /* with has_command: the command of the pressed spot */
    double x, y;                  /* the last place of the mouse */
    char answer[ORIGIN_TEXT_MAX]; /* where the clicked figure comes from */
} Pointer;

/* Follows the mouse at (x, y) over what was drawn last. `live` NULL: figures do not answer. Returns
 * true where *event is to be applied. event->text points into `pointer`, until the next call. */
bool pointer_follow(Pointer *pointer, MouseKind kind, double x, double y, double steps,
                    const Spots *spots, const State *state, const LiveData *live, Event *event);

/* Follows a report of the terminal. A cell counts as the point in its middle. */
bool term_pointer_follow(Pointer *pointer, const MouseReport *report, const Spots *spots,
                         const State *state, const LiveData *live, Event *event);

/* ---- what lies under the mouse while no button is pressed ------------------------------------ */

/* The box and the figure under the mouse. All zero: the mouse is over nothing. */
typedef struct {
    bool over; /* the mouse is over something, in `box` */
    bool told; /* the tooltip is shown */
    Box box;
    Origin figure;   /* the last figure in `box` that was under the mouse */
    double x, y;     /* the place of the mouse */
    double since_ms; /* when the mouse came; NaN: it has just come */
} Hover;

/* Notes that the mouse is at (x, y), or that the drawing is new. Returns true where the outline or
 * the figure within the outline has changed. */
bool hover_move(Hover *hover, const Spots *spots, double x, double y);

/* Removes the outline until the mouse moves. Returns true where there was one. */
bool hover_end(Hover *hover);

/* Whether the tooltip is to be shown now. Returns true only once for each tooltip. */
bool hover_due(Hover *hover, double now_ms);

/* Returns the milliseconds until the tooltip is due; INFINITY: none will be. */
double tip_due_in_ms(const Hover *hover, double now_ms);
