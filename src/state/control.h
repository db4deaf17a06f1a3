/* What the controls share; one function a row of keys[]. Private to the state. */
#ifndef BEV_CONTROL_H
#define BEV_CONTROL_H

#include "src/base/kernel_config.h"
#include "src/state/log.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_KERNELS = 64 };

#define SAY(state, action, ...) log_say(&(state)->log, action, __VA_ARGS__)

static inline double clamp(double value, double lo, double hi) {
    return fmin(fmax(value, lo), hi);
}

static inline int wrapped(int value, int count) {
    return ((value % count) + count) % count;
}

/* The entry that a command picks: a neighbour, or the one named. -1, and a line in the log, when
 * there is none of that name. */
int control_pick(State *state, const Command *command, const Menu *menu, int now);

/* What a number becomes: its argument, or a step on. */
double control_moved(const Command *command, double now, double step);

/* The same by a factor. */
double control_scaled(const Command *command, double now, double factor);

bool control_switched(const Command *command, bool now);

/* The job is another one. */
unsigned control_changed(State *state);

/* The same, and the line just said goes on to tell what it changed. */
unsigned control_changed_and_told(State *state);

/* The aligns that the scene has a map for, as a bit mask; all before it is loaded. */
unsigned control_aligns(const State *state);

/* Takes over a choice, settled; `said` begins the line. */
unsigned control_use_config(State *state, Action action, KernelConfig config, const char *said);

/* Cameras clean and exact, temperature as rendered. */
void job_repair(Job *job);

/* Asks the engine about the cell looked at, when it is another one. */
unsigned control_probe(State *state);
unsigned control_pin_at(State *state, int64_t x, int64_t y);
unsigned control_unpin(State *state, Action action);
unsigned control_hide_cursor(State *state); /* 0: there was none */

/* Keeps the view inside the grid. */
void control_fit_viewport(State *state);
unsigned control_zoom_about(State *state, double zoom, double x, double y);
#define ZOOM_STEP 1.25

unsigned control_kernel(State *state, const Command *command);
unsigned control_kernel_row(State *state, const Command *command);
unsigned control_dtype(State *state, const Command *command);
unsigned control_align(State *state, const Command *command);
unsigned control_backend(State *state, const Command *command);
unsigned control_config(State *state, const Command *command);
unsigned control_channels(State *state, const Command *command);
unsigned control_gpu(State *state, const Command *command);
unsigned control_l2(State *state, const Command *command);
unsigned control_counters(State *state, const Command *command);
unsigned control_baseline(State *state, const Command *command);
unsigned control_compare(State *state, const Command *command);
unsigned control_wipe(State *state, const Command *command);
unsigned control_error(State *state, const Command *command);
unsigned control_view(State *state, const Command *command);
unsigned control_channel(State *state, const Command *command);
unsigned control_colormap(State *state, const Command *command);
unsigned control_lock(State *state, const Command *command);
unsigned control_strip(State *state, const Command *command);
unsigned control_chart(State *state, const Command *command);
unsigned control_theme(State *state, const Command *command);
unsigned control_scene(State *state, const Command *command);
unsigned control_play(State *state, const Command *command);
unsigned control_step(State *state, const Command *command);
unsigned control_speed(State *state, const Command *command);
unsigned control_temperature(State *state, const Command *command);
unsigned control_camera(State *state, const Command *command);
unsigned control_dirty(State *state, const Command *command);
unsigned control_yaw(State *state, const Command *command);
unsigned control_pitch(State *state, const Command *command);
unsigned control_height(State *state, const Command *command);
unsigned control_repair(State *state, const Command *command);
unsigned control_cursor_x(State *state, const Command *command);
unsigned control_cursor_y(State *state, const Command *command);
unsigned control_pin(State *state, const Command *command);
unsigned control_zoom(State *state, const Command *command);
unsigned control_pan_x(State *state, const Command *command);
unsigned control_pan_y(State *state, const Command *command);
unsigned control_fit(State *state, const Command *command);
unsigned control_page(State *state, const Command *command);
unsigned control_fullscreen(State *state, const Command *command);
unsigned control_snapshot(State *state, const Command *command);
unsigned control_record(State *state, const Command *command);
unsigned control_help(State *state, const Command *command);
unsigned control_glossary(State *state, const Command *command);
unsigned control_escape(State *state, const Command *command);
unsigned control_quit(State *state, const Command *command);

#endif
