/* Reference counted memory. A finished frame and the next ones share the same features as long as
 * those stay the same. Contents do not change once they have a second owner. */
#pragma once

#include <stddef.h>

/* Allocates zeroed memory with one owner; `destroy` is called on it when the last owner drops it.
 * NULL: out of memory. */
void *ref_new(size_t size, void (*destroy)(void *contents));

/* Adds an owner and returns `contents`; removes an owner. Both accept NULL, from any thread. */
void *ref_keep(void *contents);
void ref_drop(void *contents);
