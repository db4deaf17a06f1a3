/* An LRU stack of lines that answers distances: the distance of a touch is the number of other
 * lines touched since the last touch of its line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LRU_NEVER = -1 }; /* as uint32_t: the line was never touched */

/* Each line has one mark on a time line, at its last touch; a distance is the number of marks
 * behind it. Marks are bits, counted by blocks and by spans of blocks: marking costs three
 * additions, counting is short for recent touches, which most are. When the time line is full,
 * marks are moved together in order. */
typedef struct {
    uint32_t *last;   /* [lines] place on the time line, or LRU_NEVER */
    uint32_t *order;  /* [lines] first `distinct`: lines by first touch */
    uint32_t *owner;  /* [places] line whose mark is there */
    uint64_t *marks;  /* [places / 64] */
    uint32_t *blocks; /* marks of each block */
    uint32_t *spans;  /* marks of each span */
    uint32_t distinct, places, now;
} LruStack;

/* Line numbers are in [0, lines). False: no memory; call lru_stack_free nevertheless. */
bool lru_stack_init(LruStack *stack, uint32_t lines);
void lru_stack_free(LruStack *stack);

/* Touches `line`, which becomes the latest, and returns its distance; LRU_NEVER for the first
 * touch. */
uint32_t lru_stack_touch(LruStack *stack, uint32_t line);
