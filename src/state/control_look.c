/* SPDX-License-Identifier: MIT */
/* Controls of the group "Look closer": cursor, pinned cell, zoom, pan, slice, steps of warps. */
#include "src/state/control.h"

unsigned control_probe(State *state) {
    int64_t cell = state_probe_cell(state);
    if (cell == state->job.probe_cell)
        return STEP_REDRAW;
    state->job.probe_cell = cell;
    return control_changed(state);
}

void control_fit_viewport(State *state) {
    Viewport *viewport = &state->viewport;
    double half_x = (double)state->scene.nx / 2 / viewport->zoom;
    double half_y = (double)state->scene.ny / 2 / viewport->zoom;
    viewport->center_x = clamp(viewport->center_x, half_x, (double)state->scene.nx - half_x);
    viewport->center_y = clamp(viewport->center_y, half_y, (double)state->scene.ny - half_y);
}

/* Moves the view only as far as needed to show the cursor, a cell away from the view's edge. */
static void follow_cursor(State *state) {
    Viewport *viewport = &state->viewport;
    double half_x = (double)state->scene.nx / 2 / viewport->zoom;
    double half_y = (double)state->scene.ny / 2 / viewport->zoom;
    double x = (double)state->cursor_x + 0.5, y = (double)state->cursor_y + 0.5;
    viewport->center_x = clamp(viewport->center_x, x + 1 - half_x, x - 1 + half_x);
    viewport->center_y = clamp(viewport->center_y, y + 1 - half_y, y - 1 + half_y);
    control_fit_viewport(state);
}

void control_say_cell(State *state, Action action, const char *what, int64_t x, int64_t y) {
    const Grid *grid = &state->scene.grid;
    double center_m[2];
    if (!state->scene.has_rig) {
        SAY(state, action, "%scell %lld, %lld", what, (long long)x, (long long)y);
        return;
    }
    grid_center(grid, y * grid->nx + x, center_m);
    if (state_slice(state).slice == SLICE_SIDE)
        SAY(state, action, "%sz %+.2f m, x %+.1f m", what, center_m[0], center_m[1]);
    else
        SAY(state, action, "%scell %lld, %lld: x %+.1f m, y %+.1f m", what, (long long)x,
            (long long)y, center_m[0], center_m[1]);
}

/* Moves one coordinate of the cursor. While the cursor is hidden, the first press only shows it. */
unsigned control_cursor(State *state, const Command *command) {
    bool along_x = command->action == ACTION_CURSOR_X;
    int64_t *coordinate = along_x ? &state->cursor_x : &state->cursor_y;
    int64_t cells = along_x ? state->scene.nx : state->scene.ny;
    if (cells <= 0)
        return 0;
    if (state->cursor_shown || !command->step)
        *coordinate = (int64_t)clamp(command->number, 0, (double)(cells - 1));
    state->cursor_shown = true;
    follow_cursor(state);
    control_say_cell(state, command->action, "", state->cursor_x, state->cursor_y);
    return control_probe(state);
}

unsigned control_unpin(State *state, Action action) {
    unsigned changed = SET(state->pinned, false);
    SAY(state, action, "cell let go");
    return control_probe(state) | changed;
}

unsigned control_pin_at(State *state, const char *what, int64_t x, int64_t y) {
    unsigned changed = SET(state->pinned, true);
    state->pin_x = x;
    state->pin_y = y;
    control_say_cell(state, ACTION_PIN, what, x, y);
    return control_probe(state) | changed;
}

unsigned control_pin(State *state, const Command *command) {
    long long x, y; /* a click on a panel names the cell */
    if (sscanf(command->argument, "%lld,%lld", &x, &y) == 2)
        return control_pin_at(state, "pinned ", x, y);
    const bool cursor_is_pinned =
        state->pinned && state->pin_x == state->cursor_x && state->pin_y == state->cursor_y;
    if (!control_switched(command, cursor_is_pinned))
        return control_unpin(state, command->action);
    if (state->scene.nx <= 0)
        return 0;
    return control_pin_at(state, "pinned ", state->cursor_x, state->cursor_y);
}

/* Pins the cell of the longest interval, which the kernels wait for. */
unsigned control_fullest(State *state, const Command *command) {
    const Headline *shown = &state->shown;
    const Slice slice = state_slice(state);
    const int64_t cells_per_slice = slice.cells_x * slice.rows;
    if (!shown->fullest_points || cells_per_slice <= 0)
        return SAY(state, command->action, "fullest: no cell has points");
    const long long fullest_slice = shown->fullest_cell / cells_per_slice;
    if (slice.slices > 1 && slice.slice != fullest_slice)
        return SAY(state, command->action, "fullest: %lld points, in slice %lld (:slice %lld)",
                   (long long)shown->fullest_points, fullest_slice, fullest_slice);
    const int64_t cell_in_slice = shown->fullest_cell % cells_per_slice;
    return control_pin_at(state, "pinned the fullest ", cell_in_slice % slice.nx,
                          cell_in_slice / slice.nx);
}

