/* SPDX-License-Identifier: MIT */
/* Panels: what the screens show besides pictures. A panel is laid out once, on a Sheet, for both
 * terminal and window, which arrange panels in stacks.
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
    bool still;             /* a printed page: a panel takes the rows that this content needs */
} PanelData;

typedef int PanelWant(Sheet *sheet, const PanelData *data, int width);
typedef bool PanelShown(const PanelData *data);
typedef void PanelDraw(Sheet *sheet, Area area, const PanelData *data);

typedef struct {
    OriginTopic origin; /* the origin of the panel's figures, unless the code names another */
    const char *menu;   /* what the palette shows after a click on the title; NULL: nothing */
    LessonPanel point;  /* the panel's name in lessons */
    int fold;           /* where room is short, the panel of the lowest rank is left out first */
    int grow;           /* the panel of the lowest rank is first to get more rows than `height` */
    int height;         /* the least number of rows */
    int brief;          /* the least rows of a question that shows only its answer; 0: `height` */
    int taller;         /* more rows than `height` in the window, whose digits are large */
    int usual;          /* rows where there is room; 0: as many as the panel draws */
    PanelWant *want;    /* returns the rows in place of `usual`; NULL: `usual` holds */
    PanelShown *shown;  /* NULL: always */
    PanelDraw *draw;
} Panel;

/* Declares a panel and its functions. name_draw() is always there. name_want() and name_shown() are
 * there if the row of panels.inc names them. */
#define PANEL(name, ...)                                                                           \
    extern const Panel name##_panel;                                                               \
    PanelDraw name##_draw;                                                                         \
    PanelWant name##_want;                                                                         \
    PanelShown name##_shown;
#include "src/view/panel/panels.inc"
#undef PANEL
enum { BITS_ROOMY = 13, MODEL_WORDS = 3, PALETTE_LOW = 4, PALETTE_HIGH = 12 }; /* rows */

extern const Panel *const all_panels[]; /* the rows of panels.inc; NULL ends */

/* Draws a panel, and notes the places and the origin of its figures. */
void panel_draw(Sheet *sheet, Area area, const Panel *panel, const PanelData *data);
/* Returns the rows that a panel would like to have. */
int panel_want(const Sheet *sheet, const Panel *panel, const PanelData *data, int width);

/* Draws panels above one another: at most STACK_PANELS of a list that NULL ends. Panels without
 * room are left out, the others share the rows. The panel that a lesson points at stays, in a
 * frame. `guest` takes the place of as many of the last panels as it needs; NULL: no guest. */
enum { STACK_PANELS = 9 };
void stack_draw(Sheet *sheet, Area area, const Panel *const *panels, const Panel *guest,
                const PanelData *data);

/* Draws the page that the state asks for, in the column beside the picture or in its place. */
void side_draw(Sheet *sheet, Area area, const PanelData *data);
/* Draws the facts about the picture, beside a picture that stands alone. */
void facts_draw(Sheet *sheet, Area area, const PanelData *data);
/* Whether the steps of two kernels stand side by side, which takes the whole width of a usual
 * screen. */
bool steps_are_two(const PanelData *data);

/* Returns "front", or "camera 2" without a rig. */
ShortText camera_text(const Rig *rig, int64_t camera);

/* Draws all camera views in a row, with names. An operator scene has bars in their place. */
void cameras_draw(Sheet *sheet, Area area, const PanelData *data);
/* Returns the rows of that strip on a screen of `w` columns. */
int cameras_rows(int w);

/* The steps of warps, as rows of text: for the display and for `bevscope steps`. */
typedef struct {
    const Steps *steps;
    const BevMap *map;
    const Features *values; /* FP32: the summed values; NULL: not shown */
    const Rig *rig;         /* names of the cameras; NULL: numbers */
    int64_t cell;           /* the chosen warp; -1: none */
    int lane;               /* the chosen lane of each warp; -1: none */
    bool table;             /* a row for each lane's registers, where there is room */
    bool headings;          /* the step names its columns, because the head has no row for names */
} StepsView;

/* Draws which warps were recorded, in four rows. Returns the rows used. */
int steps_head_draw(Sheet *sheet, Area area, const StepsView *view);
/* Draws step `number`, from 0. A low area shows fewer points and no registers. Past the last step,
 * one row tells that the kernel is done. Returns the rows used. */
int steps_step_draw(Sheet *sheet, Area area, const StepsView *view, int number);
/* Draws the counters over the steps 0 to `number`, in three rows, or more in a narrow area. Returns
 * the rows used. */
int steps_totals_draw(Sheet *sheet, Area area, const StepsView *view, int number);

typedef struct {
    const Race *race;
    const Image *bev; /* the picture of the grid, a pixel a cell; NULL: cells are grey */
    ShortText where;  /* whose map: "canonical, FP16, nearest" */
} RaceView;

/* Draws the grids in a table: a row for each kernel, a column for each moment at which a kernel
 * ends. */
void race_moments_draw(Sheet *sheet, Area area, const RaceView *view);
/* Draws when each multiprocessor works, for the slowest latency-bound kernel and for the fastest
 * kernel. */
void straggler_strips_draw(Sheet *sheet, Area area, const RaceView *view);
/* Draws the page of the race, or of the straggler: all that stands between head and log. */
void race_page_draw(Sheet *sheet, Area area, const PanelData *data);

/* Draw the fixed parts, which are never left out. header_draw returns the rows used. */
int header_draw(Sheet *sheet, Area area, const PanelData *data);
void log_draw(Sheet *sheet, Area area, const PanelData *data);
void key_bar_draw(Sheet *sheet, Area area, const State *state);
/* Draws the caption of a tour or a script, in the place of log and key bar. */
void caption_draw(Sheet *sheet, Area area, const State *state);
/* Draws the time bar: the shown moment between the first and the last. The mouse can drag it. */
void time_bar_draw(Sheet *sheet, Area row, const PanelData *data);
/* Draws the first row of the header: the selection as chips, and the time. In the window the header
 * has only this row. */
void title_draw(Sheet *sheet, Area area, const PanelData *data);

/* ---- what floats over the panels ------------------------------------------------------------- */

void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data);
void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data);
