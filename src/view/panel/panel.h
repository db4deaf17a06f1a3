/* SPDX-License-Identifier: MIT */
/* Panels: what the screens show besides pictures, each laid out once, on a Sheet. Terminal and
 * window arrange them in stacks.
 *
 * To add a panel
 *   1. a row of panels.inc: the rows that it would like, when it is shown, and where its figures
 *      come from (a topic of origin.inc);
 *   2. name_draw() in a file of this folder, which src/view/local.mk names;
 *   3. new data: a field of LiveData (src/state/live_data.h), filled in src/live; of the device:
 *      LiveDevice, in live_gpu_describe() (live_gpu.c). Sensors come from below: `sensors_unknown`
 *      (NAN, else a field reads as a measured 0) and NVML in src/run/cuda/driver.c, its tests in
 *      tests/run/test_device.sh;
 *   4. its place on a page of side.c: at most STACK_PANELS in a stack;
 *   5. where lessons and `show` shall name it: a row of LESSON_PANELS (src/state/state.h), which
 *      the column `point` then names.
 * `make goldens` draws the screens anew. tests/view/test_panels.c draws each row of side.c with
 * both back ends, if it is shown with the data of tests/support/live_fixture.h. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/picture.h"
#include "src/view/panel/sheet.h"

/* The data of a panel. */
typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture; /* the grid, a pixel a cell, and the cameras; NULL: none yet */
    bool still;             /* a figure: nothing moves, so a panel takes the rows of this content */
} PanelData;

typedef int PanelWant(Sheet *sheet, const PanelData *data, int width);
typedef bool PanelShown(const PanelData *data);
typedef void PanelDraw(Sheet *sheet, Area area, const PanelData *data);

typedef struct {
    OriginTopic origin; /* origin of its figures, unless the code names another */
    const char *menu;   /* what the palette shows after a click on its head; NULL: nothing */
    LessonPanel point;  /* what lessons call it */
    int fold;           /* the lowest is left out first when there is no room */
    int grow;           /* the lowest is first to get more rows than `height` */
    int height;         /* rows, at least; */
    int brief;          /* the same of a question that shrinks to its answer; 0: it does not */
    int taller;         /* rows more than `height` in the window, whose digits are large */
    int usual;          /* rows where there is room; 0: the rows that it draws then */
    PanelWant *want;    /* asks for other rows than `usual`; NULL: none */
    PanelShown *shown;  /* NULL: always */
    PanelDraw *draw;
} Panel;

/* Each panel has name_draw(). A row may name name_want() or name_shown() besides. */
#define PANEL(name, ...)                                                                           \
    extern const Panel name##_panel;                                                               \
    PanelDraw name##_draw;                                                                         \
    PanelWant name##_want;                                                                         \
    PanelShown name##_shown;
#include "src/view/panel/panels.inc"
#undef PANEL
enum { BITS_ROOMY = 13, MODEL_WORDS = 3, PALETTE_LOW = 4, PALETTE_HIGH = 12 }; /* rows */

extern const Panel *const all_panels[]; /* the rows of panels.inc; NULL ends */

/* Draws it, its figures noted with their origin. */
void panel_draw(Sheet *sheet, Area area, const Panel *panel, const PanelData *data);

/* Returns the rows that it would like to have. */
int panel_want(const Sheet *sheet, const Panel *panel, const PanelData *data, int width);

/* Draws panels above one another, at most STACK_PANELS of a list that NULL ends: those without room
 * are left out, the others share the rows. The panel that a lesson points at stays, in a frame.
 * `guest` takes the place of the last panels, as many as it needs; NULL: none. */
enum { STACK_PANELS = 9 };
void stack_draw(Sheet *sheet, Area area, const Panel *const *panels, const Panel *guest,
                const PanelData *data);

/* Draws the column beside the picture, or in place of the picture: the page that the state asks
 * for. */
void side_draw(Sheet *sheet, Area area, const PanelData *data);
/* Draws what is known about the picture, beside a picture that stands alone. */
void facts_draw(Sheet *sheet, Area area, const PanelData *data);
/* Whether two kernels step side by side, which needs the whole of a usual screen. */
bool steps_are_two(const PanelData *data);

/* Returns "front", or "camera 2" without a rig. */
ShortText camera_text(const Rig *rig, int64_t camera);

/* Draws all camera views in a row, names included; an operator scene has bars. Returns the rows of
 * that strip on a screen of `w` columns. */
void cameras_draw(Sheet *sheet, Area area, const PanelData *data);
int cameras_rows(int w);

/* The steps of warps, as rows of text: for the display and for `bevscope steps`. */
typedef struct {
    const Steps *steps;
    const BevMap *map;
    const Features *values; /* FP32: the summed values; NULL: not shown */
    const Rig *rig;         /* names of the cameras; NULL: numbers */
    int64_t cell;           /* the chosen warp; -1: none */
    int lane;               /* the chosen lane of each warp; -1: all alike */
    bool table;             /* a row a lane of what it holds, where there is room */
    bool headings; /* the columns of a step's table are named in the step, where there is room: its
                      head has none */
} StepsView;

/* Which warps were recorded: four rows. Returns the rows used. */
int steps_head_draw(Sheet *sheet, Area area, const StepsView *view);

/* Step `number`, from 0, in as many rows as it takes or as the area has: a low area gets fewer
 * points and no registers. Returns the rows used; a step past the last one draws one row that says
 * so. */
int steps_step_draw(Sheet *sheet, Area area, const StepsView *view, int number);

/* Draws the counters over all steps up to and with `number`: three rows, or more where the area
 * is narrow. Returns the rows used. */
int steps_totals_draw(Sheet *sheet, Area area, const StepsView *view, int number);

typedef struct {
    const Race *race;
    const Image *bev; /* the picture of the grid, a pixel a cell; NULL: cells are grey */
    ShortText where;  /* whose map: "canonical, FP16, nearest" */
} RaceView;

/* Draws a row a kernel and a column a moment: the moments at which the kernels end. */
void race_moments_draw(Sheet *sheet, Area area, const RaceView *view);

/* Draws when each multiprocessor works, of the slowest latency-bound kernel and of the fastest
 * kernel. */
void straggler_strips_draw(Sheet *sheet, Area area, const RaceView *view);

/* Draws the page of the race, or of the straggler: all that stands between head and log. */
void race_page_draw(Sheet *sheet, Area area, const PanelData *data);

/* Draw the fixed parts, which are never left out. header_draw returns the rows that it used. */
int header_draw(Sheet *sheet, Area area, const PanelData *data);
void log_draw(Sheet *sheet, Area area, const PanelData *data);
void key_bar_draw(Sheet *sheet, Area area, const State *state);
/* Draws the caption of a tour or a script, in the place of log and key bar. */
void caption_draw(Sheet *sheet, Area area, const State *state);
/* Draws the moment that is shown, between the first and the last. The mouse drags it. */
void time_bar_draw(Sheet *sheet, Area row, const PanelData *data);
/* Draws the first row of the header: the selection as chips, and the time. The window has no other
 * row of the header. */
void title_draw(Sheet *sheet, Area area, const PanelData *data);

/* ---- what floats over the panels ------------------------------------------------------------- */

void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data);
void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data);
