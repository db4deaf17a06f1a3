/* SPDX-License-Identifier: MIT */
#include "src/cachesim/lru_stack.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64, BLOCK = 8 * WORD, SPAN = 64 * BLOCK };

static const uint32_t NEVER = (uint32_t)LRU_NEVER;

bool lru_stack_init(LruStack *stack, uint32_t lines) {
    uint32_t places = (2 * lines / SPAN + 1) * SPAN;
    size_t words = places / WORD, blocks = places / BLOCK, spans = places / SPAN;
    uint64_t *marks =
        calloc(1, words * sizeof *marks +
                      (blocks + spans + 2 * (size_t)lines + places) * sizeof(uint32_t));
    *stack = (LruStack){.marks = marks, .places = places};
    if (!marks)
        return false;
    stack->blocks = (uint32_t *)(marks + words);
    stack->spans = stack->blocks + blocks;
    stack->last = stack->spans + spans;
    stack->order = stack->last + lines;
    stack->owner = stack->order + lines;
    memset(stack->last, 0xff, (size_t)lines * sizeof *stack->last);
    return true;
}

void lru_stack_free(LruStack *stack) {
    free(stack->marks);
}

/* Sets the mark at `place` (`change` 1) or clears it (`change` UINT32_MAX, which adds -1 to the
 * counts). */
static void change_mark(LruStack *stack, uint32_t place, uint32_t change) {
    stack->marks[place / WORD] ^= (uint64_t)1 << place % WORD;
    stack->blocks[place / BLOCK] += change;
    stack->spans[place / SPAN] += change;
}

/* Returns the number of marks in [place + 1, now). It adds the rest of the word, then the whole
 * words of the block, the whole blocks of the span, and the later spans. */
static uint32_t marks_after(const LruStack *stack, uint32_t place) {
    uint32_t word = place / WORD, block = place / BLOCK, span = place / SPAN;
    uint32_t words_end = (block + 1) * (BLOCK / WORD), blocks_end = (span + 1) * (SPAN / BLOCK);
    uint32_t last_block = (stack->now - 1) / BLOCK, last_span = (stack->now - 1) / SPAN;
    uint32_t count = (uint32_t)__builtin_popcountll(stack->marks[word] >> place % WORD >> 1);
    while (++word < words_end)
        count += (uint32_t)__builtin_popcountll(stack->marks[word]);
    while (++block < blocks_end && block <= last_block)
        count += stack->blocks[block];
    while (++span <= last_span)
        count += stack->spans[span];
    return count;
}

/* Moves all marks to the front of the time line, in order. Each line has one mark, so at least half
 * of the time line becomes free. */
static void compact(LruStack *stack) {
    uint32_t next = 0;
    for (uint32_t place = 0; place < stack->now; place++)
        if (stack->marks[place / WORD] >> place % WORD & 1) {
            uint32_t line = stack->owner[place];
            stack->owner[next] = line;
            stack->last[line] = next++;
        }
    memset(stack->marks, 0, stack->places / WORD * sizeof *stack->marks);
    memset(stack->blocks, 0, stack->places / BLOCK * sizeof *stack->blocks);
    memset(stack->spans, 0, stack->places / SPAN * sizeof *stack->spans);
    stack->now = 0;
    while (stack->now < next)
        change_mark(stack, stack->now++, 1);
}

uint32_t lru_stack_touch(LruStack *stack, uint32_t line) {
    uint32_t place = stack->last[line], distance = NEVER;
    if (place != NEVER && place + 1 == stack->now)
        return 0;
    if (stack->now == stack->places) {
        compact(stack);
        place = stack->last[line];
    }
    if (place == NEVER) {
        stack->order[stack->distinct++] = line;
    } else {
        distance = marks_after(stack, place);
        change_mark(stack, place, UINT32_MAX);
    }
    stack->owner[stack->now] = line;
    stack->last[line] = stack->now;
    change_mark(stack, stack->now++, 1);
    return distance;
}
