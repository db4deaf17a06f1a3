/* SPDX-License-Identifier: MIT */
/* Draws the window's panels: the column beside the picture, and the rows around it. */
#include "src/view/panel/pen_sheet.h"
#include "src/view/window/window_internal.h"

#include <math.h>

enum {
    SIDE_PANELS = 16,
    COLUMN_LEAST_W = 440,
    COLUMN_GAP = 28,
    CAPTION_ROW = 42, /* its text is two thirds as high */
    SHARE_SLACK = 60
};

/* Panels with fixed places: those above stay, whatever the last places show. */
static const Panel *const usual[] = {&headline_panel, &why_panel,    &resident_panel,
                                     &right_panel,    &points_panel, &findings_panel,
                                     NULL};
static const Panel *const large[] = {&headline_panel, &why_panel, &resident_panel, &right_panel,
                                     NULL};
static const Panel *const small[] = {&headline_panel, &why_panel, NULL};
/* The second column of a wide window. */
static const Panel *const beside[] = {&kernels_panel,   &accuracy_panel, &memory_panel,
                                      &intervals_panel, &pipeline_panel, NULL};

/* Other pages of the column; the first panels with room are drawn. */
static const Panel *const tables[] = {&kernels_panel, &accuracy_panel,  &memory_panel,
                                      &intervals_panel, &objects_panel, &pipeline_panel,
                                      NULL};
static const Panel *const with_bits[] = {&bits_panel, &accuracy_panel, &kernels_panel, NULL};
static const Panel *const with_steps[] = {&steps_panel, NULL};
static const Panel *const with_lesson[] = {
    &lesson_panel,   &bits_panel,   &model_panel,     &kernels_panel,
    &accuracy_panel, &memory_panel, &intervals_panel, NULL};

/* Whether the column shows a chart. A pinned cell takes the chart's place. */
static bool has_chart(const WindowView *view) {
    return view->state->chart != CHART_NONE && !view->state->pinned &&
           view->live->job.config.kernel;
}

/* The page of the column in place of the fixed panels; NULL: those. */
static const Panel *const *other_page(const WindowView *view) {
    return view->state->lesson.open ? with_lesson
           : view->state->bits.open ? with_bits
           : view->live->frame.steps ? with_steps
           : view->state->all && !has_chart(view) && !view->state->large ? tables
                                                                         : NULL;
}

/* Draws panels that `drawn` does not have, as far as they fit. `panels` ends with NULL. */
static void draw_column(const WindowView *view, Box box, const Panel *const *panels,
                        bool drawn[SIDE_PANELS]) {
    const PanelData data = {.state = view->state, .live = view->live, .roomy = true};
    const LessonPane *lesson = &view->state->lesson;
    Sheet sheet = pen_sheet(view->pen, box, SHEET_ROW, view->spots);
    Stack stack = {.area = {0, 0, sheet.columns, sheet.rows}};
    if (lesson->open)
        stack.point = lesson->point;
    if (!drawn[0])
        stack_add_whole(&sheet, &stack, panels[0], &data);
    for (int i = 1; panels[i]; i++) /* the panel that a lesson points at comes first */
        if (stack.point != PANEL_NONE && panels[i]->point == stack.point && !drawn[i])
            stack_add_whole(&sheet, &stack, panels[i], &data);
    for (int i = 1; panels[i]; i++)
        if (!drawn[i])
            stack_add_whole(&sheet, &stack, panels[i], &data);
    for (int i = 0; panels[i]; i++)
        for (int p = 0; p < stack.count; p++)
            drawn[i] |= stack.panels[p] == panels[i];
    stack_draw(&sheet, &stack, &data);
}

void window_draw_panels(const WindowView *view, Box box, const Panel *const *panels) {
    bool drawn[SIDE_PANELS] = {false};
    draw_column(view, box, panels, drawn);
}

/* ---- the chart of the memory model: in the column, otherwise over the BEV -------------------- */

enum { LEAST_SIDE_H = 320 };

static bool chart_fits(const WindowView *view) {
    const Box *side = &view->layout.side;
    return side->w >= WINDOW_SIDE_W && side->h >= LEAST_SIDE_H;
}

