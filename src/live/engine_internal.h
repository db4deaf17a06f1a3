/* The parts of the live engine, and what they share. Private to engine*.c. */
#ifndef BEV_ENGINE_INTERNAL_H
#define BEV_ENGINE_INTERNAL_H

#include "src/live/engine.h"
#include "src/live/judge.h"
#include "src/live/live_gpu.h"
#include "src/live/measure.h"
#include "src/live/model_job.h"
#include "src/live/scene_file.h"
#include "src/base/worker.h"

/* How well the picture's contents are made: fewer rays, all of them, sharp camera views too. */
typedef enum { ROUGH, REFINED, SHARP } Quality;

/* Between the caller and the worker; all of it under its lock. */
typedef struct {
    Worker worker;
    int ready_fd;
    bool has_wish, woken;
    State wish;
    double since_ms; /* some wish has waited */
    uint64_t wishes; /* so far */
    EngineFrame *ready, *front, *retired;
} Mailbox;

struct Engine {
    EngineOptions options;
    Mailbox mailbox;

    /* The worker's own. */
    Pipeline *pipeline;
    Measure *measure;
    Judge *judge;
    ModelLane *model_lane;
    MemoryModel *model;
    LiveDevice cpu;
    LiveGpu *gpu;
    bool probed;       /* the GPU's ceilings are known */
    State state;       /* of the newest job */
    uint64_t answered; /* number of its wish, */
    uint64_t taken;    /* with which so many were taken */
    uint64_t counted;  /* of state.counts, those that were answered */
    LiveData live;
    void *picture;
    Err err; /* of live.error_text */
    uint64_t notes;
    char note[sizeof((EngineFrame *)0)->note];
    bool device_lost, has_frame, news;
    bool passed_over; /* the newest frame was: a newer wish came */
    Quality quality;
    uint64_t loads, epoch;   /* epoch: of accuracy; grows when its figures go stale */
    LoadedScene *seen_scene; /* not owned: only compared */
    KernelConfig seen_choice;
    const BuiltMap *seen_map;
    double wish_ms, news_ms, delivered_ms, between_ms;
    double measure_ms; /* moving: no timing before */
    double settled_ms; /* what is made gives way to no wish that comes after */
    SceneFile file;
};

/* ---- engine_mailbox.c: wishes in, frames out ------------------------------------------------- */

bool mailbox_open(Mailbox *mailbox, Err *err);
void mailbox_close(Mailbox *mailbox);

/* The newest wish, if there is one; its number becomes engine->answered. */
bool take_wish(Engine *engine, State *wish, bool *stop);

/* Whether one waits that came before `until_ms`; or the worker is to stop. */
bool wish_waits(Engine *engine, double until_ms);

/* Hands over what the worker has. */
void deliver(Engine *engine);

/* Waits for a wish, for wake(), or until it is time to look around again. */
void rest(Engine *engine);
void wake(void *engine); /* from any thread */

/* ---- engine_frame.c: from a wish to what is handed over -------------------------------------- */

void answer(Engine *engine, const State *wish);

/* The newest wish's frame once more, at `quality`; hands it over unless a new wish came. */
PipelineEnd remake(Engine *engine, Quality quality);

/* Keeps what a failure says for the next frame. */
void complain(Engine *engine, const Err *err);

void take_model(Engine *engine);

/* ---- engine_between.c: what is done in between ----------------------------------------------- */

/* One short piece of work; false: nothing to do for the moment. */
bool work_in_between(Engine *engine);

#endif
