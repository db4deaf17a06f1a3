/* The launch job: one slow CPU kernel, timed and, where its picture is missing, read back. */
#include "src/base/clock.h"
#include "src/live/background_job.h"

/* A first launch finds cold caches and fresh memory; a launch longer than this hardly notices. */
static const double WARM_UP_US = 100e3;

static bool launch(Session *session, BackgroundJob *job, Err *err) {
    TeamTime team = clock_team();
    double begun = clock_us();
    bool ok = session_run(session, err);
    job->launch_us = clock_us() - begun;
    job->busy_us = clock_team_since_us(team);
    return ok;
}

static bool run(Runner *kept, BackgroundJob *job, Err *err) {
    FrameInputs with = job->inputs;
    StageTimes unused = {{0}};
    if (!job->wants_grid && runner_goes_on(kept, &with, &job->config))
        with.features = kept->features; /* other values take as long */
    bool again = runner_goes_on(kept, &with, &job->config);
    if (!runner_prepare(kept, &with, &job->config, NULL, &unused, err))
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
        job->grid = inputs_read_grid(kept, &job->inputs, &job->config, err);
        ok = job->grid != NULL;
    }
    if (!ok)
        runner_clear(kept);
    return ok;
}
