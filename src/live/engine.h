/* The live display's worker: takes the newest state from a small mailbox, computes its frame, and
 * hands finished frames over; in between it times the kernels and has their accuracy checked. The
 * caller never waits, a frame is never half new. */
#ifndef BEV_ENGINE_H
#define BEV_ENGINE_H

#include "src/live/pipeline.h"

typedef struct Engine Engine;

/* A finished frame; constant, the caller's until it takes the next one. */
typedef struct {
    State state;   /* that it was computed for */
    uint64_t wish; /* number of the newest wish that it answers */
    LiveData live; /* live.frame lies in `parts`, live.model in `model` */
    SceneFacts facts;
    uint64_t loads; /* grows with every scene that was loaded, the same one again included */
    FrameInputs parts;
    MemoryModel *model; /* shared.h */
    void *picture;      /* what options.dress made of it; shared.h */
    Err err;            /* what live.error_text says in one line */
    bool device_lost;   /* that is the end of this backend */
    uint64_t notes;     /* grows with every `note`: something to tell that is no failure */
    char note[200];
} EngineFrame;

typedef struct {
    unsigned where;  /* backends that run here: 1u << BEV_CPU | ... */
    bool background; /* time kernels and check accuracy in between */
    /* Makes the picture on the worker's time: a part (shared.h), perhaps the previous one kept.
     * NULL: none. Failure leaves the previous picture; so does giving up, which leaves `err`. */
    void *(*dress)(const State *state, const LiveData *live, void *previous, const GiveUp *give_up,
                   Err *err);
    /* Called at the beginning and the end of the worker's thread; may be NULL. */
    bool (*thread_begin)(Err *err);
    void (*thread_end)(void);
} EngineOptions;

bool engine_open(Engine **engine, const EngineOptions *options, Err *err);
void engine_close(Engine *engine); /* accepts NULL */

/* Wants a frame of this state; an older wish that was not begun yet is forgotten. Returns the
 * wish's number, counted from 1. */
uint64_t engine_submit(Engine *engine, const State *state);

/* The newest frame that was not taken yet, or NULL. */
const EngineFrame *engine_take(Engine *engine);

/* Readable while a frame waits: for poll(). */
int engine_fd(const Engine *engine);

#endif
