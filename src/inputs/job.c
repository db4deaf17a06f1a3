/* SPDX-License-Identifier: MIT */
#include "src/inputs/job.h"

#include "src/scene/slice.h"

#include <stdio.h>
#include <string.h>

bool rig_state_equal(const RigState *a, const RigState *b) {
    const bool same_map = a->balance == b->balance && prune_equal(&a->prune, &b->prune) &&
                          a->rounding == b->rounding && a->camera_mask == b->camera_mask;
    const bool same_features = a->temperature == b->temperature && a->outlier == b->outlier &&
                               a->scales == b->scales && a->scales_scene == b->scales_scene;
    if (!same_map || !same_features)
        return false;
    for (int i = 0; i < RIG_MAX_CAMERAS; i++)
        if (!camera_error_equal(&a->camera_errors[i], &b->camera_errors[i]))
            return false;
    return true;
}

Job job_of_baseline(const Job *job) {
    Job baseline = *job;
    if (job->other)
        baseline.scene = job->other - 1;
    else
        baseline.config = job->baseline;
    if (!job->other && job_rigs_differ(job))
        baseline.rig = job->baseline_rig;
    return baseline;
}

Rig job_rig(const Job *job, const Rig *rig) {
    Rig changed = *rig;
    grid_use_rounding(&changed.grid, job->rounding);
    for (int i = 0; i < changed.camera_count; i++)
        if (!camera_error_keeps_map(&job->camera_errors[i]))
            camera_apply_error(&changed.cameras[i], &job->camera_errors[i]);
    return changed;
}

Job job_plain(void) {
    Job job = {.probe_cell = -1, .steps_block = -1, .steps_warp = -1, .slice = SLICE_MAX};
    job_repair(&job);
    return job;
}

void job_repair(Job *job) {
    job->camera_mask = UINT32_MAX;
    job->temperature = job->outlier = 1;
    job->rounding = ROUNDING_SCENE;
    memset(job->camera_errors, 0, sizeof job->camera_errors);
}

bool camera_faults(const Job *job, int camera, char *text, size_t size) {
    bool dropout = !(job->camera_mask >> camera & 1);
    snprintf(text, size, "%s", dropout ? ", dropout" : "");
    for (int i = 0; i < FAULTS; i++) {
        double value = job->camera_errors[camera].each[i];
        if (value != 0)
            text_add(text, size, ", %s %+.1f %s", fault_infos[i].name, value, fault_infos[i].unit);
    }
    return text[0] != '\0';
}

bool job_has_faults(const Job *job) {
    static const CameraError none;
    for (int i = 0; i < RIG_MAX_CAMERAS; i++)
        if (!(job->camera_mask >> i & 1) || !camera_error_equal(&job->camera_errors[i], &none))
            return true;
    return false;
}

bool scene_allows_delay(const SceneFacts *scene, double delay_ms, Err *err) {
    double lasts_ms = scene->moments * scene->moment_s * 1e3;
    if (scene->has_world || !(delay_ms > 0))
        return true;
    if (scene->moments < 2)
        return err_set(err, ERR_USAGE, "delay", "choose a world or a clip",
                       "this scene has one moment: nothing in it moves");
    return delay_ms < lasts_ms || err_set(err, ERR_USAGE, "delay", "choose less",
                                          "%g ms, but the clip lasts %.0f ms", delay_ms, lasts_ms);
}
