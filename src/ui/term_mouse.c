#include "src/ui/term_mouse.h"

#include <math.h>
#include <stdlib.h>

static bool at_pixel(const DashSpots *spots, const MouseReport *report, Event *event) {
    int64_t pixel = dash_pixel_at(spots, report->column, report->row);
    *event = (Event){.kind = EVENT_PIXEL, .x = (double)pixel};
    return pixel >= 0;
}

/* Drags the time bar. A sign of the terminal stands for the time at its middle. */
static bool drag_time(const DashSpots *spots, const MouseReport *report, const State *state,
                      Event *event) {
    *event = (Event){.kind = EVENT_COMMAND,
                     .command = spots_drag_time(&spots->clicks, report->column + 0.5, state)};
    return true;
}

static bool press(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                  const State *state, Event *event) {
    double x, y;
    const Command *command = spots_at(&spots->clicks, report->column, report->row);
    *pointer = (TermPointer){.doing = POINTER_CLICK, .has_command = command != NULL};
    pointer->column = report->column;
    pointer->row = report->row;
    if (command)
        pointer->command = *command;
    pointer->on_bev = dash_cell_at(spots, report->column, report->row, &x, &y);
    if (pointer->on_bev && spots->has_wipe && abs(report->column - spots->wipe_column) <= 1)
        pointer->doing = POINTER_WIPE;
    if (spots_on_time(&spots->clicks, report->column, report->row)) {
        pointer->doing = POINTER_TIME;
        return drag_time(spots, report, state, event);
    }
    if (!at_pixel(spots, report, event))
        return false;
    pointer->doing = POINTER_PIXEL;
    return true;
}

/* Handles a click on a cell. The first puts the cursor there; the next pins or releases the
 * cell. */
static bool click_cell(const MouseReport *report, const DashSpots *spots, const State *state,
                       Event *event) {
    *event = (Event){.kind = EVENT_HOVER, .on = true};
    if (!dash_cell_at(spots, report->column, report->row, &event->x, &event->y))
        return false;
    if (state->cursor_shown && floor(event->x) == (double)state->cursor_x &&
        floor(event->y) == (double)state->cursor_y)
        event->kind = EVENT_CLICK;
    return true;
}

static bool release(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                    const State *state, Event *event) {
    const TermPointer was = *pointer;
    const Command *command = spots_at(&spots->clicks, report->column, report->row);
    pointer->doing = POINTER_UP;
    if (was.doing != POINTER_CLICK && was.doing != POINTER_PIXEL)
        return false;
    if (was.on_bev)
        return click_cell(report, spots, state, event);
    *event = (Event){.kind = EVENT_COMMAND};
    if (!was.has_command || !command || !same_command(command, &was.command))
        return false;
    event->command = *command;
    return true;
}

static bool move(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                 const State *state, Event *event) {
    double x, y, from_x, from_y;
    int column = pointer->column, row = pointer->row;
    if (pointer->doing == POINTER_UP || (report->column == column && report->row == row))
        return false;
    pointer->column = report->column;
    pointer->row = report->row;
    if (pointer->doing == POINTER_PIXEL)
        return at_pixel(spots, report, event);
    if (pointer->doing == POINTER_TIME)
        return drag_time(spots, report, state, event);
    if (pointer->doing == POINTER_CLICK && pointer->on_bev)
        pointer->doing = POINTER_PAN;
    if (pointer->doing == POINTER_CLICK || spots->bev.w <= 0)
        return false;
    dash_cell_at(spots, column, row, &from_x, &from_y);
    dash_cell_at(spots, report->column, report->row, &x, &y);
    if (pointer->doing == POINTER_PAN)
        *event = (Event){.kind = EVENT_DRAG, .x = x - from_x, .y = y - from_y};
    else /* the whole grid is as wide as the picture, whatever part of it is in view */
        *event = (Event){.kind = EVENT_WIPE, .x = 1 - y / (double)state->scene.ny};
    return true;
}

bool term_pointer_follow(TermPointer *pointer, const MouseReport *report, const DashSpots *spots,
                         const State *state, Event *event) {
    if (report->column < 0 || report->row < 0 || report->column >= state->columns ||
        report->row >= state->rows) {
        pointer->doing = report->kind == MOUSE_MOVE ? pointer->doing : POINTER_UP;
        return false;
    }
    switch (report->kind) {
    case MOUSE_PRESS:
        return press(pointer, report, spots, state, event);
    case MOUSE_RELEASE:
        return release(pointer, report, spots, state, event);
    case MOUSE_MOVE:
        return move(pointer, report, spots, state, event);
    case MOUSE_HOVER:
        return false; /* spots_tip answers */
    case MOUSE_MENU:
        *event = (Event){.kind = EVENT_COMMAND,
                         .command = spots_menu(&spots->clicks, report->column, report->row)};
        return true;
    case MOUSE_WHEEL:
        *event = (Event){.kind = EVENT_COMMAND};
        if (spots_wheel(&spots->clicks, report->column, report->row, report->steps,
                        &event->command))
            return true;
        *event = (Event){.kind = EVENT_WHEEL, .steps = report->steps};
        return dash_cell_at(spots, report->column, report->row, &event->x, &event->y);
    }
    return false;
}
