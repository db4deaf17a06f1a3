/* SPDX-License-Identifier: MIT */
#include "src/ui/pointer.h"

#include <math.h>
#include <string.h>

static const double CLICK_SLACK = 4;  /* pixels that the mouse may move during a click */
static const double WIPE_SLACK = 8;   /* pixels from the divider within which a press hits it */
static const double WIPE_COLUMNS = 1; /* the same in columns of a terminal */

/* Writes the cell coordinates under a point. Returns false outside the picture, or where something
 * floats over the picture. */
static bool cell_at(const Spots *spots, double x, double y, Event *event) {
    const Box *bev = &spots->bev;
    const double right = (x - bev->x) / bev->w, down = (y - bev->y) / bev->h; /* shares, 0 to 1 */
    const bool inside = right >= 0 && right < 1 && down >= 0 && down < 1;
    event->x = spots->x_hi - down * (spots->x_hi - spots->x_lo);
    event->y = spots->y_hi - right * (spots->y_hi - spots->y_lo);
    return bev->w > 0 && inside && !spots_over(spots, x, y);
}

/* Handles a press: finds what the press begins, a click or a drag. */
static bool press_button(Pointer *pointer, double x, double y, const Spots *spots,
                         const State *state, int64_t pixel, Event *event) {
    const Command *command = spots_at(spots, x, y);
    const double wipe_slack = pointer->in_terminal ? WIPE_COLUMNS : WIPE_SLACK;
    pointer->doing = POINTER_CLICK;
    pointer->has_command = command != NULL;
    pointer->x = x;
    pointer->y = y;
    if (command)
        pointer->command = *command;
    pointer->on_bev = cell_at(spots, x, y, event);
    if (pointer->on_bev && fabs(x - spots->wipe_x) <= wipe_slack)
        pointer->doing = POINTER_WIPE;
    if (spots_on_time(spots, x, y)) {
        pointer->doing = POINTER_TIME;
        *event = (Event){.kind = EVENT_COMMAND, .command = spots_drag_time(spots, x, state)};
        return true;
    }
    if (!pointer->in_terminal || pixel < 0)
        return false;
    pointer->doing = POINTER_PIXEL;
    *event = (Event){.kind = EVENT_PIXEL, .x = (double)pixel};
    return true;
}

/* Handles a click on a cell. In the terminal the first click puts the cursor on the cell; the next
 * click pins or releases the cell. */
static bool click_cell(const Pointer *pointer, const Spots *spots, double x, double y,
                       const State *state, Event *event) {
    *event = (Event){.kind = EVENT_HOVER, .on = true};
    if (!cell_at(spots, x, y, event))
        return false;
    const bool on_cursor = state->cursor_shown && floor(event->x) == (double)state->cursor_x &&
                           floor(event->y) == (double)state->cursor_y;
    if (!pointer->in_terminal || on_cursor) {
        event->kind = EVENT_CLICK;
        event->on = false;
    }
    return true;
}

/* Handles a release: a click on a cell, on a spot with a command, or on a figure. */
static bool release_button(Pointer *pointer, double x, double y, const Spots *spots,
                           const State *state, const LiveData *live, Event *event) {
    const bool clicked = pointer->doing == POINTER_CLICK,
               on_pixel = pointer->doing == POINTER_PIXEL;
    const Command *command = spots_at(spots, x, y);
    pointer->doing = POINTER_UP;
    if (!clicked && !on_pixel)
        return false;
    if (pointer->on_bev)
        return click_cell(pointer, spots, x, y, state, event);
    if (pointer->has_command && command && same_command(command, &pointer->command)) {
        *event = (Event){.kind = EVENT_COMMAND, .command = *command};
        return true;
    }
    *event = (Event){.kind = EVENT_NOTE, .text = pointer->answer};
    return clicked && !pointer->has_command && !command && live &&
           origin_text(state, live, spots_figure(spots, x, y), pointer->answer);
}

/* Handles a move while the button is pressed. A click becomes a drag once it has moved far enough.
 */
