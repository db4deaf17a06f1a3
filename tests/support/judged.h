/* SPDX-License-Identifier: MIT */
/* What the gates judge: a case by its name, a problem with right results, a kernel's results. */
#pragma once

#include "src/accuracy/cases.h"
#include "src/accuracy/gates.h"
#include "tests/support/tap.h"

/* case_free() frees it. */
static inline CaseData open_case(const char *name, BevAlign align, int channel_divisor,
                                 uint64_t seed) {
    CaseData data;
    int number = 0;
    while (number < case_count() && strcmp(case_at(number).name, name))
        number++;
    tap_need(number < case_count(), name);
    Case c = case_at(number);
    tap_need(case_build(&c, align, channel_divisor, seed, &data, NULL), name);
    return data;
}

/* The case as a problem; problem_free() frees it. */
static inline HostProblem case_problem(const CaseData *data, BevDtype dtype, BevAlign align) {
    HostProblem host;
    tap_need(problem_encode(&host, &data->shape, dtype, align, &data->features, &data->map, NULL),
             "a problem");
    return host;
}

/* A problem in whole numbers: any order of additions gives the same sums. */
static inline HostProblem exact_problem(const CaseData *data, BevDtype dtype, BevAlign align,
                                        const BevMap *map, uint64_t seed) {
    HostProblem host;
    const BevProblem like = bev_bare_problem(&data->shape, map, BEV_FORWARD, dtype, align);
    tap_need(gate_exact_like(&host, &like, seed, NULL), "an exact problem");
    return host;
}

/* Backward, by a random grad_out, which the caller frees after the problem. */
static inline float *case_backward(HostProblem *host, uint64_t seed) {
    float *values = random_grad_out(&host->view.shape, seed);
    tap_need(values && problem_set_grad_out(host, values, NULL), "a grad_out");
    return values;
}

/* A problem, the right results in FP64, and the outputs one after another. */
typedef struct {
    HostProblem host;
    double *reference, *abs_sum;
    int32_t *terms; /* of each row */
    uint8_t *bad;   /* a flag for each row */
    uint8_t *codes;
} Judged;

/* Takes over `host`. */
static inline Judged judged(HostProblem host) {
    size_t values = (size_t)gate_values(&host.view), rows = (size_t)gate_rows(&host.view);
    Judged j = {.host = host,
                .reference = malloc(values * sizeof *j.reference),
                .abs_sum = malloc(values * sizeof *j.abs_sum),
                .terms = gate_terms(&host.view, NULL),
                .bad = calloc(rows, 1),
                .codes = malloc(bev_output_bytes(&host.view))};
    tap_need(j.reference && j.abs_sum && j.terms && j.bad && j.codes, "memory");
    gate_reference(&host.view, j.reference, j.abs_sum);
    return j;
}

/* The same in whole numbers, as gate C judges. */
static inline Judged judged_exact(const Judged *like, uint64_t seed) {
    HostProblem exact;
    tap_need(gate_exact_like(&exact, &like->host.view, seed, NULL), "an exact problem");
    return judged(exact);
}

static inline void judged_free(Judged *j) {
    problem_free(&j->host);
    free(j->reference);
    free(j->abs_sum);
    free(j->terms);
    free(j->bad);
    free(j->codes);
}

/* Computes the outputs, poisoned before, of the judged problem, or of it with other inputs. */
static inline void judged_run(const BevKernel *kernel, const BevProblem *problem) {
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    Err err;
    for (int i = 0, count = bev_outputs(problem, outputs); i < count; i++)
        memset(outputs[i]->data, 0xff, bev_tensor_bytes(outputs[i]));
    if (!problem_pool(kernel, problem, &err))
        tap_ok(false, "%s: %s", kernel->name, err.what);
}

static inline const uint8_t *judged_codes(Judged *j) {
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    uint8_t *to = j->codes;
    for (int i = 0, count = bev_outputs(&j->host.view, outputs); i < count; i++) {
        memcpy(to, outputs[i]->data, bev_tensor_bytes(outputs[i]));
        to += bev_tensor_bytes(outputs[i]);
    }
    return j->codes;
}

static inline GateResult judged_a(Judged *j) {
    return gate_kernel(&j->host.view, BEV_FP32, judged_codes(j), j->reference, j->abs_sum, j->terms,
                       j->bad);
}

static inline GateResult judged_c(Judged *j) {
    return gate_exact(&j->host.view, judged_codes(j), j->reference, j->terms, j->bad);
}

/* Of an exact problem, backward; else skipped. */
static inline GateVerdict judged_adjoint(Judged *j) {
    GateAdjoint sums = {.verdict = GATE_SKIP};
    if (j->host.view.direction == BEV_BACKWARD)
        gate_adjoint(&j->host.view, judged_codes(j), j->reference, &sums, NULL);
    return sums.verdict;
}

/* A problem in random numbers and like it in whole ones, and what gates A and C say of them. */
typedef struct {
    Judged random, exact;
    GateResult a, c;
} JudgedPair;

static inline JudgedPair judged_pair(HostProblem host, uint64_t seed) {
    JudgedPair pair = {.random = judged(host)};
    pair.exact = judged_exact(&pair.random, seed);
    return pair;
}

static inline void judged_pair_run(JudgedPair *pair, const BevKernel *kernel) {
    judged_run(kernel, &pair->random.host.view);
    judged_run(kernel, &pair->exact.host.view);
    pair->a = judged_a(&pair->random);
    pair->c = judged_c(&pair->exact);
}

static inline void judged_pair_free(JudgedPair *pair) {
    judged_free(&pair->random);
    judged_free(&pair->exact);
}
