/* Kernels run through libbevpool, as the program's export runs them: the bits that a session gives,
 * on scenes, formats, aligns, grids with height and both directions; and what errors say. On a GPU
 * too, where there is one. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/cli/library_run.h"
#include "src/run/session.h"
#include "tests/support/scenes.h"
#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <math.h>

enum { ANY_BYTE = 0x5a };

typedef struct {
    int compared, differ, refused;
} Count;

static bool run_session(const BevKernel *kernel, const BevProblem *problem, void *codes, Err *err) {
    Session *session = NULL;
    bool ok = session_open(&session, kernel, problem, err) && session_poison(session, err) &&
              session_run(session, err) && session_read(session, codes, err);
    session_close(session);
    return ok;
}

/* Both ways fail, or both give the same bytes and none of those that were there before. */
static void compare(const BevKernel *kernel, const BevProblem *problem, Count *count) {
    size_t bytes = bev_output_bytes(problem);
    void *want = malloc(bytes), *got = malloc(bytes);
    tap_need(want && got, "memory");
    memset(want, ANY_BYTE, bytes);
    memset(got, ~ANY_BYTE, bytes);
    Err session_err = {0}, err = {0};
    bool runs = run_session(kernel, problem, want, &session_err);
    bool same = library_run(kernel, problem, got, &err) == runs &&
                (runs ? !memcmp(want, got, bytes) : err.kind == session_err.kind);
    count->compared += runs;
    count->refused += !runs;
    count->differ += !same;
    if (!same) {
        tap_note("%s, %s, %s:", kernel->name, bev_dtypes[problem->dtype].name,
                 bev_aligns[problem->align].name);
        ok_or_note(runs, &session_err);
        ok_or_note(!err.what[0], &err);
    }
    free(want);
    free(got);
}

/* All rows of a direction on one problem. */
static void compare_rows(Workload *workload, BevWhere where, BevDirection direction, BevDtype dtype,
                         BevAlign align, Count *count) {
    HostProblem problem = {.saturated = 0};
    Err err = {0};
    bool made = direction == BEV_FORWARD
                    ? workload_problem(workload, dtype, align, &problem, &err)
                    : workload_problem_backward(workload, dtype, align, &problem, &err);
    tap_need(ok_or_note(made, &err), "a problem");
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where == where && kernel->direction == direction && kernel->deterministic &&
            library_has(kernel))
            compare(kernel, &problem.view, count);
    }
    problem_free(&problem);
}

/* Every format and align of the masks. */
static void compare_scene(const char *name, int64_t channels, BevWhere where, unsigned dtypes,
                          unsigned aligns) {
    const WorkloadOptions options = {.channels = channels};
    Workload workload;
    Count count = {0};
    Err err = {0};
    tap_need(ok_or_note(workload_open(&workload, name, &options, &err), &err), name);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        for (int align = 0; align < BEV_ALIGN_COUNT; align++)
            for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++)
                if (dtypes >> dtype & 1 && aligns >> align & 1 &&
                    (direction == BEV_FORWARD || backward_dtypes >> dtype & 1) &&
                    workload_has_align(&workload, (BevAlign)align))
                    compare_rows(&workload, where, (BevDirection)direction, (BevDtype)dtype,
                                 (BevAlign)align, &count);
    tap_ok(count.compared >= 8 && !count.differ,
           "%s on %s: %d runs, %d refused by both, %d differ from a session", name,
           where == BEV_CPU ? "the CPU" : "the GPU", count.compared, count.refused, count.differ);
    workload_close(&workload);
}

static void compare_scenes(BevWhere where) {
    enum { ALL = -1, PLAIN = 1 << BEV_FP32 | 1 << BEV_FP16, FLAT = 1 << BEV_NEAREST };
    compare_scene("toy", 0, where, (unsigned)ALL, (unsigned)ALL);
    compare_scene("target", 8, where, 1 << BEV_FP16, (unsigned)ALL);
    compare_scene("occupancy", 8, where, 1 << BEV_FP16, FLAT);
    compare_scene("histogram", 0, where, PLAIN, (unsigned)ALL);
    compare_scene("embedding_bag", 0, where, 1 << BEV_FP16, (unsigned)ALL);
}

static void test_has(void) {
    int there = 0, missing = 0, wrong = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        bool has = library_has(kernel);
        if (kernel->stage != BEV_POOL)
            continue; /* a plan with a view takes those */
        there += has;
        missing += kernel->launch && !has;
        wrong += has != (kernel->launch && !kernel->wrong_on_purpose);
    }
    tap_ok(there >= 8 && missing >= 1 && !wrong,
           "the library has %d kernels, all but %d that are wrong on purpose", there, missing);
}

/* The line of the error, which must be of that kind and hold the words. */
static void refuses(const BevKernel *kernel, const BevProblem *problem, const char *words) {
    Err err = {0};
    char line[1024];
    void *codes = malloc(bev_output_bytes(problem));
    tap_need(codes != NULL, "memory");
    bool ran = library_run(kernel, problem, codes, &err);
    err_line(&err, line, sizeof line);
    tap_ok(!ran && err.kind == ERR_FAILED && strstr(line, words) == line && !strchr(line, '\n'),
           "%s", line);
    free(codes);
}

static void test_errors(void) {
    const BevKernel *kernel = bev_kernel_find("cpu_v3");
    OpenProblem *opened = open_problem("toy", BEV_FP8, BEV_NEAREST, 0, BEV_FORWARD);
    BevProblem *view = &opened->problem.view;
    int32_t first = view->map.ranks_bev[0];
    view->map.ranks_bev[0] = -1;
    refuses(kernel, view, "libbevpool: map: ranks_bev[0]");
    view->map.ranks_bev[0] = first;
    view->out.scale = NAN;
    refuses(kernel, view, "libbevpool: out: has scale nan");
    view->out.scale = 1;
    refuses(bev_kernel_find("cpu_race"), view, "libbevpool: kernel cpu_race: not among those");
    close_problem(opened);
}

/* Why no GPU can be used; "": one is open. */
static const char *no_gpu(void) {
#ifdef HAVE_CUDA
    static Err err;
    return device_open(0, &err) ? "" : err.what;
#else
    return "built without CUDA";
#endif
}

TAP_SUITE(library_run) {
    test_has();
    test_errors();
    compare_scenes(BEV_CPU);
    if (no_gpu()[0])
        tap_skip("kernels on a GPU", no_gpu());
    else
        compare_scenes(BEV_CUDA);
}

/* Every format on scenes of some size. */
TAP_HARD_SUITE(library_run_formats) {
    compare_scene("target", 8, BEV_CPU, -1U, -1U);
    compare_scene("embedding_bag", 0, BEV_CPU, 1 << BEV_FP32, -1U);
}
