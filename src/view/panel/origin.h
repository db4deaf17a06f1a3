/* SPDX-License-Identifier: MIT */
/* Where a figure on a screen comes from: its source, its inputs, its date. */
#pragma once

#include "src/state/live_data.h"

/* Subjects of figures: the rows of origin.inc. */
typedef enum {
    ORIGIN_NONE,
#define TOPIC(id, ...) ORIGIN_##id,
#include "src/view/panel/origin.inc"
#undef TOPIC
    ORIGIN_COUNT
} OriginTopic;

typedef struct {
    OriginTopic topic;
    const BevKernel *kernel; /* NULL: the selection's */
    BevDtype dtype;
    const char *word; /* what is asked about; NULL or unknown to the glossary: origin_word() */
} Origin;

enum { ORIGIN_TEXT_MAX = 320 };

/* One or two sentences that begin with the source: "measured", "recorded", "model", "published",
 * "computed", "set" or "n/a". Never empty. */
void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]);

/* Returns the word of the glossary for the figures of a topic; NULL: none. */
const char *origin_word(OriginTopic topic);
