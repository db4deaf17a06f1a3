/* SPDX-License-Identifier: MIT */
/* Controls of the groups "Scene and time" and "Cameras". */
#include "src/base/data.h"
#include "src/state/control.h"

#define STEP_S      0.1
#define PRUNE_LEAST 1e-4

SceneGroup state_scene_group(const State *state, int scene) {
    const StateMenu *menu = &state->menu;
    const int place = scene - menu->operator_first;
    return scene < menu->preset_count                   ? SCENES_PRESET
           : place >= 0 && place < menu->operator_count ? SCENES_OPERATOR
                                                        : SCENES_CAMERAS;
}

/* Selects a scene. Channels, sizes, pinned cell and cursor of the old scene are reset. */
static unsigned use_scene(State *state, Action action, int scene) {
    state->job.scene = scene;
    state->job.other = 0; /* the comparison of two scenes ends */
    state->job.channels = 0;
    state->job.sizes = (OperatorChange){.points = 0};
    state->pinned = state->cursor_shown = false;
    state->job.probe_cell = -1;
    return SAY_CHANGE(state, action, "%s %s%s", keys[action].word, state->menu.scenes.names[scene],
                      state_scene_group(state, scene) == SCENES_OPERATOR ? " (an operator)" : "");
}

ShortText state_config(const State *state) {
    const bool is_preset = state->job.scene < state->menu.preset_count;
    if (state->scene.has_operator)
        return short_text("%lld points", (long long)state->scene.operator_spec.points);
    return short_text("%s", is_preset ? menu_name(&state->menu.scenes, state->job.scene) : "-");
}

/* Changes an operator scene's points: a step doubles or halves, an argument sets the number. */
static unsigned change_points(State *state, const Command *command) {
    const OperatorSpec *own = &state->scene.operator_spec;
    const int64_t now = state->job.sizes.points ? state->job.sizes.points : own->points;
    const bool a_point_per_cell = own->kind == OPERATOR_EMBEDDING_BAG && own->cells;
    const int64_t least = a_point_per_cell ? own->cells : 1;
    double next = strtod(command->argument, NULL);
    if (command->step)
        next = clamp(floor((double)now * (command->step > 0 ? 2 : 0.5)), (double)least,
                     OPERATOR_MAX_POINTS);
    if (!(next >= (double)least && next <= OPERATOR_MAX_POINTS && next == floor(next)))
        return SAY(state, command->action, "config: %s is no number of points from %lld to %d",
                   command->argument, (long long)least, OPERATOR_MAX_POINTS);
    state->job.sizes.points = (int64_t)next;
    return SAY_CHANGE(state, command->action, "%.0f points", next);
}

unsigned control_skew(State *state, const Command *command) {
    state->job.sizes.skewed = true;
    state->job.sizes.skew = command->number;
    return SAY_CHANGE(state, command->action, "skew %g", command->number);
}

/* Changes the size of the scene: an operator scene's points, else the preset. */
unsigned control_config(State *state, const Command *command) {
    double points;
    char rest;
    const bool is_number = sscanf(command->argument, "%lf%c", &points, &rest) == 1;
    /* A scene that is not loaded yet may be an operator. */
    const bool may_have_points = state->scene.has_operator || (is_number && state->scene.nx == 0);
    if (may_have_points && (is_number || command->step))
        return change_points(state, command);
    if (!state->menu.preset_count)
        return SAY(state, command->action, "config: there is none");
    /* From a scene outside the presets, a step leads to the first or the last preset. */
    const int outside = command->step > 0 ? -1 : 0;
    const bool is_preset = state->job.scene < state->menu.preset_count;
    const int scene = control_pick(state, command, is_preset ? state->job.scene : outside);
    return scene < 0 ? STEP_REDRAW : use_scene(state, command->action, scene);
}

void state_compare_with(State *state, int scene) {
    state->job.other = scene + 1;
    state->job.pool_baseline = true;
    state->compare = COMPARE_WIPE;
    control_changed(state);
}

/* Selects a scene, at time 0 and without camera errors. Steps lead through the scenes after the
 * presets, which `config` chooses. */
unsigned control_scene(State *state, const Command *command) {
    const int first = state->menu.preset_count, count = state->menu.scenes.count - first;
    int scene;
    if (command->step && count) {
        const int outside = command->step > 0 ? -1 : 0; /* leads to the first or the last scene */
        const int now = state->job.scene < first ? outside : state->job.scene - first;
        scene = first + wrapped(now + command->step, count);
    } else {
        scene = control_pick(state, command, state->job.scene);
    }
    if (scene < 0)
        return STEP_REDRAW;
    job_repair(&state->job);
    state->job.baseline_rig = state->job.rig; /* the new scene has other cameras */
    state->camera = 0;
    state->job.time_s = 0;
    return use_scene(state, command->action, scene);
}

