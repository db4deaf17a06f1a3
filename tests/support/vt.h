/* A terminal in memory: what the bytes of a display show, for tests that look at its screen. Knows
 * what ncurses sends to an xterm; colours and modes are passed over. */
#pragma once

#include "tests/support/pty.h"

enum { VT_COLUMNS = 200, VT_ROWS = 60 };

typedef struct {
    int columns, rows;
    char cells[VT_ROWS][VT_COLUMNS + 1]; /* '?' for what is beyond ASCII */
    int x, y, saved_x, saved_y;
    int top, bottom; /* rows that scroll, both included */
    char last;       /* what was put there last */
    size_t read;     /* bytes of the output that are on the screen */
} Vt;

void vt_open(Vt *vt, int columns, int rows);

/* Shows what was written since the last time. */
void vt_follow(Vt *vt, const Pty *pty);

/* The same up to the end of the next frame that was drawn; false: all is shown. */
bool vt_follow_frame(Vt *vt, const Pty *pty);

/* Where `text` stands from row `from` on; false: nowhere. */
bool vt_find(const Vt *vt, const char *text, int from, int *x, int *y);

/* Waits until `text` stands there, or no longer does, in any frame not yet shown. */
bool vt_wait(Vt *vt, Pty *pty, const char *text, int from, bool wanted, double seconds);
