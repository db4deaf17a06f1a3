/* SPDX-License-Identifier: MIT */
/* Controls of the groups "Scene and time" and "Cameras". */
#include "src/base/data.h"
#include "src/state/control.h"

#include <string.h>

#define STEP_S               0.1
#define STEP_TEMPERATURE_MAX 8.0 /* of steps; words go farther */
#define PRUNE_LEAST          1e-4

/* Selects a scene. Channels, sizes, pinned cell and cursor of the old scene are reset. */
SceneGroup state_scene_group(const State *state, int scene) {
    const StateMenu *menu = &state->menu;
    int operators = scene - menu->operator_first;
    return scene < menu->preset_count                           ? SCENES_PRESET
           : operators >= 0 && operators < menu->operator_count ? SCENES_OPERATOR
                                                                : SCENES_CAMERAS;
}

static unsigned use_scene(State *state, Action action, int scene) {
    state->job.scene = scene;
    state->job.other = 0; /* the baseline compared with the scene before */
    state->job.channels = 0;
    state->job.sizes = (OperatorChange){.points = 0};
    state->pinned = state->cursor_shown = false;
    state->job.probe_cell = -1;
    SAY(state, action, "%s %s%s", keys[action].word, state->menu.scenes.names[scene],
        state_scene_group(state, scene) == SCENES_OPERATOR ? " (an operator)" : "");
    return control_told(state, false);
}

ShortText state_config(const State *state) {
    ShortText config;
    const char *name = state->job.scene < state->menu.preset_count
                           ? menu_name(&state->menu.scenes, state->job.scene)
                           : "-";
    snprintf(config.text, sizeof config.text, "%s", name);
    if (state->scene.has_operator)
        snprintf(config.text, sizeof config.text, "%lld points",
                 (long long)state->scene.operator_spec.points);
    return config;
}

/* Whether the loaded scene has no sizes that can be changed. The log then says so. */
static bool operator_missing(State *state, Action action) {
    if (state->scene.has_operator || !state->scene.nx) /* else it is not loaded yet */
        return false;
    SAY(state, action, "%s: only operator scenes have one, such as embedding_bag",
        keys[action].word);
    return true;
}

/* Changes an operator scene's points: a step doubles or halves, an argument sets the number. */
static unsigned change_points(State *state, const Command *command) {
    const OperatorSpec *own = &state->scene.operator_spec;
    int64_t now = state->job.sizes.points ? state->job.sizes.points : own->points;
    int64_t least = own->kind == OPERATOR_EMBEDDING_BAG && own->cells ? own->cells : 1;
    double next = command->step ? floor((double)now * (command->step > 0 ? 2 : 0.5))
                                : strtod(command->argument, NULL);
    if (command->step)
        next = clamp(next, (double)least, OPERATOR_MAX_POINTS);
    if (!(next >= (double)least && next <= OPERATOR_MAX_POINTS && next == floor(next)))
        return SAY(state, command->action, "config: %s is no number of points from %lld to %d",
                   command->argument, (long long)least, OPERATOR_MAX_POINTS);
    state->job.sizes.points = (int64_t)next;
    SAY(state, command->action, "%.0f points", next);
    return control_told(state, false);
}

unsigned control_skew(State *state, const Command *command) {
    OperatorChange *sizes = &state->job.sizes;
    double now = sizes->skewed ? sizes->skew : state->scene.operator_spec.skew;
    double next;
    if (operator_missing(state, command->action) || !control_number(state, command, now, &next))
        return STEP_REDRAW;
    sizes->skewed = true;
    sizes->skew = next;
    SAY(state, command->action, "skew %g", next);
    return control_told(state, false);
}

unsigned control_config(State *state, const Command *command) {
    char *end;
    strtod(command->argument, &end);
    bool number = end != command->argument && !*end, loaded = state->scene.nx > 0;
    if ((state->scene.has_operator && command->step) ||
        (number && (state->scene.has_operator || !loaded)))
        return change_points(state, command);
    if (!state->menu.preset_count)
        return SAY(state, command->action, "config: there is none");
    bool inside = state->job.scene < state->menu.preset_count;
    int scene = control_pick(state, command, inside ? state->job.scene : -(command->step > 0));
    return scene < 0 ? STEP_REDRAW : use_scene(state, command->action, scene);
}

