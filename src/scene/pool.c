/* SPDX-License-Identifier: MIT */
#include "src/scene/problem.h"

#include <stdlib.h>

enum { WORKSPACE_ALIGN = 256 };

bool problem_pool(const BevKernel *kernel, const BevProblem *problem, Err *err) {
    BevProblem given = *problem;
    BevPlan *plan = NULL;
    bool ok = !kernel->prepare || kernel->prepare(problem, &plan, err);
    size_t bytes = ok && kernel->workspace_bytes ? kernel->workspace_bytes(problem, plan) : 0;
    given.workspace = bytes ? aligned_alloc(WORKSPACE_ALIGN, (bytes + WORKSPACE_ALIGN - 1) /
                                                                 WORKSPACE_ALIGN * WORKSPACE_ALIGN)
                            : NULL;
    if (bytes && !given.workspace)
        ok = err_no_memory(err, kernel->name, "choose a smaller scene");
    ok = ok && kernel->launch(&given, plan, NULL, err);
    if (kernel->release)
        kernel->release(plan);
    free(given.workspace);
    return ok;
}
