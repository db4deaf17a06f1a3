/* SPDX-License-Identifier: MIT */
/* Other values of the same shape for an open session. */
#pragma once

#include "src/run/session.h"
#include "src/scene/problem.h"

#include <stdlib.h>
#include <string.h>

/* Values of the same shape. The largest value differs, and with it every scale. The caller frees
 * both arrays. */
static inline Features later_features(const BevShape *shape, const Features *now) {
    const size_t depths = features_depth_count(shape), feats = features_feat_count(shape);
    Features later = {.depth = malloc(depths * sizeof(float)),
                      .feat = malloc(feats * sizeof(float))};
    for (size_t i = 0; i < depths; i++)
        later.depth[i] = 0.375F * now->depth[depths - 1 - i];
    for (size_t i = 0; i < feats; i++)
        later.feat[i] = 1.5F * now->feat[feats - 1 - i];
    return later;
}

/* Whether a session that was opened and launched with other values gives, after the update, the
 * bits of a new session, twice. */
static inline bool updated_gives(const BevKernel *kernel, HostProblem *problem, const Features *now,
                                 const Features *later, const void *want, Err *err) {
    Session *session = NULL;
    const void *got;
    bool ok = problem_update(problem, now, err) &&
              session_open(&session, kernel, &problem->view, err) && session_run(session, err) &&
              session_output(session, &got, err) && problem_update(problem, later, err) &&
              (kernel->where == BEV_CPU || !session_inputs_untouched(session, err)) &&
              session_update(session, err);
    for (int run = 0; ok && run < 2; run++)
        ok = session_poison(session, err) && session_run(session, err) &&
             session_output(session, &got, err) &&
             !memcmp(got, want, bev_tensor_bytes(&problem->view.out));
    ok = ok && session_inputs_untouched(session, err);
    session_close(session);
    return ok;
}
