/* SPDX-License-Identifier: MIT */
#include "src/ui/hover.h"

#include <math.h>

static const double TIP_MS = 400;

static bool same_box(const Box *a, const Box *b) {
    return a->x == b->x && a->y == b->y && a->w == b->w && a->h == b->h;
}

static bool same_origin(const Origin *a, const Origin *b) {
    return a->topic == b->topic && a->kernel == b->kernel && a->dtype == b->dtype &&
           a->word == b->word;
}

bool hover_move(Hover *hover, const Spots *spots, double x, double y) {
    const Box *box = spots_box(spots, x, y);
    const Origin *figure = spots_figure(spots, x, y); /* a blank keeps the one before */
    bool same = box && hover->over && same_box(box, &hover->box) &&
                (!figure || same_origin(figure, &hover->figure));
    bool was = hover->over;
    hover->x = x;
    hover->y = y;
    if (same)
        return false;
    hover->over = hover->fresh = box != NULL;
    hover->told = false;
    hover->box = box ? *box : (Box){0};
    hover->figure = figure ? *figure : (Origin){0};
    return was || box;
}

bool hover_end(Hover *hover) {
    bool was = hover->over;
    *hover = (Hover){.over = false};
    return was;
}

double hover_in_ms(const Hover *hover, double now_ms) {
    if (!hover->over || hover->told)
        return INFINITY;
    return hover->fresh ? 0 : hover->since_ms + TIP_MS - now_ms;
}

bool hover_due(Hover *hover, double now_ms) {
    if (hover->over && hover->fresh) {
        hover->fresh = false;
        hover->since_ms = now_ms;
    }
    if (hover_in_ms(hover, now_ms) > 0)
        return false;
    hover->told = true;
    return true;
}
