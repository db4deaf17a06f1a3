/* SPDX-License-Identifier: MIT */
/* The runner: a process of this program that runs one kernel on one problem (job.h). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/try/job.h"

#include "src/base/data.h"
#include "src/run/cuda/driver.h"
#include "src/run/cuda/nvrtc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

enum { HAS_CUDA = 1 };
#else
enum { HAS_CUDA = 0 };

static bool device_open(int index, Err *err) {
    (void)index;
    return err_set(err, ERR_DEVICE, "cuda", "configure it --with-cuda, or write the kernel in C",
                   "this build has no CUDA kernels");
}
#endif

enum {
    ZONE = 1 << 20,          /* forbidden bytes on both sides of an array */
    HANDLER_STACK = 1 << 16, /* bytes of the signal handler's stack */
    MAX_SOURCE = 1 << 20,
    MAX_IMAGE = 1 << 26
};

static struct {
    JobHeader *header;
    void *arrays[JOB_ARRAYS]; /* their first elements */
    int array_count;
    void (*pool)(const Pool *); /* the learner's kernel in C */
} runner;

static bool end_run(JobState state, const char *text) {
    JobReport *report = &runner.header->report;
    snprintf(report->text, sizeof report->text, "%s", text);
    report->state = state;
    return false;
}

/* ---- the meaning of a signal ----------------------------------------------------------------- */