static bool move_pressed(Pointer *pointer, double x, double y, const Spots *spots,
                         const State *state, int64_t pixel, Event *event) {
    const double dx = x - pointer->x, dy = y - pointer->y, columns = spots->y_hi - spots->y_lo;
    const double slack = pointer->in_terminal ? 0 : CLICK_SLACK;
    if (pointer->doing == POINTER_CLICK && pointer->on_bev && hypot(dx, dy) > slack)
        pointer->doing = POINTER_PAN;
    const bool drags = pointer->doing != POINTER_UP && pointer->doing != POINTER_CLICK;
    if (!drags || (dx == 0 && dy == 0))
        return false;
    pointer->x = x;
    pointer->y = y;
    switch (pointer->doing) {
    case POINTER_PIXEL:
        *event = (Event){.kind = EVENT_PIXEL, .x = (double)pixel};
        return pixel >= 0;
    case POINTER_TIME:
        *event = (Event){.kind = EVENT_COMMAND, .command = spots_drag_time(spots, x, state)};
        return true;
    case POINTER_PAN:
        *event = (Event){.kind = EVENT_DRAG,
                         .x = -dy / spots->bev.h * (spots->x_hi - spots->x_lo),
                         .y = -dx / spots->bev.w * columns};
        return spots->bev.w > 0;
    default: { /* POINTER_WIPE */
        /* The wipe counts from 0 to 1 over all columns of the grid, also in a zoom. */
        const double column = spots->y_hi - (x - spots->bev.x) / spots->bev.w * columns;
        *event = (Event){.kind = EVENT_WIPE, .x = 1 - column / (double)state_slice(state).ny};
        return spots->bev.w > 0;
    }
    }
}

bool pointer_follow(Pointer *pointer, MouseKind kind, double x, double y, double steps,
                    const Spots *spots, const State *state, const LiveData *live, Event *event) {
    int64_t pixel = live ? spots_pixel(spots, x, y, state, &live->frame) : -1;
    switch (kind) {
    case MOUSE_PRESS:
        return press_button(pointer, x, y, spots, state, pixel, event);
    case MOUSE_RELEASE:
        return release_button(pointer, x, y, spots, state, live, event);
    case MOUSE_MOVE:
        return move_pressed(pointer, x, y, spots, state, pixel, event);
    case MOUSE_HOVER:
        pointer->x = x;
        pointer->y = y;
        *event = (Event){.kind = pixel >= 0 ? EVENT_PIXEL : EVENT_HOVER};
        if (pixel >= 0)
            event->x = (double)pixel;
        else if (!cell_at(spots, x, y, event))
            event->x = event->y = -1;
        return !pointer->in_terminal; /* in the window the cursor follows */
    case MOUSE_MENU:
        *event = (Event){.kind = EVENT_COMMAND, .command = spots_menu(spots, x, y)};
        return true;
    case MOUSE_WHEEL:
        *event = (Event){.kind = EVENT_COMMAND};
        if (spots_wheel(spots, x, y, steps, &event->command))
            return true;
        *event = (Event){.kind = EVENT_WHEEL, .steps = steps};
        return cell_at(spots, x, y, event) && steps != 0;
    }
    return false;
}

bool term_pointer_follow(Pointer *pointer, const MouseReport *report, const Spots *spots,
                         const State *state, const LiveData *live, Event *event) {
    bool outside = report->column < 0 || report->column >= state->columns || report->row < 0 ||
                   report->row >= state->rows;
    pointer->in_terminal = true;
    if (outside && report->kind != MOUSE_MOVE)
        pointer->doing = POINTER_UP;
    if (outside)
        return false;
    return pointer_follow(pointer, report->kind, report->column + 0.5, report->row + 0.5,
                          report->steps, spots, state, live, event);
}

/* ---- what lies under the mouse --------------------------------------------------------------- */

static const double TIP_MS = 400;

bool hover_move(Hover *hover, const Spots *spots, double x, double y) {
    const Box *box = spots_box(spots, x, y);
    const Origin *figure = spots_figure(spots, x, y), *last = &hover->figure;
    const bool same_box = box && hover->over && !memcmp(box, &hover->box, sizeof *box);
    const bool same_figure = /* between the figures of a box the last figure stays */
        !figure || (figure->topic == last->topic && figure->kernel == last->kernel &&
                    figure->dtype == last->dtype && figure->word == last->word);
    const bool was_over = hover->over;
    hover->x = x;
    hover->y = y;
    if (same_box && same_figure)
        return false;
    hover->over = box != NULL;
    hover->since_ms = NAN;
    hover->told = false;
    hover->box = box ? *box : (Box){0};
    hover->figure = figure ? *figure : (Origin){0};
    return was_over || box;
}

bool hover_end(Hover *hover) {
    bool was = hover->over;
    *hover = (Hover){.over = false};
    return was;
}

double tip_due_in_ms(const Hover *hover, double now_ms) {
    if (!hover->over || hover->told)
        return INFINITY; /* no tooltip is due */
    return isnan(hover->since_ms) ? 0 : hover->since_ms + TIP_MS - now_ms;
}

bool hover_due(Hover *hover, double now_ms) {
    if (isnan(hover->since_ms))
        hover->since_ms = now_ms;
    if (tip_due_in_ms(hover, now_ms) > 0)
        return false;
    hover->told = true;
    return true;
}
