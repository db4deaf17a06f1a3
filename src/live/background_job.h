/* SPDX-License-Identifier: MIT */
/* The background threads of the live engine, and the one slot that their jobs go through. One
 * thread has the lowest priority, and another takes the jobs that hurry. A job is a kind, inputs
 * and a result. One runs at a time, so that no job disturbs another one's timing;
 * engine_idle_work() decides which one is next. */
#pragma once

#include "src/accuracy/verify.h"
#include "src/live/live_model.h"
#include "src/live/live_race.h"
#include "src/live/inputs.h"

typedef enum {
    JOB_NONE,
    JOB_LAUNCH,    /* one launch of a CPU kernel that takes longer than a key can wait */
    JOB_GRID,      /* the grid that such a kernel pools, for the picture */
    JOB_ACCURACY,  /* the accuracy gates of one configuration */
    JOB_GRADIENTS, /* those of a loss, by a kernel that takes longer than a key can wait */
    JOB_RACE,      /* the schedules of a race */
    JOB_CACHESIM   /* one step of the cache simulation */
} JobKind;

typedef struct {
    JobKind kind;
    FrameInputs inputs; /* scene, features, map; GRADIENTS: the pooled grid */
    KernelConfig config;
    bool hurry;   /* what the screen waits for, on a busy machine: not at the lowest priority */
    uint64_t tag; /* the caller's number, which tells an outdated result */
    LiveModel
        *live_model;  /* CACHESIM: borrowed; the caller leaves it alone until the job is taken */
    ModelDepth depth; /* CACHESIM: how much to simulate, */
    KernelSet wanted; /* and which kernels at every depth */
    LiveRace *race;   /* RACE: to be made */
    const MemoryModel *shown; /* CACHESIM: what the caller has already; NULL: nothing */

    bool failed; /* `err` says why */
    Err err;
    double launch_us, prepare_us, own_bytes; /* LAUNCH: time of the launch */
    double busy_us;        /* LAUNCH, GRID: estimated time with a core for each thread */
    PooledGrid *grid;      /* GRID */
    Job job;               /* GRADIENTS: whose loss. ACCURACY: whose moment */
    Gradients *gradients;  /* GRADIENTS */
    LiveAccuracy accuracy; /* ACCURACY */
    GateSet gates;         /* ACCURACY */
    bool other_format;     /* ACCURACY: not what the screen waits for */
    bool given_up;         /* ACCURACY: it failed because it ended early */
    MemoryModel *model;    /* CACHESIM: the model so far; NULL: none. RACE: whose figures */
    bool complete;         /* CACHESIM: the depth is complete */
    bool tells;            /* CACHESIM: live_model_tells() */
} BackgroundJob;

/* Drops the references that the job holds. */
void background_job_drop(BackgroundJob *job);

typedef struct Background Background;

/* Calls `wake` from the background thread whenever a job is done. `hurry`: the thread has the usual
 * priority and is never paused. */
bool background_open(Background **background, bool hurry, void (*wake)(void *context),
                     void *context, Err *err);

/* Accepts NULL. A simulation and the gates end early; a launch is waited for. */
void background_close(Background *background);

/* Ends the thread as background_close does, but waits no longer than `patience_ms`. False: it still
 * works, and must not be closed. Accepts NULL. */
bool background_stop_within(Background *background, double patience_ms);

/* Starts a job and takes over its references. The slot must be empty. */
void background_start(Background *background, const BackgroundJob *job);

/* Takes the job out of the slot once it is done; the caller drops it. */
bool background_take(Background *background, BackgroundJob *job);

/* Returns the kind of the job in the slot, done or not. JOB_NONE: the slot is empty, the thread
 * waits. */
JobKind background_kind(Background *background);

/* Pauses a simulation, or lets it go on. Launches and gates cannot be paused. Accepts NULL. */
void background_pause(Background *background, bool pause);

/* Ends a simulation, or the gates, early if they do not hurry: they start again in a hurry. */
void background_hurry(Background *background);

/* Ends a simulation, or the gates, early: another problem or kernel is on the screen. */
void background_give_up(Background *background);

/* What the gates compare with, kept from kernel to kernel while inputs and format stay the same. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    HostProblem problem;
    float *grad_out; /* backward */
    Gates *gates;
    double prune_change; /* the most that pruned points change an output; 0: nothing is pruned */
} Judge;

void judge_clear(Judge *judge);

/* Judges `config` on these inputs by the gates; without gate B, their verdicts alone are filled
 * in. Given up between two steps: false without an error. */
bool judge_accuracy(Judge *judge, const FrameInputs *inputs, const KernelConfig *config,
                    GateSet gates, const GiveUp *give_up, LiveAccuracy *accuracy, Err *err);

/* Judges as judge_accuracy does, for scripts, on their own thread: nothing is kept. */
bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         LiveAccuracy *accuracy, Err *err);
