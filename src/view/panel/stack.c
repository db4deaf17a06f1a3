/* SPDX-License-Identifier: MIT */
/* All panels, and panels above one another. */
#include "src/view/panel/panel.h"

#include <limits.h>
#include <string.h>

static bool is_backward(const PanelData *data) {
    const BevKernel *kernel = data->state->job.config.kernel;
    return kernel && kernel->direction == BEV_BACKWARD;
}

/* Whether colours need more explanation than the picture gives. */
static bool has_legend(const PanelData *data) {
    const BevPicture *bev = data->picture ? &data->picture->bev : NULL;
    return bev && bev->ready && (bev->difference || bev->view != VIEW_COLOR);
}

#define PANEL(name, origin, menu, point, fold, grow, height, brief, taller, usual, want, shown)    \
    static bool is_##name##_shown(const PanelData *data) {                                         \
        (void)data;                                                                                \
        return shown;                                                                              \
    }                                                                                              \
    const Panel name##_panel = {                                                                   \
        ORIGIN_##origin, menu, PANEL_##point,     fold,       grow, height, brief, taller,         \
        usual,           want, is_##name##_shown, name##_draw};
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

int panel_want(const Sheet *sheet, const Panel *panel, const PanelData *data, int width) {
    enum { ALL_ROWS = 200 };
    Sheet quiet = sheet_quiet(sheet);
    if (panel->want || panel->usual)
        return panel->want ? panel->want(&quiet, data, width) : panel->usual;
    panel->draw(&quiet, (Area){0, 0, width, ALL_ROWS}, data);
    return quiet.bottom;
}

/* The panels of a place that have room. */
typedef struct {
    const Panel *panels[STACK_PANELS];
    int count;
    bool brief; /* the questions have no room for more than their answers */
    bool pixels;
    Area area;
    LessonPanel point; /* a lesson points at this panel */
} Stack;

enum { QUESTION = 6 }; /* the fold of a question, or a higher one */

/* The rows of a panel, at least. */
static int least_rows(const Stack *stack, const Panel *panel) {
    if (stack->brief && panel->brief)
        return panel->brief;
    return panel->height + (stack->pixels ? panel->taller : 0);
}

static int least_height(const Stack *stack) {
    int height = GAP * (stack->count - 1);
    for (int i = 0; i < stack->count; i++)
        height += least_rows(stack, stack->panels[i]);
    return height;
}

static int fold_rank(const Stack *stack, int i) {
    bool pointed = stack->point != PANEL_NONE && stack->panels[i]->point == stack->point;
    return pointed ? INT_MAX : stack->panels[i]->fold;
}

/* Leaves out panels until the rest has room; the questions first shrink to their answers. The last
 * panel stays and is drawn into what there is. */
static void fold_panels(Stack *stack) {
    while (stack->count > 1 && least_height(stack) > stack->area.h) {
        int first = 0;
        for (int i = 1; i < stack->count; i++)
            if (fold_rank(stack, i) < fold_rank(stack, first))
                first = i;
        if (!stack->brief && fold_rank(stack, first) >= QUESTION)
            stack->brief = true;
        else
            memmove(stack->panels + first, stack->panels + first + 1,
                    sizeof *stack->panels * (size_t)(--stack->count - first));
    }
}

/* Gives rows beyond the least height to the panels in the order of `grow`, then to the gaps. */
static void share_rows(Sheet *sheet, const Stack *stack, const PanelData *data,
                       int heights[STACK_PANELS], int *gap) {
    int spare = stack->area.h - least_height(stack);
    for (int i = 0; i < stack->count; i++)
        heights[i] = least_rows(stack, stack->panels[i]);
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

/* Returns the rows that a guest gets: what it would like where it says so, at most half of all. */
static int guest_rows(const Sheet *sheet, const Stack *stack, const Panel *guest,
                      const PanelData *data) {
    int half = stack->area.h / 2;
    int want = guest->want ? panel_want(sheet, guest, data, stack->area.w) : guest->height;
    want = want < half ? want : half;
    return want > guest->height ? want : guest->height;
}

void stack_draw(Sheet *sheet, Area area, const Panel *const *panels, const Panel *guest,
                const PanelData *data) {
    const LessonPane *lesson = &data->state->lesson;
    Stack stack = {
        .area = area, .pixels = sheet->pixels, .point = lesson->open ? lesson->point : PANEL_NONE};
    for (int i = 0; i < STACK_PANELS && panels[i]; i++)
        if (panels[i]->shown(data))
            stack.panels[stack.count++] = panels[i];
    if (!stack.count || area.h < 1 || area.w < 1)
        return;
    fold_panels(&stack);
    int heights[STACK_PANELS], gap, y = area.y, left = area.h;
    share_rows(sheet, &stack, data, heights, &gap);
    int needed = guest ? guest_rows(sheet, &stack, guest, data) : 0;
    for (int i = 0; i < stack.count; i++) {
        bool more = i + 1 < stack.count && left - heights[i] - gap >= needed;
        if (guest && i && !more) {
            panel_draw(sheet, (Area){area.x, y, area.w, left}, guest, data);
            return;
        }
        Area at = {area.x, y, area.w, heights[i] < left ? heights[i] : left};
        panel_draw(sheet, at, stack.panels[i], data);
        if (fold_rank(&stack, i) == INT_MAX)
            sheet_frame(sheet, at);
        y += heights[i] + gap;
        left -= heights[i] + gap;
    }
}
