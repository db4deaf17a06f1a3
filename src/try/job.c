/* SPDX-License-Identifier: MIT */
#include "src/try/job.h"

#include "kernels/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0xa5, POISON = 0xff /* NaN */, PRINTED_LIMIT = 1000 };

const char try_runner_word[] = "--try-runner";
const char try_compile_word[] = "compile";

const char *const job_inputs[JOB_INPUTS] = {
    "ranks_depth",      "ranks_feat", "ranks_bev", "interval_starts",
    "interval_lengths", "depth",      "feat",
};

/* Places all arrays, outputs behind a band of at least a page. Returns the size of the file. */
static size_t place_arrays(JobHeader *header) {
    const BevProblem *problem = &header->problem;
    const BevMap *map = &problem->map;
    const int64_t channels = problem->shape.channels, grid = problem->out.rows * channels;
    const int64_t points = map->points, intervals = map->intervals;
    const int64_t depths = problem->depth.row_len, feats = problem->feat.rows * channels;
    const int64_t counts[JOB_ARRAYS] = {points, points, points, intervals, intervals,
                                        depths, feats,  grid,   grid};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t at = (sizeof *header + page - 1) / page * page;
    for (int i = 0; i < JOB_INPUTS + header->calls; i++) {
        size_t bytes = (size_t)counts[i] * 4, band = i < JOB_INPUTS ? 0 : page;
        size_t pages = (bytes + band + page - 1) / page * page;
        header->arrays[i] = (JobArray){bytes, at, pages, pages - bytes};
        at += pages;
    }
    return at;
}

/* Fills the file and poisons the outputs. Before an input all bits are 1: a NaN, or index -1. */
static void fill_file(Job *job) {
    const BevProblem *problem = &job->header.problem;
    const BevMap *map = &problem->map;
    const void *const values[JOB_INPUTS] = {
        map->ranks_depth,      map->ranks_feat,     map->ranks_bev,    map->interval_starts,
        map->interval_lengths, problem->depth.data, problem->feat.data};
    memcpy(job->memory, &job->header, sizeof job->header);
    for (int i = 0; i < JOB_INPUTS + job->header.calls; i++) {
        const JobArray *array = &job->header.arrays[i];
        unsigned char *first = job->memory + array->offset + array->lead;
        memset(first - array->lead, i < JOB_INPUTS ? 0xff : PATTERN, array->lead);
        if (i >= JOB_INPUTS)
            memset(first, POISON, array->bytes);
        else if (array->bytes)
            memcpy(first, values[i], array->bytes);
    }
}

/* Copies the report. The kernel may have written to the report, so ranges are checked. */
static void copy_report(Job *job) {
    JobReport *r = &job->header.report;
    memcpy(r, job->memory, sizeof *r);
    r->text[sizeof r->text - 1] = '\0';
    clean_text(r->text, r->text, sizeof r->text);
    if (r->state < JOB_BEGUN || r->state > JOB_DONE)
        r->state = JOB_RUNNING;
    if (r->signal < 1 || r->signal >= NSIG)
        r->signal = SIGABRT;
    if (r->access < ACCESS_OTHER || r->access > ACCESS_NULL || r->array < 0 ||
        r->array >= JOB_INPUTS + job->header.calls) {
        r->access = ACCESS_OTHER;
        r->array = 0;
    }
    unsigned char settled;
    memcpy(&settled, &r->timing.settled, 1);
    r->timing.settled = settled == 1;
}

bool job_run(Job *job, int library, Err *err) {
    void *memory = MAP_FAILED;
    job->bytes = place_arrays(&job->header);
    job->file = memfd_create("job", MFD_ALLOW_SEALING); /* the runner inherits the file */
    if (job->file >= 0 && ftruncate(job->file, (off_t)job->bytes) == 0 &&
        fcntl(job->file, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        memory = mmap(NULL, job->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->file, 0);
    if (memory == MAP_FAILED)
        return err_set(err, ERR_FAILED, "shared memory", "choose a smaller scene", "%s",
                       strerror(errno));
    job->memory = memory;
    fill_file(job);
    const ShortText file = short_text("%d", job->file), code = short_text("%d", library);
    const char *const words[] = {"bevscope", try_runner_word, file.text, code.text, NULL};
    if (!child_run("/proc/self/exe", words, job->header.limit_s, PRINTED_LIMIT, &job->end, err))
        return false;
    copy_report(job);
    return true;
}

void job_close(Job *job) {
    if (job->memory)
        munmap(job->memory, job->bytes);
    if (job->file >= 0)
        close(job->file);
    free(job->end.output);
}

const void *job_output(const Job *job, int call) {
    const JobArray *array = &job->header.arrays[JOB_INPUTS + call];
    return job->memory + array->offset + array->lead;
}

int64_t job_band_broken(const Job *job, int call) {
    const JobArray *array = &job->header.arrays[JOB_INPUTS + call];
    const unsigned char *band = job->memory + array->offset;
    for (size_t i = array->lead; i > 0; i--)
        if (band[i - 1] != PATTERN)
            return (int64_t)(array->lead - i) / 4 + 1;
    return 0;
}
