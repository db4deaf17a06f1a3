/* What a drawing shows where, for the mouse, in the units of its screen: places that can be clicked,
 * and figures. */
#pragma once

#include "src/state/state.h"
#include "src/view/draw/pen.h"
#include "src/view/panel/origin.h"

enum { SPOTS_MAX = 96, FIGURES_MAX = 1024 };

/* All zero: nothing can be clicked. */
typedef struct {
    int count;
    struct {
        Box box;
        Command command;
    } list[SPOTS_MAX]; /* cameras, kernels, hints on the key bar */
    int figure_count;
    struct {
        Box box;
        Origin origin;
    } figures[FIGURES_MAX];
} Spots;

/* Notes that a click into the box is the command; `spots` NULL: nobody clicks. */
void spots_add(Spots *spots, Box box, Action action, int step, const char *argument);

/* Notes that a figure stands in the box; `spots` NULL: nobody asks. */
void spots_add_figure(Spots *spots, Box box, const Origin *origin);

/* What the figure under a point is of, for origin_text; NULL: no figure stands there. */
const Origin *spots_figure(const Spots *spots, double x, double y);

/* The command of the spot under a point; NULL: there is none. */
const Command *spots_at(const Spots *spots, double x, double y);

/* What a right click there does: the palette, at the values of what the spot is about. */
Command spots_menu(const Spots *spots, double x, double y);

/* What the wheel does there: a step of the control. False: nothing. */
bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command);
