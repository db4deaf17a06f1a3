/* SPDX-License-Identifier: MIT */
/* What a lesson shows, as plain values: rows of text, each with its role. The pane is a part of the
 * State, so that every screen can draw it. src/learn fills it. */
#pragma once

#include "src/base/kernel_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The role of a row. Views choose ink and indent by the role. */
typedef enum {
    PANE_TEXT,
    PANE_TERM, /* an entry of the glossary */
    PANE_QUESTION,
    PANE_CHOICE, /* `marked`: the choice that Enter takes, or that the learner took */
    PANE_INPUT,  /* what was typed so far */
    PANE_RIGHT,  /* the verdict */
    PANE_WRONG,
    PANE_SHOW, /* what the run showed */
    PANE_WHY,
    PANE_HINT,
    PANE_SOURCE,  /* file and lines of the code below it */
    PANE_CODE,    /* a line of it; not wrapped */
    PANE_DRAWING, /* a line of a drawing in characters; not wrapped */
    PANE_NOTE,    /* a mistake, or a wait */
    PANE_KEYS,    /* the keys of the moment */
    PANE_KIND_COUNT
} PaneKind;

typedef struct {
    PaneKind kind;
    bool marked;
    uint16_t at; /* where its text begins in PaneText.text */
} PaneRow;

enum { PANE_ROWS = 64, PANE_BYTES = 6000 };

/* Rows of text in one block, so that a State can be copied with `=`. */
typedef struct {
    int count, used;
    PaneRow rows[PANE_ROWS];
    char text[PANE_BYTES];
} PaneText;

/* Adds a row. Text beyond the room of the pane is cut. */
void pane_add(PaneText *pane, PaneKind kind, bool marked, const char *text);
const char *pane_row(const PaneText *pane, int row);
/* Adds all rows of `more` to `pane`. */
void pane_append(PaneText *pane, const PaneText *more);

/* The panels of the dashboard that a lesson can point at. */
typedef enum {
    PANEL_NONE,
    PANEL_HEADLINE,
    PANEL_KERNELS,
    PANEL_MEMORY,
    PANEL_INTERVALS,
    PANEL_ACCURACY,
    PANEL_PIPELINE,
    PANEL_MODEL,
    PANEL_BEV,
    PANEL_STRIP,
    PANEL_STEPS,
    PANEL_BITS,
    PANEL_LOG,
    PANEL_COUNT
} LessonPanel;
extern const char *const lesson_panels[PANEL_COUNT]; /* "", "headline", "kernels", ... */

/* The kind of answer that a question asks for. The meaning of keys depends on it. */
typedef enum { ASKS_NOTHING, ASKS_CHOICE, ASKS_NUMBER, ASKS_ORDER } LessonAsks;

typedef struct {
    bool open; /* a lesson runs: the screens show it */
    char title[80];
    int step, steps; /* from 1; 0: a page of text, which has none */
    int right, asked;
    LessonPanel point;
    LessonAsks asks;
    bool covers; /* a question is ahead: figures that it does not point at are covered */
    bool computing;          /* waits for figures */
    KernelSet model_kernels; /* whose memory model it asks for */
    bool ended;
    int scroll; /* rows that the learner moved the text by */
    PaneText body;
} LessonPane;

/* Whether a question is open. Screens then hide the question's bug and its effect. */
static inline bool lesson_asks(const LessonPane *pane) {
    return pane->open && pane->asks != ASKS_NOTHING;
}
