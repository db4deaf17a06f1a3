/* When a rung of the live display is timed again. */
#include "src/live/timed_kernel.h"
#include "tests/tap.h"

enum { MANY = 100 };

static const BevVariant variant = {.name = "v", .where = BEV_CPU};

static TimedRung fresh_rung(void) {
    TimedRung rung = {.cost_us = 0};
    Choice choice = {.variant = &variant};
    rung_restart(&rung, &choice);
    return rung;
}

/* Samples of the lane until it is complete, or MANY; how many it took. */
static int fill(TimedRung *rung, double us, bool disturbed) {
    LaneSample sample = {.launch_us = us, .busy_us = us};
    int taken = 0;
    for (; taken < MANY && !rung->complete; taken++)
        rung_add_lane_sample(rung, &sample, disturbed);
    return taken;
}

static void test_lane(void) {
    TimedRung rung = fresh_rung();
    tap_ok(rung_due(&rung, true) && rung_due(&rung, false), "a rung without a figure is due");
    rung.cost_us = 50e3;
    tap_ok(rung_needs_lane(&rung), "one that takes 50 ms needs the lane");
    tap_ok(fill(&rung, 50e3, true) < MANY, "samples beside pictures complete it");
    tap_ok(!rung_due(&rung, false), "which will do while they go on");
    tap_ok(rung_due(&rung, true), "but not once they stand");
    rung_add_lane_sample(&rung, &(LaneSample){.launch_us = 40e3, .busy_us = 40e3}, false);
    tap_ok(rung.count == 1 && !rung.complete, "the first sample taken alone is the only one");
    fill(&rung, 40e3, false);
    tap_ok(!rung_due(&rung, true) && rung.live.median_us.value == 40e3,
           "and with others like it all that is wanted");
}

/* A launch at the border of what keys can wait for is slow once and then not. */
static void test_from_lane_to_row(void) {
    TimedRung rung = fresh_rung();
    rung.cost_us = 11e3;
    fill(&rung, 11e3, true);
    rung.cost_us = 9e3;
    tap_ok(!rung_needs_lane(&rung) && rung_due(&rung, true),
           "faster than was thought: due in a row");
    rung_begin(&rung);
    for (int i = 0; i < RUNG_SAMPLES; i++)
        rung_add_sample(&rung, 9e3);
    rung_publish_samples(&rung, 0);
    rung.complete = true;
    rung_done(&rung);
    tap_ok(!rung_due(&rung, true), "a row is taken alone: then it rests");
    tap_ok(rung.live.median_us.value == 9e3, "with the row's median");
}

int main(void) {
    test_lane();
    test_from_lane_to_row();
    return tap_done();
}
