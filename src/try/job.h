/* SPDX-License-Identifier: MIT */
/* A job is one kernel on one problem in one process. The problem lies in two files in memory. This
 * header defines their layout for both processes. The runner maps the files so that each array ends
 * where forbidden pages begin. An access past an end, or a write to an input, stops the kernel at
 * that access. */
#pragma once

#include "src/run/session.h"
#include "src/try/child.h"
#include "src/try/try.h"

#include "samples/try/pool.h"

enum { JOB_INPUTS = 7, JOB_CALLS = 2, JOB_ARRAYS = JOB_INPUTS + JOB_CALLS };

/* The descriptors of a runner. Without a learner's kernel, JOB_LIBRARY is not open. */
enum { JOB_IN = CHILD_FIRST_FILE, JOB_OUT, JOB_LIBRARY };

/* An array in its file. It has `bytes` bytes and ends at the end of a page. The `lead` bytes before
 * it, on the same pages, are a band with a pattern. */
typedef struct {
    bool input;
    size_t bytes;               /* of the array */
    size_t offset, pages_bytes; /* of the array's pages in the file */
    size_t lead;                /* bytes from the start of the pages to the first element */
} JobArray;

/* The header at the start of the inputs. */
typedef struct {
    BevProblem problem; /* its pointers are valid in the process of the judge alone */
    bool cuda;          /* the learner's kernel is for a GPU */
    int calls; /* number of calls, each with a poisoned output of its own; 0: time the kernel */
    char instead[32]; /* name of the kernel of the table that is timed; "": the learner's kernel */
    TimingOptions timing; /* used when calls is 0 */
    double limit_s;
    JobArray arrays[JOB_ARRAYS]; /* inputs first */
} JobHeader;

extern const char *const job_inputs[JOB_INPUTS]; /* "ranks_depth", ... */

/* The first argument of a runner that compiles a kernel for a GPU. */
extern const char try_compile_word[];

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

/* The report at the start of the outputs. The runner writes it; a kernel can, too. */
typedef struct {
    int state;         /* JobState */
    int signal;        /* set in state JOB_SIGNAL */
    int access, array; /* describe the access */
    int64_t element;   /* index in the array; negative before its start */
    Timing timing;
    char text[256];
} JobReport;

/* ---- functions of the judge ------------------------------------------------------------------ */

typedef struct {
    JobHeader header;
    int inputs, outputs; /* descriptors of the files */
    unsigned char *out;  /* the mapped outputs */
    size_t out_bytes;
    JobReport report; /* a checked copy, made after the process has ended */
    ChildEnd end;
} Job;

/* Writes the FP32 problem to the inputs and poisons the outputs. Of `task`, the fields from `cuda`
 * on are used. Close the job also after a failure. */
bool job_open(Job *job, const BevProblem *problem, const JobHeader *task, Err *err);

/* Runs the job in a process of its own. `library`: the learner's kernel; -1: task.instead. */
bool job_run(Job *job, int library, Err *err);
void job_close(Job *job);

const void *job_output(const Job *job, int call); /* (nx * ny, channels), as the kernel left it */

/* Returns how many values before a call's output its band was changed. 0: it is unchanged. */
int64_t job_band_broken(const Job *job, int call);

/* ---- functions of the runner: runner.c, and runner_gpu.c for CUDA kernels -------------------- */

/* Converts a problem to the struct that a learner's kernel gets. Pointers are copied unchanged. */
Pool runner_pool(const BevProblem *problem);

/* Whether this build has CUDA. False: `err` says why kernels cannot run on a GPU. */
bool gpu_possible(Err *err);

/* The descriptor of a process that compiles: it writes the machine code there. */
enum { TRY_CODE = CHILD_FIRST_FILE };

/* Compiles the file `name` for a GPU. Prints the compiler's messages, or why there is no GPU.
 * Returns the exit status. */
int gpu_compile(const char *name);

/* Opens the first GPU and loads the machine code from a descriptor. */
bool gpu_load(int fd, Err *err);

/* The learner's kernel as a BevKernel, once it is loaded. */
extern const BevKernel gpu_learner;

/* Runs the kernel once, in a session of its own. `out`, (nx * ny, channels), receives its output.
 * Returns JOB_DONE, or why the kernel stopped, with an error. */
JobState gpu_call(const BevProblem *problem, float *out, Err *err);
