/* Moving through kernels, formats and aligns: what fits together, and what to say when it does not.
 */
#ifndef BEV_KERNEL_CONFIG_H
#define BEV_KERNEL_CONFIG_H

#include "src/state/state.h"

/* The rows of a backend, in lesson order. Returns their number. */
int choice_rungs(BevWhere where, const BevVariant **rungs, int max);

/* The row that a person means by `name` on that backend: its name ("cpu_v3"), the name without the
 * backend ("v3") or its title ("V2+DO"), in any case. NULL: none. */
const BevVariant *choice_find(BevWhere where, const char *name);

/* The row of the other backend that stands for the same rung, or that backend's V3, or its last. */
const BevVariant *choice_twin(const BevVariant *variant, BevWhere where);

/* The default baseline: the row titled V2 there, at the same format and align. */
Choice choice_baseline(const Choice *choice);

/* Makes format and align such that the kernel and the scene (`aligns`, a bit mask) take them.
 * Appends to `said` what had to change ("; V4 has no NVFP4: FP8"). */
void choice_settle(Choice *choice, unsigned aligns, char *said, size_t size);

#endif
