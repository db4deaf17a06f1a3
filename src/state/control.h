/* What the handlers of the controls (controls.inc) share: helpers, and the log of the display.
 * Private to src/state. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/state/bits.h"
#include "src/state/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_KERNELS = 64 };
#define ZOOM_STEP 1.25 /* of a step and of the wheel */

/* The prototypes of all handlers. */
#define BY(handler, ...)                                                 handler
#define TOGGLES(...)                                                     control_toggle
#define CHOOSES(...)                                                     control_choose
#define CONTROL(id, word, argument, keys, back, group, help, also, acts) ControlHandler acts;
#include "src/state/controls.inc"
#undef CONTROL
#undef BY
#undef TOGGLES
#undef CHOOSES

/* Values to choose from, of controls.inc; see values.c. */
ControlValues values_kernels, values_dtypes, values_aligns, values_directions, values_defects,
    values_roundings, values_backends, values_configs, values_channels, values_scales,
    values_scales_from, values_gpus, values_compares, values_views, values_colormaps, values_strips,
    values_truths, values_charts, values_themes, values_scenes, values_cameras, values_losses,
    values_bits, values_lessons, values_pages, values_glossary, values_undo;

static inline const char *on_off(bool on) {
    return on ? "on" : "off";
}

static inline double clamp(double value, double lo, double hi) {
    return fmin(fmax(value, lo), hi);
}

static inline int wrapped(int value, int count) {
    return ((value % count) + count) % count;
}

/* The position in its list of values that a command picks: a neighbour of `now`, or the one named
 * by the argument. -1, and a line in the log, where no value has that name. */
int control_pick(State *state, const Command *command, int now);
int control_find(const State *state, const Command *command); /* the same of an argument, silent */

extern const char *const rounding_ideas[ROUNDING_COUNT]; /* what each does, in a few words */

/* A number after the command: its argument, or a step of the control's row from `now`. */
double control_moved(const Command *command, double now);

/* The same within the bounds of the row: a step stops there. False, and a line in the log: the
 * argument is outside. */
bool control_number(State *state, const Command *command, double now, double *next);

/* Sets a field; STEP_CHANGE where that changes it, else 0. */
#define SET(field, value) ((field) != (value) ? ((field) = (value), (unsigned)STEP_CHANGE) : 0u)

/* A switch after the command: its argument, or the opposite of `now`. */
bool control_switched(const Command *command, bool now);

/* Counts up the serial of the changed job. */
unsigned control_changed(State *state);

/* As control_changed; the newest log line is completed when the figures arrive. `values_only`: the
 * values of depth or features change, footprint and latency stay. */
unsigned control_told(State *state, bool values_only);

/* Shows a slice of the scene's grid, or all: the picture gets the slice's cells. Cursor and view go
 * to the middle; `keep`: they stay. */
void control_use_slice(State *state, int slice, bool keep);

/* "3, z +0.2 to +0.6 m", "max", "side"; "flat" for a grid of one slice. */
ShortText state_slice_text(const State *state);

/* "32 MiB (what if)", "768 GB/s": a figure of the GPU that is predicted. */
ShortText state_gpu_figure(const State *state, int figure);

/* The number of channels that the job asks for. */
int64_t state_channels(const State *state);

/* The preset, the points of an operator scene, or "-". */
ShortText state_config(const State *state);

/* "none", or the number of the planted defect. */
const char *state_defect(const State *state);

/* The name of a loss: "cell", "box", "class", "all". */
const char *state_loss(int loss);

/* The camera that the camera controls act on; "n/a" where the scene has none. */
const char *state_camera_name(const State *state);

/* The aligns that the scene has a map for, as a bit mask; all of them before it is loaded. */
unsigned control_aligns(const State *state);

/* Selects `config`, made valid for the scene; `said` begins the log line. */
unsigned control_use_config(State *state, Action action, KernelConfig config, const char *said);

/* Asks the engine about the cell that is pinned or under the cursor, where it changed. */
unsigned control_probe(State *state);
/* The cell's numbers and place, behind `what`. */
void control_say_cell(State *state, Action action, const char *what, int64_t x, int64_t y);
unsigned control_pin_at(State *state, const char *what, int64_t x, int64_t y);
unsigned control_unpin(State *state, Action action);
unsigned control_hide_cursor(State *state); /* 0: none was shown */

/* Steps of warps: back to all warps of the cell, the first step, standing still; and what they do
 * in so many seconds. */
void control_steps_reset(State *state);
unsigned control_steps_tick(State *state, double seconds);

/* Which warps are followed: "cell", "429", "429,3", "429,3,7". */
ShortText state_steps_of(const State *state);

/* The kernels whose steps are shown: "own", "v2", "v2_chw,v2". */
ShortText state_steps_pair(const State *state);

/* Turns the pages of the help, or moves the text of a lesson. */
unsigned control_scroll(State *state, int steps);

/* Moves the viewport's centre so that the view lies inside the grid. */
void control_fit_viewport(State *state);

/* Zooms; the point (x, y), in cells, stays where it is on the screen. */
unsigned control_zoom_about(State *state, double zoom, double x, double y);
#define SAY(state, action, ...) log_say(&(state)->log, action, __VA_ARGS__)

/* Adds a line; HELD controls replace their own last line. ACTION_COUNT: the line is a note. Returns
 * STEP_REDRAW, which every new line asks for. */
unsigned log_say(Log *log, Action action, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The newest line waits for the figures of job `serial`, to compare them with `before`;
 * `values_only`: for the error alone. */
void log_await(Log *log, uint64_t serial, const Headline *before, bool values_only);

/* Completes the line that waits for these figures. */
void log_result(Log *log, const Headline *after);
