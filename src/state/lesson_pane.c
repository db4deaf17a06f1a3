/* SPDX-License-Identifier: MIT */
#include "src/state/lesson_pane.h"

#include <stdio.h>
#include <string.h>

const char *const lesson_panels[PANEL_COUNT] = {
    "",      "headline", "kernels", "memory", "intervals", "accuracy", "pipeline",
    "model", "bev",      "strip",   "steps",  "bits",      "log",
};

void pane_add(PaneText *pane, PaneKind kind, bool marked, const char *text) {
    if (pane->count == PANE_ROWS || pane->used + 1 >= PANE_BYTES)
        return;
    pane->rows[pane->count++] =
        (PaneRow){.kind = kind, .marked = marked, .at = (uint16_t)pane->used};
    size_t room = (size_t)(PANE_BYTES - pane->used), length = strlen(text);
    snprintf(pane->text + pane->used, room, "%s", text);
    pane->used += (int)(length < room ? length : room - 1) + 1;
}

const char *pane_row(const PaneText *pane, int row) {
    return pane->text + pane->rows[row].at;
}

void pane_append(PaneText *pane, const PaneText *more) {
    for (int i = 0; i < more->count; i++)
        pane_add(pane, more->rows[i].kind, more->rows[i].marked, pane_row(more, i));
}
