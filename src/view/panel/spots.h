/* SPDX-License-Identifier: MIT */
/* Places of a drawing for the mouse, in the units of its screen: what can be clicked, and
 * figures. */
#pragma once

#include "src/view/draw/pen.h"
#include "src/state/live_data.h"

/* ---- where a figure comes from: its source, its inputs, its date ----------------------------- */

/* Subjects of figures: the rows of origin.inc. */
typedef enum {
    ORIGIN_NONE,
#define TOPIC(id, ...) ORIGIN_##id,
#include "src/view/panel/origin.inc"
#undef TOPIC
    ORIGIN_COUNT
} OriginTopic;

typedef struct {
    OriginTopic topic;
    const BevKernel *kernel; /* NULL: the selection's */
    BevDtype dtype;
    const char *word; /* what is asked about; NULL or unknown to the glossary: origin_word() */
} Origin;

enum { ORIGIN_TEXT_MAX = 320 };

/* One or two sentences that begin with the source: "measured", "recorded", "model", "published",
 * "computed", "set" or "n/a". Never empty. */
void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]);

/* Returns the word of the glossary for the figures of a topic; NULL: none. */
const char *origin_word(OriginTopic topic);

/* ---- places ---------------------------------------------------------------------------------- */

enum { SPOTS_MAX = 128, FIGURES_MAX = 1024 };

/* All zero: nothing can be clicked. */
typedef struct {
    int count;
    struct {
        Box box;
        Command command;
    } list[SPOTS_MAX]; /* chips, heads, rows of tables, cameras, hints on the key bar */
    int figure_count;
    struct {
        Box box;
        Origin origin;
    } figures[FIGURES_MAX];
    Box time;                      /* the time bar; w 0: none */
    double from_s, to_s;           /* the moments at the ends of the time bar */
    Box bev;                       /* the picture seen from above; w 0: none */
    double x_lo, x_hi, y_lo, y_hi; /* cells at its bottom, top, right and left edge */
    double wipe_x;                 /* where the picture is divided; NaN: nowhere */
    Box cameras[RIG_MAX_CAMERAS];  /* the views that are shown; w 0: not this one */
    Box over; /* the palette or the help: only what was noted after it answers there */
    int over_spots, over_figures; /* how many were noted before it */
} Spots;

/* Forgets all places; `spots` may be NULL. */
void spots_clear(Spots *spots);

/* Notes that something floats over the places in the box. */
void spots_cover(Spots *spots, Box box);

/* Notes that a click into the box is the command; `spots` NULL: nobody clicks. */
void spots_add(Spots *spots, Box box, Action action, int step, const char *argument);

/* Notes that a figure stands in the box; `spots` NULL: nobody asks. */
void spots_add_figure(Spots *spots, Box box, const Origin *origin);

/* Whether the point lies on what floats. */
bool spots_over(const Spots *spots, double x, double y);

/* Returns the feature pixel under a point, (camera * feat_h + h) * feat_w + w, where pixels can be
 * chosen: backward, and where dropped points are shown. -1: none. */
int64_t spots_pixel(const Spots *spots, double x, double y, const State *state,
                    const LiveFrame *frame);

/* Returns the origin of the figure under a point, for origin_text; NULL: no figure. */
const Origin *spots_figure(const Spots *spots, double x, double y);

/* Writes where the figure under a point comes from. False: no figure stands there. */
bool spots_answer(const Spots *spots, double x, double y, const State *state, const LiveData *live,
                  char text[ORIGIN_TEXT_MAX]);

/* Returns the box of the spot under a point, or else of the figure, but no picture's; NULL:
 * none. */
const Box *spots_box(const Spots *spots, double x, double y);

/* Returns the command of the spot under a point; NULL: no spot. */
const Command *spots_at(const Spots *spots, double x, double y);

/* A tooltip for the place under a point. */
enum { TIP_TEXT_MAX = ORIGIN_TEXT_MAX, TIP_LINE_MAX = 3 * TIP_TEXT_MAX };
typedef struct {
    Box box;         /* what it is about, for an outline */
    bool clickable;  /* a click or a drag does something there */
    char title[128]; /* the control with its value and key, or the word for the figure; */
    char help[96];   /* what the control, or a click, does; "": no control */
    char meaning[TIP_TEXT_MAX]; /* a sentence of the glossary; "": none */
    char source[TIP_TEXT_MAX];  /* where the figure comes from; "": no figure */
} Tip;

/* Makes the tooltip of a point. False: nothing lies there, or only a picture. */
bool spots_tip(const Spots *spots, double x, double y, const State *state, const LiveData *live,
               Tip *tip);

/* Writes the tip's texts in one line, the most important ones first. */
void tip_line(const Tip *tip, char *text, size_t size);

/* Returns the row of a spot's control; a chip and a panel's head open the palette with the
 * control's word. NULL: none. */
const KeyRow *spots_control(const Spots *spots, double x, double y);

/* The time bar: whether the point is on it, or near; the step in time that a drag to `x` is. */
bool spots_on_time(const Spots *spots, double x, double y);
Command spots_drag_time(const Spots *spots, double x, const State *state);

/* Returns the command of a right click: the palette, at the values of the spot's control. */
Command spots_menu(const Spots *spots, double x, double y);

/* Finds the command of the wheel: a step of the spot's control. False: there is none. */
bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command);
