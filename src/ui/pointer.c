/* SPDX-License-Identifier: MIT */
#include "src/ui/pointer.h"

#include <math.h>

/* Writes the cell coordinates under a point. Returns false outside the picture, or where something
 * floats over it. */
static bool cell_at(const PointerPlace *place, double x, double y, Event *event) {
    const Box *bev = &place->bev;
    double right = (x - bev->x) / bev->w, down = (y - bev->y) / bev->h;
    event->x = place->x_hi - down * (place->x_hi - place->x_lo);
    event->y = place->y_hi - right * (place->y_hi - place->y_lo);
    return bev->w > 0 && right >= 0 && right < 1 && down >= 0 && down < 1 &&
           !spots_over(place->spots, x, y);
}

static bool drag_time(const PointerPlace *place, double x, const State *state, Event *event) {
    *event = (Event){.kind = EVENT_COMMAND, .command = spots_drag_time(place->spots, x, state)};
    return true;
}

static bool press(Pointer *pointer, double x, double y, int64_t pixel, const PointerPlace *place,
                  const State *state, Event *event) {
    const Command *command = spots_at(place->spots, x, y);
    *pointer = (Pointer){.doing = POINTER_CLICK, .has_command = command != NULL, .x = x, .y = y};
    if (command)
        pointer->command = *command;
    pointer->on_bev = cell_at(place, x, y, event);
    if (pointer->on_bev && fabs(x - place->wipe_x) <= place->wipe_slack)
        pointer->doing = POINTER_WIPE;
    if (spots_on_time(place->spots, x, y)) {
        pointer->doing = POINTER_TIME;
        return drag_time(place, x, state, event);
    }
    if (place->hovers || pixel < 0)
        return false;
    pointer->doing = POINTER_PIXEL;
    *event = (Event){.kind = EVENT_PIXEL, .x = (double)pixel};
    return true;
}

/* Handles a click on a cell. Without a cursor that follows the mouse, the first click puts the
 * cursor there; the next pins or releases the cell. */
static bool click_cell(const PointerPlace *place, double x, double y, const State *state,
                       Event *event) {
    *event = (Event){.kind = EVENT_HOVER, .on = true};
    if (!cell_at(place, x, y, event))
        return false;
    bool again = state->cursor_shown && floor(event->x) == (double)state->cursor_x &&
                 floor(event->y) == (double)state->cursor_y;
    if (place->hovers || again) {
        event->kind = EVENT_CLICK;
        event->on = false;
    }
    return true;
}

static bool release(Pointer *pointer, double x, double y, const PointerPlace *place,
                    const State *state, const LiveData *live, Event *event) {
    const bool clicked = pointer->doing == POINTER_CLICK;
    const Command *command = spots_at(place->spots, x, y);
    if (!clicked && pointer->doing != POINTER_PIXEL) {
        pointer->doing = POINTER_UP;
        return false;
    }
    pointer->doing = POINTER_UP;
    if (pointer->on_bev)
        return click_cell(place, x, y, state, event);
    if (pointer->has_command && command && same_command(command, &pointer->command)) {
        *event = (Event){.kind = EVENT_COMMAND, .command = *command};
        return true;
    }
    *event = (Event){.kind = EVENT_NOTE, .text = pointer->answer};
    return clicked && !pointer->has_command && !command && live &&
           spots_answer(place->spots, x, y, state, live, pointer->answer);
}

static bool move(Pointer *pointer, double x, double y, int64_t pixel, const PointerPlace *place,
                 const State *state, Event *event) {
    const double dx = x - pointer->x, dy = y - pointer->y;
    if (pointer->doing == POINTER_CLICK && pointer->on_bev && hypot(dx, dy) > place->slack)
        pointer->doing = POINTER_PAN;
    if (pointer->doing <= POINTER_CLICK || (dx == 0 && dy == 0))
        return false;
    pointer->x = x;
    pointer->y = y;
    switch (pointer->doing) {
    case POINTER_PIXEL:
        *event = (Event){.kind = EVENT_PIXEL, .x = (double)pixel};
        return pixel >= 0;
    case POINTER_TIME:
        return drag_time(place, x, state, event);
    case POINTER_PAN:
        *event = (Event){.kind = EVENT_DRAG,
                         .x = -dy / place->bev.h * (place->x_hi - place->x_lo),
                         .y = -dx / place->bev.w * (place->y_hi - place->y_lo)};
        return place->bev.w > 0;
    default:
        *event = (Event){.kind = EVENT_WIPE,
                         .x = (x - place->wipe_from) / (place->wipe_to - place->wipe_from)};
        return place->bev.w > 0;
    }
}

static bool hover(Pointer *pointer, double x, double y, int64_t pixel, const PointerPlace *place,
                  Event *event) {
    pointer->x = x;
    pointer->y = y;
    *event = (Event){.kind = pixel >= 0 ? EVENT_PIXEL : EVENT_HOVER};
    if (pixel >= 0)
        event->x = (double)pixel;
    else if (!cell_at(place, x, y, event))
        event->x = event->y = -1;
    return place->hovers;
}

bool pointer_follow(Pointer *pointer, MouseKind kind, double x, double y, double steps,
                    int64_t pixel, const PointerPlace *place, const State *state,
                    const LiveData *live, Event *event) {
    const Box *screen = &place->screen;
    if (screen->w > 0 && (x < 0 || y < 0 || x >= screen->w || y >= screen->h)) {
        pointer->doing = kind == MOUSE_MOVE ? pointer->doing : POINTER_UP;
        return false;
    }
    switch (kind) {
    case MOUSE_PRESS:
        return press(pointer, x, y, pixel, place, state, event);
    case MOUSE_RELEASE:
        return release(pointer, x, y, place, state, live, event);
    case MOUSE_MOVE:
        return move(pointer, x, y, pixel, place, state, event);
    case MOUSE_HOVER:
        return hover(pointer, x, y, pixel, place, event);
    case MOUSE_MENU:
        *event = (Event){.kind = EVENT_COMMAND, .command = spots_menu(place->spots, x, y)};
        return true;
    case MOUSE_WHEEL:
        *event = (Event){.kind = EVENT_COMMAND};
        if (spots_wheel(place->spots, x, y, steps, &event->command))
            return true;
        *event = (Event){.kind = EVENT_WHEEL, .steps = steps};
        return cell_at(place, x, y, event) && steps != 0;
    }
    return false;
}

/* The whole grid is as wide as the wipe, whatever part of it is in view. A sign stands for the
 * point at its middle. */
bool term_pointer_follow(Pointer *pointer, const MouseReport *report, const DashSpots *spots,
                         const State *state, const LiveData *live, Event *event) {
    const Area *bev = &spots->bev;
    double a_cell = bev->w / (spots->y_hi - spots->y_lo);
    const PointerPlace place = {
        .spots = &spots->clicks,
        .screen = {0, 0, state->columns, state->rows},
        .bev = {bev->x, bev->y, bev->w, bev->h},
        .x_lo = spots->x_lo,
        .x_hi = spots->x_hi,
        .y_lo = spots->y_lo,
        .y_hi = spots->y_hi,
        .wipe_x = spots->has_wipe ? spots->wipe_column + 0.5 : NAN,
        .wipe_slack = 1,
        .wipe_from = bev->x + (spots->y_hi - (double)state->scene.ny) * a_cell,
        .wipe_to = bev->x + spots->y_hi * a_cell,
    };
    return pointer_follow(pointer, report->kind, report->column + 0.5, report->row + 0.5,
                          report->steps, dash_pixel_at(spots, report->column, report->row), &place,
                          state, live, event);
}
