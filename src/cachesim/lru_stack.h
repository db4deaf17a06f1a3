/* SPDX-License-Identifier: MIT */
/* An LRU stack of cache lines, which gives the reuse distance of each touch. The distance is the
 * number of other lines that were touched since the last touch of the same line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LRU_NEVER = -1 }; /* the uint32_t distance or place of a line that was never touched */

/* Each touched line has one mark on a time line, at its last touch. The distance of a touch is the
 * number of marks behind the line's mark. Marks are bits. Counts of marks are kept for blocks of
 * 512 places and for spans of 64 blocks, so that counting needs few steps. When the time line is
 * full, all marks move to its front in order. */
typedef struct {
    uint64_t *marks;  /* [places / 64] one bit a place; begins the block of all arrays */
    uint32_t *last;   /* [lines] the line's place on the time line, or LRU_NEVER */
    uint32_t *order;  /* [distinct] the touched lines in the order of their first touches */
    uint32_t *owner;  /* [places] the line whose mark is at this place */
    uint32_t *blocks; /* the number of marks in each block */
    uint32_t *spans;  /* the number of marks in each span */
    uint32_t distinct, places; /* lines touched so far; the length of the time line */
    uint32_t now;              /* the place of the next mark */
} LruStack;

/* Makes an empty stack for line numbers in [0, lines). False: out of memory. Call lru_stack_free
 * after a failure, too. */
bool lru_stack_init(LruStack *stack, uint32_t lines);
void lru_stack_free(LruStack *stack);

/* Touches `line` and returns the distance of this touch. Returns LRU_NEVER for the line's first
 * touch. */
uint32_t lru_stack_touch(LruStack *stack, uint32_t line);
