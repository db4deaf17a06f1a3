/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/run/session.h"

#include "src/run/backend.h"

#include <stdio.h>
#include <stdlib.h>

const TimingOptions timing_default = {.samples = 100, .min_warm_ms = 50, .max_s = 2};
const TimingOptions timing_quick = {.samples = 20, .min_warm_ms = 5, .max_s = 0.25};

static const SessionBackend *const backends[BEV_CUDA + 1] = {
    [BEV_CPU] = &session_cpu_backend,
#ifdef HAVE_CUDA
    [BEV_CUDA] = &session_cuda_backend,
#endif
};

enum { PREPARE_REPEATS = 3 };

struct Session {
    const SessionBackend *backend;
    void *state;
    double prepare_us[PREPARE_REPEATS]; /* the times of the prepare steps that were run */
    int prepared;                       /* their number; 0: the kernel has no prepare step */
};

static const double LONG_PREPARE_US = 5e3; /* longer steps run twice: noise is small in them */

static bool run_prepare_step(Session *s, Err *err) {
    return s->backend->prepare(s->state, &s->prepare_us[s->prepared++], err);
}

bool session_open(Session **session, const BevKernel *kernel, const BevProblem *host, Err *err) {
    *session = NULL;
    const SessionBackend *backend = backends[kernel->where];
    if (!backend)
        return err_set(err, ERR_DEVICE, kernel->name, "choose --device cpu",
                       "this program was built without CUDA");
    const char *reason = bev_unsupported(kernel, host);
    if (reason)
        return err_set(err, ERR_FAILED, kernel->name, "", "%s", reason);
    Session *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(err, kernel->name, "");
    s->backend = backend;
    bool opened = backend->open(&s->state, kernel, host, err);
    if (!opened || (kernel->prepare && !run_prepare_step(s, err))) {
        if (opened)
            backend->close(s->state);
        free(s);
        return false;
    }
    *session = s;
    return true;
}

bool session_open_or_skip(Session **session, const BevKernel *kernel, const BevProblem *host,
                          char *skipped, Err *err) {
    const char *reason = bev_unsupported(kernel, host);
    Err refused = {0};
    *session = NULL;
    snprintf(skipped, REFUSAL_SIZE, "%s", reason ? reason : "");
    if (reason || session_open(session, kernel, host, &refused))
        return true;
    if (refused.kind == ERR_USAGE) {
        snprintf(skipped, REFUSAL_SIZE, "%s", refused.what);
        return true;
    }
    if (err)
        *err = refused;
    return false;
}

void session_close(Session *session) {
    if (session)
        session->backend->close(session->state);
    free(session);
}

bool session_prepare_us(Session *session, double *us, Err *err) {
    Session *s = session;
    /* A long first run may have been interrupted, so a second run always follows. */
    while (s->prepared && s->prepared < PREPARE_REPEATS &&
           (s->prepared == 1 || s->prepare_us[s->prepared - 1] < LONG_PREPARE_US))
        if (!run_prepare_step(s, err))
            return false;
    *us = s->prepared ? timing_median(s->prepare_us, s->prepared) : 0;
    return true;
}

bool session_update(Session *session, Err *err) {
    return session->backend->update(session->state, err);
}

bool session_poison(Session *session, Err *err) {
    return session->backend->poison(session->state, err);
}

bool session_run(Session *session, Err *err) {
    return session->backend->run(session->state, err);
}

bool session_read(Session *session, void *codes, Err *err) {
    return session->backend->read(session->state, codes, err);
}

bool session_output(Session *session, const void **codes, Err *err) {
    return session->backend->output(session->state, codes, err);
}

bool session_inputs_untouched(Session *session, Err *err) {
    return session->backend->inputs_untouched(session->state, err);
}

bool session_functions(Session *session, CudaFunction *functions, int capacity, int *count,
                       Err *err) {
    *count = 0;
    return !session->backend->functions ||
           session->backend->functions(session->state, functions, capacity, count, err);
}

bool session_time(Session *session, CacheState cache, const TimingOptions *options, Timing *timing,
                  Err *err) {
    return session->backend->time(session->state, cache, options, timing, err);
}
