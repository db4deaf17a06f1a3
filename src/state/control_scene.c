/* Controls of the groups "Scene and time" and "Cameras", and what a wrong calibration does to a
 * camera. */
#include "src/state/control.h"

#include <string.h>

#define SPEED_MAX       8.0
#define STEP_S          0.1
#define ANGLE_STEP      0.5
#define ANGLE_MAX       15.0
#define HEIGHT_STEP     0.1
#define HEIGHT_MAX      2.0
#define TEMPERATURE_MAX 8.0
#define EVENNESS_STEP   0.25

/* Selects a scene. Channels, pinned cell and cursor belonged to the scene before. */
static unsigned use_scene(State *state, Action action, int scene) {
    state->job.scene = scene;
    state->job.other = 0; /* it was compared with the scene before */
    state->job.channels = 0;
    state->pinned = state->cursor_shown = false;
    state->job.probe_cell = -1;
    SAY(state, action, "%s %s", keys[action].word, state->menu.scenes.names[scene]);
    return control_changed_and_told(state);
}

unsigned control_config(State *state, const Command *command) {
    Menu configs = {state->menu.scenes.names, state->menu.preset_count};
    if (!configs.count)
        return SAY(state, command->action, "config: there is none");
    bool inside = state->job.scene < configs.count;
    int scene =
        control_pick(state, command, configs, inside ? state->job.scene : -(command->step > 0));
    return scene < 0 ? STEP_REDRAW : use_scene(state, command->action, scene);
}

RigState job_rig(const Job *job) {
    RigState rig = {.temperature = job->temperature,
                    .evenness = job->evenness,
                    .camera_mask = job->camera_mask};
    memcpy(rig.camera_errors, job->camera_errors, sizeof rig.camera_errors);
    return rig;
}

void job_use_rig(Job *job, const RigState *rig) {
    job->temperature = rig->temperature;
    job->evenness = rig->evenness;
    job->camera_mask = rig->camera_mask;
    memcpy(job->camera_errors, rig->camera_errors, sizeof job->camera_errors);
}

static bool same_error(const CameraError *a, const CameraError *b) {
    return a->yaw_deg == b->yaw_deg && a->pitch_deg == b->pitch_deg && a->height_m == b->height_m;
}

bool job_rigs_differ(const Job *job) {
    const RigState *rig = &job->baseline_rig;
    bool same = rig->temperature == job->temperature && rig->evenness == job->evenness &&
                rig->camera_mask == job->camera_mask;
    for (int i = 0; same && i < RIG_MAX_CAMERAS; i++)
        same = same_error(&rig->camera_errors[i], &job->camera_errors[i]);
    return job->baseline_pinned && !same;
}

bool job_inputs_differ(const Job *job) {
    return job->other || job_rigs_differ(job);
}

KernelConfig job_baseline_config(const Job *job) {
    return job->other ? job->config : job->baseline;
}

void state_compare_with(State *state, int scene) {
    state->job.other = scene + 1;
    state->job.pool_baseline = true;
    state->compare = COMPARE_WIPE;
    control_changed(state);
}

void job_repair(Job *job) {
    job->camera_mask = UINT32_MAX;
    job->temperature = 1;
    memset(job->camera_errors, 0, sizeof job->camera_errors);
}

unsigned control_scene(State *state, const Command *command) {
    int first = state->menu.preset_count, scene;
    Menu others = {state->menu.scenes.names + first, state->menu.scenes.count - first};
    if (command->step && others.count) {
        bool inside = state->job.scene >= first;
        int now = inside ? state->job.scene - first : -(command->step > 0);
        scene = first + wrapped(now + command->step, others.count);
    } else {
        scene = control_pick(state, command, state->menu.scenes, state->job.scene);
    }
    if (scene < 0)
        return STEP_REDRAW;
    job_repair(&state->job);
    state->job.baseline_rig = job_rig(&state->job); /* these are other cameras */
    state->camera = 0;
    state->job.time_s = 0;
    return use_scene(state, command->action, scene);
}

unsigned control_play(State *state, const Command *command) {
    state->playing = control_switched(command, state->playing);
    return SAY(state, command->action,
               state->playing ? "playing, %g s a second" : "paused at %.2f s",
               state->playing ? state->speed : state->job.time_s) |
           STEP_LOOK;
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
    state->speed = clamp(control_scaled(command, state->speed, 2), 1 / SPEED_MAX, SPEED_MAX);
    return SAY(state, command->action, "speed %g s a second", state->speed);
}

unsigned control_temperature(State *state, const Command *command) {
    double now = state->job.temperature, step = sqrt(2);
    if (!state->scene.has_world)
        return SAY(state, command->action,
                   "temperature: this scene's depth is given, not rendered");
    double next = control_scaled(command, now, step);
    /* Repeated steps by a square root leave rounding errors: as rendered is exactly 1. */
    next = fabs(next - 1) < 1e-6 ? 1 : next;
    state->job.temperature = clamp(next, 1 / TEMPERATURE_MAX, TEMPERATURE_MAX);
    SAY(state, command->action, "depth temperature %.2f (%s)", state->job.temperature,
        next > 1   ? "smears"
        : next < 1 ? "sharpens"
                   : "as rendered");
    return control_changed_and_told(state);
}

