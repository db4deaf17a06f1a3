/* SPDX-License-Identifier: MIT */
/* checkbev: every kernel, format and align on every case, against the reference.
 *
 * Each kernel runs on poisoned outputs between guard bands. Gate A judges random inputs, on which
 * the kernel runs twice, and gate C judges exact inputs. Inputs depend only on the case and the
 * seed, so that a failure can be repeated. One TAP line per (kernel, format, align). */
#include "src/run/session.h"
#include "tests/support/guard.h"
#include "tests/support/judged.h"

#include <getopt.h>

enum { MAX_VARIANTS = 64, EXIT_SKIP = 77, EXIT_USAGE = 2, MAP_COLUMNS = 60, MAP_ROWS = 20 };

/* The results of one (kernel, format, align). */
typedef struct {
    int cases, failures;
    int errors;  /* of the failures: it could not run, or wrote where it must not */
    int crowded; /* cases in which a race is likely */
    bool varies;
    char skipped[256]; /* a reason, or empty */
} Tally;

static struct {
    bool asked; /* options say what to run; else a ring does, as where RING is set */
    bool where_given, full;
    BevWhere where;
    const char *filter;
    uint64_t seed;
    Tally tallies[MAX_VARIANTS][BEV_DTYPE_COUNT][BEV_ALIGN_COUNT];
} check = {.seed = 1};

static bool matches(const char *name) {
    return !check.filter || strstr(name, check.filter);
}

static bool kernel_wanted(const BevKernel *kernel) {
    return kernel->launch && (!check.where_given || kernel->where == check.where);
}

/* ---- one problem and its reference ----------------------------------------------------------- */

/* A problem with its right results, and the copy with guard bands that kernels get. */
typedef struct {
    Judged judged;
    Guarded guarded;
} Subject;

static void subject_init(Subject *subject, Judged judged) {
    subject->judged = judged;
    tap_need(guard_init(&subject->guarded, &subject->judged.host.view), "memory");
}

static void subject_free(Subject *subject) {
    guard_free(&subject->guarded);
    judged_free(&subject->judged);
}

/* One case in one direction, format and align, for all kernels. */
typedef struct {
    const Case *c;
    BevDirection direction;
    BevStage stage;
    BevDtype dtype;
    BevAlign align;
    float *grad_out; /* backward: of `random` */
    Subject random, exact;
    void *again; /* the outputs of another run of `random` */
    size_t code_bytes;
} Trial;

static void trial_free(Trial *trial) {
    subject_free(&trial->random);
    subject_free(&trial->exact);
    free(trial->again);
    free(trial->grad_out);
}

static void trial_init(Trial *trial, const CaseData *data) {
    HostProblem host = case_problem(data, trial->dtype, trial->align);
    if (trial->direction == BEV_BACKWARD)
        trial->grad_out = case_backward(&host, check.seed);
    tap_need(trial->stage != BEV_VIEW || problem_turn_view(&host, NULL), "its view");
    subject_init(&trial->random, judged(host));
    subject_init(&trial->exact, judged_exact(&trial->random.judged, check.seed));
    trial->code_bytes = bev_output_bytes(&host.view);
    trial->again = malloc(trial->code_bytes);
    tap_need(trial->again, "memory");
}

/* ---- one kernel on one problem -------------------------------------------------------------- */

static void note_error(const Trial *trial, const BevKernel *kernel, const char *step,
                       const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    tap_note("%s %s %s, case %s, %s: %s", kernel->name, bev_dtypes[trial->dtype].name,
             bev_aligns[trial->align].name, trial->c->name, step, line);
}

