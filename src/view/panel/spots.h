/* What a drawing shows where, for the mouse: a panel that draws something that can be clicked notes
 * its place here, in the units of its screen. */
#pragma once

#include "src/state/state.h"
#include "src/view/draw/pen.h"

enum { SPOTS_MAX = 96 };

/* All zero: nothing can be clicked. */
typedef struct {
    int count;
    struct {
        Box box;
        Command command;
    } list[SPOTS_MAX]; /* cameras, kernels, hints on the key bar */
} Spots;

/* Notes that a click into the box is the command; `spots` NULL: nobody clicks. */
void spots_add(Spots *spots, Box box, Action action, int step, const char *argument);

/* The command of the spot under a point; NULL: there is none. */
const Command *spots_at(const Spots *spots, double x, double y);

/* What a right click there does: the palette, at the values of what the spot is about. */
Command spots_menu(const Spots *spots, double x, double y);

/* What the wheel does there: a step of the control. False: nothing. */
bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command);
