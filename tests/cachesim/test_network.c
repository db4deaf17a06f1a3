/* SPDX-License-Identifier: MIT */
/* Whole networks, of which pooling is a part: the two that come with the program, and Amdahl's
 * law. */
#include "src/cachesim/network.h"
#include "tests/support/tap.h"

#include <math.h>

/* The totals as their authors print them: 13.817 and 55.044 ms. */
static void test_shipped(void) {
    Networks networks;
    Err err;
    tap_ok(networks_open(NULL, &networks, &err) && networks.count == NETWORKS, "both are read");
    tap_ok(fabs(network_ms(&networks.list[0]) - 13.817) < 5e-4 &&
               fabs(network_ms(&networks.list[1]) - 55.044) < 5e-4,
           "their stages add up to the published totals");
}

static void test_speedup(void) {
    const Network network = {.part_ms = {[NETWORK_IMAGE] = 60, [NETWORK_POOLING] = 40}};
    tap_ok(network_speedup(&network, 1) == 1, "the same pooling: the same network");
    tap_ok(fabs(network_speedup(&network, 4) - 100 / 70.0) < 1e-12,
           "a quarter of 40 leaves 70 of 100");
    tap_ok(fabs(network_speedup(&network, INFINITY) - 100 / 60.0) < 1e-12, "the bound is the rest");
}

TAP_SUITE(network) {
    test_shipped();
    test_speedup();
}