static void note_gate(const Trial *trial, const BevKernel *kernel, const char *gate,
                      const GateResult *result, const uint8_t *bad) {
    const BevShape *shape = &trial->random.judged.host.view.shape;
    char place[96];
    gate_describe_place(result, place, sizeof place);
    tap_note(
        "%s %s %s, case %s, gate %s: %lld of %lld bad, first (%s): got %.9g, want %.9g +- %.3g",
        kernel->name, bev_dtypes[trial->dtype].name, bev_aligns[trial->align].name, trial->c->name,
        gate, (long long)result->bad, (long long)result->checked, place, result->got, result->want,
        result->bound);
    if (trial->direction == BEV_BACKWARD)
        return; /* its rows are no cells */
    char *map = bad_cells_map(bad, shape->nx, shape->ny, MAP_COLUMNS, MAP_ROWS);
    for (char *line = map ? strtok(map, "\n") : NULL; line; line = strtok(NULL, "\n"))
        tap_note("  %s", line);
    free(map);
}

/* Poisons the outputs, runs and reads them. Fails if the kernel changed an input or wrote outside
 * an array. */
static bool run_clean(Session *session, const Subject *subject, void *codes, Err *err) {
    if (!session_poison(session, err) || !session_run(session, err) ||
        !session_read(session, codes, err) || !session_inputs_untouched(session, err))
        return false;
    const char *broken = guard_broken(&subject->guarded);
    const char *changed = guard_changed(&subject->guarded);
    if (changed)
        return err_set(err, ERR_FAILED, changed, "", "the kernel changed its inputs");
    return !broken || err_set(err, ERR_FAILED, broken, "", "written past an end");
}

/* Runs the kernel on one problem, twice if `again` is given; false with an error if that failed.
 * `first`: it writes an output with channels first, which comes back as all others. */
static bool run_kernel(const BevKernel *kernel, const Subject *subject, bool first, void *codes,
                       void *again, Err *err) {
    Session *session;
    BevProblem problem = subject->guarded.view;
    problem.out_samples = first;
    if (!session_open(&session, kernel, &problem, err))
        return false;
    bool ok = run_clean(session, subject, codes, err);
    ok = ok && (!again || run_clean(session, subject, again, err));
    session_close(session);
    return ok;
}

/* Whether gate A passes what random.judged.codes hold. */
static bool passes_a(Trial *trial, const BevKernel *kernel, bool quiet) {
    Judged *j = &trial->random.judged;
    GateResult a = gate_kernel(&j->host.view, kernel->accumulate[trial->dtype], j->codes,
                               j->reference, j->abs_sum, j->terms, j->bad);
    bool passed = gate_passes(&a, &j->host.view.map);
    if (!passed && !quiet)
        note_gate(trial, kernel, "A", &a, j->bad);
    return passed;
}

/* Whether the adjoint identity holds for the gradients of gate C's problem. */
static bool judge_adjoint(const Trial *trial, const BevKernel *kernel, bool quiet, Err *err) {
    GateAdjoint adjoint = {.verdict = GATE_SKIP};
    const Judged *exact = &trial->exact.judged;
    if (trial->direction == BEV_BACKWARD &&
        !gate_adjoint(&exact->host.view, exact->codes, exact->reference, &adjoint, err))
        return false;
    bool holds = adjoint.verdict != GATE_FAIL;
    if (!holds && !quiet)
        tap_note("%s: case %s, adjoint: %.17g, %.17g, %.17g", kernel->name, trial->c->name,
                 adjoint.pooled, adjoint.depth, adjoint.feat);
    return holds;
}

/* Whether the kernel is right on the trial. Prints notes on its first failure, unless it is wrong
 * on purpose. */
