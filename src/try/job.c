/* SPDX-License-Identifier: MIT */
#include "src/try/job.h"

#include "kernels/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0xa5, POISON = 0xff /* NaN */, PRINTED_LIMIT = 1000 };

const char try_runner_word[] = "--try-runner";
const char try_compile_word[] = "compile";

/* ---- the layout of the files ----------------------------------------------------------------- */

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

const char *const job_inputs[JOB_INPUTS] = {
    "ranks_depth",      "ranks_feat", "ranks_bev", "interval_starts",
    "interval_lengths", "depth",      "feat",
};

/* Places an array of `count` elements at `at`, behind a band of at least `band` bytes. Returns the
 * end. */
static size_t place_array(JobArray *array, int64_t count, size_t at, size_t band) {
    size_t bytes = (size_t)count * 4, pages = whole_pages(bytes + band);
    *array = (JobArray){band == 0, bytes, at, pages, pages - bytes};
    return at + pages;
}

/* Places all arrays, outputs behind a band. Returns the size of the inputs, and sets *outputs to
 * that of the outputs. */
static size_t place_arrays(JobHeader *header, size_t *outputs) {
    const BevProblem *problem = &header->problem;
    const BevMap *map = &problem->map;
    const int64_t counts[JOB_INPUTS] = {map->points,
                                        map->points,
                                        map->points,
                                        map->intervals,
                                        map->intervals,
                                        problem->depth.row_len,
                                        problem->feat.rows * problem->shape.channels};
    size_t inputs = whole_pages(sizeof(JobHeader));
    *outputs = whole_pages(sizeof(JobReport));
    for (int i = 0; i < JOB_INPUTS; i++)
        inputs = place_array(&header->arrays[i], counts[i], inputs, 0);
    for (int i = 0; i < header->calls; i++)
        *outputs =
            place_array(&header->arrays[JOB_INPUTS + i],
                        problem->out.rows * problem->shape.channels, *outputs, whole_pages(1));
    return inputs;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Makes the file `size` bytes long and maps it. NULL: it has no room. */
static unsigned char *map_file(int fd, size_t size) {
    void *memory = ftruncate(fd, (off_t)size) != 0
                       ? MAP_FAILED
                       : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Writes the inputs. The bytes before an array are all ones: NaN as a value, -1 as an index. */
static bool write_inputs(const Job *job, const BevProblem *problem, size_t size) {
    const BevMap *map = &problem->map;
    const void *values[JOB_INPUTS] = {
        map->ranks_depth,      map->ranks_feat,     map->ranks_bev,    map->interval_starts,
        map->interval_lengths, problem->depth.data, problem->feat.data};
    unsigned char *memory = map_file(job->inputs, size);
    if (!memory)
        return false;
    memcpy(memory, &job->header, sizeof job->header);
    for (int i = 0; i < JOB_INPUTS; i++) {
        const JobArray *array = &job->header.arrays[i];
        memset(memory + array->offset, 0xff, array->lead);
        if (array->bytes)
            memcpy(memory + array->offset + array->lead, values[i], array->bytes);
    }
    munmap(memory, size);
    /* From now on no process can change the inputs. */
    return fcntl(job->inputs, F_ADD_SEALS,
                 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

static bool poison_outputs(Job *job, size_t size) {
    job->out = map_file(job->outputs, size);
    job->out_bytes = size;
    if (!job->out ||
        fcntl(job->outputs, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        return false;
    for (int i = 0; i < job->header.calls; i++) {
        const JobArray *array = &job->header.arrays[JOB_INPUTS + i];
        memset(job->out + array->offset, PATTERN, array->lead);
        memset(job->out + array->offset + array->lead, POISON, array->bytes);
    }
    return true;
}

bool job_open(Job *job, const BevProblem *problem, const JobHeader *task, Err *err) {
    *job = (Job){.header = *task,
                 .inputs = memfd_create("inputs", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                 .outputs = memfd_create("outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    job->header.problem = *problem;
    size_t outputs, inputs = place_arrays(&job->header, &outputs);
    if (job->inputs >= 0 && job->outputs >= 0 && write_inputs(job, problem, inputs) &&
        poison_outputs(job, outputs))
        return true;
    return err_set(err, ERR_FAILED, "shared memory", "choose a smaller scene", "%s",
                   strerror(errno));
}

/* ---- running --------------------------------------------------------------------------------- */

/* Copies the report. The kernel may have written to the report, so ranges are checked. */
static void copy_report(Job *job) {
    JobReport *r = &job->report;
    memcpy(r, job->out, sizeof *r);
    r->text[sizeof r->text - 1] = '\0';
    clean_text(r->text, r->text, sizeof r->text);
    if (r->state < JOB_BEGUN || r->state > JOB_DONE)
        r->state = JOB_RUNNING;
    if (r->signal < 1 || r->signal >= NSIG)
        r->signal = SIGABRT;
    if (r->access < ACCESS_OTHER || r->access > ACCESS_NULL || r->array < 0 ||
        r->array >= JOB_INPUTS + job->header.calls)
        r->access = ACCESS_OTHER;
    unsigned char settled;
    memcpy(&settled, &r->timing.settled, 1);
    r->timing.settled = settled == 1;
}

bool job_run(Job *job, int library, Err *err) {
    const char *const words[] = {"bevscope", try_runner_word, NULL};
    ChildPlan plan = {.program = "/proc/self/exe",
                      .words = words,
                      .files = {job->inputs, job->outputs, library},
                      .file_count = library < 0 ? 2 : 3,
                      .limit_s = job->header.limit_s,
                      .output_limit = PRINTED_LIMIT};
    if (!child_run(&plan, &job->end, err))
        return false;
    copy_report(job);
    return true;
}

void job_close(Job *job) {
    if (job->out)
        munmap(job->out, job->out_bytes);
    if (job->inputs >= 0)
        close(job->inputs);
    if (job->outputs >= 0)
        close(job->outputs);
    free(job->end.output);
    *job = (Job){.inputs = -1, .outputs = -1};
}

const void *job_output(const Job *job, int call) {
    const JobArray *array = &job->header.arrays[JOB_INPUTS + call];
    return job->out + array->offset + array->lead;
}

int64_t job_band_broken(const Job *job, int call) {
    const JobArray *array = &job->header.arrays[JOB_INPUTS + call];
    const unsigned char *band = job->out + array->offset;
    for (size_t i = array->lead; i > 0; i--)
        if (band[i - 1] != PATTERN)
            return (int64_t)(array->lead - i) / 4 + 1;
    return 0;
}
