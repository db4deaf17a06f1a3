/* SPDX-License-Identifier: MIT */
/* The engine behind the live display. It takes the newest state from a small mailbox, renders its
 * frame and publishes it; while nobody waits for a frame it times the kernels, checks their
 * accuracy and simulates the caches. The caller never waits for it, and never sees half a frame.
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
 *   EngineFrame, its inputs, picture  nobody changes them once they are published; whoever needs
 *                                     one owns a reference (src/base/ref.h), any thread drops it
 *   Pipeline, Measure, CUDA context   engine thread only
 *   LiveModel (cache simulation)      the background thread while its job is in the slot, else the
 *                                     engine thread
 *   The slot's job                    background thread while it runs, else the engine thread,
 *                                     which learns by a wake-up that it is done
 *
 * Priorities: a waiting request comes before all else. While a frame is rendered the simulation is
 * paused; launches and gates go on, at the lowest priority of the scheduler. A render is given up
 * between its stages when a newer request waits, but never two in a row, and never one that a key
 * has waited for. What is done while no request waits is one list, the most useful task first:
 * engine_idle_work() in engine_idle.c. Three functions choose within a task: measure_next() the
 * kernel to time, lacks_verdict() the format to check, next_replay() the kernel to simulate.
 *
 * A latency is the median of warm launches: of a series back to back, as in `bevscope bench` (no
 * mark), or of single launches on the background thread, for kernels that a key cannot wait for
 * (mark s). Pictures may have been made meanwhile (mark b). The screens show how it was timed.
 *
 * A script has the same engine without threads: engine_request() returns when the frame is there,
 * and nothing is measured (engine_render.c). */
#pragma once

#include "src/live/live_race.h"

typedef struct Engine Engine;
typedef struct Picture Picture; /* src/view/bev/picture.h; here no more than reference counted */

/* A finished frame, which does not change. The frame belongs to the caller until the next one is
 * taken. */
typedef struct {
    State state;        /* that it was rendered for */
    uint64_t request;   /* number of the newest request that it answers */
    LiveData live;      /* live.frame points into `inputs`, live.model is `model` */
    SceneFacts facts;   /* of the scene shown */
    uint64_t loads;     /* grows with every scene that is loaded, even the same one again */
    FrameInputs inputs; /* owned */
    MemoryModel *model; /* owned; NULL: not simulated yet */
    LiveRace *race;     /* owned; NULL: none was asked for */
    Picture *picture;   /* owned; NULL: none could be made */
    Err err;            /* the newest; live.error_text in full where that is not empty */
    uint64_t errors;    /* grows with every `err` */
    bool device_lost;   /* `err` is the end of this backend */
    uint64_t notes;     /* grows with every `note` */
    char note[200];     /* the newest: what the counters say, or why they say nothing */
} EngineFrame;

typedef struct {
    unsigned where;  /* backends that run here: 1u << BEV_CPU | ... */
    bool background; /* time kernels, check accuracy and simulate caches while there is time */
    /* picture_make(), on the engine's thread; a new one or one more reference to `previous`. NULL:
     * given up, or failed with `err` set; the previous picture stays. May be NULL: no pictures. */
    Picture *(*make_picture)(const State *state, const LiveData *live, Picture *previous,
                             const GiveUp *give_up, Err *err);
    bool script;     /* render at once, measure nothing */
    bool hurry;      /* the background thread has no low priority and does not pause: a talk waits
                        for its figures, and nobody presses keys */
} EngineOptions;

bool engine_open(Engine **engine, const EngineOptions *options, Err *err);
void engine_close(Engine *engine); /* accepts NULL */

/* Closes the engine, if its threads end within `patience_ms`. False: a thread still computes.
 * Nothing was freed then, and the process can only be left with _exit(). Accepts NULL. */
bool engine_close_within(Engine *engine, double patience_ms);

/* Requests a frame of this state; an older request that was not begun yet is forgotten. Returns the
 * number of the request, counted from 1. */
uint64_t engine_request(Engine *engine, const State *state);

/* Returns the newest frame that was not taken yet, or NULL. */
const EngineFrame *engine_take(Engine *engine);

/* Returns the current stage of rendering, or the last one: "map". */
const char *engine_doing(const Engine *engine);

/* Returns a descriptor for poll(). It is readable while a frame waits. */
int engine_fd(const Engine *engine);
