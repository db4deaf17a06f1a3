/* SPDX-License-Identifier: MIT */
/* The column beside the picture, in terminal and window alike: which panels stand there. */
#include "src/view/panel/panel.h"

/* The panels of the default page. The first ones keep their places, whatever the last ones show. */
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

/* Returns what is shown in the last places. NULL: their own panels. */
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

/* ---- what floats over the panels ------------------------------------------------------------- */

/* Returns a place of w x h in the room that hides the least of the picture. The place is under the
 * picture, or beside it where `least_w` columns have room. Otherwise it is the room's lower end. */
static Area place_overlay(Area room, Area picture, int w, int h, int least_w) {
    enum { GAP = 1 };
    const int left = picture.x - GAP - room.x;
    const int right = room.x + room.w - picture.x - picture.w - GAP;
    const int under = room.y + room.h - picture.y - picture.h, beside = left > right ? left : right;
    const bool stands_beside = picture.w && under < h && beside >= least_w;
    const int room_w = stands_beside && beside < room.w ? beside : room.w;
    w = w < room_w ? w : room_w;
    h = h < room.h ? h : room.h;
    return (Area){picture.w && left > right ? room.x : room.x + room.w - w, room.y + room.h - h, w,
                  h};
}

/* Draws the palette. The typed text keeps its place, while rows come and go under it. */
void palette_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 110, LEAST_W = 28, LOW = 9, HIGH_FROM = 26 };
    int edges = sheet->pixels ? 2 : 1, most = room.h < HIGH_FROM ? LOW : PALETTE_HIGH;
    int rows = panel_want(sheet, &palette_panel, data, room.w);
    Area at = place_overlay(room, picture, MOST_W, most + edges, LEAST_W);
    at.h = rows + edges < at.h ? rows + edges : at.h;
    panel_draw(sheet, sheet_float(sheet, at), &palette_panel, data);
}

void help_float(Sheet *sheet, Area room, Area picture, const PanelData *data) {
    enum { MOST_W = 82, LEAST_W = 70 };
    int w = data->state->glossary ? LEAST_W : MOST_W, edges = sheet->pixels ? 4 : 2;
    int rows = help_rows(sheet, (w < room.w ? w : room.w) - 4, data->state);
    Area at = place_overlay(room, picture, w, rows + edges, LEAST_W);
    help_draw(sheet, sheet_float(sheet, at), data);
}