void state_compare_with(State *state, int scene) {
    state->job.other = scene + 1;
    state->job.pool_baseline = true;
    state->compare = COMPARE_WIPE;
    control_changed(state);
}

unsigned control_scene(State *state, const Command *command) {
    int first = state->menu.preset_count, scene;
    Menu others = {state->menu.scenes.names + first, state->menu.scenes.count - first};
    if (command->step && others.count) {
        bool inside = state->job.scene >= first;
        int now = inside ? state->job.scene - first : -(command->step > 0);
        scene = first + wrapped(now + command->step, others.count);
    } else {
        scene = control_pick(state, command, state->job.scene);
    }
    if (scene < 0)
        return STEP_REDRAW;
    job_repair(&state->job);
    state->job.baseline_rig = state->job.rig; /* these are other cameras */
    state->camera = 0;
    state->job.time_s = 0;
    return use_scene(state, command->action, scene);
}

unsigned control_play(State *state, const Command *command) {
    if (state->race) {
        state->race_paused = !control_switched(command, !state->race_paused);
        return SAY(state, command->action, state->race_paused ? "race paused" : "race runs");
    }
    unsigned changed = SET(state->playing, control_switched(command, state->playing));
    if (state->playing && state->scene.nx && !scene_moves(&state->scene))
        SAY(state, command->action, "playing, but %s has one moment: nothing moves",
            state->scene.name);
    else
        SAY(state, command->action, state->playing ? "playing, %g s a second" : "paused at %.2f s",
            state->playing ? state->speed : state->job.time_s);
    return STEP_REDRAW | STEP_LOOK | changed;
}

unsigned control_step(State *state, const Command *command) {
    state->playing = false;
    double step_s = state->scene.moment_s > 0 ? state->scene.moment_s : STEP_S;
    double by = command->step ? command->step * step_s : strtod(command->argument, NULL);
    state->job.time_s = fmax(state->job.time_s + by, 0);
    SAY(state, command->action, "paused at %.2f s", state->job.time_s);
    return control_changed(state);
}

unsigned control_speed(State *state, const Command *command) {
    double next;
    if (!control_number(state, command, state->speed, &next))
        return STEP_REDRAW;
    unsigned changed = SET(state->speed, next);
    return SAY(state, command->action, "speed %g s a second", next) | changed;
}

unsigned control_temperature(State *state, const Command *command) {
    double next, most = STEP_TEMPERATURE_MAX;
    if (!state->scene.has_world)
        return SAY(state, command->action,
                   "temperature: this scene's depth is given, not rendered");
    if (!control_number(state, command, state->job.temperature, &next))
        return STEP_REDRAW;
    /* Steps leave rounding errors. A value near 1 becomes 1, which means "as rendered". */
    next = fabs(next - 1) < 1e-6 ? 1 : next;
    state->job.temperature = command->step ? clamp(next, 1 / most, most) : next;
    SAY(state, command->action, "depth temperature %.2f (%s)", state->job.temperature,
        next > 1   ? "smears"
        : next < 1 ? "sharpens"
                   : "as rendered");
    return control_told(state, true);
}

unsigned control_load_balance(State *state, const Command *command) {
    double next;
    if (!control_number(state, command, state->job.balance, &next))
        return STEP_REDRAW;
    state->job.balance = next;
    SAY(state, command->action, "load balance %.2f: %s", next,
        next >= 1  ? "all intervals of the mean length"
        : next > 0 ? "intervals nearer to their mean length"
                   : "the rig's own intervals");
    return control_told(state, false);
}

const char *state_camera_name(const State *state) {
    return state->camera < state->scene.camera_count ? state->scene.cameras[state->camera] : "n/a";
}

/* Whether the scene has no cameras to change. The log then says so. */
static bool camera_missing(State *state, Action action) {
    if (state->scene.has_rig && state->scene.camera_count > 0)
        return false;
    SAY(state, action, "%s: this scene %s", keys[action].word,
        !state->scene.nx            ? "is not loaded yet"
        : state->scene.has_operator ? "is an operator: it has no cameras"
                                    : "came without its cameras");
    return true;
}

/* Returns the next pruning: a threshold ten times as large, from 1e-4 on, or half as many bins. */
static Prune prune_stepped(Prune now, int step, int64_t bins) {
    if (now.top) {
        int64_t top = step > 0 ? (now.top + 1) / 2 : 2 * now.top;
        return (Prune){.top = bins && top > bins ? 0 : top};
    }
    double below = now.below ? now.below * pow(10, step) : step > 0 ? PRUNE_LEAST : 0;
    return (Prune){.below = below < PRUNE_LEAST * 0.99 ? 0 : fmin(below, 1)};
}

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
    return control_told(state, false);
}