unsigned control_evenness(State *state, const Command *command) {
    double next = control_moved(command, state->job.evenness, EVENNESS_STEP);
    if (command->step)
        next = clamp(next, 0, 1);
    if (!(next >= 0 && next <= 1))
        return SAY(state, command->action, "evenness: %s is not from 0 to 1: still %.2f",
                   command->argument, state->job.evenness);
    state->job.evenness = next;
    SAY(state, command->action, "evenness %.2f: %s", next,
        next >= 1  ? "all intervals of the mean length"
        : next > 0 ? "intervals nearer to their mean length"
                   : "the rig's own intervals");
    return control_changed_and_told(state);
}

const char *state_camera_name(const State *state) {
    return state->camera < state->scene.camera_count ? state->scene.cameras[state->camera] : "n/a";
}

/* Whether the scene has no cameras to change; says so in the log. */
static bool camera_missing(State *state, Action action) {
    if (state->scene.has_rig && state->scene.camera_count > 0)
        return false;
    SAY(state, action, "%s: this scene came without its cameras", keys[action].word);
    return true;
}

unsigned control_camera(State *state, const Command *command) {
    if (camera_missing(state, command->action))
        return STEP_REDRAW;
    const char *names[RIG_MAX_CAMERAS];
    for (int i = 0; i < state->scene.camera_count; i++)
        names[i] = state->scene.cameras[i];
    const Menu cameras = {names, state->scene.camera_count};
    int camera = control_pick(state, command, cameras, state->camera);
    if (camera < 0)
        return STEP_REDRAW;
    state->camera = camera;
    return SAY(state, command->action, "camera %s selected", state_camera_name(state));
}

unsigned control_dirty(State *state, const Command *command) {
    if (camera_missing(state, command->action))
        return STEP_REDRAW;
    uint32_t bit = (uint32_t)1 << state->camera;
    bool dirty = control_switched(command, !(state->job.camera_mask & bit));
    state->job.camera_mask = dirty ? state->job.camera_mask & ~bit : state->job.camera_mask | bit;
    SAY(state, command->action, "%s %s", state_camera_name(state),
        dirty ? "switched off (dirty lens)" : "clean again");
    return control_changed_and_told(state);
}

unsigned control_calibration(State *state, const Command *command) {
    CameraError *error = &state->job.camera_errors[state->camera];
    bool height = command->action == ACTION_HEIGHT;
    double *value = height                          ? &error->height_m
                    : command->action == ACTION_YAW ? &error->yaw_deg
                                                    : &error->pitch_deg;
    double step = height ? HEIGHT_STEP : ANGLE_STEP, max = height ? HEIGHT_MAX : ANGLE_MAX;
    if (camera_missing(state, command->action))
        return STEP_REDRAW;
    /* Rounded, so that ten steps of 0.1 forward and ten back give 0. */
    *value = round(clamp(control_moved(command, *value, step), -max, max) * 1000) / 1000 + 0.0;
    SAY(state, command->action, "%s of %s off by %+.1f %s", keys[command->action].word,
        state_camera_name(state), *value, height ? "m" : "degrees");
    return control_changed_and_told(state);
}

unsigned control_repair(State *state, const Command *command) {
    job_repair(&state->job);
    SAY(state, command->action, "cameras clean and exact, depth temperature 1");
    return control_changed_and_told(state);
}

static void multiply(const double a[9], const double b[9], double product[9]) {
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            product[3 * row + column] = 0;
            for (int k = 0; k < 3; k++)
                product[3 * row + column] += a[3 * row + k] * b[3 * k + column];
        }
}

void camera_apply_error(Camera *camera, const CameraError *error) {
    const double degree = M_PI / 180;
    double yaw = error->yaw_deg * degree, pitch = error->pitch_deg * degree;
    /* Camera axes are right, down, forward: pitching up turns forward away from down. */
    const double about_z[9] = {cos(yaw), -sin(yaw), 0, sin(yaw), cos(yaw), 0, 0, 0, 1};
    const double about_right[9] = {1, 0, 0, 0, cos(pitch), -sin(pitch), 0, sin(pitch), cos(pitch)};
    double yawed[9], pitched[9];
    multiply(about_z, camera->rotation, yawed);
    multiply(yawed, about_right, pitched);
    memcpy(camera->rotation, pitched, sizeof pitched);
    camera->position_m[2] += error->height_m;
}

bool camera_error_is_zero(const CameraError *error) {
    return error->yaw_deg == 0 && error->pitch_deg == 0 && error->height_m == 0;
}

static void append(char *text, size_t size, const char *format, double value) {
    size_t length = strlen(text);
    if (value != 0)
        snprintf(text + length, size - length, format, value);
}

bool camera_faults(const Job *job, int camera, char *text, size_t size) {
    const CameraError *error = &job->camera_errors[camera];
    bool dirty = !(job->camera_mask >> camera & 1);
    snprintf(text, size, "%s", dirty ? ", dirty" : "");
    append(text, size, ", yaw %+.1f deg", error->yaw_deg);
    append(text, size, ", pitch %+.1f deg", error->pitch_deg);
    append(text, size, ", height %+.1f m", error->height_m);
    return text[0] != '\0';
}
