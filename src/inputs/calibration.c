/* SPDX-License-Identifier: MIT */
/* The ranges of number formats: read from a file, or calibrated on the first moments of a scene. */
#include "src/inputs/workload.h"

#include <stdlib.h>
#include <sys/param.h>

enum { MOMENTS = 8 };

/* The histograms of a scene under the conditions of a job. Counting can stop and go on later. */
struct Calibration {
    Workload workload; /* open until all moments are counted */
    int counted, wanted;
    TensorHistograms histograms;
    int64_t channels;
    Job job;            /* with the scales that were chosen last; SCALES_IDEAL: none yet */
    ScaleRanges chosen; /* ranges from all moments, for the scales and the format of `job` */
};

void calibration_free(Calibration *calibration) {
    if (!calibration)
        return;
    workload_close(&calibration->workload);
    tensor_histograms_free(&calibration->histograms);
    free(calibration);
}

/* Opens the scene to calibrate on, under the job's conditions. Counts nothing yet. */
static bool begin_calibration(LoadedScene *loaded, const Job *job, int64_t channels, Err *err) {
    const bool other = job->scales_scene != NULL;
    Job conditions = job_plain();
    conditions.channels = channels;
    conditions.outlier = job->outlier;
    conditions.photo_features = !other && loaded->photo_features;
    if (!other) {
        conditions.temperature = job->temperature;
        conditions.sizes = loaded->sizes;
    }
    calibration_free(loaded->calibration);
    Calibration *made = loaded->calibration = calloc(1, sizeof *made);
    if (!made)
        return err_no_memory(err, "scales", "choose a smaller scene");
    made->channels = channels;
    made->job = *job;
    made->job.scales = SCALES_IDEAL;
    if (!workload_open(&made->workload, other ? job->scales_scene : loaded->path, &conditions,
                       err) ||
        !tensor_histograms_init(&made->histograms, channels, err)) {
        calibration_free(made);
        loaded->calibration = NULL;
        return false;
    }
    made->wanted = MIN(workload_moments(&made->workload), MOMENTS);
    return true;
}

/* Counts the moments that are left, at least one in a call. False: it failed, or was given up. */
static bool count_moments(Calibration *calibration, const GiveUp *give_up, Err *err) {
    Workload *workload = &calibration->workload;
    while (calibration->counted < calibration->wanted) {
        if (!workload_move(workload, calibration->counted, err) ||
            !workload_count(workload, 1u << calibration->job.config.align, &calibration->histograms,
                            err))
            return false;
        calibration->counted++;
        if (given_up(give_up))
            return false;
    }
    workload_close(workload);
    return true;
}

bool inputs_scales(LoadedScene *loaded, const Job *job, int64_t channels, const GiveUp *give_up,
                   ScaleRanges *ranges, Err *err) {
    if (job->scales == SCALES_CHANNEL || job->scales == SCALES_FILE)
        return ranges_take(ranges, job->scales == SCALES_FILE ? job->scales_file : "channel",
                           channels, err);
    Calibration *calibration = loaded->calibration;
    const Job *had = calibration ? &calibration->job : NULL;
    const bool same_values = had && calibration->channels == channels &&
                             had->temperature == job->temperature && had->outlier == job->outlier;
    const bool counts_serve = same_values && had->scales_scene == job->scales_scene &&
                              had->config.align == job->config.align;
    if (!counts_serve && !begin_calibration(loaded, job, channels, err))
        return false;
    calibration = loaded->calibration;
    const RangesRequest request = {.method = scales_method(job->scales),
                                   .percentile = 99.99,
                                   .dtype = scales_dtype(job),
                                   .per_channel = scales_by_channel(job->scales)};
    bool chosen =
        calibration->job.scales == job->scales && scales_dtype(&calibration->job) == request.dtype;
    if (!count_moments(calibration, give_up, err) ||
        (!chosen && !ranges_choose(&calibration->chosen, &calibration->histograms, &request,
                                   loaded->facts.name, err)))
        return false;
    calibration->job = *job;
    *ranges = calibration->chosen;
    return true;
}
