/* SPDX-License-Identifier: MIT */
/* Reference counted memory. Finished frames and new frames share features while the features stay
 * the same. The contents must not change once they have a second owner. */
#pragma once

#include <stddef.h>

/* Allocates zeroed memory with one owner. When the last owner drops the memory, `destroy` (NULL:
 * nothing) is called with the contents. Returns NULL without memory. */
void *ref_new(size_t size, void (*destroy)(void *contents));

/* ref_keep adds an owner and returns `contents`; ref_drop removes one. Both accept NULL, from any
 * thread. ref_swap keeps `next`, drops `old` and returns `next`: place = ref_swap(place, next). */
void *ref_keep(void *contents);
void ref_drop(void *contents);
void *ref_swap(void *old, void *next);
