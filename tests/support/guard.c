/* SPDX-License-Identifier: MIT */
#include "tests/support/guard.h"

#include "kernels/codec.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN = 0xa5 };

/* A guarded copy of `bytes` bytes, or NULL for none; `*ok` turns false without memory. */
static void *guard_copy(Guarded *guarded, const char *name, const void *original, size_t bytes,
                        bool *ok) {
    if (!original || !*ok)
        return NULL;
    unsigned char *memory = aligned_alloc(GUARD_BYTES, (bytes / GUARD_BYTES + 3) * GUARD_BYTES);
    *ok = memory != NULL;
    if (!memory)
        return NULL;
    memset(memory, PATTERN, GUARD_BYTES);
    memcpy(memory + GUARD_BYTES, original, bytes);
    memset(memory + GUARD_BYTES + bytes, PATTERN, GUARD_BYTES);
    guarded->buffers[guarded->count].name = name;
    guarded->buffers[guarded->count].memory = memory;
    guarded->buffers[guarded->count].original = original;
    guarded->buffers[guarded->count++].bytes = bytes;
    return memory + GUARD_BYTES;
}

static void guard_tensor(Guarded *guarded, const char *name, BevTensor *t, bool *ok) {
    t->data = guard_copy(guarded, name, t->data, bev_code_bytes(t->dtype, t->rows, t->row_len), ok);
    t->block_scales = guard_copy(guarded, "block_scales", t->block_scales,
                                 bev_block_scale_bytes(t->dtype, t->rows, t->row_len), ok);
    if (t->channel_scales)
        t->channel_scales = guard_copy(guarded, "channel_scales", t->channel_scales,
                                       (size_t)t->row_len * sizeof *t->channel_scales, ok);
}

static void guard_output(Guarded *guarded, const char *name, BevTensor *t, bool *ok) {
    if (!t->data)
        return;
    guard_tensor(guarded, name, t, ok);
    if (*ok)
        guarded->buffers[guarded->count - 1].original = NULL;
}

static void guard_ints(Guarded *guarded, const char *name, int32_t **values, int64_t count,
                       bool *ok) {
    *values = guard_copy(guarded, name, *values, (size_t)count * sizeof **values, ok);
}

bool guard_init(Guarded *guarded, const BevProblem *problem) {
    *guarded = (Guarded){.view = *problem};
    BevProblem *view = &guarded->view;
    BevMap *map = &view->map;
    bool ok = true;
    guard_tensor(guarded, "depth", &view->depth, &ok);
    guard_tensor(guarded, "feat", &view->feat, &ok);
    guard_tensor(guarded, "grad_out", &view->grad_out, &ok);
    guard_output(guarded, "out", &view->out, &ok);
    guard_output(guarded, "grad_depth", &view->grad_depth, &ok);
    guard_output(guarded, "grad_feat", &view->grad_feat, &ok);
    guard_ints(guarded, "ranks_depth", &map->ranks_depth, map->points, &ok);
    guard_ints(guarded, "ranks_feat", &map->ranks_feat, map->points, &ok);
    guard_ints(guarded, "ranks_bev", &map->ranks_bev, map->points, &ok);
    guard_ints(guarded, "interval_starts", &map->interval_starts, map->intervals, &ok);
    guard_ints(guarded, "interval_lengths", &map->interval_lengths, map->intervals, &ok);
    map->weights = guard_copy(guarded, "weights", map->weights,
                              (size_t)map->points * sizeof *map->weights, &ok);
    if (!ok)
        guard_free(guarded);
    return ok;
}

void guard_free(Guarded *guarded) {
    for (int i = 0; i < guarded->count; i++)
        free(guarded->buffers[i].memory);
    *guarded = (Guarded){.count = 0};
}

static bool intact(const unsigned char *band) {
    for (int i = 0; i < GUARD_BYTES; i++)
        if (band[i] != PATTERN)
            return false;
    return true;
}

const char *guard_broken(const Guarded *guarded) {
    for (int i = 0; i < guarded->count; i++) {
        const unsigned char *memory = guarded->buffers[i].memory;
        if (!intact(memory) || !intact(memory + GUARD_BYTES + guarded->buffers[i].bytes))
            return guarded->buffers[i].name;
    }
    return NULL;
}

const char *guard_changed(const Guarded *guarded) {
    for (int i = 0; i < guarded->count; i++)
        if (guarded->buffers[i].original &&
            memcmp(guarded->buffers[i].memory + GUARD_BYTES, guarded->buffers[i].original,
                   guarded->buffers[i].bytes))
            return guarded->buffers[i].name;
    return NULL;
}
