/* The control of training: depth that follows the gradient, step by step, until the grid is that of
 * the true depth. The control sets the number of steps; the engine takes them. */
#include "src/state/control.h"

/* The temperature at the start of a training where the job's is 1, as rendered. */
static const double SMEARED = 8;

const char *state_training(const State *state) {
    const Job *job = &state->job;
    return !job->train_steps                            ? "off"
           : state->shown.train_step < job->train_steps ? "on"
                                                        : "stopped";
}

bool control_end_training(State *state) {
    if (!state->job.train_steps)
        return false;
    state->job.train_steps = 0;
    state->shown.train_step = 0;
    state->job.temperature = state->untrained_temperature;
    state->playing = state->playing || state->untrained_playing;
    return true;
}

static unsigned end(State *state, Action action) {
    if (!control_end_training(state))
        return SAY(state, action, "train: the depth is the scene's own");
    SAY(state, action, "train: the scene's own depth again%s",
        state->playing ? "; the world plays on" : "");
    return control_changed(state);
}

/* Turns backward: the selection is then the kernel that computes the gradient. */
static unsigned begin(State *state, Action action, int steps) {
    Job *job = &state->job;
    KernelConfig config = job->config;
    char said[96];
    config.kernel = kernel_in_direction(config.kernel, BEV_BACKWARD);
    if (!config.kernel)
        return SAY(state, action, "train: this build has no backward kernel for that device");
    if (!job->train_steps) {
        state->untrained_temperature = job->temperature;
        state->untrained_playing = state->playing;
    }
    job->temperature = fmax(job->temperature, SMEARED);
    job->train_steps = steps;
    job->train_run++;
    state->shown.train_step = 0;
    state->playing = false;
    snprintf(said, sizeof said, "train: from smeared depth, temperature %g, down the gradient",
             job->temperature);
    unsigned bits = control_use_config(state, action, config, said);
    return bits & STEP_RUN ? bits : bits | control_changed(state);
}

static unsigned go_on(State *state, Action action, int steps) {
    state->job.train_steps = steps;
    SAY(state, action, "train: goes on from step %d", state->shown.train_step);
    return control_changed(state);
}

static unsigned stop(State *state, Action action) {
    int step = state->shown.train_step;
    state->job.train_steps = step > 0 ? step : 1;
    SAY(state, action, "train: stopped at step %d; pooled forward (%s) it is the scene's own depth", step,
        key_of(ACTION_DIRECTION).name);
    return control_changed(state);
}

/* Steps: a number, from the start where the training is further on; 0 ends the training. The key
 * starts, stops and continues. Pooling forward ends the training, and a world that played plays
 * on. */
unsigned control_train(State *state, const Command *command) {
    int now = state->shown.train_step, most = LIVE_TRAIN_STEPS;
    bool runs = state->job.train_steps > now;
    int steps = command->step ? command->step > 0 ? most : 0
                              : (int)clamp(strtod(command->argument, NULL), 0, most);
    if (!steps)
        return end(state, command->action);
    if (!state->scene.has_world)
        return SAY(state, command->action, "train: tensors of a file have no true depth");
    if (!state->job.train_steps || steps < now)
        return begin(state, command->action, steps);
    if (command->step && runs)
        return stop(state, command->action);
    return now < most && steps != now
               ? go_on(state, command->action, steps)
               : SAY(state, command->action, "train: all %d steps are taken", now);
}
