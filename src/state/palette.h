/* SPDX-License-Identifier: MIT */
/* The command palette finds all commands by typing. Its rows are controls, the values of their
 * lists, findings and, while nothing is typed, groups. State and views ask the same functions. The
 * App carries the rows out. */
#pragma once

#include "src/state/live_data.h"

enum { PALETTE_ROWS = 64, PALETTE_NAME = 96 };

typedef enum { PALETTE_CONTROL, PALETTE_VALUE, PALETTE_GROUP } PaletteKind;

typedef struct {
    PaletteKind kind;
    /* The command that Enter runs: a step of a control, or a value. For a group, a step of the
     * group's first control, which only tells the group and is not run. */
    Command command;
    char name[PALETTE_NAME];  /* the line of a script: "dtype", "dtype fp8"; of a group "Compare" */
    char title[PALETTE_NAME]; /* a value's title: "RTX A6000"; "": the title repeats the name */
    const char *help;         /* help of the control or of the value; "": there is no help */
} PaletteRow;

/* Lists the rows for the typed text, the best first. Returns how many. */
int palette_rows(const State *state, const LiveData *live, PaletteRow rows[PALETTE_ROWS]);

/* Whether the command does something in this state; else `reason` says why not. */
bool palette_usable(const State *state, const Command *command, char *reason, size_t size);

/* Whether the row is the typed control, but lacks the typed argument, because the control has no
 * such value. */
bool palette_drops(const State *state, const PaletteRow *row);

void palette_open(State *state, const char *text);
void palette_close(State *state);

/* Puts a command that was carried out first in the list of latest commands. */
void palette_remember(State *state, const Command *command);

/* The request of a key in the palette. */
typedef enum {
    PALETTE_NOTHING, /* the key means nothing here */
    PALETTE_DRAW,    /* text or row changed: a value that is tried is taken back */
    PALETTE_TRY,     /* *command is tried, and the palette stays open */
    PALETTE_RUN,     /* *command is carried out, and the palette closes */
    PALETTE_KEEP,    /* the tried value stays, and the palette closes */
    PALETTE_LEAVE    /* the palette closes, and a tried value is taken back */
} PaletteDoes;

/* Changes the text and the chosen row. The caller carries out the returned request. */
PaletteDoes palette_key(State *state, const LiveData *live, int32_t key, Command *command);
