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
    /* What Enter does, and a script with this line: a step of a control, or a value. For a group:
     * its first control. */
    Command command;
    char name[PALETTE_NAME];  /* "dtype", "dtype fp8", as scripts have them; "Compare" */
    char title[PALETTE_NAME]; /* of a value, where it is no repetition: "RTX A6000" */
    const char *help;         /* of the control, or of the value; "": it has none */
} PaletteRow;

/* Lists the rows for the typed text, the best first. Returns how many. */
int palette_rows(const State *state, const LiveData *live, PaletteRow rows[PALETTE_ROWS]);

/* Whether the command does something in this state; else `reason` says why not. */
bool palette_usable(const State *state, const Command *command, char *reason, size_t size);

/* Whether the row is the typed control, without the typed argument: it has no such value. */
bool palette_drops(const State *state, const PaletteRow *row);

void palette_open(State *state, const char *text);
void palette_close(State *state);

/* Puts a command that was carried out first in the list of latest commands. */
void palette_remember(State *state, const Command *command);

/* What a key asks for in the palette. */
typedef enum {
    PALETTE_NOTHING, /* the key means nothing here */
    PALETTE_DRAW,    /* text or row changed: a value that is tried is taken back */
    PALETTE_TRY,     /* *command is tried, while it stays open */
    PALETTE_RUN,     /* *command is carried out, and it closes */
    PALETTE_KEEP,    /* the tried value stays, and the palette closes */
    PALETTE_LEAVE    /* it closes, and all is as before */
} PaletteDoes;

/* Changes the text and the chosen row. The caller carries out the returned request. */
PaletteDoes palette_key(State *state, const LiveData *live, int32_t key, Command *command);