unsigned control_race(State *state, const Command *command) {
    RacePage page = command->action == ACTION_RACE ? RACE_GRIDS : RACE_STRAGGLER;
    bool on = control_switched(command, state->race == page);
    unsigned changed = SET(state->race, on ? page : RACE_OFF);
    state->race_paused = false;
    state->race_s = 0;
    return SAY(state, command->action, "%s %s%s", keys[command->action].word, on_off(on),
               on ? ": a model of the order in which blocks run" : "") |
           changed | STEP_LOOK;
}

unsigned control_zoom_about(State *state, double zoom, double x, double y) {
    Viewport *viewport = &state->viewport;
    double before = viewport->zoom;
    viewport->zoom = clamp(zoom, keys[ACTION_ZOOM].lo, keys[ACTION_ZOOM].hi);
    viewport->center_x = x + (viewport->center_x - x) * before / viewport->zoom;
    viewport->center_y = y + (viewport->center_y - y) * before / viewport->zoom;
    control_fit_viewport(state);
    /* Empty cells are interpolated only without zoom. */
    const bool interpolation_changes = (viewport->zoom > 1) != (before > 1);
    return SAY(state, ACTION_ZOOM, "zoom %.2f", viewport->zoom) |
           (viewport->zoom != before ? STEP_CHANGE : 0) | (interpolation_changes ? STEP_LOOK : 0);
}

unsigned control_zoom(State *state, const Command *command) {
    const Viewport *viewport = &state->viewport;
    const double x = (double)state->cursor_x + 0.5, y = (double)state->cursor_y + 0.5;
    if (state->cursor_shown)
        return control_zoom_about(state, command->number, x, y);
    return control_zoom_about(state, command->number, viewport->center_x, viewport->center_y);
}

/* Moves the view: a step by a tenth of the view's size, an argument by that number of cells. */
unsigned control_pan(State *state, const Command *command) {
    Viewport *viewport = &state->viewport;
    const bool along_x = command->action == ACTION_PAN_X;
    const double cells_in_view =
        (double)(along_x ? state->scene.nx : state->scene.ny) / viewport->zoom;
    double *center = along_x ? &viewport->center_x : &viewport->center_y;
    *center += command->number * (command->step ? cells_in_view / 10 : 1);
    control_fit_viewport(state);
    return SAY(state, command->action,
               viewport->zoom > 1 ? "view moved" : "view: the whole grid is in sight");
}

unsigned control_fit(State *state, const Command *command) {
    unsigned changed = SET(state->viewport.zoom, 1);
    control_fit_viewport(state);
    return SAY(state, command->action, "the whole grid") | changed | (changed ? STEP_LOOK : 0);
}

/* ---- the slice of a grid with height --------------------------------------------------------- */

/* Returns the shape of the scene's grid with all slices, also while a single slice is shown. */
static BevShape grid_shape(const SceneFacts *scene) {
    if (scene->slices <= 1)
        return (BevShape){.nx = scene->nx, .ny = scene->ny};
    return (BevShape){.nx = scene->cells_x, .ny = scene->rows * scene->slices, .nz = scene->slices};
}

Slice state_slice(const State *state) {
    BevShape shape = grid_shape(&state->scene);
    return slice_of(&shape, state->job.slice);
}

ShortText state_cell_place(const State *state, int64_t cell) {
    BevShape shape = grid_shape(&state->scene);
    return shape.nx > 0 ? cell_place(&shape, cell, ", ") : (ShortText){"n/a"};
}

void control_use_slice(State *state, int slice, ViewAfterSlice view) {
    SceneFacts *scene = &state->scene;
    state->job.slice = slice;
    Slice shown = state_slice(state);
    scene->nx = shown.nx;
    scene->ny = shown.ny;
    if (scene->has_rig && scene->slices > 1)
        scene->grid = slice_grid(&shown, &scene->whole);
    if (view == VIEW_KEPT) {
        control_fit_viewport(state);
        return;
    }
    state->cursor_x = scene->nx / 2;
    state->cursor_y = scene->ny / 2;
    state->viewport = (Viewport){
        .center_x = (double)scene->nx / 2, .center_y = (double)scene->ny / 2, .zoom = 1};
}