unsigned control_outlier(State *state, const Command *command) {
    double next;
    if (!control_number(state, command, state->job.outlier, &next))
        return STEP_REDRAW;
    state->job.outlier = next;
    if (next > 1)
        SAY(state, command->action, "outlier: feature channel 0 is %g times as large", next);
    else
        SAY(state, command->action, "outlier off: the features' own values");
    return control_told(state, true);
}

const char *scales_name(const State *state, int scales) {
    if (scales == SCALES_IDEAL)
        return "ideal";
    if (scales == SCALES_CHANNEL)
        return "channel";
    if (scales < SCALES_FILE)
        return (scales_by_channel(scales) ? scale_channel_names
                                          : scale_method_names)[scales_method(scales)];
    return data_file_name(state->menu.scales);
}

unsigned control_scales(State *state, const Command *command) {
    int scales = control_pick(state, command, state->job.scales);
    if (scales < 0)
        return STEP_REDRAW;
    state->job.scales = scales;
    if (scales == SCALES_IDEAL)
        SAY(state, command->action, "scales ideal: by the largest values of the very frame");
    else if (scales == SCALES_CHANNEL)
        SAY(state, command->action, "scales ideal, and of INT8 features one a channel");
    else if (scales == SCALES_FILE)
        SAY(state, command->action, "scales of %s", scales_name(state, scales));
    else
        SAY(state, command->action, "scales by %s%s%s, on %s first moments",
            scale_method_names[scales_method(scales)],
            scales_method(scales) == SCALE_PERCENTILE ? " 99.99" : "",
            scales_by_channel(scales) ? ", of INT8 features one a channel" : "",
            state->job.scales_scene ? "the other scene's" : "this scene's");
    return control_told(state, true);
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
    int scene = control_pick(state, command, scales_scene(state));
    if (scene < 0)
        return STEP_REDRAW;
    job->scales_scene = scene ? menu_name(&state->menu.scenes, scene - 1) : NULL;
    if (job->scales < SCALES_METHODS || job->scales == SCALES_FILE)
        job->scales = SCALES_METHODS + SCALE_MAX;
    SAY(state, command->action, "scales by %s, from the first moments of %s",
        scales_name(state, job->scales), scene ? job->scales_scene : "this scene");
    return control_told(state, true);
}

unsigned control_rounding(State *state, const Command *command) {
    if (camera_missing(state, command->action))
        return STEP_REDRAW;
    int rounding = control_pick(state, command, (int)state->job.rounding);
    if (rounding < 0)
        return STEP_REDRAW;
    state->job.rounding = (GridRounding)rounding;
    SAY(state, command->action, "rounding %s: %s", rounding_names[rounding],
        rounding_ideas[rounding]);
    return control_told(state, false);
}

/* Returns the camera that the argument names, by name or by number from 0. Returns -1, with a line
 * in the log, where there is none. */
static int pick_camera(State *state, const Command *command) {
    char *end;
    long number = strtol(command->argument, &end, 10);
    bool is_number = end != command->argument && !*end;
    for (int i = 0; i < state->scene.camera_count; i++)
        is_number = is_number && strcmp(state->scene.cameras[i], command->argument);
    return is_number && number >= 0 && number < state->scene.camera_count
               ? (int)number
               : control_pick(state, command, state->camera);
}

unsigned control_camera(State *state, const Command *command) {
    if (camera_missing(state, command->action))
        return STEP_REDRAW;
    int camera = pick_camera(state, command);
    if (camera < 0)
        return STEP_REDRAW;
    unsigned changed = SET(state->camera, camera);
    return SAY(state, command->action, "camera %s selected", state_camera_name(state)) | changed;
}

/* Selects the camera of an argument such as "front 1.5", and writes the command without it. A
 * camera alone drops out. Returns false where no camera has that name. */
