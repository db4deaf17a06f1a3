/* SPDX-License-Identifier: MIT */
/* What the default screen says of the kernels, as plain values: the times of the article's kernels
 * from one source, the reason behind each, and how the selection compares with its baseline. */
#pragma once

#include "src/state/live_data.h"

enum { STORY_BARS = 5 }; /* four kernels, or the backward kernels of one backend */

/* One kernel. A time that the source lacks is NaN, and `why` then says the reason. */
typedef struct {
    const BevKernel *kernel; /* the row that was timed or simulated */
    const BevKernel *here;   /* the row that a click selects; NULL: none runs on this backend */
    double us, published_us; /* published_us NaN: none for the chosen GPU */
    bool other_form;         /* the published time is that of the form for small L2s */
    bool estimate;           /* replayed on a sample of the multiprocessors */
    /* "latency-bound: one cell of 352 points", "one cell of 352 points", "latency-bound" */
    char why[80], short_why[40], brief[40];
    char more[48]; /* "all of probability 0": of those points; "": nothing more */
} StoryBar;

typedef struct {
    int count;
    StoryBar bars[STORY_BARS], selection, baseline;
    FigureSource source; /* of all times: measured, recorded or model */
    char of[160];        /* "model of RTX A6000" */
    char from[200];      /* the same, and that some of the times are first estimates */
    bool other_config;   /* the times are of an earlier map, format or align, as `from` says */
    bool estimate;       /* some of the times are of a sample of the multiprocessors */
    bool on_gpu;         /* the times are of a GPU, this or the chosen one */
    double ratio;        /* the baseline's time over the selection's; NaN: not of one source */
} Story;

Story story_of(const State *state, const LiveData *live);

/* Whether the screen tells of this kernel: forward, the article's kernels and this program's
 * fastest, as rows of CUDA. */
bool story_tells(const BevKernel *kernel);

/* Returns the time of another kernel of this backend from the story's source; NaN: it has none. */
double story_us(const Story *story, const State *state, const LiveData *live,
                const BevKernel *kernel);

/* Whether a device, as a recording names it, is the chosen GPU, which no what-if has changed. */
bool story_is_chosen_gpu(const State *state, const char *device);

/* Returns the figures that EVENT_FRAME carries: forward the latency is that of the story. */
Headline story_headline(const State *state, const LiveData *live);
