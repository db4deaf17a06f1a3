/* SPDX-License-Identifier: MIT */
/* What the files of the engine share. Private to engine*.c. */
#pragma once

#include "src/base/load.h"
#include "src/base/worker.h"
#include "src/live/background_job.h"
#include "src/live/engine.h"
#include "src/live/live_gpu.h"
#include "src/live/measure.h"
#include "src/live/pipeline.h"

/* How well a frame is rendered: with fewer rays, or with all of them. */
typedef enum { QUALITY_ROUGH, QUALITY_REFINED } Quality;

/* What the caller and the engine's thread share, all of it under the worker's lock. */
typedef struct {
    Worker worker;
    int ready_fd;
    bool has_request, woken;
    State request;
    double since_ms;   /* when the oldest request that waits was made */
    uint64_t requests; /* so far */
    /* `ready` waits for the caller, who holds `front`; `retired` was given back and waits to be
     * freed. */
    EngineFrame *ready, *front, *retired;
} Mailbox;

/* The errors of the newest selections (engine_verdicts.c). */
typedef struct Verdicts Verdicts;

struct Engine {
    EngineOptions options;
    Mailbox mailbox;
    _Atomic(const char *) doing; /* the stage of rendering in hand; read by any thread */

    /* The rest belongs to the engine's thread. */
    Pipeline *pipeline;
    Measure *measure; /* NULL without options.background, like the next four */
    Background *background; /* launches, simulations, races: one after the other */
    Background *judging;    /* accuracy, which no load disturbs, beside them */
    Background *pooling;    /* grids of slow kernels, which the picture waits for */
    RecordedSet recorded;
    LiveModel *live_model; /* not to be touched while a JOB_CACHESIM is in the slot */
    LiveDevice cpu;
    LiveGpu *gpu; /* NULL: none */
    bool probed;  /* the GPU's ceilings are known */

    /* What is published next: of the newest request, its model and picture owned here, its inputs
     * those of the pipeline. */
    EngineFrame now;
    uint64_t taken;    /* how many requests were taken from the mailbox with the newest one */
    uint64_t counted;  /* the value of now.state.counts for which counters were read */
    double request_ms; /* when the newest request was taken */
    FrameInputs shown; /* of the newest frame; while the world moves and depths prune the map,
                          with the map of one moment, as each moment has another */
    KernelConfig shown_config;
    Quality quality;
    bool has_frame;
    bool given_up; /* the newest render was given up for a newer request */
    bool news;     /* figures that were not published yet */

    uint64_t accuracy_tag; /* grows when the accuracy figures become stale */
    Load load;             /* of the cores, when it was looked at last */
    double load_ms;        /* and when that was */
    bool load_known;       /* it was looked at twice */
    GateSet judged_gates[BEV_DTYPE_COUNT]; /* since then */
    FrameInputs judged;    /* what all formats are judged on; first the scene's first moment */
    double judged_s;       /* that moment, which another selection is judged at first */
    Verdicts *verdicts;    /* of selections before; NULL: none yet */
    uint64_t model_tag;    /* grows when the simulation has another subject */
    int simulated;         /* complete depths of the simulation */
    const MemoryModel *partial; /* its newest model, to be compared only; NULL: none */
    KernelSet wanted;      /* wanted_kernels() that were simulated last */

    double published_ms, frame_ms; /* the last time; the last time that a moment was rendered */
    bool idle;                     /* nothing moves, and no request came for a while */
    double idle_ms;                /* the last time that idle work was done */
    double slice_ms;               /* while the world moves, no slice of timing before this time */
    double give_way_ms;            /* a render gives way only to requests made before */
};

/* ---- engine_mailbox.c: requests in, frames out ----------------------------------------------- */

bool engine_open_mailbox(Mailbox *mailbox, Err *err);
void engine_close_mailbox(Mailbox *mailbox);

/* Puts a request into the mailbox; returns its number. */
uint64_t engine_post(Engine *engine, const State *state);

/* Takes the newest request, if there is one; its number becomes now.request. */
bool engine_take_request(Engine *engine, State *request, bool *stop);

/* Whether a request waits that was made before `until_ms`, or the thread is to stop. */
bool engine_request_waits(Engine *engine, double until_ms);

/* Frees the frame that the caller gave back, before another one is rendered. */
void engine_free_retired(Mailbox *mailbox);

/* Hands a new frame with all known figures to the caller. */
void engine_publish(Engine *engine);

/* Waits for a request, for engine_wake(), or until it is time to look around again. */
void engine_wait(Engine *engine);
void engine_wake(void *engine); /* from any thread */

/* ---- engine_render.c: from a request to a frame ---------------------------------------------- */

void engine_render(Engine *engine, const State *request);

/* Renders the newest request's frame once more, and publishes it unless a new request came. */
PipelineEnd engine_render_again(Engine *engine, Quality quality);

/* Whether features of one scene differ at most in their moment. */
bool engine_other_moment(const SeenFeatures *a, const SeenFeatures *b);

/* ---- engine_verdicts.c: which errors belong to the newest frame ------------------------------ */

/* Marks the errors as stale, or forgets them, where the frame's job has others. Those of a job that
 * was judged before come back with all their moments. */
void engine_aim_accuracy(Engine *engine, const FrameInputs *inputs);

/* Adds the error at one moment to those of `shown`. */
void engine_add_moment(Engine *engine, LiveAccuracy *shown, const LiveAccuracy *made);

/* Returns the moment on which the selection and all other formats are judged: that of its largest
 * error so far. */
double engine_judged_s(const Engine *engine);

/* Whether a fixed moment of the world's loop is still to be judged for the selection; which. */
bool engine_next_moment(const Engine *engine, double *moment_s);

/* ---- engine_render.c, once more -------------------------------------------------------------- */

/* Keeps an error for the next frame. The error is told even if that frame succeeds. */
void engine_report_error(Engine *engine, const Err *err);

/* Shows this model, or none, in place of the last one. */
void engine_use_model(Engine *engine, MemoryModel *model);

/* Shows this race, or none, in place of the last one. */
void engine_use_race(Engine *engine, LiveRace *race);

/* Returns the kernels that the lesson or the race wants simulated. */
KernelSet wanted_kernels(const State *state);

/* ---- engine_idle.c: what is done while no request waits -------------------------------------- */

/* Does one short piece of work. False: this thread has nothing to do for the moment. */
bool engine_idle_work(Engine *engine);

/* Takes results that need no other work, and starts what the default screen waits for: while
 * frames follow each other. */
void engine_feed(Engine *engine);
