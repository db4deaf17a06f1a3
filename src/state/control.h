/* SPDX-License-Identifier: MIT */
/* Helpers of the handlers in controls.inc, and functions of the log. Private to src/state. */
#pragma once

#include "src/scene/scene.h"
#include "src/state/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = 64 };
#define ZOOM_STEP         1.25 /* the factor of one step of `zoom`, and of one step of the wheel */

/* The words of the column `acts` in controls.inc. Each word expands to ACT(handler, statements that
 * write the value and set `now`, members of KeyRow). Each inclusion of controls.inc defines ACT. */
/* clang-format off */
#define BY(handler, ...)             ACT(handler, SHOWS_TEXT(__VA_ARGS__), .picks = false)
#define SLIDES(handler, format, is)  ACT(handler, SHOWS_NUMBER(format, is), .picks = false)
#define PICKS(handler, is)           ACT(handler, SHOWS_CHOICE(is), .picks = true)
#define SETS(field, bits, format)                                                                  \
    ACT(control_set, SHOWS_NUMBER(format, state->field), CHANGES(field, bits))
#define CHOOSES(field, bits)                                                                       \
    ACT(control_choose, SHOWS_CHOICE(state->field), .picks = true, CHANGES(field, bits))
#define TOGGLES(field, bits, on, off)                                                              \
    ACT(control_toggle, SHOWS_TEXT(ON_OFF(state->field)), CHANGES(field, bits), .says = {off, on})
#define WHAT_IF(figure, format, is)                                                                \
    ACT(control_gpu_figure, SHOWS_NUMBER(format, is), CHANGES(edit.figure, 0))
#define FAULT(format, fault)                                                                       \
    NEEDS(CAMERAS)                                                                                 \
    SLIDES(control_calibration, format, state->job.camera_errors[state->camera].fault)
#define SHOWS_TEXT(...)          snprintf(text, size, __VA_ARGS__); double now = 0;
#define SHOWS_NUMBER(format, is) double now = is; snprintf(text, size, format, now);
#define SHOWS_CHOICE(is) double now = write_choice(state, action, (int)is, text, size);
#define CHANGES(member, bits)    .field = offsetof(State, member), .asks = bits
#define NO_VALUE                 "%s", ""
#define ON_OFF(flag)             "%s", on_off(flag)
/* clang-format on */

/* The first inclusion of controls.inc declares all handlers. */
#define ACT(handler, ...) handler
#define NEEDS(condition)
#define CONTROL(id, word, argument, keys, back, group, help, also, acts) ControlHandler acts;
#include "src/state/controls.inc"
#undef CONTROL
#undef ACT

static inline const char *on_off(bool on) {
    return on ? "on" : "off";
}

static inline bool is_switch(const char *argument) {
    return !strcmp(argument, "on") || !strcmp(argument, "off");
}

static inline double clamp(double value, double lo, double hi) {
    return fmin(fmax(value, lo), hi);
}

static inline int wrapped(int value, int count) {
    return ((value % count) + count) % count;
}

/* Returns the position in the control's list that a command picks: a neighbour of `now`, or the
 * value named by the argument. Returns -1, with a line in the log, where no value has that name. */
int control_pick(State *state, const Command *command, int now);

/* Returns the position of the value that the argument names; -1: no value has that name. */
int control_find(const State *state, const Command *command);

/* Carries out a command: completes its place or number and calls the handler. A command that cannot
 * be carried out changes nothing, and a line of the log says why. */
unsigned control_use(State *state, const Command *command);

/* Selects the camera that begins an argument such as "front 1.5". The command keeps the rest,
 * "1.5". The name "all" sets command->all. Returns false, with a line in the log, where no camera
 * has the name. */
bool control_take_camera(State *state, Command *command);

/* STEP_RUN after a change that moves neither footprint nor latency: only values change. */
enum { STEP_RUN_VALUES = STEP_RUN | 1 << 16 };

