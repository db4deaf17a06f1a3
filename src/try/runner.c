/* SPDX-License-Identifier: MIT */
/* The runner: a process of this program that runs one kernel on one problem (job.h). */
#include "src/try/job.h"

#include "src/run/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    ZONE = 1 << 20,         /* forbidden bytes on both sides of an array */
    HANDLER_STACK = 1 << 16 /* bytes of the signal handler's stack */
};

typedef void PoolFunction(const Pool *);

static struct {
    const JobHeader *header;
    JobReport *report;
    void *arrays[JOB_ARRAYS]; /* their first elements */
    int array_count;
    PoolFunction *pool;
    Pool problem;
} runner;

static int end_run(JobState state, const char *text) {
    snprintf(runner.report->text, sizeof runner.report->text, "%s", text);
    runner.report->state = state;
    return EXIT_FAILURE;
}

/* ---- the meaning of a signal ----------------------------------------------------------------- */

/* Finds the array near an address that faulted. Distances are in elements of four bytes. */
static void explain_address(JobReport *report, uintptr_t address) {
    report->access = address < 65536 ? ACCESS_NULL : ACCESS_OTHER;
    for (int i = 0; i < runner.array_count; i++) {
        uintptr_t start = (uintptr_t)runner.arrays[i];
        uintptr_t end = start + runner.header->arrays[i].bytes;
        if (address < start - ZONE || address >= end + ZONE)
            continue;
        report->access = address < start ? ACCESS_BEFORE
                         : address < end ? ACCESS_INSIDE
                                         : ACCESS_AFTER;
        report->array = i;
        report->element = address < start ? -(int64_t)((start - address + 3) / 4)
                                          : (int64_t)((address - start) / 4);
        return;
    }
}

/* Handles a signal. The first thread reports it. Other threads wait for the end of the process. */
static void on_signal(int signal, siginfo_t *info, void *context) {
    static volatile int taken;
    JobReport *report = runner.report;
    (void)context;
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL))
        pause();
    report->signal = signal;
    if (signal == SIGSEGV || signal == SIGBUS) {
        /* For an impossible address the system reports 0 and a code of SI_KERNEL or above. */
        bool known = info->si_code > 0 && info->si_code < SI_KERNEL;
        explain_address(report, known ? (uintptr_t)info->si_addr : UINTPTR_MAX);
    }
    report->state = JOB_SIGNAL;
    _exit(EXIT_FAILURE);
}

static void watch_signals(void) {
    static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTRAP};
    static char stack[HANDLER_STACK];
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaction(watched[i], &action, NULL);
}

/* ---- the problem in this process's memory ---------------------------------------------------- */

/* Maps the pages of an array between two forbidden zones. NULL: no memory. */
static void *map_array(const JobArray *array) {
    char *zone = mmap(NULL, array->pages_bytes + 2 * ZONE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zone == MAP_FAILED)
        return NULL;
    if (array->pages_bytes > 0 &&
        mmap(zone + ZONE, array->pages_bytes, array->input ? PROT_READ : PROT_READ | PROT_WRITE,
             (array->input ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED, array->input ? JOB_IN : JOB_OUT,
             (off_t)array->offset) == MAP_FAILED)
        return NULL;
    return zone + ZONE + array->lead;
}

/* Maps the header and the report, then all arrays. Without the report no error can be told. */
static bool map_job(void) {
    void *header = mmap(NULL, sizeof *runner.header, PROT_READ, MAP_PRIVATE, JOB_IN, 0);
    void *report =
        mmap(NULL, sizeof *runner.report, PROT_READ | PROT_WRITE, MAP_SHARED, JOB_OUT, 0);
    if (header == MAP_FAILED || report == MAP_FAILED)
        return false;
    runner.header = header;
    runner.report = report;
    runner.array_count = JOB_INPUTS + runner.header->calls;
    for (int i = 0; i < runner.array_count; i++)
        if (!(runner.arrays[i] = map_array(&runner.header->arrays[i])))
            return end_run(JOB_FAILED, strerror(errno)), false;
    return true;
}

/* Returns the problem with these arrays. The inputs have the order of job_inputs. */
static BevProblem make_problem(void *const inputs[JOB_INPUTS], float *out) {
    BevProblem problem = runner.header->problem;
    BevMap *map = &problem.map;
    map->ranks_depth = inputs[0];
    map->ranks_feat = inputs[1];
    map->ranks_bev = inputs[2];
    map->interval_starts = inputs[3];
    map->interval_lengths = inputs[4];
    problem.depth.data = inputs[5];
    problem.feat.data = inputs[6];
    problem.out.data = out;
    return problem;
}

/* ---- judging: one call after another --------------------------------------------------------- */

static bool run_all_calls(void) {
    JobState state = JOB_DONE;
    Err err;
    BevProblem problem = make_problem(runner.arrays, runner.arrays[JOB_INPUTS]);
    for (int call = 0; state == JOB_DONE && call < runner.header->calls; call++) {
        problem.out.data = runner.arrays[JOB_INPUTS + call];
        runner.problem = runner_pool(&problem);
        if (runner.header->cuda)
            state = gpu_call(&problem, problem.out.data, &err);
        else
            runner.pool(&runner.problem);
    }
    return state == JOB_DONE || (end_run(state, err.what), false);
}

/* ---- timing: a session, as in bench ---------------------------------------------------------- */

static bool launch_learner(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)problem, (void)plan, (void)stream, (void)err;
    runner.pool(&runner.problem);
    return true;
}

