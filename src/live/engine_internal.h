/* SPDX-License-Identifier: MIT */
/* Declarations that the files engine*.c share. No other file includes them. */
#pragma once

#include "src/base/load.h"
#include "src/base/worker.h"
#include "src/live/background_job.h"
#include "src/live/engine.h"
#include "src/live/live_gpu.h"
#include "src/live/measure.h"
#include "src/live/pipeline.h"

/* A rough frame is rendered with few rays, a refined frame with all rays. */
typedef enum { QUALITY_ROUGH, QUALITY_REFINED } Quality;

/* The data that the caller's thread and the engine's thread share, under the worker's lock. */
typedef struct {
    Worker worker;
    int ready_fd;
    bool has_request;     /* `request` waits for the engine */
    bool woken;           /* engine_wake() was called */
    State request;        /* the newest request */
    double since_ms;      /* when the oldest request that waits was made */
    uint64_t requests;    /* the number of requests so far */
    EngineFrame *ready;   /* waits for the caller */
    EngineFrame *front;   /* the caller holds this frame */
    EngineFrame *retired; /* the caller gave this frame back; the engine frees it */
} Mailbox;

/* The errors of a selection. */
typedef struct {
    Job job;       /* without its moment and its format */
    double time_s; /* the moment, if each moment is judged by itself; else -1 */
    LiveAccuracy accuracy[BEV_DTYPE_COUNT];
    GateSet gates[BEV_DTYPE_COUNT]; /* the gates that are judged */
} Verdict;
enum { VERDICTS = 17 };

struct Engine {
    EngineOptions options;
    Mailbox mailbox;
    _Atomic(const char *) doing; /* the current stage of rendering; any thread may read it */

    /* The rest belongs to the engine's thread. */
    Pipeline *pipeline;
    Measure *measure;       /* NULL without options.background, like the next three */
    Background *background; /* runs launches, simulations and races */
    Background *judging;    /* judges accuracy beside them: no load changes its results */
    Background *pooling;    /* pools grids of slow kernels, for which the picture waits */
    RecordedSet recorded;
    LiveModel *live_model; /* the thread of a JOB_CACHESIM owns it while the job is in the slot */
    LiveDevice cpu;
    LiveGpu *gpu; /* NULL: none */
    bool probed;  /* the GPU's ceilings are known */

    /* The next frame to publish. It owns its model, race and picture, but not its inputs, which the
     * pipeline owns. */
    EngineFrame now;
    uint64_t taken;    /* the number of requests that the newest request has replaced, and itself */
    uint64_t counted;  /* the value of now.state.counts for which counters were read */
    double request_ms; /* when the newest request was taken */
    /* The inputs of the newest frame, empty before the first frame. Where each moment of a moving
     * world prunes the map differently, the map here stays that of one moment. */
    FrameInputs shown;
    KernelConfig shown_config;
    Quality quality;
    bool given_up; /* the newest render was given up for a newer request */
    bool news;     /* some figures were not published yet */

    Load load;       /* the load of the cores at the last look */
    double load_ms;  /* the time of the last look */
    bool load_known; /* the load was looked at twice */

    uint64_t accuracy_tag;                 /* grows when the accuracy figures become stale */
    GateSet judged_gates[BEV_DTYPE_COUNT]; /* the gates judged since accuracy_tag grew */
    FrameInputs judged;                    /* the last inputs that a format was judged on */
    double judged_s;            /* the one moment at which kernels and formats are judged */
    Verdict verdicts[VERDICTS]; /* [0] is filled when the selection changes; then older ones */
    int verdict_count;

    uint64_t model_tag;         /* grows when the simulation has another subject */
    int simulated;              /* the number of complete depths of the simulation */
    const MemoryModel *partial; /* the newest model, only for comparisons of its address */
    KernelSet wanted;           /* the wanted_kernels() of the last simulation */

    double published_ms; /* when a frame was published last */
    double frame_ms;     /* when a moment was rendered last */
    bool idle;           /* nothing moves, and no request came for a while */
    double idle_ms;      /* when idle work was done last */
    double slice_ms;     /* while the world moves, no slice of timing begins before this time */
    double give_way_ms;  /* a render gives way only to requests made before this time */
};

/* ---- engine.c: requests in, frames out ------------------------------------------------------- */

/* Whether a request waits that was made before `until_ms`, or the thread is to stop. */
bool engine_request_waits(Engine *engine, double until_ms);

/* Frees the frame that the caller gave back, before another one is rendered. */
void engine_free_retired(Mailbox *mailbox);

/* Hands a new frame with all known figures to the caller. */
void engine_publish(Engine *engine);

/* Renders a rough frame of this request, and publishes it unless a newer request came. */
void engine_render(Engine *engine, const State *request);

/* Renders the newest request's frame once more, and publishes it unless a new request came. */
PipelineEnd engine_render_again(Engine *engine, Quality quality);

/* Keeps an error for the next frame. The error is told even if that frame succeeds. */
void engine_report_error(Engine *engine, const Err *err);

/* Shows this model, or none, in place of the last one. */
void engine_use_model(Engine *engine, MemoryModel *model);

/* Shows this race, or none, in place of the last one. */
void engine_use_race(Engine *engine, LiveRace *race);

/* Returns the kernels that must be simulated for the lesson or the race. */
KernelSet wanted_kernels(const State *state);

/* ---- engine_verdicts.c: which errors belong to the newest frame ------------------------------ */

/* Finds the errors of the frame's job. If it is another job than before, its known errors come
 * back; else the shown errors become stale or are forgotten. */
void engine_aim_accuracy(Engine *engine, const FrameInputs *inputs);

/* ---- engine_idle.c: work while no request waits ---------------------------------------------- */

/* Does one short piece of work. False: this thread has nothing to do for the moment. */
bool engine_idle_work(Engine *engine);

/* Does only the work that is needed while frames follow each other: takes results, and starts jobs
 * for which the default screen waits. */
void engine_take_results(Engine *engine);
