/* Which lines were touched how long ago: an LRU stack that is asked for depths. The distance of a
 * touch is the number of other lines touched since the line's last one. */
#ifndef BEV_LRU_STACK_H
#define BEV_LRU_STACK_H

#include <stdbool.h>
#include <stdint.h>

enum { RECENCY_NEVER = -1 }; /* as uint32_t: the line was never touched */

/* Each line has one mark on a time line, at its last touch; a distance is the number of marks
 * behind it. Marks are bits, counted by blocks and by spans of blocks: marking costs three
 * additions, counting is short for recent touches, which most are. When the time line is full,
 * marks are moved together in order. */
typedef struct {
    uint32_t *last;   /* [lines] place on the time line, or RECENCY_NEVER */
    uint32_t *order;  /* [lines] first `distinct`: lines by first touch */
    uint32_t *owner;  /* [places] line whose mark is there */
    uint64_t *marks;  /* [places / 64] */
    uint32_t *blocks; /* marks of each block */
    uint32_t *spans;  /* marks of each span */
    uint32_t lines, distinct, places, now;
} LruStack;

/* Line numbers will be in [0, lines). False: no memory; free it all the same. */
bool lru_stack_init(LruStack *stack, uint32_t lines);
void lru_stack_free(LruStack *stack);

/* Distance of a touch of `line` now, RECENCY_NEVER for the first; the line is the latest then. */
uint32_t lru_stack_touch(LruStack *stack, uint32_t line);

#endif
