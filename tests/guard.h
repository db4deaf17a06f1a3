/* A problem whose buffers lie between guard bands: a kernel that writes past an end is seen. */
#ifndef BEV_GUARD_H
#define BEV_GUARD_H

#include "kernels/bevpool.h"

enum { GUARD_BUFFERS = 10, GUARD_BYTES = 4096 };

typedef struct {
    BevProblem view; /* the copy that kernels see */
    struct {
        const char *name;
        unsigned char *memory; /* band, payload, band */
        size_t bytes;          /* of the payload */
    } buffers[GUARD_BUFFERS];
    int count;
} Guarded;

/* Copies all of `problem`'s arrays. False without memory. */
bool guard_init(Guarded *guarded, const BevProblem *problem);
void guard_free(Guarded *guarded);

/* The name of the first buffer whose band was written to, or NULL. */
const char *guard_broken(const Guarded *guarded);

#endif
