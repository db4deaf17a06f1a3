/* SPDX-License-Identifier: MIT */
/* Panels: what the screens show besides pictures, each laid out once, on a Sheet. Terminal and
 * window arrange them in stacks.
 *
 * To add a panel
 *   1. a row of panels.inc: the rows that it would like, when it is shown, and where its figures
 *      come from (a topic of origin.h, a new one with its sentence in origin.inc);
 *   2. name_draw() in a file of this folder, which src/view/local.mk names;
 *   3. new data: a field of LiveData (src/state/live_data.h), filled in src/live; of the device:
 *      LiveDevice, in live_gpu_describe() (live_gpu.c). Sensors come from below: `sensors_unknown`
 *      (NAN, else a field reads as a measured 0) and NVML in src/run/cuda/driver.c, its tests in
 *      tests/run/test_device.sh;
 *   4. its place in an arrangement, of src/view/term/dashboard.c, src/view/window/window_side.c, or
 *      both: at most STACK_PANELS in a stack (two rows of dashboard.c have as many: raise it);
 *   5. where lessons and `show` shall name it: LessonPanel and lesson_panels
 *      (src/state/lesson_pane.h), samples/lessons/README.md, print_panel() (src/ui/loop_plain.c).
 * `make goldens` draws the screens anew. tests/view/test_panels.c draws each row of stack.c with
 * both back ends, if it is shown with the data of tests/support/live_fixture.h. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/panel/sheet.h"

/* The data of a panel. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Image *bev; /* the picture of the grid, a pixel a cell, for the race; NULL: none */
    bool roomy; /* a window: a panel that has no room is left out by its stack */
    bool still; /* a figure: nothing moves, so a panel takes the rows of this content */
} PanelData;

typedef int PanelWant(Sheet *sheet, const PanelData *data, int width);
typedef bool PanelShown(const PanelData *data);
typedef void PanelDraw(Sheet *sheet, Area area, const PanelData *data);

typedef struct {
    LessonPanel point; /* what lessons call it */
    OriginTopic origin; /* origin of its figures, unless the code names another */
    const char *menu;   /* what the palette shows after a click on its head; NULL: nothing */
    int fold;          /* the lowest is left out first when there is no room */
    bool spare;        /* also left out where kernels and accuracy would not show all their rows */
    int grow;          /* the lowest is first to get more rows than `height` */
    int height;        /* rows, at least; */
    int usual; /* and where there is room; 0: what it draws there, or: */
    PanelWant *want; /* NULL: `usual` */
    PanelShown *shown; /* NULL: always */
    PanelDraw *draw;
} Panel;

#define PANEL(name, ...)                                                                           \
    extern const Panel name##_panel;                                                               \
    PanelDraw name##_draw;
#include "src/view/panel/panels.inc"
#undef PANEL
PanelWant gradients_want, headline_want, lesson_want, model_want, palette_want, why_want;
PanelShown objects_shown, pipeline_shown;
enum { BITS_ROOMY = 13, MODEL_WORDS = 3, PALETTE_LOW = 4, PALETTE_HIGH = 12 }; /* rows */

extern const Panel *const all_panels[]; /* the rows of panels.inc; NULL ends */

/* Draws it, its figures noted with their origin. */
void panel_draw(Sheet *sheet, Area area, const Panel *panel, const PanelData *data);

/* Returns the rows that it would like to have. */
int panel_want(const Sheet *sheet, const Panel *panel, const PanelData *data, int width);

/* Panels above one another: those without room are left out, the others share the rows. */
enum { STACK_PANELS = 9 };

typedef struct {
    const Panel *panels[STACK_PANELS];
    int count;
    Area area;
    LessonPanel point; /* a lesson points at this panel: it stays, in a frame */
    const Panel *guest; /* takes the place of the last panels, as many as it needs; may be NULL. */
    Area place;         /* and is drawn here; without `draw` by the caller, after stack_draw() */
} Stack;

void stack_add(Stack *stack, const Panel *panel, const PanelData *data);
/* Adds the panel where all its rows have room; a panel that folds late needs only its least
 * rows. */
void stack_add_whole(Sheet *sheet, Stack *stack, const Panel *panel, const PanelData *data);
void stack_draw(Sheet *sheet, Stack *stack, const PanelData *data);

/* Draws the page of the race, or of the straggler: all that stands between head and log. */
void race_page_draw(Sheet *sheet, Area area, const PanelData *data);

/* Draw the fixed parts, which are never left out. header_draw returns the rows that it used. */
int header_draw(Sheet *sheet, Area area, const PanelData *data);
void log_draw(Sheet *sheet, Area area, const PanelData *data);
void key_bar_draw(Sheet *sheet, Area area, const State *state);
/* Draws the caption of a tour or a script, in the place of log and key bar. */
void caption_draw(Sheet *sheet, Area area, const State *state);
/* Draws the moment that is shown, between the first and the last. */
void time_bar_draw(Sheet *sheet, Area row, const PanelData *data);
void title_draw(Sheet *sheet, Area area, const PanelData *data); /* the window's header, one row */

/* ---- what floats over the panels ------------------------------------------------------------- */

/* Returns a place of w x h in the room that hides the least of the picture. The place is under the
 * picture, or beside it where `least_w` have room. Otherwise it is the room's lower end. */
Box overlay_place(Box room, Box picture, double w, double h, double least_w);
void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data);
void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data); /* in cells */

void help_draw(Sheet *sheet, Area area, const PanelData *data);
/* Returns the rows of the help on a sheet of pixels, where one page holds all of it, or `brief`,
 * the keys and their names; 0: no page does. */
int help_fits(const Sheet *sheet, const State *state, bool brief);