ShortText state_slice_text(const State *state) {
    return state->scene.slices > 1 ? slice_name(state->job.slice) : short_text("flat");
}

/* Returns the slice one step away in the cycle max (place 0), 0, 1, ..., the highest, side. */
static int next_slice(int now, int step, int slices) {
    const int side_place = slices + 1, count = slices + 2;
    const int place_now = now == SLICE_MAX ? 0 : now == SLICE_SIDE ? side_place : now + 1;
    const int place = wrapped(place_now + step, count);
    return place == 0 ? SLICE_MAX : place == side_place ? SLICE_SIDE : place - 1;
}

/* Shows another slice. The view from the side has other cells than the views from above, so that
 * pinned cell, cursor and view are reset between the two. */
unsigned control_slice(State *state, const Command *command) {
    int slices = (int)state->scene.slices, now = state->job.slice, next = now;
    if (slices <= 1)
        return SAY(state, command->action, "slice: this grid is flat, one layer of cells");
    if (command->step)
        next = next_slice(now, command->step, slices);
    else if (!slice_parse(command->argument, slices, &next))
        return SAY(state, command->action, "slice: '%s' is none of max, side, 0 to %d",
                   command->argument, slices - 1);
    const bool other_cells = (now == SLICE_SIDE) != (next == SLICE_SIDE);
    control_use_slice(state, next, other_cells ? VIEW_CENTERED : VIEW_KEPT);
    if (other_cells) {
        state->pinned = state->cursor_shown = false;
        state->job.probe_cell = -1;
    }
    Slice shown = state_slice(state);
    SAY(state, command->action, "%s",
        slice_describe(&shown, state->scene.has_rig ? &state->scene.whole : NULL).text);
    return control_changed(state) | STEP_LOOK;
}

/* ---- the recorded steps of warps: which warps, which step, and how fast the steps play ------- */

enum { LANES = 32 };

void control_steps_reset(State *state) {
    state->job.steps_kernels[0] = state->job.steps_kernels[1] = NULL;
    state->job.steps_block = state->job.steps_warp = -1;
    state->step_at = 0;
    state->step_lane = -1;
    state->step_speed = state->step_clock = 0;
}

unsigned control_steps(State *state, const Command *command) {
    state->job.steps = control_switched(command, state->job.steps);
    control_steps_reset(state);
    if (state->job.steps)
        SAY(state, command->action, "steps of %s: %s goes forward, %s runs, %s: panels again",
            state->job.config.kernel->title, key_of(ACTION_STEPS_AT).name,
            key_of(ACTION_STEPS_SPEED).name, key_of(ACTION_STEPS).name);
    else
        SAY(state, command->action, "steps off");
    return control_changed(state);
}

/* Shows another step. The screen and scripts count steps from 1, the state counts from 0. */
unsigned control_steps_at(State *state, const Command *command) {
    const bool count_known = state->shown.step_count > 0;
    const int most = count_known ? state->shown.step_count : 1000000;
    const int number = (int)clamp(command->number, 1, most);
    unsigned changed = SET(state->step_at, number - 1);
    return SAY(state, command->action, "step %d%s%s", number,
               number == 1 && command->step < 0 ? ": the first" : "",
               count_known && number == most ? ": the last" : "") |
           changed;
}

/* Sets how fast the steps play. A run that would begin at its end begins at the other end. */
unsigned control_steps_speed(State *state, const Command *command) {
    int last = state->shown.step_count - 1;
    unsigned changed = SET(state->step_speed, command->number);
    state->step_clock = 0;
    if (state->step_speed > 0 && last > 0 && state->step_at >= last)
        state->step_at = 0;
    else if (state->step_speed < 0 && last > 0 && state->step_at == 0)
        state->step_at = last;
    if (state->step_speed == 0)
        return SAY(state, command->action, "step %d: still", state->step_at + 1) | changed;
    return SAY(state, command->action, "%g steps a second%s", fabs(state->step_speed),
               state->step_speed < 0 ? ", backwards" : "") |
           changed;
}

unsigned control_steps_tick(State *state, double seconds) {
    const double almost = 1e-9; /* in binary, ten times 0.1 are a little less than 1 */
    int last = state->shown.step_count - 1;
    if (!state->job.steps || state->step_speed == 0 || last < 0)
        return 0;
    state->step_clock += seconds * state->step_speed;
    int moved = (int)(state->step_clock + copysign(almost, state->step_clock));
    if (!moved)
        return 0;
    state->step_clock -= moved;
    state->step_at = (int)clamp(state->step_at + moved, 0, last);
    if (state->step_at > 0 && state->step_at < last)
        return STEP_REDRAW;
    state->step_speed = 0; /* the run stops at the first and at the last step */
    return SAY(state, ACTION_STEPS_SPEED, "step %d: the %s", state->step_at + 1,
               state->step_at ? "last" : "first");
}