/* Times the kernel on copies of the inputs in ordinary memory, as other programs use. */
static bool time_kernel(Err *err) {
    BevKernel learner = gpu_learner;
    if (!runner.header->cuda) {
        learner.where = BEV_CPU;
        learner.launch = launch_learner;
    }
    const char *instead = runner.header->instead;
    const BevKernel *kernel = instead[0] ? bev_kernel_find(instead) : &learner;
    const BevTensor *like = &runner.header->problem.out;
    void *inputs[JOB_INPUTS];
    float *out = malloc((size_t)(like->rows * like->row_len) * sizeof *out);
    Session *session = NULL;
    bool whole = out != NULL;
    for (int i = 0; whole && i < JOB_INPUTS; i++)
        if ((whole = (inputs[i] = malloc(runner.header->arrays[i].bytes + 1))))
            memcpy(inputs[i], runner.arrays[i], runner.header->arrays[i].bytes);
    if (!whole)
        return err_no_memory(err, "timing", "");
    BevProblem problem = make_problem(inputs, out);
    runner.problem = runner_pool(&problem);
    bool ok =
        session_open(&session, kernel, &problem, err) &&
        session_time(session, CACHE_WARM, &runner.header->timing, &runner.report->timing, err);
    session_close(session);
    return ok; /* the memory ends with the process */
}

/* ---- the process ----------------------------------------------------------------------------- */

#if defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

static void set_limit(int resource, rlim_t soft, rlim_t hard) {
    setrlimit((__rlimit_resource_t)resource, &(struct rlimit){soft, hard});
}

/* Limits this process before it loads the learner's kernel. CPU seconds count over all threads.
 * The limit of address space is three times the arrays, and the threads' stacks and heaps.
 * AddressSanitizer reserves more than a limit allows. The limit of processes counts all threads of
 * the user. It is higher than the number of threads in the system. */
static void limit_process(void) {
    rlim_t cores = (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
    rlim_t bytes = ((rlim_t)4 << 30) + cores * ((rlim_t)80 << 20);
    for (int i = 0; i < runner.array_count; i++)
        bytes += 3 * runner.header->arrays[i].bytes;
    rlim_t cpu_s = (rlim_t)(runner.header->limit_s * (double)cores) + 1;
    struct sysinfo info;
    set_limit(RLIMIT_CPU, cpu_s, cpu_s + 1);
    if (!UNDER_ASAN)
        set_limit(RLIMIT_AS, bytes, bytes);
    set_limit(RLIMIT_CORE, 0, 0);
    set_limit(RLIMIT_FSIZE, 0, 0);
    if (sysinfo(&info) == 0)
        set_limit(RLIMIT_NPROC, info.procs + 2 * cores + 32, info.procs + 2 * cores + 32);
}

/* Loads the learner's function. False: the report says why. */
static bool load_library(void) {
    char path[32];
    Err err;
    if (runner.header->cuda)
        return gpu_load(JOB_LIBRARY, &err) || (end_run(JOB_NO_LIBRARY, err.what), false);
    snprintf(path, sizeof path, "/proc/self/fd/%d", JOB_LIBRARY);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return end_run(JOB_NO_LIBRARY, dlerror()), false;
    return find_function(library, "pool", &runner.pool) || (end_run(JOB_NO_FUNCTION, ""), false);
}

int try_runner(int argc, char **argv) {
    Err err;
    if (argc == 4 && !strcmp(argv[2], try_compile_word))
        return gpu_compile(argv[3]);
    if (argc != 2 || !map_job()) {
        fputs("bevscope: this word is for bevscope try alone\n", stderr);
        return ERR_USAGE;
    }
    watch_signals();
    if (!runner.header->cuda) /* a CUDA driver needs more than these limits */
        limit_process();
    if (!runner.header->instead[0] && !load_library())
        return EXIT_FAILURE;
    runner.report->state = JOB_RUNNING;
    if (runner.header->calls ? !run_all_calls() : !time_kernel(&err))
        return runner.header->calls ? EXIT_FAILURE : end_run(JOB_FAILED, err.what);
    runner.report->state = JOB_DONE;
    fflush(NULL);
    _exit(EXIT_SUCCESS);
}
