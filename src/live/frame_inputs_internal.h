/* How the pipeline comes by its parts. Each function puts into `next` what the job wants: `have`
 * once more where that still fits (NULL: there is none), else a new one. */
#ifndef BEV_FRAME_INPUTS_INTERNAL_H
#define BEV_FRAME_INPUTS_INTERNAL_H

#include "src/live/frame_inputs.h"
#include "src/run/session.h"
#include "src/base/give_up.h"
#include "src/scene/problem.h"

/* Refuses for lack of memory; returns false. */
bool no_memory(const char *where, Err *err);

/* ---- parts_seen.c ---------------------------------------------------------------------------- */

bool want_scene(LoadedScene *have, const State *state, FrameInputs *next, Err *err);
bool want_features(SeenFeatures *have, const Job *job, bool draft, const GiveUp *give_up,
                   FrameInputs *next, Err *err);
bool want_views(SharpViews *have, bool sharp, const GiveUp *give_up, FrameInputs *next, Err *err);

/* The next features have another size: no memory is kept for more like the last ones. */
void features_change_size(void);

/* Whether the scene came with a map of this kind. */
bool scene_has_own_map(const Scene *scene, BevAlign align);

/* ---- parts_map.c ----------------------------------------------------------------------------- */

/* *kept is the last map of the job's align; a new one takes its place. */
bool want_map(BuiltMap **kept, MapBuilder *builder, const Job *job, FrameInputs *next, Err *err);

/* ---- parts_pooled.c -------------------------------------------------------------------------- */

/* An encoded problem and the session that runs it: what a choice needs besides the parts. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    HostProblem problem;
    Session *session;
} Runner;

void runner_clear(Runner *runner);

/* Stage times of one run; a stage that was not needed took no time. */
typedef struct {
    double us[STAGE_COUNT];
} StageTimes;

/* Pools features and map of `next`. */
bool make_pooled(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 PooledGrid **pooled, StageTimes *times, Err *err);

/* What a session has just pooled from these parts, read back; NULL: failed. */
PooledGrid *read_pooled(Session *session, const HostProblem *problem, const FrameInputs *from,
                        const KernelConfig *config, Err *err);

bool want_fp64(Fp64Grid *have, FrameInputs *next, Err *err);

/* The next grids have another size: no memory is kept for more like the last ones. */
void grids_change_size(void);

/* ---- parts_cell.c ---------------------------------------------------------------------------- */

/* The points that fell into `cell` (-1: none), and its values beside the truth. */
bool probe_cell(const FrameInputs *parts, int64_t cell, LiveProbe *probe, Err *err);

#endif
