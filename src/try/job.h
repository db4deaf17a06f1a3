/* SPDX-License-Identifier: MIT */
/* A job runs one kernel on one problem in one process. A file in memory has the report, the problem
 * and the outputs of the job. This header defines the layout of the file for both processes. The
 * runner maps the file so that each array ends where forbidden pages begin. A kernel that accesses
 * bytes past the end of an array, or writes to an input, stops at this access. */
#pragma once

#include "src/try/try.h"

#include "samples/try/pool.h"

#include <signal.h>

/* ---- another program, child.c ---------------------------------------------------------------- */

typedef struct {
    bool timed_out;
    int status;             /* status as waitpid returns it */
    char *output;           /* output of both streams, cut; control characters other than the
                               newline become '?'; the caller frees it */
    size_t length;          /* bytes that were kept; a zero follows them */
    uint64_t output_length; /* bytes that were printed in all */
} ChildEnd;

/* Runs another program to its end, for at most limit_s. `words` are the name and the arguments,
 * with NULL at the end. The first `output_limit` bytes of the output are kept. The program has no
 * terminal and no input, but the open files that exec does not close. All processes of its session
 * end with the program. The program ends if this process ends. */
bool child_run(const char *program, const char *const *words, double limit_s, size_t output_limit,
               ChildEnd *end, Err *err);

/* ---- the file of a job ----------------------------------------------------------------------- */

enum { JOB_INPUTS = 7, JOB_CALLS = 2, JOB_ARRAYS = JOB_INPUTS + JOB_CALLS };

/* An array of `bytes` bytes, which ends at the end of a page. The `lead` bytes before it, on the
 * same pages, are a band with a pattern. */
typedef struct {
    size_t bytes;
    size_t offset, pages_bytes; /* of the array's pages in the file */
    size_t lead;                /* bytes from the start of the pages to the first element */
} JobArray;

/* How far the runner came. */
typedef enum {
    JOB_BEGUN,       /* the runner did not reach the kernel */
    JOB_NO_LIBRARY,  /* `text` says why the library was not loaded */
    JOB_NO_FUNCTION, /* the file has no function of that name */
    JOB_FAILED,      /* no memory, or no mapping: `text` */
    JOB_RUNNING,     /* the kernel runs */
    JOB_CRASHED,     /* the GPU ended the kernel: `text` */
    JOB_TRESPASSED,  /* on a GPU the kernel wrote outside its arrays: `text` */
    JOB_SIGNAL,      /* a signal ended the kernel */
    JOB_DONE
} JobState;

/* Which access caused a signal. */
typedef enum {
    ACCESS_OTHER,
    ACCESS_BEFORE, /* before the start of an array */
    ACCESS_AFTER,
    ACCESS_INSIDE, /* a write to an input */
    ACCESS_NULL
} JobAccess;

/* The report of the runner. The learner's kernel can also write to the report. */
typedef struct {
    int state;         /* JobState */
    int signal;        /* set in state JOB_SIGNAL */
    int access, array; /* describe the access */
    int64_t element;   /* index in the array; negative before its start */
    Timing timing;
    char text[256];
} JobReport;

/* The start of the file. */
typedef struct {
    JobReport report;
    BevProblem problem; /* FP32; its pointers are valid in the process of the judge alone */
    bool cuda;          /* the learner's kernel is for a GPU */
    int calls;          /* number of calls, each with its own poisoned output; 0: time the kernel */
    char instead[32]; /* name of the kernel of the table that is timed; "": the learner's kernel */
    TimingOptions timing; /* used when calls is 0 */
    double limit_s;
    JobArray arrays[JOB_ARRAYS]; /* inputs first */
} JobHeader;

extern const char *const job_inputs[JOB_INPUTS]; /* "ranks_depth", ... */

/* ---- the judge's process, job.c -------------------------------------------------------------- */

typedef struct {
    JobHeader header; /* the judge's own; its report is a checked copy */
    int file;
    unsigned char *memory; /* the mapped file */
    size_t bytes;
    ChildEnd end;
} Job;

/* Writes the file of job->header, whose arrays are set here, and runs the job in another process.
 * `library`: the learner's kernel; -1: header.instead. Close the job also after a failure. */
bool job_run(Job *job, int library, Err *err);
void job_close(Job *job);

const void *job_output(const Job *job, int call); /* (nx * ny, channels), as the kernel left it */

/* Returns how far before a call's output its band was changed, in values. 0: it is unchanged. */
int64_t job_band_broken(const Job *job, int call);

/* ---- the runner's process, runner.c ---------------------------------------------------------- */

/* The word behind try_runner_word for a runner that compiles a kernel for a GPU. The source and
 * the number of an open file follow. The runner writes the machine code to this file. */
extern const char try_compile_word[];

/* Whether this build has CUDA. False: `err` says why kernels cannot run on a GPU. */
bool gpu_possible(Err *err);
