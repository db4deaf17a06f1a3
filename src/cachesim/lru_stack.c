#include "src/cachesim/lru_stack.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64, BLOCK = 8 * WORD, SPAN = 64 * BLOCK };

static const uint32_t NEVER = (uint32_t)RECENCY_NEVER;

bool recency_init(Recency *recency, uint32_t lines) {
    uint32_t places = (2 * lines / SPAN + 1) * SPAN;
    *recency = (Recency){
        .last = malloc(((size_t)lines + 1) * sizeof *recency->last),
        .order = malloc(((size_t)lines + 1) * sizeof *recency->order),
        .owner = malloc(places * sizeof *recency->owner),
        .marks = calloc(places / WORD, sizeof *recency->marks),
        .blocks = calloc(places / BLOCK, sizeof *recency->blocks),
        .spans = calloc(places / SPAN, sizeof *recency->spans),
        .lines = lines,
        .places = places,
    };
    if (!recency->last || !recency->order || !recency->owner || !recency->marks ||
        !recency->blocks || !recency->spans)
        return false;
    memset(recency->last, 0xff, (size_t)lines * sizeof *recency->last);
    return true;
}

void recency_free(Recency *recency) {
    free(recency->last);
    free(recency->order);
    free(recency->owner);
    free(recency->marks);
    free(recency->blocks);
    free(recency->spans);
}

static void change_mark(Recency *recency, uint32_t place, uint32_t change) {
    recency->marks[place / WORD] ^= (uint64_t)1 << place % WORD;
    recency->blocks[place / BLOCK] += change;
    recency->spans[place / SPAN] += change;
}

static void set_mark(Recency *recency, uint32_t place) {
    change_mark(recency, place, 1);
}

static void clear_mark(Recency *recency, uint32_t place) {
    change_mark(recency, place, UINT32_MAX);
}

/* Marks in [place + 1, now). */
static uint32_t marks_after(const Recency *recency, uint32_t place) {
    uint32_t word = place / WORD, block = place / BLOCK, span = place / SPAN;
    uint32_t words_end = (block + 1) * (BLOCK / WORD), blocks_end = (span + 1) * (SPAN / BLOCK);
    uint32_t last_block = (recency->now - 1) / BLOCK, last_span = (recency->now - 1) / SPAN;
    uint32_t count = (uint32_t)__builtin_popcountll(recency->marks[word] >> place % WORD >> 1);
    while (++word < words_end)
        count += (uint32_t)__builtin_popcountll(recency->marks[word]);
    while (++block < blocks_end && block <= last_block)
        count += recency->blocks[block];
    while (++span <= last_span)
        count += recency->spans[span];
    return count;
}

/* Moves all marks to the front of the time line, in order. At least half of it becomes free. */
static void compact(Recency *recency) {
    uint32_t next = 0;
    for (uint32_t place = 0; place < recency->now; place++)
        if (recency->marks[place / WORD] >> place % WORD & 1) {
            uint32_t line = recency->owner[place];
            recency->owner[next] = line;
            recency->last[line] = next++;
        }
    memset(recency->marks, 0, recency->places / WORD * sizeof *recency->marks);
    memset(recency->blocks, 0, recency->places / BLOCK * sizeof *recency->blocks);
    memset(recency->spans, 0, recency->places / SPAN * sizeof *recency->spans);
    recency->now = 0;
    while (recency->now < next)
        set_mark(recency, recency->now++);
}

uint32_t recency_touch(Recency *recency, uint32_t line) {
    uint32_t place = recency->last[line], distance = NEVER;
    if (place != NEVER && place + 1 == recency->now)
        return 0;
    if (recency->now == recency->places) {
        compact(recency);
        place = recency->last[line];
    }
    if (place == NEVER) {
        recency->order[recency->distinct++] = line;
    } else {
        distance = marks_after(recency, place);
        clear_mark(recency, place);
    }
    recency->owner[recency->now] = line;
    recency->last[line] = recency->now;
    set_mark(recency, recency->now++);
    return distance;
}