/* Assigns a field. The value is STEP_CHANGE where the field changed, else 0. */
#define SET(field, value) ((field) != (value) ? ((field) = (value), (unsigned)STEP_CHANGE) : 0u)

/* Returns the switch after the command: its argument, or the opposite of `now`. */
bool control_switched(const Command *command, bool now);

/* Marks the job as changed: its serial grows. Returns the STEP_* bits of a change. */
unsigned control_changed(State *state);

/* Whether a change of the job moves all figures, or neither footprint nor latency. */
typedef enum { MOVES_ALL_FIGURES, MOVES_VALUES_ONLY } Moves;

/* Marks the job as changed. The figures complete the newest log line when they arrive. */
unsigned control_await_figures(State *state, Moves moves);

typedef enum { VIEW_CENTERED, VIEW_KEPT } ViewAfterSlice;

/* Shows one slice of the scene's grid, or all slices. The picture then has the cells of that slice.
 * VIEW_CENTERED moves cursor and view to the middle of the grid. */
void control_use_slice(State *state, int slice, ViewAfterSlice view);

/* Returns the slice as text: "3, z +0.2 to +0.6 m", "max", "side"; "flat": the grid has one. */
ShortText state_slice_text(const State *state);

/* Returns the group of a scene of the menu. Scenes of the command line are with the cameras. */
SceneGroup state_scene_group(const State *state, int scene);

/* Returns the number of channels that the job asks for. */
int64_t state_channels(const State *state);

/* Returns the name of the preset, the number of points of an operator scene, or "-". */
ShortText state_config(const State *state);

/* Returns the number of the injected bug as text, or "none". */
const char *state_injected_bug(const State *state);

/* Returns the name of the camera that the camera controls act on; "n/a": there is none. */
const char *state_camera_name(const State *state);

/* Returns the mask of the aligns that the scene has a map for. Before a scene is loaded, the mask
 * has all aligns. */
unsigned control_aligns(const State *state);

/* Selects `config`, made valid for the scene. The log line begins with `said`. */
unsigned control_use_config(State *state, Action action, KernelConfig config, const char *said);

/* Asks the engine about the cell that is pinned or under the cursor, if that cell changed. */
unsigned control_probe(State *state);
/* Logs the position and the indices of cell (x, y), after the words `what`. */
void control_say_cell(State *state, Action action, const char *what, int64_t x, int64_t y);
unsigned control_pin_at(State *state, const char *what, int64_t x, int64_t y);
unsigned control_unpin(State *state, Action action);

/* control_steps_reset shows the steps of all warps of the cell again, stopped at the first step.
 * control_steps_tick plays them for `seconds`. */
void control_steps_reset(State *state);
unsigned control_steps_tick(State *state, double seconds);

/* Returns which warps are followed: "cell", or block, warp and lane as in "429", "429,3",
 * "429,3,7". */
ShortText state_steps_of(const State *state);

/* Returns the kernels whose steps are shown: "own", "v2", "v2,v2_do". */
ShortText state_steps_pair(const State *state);

/* Scrolls the help by entries, or the text of a lesson. */
unsigned control_scroll(State *state, int steps);

/* Moves the viewport's centre so that the view lies inside the grid. */
void control_fit_viewport(State *state);

/* Zooms the view. The point (x, y), in cells, stays where it is on the screen. */
unsigned control_zoom_about(State *state, double zoom, double x, double y);

#define SAY(state, action, ...) log_say(&(state)->log, action, __VA_ARGS__)

/* Logs a change of the job. All figures complete the line. */
#define SAY_CHANGE(state, ...)                                                                     \
    (SAY(state, __VA_ARGS__), control_await_figures(state, MOVES_ALL_FIGURES))

/* Adds a line to the log. A control whose row is HELD replaces its own last line. ACTION_COUNT
 * marks a note. Returns STEP_REDRAW. */
unsigned log_say(Log *log, Action action, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Completes the line that waits for the figures `after`. */
void log_result(Log *log, const Headline *after);
