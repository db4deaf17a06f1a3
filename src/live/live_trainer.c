#include "src/live/live_trainer.h"

#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <stdio.h>
#include <string.h>

/* ---- one training ---------------------------------------------------------------------------- */

static void destroy(void *contents) {
    Training *training = contents;
    ref_drop(training->target);
    ref_drop(training->features);
    ref_drop(training->base);
    ref_drop(training->map);
}

/* The kernels that pool and that bring the gradient back. */
static KernelConfig forward_of(const Job *job) {
    return inputs_forward_config(&job->config);
}

static KernelConfig backward_of(const Job *job) {
    KernelConfig config = job->config;
    config.kernel = kernel_in_direction(config.kernel, BEV_BACKWARD);
    return config;
}

static bool fits(const Training *have, const FrameInputs *with, const Job *job) {
    KernelConfig forward = forward_of(job), backward = backward_of(job);
    return have && have->base == features_base(with->features) && have->map == with->map &&
           have->run == job->train_run && kernel_config_equal(&have->forward, &forward) &&
           kernel_config_equal(&have->backward, &backward);
}

static Training *new_training(const FrameInputs *with, const Job *job) {
    Training *made = ref_new(sizeof *made, destroy);
    if (!made)
        return NULL;
    made->base = ref_keep(features_base(with->features));
    made->map = ref_keep(with->map);
    made->run = job->train_run;
    made->forward = forward_of(job);
    made->backward = backward_of(job);
    made->shown.forward = made->forward.kernel;
    made->shown.backward = made->backward.kernel;
    made->shown.step = -1;
    return made;
}

bool inputs_training(Training *const there[2], const Job *job, FrameInputs *next, Err *err) {
    if (!job->train_steps)
        return true;
    for (int i = 0; i < 2 && !next->training; i++)
        if (fits(there[i], next, job))
            next->training = ref_keep(there[i]);
    if (!next->training)
        next->training = new_training(next, job);
    if (!next->training)
        return inputs_no_memory("training", err);
    if (next->training->features) {
        ref_drop(next->features);
        next->features = ref_keep(next->training->features);
    }
    return true;
}

/* ---- beginning ------------------------------------------------------------------------------- */

void live_trainer_clear(LiveTrainer *trainer) {
    trainer_close(trainer->trainer);
    ref_drop(trainer->truth);
    ref_drop(trainer->at);
    *trainer = (LiveTrainer){.untimed = trainer->untimed};
}

/* The same features with the scene's own depth. */
static bool find_truth(LiveTrainer *trainer, const FrameInputs *with, const Job *job, Err *err) {
    Job own = *job;
    FrameInputs found = {.scene = with->scene};
    own.temperature = 1;
    own.scales = SCALES_IDEAL; /* formats of the way back have none */
    if (!inputs_features(NULL, &own, false, NULL, &found, err))
        return false;
    trainer->truth = found.features;
    return true;
}

static void keep_memory(void *contents) {
    (void)contents; /* freed with its owner */
}

static bool copy_target(Training *at, const float *target, Err *err) {
    const BevShape *shape = &at->base->shape;
    size_t bytes = (size_t)(shape->nx * shape->ny * shape->channels) * sizeof *target;
    at->target = ref_new(bytes, keep_memory);
    if (!at->target)
        return inputs_no_memory("training", err);
    at->shown.target = memcpy(at->target, target, bytes);
    return true;
}