/* Stops the world. The time is rounded to what the screen shows, so that a command with that time
 * (-t SECONDS) draws the same moment. */
static void pause_world(State *state) {
    state->playing = false;
    if (state->scene.has_world)
        state->job.time_s = round(state->job.time_s * 100) / 100;
}

/* Plays or pauses: the race while its page is open, else the world. */
unsigned control_play(State *state, const Command *command) {
    if (state->race) {
        state->race_paused = !control_switched(command, !state->race_paused);
        return SAY(state, command->action, state->race_paused ? "race paused" : "race runs");
    }
    unsigned changed = SET(state->playing, control_switched(command, state->playing));
    const double before_s = state->job.time_s;
    if (!state->playing)
        pause_world(state);
    if (state->job.time_s != before_s)
        changed |= control_changed(state);
    if (!state->playing)
        SAY(state, command->action, "paused at %.2f s", state->job.time_s);
    else if (state->scene.nx && !scene_moves(&state->scene))
        SAY(state, command->action, "playing, but %s has one moment: nothing moves",
            state->scene.name);
    else
        SAY(state, command->action, "playing, %g s a second", state->speed);
    return STEP_REDRAW | STEP_LOOK | changed;
}

static unsigned pause_at(State *state, Action action, double time_s) {
    state->job.time_s = time_s;
    pause_world(state);
    SAY(state, action, "paused at %.2f s", time_s);
    return control_changed(state);
}

unsigned control_step(State *state, const Command *command) {
    const double step_s = state->scene.moment_s > 0 ? state->scene.moment_s : STEP_S;
    const double change_s = command->step ? command->number * step_s : command->number;
    return pause_at(state, command->action, fmax(state->job.time_s + change_s, 0));
}

unsigned control_time(State *state, const Command *command) {
    return pause_at(state, command->action, command->number);
}

const char *state_camera_name(const State *state) {
    return state->camera < state->scene.camera_count ? state->scene.cameras[state->camera] : "n/a";
}

/* Returns the pruning one step away. A step up halves the number of kept bins, or takes ten times
 * the threshold. A step down does the opposite. `bins`: the depth bins of a pixel; 0: unknown. */
static Prune prune_stepped(Prune now, int step, int64_t bins) {
    if (now.top) {
        const int64_t top = step > 0 ? (now.top + 1) / 2 : 2 * now.top;
        return (Prune){.top = bins && top > bins ? 0 : top};
    }
    const double below = now.below ? now.below * pow(10, step) : step > 0 ? PRUNE_LEAST : 0;
    return (Prune){.below = below < PRUNE_LEAST * 0.99 ? 0 : fmin(below, 1)}; /* pow() rounds */
}

/* Chooses the points to leave out: those below a least depth, or all but each pixel's top bins. */
unsigned control_prune(State *state, const Command *command) {
    Prune now = state->job.prune, next = prune_stepped(now, command->step, state->scene.depth_bins);
    if (!command->step && !prune_parse(command->argument, &next))
        return SAY(state, command->action, "prune: %s is no depth from 0 to 1, nor top4: still %s",
                   command->argument, prune_text(&now).text);
    if (state->scene.depth_bins && next.top > state->scene.depth_bins)
        return SAY(state, command->action, "prune: %s, but a pixel has %lld depth bins: still %s",
                   prune_text(&next).text, (long long)state->scene.depth_bins,
                   prune_text(&now).text);
    state->job.prune = next;
    if (next.top)
        SAY(state, command->action, "prune top%lld: each pixel's bins of largest depth are kept",
            (long long)next.top);
    else if (next.below > 0)
        SAY(state, command->action, "prune %g: points with a smaller depth are left out",
            next.below);
    else
        SAY(state, command->action, "prune off: every point is read");
    return control_await_figures(state, MOVES_ALL_FIGURES);
}

const char *scales_name(const State *state, int scales) {
    if (scales == SCALES_IDEAL)
        return "ideal";
    if (scales == SCALES_CHANNEL)
        return "channel";
    if (scales == SCALES_FILE)
        return data_file_name(state->menu.scales);
    const int method = scales_method(scales);
    return scales_by_channel(scales) ? scale_channel_names[method] : scale_method_names[method];
}

int scales_scene(const State *state) {
    const Menu *scenes = &state->menu.scenes;
    for (int i = 0; i < scenes->count; i++)
        if (scenes->names[i] == state->job.scales_scene)
            return i + 1;
    return 0;
}

/* Chooses the scene that quantisation scales are calibrated on. Ideal scales need no calibration:
 * they change to scales by the maximum. */
