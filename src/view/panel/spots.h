/* Places of a drawing for the mouse, in the units of its screen: what can be clicked, and
 * figures. */
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

/* The origin of the figure under a point, for origin_text; NULL: no figure. */
const Origin *spots_figure(const Spots *spots, double x, double y);

/* Where the figure under a point comes from. False: no figure stands there. */
bool spots_answer(const Spots *spots, double x, double y, const State *state, const LiveData *live,
                  char text[ORIGIN_TEXT_MAX]);

/* The command of the spot under a point; NULL: no spot. */
const Command *spots_at(const Spots *spots, double x, double y);

/* A right click: the palette, at the values of the spot's control. */
Command spots_menu(const Spots *spots, double x, double y);

/* The wheel: a step of the spot's control. False: nothing. */
bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command);
