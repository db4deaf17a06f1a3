/* How a long computation is told to end early. */
#pragma once

#include <stdbool.h>

/* Tells a long computation that its result is no longer wanted. `asked` may be called from any
 * thread; once it returns true it must keep returning true until the computation has returned. A
 * zeroed GiveUp never asks. */
typedef struct {
    bool (*asked)(void *context);
    void *context;
} GiveUp;

/* Accepts NULL: never. */
static inline bool given_up(const GiveUp *give_up) {
    return give_up && give_up->asked && give_up->asked(give_up->context);
}