static bool judge(Trial *trial, const BevKernel *kernel, Tally *tally, Err *err) {
    bool quiet = kernel->wrong_on_purpose || tally->failures > 0;
    Judged *random = &trial->random.judged, *exact = &trial->exact.judged;
    if (!run_kernel(kernel, &trial->random, false, random->codes, trial->again, err))
        return false;
    bool same = !memcmp(random->codes, trial->again, trial->code_bytes);
    if (kernel->writes_first) {
        if (!run_kernel(kernel, &trial->random, true, trial->again, NULL, err))
            return false;
        same = same && !memcmp(random->codes, trial->again, trial->code_bytes);
    }
    tally->varies = tally->varies || !same;
    bool passed = passes_a(trial, kernel, quiet);
    if (!same && kernel->deterministic && !quiet)
        tap_note("%s: two runs differ on case %s", kernel->name, trial->c->name);
    if (!run_kernel(kernel, &trial->exact, kernel->writes_first, exact->codes, NULL, err))
        return false;
    GateResult c =
        gate_exact(&exact->host.view, exact->codes, exact->reference, exact->terms, exact->bad);
    if (!gate_passes(&c, &exact->host.view.map) && !quiet)
        note_gate(trial, kernel, "C", &c, exact->bad);
    return passed && gate_passes(&c, &exact->host.view.map) &&
           judge_adjoint(trial, kernel, quiet, err) && (same || !kernel->deterministic);
}

static void try_kernel(Trial *trial, const BevKernel *kernel, Tally *tally) {
    Err err = {.kind = 0};
    const char *reason = bev_unsupported(kernel, &trial->random.judged.host.view);
    if (reason || tally->skipped[0]) {
        if (reason && !tally->cases)
            snprintf(tally->skipped, sizeof tally->skipped, "%s", reason);
        return;
    }
    bool right = judge(trial, kernel, tally, &err);
    if (!right && err.kind == ERR_DEVICE && tally->cases == 0) {
        err_line(&err, tally->skipped, sizeof tally->skipped);
        return;
    }
    if (!right && err.kind)
        note_error(trial, kernel, "failed", &err);
    tally->cases++;
    tally->failures += !right;
    tally->errors += !right && err.kind;
    tally->crowded += trial->c->crowded;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool trial_wants(const Trial *trial, const BevKernel *kernel) {
    return kernel_wanted(kernel) && kernel->direction == trial->direction &&
           kernel->stage == trial->stage && (matches(trial->c->name) || matches(kernel->name));
}

/* Whether the format has this direction and some kernel is to be tried. */
static bool direction_wanted(const Trial *trial) {
    bool wanted = false;
    if ((trial->direction == BEV_BACKWARD && !(scaleless_dtypes & 1u << trial->dtype)) ||
        (trial->stage == BEV_VIEW && !(scaleless_dtypes & 1u << trial->dtype)))
        return false;
    for (int v = 0; bev_kernels[v]; v++)
        wanted = wanted || trial_wants(trial, bev_kernels[v]);
    return wanted;
}

static void try_kernels(Trial *trial, const CaseData *data) {
    trial_init(trial, data);
    for (int v = 0; bev_kernels[v]; v++)
        if (trial_wants(trial, bev_kernels[v]))
            try_kernel(trial, bev_kernels[v], &check.tallies[v][trial->dtype][trial->align]);
    trial_free(trial);
}

/* A case is run by the kernels whose name matches the filter, or by all if its own name does. */
static void try_case(const Case *c, BevAlign align) {
    CaseData data = open_case(c->name, align, check.full ? 1 : CASE_SHORTENED, check.seed);
    for (int way = 0; way < BEV_DIRECTION_COUNT * BEV_STAGE_COUNT; way++)
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
            Trial trial = {.c = c,
                           .direction = (BevDirection)(way % BEV_DIRECTION_COUNT),
                           .stage = (BevStage)(way / BEV_DIRECTION_COUNT),
                           .dtype = (BevDtype)dtype,
                           .align = align};
            if (direction_wanted(&trial))
                try_kernels(&trial, &data);
        }
    case_free(&data);
}

static bool any_kernel_matches(void) {
    for (int v = 0; bev_kernels[v]; v++)
        if (kernel_wanted(bev_kernels[v]) && matches(bev_kernels[v]->name))
            return true;
    return false;
}

/* Of the published configurations the first ring has the smallest, the second ring the others. */
static bool of_this_ring(const Case *c) {
    const char *ring = getenv("RING");
    bool later = c->config && strcmp(c->name, "small");
    return check.asked || later == (ring && !strcmp(ring, "hard"));
}

