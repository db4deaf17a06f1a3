/* Gradient descent behind the display (src/train): the depth of the scene, smeared, follows the
 * gradient that the selection computes, and each picture shows how far it has come. One thread at a
 * time may use a trainer. */
#pragma once

#include "src/live/frame_inputs.h"
#include "src/train/trainer.h"

/* A zeroed trainer has no training. */
typedef struct {
    bool untimed;        /* leaves the times of a step unknown, as scripts do */
    Training *at;        /* where it stands, or NULL */
    SeenFeatures *truth; /* the same features with the scene's own depth */
    Trainer *trainer;                        /* NULL: the training could not begin, for the reason
                                                in at->shown.text */
    double forward_us, backward_us, rest_us; /* sums over the steps */
    int backward_count;
} LiveTrainer;

void live_trainer_clear(LiveTrainer *trainer);

/* How much to do at once: at least one step. */
typedef struct {
    double ms; /* about so long */
    int steps;
} TrainBudget;

/* Takes steps towards job->train_steps, as many as the budget allows. Begins anew where the job
 * asks for another training. `with` has scene, features and map. `out` receives a new reference to
 * the training so far. A failure of this training alone is told in its text; false: the device is
 * lost, or there is no memory. */
bool live_trainer_run(LiveTrainer *trainer, const FrameInputs *with, const Job *job,
                      TrainBudget budget, Training **out, Err *err);

/* ---- for the pipeline ------------------------------------------------------------------------ */

/* The training for the job on the features and the map of `next`: that of `there` where it fits,
 * else a new one. Its depth takes the place of the features' own. Without training: nothing. */
bool inputs_training(Training *const there[2], const Job *job, FrameInputs *next, Err *err);
