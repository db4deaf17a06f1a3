/* SPDX-License-Identifier: MIT */
/* The engine behind the live display. The engine takes the newest state from a mailbox, renders the
 * state's frame and publishes the frame. While nobody waits for a frame, the engine times kernels,
 * checks accuracy and simulates caches. The caller never waits for the engine.
 *
 *   main thread: src/app, src/ui    engine thread: src/live           background thread
 *   ---------------------           -----------------------           -----------------
 *   key, mouse, tick
 *      |
 *   Event -> state_step()
 *      |
 *   engine_request(State) -------> mailbox: the newest State
 *      |                              |  engine_render()
 *      |                              |    pipeline_run(): features, map,
 *      |                              |      encode, upload, pool, read back
 *      |                              |    make_picture(): BEV and strip
 *      |                              |  engine_publish()
 *   poll(engine_fd()) <----------- mailbox: the newest EngineFrame
 *   engine_take()                     |
 *      |                              |  no request waits:
 *   draw terminal and window          |  engine_idle_work()
 *      |                              |    finer picture
 *   writer thread: PNG and            |    hardware counters
 *      recordings to disk             |    a slice of timing
 *                                     |    background_start() -----> one slot, one job at a time:
 *                                     |                                slow launch of a CPU kernel
 *                                     |    background_take() <------   accuracy gates
 *                                     |                                cache simulation
 *                                     |    live_gpu_refresh() <----- NVML thread: clocks, power
 *
 * Who may touch what
 *   State, screens, input             main thread only
 *   Mailbox                           main and engine thread, under its lock, for an instant
 *   EngineFrame, its inputs, picture  nobody changes them once they are published; each user owns a
 *                                     reference (src/base/ref.h), which any thread may drop
 *   Pipeline, Measure, CUDA context   engine thread only
 *   LiveModel (cache simulation)      the background thread while its job is in the slot, else the
 *                                     engine thread
 *   The slot's job                    background thread while it runs, else the engine thread; a
 *                                     wake-up tells the engine that the job is done
 *
 * Priorities: a waiting request comes first. While a frame is rendered, the simulation is paused.
 * Launches and gates go on, at the lowest priority of the scheduler. A render is given up between
 * its stages when a newer request waits, but never two renders in a row, and never a render that a
 * key has waited for. engine_idle_work() has the tasks for the time between requests, the most
 * useful task first. measure_next() chooses the kernel to time, lacks_verdict() the format to
 * check, next_replay() the kernel to simulate.
 *
 * A latency is the median of warm launches. Fast kernels are launched in a series, as in `bevscope
 * bench` (no mark). Kernels that a key cannot wait for are launched singly on the background thread
 * (mark s). Mark b: pictures were made during the launches.
 *
 * A script has the same engine without threads: engine_request() returns when the frame is
 * complete, and nothing is measured. */
#pragma once

#include "src/live/live_model.h"

typedef struct Engine Engine;
typedef struct Picture Picture; /* src/view/bev/picture.h; the engine only counts its references */

/* A finished frame, which does not change. The frame belongs to the caller until the caller takes
 * the next frame. */
typedef struct {
    State state;        /* the state that the frame shows */
    uint64_t request;   /* the number of the newest request that the frame answers */
    LiveData live;      /* live.frame points into `inputs`, live.model is `model` */
    SceneFacts facts;   /* facts of the scene shown */
    uint64_t loads;     /* grows with every scene that is loaded, also if the same one is loaded */
    FrameInputs inputs; /* owned */
    MemoryModel *model; /* owned; NULL: not simulated yet */
    LiveRace *race;     /* owned; NULL: no race was asked for */
    Picture *picture;   /* owned; NULL: no picture could be made */
    Err err;            /* the newest error; live.error_text is empty or a cut copy */
    uint64_t errors;    /* grows with every `err` */
    bool device_lost;   /* `err` has ended this backend */
    uint64_t notes;     /* grows with every `note` */
    char note[200];     /* the newest counters, or why there are none */
} EngineFrame;

typedef struct {
    unsigned where;  /* backends that run here: 1u << BEV_CPU | ... */
    bool background; /* time kernels, check accuracy and simulate caches while there is time */
    /* picture_make(), called on the engine's thread. Returns a new picture, or one more reference
     * to `previous`. Returns NULL if it was given up, or failed with `err` set. The pointer may be
     * NULL: no pictures are made. */
    Picture *(*make_picture)(const State *state, const LiveData *live, Picture *previous,
                             const GiveUp *give_up, Err *err);
    bool script; /* render at once, measure nothing */
    bool hurry;  /* the background thread has the usual priority and does not pause: for a talk,
                    which waits for its figures, and in which nobody presses keys */
} EngineOptions;

bool engine_open(Engine **engine, const EngineOptions *options, Err *err);
void engine_close(Engine *engine); /* accepts NULL */

/* Closes the engine if its threads end within `patience_ms`. False: a thread still computes.
 * Nothing was freed then, and the process must end with _exit(). Accepts NULL. */
bool engine_close_within(Engine *engine, double patience_ms);

/* Requests a frame of this state. Forgets an older request that was not begun yet. Returns the
 * number of the request, counted from 1. */
uint64_t engine_request(Engine *engine, const State *state);

/* Returns the newest frame if it was not taken yet, else NULL. */
const EngineFrame *engine_take(Engine *engine);

/* Returns the current stage of rendering, or the last one: "map". */
const char *engine_doing(const Engine *engine);

/* Returns a descriptor for poll(). It is readable while a frame waits. */
int engine_fd(const Engine *engine);