static bool take_camera(State *state, const Command *from, Command *command) {
    *command = *from;
    const char *space = strchr(from->argument, ' ');
    bool alone = from->action == ACTION_DROPOUT && !from->step &&
                 strcmp(from->argument, "on") && strcmp(from->argument, "off");
    if (!space && !alone)
        return true;
    Command camera = {.action = ACTION_CAMERA};
    snprintf(camera.argument, sizeof camera.argument, "%.*s",
             (int)strcspn(from->argument, " "), from->argument);
    int found = pick_camera(state, &camera);
    state->camera = found < 0 ? state->camera : found;
    snprintf(command->argument, sizeof command->argument, "%s", space ? space + 1 : "on");
    return found >= 0;
}

unsigned control_camera_dropout(State *state, const Command *from) {
    Command taken, *command = &taken;
    if (camera_missing(state, from->action) || !take_camera(state, from, &taken))
        return STEP_REDRAW;
    if (!command->step && strcmp(command->argument, "on") && strcmp(command->argument, "off"))
        return SAY(state, from->action, "dropout: \"%s\" is neither on nor off",
                   command->argument);
    uint32_t bit = (uint32_t)1 << state->camera;
    bool drops = control_switched(command, !(state->job.camera_mask & bit));
    state->job.camera_mask = drops ? state->job.camera_mask & ~bit : state->job.camera_mask | bit;
    SAY(state, command->action, "%s %s", state_camera_name(state),
        drops ? "off (camera dropout)" : "on again");
    return control_told(state, false);
}

static int seeing(const State *state) {
    int count = 0;
    for (int i = 0; i < state->scene.camera_count; i++)
        count += state->job.camera_mask >> i & 1;
    return count;
}

unsigned control_see(State *state, const Command *command) {
    int all = state->scene.camera_count;
    double count;
    if (camera_missing(state, command->action) ||
        !control_number(state, command, seeing(state), &count))
        return STEP_REDRAW;
    state->job.camera_mask = count >= all ? UINT32_MAX : (1u << (int)count) - 1;
    SAY(state, command->action, "%.0f of %d cameras see", fmin(count, all), all);
    return control_told(state, false);
}

static unsigned use_delay(State *state, Action action, double delay_ms) {
    Err err;
    if (!scene_allows_delay(&state->scene, delay_ms, &err))
        return SAY(state, action, "delay: %s", err.what);
    state->job.camera_errors[state->camera].delay_ms = delay_ms;
    if (delay_ms > 0)
        SAY(state, action, "%s sees what was %g ms ago: what moves leaves ghosts",
            state_camera_name(state), delay_ms);
    else
        SAY(state, action, "%s sees the moment, without delay", state_camera_name(state));
    return control_changed(state); /* no figure is of the delay */
}

/* "yaw all 1": each camera in turn, as an error of the car's own pose shows in all of them. */
static unsigned control_all_cameras(State *state, const Command *command, const char *value) {
    const int chosen = state->camera;
    unsigned todo = 0;
    for (int i = 0; i < state->scene.camera_count; i++) {
        Command one = *command;
        snprintf(one.argument, sizeof one.argument, "%s", value);
        state->camera = i;
        todo |= control_calibration(state, &one);
    }
    state->camera = chosen;
    SAY(state, command->action, "%s of all cameras: %s", keys[command->action].word, value);
    return todo;
}

unsigned control_calibration(State *state, const Command *from) {
    Command taken, *command = &taken;
    if (!strncmp(from->argument, "all ", 4))
        return control_all_cameras(state, from, from->argument + 4);
    if (camera_missing(state, from->action) || !take_camera(state, from, &taken))
        return STEP_REDRAW;
    int fault = 0;
    while (strcmp(fault_infos[fault].word, keys[command->action].word))
        fault++;
    const FaultInfo *info = &fault_infos[fault];
    double *value = &state->job.camera_errors[state->camera].each[fault], next;
    if (!control_number(state, command, *value, &next))
        return STEP_REDRAW;
    if (command->action == ACTION_DELAY)
        return use_delay(state, command->action, next);
    /* The value is rounded, so that ten steps of 0.1 forward and ten back give 0. */
    *value = (command->step ? round(next * 1000) / 1000 : next) + 0.0;
    SAY(state, command->action, "%s of %s off by %+.1f %s", info->name, state_camera_name(state),
        *value, !strcmp(info->unit, "deg") ? "degrees" : info->unit);
    return control_told(state, false);
}

unsigned control_repair(State *state, const Command *command) {
    job_repair(&state->job);
    SAY(state, command->action, "cameras and depth repaired");
    return control_told(state, false);
}
