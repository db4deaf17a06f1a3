/* SPDX-License-Identifier: MIT */
/* How teams wait for work, seen by the processor time that they take while there is none. */
#include "src/base/omp_wait.h"
#include "src/base/units.h"
#include "tests/support/load.h"

#include <time.h>
#include <unistd.h>

enum { ROUNDS = 21, WAIT_MS = 6 };

static double processor_ms(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec * 1e-6;
}

static void work_together(void) {
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members++;
    (void)members;
}

/* Processor time of next to no work and a wait of WAIT_MS, in most of ROUNDS. A thread may well
 * spin before the other one, on the same core, comes to end the work. */
static double waiting_ms(void) {
    double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double begun = processor_ms();
        work_together();
        nanosleep(&(struct timespec){0, WAIT_MS * 1000000}, NULL);
        took[i] = processor_ms() - begun;
    }
    sort_ascending(took, ROUNDS);
    return took[ROUNDS / 2];
}

/* Prints what was measured. A process of its own: libgomp reads the policy before main(). */
TAP_ALONE(omp_wait) {
    Worker idle_team;
    double before_ms = waiting_ms();
    worker_open(&idle_team);
    omp_wait_active(&idle_team);
    omp_wait_passive(&idle_team);
    work_together();
    nanosleep(&(struct timespec){0, 20 * 1000000}, NULL);
    double passive_ms = waiting_ms();
    omp_wait_active(&idle_team);
    double active_ms = waiting_ms();
    omp_wait_passive(&idle_team);
    worker_stop(&idle_team);
    printf("%f %f %f %f\n", before_ms, passive_ms, active_ms, waiting_ms());
    return EXIT_SUCCESS;
}

TAP_SUITE(omp_wait) {
    const double least_ms = 0.5; /* of spinning, that is told apart from going to sleep */
    double before_ms, passive_ms, active_ms, after_ms;
#ifdef __clang__
    tap_skip_suite("clang's OpenMP library is not libgomp");
#endif
    const Load before = load_now();
    FILE *measured =
        popen("exec env -u OMP_WAIT_POLICY /proc/$PPID/exe --alone omp_wait", "r");
    tap_need(measured, "a process");
    bool said = fscanf(measured, "%lf %lf %lf %lf", &before_ms, &passive_ms, &active_ms,
                       &after_ms) == 4;
    tap_need(pclose(measured) == 0 && said, "the policy is changed by a process of its own");
    if (before_ms < least_ms)
        tap_skip_suite("teams of this OpenMP library do not spin here");
    tap_note("processor time of %d ms with next to no work: %.2f ms, passive %.2f, active %.2f, "
             "after %.2f",
             WAIT_MS, before_ms, passive_ms, active_ms, after_ms);
    tap_ok_unless_loaded(passive_ms < least_ms, &before, "teams sleep while they wait");
    tap_ok(active_ms >= least_ms, "where the policy is active they spin");
    tap_ok(after_ms >= least_ms, "and afterwards as before");
}