static bool begin(LiveTrainer *trainer, const FrameInputs *with, const Job *job, Err *err) {
    const SeenFeatures *base = trainer->at->base;
    Training *at = trainer->at;
    if (!with->scene->scene.has_world)
        return err_set(err, ERR_FAILED, "train", "", "tensors of a file have no true depth");
    if (inputs_large(&base->shape, with->map))
        return err_set(err, ERR_FAILED, "train", "", "this grid is too large to train on here");
    if (!at->backward.kernel)
        return err_set(err, ERR_FAILED, "train", "", "this build has no backward kernel");
    if (!find_truth(trainer, with, job, err))
        return false;
    const TrainKernels kernels = {at->forward.kernel, at->backward.kernel, job->config.dtype,
                                  job->config.align};
    return trainer_open(&trainer->trainer, &kernels, &base->shape, &at->map->map,
                        &trainer->truth->values, &base->values, err) &&
           copy_target(at, trainer_target(trainer->trainer), err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static Reading mean(const LiveTrainer *trainer, double sum, int count) {
    bool known = !trainer->untimed && count > 0;
    return reading(known ? sum / count : 0, known ? SOURCE_MEASURED : SOURCE_UNKNOWN);
}

static void note_step(LiveTrainer *trainer, LiveTraining *shown, const TrainStep *step) {
    double before = step->step ? shown->losses[step->step - 1] : step->loss;
    if (!step->step)
        shown->first_error = step->depth_error;
    shown->step = step->step;
    shown->last_taken_back = step->taken_back;
    shown->taken_back += step->taken_back;
    shown->losses[step->step] = (float)(step->taken_back ? before : step->loss);
    if (!step->taken_back)
        shown->depth_error = step->depth_error;
    trainer->forward_us += step->forward_us;
    trainer->backward_us += step->backward_us;
    trainer->rest_us += step->softmax_us;
    trainer->backward_count += !step->taken_back;
    shown->forward_us = mean(trainer, trainer->forward_us, step->step + 1);
    shown->backward_us = mean(trainer, trainer->backward_us, trainer->backward_count);
    shown->rest_us = mean(trainer, trainer->rest_us, step->step + 1);
}

/* Steps until the job's number or the time is reached. `kept`: whether a step was. */
static bool take_steps(LiveTrainer *trainer, LiveTraining *shown, int steps, TrainBudget budget,
                       bool *kept, Err *err) {
    double until_ms = clock_ms() + budget.ms;
    TrainStep step;
    do {
        if (!trainer_step(trainer->trainer, &step, err))
            return false;
        note_step(trainer, shown, &step);
        *kept |= !step.taken_back;
    } while (--budget.steps > 0 && shown->step < steps && clock_ms() < until_ms);
    return true;
}

static void explain(LiveTraining *shown, const Err *err) {
    snprintf(shown->text, sizeof shown->text, "%.190s", err->what);
}

/* The state of the trainer after some more steps, as a new object: the former object is on the
 * screen. */
static bool advance(LiveTrainer *trainer, const Job *job, TrainBudget budget, Err *err) {
    Training *at = trainer->at, *next = ref_new(sizeof *next, destroy);
    bool kept = false;
    if (!next)
        return inputs_no_memory("training", err);
    *next = *at;
    ref_keep(next->base);
    ref_keep(next->map);
    ref_keep(next->target);
    ref_keep(next->features);
    trainer->at = next;
    ref_drop(at);
    if (!take_steps(trainer, &next->shown, job->train_steps, budget, &kept, err)) {
        explain(&next->shown, err);
        if (err->kind == ERR_DEVICE)
            return false;
    }
    if (!kept)
        return true;
    ref_drop(next->features);
    next->features = inputs_with_depth(next->base, trainer_depth(trainer->trainer), err);
    return next->features != NULL;
}

bool live_trainer_run(LiveTrainer *trainer, const FrameInputs *with, const Job *job,
                      TrainBudget budget, Training **out, Err *err) {
    bool ok = true;
    *out = NULL;
    if (!fits(trainer->at, with, job)) {
        live_trainer_clear(trainer);
        trainer->at = new_training(with, job);
        if (!trainer->at)
            return inputs_no_memory("training", err);
        ok = begin(trainer, with, job, err);
        if (!ok)
            explain(&trainer->at->shown, err);
        ok = ok || err->kind != ERR_DEVICE;
    }
    const LiveTraining *shown = &trainer->at->shown;
    if (ok && trainer->trainer && !shown->text[0] && shown->step < job->train_steps)
        ok = advance(trainer, job, budget, err);
    *out = ok ? ref_keep(trainer->at) : NULL;
    if (!ok)
        live_trainer_clear(trainer);
    return ok;
}
