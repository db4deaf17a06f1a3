/* SPDX-License-Identifier: MIT */
/* All panels, and panels above one another. */
#include "src/view/panel/panel.h"

#include <limits.h>
#include <string.h>

static bool has_chart(const PanelData *data) {
    return data->state->chart != CHART_NONE;
}

static bool is_backward(const PanelData *data) {
    const BevKernel *kernel = data->state->job.config.kernel;
    return kernel && kernel->direction == BEV_BACKWARD;
}

#define PANEL(name, origin, menu, point, fold, spare, grow, height, usual, want, shown)            \
    static bool is_##name##_shown(const PanelData *data) {                                         \
        (void)data;                                                                                \
        return shown;                                                                              \
    }                                                                                              \
    const Panel name##_panel = {PANEL_##point, ORIGIN_##origin, menu, fold,                        \
                                spare,         grow,            height, usual,                     \
                                want,          is_##name##_shown, name##_draw};
#include "src/view/panel/panels.inc"
#undef PANEL

const Panel *const all_panels[] = {
#define PANEL(name, ...) &name##_panel,
#include "src/view/panel/panels.inc"
#undef PANEL
    NULL};

enum { GAP = 1 };

void panel_draw(Sheet *sheet, Area area, const Panel *panel, const PanelData *data) {
    sheet_origin(sheet, panel->origin, NULL);
    panel->draw(sheet, area, data);
    if (panel->menu && area.h > 0)
        sheet_spot(sheet, (Area){area.x, area.y, area.w, 1}, ACTION_COMMANDS, 0, panel->menu);
}

void stack_add(Stack *stack, const Panel *panel, const PanelData *data) {
    if (!panel->shown || panel->shown(data))
        stack->panels[stack->count++] = panel;
}

int panel_want(const Sheet *sheet, const Panel *panel, const PanelData *data, int width) {
    enum { ALL_ROWS = 200 };
    Sheet quiet = sheet_quiet(sheet);
    if (panel->want || panel->usual)
        return panel->want ? panel->want(&quiet, data, width) : panel->usual;
    panel->draw(&quiet, (Area){0, 0, width, ALL_ROWS}, data);
    return quiet.bottom;
}

void stack_add_whole(Sheet *sheet, Stack *stack, const Panel *panel, const PanelData *data) {
    enum { LATE = 6 };
    int room = stack->area.h;
    if (stack->count == STACK_PANELS || (panel->shown && !panel->shown(data)))
        return;
    for (int i = 0; i < stack->count; i++) {
        int want = panel_want(sheet, stack->panels[i], data, stack->area.w);
        room -= GAP + (want > stack->panels[i]->height ? want : stack->panels[i]->height);
        if (stack->panels[i] == panel)
            return;
    }
    int want = panel_want(sheet, panel, data, stack->area.w);
    if (!stack->count || room >= (panel->fold >= LATE ? panel->height : want))
        stack->panels[stack->count++] = panel;
}

static void stack_remove(Stack *stack, int at) {
    memmove(stack->panels + at, stack->panels + at + 1,
            sizeof *stack->panels * (size_t)(stack->count - at - 1));
    stack->count--;
}

static int least_height(const Stack *stack) {
    int height = GAP * (stack->count - 1);
    for (int i = 0; i < stack->count; i++)
        height += stack->panels[i]->height;
    return height;
}

/* Leaves out panels until the rest has room. The last one stays and is drawn into what there is. */
static int fold_rank(const Stack *stack, int i) {
    bool pointed = stack->point != PANEL_NONE && stack->panels[i]->point == stack->point;
    return pointed ? INT_MAX : stack->panels[i]->fold;
}

static void fold(Stack *stack) {
    while (stack->count > 1 && least_height(stack) > stack->area.h) {
        int first = 0;
        for (int i = 1; i < stack->count; i++)
            if (fold_rank(stack, i) < fold_rank(stack, first))
                first = i;
        stack_remove(stack, first);
    }
}

enum { GROWS_FIRST = 2 }; /* kernels and accuracy */

static bool is_short(Sheet *sheet, const Stack *stack, const PanelData *data,
                     const int heights[STACK_PANELS]) {
    for (int i = 0; i < stack->count; i++)
        if (stack->panels[i]->grow <= GROWS_FIRST &&
            heights[i] < panel_want(sheet, stack->panels[i], data, stack->area.w))
            return true;
    return false;
}

/* Takes out a panel that can be spared; false: there is none. */
static bool spare(Stack *stack) {
    for (int i = 0; i < stack->count; i++)
        if (stack->panels[i]->spare && stack->count > 1 && fold_rank(stack, i) < INT_MAX) {
            stack_remove(stack, i);
            return true;
        }
    return false;
}

/* Gives rows beyond the least height to the panels in the order of `grow`, then to the gaps. */
static void share_rows(Sheet *sheet, const Stack *stack, const PanelData *data,
                       int heights[STACK_PANELS], int *gap) {
    int spare = stack->area.h - least_height(stack);
    for (int i = 0; i < stack->count; i++)
        heights[i] = stack->panels[i]->height;
    for (int rank = 1; rank <= STACK_PANELS; rank++)
        for (int i = 0; i < stack->count; i++) {
            if (stack->panels[i]->grow != rank)
                continue;
            int more = panel_want(sheet, stack->panels[i], data, stack->area.w) - heights[i];
            more = more > spare ? spare : more;
            heights[i] += more > 0 ? more : 0;
            spare -= more > 0 ? more : 0;
        }
    int roomy = stack->count > 1 ? spare / (stack->count - 1) : 0;
    *gap = GAP + (roomy > 2 ? 2 : roomy);
}

/* Whether the guest has room from panel `next` on, where panel next - 1 begins `room` rows above
 * the end. */
static bool follows_fit(const Stack *stack, const int heights[STACK_PANELS], int gap, int next,
                        int room) {
    return next < stack->count && room - heights[next - 1] - gap >= stack->guest->height;
}

void stack_draw(Sheet *sheet, Stack *stack, const PanelData *data) {
    if (!stack->count || stack->area.h < 1 || stack->area.w < 1)
        return;
    fold(stack);
    int heights[STACK_PANELS], gap, y = stack->area.y;
    share_rows(sheet, stack, data, heights, &gap);
    while (is_short(sheet, stack, data, heights) && spare(stack))
        share_rows(sheet, stack, data, heights, &gap);
    const int bottom = stack->area.y + stack->area.h;
    for (int i = 0; i < stack->count; i++) {
        int room = bottom - y;
        if (stack->guest && !follows_fit(stack, heights, gap, i + 1, bottom - y)) {
            stack->place = (Area){stack->area.x, y, stack->area.w, room};
            if (stack->guest->draw)
                panel_draw(sheet, stack->place, stack->guest, data);
            return;
        }
        Area area = {stack->area.x, y, stack->area.w, heights[i] < room ? heights[i] : room};
        panel_draw(sheet, area, stack->panels[i], data);
        if (fold_rank(stack, i) == INT_MAX)
            sheet_frame(sheet, area);
        y += heights[i] + gap;
    }
}
