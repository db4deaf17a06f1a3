#include "src/ui/hover.h"

#include <math.h>

static const double TIP_MS = 400;

bool hover_move(Hover *hover, const Spots *spots, double x, double y) {
    const Box *box = spots_box(spots, x, y);
    bool same = box && hover->over && box->x == hover->box.x && box->y == hover->box.y &&
                box->w == hover->box.w && box->h == hover->box.h;
    bool was = hover->over;
    hover->x = x;
    hover->y = y;
    if (same)
        return false;
    hover->over = hover->fresh = box != NULL;
    hover->told = false;
    hover->box = box ? *box : (Box){0};
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
