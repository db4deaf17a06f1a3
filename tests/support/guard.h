/* SPDX-License-Identifier: MIT */
/* A copy of a problem whose arrays have guard bands on both sides: shows whether a kernel wrote
 * outside an array or changed an input. */
#pragma once

#include "kernels/bevpool.h"

enum { GUARD_BUFFERS = 16, GUARD_BYTES = 4096 };

typedef struct {
    BevProblem view; /* the copy that kernels see */
    struct {
        const char *name;
        unsigned char *memory; /* band, payload, band */
        size_t bytes;          /* of the payload */
        const void *original;  /* what an input must equal; NULL: an output */
    } buffers[GUARD_BUFFERS];
    int count;
} Guarded;

/* Copies all arrays of `problem`, which must outlive the copy. False without memory. */
bool guard_init(Guarded *guarded, const BevProblem *problem);
void guard_free(Guarded *guarded);

/* The name of the first array outside of which something was written, or NULL. */
const char *guard_broken(const Guarded *guarded);

/* The name of the first input that differs from the original, or NULL. */
const char *guard_changed(const Guarded *guarded);
