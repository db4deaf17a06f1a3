/* The launch job: one slow CPU kernel, timed and, where its picture is missing, read back. */
#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/live/background_job.h"

/* A first launch finds cold caches and fresh memory; a launch longer than this hardly notices. */
static const double WARM_UP_US = 100e3;

/* Other values of the same shape take as long. */
static bool can_run_again(const Runner *kept, const BackgroundJob *job) {
    return kept->session && kept->map == job->inputs.map &&
           kernel_config_equal(&kept->config, &job->config) &&
           kept->features->shape.channels == job->inputs.features->shape.channels;
}

static bool prepare(Runner *kept, const BackgroundJob *job, Err *err) {
    const KernelConfig *config = &job->config;
    runner_clear(kept);
    kept->map = ref_keep(job->inputs.map);
    kept->features = ref_keep(job->inputs.features);
    kept->config = *config;
    return inputs_encode(&kept->problem, kept->features, kept->map, config, err) &&
           session_open(&kept->session, config->kernel, &kept->problem.view, err);
}

/* A grid must be pooled from these very values. */
static bool refresh(Runner *kept, const BackgroundJob *job, Err *err) {
    if (!job->wants_grid || kept->features == job->inputs.features)
        return true;
    if (!problem_update(&kept->problem, &job->inputs.features->values, err) ||
        !session_update(kept->session, err))
        return false;
    ref_drop(kept->features);
    kept->features = ref_keep(job->inputs.features);
    return true;
}

static bool launch(Session *session, BackgroundJob *job, Err *err) {
    TeamTime team = clock_team();
    double begun = clock_us();
    bool ok = session_run(session, err);
    job->launch_us = clock_us() - begun;
    job->busy_us = clock_team_since_us(team);
    return ok;
}

static bool run(Runner *kept, BackgroundJob *job, Err *err) {
    bool again = can_run_again(kept, job);
    if (!(again ? refresh(kept, job, err) : prepare(kept, job, err)))
        return false;
    job->own_bytes = bev_traffic_total(bev_traffic(job->config.kernel, &kept->problem.view));
    if (!session_prepare_us(kept->session, &job->prepare_us, err) ||
        !launch(kept->session, job, err))
        return false;
    bool cold = !again && job->launch_us <= WARM_UP_US;
    return !cold || launch(kept->session, job, err);
}

bool background_launch(Runner *kept, BackgroundJob *job, Err *err) {
    bool ok = run(kept, job, err);
    if (ok && job->wants_grid) {
        job->grid =
            inputs_read_grid(kept, &job->inputs, &job->config, err);
        ok = job->grid != NULL;
    }
    if (!ok)
        runner_clear(kept);
    return ok;
}