/* Finds the array near an address that faulted. Distances are in elements of four bytes. */
static void explain_address(JobReport *report, uintptr_t address) {
    enum { NULL_ZONE = 65536 }; /* the system maps nothing below this address */
    report->access = address < NULL_ZONE ? ACCESS_NULL : ACCESS_OTHER;
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
    JobReport *report = &runner.header->report;
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

/* Maps array `i` of the file between two forbidden zones. NULL: no memory. */
static void *map_array(int file, int i) {
    const JobArray *array = &runner.header->arrays[i];
    const bool input = i < JOB_INPUTS; /* inputs are read only, and a write stops the kernel */
    const int access = input ? PROT_READ : PROT_READ | PROT_WRITE;
    const int flags = (input ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED;
    char *zone = mmap(NULL, array->pages_bytes + 2 * ZONE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zone == MAP_FAILED)
        return NULL;
    if (array->pages_bytes > 0 && mmap(zone + ZONE, array->pages_bytes, access, flags, file,
                                       (off_t)array->offset) == MAP_FAILED)
        return NULL;
    return zone + ZONE + array->lead;
}

/* Maps the header, then all arrays. Without the header no error can be told. */
static bool map_job(int file) {
    void *header = mmap(NULL, sizeof *runner.header, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (header == MAP_FAILED)
        return false;
    runner.header = header;
    runner.array_count = JOB_INPUTS + runner.header->calls;
    for (int i = 0; i < runner.array_count; i++)
        if (!(runner.arrays[i] = map_array(file, i)))
            return end_run(JOB_FAILED, strerror(errno));
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

/* ---- the learner's kernel -------------------------------------------------------------------- */

/* Launches the learner's kernel. On a GPU the pointers of the problem are to device memory. */
static bool launch_learner(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    const BevMap *map = &problem->map;
    const Pool pool = {.points = map->points,
                       .intervals = map->intervals,
                       .channels = problem->shape.channels,
                       .cells = problem->shape.nx * problem->shape.ny,
                       .ranks_depth = map->ranks_depth,
                       .ranks_feat = map->ranks_feat,
                       .ranks_bev = map->ranks_bev,
                       .interval_starts = map->interval_starts,
                       .interval_lengths = map->interval_lengths,
                       .depth = problem->depth.data,
                       .feat = problem->feat.data,
                       .out = problem->out.data};
    const size_t bytes = (size_t)(pool.cells * pool.channels) * sizeof(float);
    (void)plan;
    if (runner.header->cuda)
        return nvrtc_launch(&pool, pool.out, bytes, pool.intervals * pool.channels, stream, err);
    runner.pool(&pool);
    return true;
}

static BevKernel learner = {.name = "yours",
                            .title = "yours",
                            .where = BEV_CPU,
                            .dtypes = 1u << BEV_FP32,
                            .aligns = 1u << BEV_NEAREST,
                            .launch = launch_learner};

/* Calls the kernel once for each output, on a GPU in a session of its own. */
static bool run_all_calls(void) {
    JobState state = JOB_DONE;
    Err err;
    for (int i = JOB_INPUTS; state == JOB_DONE && i < runner.array_count; i++) {
        const BevProblem problem = make_problem(runner.arrays, runner.arrays[i]);
        Session *session = NULL;
        if (!runner.header->cuda) {
            launch_learner(&problem, NULL, NULL, &err);
            continue;
        }
        state = JOB_CRASHED;
        if (session_open(&session, &learner, &problem, &err) && session_poison(session, &err) &&
            session_run(session, &err) && session_read(session, problem.out.data, &err))
            state = session_inputs_untouched(session, &err) ? JOB_DONE : JOB_TRESPASSED;
        session_close(session);
    }
    return state == JOB_DONE || end_run(state, err.what);
}

/* Times a kernel by a session, as in bench. The inputs are copied to ordinary memory, which other
 * programs use. The memory ends with the process. */
static bool time_kernel(void) {
    const JobHeader *header = runner.header;
    const BevKernel *kernel = header->instead[0] ? bev_kernel_find(header->instead) : &learner;
    const BevTensor *like = &header->problem.out;
    void *inputs[JOB_INPUTS];
    float *out = malloc((size_t)(like->rows * like->row_len) * sizeof *out);
    Session *session = NULL;
    Err err;
    bool has_memory = out != NULL;
    for (int i = 0; has_memory && i < JOB_INPUTS; i++) {
        inputs[i] = malloc(header->arrays[i].bytes + 1);
        has_memory = inputs[i] != NULL;
        if (has_memory)
            memcpy(inputs[i], runner.arrays[i], header->arrays[i].bytes);
    }
    if (!has_memory)
        return end_run(JOB_FAILED, "out of memory");
    const BevProblem problem = make_problem(inputs, out);
    bool ok =
        session_open(&session, kernel, &problem, &err) &&
        session_time(session, CACHE_WARM, &header->timing, &runner.header->report.timing, &err);
    session_close(session);
    return ok || end_run(JOB_FAILED, err.what);
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
 * RLIMIT_NPROC counts all threads of the user, so that its limit must be above the number of
 * threads in the system. AddressSanitizer reserves more address space than a limit allows. */
static void limit_process(void) {
    rlim_t cores = (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
    /* 4 GiB, a stack and a heap for each thread, and three times the arrays. */
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
    if (sysinfo(&info) != 0)
        return;
    rlim_t threads = info.procs + 2 * cores + 32;
    set_limit(RLIMIT_NPROC, threads, threads);
}

/* Loads the learner's function from an open file. False: the report says why. */
static bool load_library(const char *file) {
    char *image = NULL;
    size_t length;
    Err err;
    const ShortText path = short_text("/proc/self/fd/%s", file);
    if (runner.header->cuda) {
        learner.where = BEV_CUDA;
        bool ok = device_open(0, &err) && data_read(path.text, MAX_IMAGE, &image, &length, &err) &&
                  nvrtc_load(image, "pool", &err);
        free(image);
        return ok || end_run(JOB_NO_LIBRARY, err.what);
    }
    void *library = dlopen(path.text, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return end_run(JOB_NO_LIBRARY, dlerror());
    return find_function(library, "pool", &runner.pool) || end_run(JOB_NO_FUNCTION, "");
}

/* ---- compiling for a GPU --------------------------------------------------------------------- */

bool gpu_possible(Err *err) {
    return HAS_CUDA || device_open(0, err);
}

/* Compiles the file `name` into an open file. Prints the compiler's messages, or why there is no
 * GPU. Returns the exit status. */
static int compile_for_gpu(const char *name, int code) {
    char headers[PATH_MAX], line[1024], *source = NULL;
    size_t length;
    NvrtcResult result = {0};
    Err err = {0};
    bool ok = data_read(name, MAX_SOURCE, &source, &length, &err) &&
              data_path("samples/try", headers, sizeof headers, &err) &&
              nvrtc_compile(source, name, headers, &result, &err);
    if (result.log)
        fputs(result.log, stdout);
    if (ok && !data_write_all(code, result.image, result.bytes))
        ok = err_set(&err, ERR_FAILED, name, "", "the machine code cannot be written");
    free(source);
    free(result.image);
    free(result.log);
    err_line(&err, line, sizeof line);
    if (!ok && err.kind == ERR_DEVICE)
        puts(line);
    return ok ? 0 : (int)err.kind;
}

int try_runner(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[2], try_compile_word))
        return compile_for_gpu(argv[3], atoi(argv[4]));
    if (argc != 4 || !map_job(atoi(argv[2]))) {
        fputs("bevscope: this word is for bevscope try alone\n", stderr);
        return ERR_USAGE;
    }
    watch_signals();
    if (!runner.header->cuda) /* a CUDA driver needs more than these limits */
        limit_process();
    if (runner.header->instead[0] || load_library(argv[3])) {
        runner.header->report.state = JOB_RUNNING;
        if (runner.header->calls ? run_all_calls() : time_kernel())
            runner.header->report.state = JOB_DONE;
    }
    fflush(NULL);
    _exit(runner.header->report.state == JOB_DONE ? EXIT_SUCCESS : EXIT_FAILURE);
}
