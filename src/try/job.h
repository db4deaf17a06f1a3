/* A job: one kernel, one problem, one process. The problem lies in two files in memory, laid out
 * here once for both sides. The runner maps them so that each array ends where forbidden pages
 * begin: an access past an end, or a write to an input, stops it at that access. */
#pragma once

#include "src/run/session.h"
#include "src/try/child.h"
#include "src/try/try.h"

enum { JOB_INPUTS = 7, JOB_CALLS = 2, JOB_ARRAYS = JOB_INPUTS + JOB_CALLS };

/* The descriptors of a runner. Without a kernel of the learner, JOB_LIBRARY is not open. */
enum { JOB_IN = CHILD_FIRST_FILE, JOB_OUT, JOB_LIBRARY };

/* At the start of the inputs. */
typedef struct {
    BevShape shape;
    int64_t points, intervals, depths, pixels;
    bool cuda;            /* the learner's kernel is for a GPU */
    int calls;            /* on poisoned outputs of their own; 0: time it */
    int repeats;          /* further calls on the first output, one value of which is spoilt before
                             each call */
    char instead[32];     /* the row of the table that is timed; "": the learner's kernel */
    TimingOptions timing; /* calls == 0 */
    double limit_s;
} JobHeader;

/* What begins a runner that compiles a kernel for a GPU instead. */
extern const char try_compile_word[];

/* An array in its file: `bytes` bytes that end where a page does. The pages before it, `lead` bytes
 * of them, are a band with a pattern. */
typedef struct {
    const char *name;
    bool input;
    size_t bytes, offset, pages_bytes; /* of the array, and where its pages begin */
    size_t lead;                       /* from there to the first element */
} JobArray;

/* Fills arrays[JOB_ARRAYS], inputs first. Sizes of the two files. */
typedef struct {
    size_t inputs, outputs;
} JobSizes;
JobSizes job_layout(const JobHeader *header, JobArray arrays[JOB_ARRAYS]);

/* How far the runner came. */
typedef enum {
    JOB_BEGUN,       /* it did not get as far as the kernel */
    JOB_NO_LIBRARY,  /* `text` says why it was not loaded */
    JOB_NO_FUNCTION, /* the file has no function of that name */
    JOB_FAILED,      /* no memory, no mapping: `text` */
    JOB_RUNNING,     /* in the kernel */
    JOB_CRASHED,     /* the GPU ended it: `text` */
    JOB_TRESPASSED,  /* on a GPU it wrote where it must not: `text` */
    JOB_SIGNAL,      /* a signal ended the kernel */
    JOB_DONE
} JobState;

/* What a signal means. */
typedef enum {
    ACCESS_OTHER,
    ACCESS_BEFORE, /* before the start of an array */
    ACCESS_AFTER,
    ACCESS_INSIDE, /* a write to an input */
    ACCESS_NULL,
    ACCESS_STACK
} JobAccess;

/* At the start of the outputs: written by the runner, whose memory a kernel can write to as
 * well. */
typedef struct {
    int state;                          /* JobState */
    int signal;                         /* JOB_SIGNAL */
    int access, array, writes;          /* of the signal; writes: -1: unknown */
    int64_t element;                    /* of the array; negative before its start */
    Timing timing;
    char text[256];
} JobReport;

/* ---- the side of the judge ------------------------------------------------------------------- */

typedef struct {
    JobHeader header;
    JobArray arrays[JOB_ARRAYS];
    int inputs, outputs; /* the files */
    unsigned char *out;  /* the outputs, mapped */
    size_t out_bytes;
    JobReport report;    /* a copy, made when the process had ended, and checked */
    ChildEnd end;
} Job;

/* Writes the FP32 problem to the inputs and poisons the outputs. Of the task, the fields from
 * `cuda` on are used. Close the job in any case. */
bool job_open(Job *job, const BevProblem *problem, const JobHeader *task, Err *err);

/* Runs it in a process of its own; `library`: the learner's kernel, -1: the row task.instead. */
bool job_run(Job *job, int library, Err *err);
void job_close(Job *job);

const void *job_output(const Job *job, int call); /* (nx * ny, channels), as the kernel left it */

/* How many values before that output the nearest change of the band lies; 0: none. */
int64_t job_band_broken(const Job *job, int call);