void window_draw_chart_over(const WindowView *view) {
    static const Panel *const panels[] = {&model_panel, NULL};
    const WindowLayout *at = &view->layout;
    double right = at->w - WINDOW_MARGIN, bottom = at->log.w > 0 ? at->log.y : at->h;
    if (!has_chart(view) || chart_fits(view))
        return;
    Box box = {WINDOW_MARGIN, at->bev.y - 4, right - WINDOW_MARGIN, bottom - at->bev.y};
    double under = at->keys.w > 0 ? at->keys.y : at->h;
    pen_fill(view->pen, (Box){0, box.y - 4, at->w, under - box.y + 4}, view->pen->theme->page, 1);
    window_draw_panels(view, box, panels);
}

void window_draw_race(const WindowView *view) {
    enum { ROWS = 34 };
    const WindowLayout *at = &view->layout;
    const PanelData data = {.state = view->state,
                            .live = view->live,
                            .bev = view->picture ? &view->picture->bev.image : NULL};
    double top = at->header.w > 0 ? at->time.y + at->time.h + WINDOW_GAP : WINDOW_MARGIN;
    double bottom = at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
    Box box = {WINDOW_MARGIN, top, at->w - 2 * WINDOW_MARGIN, bottom - top};
    if (!view->state->race || view->state->lesson.open)
        return;
    pen_fill(view->pen, (Box){0, 0, at->w, at->h}, view->pen->theme->page, 1);
    spots_clear(view->spots);
    Sheet sheet = pen_sheet(view->pen, box, fmax(box.h / ROWS, SHEET_ROW), view->spots);
    race_page_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

/* ---- the column ----------------------------------------------------------------------------- */

/* Returns the number of columns of a page. */
static int column_count(double w) {
    int columns = (int)((w + COLUMN_GAP) / (COLUMN_LEAST_W + COLUMN_GAP));
    return columns < 1 ? 1 : columns;
}

/* Returns the height of all panels below each other, in a column of width `w`. */
static double wanted_height(const WindowView *view, double w, const Panel *const *panels) {
    const PanelData data = {.state = view->state, .live = view->live, .roomy = true};
    Sheet sheet = pen_sheet(view->pen, (Box){0, 0, w, view->layout.h}, SHEET_ROW, NULL);
    int rows = 0;
    for (int i = 0; panels[i]; i++)
        if (!panels[i]->shown || panels[i]->shown(&data))
            rows += 1 + panel_want(&sheet, panels[i], &data, sheet.columns);
    return rows * SHEET_ROW;
}

static void draw_page(const WindowView *view, Box side, const Panel *const *panels) {
    int columns = column_count(side.w);
    double w = (side.w - COLUMN_GAP * (columns - 1)) / columns, bottom = side.y + side.h;
    double wanted = wanted_height(view, w, panels);
    bool drawn[SIDE_PANELS] = {false};
    for (int i = 0; i < columns; i++) {
        bool last = i == columns - 1;
        double foot = last ? bottom : fmin(bottom, side.y + wanted / columns + SHARE_SLACK);
        draw_column(view, (Box){side.x + i * (w + COLUMN_GAP), side.y, w, foot - side.y}, panels,
                    drawn);
    }
}

/* ---- panels with fixed places, and what takes the last ones ---------------------------------- */

/* Heights of rows: their text is two thirds as high, of 720 pixels 2 % in the usual column. */
enum { USUAL_ROW = 21, LARGE_ROW = 28, LEGEND_PAD = 8 };

/* Whether colours need more explanation than the picture gives. */
static bool has_legend(const WindowView *view) {
    return window_has_bev(view) && (view->picture->bev.difference ||
                                    view->picture->bev.view != VIEW_COLOR);
}

static double draw_legend(const WindowView *view, Box place) {
    FigurePanel panel = window_panel(view);
    double h = legend_block(view->pen, &view->whole, &panel, place.x, place.y, place.w);
    if (!view->pen->measuring && isfinite(panel_field(&panel)->full_mass))
        spots_add_figure(view->spots, (Box){place.x, place.y, place.w, h},
                         &(Origin){.topic = ORIGIN_MASS});
    return h;
}

static double legend_rows(const WindowView *view, double w, double row_h) {
    bool before = view->pen->measuring;
    view->pen->measuring = true;
    double h = draw_legend(view, (Box){0, 0, w, 0});
    view->pen->measuring = before;
    return ceil((h + LEGEND_PAD) / row_h);
}

/* What is shown in the place of the last panels; NULL: nothing. */
static const Panel *guest_of(const WindowView *view, const PanelData *data, const Panel *legend) {
    const Panel *const guests[] = {&model_panel, &gradients_panel, &objects_panel};
    if (view->live->probe.cell >= 0 || view->state->pinned)
        return &cell_panel;
    for (int i = has_chart(view) ? 0 : 1; i < 3; i++)
        if (guests[i]->shown(data))
            return guests[i];
    return has_legend(view) ? legend : NULL;
}

static void draw_fixed(const WindowView *view, Box box, double row_h, const Panel *const *panels) {
    const PanelData data = {.state = view->state, .live = view->live, .roomy = true};
    Sheet sheet = pen_sheet(view->pen, box, row_h, view->spots);
    Panel legend = {.height = has_legend(view) ? (int)legend_rows(view, box.w, row_h) : 0};
    Panel chart = model_panel;
    chart.height = sheet.rows / 2; /* less is no chart that can be read */
    Stack stack = {.area = {0, 0, sheet.columns, sheet.rows}};
    if (panels == usual)
        stack.guest = guest_of(view, &data, &legend);
    if (stack.guest == &model_panel)
        stack.guest = &chart;
    for (int i = 0; panels[i]; i++)
        stack.panels[stack.count++] = panels[i];
    stack_draw(&sheet, &stack, &data);
    if (stack.guest == &legend)
        draw_legend(view, sheet_box(&sheet, stack.place));
}

void window_draw_side(const WindowView *view) {
    enum { SMALL_H = 300 };
    Box side = view->layout.side;
    const Panel *const *page = other_page(view);
    if (side.w <= 0 || (has_chart(view) && !chart_fits(view)))
        return;
    if (page) {
        draw_page(view, side, page);
        return;
    }
    bool two = side.w >= 2 * COLUMN_LEAST_W + COLUMN_GAP && !view->state->large;
    double w = two ? (side.w - COLUMN_GAP) / 2 : side.w;
    const double row_h = view->state->large   ? LARGE_ROW
                         : side.h < SMALL_H ? SHEET_ROW
                                            : USUAL_ROW;
    draw_fixed(view, (Box){side.x, side.y, w, side.h}, row_h,
               view->state->large ? large
               : side.h < SMALL_H ? small
                                  : usual);
    if (two)
        draw_fixed(view, (Box){side.x + w + COLUMN_GAP, side.y, w, side.h}, row_h, beside);
}

/* ---- rows around the picture ----------------------------------------------------------------- */

/* Returns a row in the middle of `box`, with a margin at the window's edge. */
static Sheet row_in(const WindowView *view, Box box, double row_h, double margin) {
    Box row = {box.x + margin, box.y + (box.h - row_h) / 2, box.w - 2 * margin, row_h};
    return pen_sheet(view->pen, row, row_h, view->spots);
}

void window_draw_header(const WindowView *view) {
    const PanelData data = {.state = view->state, .live = view->live};
    Sheet sheet = row_in(view, view->layout.header, WINDOW_LINE, 0);
    if (view->layout.header.w > 0)
        title_draw(&sheet, (Area){0, 0, sheet.columns, 1}, &data);
    const Box *time = &view->layout.time;
    Sheet bar = pen_sheet(view->pen, *time, time->h, view->spots);
    if (time->w > 0)
        time_bar_draw(&bar, (Area){0, 0, bar.columns, 1}, &data);
}

/* A caption is drawn large over log and key bar. */
static bool draw_caption(const WindowView *view) {
    const Box *log = &view->layout.log;
    Box band = {0, log->y, view->layout.w, view->layout.h - log->y};
    if (!view->state->caption[0] || log->w <= 0)
        return false;
    Box text = {WINDOW_MARGIN, band.y, band.w - 2 * WINDOW_MARGIN, band.h};
    Sheet sheet = pen_sheet(view->pen, text, CAPTION_ROW, NULL);
    /* bold text is an eighth wider than the sheet tells */
    while (sheet.row_h > SHEET_ROW &&
           sheet_width(&sheet, view->state->caption) * 9 / 8 > sheet.columns)
        sheet = pen_sheet(view->pen, text, sheet.row_h - 1, NULL);
    sheet.top += (band.h - sheet.row_h) / 2;
    pen_fill(view->pen, band, ink_color(INK_SELECTED, sheet.light, true), 1);
    caption_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
    return true;
}

void window_draw_log(const WindowView *view) {
    const PanelData data = {.state = view->state, .live = view->live};
    Sheet sheet = row_in(view, view->layout.log, WINDOW_LINE - 1, 0);
    if (view->layout.log.w > 0 && !view->state->caption[0])
        log_draw(&sheet, (Area){0, 0, sheet.columns, 1}, &data);
}

void window_draw_keys(const WindowView *view) {
    Box bar = view->layout.keys;
    Sheet sheet = row_in(view, bar, SHEET_ROW, WINDOW_MARGIN);
    if (draw_caption(view) || bar.w <= 0)
        return;
    pen_fill(view->pen, bar, view->pen->theme->tint, 1);
    key_bar_draw(&sheet, (Area){0, 0, sheet.columns, 1}, view->state);
}

/* Returns the place between header and log, and the BEV with its axes. */
static Box room_and_picture(const WindowView *view, Box *picture) {
    const WindowLayout *at = &view->layout;
    double bottom = at->log.w > 0 ? at->log.y : at->h - WINDOW_MARGIN;
    *picture = (Box){at->bev.x - WINDOW_GAP, at->bev.y, at->bev.w + 2 * WINDOW_GAP, at->bev.h};
    return (Box){WINDOW_MARGIN, WINDOW_MARGIN, at->w - 2 * WINDOW_MARGIN, bottom - WINDOW_MARGIN};
}

/* Returns the sheet with the largest text in which all keys have room, and its rows. If none has,
 * the smallest text with names only; the glossary has no names alone. Found by bisection. */
static Sheet help_sheet(const WindowView *view, Box in, int *rows) {
    enum { LARGEST = 17, LEAST = 13, SMALLEST = 11, STEPS = 2 }; /* STEPS for each pixel */
    for (int brief = view->state->glossary; brief < 2; brief++) {
        int fits = 0, end = STEPS * (LARGEST - (brief ? SMALLEST : LEAST)) + 1, count = end;
        while (fits < end) {
            int middle = (fits + end) / 2;
            Sheet sheet = pen_sheet(view->pen, in, LARGEST - (double)middle / STEPS, NULL);
            if (help_fits(&sheet, view->state, brief))
                end = middle;
            else
                fits = middle + 1;
        }
        Sheet sheet = pen_sheet(view->pen, in, LARGEST - (double)fits / STEPS, NULL);
        *rows = fits < count ? help_fits(&sheet, view->state, brief) : sheet.rows;
        if (fits < count)
            return sheet;
    }
    return pen_sheet(view->pen, in, SMALLEST, NULL);
}

/* The keys stand beside the picture where they have room; the glossary needs the whole window. */
void window_draw_help(const WindowView *view) {
    enum { PAD = 18, W = 640, LEAST_W = 480 };
    const PanelData data = {.state = view->state, .live = view->live};
    Box picture, room = room_and_picture(view, &picture);
    int rows;
    if (!view->state->help)
        return;
    Box box = overlay_place(room, picture, W, room.h, LEAST_W);
    if (view->state->glossary || box.x < picture.x + picture.w)
        box = room;
    Sheet sheet = help_sheet(
        view, (Box){box.x + PAD, box.y + PAD, box.w - 2 * PAD, box.h - 2 * PAD}, &rows);
    double spare = fmax(box.h - rows * sheet.row_h - 2 * PAD, 0);
    box.y += spare;
    box.h -= spare;
    sheet.top += spare;
    pen_fill(view->pen, box, view->pen->theme->page, 1);
    pen_frame(view->pen, box, view->pen->theme->rule, 1, 1.5);
    if (view->spots)
        spots_cover(view->spots, box);
    help_draw(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, &data);
}

void window_draw_palette(const WindowView *view) {
    enum { ROW = 20 };
    const PanelData data = {.state = view->state, .live = view->live};
    Box picture, room = room_and_picture(view, &picture);
    if (!view->state->palette.open)
        return;
    Sheet sheet = pen_sheet(view->pen, room, ROW, view->spots);
    double w = sheet.column_w, h = sheet.row_h;
    Area of = {(int)((picture.x - room.x) / w), (int)((picture.y - room.y) / h),
               (int)ceil(picture.w / w), (int)ceil(picture.h / h)};
    palette_float(&sheet, (Area){0, 0, sheet.columns, sheet.rows}, of, &data);
}
