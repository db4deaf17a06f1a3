/* SPDX-License-Identifier: MIT */
#include "src/view/panel/spots.h"

#include "src/view/bev/strip.h"
#include "src/view/bev/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void spots_clear(Spots *spots) {
    if (!spots)
        return;
    spots->count = spots->figure_count = 0;
    spots->time.w = spots->over.w = spots->bev.w = 0;
    spots->wipe_x = NAN;
    memset(spots->cameras, 0, sizeof spots->cameras);
}

void spots_cover(Spots *spots, Box box) {
    spots->over = box;
    spots->over_spots = spots->count;
    spots->over_figures = spots->figure_count;
}

void spots_add(Spots *spots, Box box, Action action, int step, const char *argument) {
    if (!spots || spots->count == SPOTS_MAX)
        return;
    Command *command = &spots->list[spots->count].command;
    *command = (Command){.action = action, .step = step};
    snprintf(command->argument, sizeof command->argument, "%s", argument);
    spots->list[spots->count++].box = box;
}

static bool inside(const Box *box, double x, double y) {
    return x >= box->x && x < box->x + box->w && y >= box->y && y < box->y + box->h;
}

void spots_add_figure(Spots *spots, Box box, const Origin *origin) {
    if (!spots || spots->figure_count == FIGURES_MAX)
        return;
    spots->figures[spots->figure_count].box = box;
    spots->figures[spots->figure_count++].origin = *origin;
}

bool spots_over(const Spots *spots, double x, double y) {
    return inside(&spots->over, x, y);
}

int64_t spots_pixel(const Spots *spots, double x, double y, const State *state,
                    const LiveFrame *frame) {
    const Frustum frustum = frame_frustum(frame);
    if (spots_over(spots, x, y) ||
        !(frame->gradients.grad_feat || (frame->rig && state->strip == STRIP_DROPPED)))
        return -1;
    for (int i = 0; i < RIG_MAX_CAMERAS; i++) {
        const Box *box = &spots->cameras[i];
        if (inside(box, x, y))
            return i * frame->shape.feat_h * frame->shape.feat_w +
                   gradient_pixel(&frustum, frustum.input_w, frustum.input_h,
                                  (int64_t)((x - box->x) / box->w * frustum.input_w),
                                  (int64_t)((y - box->y) / box->h * frustum.input_h));
    }
    return -1;
}

/* Returns the figure drawn last of those under the point, which is the smallest; -1: none. */
static int figure_at(const Spots *spots, double x, double y) {
    int first = spots_over(spots, x, y) ? spots->over_figures : 0, i = spots->figure_count - 1;
    while (i >= first && !inside(&spots->figures[i].box, x, y))
        i--;
    return i < first ? -1 : i;
}

static int spot_at(const Spots *spots, double x, double y) {
    int i = spots_over(spots, x, y) ? spots->over_spots : 0;
    while (i < spots->count && !inside(&spots->list[i].box, x, y))
        i++;
    return i < spots->count ? i : -1;
}

const Origin *spots_figure(const Spots *spots, double x, double y) {
    int figure = figure_at(spots, x, y);
    return figure < 0 ? NULL : &spots->figures[figure].origin;
}

bool spots_answer(const Spots *spots, double x, double y, const State *state, const LiveData *live,
                  char text[ORIGIN_TEXT_MAX]) {
    const Origin *origin = spots_figure(spots, x, y);
    if (origin)
        origin_text(state, live, origin, text);
    return origin != NULL;
}

bool spots_on_time(const Spots *spots, double x, double y) {
    const Box *bar = &spots->time;
    double slack = bar->h > 1 ? 3 : 0; /* in pixels: a thin bar is hard to hit */
    return bar->w > 0 && !spots_over(spots, x, y) &&
           inside(&(Box){bar->x, bar->y - slack, bar->w, bar->h + 2 * slack}, x, y);
}

/* Returns the box under a point. A command's box comes before the figures in it: a click is about
 * the whole row. */
const Box *spots_box(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y), figure = figure_at(spots, x, y);
    if (spots_on_time(spots, x, y))
        return &spots->time;
    if (spot >= 0)
        return &spots->list[spot].box;
    return figure < 0 || spots->figures[figure].origin.topic == ORIGIN_PICTURE
               ? NULL
               : &spots->figures[figure].box;
}

const Command *spots_at(const Spots *spots, double x, double y) {
    int spot = spot_at(spots, x, y);
    return spot < 0 ? NULL : &spots->list[spot].command;
}

const KeyRow *spots_control(const Spots *spots, double x, double y) {
    const Command *command = spots_at(spots, x, y);
    if (!command || command->action != ACTION_COMMANDS)
        return command ? &keys[command->action] : NULL;
    return keys_beginning(command->argument);
}

Command spots_drag_time(const Spots *spots, double x, const State *state) {
    Command command = {.action = ACTION_STEP};
    double part = fmax(0, fmin((x - spots->time.x) / spots->time.w, 1));
    double to_s = spots->from_s + part * (spots->to_s - spots->from_s);
    snprintf(command.argument, sizeof command.argument, "%.3f", to_s - state->job.time_s);
    return command;
}

Command spots_menu(const Spots *spots, double x, double y) {
    const KeyRow *control = spots_control(spots, x, y);
    Command command = {.action = ACTION_COMMANDS};
    snprintf(command.argument, sizeof command.argument, "%s%s", control ? control->word : "on",
             control ? " " : "");
    return command;
}

bool spots_wheel(const Spots *spots, double x, double y, double steps, Command *command) {
    const KeyRow *control = spots_control(spots, x, y);
    if (!control || control->group >= GROUP_LESSON || steps == 0)
        return false;
    *command = (Command){.action = control->action, .step = steps > 0 ? -1 : 1};
    return true;
}
