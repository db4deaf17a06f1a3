/* SPDX-License-Identifier: MIT */
/* Lets a caller end a long computation early. */
#pragma once

#include <stdbool.h>

/* Tells a long computation that its result is no longer wanted. Any thread may call `asked`. Once
 * `asked` returns true, it must return true until the computation has returned. A zeroed GiveUp
 * never asks. */
typedef struct {
    bool (*asked)(void *context);
    void *context;
} GiveUp;

/* Whether the computation is to end. `give_up` NULL: never. */
static inline bool given_up(const GiveUp *give_up) {
    return give_up && give_up->asked && give_up->asked(give_up->context);
}
