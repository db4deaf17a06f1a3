/* SPDX-License-Identifier: MIT */
/* Kernels of a test's own, on the CPU. */
#pragma once

#include "kernels/bevpool.h"

/* `LAUNCH(name) { ...; return true; }`: what a kernel does; not all of it looks at the problem. */
#define UNUSED_ __attribute__((unused))
#define LAUNCH(name_)                                                                              \
    static bool name_(UNUSED_ const BevProblem *problem, UNUSED_ const BevPlan *plan,              \
                      UNUSED_ void *stream, UNUSED_ Err *err)
#define PREPARE(name_)                                                                             \
    static bool name_(UNUSED_ const BevProblem *problem, UNUSED_ BevPlan **plan, UNUSED_ Err *err)

/* A kernel of any format and align; then what else is to be said of it. */
#define TEST_KERNEL(name_, ...)                                                                    \
    (BevKernel) {                                                                                  \
        .name = name_, .title = name_, .where = BEV_CPU, .dtypes = ~0u, .aligns = ~0u, __VA_ARGS__ \
    }