unsigned control_scales_from(State *state, const Command *command) {
    Job *job = &state->job;
    int scene = command->place;
    job->scales_scene = scene ? menu_name(&state->menu.scenes, scene - 1) : NULL;
    if (job->scales < SCALES_METHODS || job->scales == SCALES_FILE)
        job->scales = SCALES_METHODS + SCALE_MAX;
    SAY(state, command->action, "scales by %s, from the first moments of %s",
        scales_name(state, job->scales), scene ? job->scales_scene : "this scene");
    return control_await_figures(state, MOVES_VALUES_ONLY);
}

/* Returns the camera that the argument names, by name or by number from 0. Returns -1, with a line
 * in the log, where no camera has that name or number. */
static int pick_camera(State *state, const Command *command) {
    int number;
    char rest;
    const bool is_number = sscanf(command->argument, "%d%c", &number, &rest) == 1;
    const bool is_name = control_find(state, command) >= 0; /* a camera may be called "2" */
    if (is_number && !is_name && number >= 0 && number < state->scene.camera_count)
        return number;
    return control_pick(state, command, state->camera);
}

unsigned control_camera(State *state, const Command *command) {
    int camera = pick_camera(state, command);
    if (camera < 0)
        return STEP_REDRAW;
    unsigned changed = SET(state->camera, camera);
    return SAY(state, command->action, "camera %s selected", state_camera_name(state)) | changed;
}

bool control_take_camera(State *state, Command *command) {
    Command camera = {.action = ACTION_CAMERA}; /* its argument is the first word */
    char value[sizeof command->argument];
    size_t length = strcspn(command->argument, " ");
    const bool has_value = command->argument[length] == ' ';
    snprintf(camera.argument, sizeof camera.argument, "%.*s", (int)length, command->argument);
    /* "dropout front" means "dropout front on" */
    const bool names_dropout =
        command->action == ACTION_DROPOUT && !command->step && !is_switch(camera.argument);
    if (!has_value && !names_dropout)
        return true;
    snprintf(value, sizeof value, "%s", has_value ? command->argument + length + 1 : "on");
    memcpy(command->argument, value, sizeof value);
    command->all = !strcmp(camera.argument, "all");
    if (command->all)
        return true;
    const int found = pick_camera(state, &camera);
    if (found >= 0)
        state->camera = found;
    return found >= 0;
}

unsigned control_camera_dropout(State *state, const Command *command) {
    if (!command->step && !is_switch(command->argument))
        return SAY(state, command->action, "dropout: \"%s\" is neither on nor off",
                   command->argument);
    const uint32_t bit = (uint32_t)1 << state->camera;
    const bool was_off = !(state->job.camera_mask & bit);
    const bool off = control_switched(command, was_off);
    state->job.camera_mask = off ? state->job.camera_mask & ~bit : state->job.camera_mask | bit;
    return SAY_CHANGE(state, command->action, "%s %s", state_camera_name(state),
                      off ? "off (camera dropout)" : "on again");
}

int state_seeing(const State *state) {
    int count = 0;
    for (int i = 0; i < state->scene.camera_count; i++)
        count += state->job.camera_mask >> i & 1;
    return count;
}

unsigned control_see(State *state, const Command *command) {
    const int all = state->scene.camera_count, wanted = (int)command->number;
    const int count = wanted < all ? wanted : all;
    state->job.camera_mask = count == all ? UINT32_MAX : (1u << count) - 1;
    return SAY_CHANGE(state, command->action, "%d of %d cameras see", count, all);
}

/* Changes an error of the selected camera, or of all cameras: an error of the car's own pose shows
 * in every camera. */
unsigned control_calibration(State *state, const Command *command) {
    const char *word = keys[command->action].word;
    const bool is_delay = command->action == ACTION_DELAY;
    Err err;
    int fault = 0; /* the row with the control's word */
    while (strcmp(fault_infos[fault].word, word))
        fault++;
    if (is_delay && !scene_allows_delay(&state->scene, command->number, &err))
        return SAY(state, command->action, "delay: %s", err.what);
    for (int i = 0; i < state->scene.camera_count; i++)
        if (command->all || i == state->camera)
            state->job.camera_errors[i].each[fault] = command->number + 0.0; /* makes -0 a 0 */
    SAY(state, command->action, "%s of %s off by %s%s", fault_infos[fault].name,
        command->all ? "all cameras" : state_camera_name(state),
        state_value(state, command->action).text,
        is_delay && command->number > 0 ? ": what moves leaves ghosts" : "");
    if (is_delay) /* a delay changes none of the log's figures */
        return control_changed(state);
    return control_await_figures(state, MOVES_ALL_FIGURES);
}

unsigned control_repair(State *state, const Command *command) {
    job_repair(&state->job);
    return SAY_CHANGE(state, command->action, "cameras and depth repaired");
}
