/* SPDX-License-Identifier: MIT */
/* All panels, panels above one another, and the column beside the picture: which panels stand
 * there, in terminal and window alike. */
#include "src/view/panel/panel.h"

#include <limits.h>
#include <math.h>
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

/* The panels that are drawn above one another in an area. */
typedef struct {
    const Panel *panels[STACK_PANELS];
    int count;
    int heights[STACK_PANELS], gap; /* rows */
    bool brief;                     /* the questions have no room for more than their answers */
    bool pixels;
    Area area;
    LessonPanel point; /* a lesson points at this panel */
} Stack;

/* Ranks of folding: a question of the page has QUESTION or more, a lesson's panel POINTED_AT. */
enum { QUESTION = 6, POINTED_AT = INT_MAX };

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
    return pointed ? POINTED_AT : stack->panels[i]->fold;
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
static void share_rows(Sheet *sheet, Stack *stack, const PanelData *data) {
    int spare = stack->area.h - least_height(stack);
    for (int i = 0; i < stack->count; i++)
        stack->heights[i] = least_rows(stack, stack->panels[i]);
    for (int rank = 1; rank <= STACK_PANELS; rank++)
        for (int i = 0; i < stack->count; i++) {
            if (stack->panels[i]->grow != rank)
                continue;
            int more = panel_want(sheet, stack->panels[i], data, stack->area.w) - stack->heights[i];
            more = (int)fmax(fmin(more, spare), 0);
            stack->heights[i] += more;
            spare -= more;
        }
    int roomy = stack->count > 1 ? spare / (stack->count - 1) : 0;
    stack->gap = GAP + (roomy > 2 ? 2 : roomy);
}

/* Returns the rows of a guest, which takes the last panels' place: at most half of all rows. */
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
    share_rows(sheet, &stack, data);
    int needed = guest ? guest_rows(sheet, &stack, guest, data) : 0;
    for (int i = 0; i < stack.count; i++) {
        const int h = stack.heights[i];
        const bool guest_fits_below = i + 1 < stack.count && area.h - h - stack.gap >= needed;
        if (guest && i > 0 && !guest_fits_below) { /* the guest ends the stack from here on */
            panel_draw(sheet, area, guest, data);
            return;
        }
        const Area at = {area.x, area.y, area.w, h < area.h ? h : area.h};
        panel_draw(sheet, at, stack.panels[i], data);
        if (fold_rank(&stack, i) == POINTED_AT)
            sheet->back->frame(sheet, at);
        area = area_below(area, h + stack.gap);
    }
}

/* ---- the column beside the picture ----------------------------------------------------------- */

/* The panels of the default page. The first panels never move; a guest can hide the last ones. */
static const Panel *const questions[] = {
    &headline_panel, &why_panel, &resident_panel, &right_panel, &points_panel,
    &findings_panel, NULL};
static const Panel *const large[] = {&headline_panel, &why_panel, &resident_panel, &right_panel,
                                     NULL};

/* Beside the questions on a wide screen. */
static const Panel *const pictures[] = {&race_panel, &curve_panel, NULL};

/* Other pages of the column. */
static const Panel *const tables[] = {
    &kernels_panel, &accuracy_panel, &memory_panel, &intervals_panel,
    &objects_panel, &pipeline_panel, NULL};
static const Panel *const with_bits[] = {&bits_panel, &accuracy_panel, &kernels_panel, NULL};
static const Panel *const with_steps[] = {&steps_panel, NULL};

/* The facts about a picture that stands alone. */
static const Panel *const facts[] = {&operator_panel,  &camera_panel, &cell_panel,
                                     &gradients_panel, &legend_panel, NULL};

enum { COLUMN_GAP = 3, TWO_COLUMNS_W = 110, TWO_IN_PIXELS_W = 100 };

bool steps_are_two(const PanelData *data) {
    const LiveSteps *steps = data->live->frame.steps;
    return data->state->job.steps && !data->state->bits.open && steps && steps->baseline.step_count;
}

/* Returns the guest: the panel in place of the last panels of the default page. NULL: none. */
static const Panel *guest_of(const PanelData *data) {
    static const Panel *const guests[] = {&cell_panel,    &model_panel,  &gradients_panel,
                                          &objects_panel, &legend_panel, NULL};
    if (gradients_panel.shown(data) && !model_panel.shown(data))
        return &gradients_panel; /* backward a cell is where the loss is */
    for (int i = 0; guests[i]; i++)
        if (guests[i]->shown(data))
            return guests[i];
    return NULL;
}

/* Draws what is open beside a lesson, and the panel that the lesson points at. All other figures
 * are covered until the last question is answered, because they could be an answer. */
static void lesson_column(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    const LessonPanel point = state->lesson.point;
    const Panel *list[STACK_PANELS] = {sheet->pixels ? &lesson_panel : &legend_panel, &bits_panel};
    int count = 2;
    if (state->job.steps)
        list[count++] = &steps_panel;
    if (!lesson_asks(&state->lesson) || point == PANEL_MODEL)
        list[count++] = &model_panel;
    for (int i = 0; tables[i]; i++)
        if (point != PANEL_NONE && tables[i]->point == point)
            list[count++] = tables[i];
    if (state->lesson.covers && !sheet->pixels)
        area = area_below(area, 1 + sheet_paragraph(sheet, area, INK_MUTED,
                                                    "All figures come with the last answer."));
    stack_draw(sheet, area, list, NULL, data);
}

void side_draw(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    if (state->lesson.open && (sheet->pixels || state->lesson.covers)) {
        lesson_column(sheet, area, data);
        return;
    }
    const Panel *const *page = state->bits.open   ? with_bits
                               : state->job.steps ? with_steps
                               : state->large     ? large
                               : state->all       ? tables
                                                  : questions;
    const Panel *guest = page == questions ? guest_of(data) : NULL;
    bool two = area.w >= (sheet->pixels ? TWO_IN_PIXELS_W : TWO_COLUMNS_W) && page == questions;
    int w = two ? (area.w - COLUMN_GAP) / 2 : area.w;
    Area beside = {area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h};
    stack_draw(sheet, (Area){area.x, area.y, w, area.h}, page, two ? NULL : guest, data);
    if (two)
        stack_draw(sheet, beside, pictures, guest, data);
}

void facts_draw(Sheet *sheet, Area area, const PanelData *data) {
    stack_draw(sheet, area, facts, NULL, data);
}
