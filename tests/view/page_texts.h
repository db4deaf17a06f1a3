/* SPDX-License-Identifier: MIT */
/* Texts of a page that was laid out: which are there, which overlap, which leave their place. */
#pragma once

#include "src/view/draw/pen.h"
#include "tests/support/tap.h"

/* Pairs of texts that overlap by more than `slack`, each told by a note. */
static inline int count_overlaps(const FigureLayout *layout, double slack) {
    int overlaps = 0;
    for (size_t i = 0; i < layout->count; i++)
        for (size_t j = 0; j < i; j++) {
            const FigureText *a = &layout->texts[i], *b = &layout->texts[j];
            if (!a->text[0] || !b->text[0] || a->x + slack >= b->x + b->w ||
                b->x + slack >= a->x + a->w || a->y + slack >= b->y + b->h ||
                b->y + slack >= a->y + a->h)
                continue;
            tap_note("'%s' and '%s'", a->text, b->text);
            overlaps++;
        }
    return overlaps;
}

/* Texts that leave the box by more than `slack`, each told by a note. */
static inline int count_outside(const FigureLayout *layout, Box box, double slack) {
    int outside = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const FigureText *t = &layout->texts[i];
        if (t->x >= box.x - slack && t->y >= box.y - slack &&
            t->x + t->w <= box.x + box.w + slack && t->y + t->h <= box.y + box.h + slack)
            continue;
        tap_note("'%s' at %.0f, %.0f is outside", t->text, t->x, t->y);
        outside++;
    }
    return outside;
}

/* The first text that is exactly this; NULL: there is none. */
static inline const FigureText *find_text(const FigureLayout *layout, const char *text) {
    for (size_t i = 0; i < layout->count; i++)
        if (!strcmp(layout->texts[i].text, text))
            return &layout->texts[i];
    return NULL;
}

static inline bool contains(const FigureLayout *layout, const char *part) {
    for (size_t i = 0; i < layout->count; i++)
        if (strstr(layout->texts[i].text, part))
            return true;
    return false;
}