static void try_cases(void) {
    for (int i = 0; i < case_count(); i++) {
        Case c = case_at(i);
        if (!of_this_ring(&c) || (!matches(c.name) && !any_kernel_matches()))
            continue;
        for (int align = 0; align < BEV_ALIGN_COUNT; align++)
            if (align == BEV_NEAREST || !c.config || check.full)
                try_case(&c, (BevAlign)align);
    }
}

static void conclude(const BevKernel *kernel, int dtype, int align, const Tally *tally) {
    char name[128];
    snprintf(name, sizeof name, "%s %s %s", kernel->name, bev_dtypes[dtype].name,
             bev_aligns[align].name);
    const char *bits = tally->varies ? "varies" : "same bits";
    if (tally->skipped[0])
        tap_skip(name, tally->skipped);
    else if (tally->cases == 0)
        return; /* filtered out */
    else if (!kernel->wrong_on_purpose)
        tap_ok(tally->failures == 0, "%s: %d cases, %s", name, tally->cases, bits);
    else if (tally->crowded == 0 && !tally->errors)
        tap_skip(name, "wrong on purpose, and no case ran that would show it");
    else
        tap_ok(tally->failures > 0 && !tally->errors,
               "%s: fails as intended, on %d of %d cases, %s", name, tally->failures, tally->cases,
               bits);
}

static void conclude_all(void) {
    for (int v = 0; bev_kernels[v]; v++)
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            for (int align = 0; align < BEV_ALIGN_COUNT; align++)
                conclude(bev_kernels[v], dtype, align, &check.tallies[v][dtype][align]);
}

/* ---- the program ----------------------------------------------------------------------------- */

static const struct option options[] = {
    {"where", required_argument, NULL, 'w'},
    {"filter", required_argument, NULL, 'f'},
    {"full", no_argument, NULL, 'l'},
    {"seed", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: checkbev [--where cpu|cuda] [--filter NAME] [--full] [--seed N]\n"
    "  --where   only kernels that run there; exit 77 where there is no such device\n"
    "  --filter  only kernels or cases whose name contains NAME\n"
    "  --full    the published configurations with all their channels and every align\n"
    "  --seed    other random inputs (default 1)\n";

static bool parse(int argc, char **argv) {
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'w') {
            check.where_given = true;
            check.where = !strcmp(optarg, "cuda") ? BEV_CUDA : BEV_CPU;
            if (check.where == BEV_CPU && strcmp(optarg, "cpu"))
                return false;
        } else if (o == 'f')
            check.filter = optarg;
        else if (o == 'l')
            check.full = true;
        else if (o == 's')
            check.seed = strtoull(optarg, NULL, 0);
        else
            return false;
    }
    return optind == argc;
}

/* Why nothing can run where --where asked for it, or NULL: every line was skipped for that. */
static const char *device_missing(void) {
    static const char none[] = "no kernel for this device in this build";
    const char *reason = none;
    for (int v = 0; bev_kernels[v]; v++)
        for (int dtype = 0; kernel_wanted(bev_kernels[v]) && dtype < BEV_DTYPE_COUNT; dtype++)
            for (int align = 0; align < BEV_ALIGN_COUNT; align++) {
                const Tally *tally = &check.tallies[v][dtype][align];
                if (tally->cases)
                    return NULL;
                if (tally->skipped[0])
                    reason = tally->skipped;
            }
    return reason;
}

int main(int argc, char **argv) {
    if (!parse(argc, argv)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    check.asked = argc > 1 && !getenv("RING");
    tap_note("seed %llu", (unsigned long long)check.seed);
    try_cases();
    if (check.where_given && check.where == BEV_CUDA && !tap_totals.failures && device_missing()) {
        printf("1..0 # SKIP %s\n", device_missing());
        return EXIT_SKIP;
    }
    conclude_all();
    return tap_done();
}
