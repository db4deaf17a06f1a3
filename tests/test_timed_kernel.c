/* When a kernel of the live display is timed again. */
#include "src/live/timed_kernel.h"
#include "src/state/live_text.h"
#include "tests/tap.h"

enum { MANY = 100 };

static const BevKernel row = {.name = "v", .where = BEV_CPU};

static TimedKernel fresh_kernel(void) {
    TimedKernel timed = {.cost_us = 0};
    KernelConfig config = {.kernel = &row};
    timed_kernel_restart(&timed, &config);
    return timed;
}

/* Adds background launches until the kernel is complete, or MANY; returns how many it took. */
static int fill(TimedKernel *timed, double us, bool disturbed) {
    BackgroundJob job = {.launch_us = us, .busy_us = us};
    int taken = 0;
    for (; taken < MANY && !timed->complete; taken++)
        timed_kernel_add_launch(timed, &job, disturbed);
    return taken;
}

static void test_background(void) {
    TimedKernel timed = fresh_kernel();
    tap_ok(timed_kernel_due(&timed, true) && timed_kernel_due(&timed, false),
           "a kernel without a figure is due");
    timed.cost_us = 50e3;
    tap_ok(timed_kernel_needs_background(&timed),
           "one that takes 50 ms is launched in the background");
    tap_ok(fill(&timed, 50e3, true) < MANY, "samples beside pictures complete it");
    tap_ok(timed.live.protocol == TIMING_BESIDE_PICTURES && timed.live.unsettled,
           "the figure says so, and is not to be quoted");
    tap_ok(!timed_kernel_due(&timed, false), "which will do while they go on");
    tap_ok(timed_kernel_due(&timed, true), "but not once they stand");
    timed_kernel_add_launch(&timed, &(BackgroundJob){.launch_us = 40e3, .busy_us = 40e3}, false);
    tap_ok(timed.count == 1 && !timed.complete, "the first sample taken alone is the only one");
    fill(&timed, 40e3, false);
    tap_ok(!timed_kernel_due(&timed, true) && timed.live.median_us.value == 40e3,
           "and with others like it all that is wanted");
    tap_ok(timed.live.protocol == TIMING_BACKGROUND && !timed.live.unsettled,
           "a figure of single launches says so");
}

/* A launch at the border of what keys can wait for is slow once and then not. */
static void test_from_background_to_row(void) {
    TimedKernel timed = fresh_kernel();
    timed.cost_us = 11e3;
    fill(&timed, 11e3, true);
    timed.cost_us = 9e3;
    tap_ok(!timed_kernel_needs_background(&timed) && timed_kernel_due(&timed, true),
           "faster than was thought: due in a row");
    timed_kernel_begin(&timed);
    for (int i = 0; i < TIMED_KERNEL_SAMPLES; i++)
        timed_kernel_add_sample(&timed, 9e3);
    timed_kernel_publish_samples(&timed, 0);
    timed.complete = true;
    timed_kernel_done(&timed);
    tap_ok(!timed_kernel_due(&timed, true), "a row is taken alone: then it rests");
    tap_ok(timed.live.median_us.value == 9e3 && timed.live.protocol == TIMING_SERIES,
           "with the row's median, as of a warm series");
}

/* The protocol of a latency stands beside it, and under the table. */
static void test_marks(void) {
    LiveKernel kernels[] = {{.protocol = TIMING_SERIES},
                            {.protocol = TIMING_BACKGROUND},
                            {.protocol = TIMING_BESIDE_PICTURES}};
    Ladder ladder = {.count = 3};
    char marks[4] = "", note[96];
    for (int i = 0; i < ladder.count; i++) {
        kernels[i].median_us = reading(1, SOURCE_MEASURED);
        ladder.kernels[i] = &kernels[i];
        strcat(marks, ladder_mark(&kernels[i]));
    }
    ladder_note(&ladder, note, sizeof note);
    tap_ok(!strcmp(marks, "sb") && !strcmp(note, "measured, s single launches, b beside pictures"),
           "marks say how it was timed");
}

int main(void) {
    test_marks();
    test_background();
    test_from_background_to_row();
    return tap_done();
}