ShortText state_steps_of(const State *state) {
    const Job *job = &state->job;
    const long long block = job->steps_block;
    const int warp = job->steps_warp, lane = state->step_lane;
    return lane >= 0    ? short_text("%lld,%d,%d", block, warp, lane)
           : warp >= 0  ? short_text("%lld,%d", block, warp)
           : block >= 0 ? short_text("%lld", block)
                        : short_text("cell");
}

/* The warps that are followed. -1: all lanes, all warps of the block, or all warps of the cell. */
typedef struct {
    int64_t block;
    int warp, lane;
} FollowedWarps;

/* Chooses the warps whose steps are shown. Another block or warp begins at its first step. */
static unsigned follow_warps(State *state, Action action, FollowedWarps next) {
    Job *job = &state->job;
    const bool same_warps = job->steps_block == next.block && job->steps_warp == next.warp;
    job->steps_block = next.block;
    job->steps_warp = next.warp;
    unsigned changed = SET(state->step_lane, next.lane);
    if (!same_warps)
        state->step_at = 0;
    SAY(state, action, "steps of %s%s",
        next.lane >= 0    ? "thread: block, warp, lane "
        : next.warp >= 0  ? "warp: block, warp "
        : next.block >= 0 ? "block "
                          : "all warps on the ",
        state_steps_of(state).text);
    return same_warps ? STEP_REDRAW | changed : control_changed(state);
}

/* Reads "BLOCK", "BLOCK,WARP" or "BLOCK,WARP,LANE". Returns false for any other text. */
static bool parse_warps(const char *text, FollowedWarps *warps) {
    long long block;
    char rest;
    const int numbers = sscanf(text, "%lld,%d,%d%c", &block, &warps->warp, &warps->lane, &rest);
    if (numbers < 1 || numbers > 3 || text[strlen(text) - 1] == ',')
        return false;
    warps->block = block;
    return block >= 0 && (numbers < 2 || warps->warp >= 0) &&
           (numbers < 3 || (warps->lane >= 0 && warps->lane < LANES));
}

/* Follows the warps that the argument names, or with "cell" all warps that work on the cell. */
unsigned control_steps_of(State *state, const Command *command) {
    const char *text = command->argument;
    FollowedWarps warps = {.block = -1, .warp = -1, .lane = -1};
    const bool all_of_cell = command->step || !strcmp(text, "cell");
    if (!all_of_cell && !parse_warps(text, &warps))
        return SAY(state, command->action,
                   "steps-of: '%s' is not cell, BLOCK, BLOCK,WARP or BLOCK,WARP,LANE", text);
    return follow_warps(state, command->action, warps);
}

ShortText state_steps_pair(const State *state) {
    const BevKernel *first = state->job.steps_kernels[0], *second = state->job.steps_kernels[1];
    return short_text("%s%s%s", first ? first->name : "own", second ? "," : "",
                      second ? second->name : "");
}

/* Finds the kernels named by "v2" or "v2,v2_do". "own" names none. Returns false where a name is
 * unknown, or the text has more than two names. */
static bool find_kernels(const char *names, const BevKernel *kernels[2]) {
    char first[64], second[64] = "";
    kernels[0] = kernels[1] = NULL;
    if (!strcmp(names, "own"))
        return true;
    const int found = sscanf(names, "%63[^,],%63[^,]", first, second);
    const bool one_comma_at_most = strchr(names, ',') == strrchr(names, ',');
    kernels[0] = found >= 1 ? bev_kernel_find(first) : NULL;
    kernels[1] = found == 2 ? bev_kernel_find(second) : NULL;
    return one_comma_at_most && kernels[0] && (found == 1 || kernels[1]);
}

unsigned control_steps_pair(State *state, const Command *command) {
    const BevKernel *kernels[2];
    const char *names = command->step ? "own" : command->argument;
    if (!find_kernels(names, kernels))
        return SAY(state, command->action,
                   "steps-pair: '%s' is not own, a kernel, or two such as v2,v2_do", names);
    control_steps_reset(state);
    memcpy(state->job.steps_kernels, kernels, sizeof kernels);
    SAY(state, command->action, "steps of %s", names);
    return control_changed(state);
}
