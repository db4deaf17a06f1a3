/* The kernel that loses updates: it does where threads share a cell, it does not where each point
 * has its own, and it loses the same ones in every run and with any number of real threads. The
 * kernel with atomic additions loses none. */
#include "src/accuracy/gates.h"
#include "src/run/session.h"
#include "src/accuracy/cases.h"
#include "tests/support/tap.h"

#ifdef _OPENMP
#include <omp.h>
#else
static void omp_set_num_threads(int threads) {
    (void)threads;
}
#endif

enum { SEED = 11 };

/* A case in whole numbers, so that any order of additions gives the same sum. */
typedef struct {
    CaseData data;
    HostProblem host;
    double *reference;
    void *codes;
} Subject;

static bool subject_init(Subject *subject, const char *name, BevAlign align, Err *err) {
    int number = 0;
    *subject = (Subject){.codes = NULL};
    while (strcmp(case_at(number).name, name) != 0)
        number++;
    Case c = case_at(number);
    if (!case_build(&c, align, 1, SEED, &subject->data, err) ||
        !gate_exact_problem(&subject->host, &subject->data.shape, BEV_FP32, align,
                            &subject->data.map, SEED, err))
        return false;
    const BevTensor *out = &subject->host.view.out;
    subject->reference = malloc((size_t)(out->rows * out->row_len) * sizeof(double));
    subject->codes = malloc(bev_tensor_bytes(out));
    bev_reference(&subject->host.view, subject->reference, NULL);
    return true;
}

static void subject_free(Subject *subject) {
    case_free(&subject->data);
    problem_free(&subject->host);
    free(subject->reference);
    free(subject->codes);
}

/* Pools with so many real threads; the number of outputs that are not the reference. -1: failed. */
static int64_t wrong_outputs(Subject *subject, const char *kernel, int threads) {
    Session *session;
    Err err;
    omp_set_num_threads(threads);
    if (!session_open(&session, bev_kernel_find(kernel), &subject->host.view, &err))
        return -1;
    bool ok = session_poison(session, &err) && session_run(session, &err) &&
              session_read(session, subject->codes, &err);
    session_close(session);
    if (!ok)
        return -1;
    const BevProblem *problem = &subject->host.view;
    int32_t *points = gate_terms(problem, &err);
    if (!points)
        return -1;
    int64_t bad = gate_exact(problem, subject->codes, subject->reference, points, NULL).bad;
    free(points);
    return bad;
}

static void test_case(const char *name, BevAlign align, bool crowded) {
    Subject subject;
    Err err = {0};
    if (!tap_ok(subject_init(&subject, name, align, &err), "%s is built", name)) {
        subject_free(&subject);
        return;
    }
    size_t bytes = bev_tensor_bytes(&subject.host.view.out);
    void *first = malloc(bytes);
    int64_t lost = wrong_outputs(&subject, "cpu_race", 1);
    memcpy(first, subject.codes, bytes);
    int64_t again = wrong_outputs(&subject, "cpu_race", 3);
    tap_ok(crowded ? lost > 0 : lost == 0, "%s %s: cpu_race has %lld outputs wrong", name,
           bev_aligns[align].name, (long long)lost);
    tap_ok(lost == again && !memcmp(first, subject.codes, bytes),
           "and the same bits with three threads");
    tap_ok(wrong_outputs(&subject, "cpu_atomic", 1) == 0 &&
               wrong_outputs(&subject, "cpu_atomic", 3) == 0,
           "cpu_atomic has none wrong, with one thread or three");
    free(first);
    subject_free(&subject);
}

TAP_SUITE(race) {
    test_case("one_cell", BEV_NEAREST, true);
    test_case("long_interval_c19", BEV_NEAREST, true);
    test_case("ragged", BEV_BILINEAR, true);
    test_case("one_per_cell", BEV_NEAREST, false);
    test_case("no_points", BEV_NEAREST, false);
}
