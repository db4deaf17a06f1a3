/* SPDX-License-Identifier: MIT */
/* Background work of the live engine: one slot for a job, which has a thread of its own. The thread
 * has the lowest priority unless the job hurries. engine_idle_work() decides which job is next. */
#pragma once

#include "src/accuracy/verify.h"
#include "src/live/live_model.h"
#include "src/live/inputs.h"

typedef enum {
    JOB_NONE,
    JOB_LAUNCH,    /* one launch of a CPU kernel that takes longer than a key can wait */
    JOB_GRID,      /* the grid that a slow kernel pools, for the picture */
    JOB_ACCURACY,  /* the accuracy gates of one configuration */
    JOB_GRADIENTS, /* the gradients of a loss, by a slow kernel */
    JOB_RACE,      /* the schedules of a race */
    JOB_CACHESIM   /* one step of the cache simulation */
} JobKind;

typedef struct {
    JobKind kind;
    FrameInputs inputs; /* scene, features, map; GRADIENTS: the pooled grid, too. The jobs GRID and
                           GRADIENTS add their results */
    KernelConfig config;
    bool hurry;   /* the screen waits for the job: it has the usual priority */
    uint64_t tag; /* the caller's number, by which the caller recognizes an outdated result */
    /* Inputs of single kinds. */
    LiveModel *live_model; /* CACHESIM: borrowed; the job alone may use it until the job is taken */
    ModelDepth depth;      /* CACHESIM: how much to simulate */
    bool prune_again;      /* CACHESIM: the gain of pruning is of another moment */
    KernelSet wanted;      /* CACHESIM: the kernels to simulate in any case */
    const MemoryModel *shown; /* CACHESIM: the newest model that the caller has, or NULL */
    LiveRace *race;           /* RACE: the race to make */
    Job job;                  /* GRADIENTS: has the loss. ACCURACY: has the moment */
    GateSet gates;            /* ACCURACY */
    bool other_format;        /* ACCURACY: not the selection's format */

    /* Results. */
    bool failed; /* `err` says why */
    Err err;
    double launch_us, prepare_us, own_bytes; /* LAUNCH */
    double busy_us; /* LAUNCH, GRID: the estimated time of a launch with a core for each thread */
    LiveAccuracy accuracy; /* ACCURACY */
    bool given_up;         /* ACCURACY: the job failed because it was ended early */
    MemoryModel *model;    /* CACHESIM: the model so far, or NULL. RACE, an input: its model */
    bool complete;         /* CACHESIM: the depth is complete */
    bool tells;            /* CACHESIM: live_model_tells() */
} BackgroundJob;

/* Drops the references that the job holds. */
void background_job_drop(BackgroundJob *job);

typedef struct Background Background;

/* Starts the background thread. The thread calls `wake(context)` whenever a job is done. */
bool background_open(Background **background, void (*wake)(void *context), void *context, Err *err);

/* Accepts NULL. A simulation and the gates end early; a launch is waited for. */
void background_close(Background *background);

/* Ends the job as background_close does, but waits no longer than `patience_ms`. False: the thread
 * still works, and `background` must not be closed. Accepts NULL. */
bool background_stop_within(Background *background, double patience_ms);

/* Starts a job and takes over its references. The slot must be empty. */
void background_start(Background *background, const BackgroundJob *job);

/* Takes the job out of the slot once it is done; the caller drops it. */
bool background_take(Background *background, BackgroundJob *job);

/* Returns the kind of the job in the slot, which may be done. JOB_NONE: the slot is empty. */
JobKind background_kind(const Background *background);

typedef enum { SIMULATION_RUNS, SIMULATION_WAITS } Pausing;

/* Pauses a simulation, or lets it go on. Launches and gates cannot be paused. Accepts NULL. */
void background_pause(Background *background, Pausing pausing);

/* Ends a simulation or the gates early, unless the job hurries already. The caller starts the job
 * again with `hurry`. */
void background_hurry(Background *background);

/* Ends a simulation or the gates early, because another problem or kernel is on the screen. */
void background_give_up(Background *background);

/* Judges `config` on these inputs by all gates at once. For scripts. */
bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         LiveAccuracy *accuracy, Err *err);
