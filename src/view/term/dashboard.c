/* SPDX-License-Identifier: MIT */
#include "src/view/term/dashboard.h"

#include "src/state/live_text.h"
#include "kernels/clean.h"
#include "src/view/term/dashboard_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STACKS = 3, GAP = 1, COLUMN_GAP = 3 };

/* ---- arrangements --------------------------------------------------------------------------- */

/* What is shown besides the usual panels. */
typedef enum { USUAL, TABLES, WITH_CHART, WITH_STEPS, WITH_BITS, LARGE, BACKWARD } Shows;

enum { TWO_STEPS_W = 200 };

/* Which panels stand side by side on a page of a certain width. */
typedef struct {
    Shows shows; /* LARGE: for a projector, what is read from the back row */
    Page page;
    int columns; /* of the terminal, at least */
    struct {
        int share;                         /* of the width, in percent */
        const Panel *panels[STACK_PANELS]; /* NULL ends */
    } stacks[MAX_STACKS];
} Arrangement;

/* Panels that stand together. An operator scene has bars in place of cameras. */
#define PICTURE &bev_panel, &operator_panel
#define CAMERAS PICTURE, &camera_panel
#define QUESTIONS &headline_panel, &why_panel, &resident_panel, &right_panel
#define FIGURES &kernels_panel, &memory_panel
#define CHECKS &accuracy_panel, &intervals_panel, &objects_panel, &pipeline_panel

/* The first row that fits is taken; body_draw() asks default_draw() before. */
/* clang-format off */
static const Arrangement arrangements[] = {
    {USUAL, PAGE_BEV, 0, {{100, {CAMERAS}}}},
    {USUAL, PAGE_DASHBOARD, 0, {{100, {QUESTIONS, &points_panel, &objects_panel,
                                       &findings_panel}}}},
    {TABLES, PAGE_BEV, 0, {{100, {CAMERAS}}}},
    {TABLES, PAGE_BOTH, 110, {{54, {FIGURES}}, {46, {CHECKS}}}},
    {TABLES, PAGE_DASHBOARD, 110, {{54, {FIGURES}}, {46, {CHECKS}}}},
    {TABLES, PAGE_DASHBOARD, 0, {{100, {FIGURES, CHECKS}}}},
    {WITH_CHART, PAGE_BEV, 0, {{100, {CAMERAS}}}},
    {WITH_CHART, PAGE_DASHBOARD, 0, {{100, {&headline_panel, &model_panel, &why_panel}}}},
    {WITH_STEPS, PAGE_BEV, 0, {{42, {&bev_panel}}, {58, {&camera_panel, &operator_panel}}}},
    {WITH_STEPS, PAGE_BOTH, PAGE_BOTH_COLUMNS, {{66, {&steps_panel}}, {34, {CAMERAS}}}},
    {WITH_STEPS, PAGE_DASHBOARD, 0, {{100, {&steps_panel}}}},
    {WITH_BITS, PAGE_BEV, 0, {{100, {PICTURE}}}},
    {WITH_BITS, PAGE_BOTH, PAGE_BOTH_COLUMNS, {{60, {&bits_panel, &accuracy_panel, &kernels_panel}},
                                               {40, {PICTURE}}}},
    {WITH_BITS, PAGE_DASHBOARD, 0, {{100, {&bits_panel, &accuracy_panel, &kernels_panel}}}},
    {LARGE, PAGE_BEV, 0, {{100, {PICTURE}}}},
    {LARGE, PAGE_DASHBOARD, 0, {{100, {&headline_panel, &why_panel}}}},
    {BACKWARD, PAGE_BEV, 0, {{50, {&bev_panel}}, {50, {&camera_panel, &operator_panel,
                                                       &gradients_panel}}}},
    {BACKWARD, PAGE_DASHBOARD, 0, {{100, {QUESTIONS, &gradients_panel}}}},
};
/* clang-format on */

static Shows shows_of(const State *state) {
    return state->bits.open                                      ? WITH_BITS
           : state->job.steps                                    ? WITH_STEPS
           : state->large                                        ? LARGE
           : state->chart != CHART_NONE                          ? WITH_CHART
           : state->all                                          ? TABLES
           : state->job.config.kernel->direction == BEV_BACKWARD ? BACKWARD
                                                                 : USUAL;
}

static const Arrangement *choose(const State *state, Page page, int columns) {
    for (size_t i = 0; i < sizeof arrangements / sizeof *arrangements; i++) {
        const Arrangement *row = &arrangements[i];
        if (row->shows == shows_of(state) && row->page == page && columns >= row->columns)
            return row;
    }
    /* Too narrow for figures and BEV: show the figures. Tab leads to the BEV. */
    return choose(state, PAGE_DASHBOARD, columns);
}

static LessonPanel pointed_at(const State *state) {
    return state->lesson.open ? state->lesson.point : PANEL_NONE;
}

/* Two kernels side by side leave no room for the BEV on a screen of usual width: Tab leads to it.
 */
static bool two_steps(const PanelData *data, int columns) {
    const LiveSteps *steps = data->live->frame.steps;
    return data->state->job.steps && !data->state->bits.open && steps &&
           steps->baseline.step_count && columns < TWO_STEPS_W;
}

/* ---- the default screen: every panel has its place, whatever it shows ------------------------ */

enum {
    STRIP_FROM_ROWS = 30, /* lower areas have no camera strip */
    STRIP_FROM_W = 100,
    RIGHT_LEAST_W = 46,   /* of the panels beside the BEV */
    TABLES_LEAST_W = 130, /* they have tables in a second column from this width on */
    BEV_TEXTS = 3         /* rows over and under the BEV */
};

/* What is shown in the place of the last panels; NULL: nothing. */
static const Panel *guest_of(const PanelData *data) {
    static const Panel *const guests[] = {&model_panel, &gradients_panel, &objects_panel};
    for (int i = 0; i < 3; i++)
        if (guests[i]->shown(data))
            return guests[i];
    return NULL;
}

static void column_draw(Sheet *sheet, Area area, const Panel *const *panels, const Panel *guest,
                        const PanelData *data) {
    Stack stack = {.area = area, .point = pointed_at(data->state), .guest = guest};
    for (int i = 0; i < STACK_PANELS && panels[i]; i++)
        stack.panels[stack.count++] = panels[i];
    stack_draw(sheet, &stack, data);
}

static void questions_draw(Sheet *sheet, Area area, const PanelData *data) {
    static const Panel *const questions[] = {QUESTIONS, &points_panel, &findings_panel, NULL};
    static const Panel *const tables[] = {&kernels_panel, &accuracy_panel, &memory_panel,
                                          &intervals_panel, &pipeline_panel, NULL};
    static const Panel *const large[] = {&headline_panel, &why_panel, NULL};
    const Panel *guest = guest_of(data);
    if (data->state->large) {
        column_draw(sheet, area, large, NULL, data);
        return;
    }
    bool two = area.w >= TABLES_LEAST_W;
    int w = two ? (area.w - COLUMN_GAP) / 2 : area.w;
    Area beside = {area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h};
    column_draw(sheet, (Area){area.x, area.y, w, area.h}, questions, two ? NULL : guest, data);
    if (two && guest)
        column_draw(sheet, beside, (const Panel *[]){guest, NULL}, NULL, data);
    else if (two)
        column_draw(sheet, beside, tables, NULL, data);
}

/* The camera strip over all, the BEV on the left as large as its rows allow, the panels beside
 * it. */
static void default_draw(Sheet *sheet, Area area, const PanelData *data) {
    if (area.h >= STRIP_FROM_ROWS && area.w >= STRIP_FROM_W) {
        int rows = strip_cells_rows(area.w);
        strip_cells_draw((DashSheet *)sheet, (Area){area.x, area.y, area.w, rows}, data);
        area = area_below(area, rows);
    }
    int least = area.w / 2 > RIGHT_LEAST_W ? area.w / 2 : RIGHT_LEAST_W;
    int most = area.w - COLUMN_GAP - least, w = 2 * (area.h - BEV_TEXTS);
    w = w < most ? w : most;
    panel_draw(sheet, (Area){area.x, area.y, w, area.h}, &bev_panel, data);
    questions_draw(sheet,
                   (Area){area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h}, data);
}

/* Whether the page has the default screen. A chart takes a narrow screen for itself. */
static bool is_default(const State *state, Page page, int columns) {
    Shows shows = shows_of(state);
    bool chart = state->chart != CHART_NONE && columns < PAGE_BOTH_COLUMNS;
    return page == PAGE_BOTH && columns >= PAGE_SMALL_COLUMNS && !chart &&
           (shows == USUAL || shows == LARGE || shows == BACKWARD || shows == WITH_CHART);
}

/* The panels of `page`, as a screen of so many columns arranges them. */
static void body_draw(Sheet *sheet, Area area, Page page, int columns, const PanelData *data) {
    if (page == PAGE_BOTH && two_steps(data, columns))
        page = PAGE_DASHBOARD;
    if (is_default(data->state, page, columns)) {
        default_draw(sheet, area, data);
        return;
    }
    const Arrangement *arrangement = choose(data->state, page, columns);
    int count = 0, x = area.x;
    while (count < MAX_STACKS && arrangement->stacks[count].share)
        count++;
    int room = area.w - COLUMN_GAP * (count - 1);
    for (int i = 0; i < count; i++) {
        int w = room * arrangement->stacks[i].share / 100;
        if (i == count - 1)
            w = area.x + area.w - x;
        Stack stack = {.area = {x, area.y, w, area.h}, .point = pointed_at(data->state)};
        for (int p = 0; p < STACK_PANELS && arrangement->stacks[i].panels[p]; p++) {
            const Panel *panel = arrangement->stacks[i].panels[p];
            stack_add(&stack, panel, data);
        }
        stack_draw(sheet, &stack, data);
        x += w + COLUMN_GAP;
    }
}

/* ---- with a lesson -------------------------------------------------------------------------- */

enum { LESSON_LEAST_W = 44, LESSON_MOST_W = 76, LESSON_SHARE = 38, LESSON_UNDER = 8 };

/* The page beside or under a lesson: the BEV where the lesson points there, and both have no
 * room. */
static Page lesson_page(const State *state, int columns) {
    LessonPanel point = state->lesson.point;
    bool bev = point == PANEL_BEV || point == PANEL_STRIP;
    bool narrow = columns < PAGE_BOTH_COLUMNS;
    if (state->page == PAGE_BEV)
        return PAGE_BEV;
    if (!bev)
        return narrow ? PAGE_DASHBOARD : state->page;
    return narrow ? PAGE_BEV : PAGE_BOTH;
}

/* A column of its own on the left. */
static void lesson_beside(Sheet *sheet, Area area, const PanelData *data) {
    int w = area.w * LESSON_SHARE / 100;
    w = w < LESSON_LEAST_W ? LESSON_LEAST_W : w > LESSON_MOST_W ? LESSON_MOST_W : w;
    panel_draw(sheet, (Area){area.x, area.y, w, area.h}, &lesson_panel, data);
    Area rest = {area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h};
    body_draw(sheet, rest, lesson_page(data->state, rest.w), rest.w, data);
}

/* On the page "both", with the panel that the lesson points at under it, where rows are left. The
 * other pages stay as they are. */
static void lesson_above(Sheet *sheet, Area area, const PanelData *data) {
    if (data->state->page != PAGE_BOTH) {
        body_draw(sheet, area, data->state->page, sheet->columns, data);
        return;
    }
    int want = panel_want(sheet, &lesson_panel, data, area.w - 2), rest = area.h - want - GAP;
    if (rest < LESSON_UNDER || data->state->lesson.point == PANEL_NONE) {
        panel_draw(sheet, area, &lesson_panel, data);
        return;
    }
    panel_draw(sheet, (Area){area.x, area.y, area.w, want}, &lesson_panel, data);
    Area under = {area.x, area.y + want + GAP, area.w, rest};
    body_draw(sheet, under, lesson_page(data->state, area.w), sheet->columns, data);
}

/* ---- the screen ----------------------------------------------------------------------------- */

static int log_height(int rows) {
    return rows >= 54 ? 3 : rows >= 30 ? 2 : 1;
}

/* A screen that is too small for more than one fact. */
static void tiny_draw(Sheet *sheet, const PanelData *data) {
    char text[96];
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    kernel_config_label(&data->state->job.config, text, sizeof text);
    if (sheet_width(sheet, text) > sheet->columns)
        snprintf(text, sizeof text, "%s", data->state->job.config.kernel->title);
    if (sheet_width(sheet, text) <= sheet->columns)
        sheet_text(sheet, 0, 0, sheet->columns, cell_bold(INK_ACCENT), text);
}

static int draw_top(Sheet *sheet, Area area, const PanelData *data) {
    return header_draw(sheet, area, data) + (data->state->lesson.open && area.h >= 22);
}

/* The help lists all keys: on small screens it takes the row of the key bar. */
static int draw_bottom(Sheet *sheet, Area area, const PanelData *data) {
    int log = log_height(sheet->rows), blank = sheet->rows >= 60;
    int bar = !data->state->help || blank;
    int last = area.y + area.h - 1;
    if (data->state->caption[0]) {
        int rows = log + blank + 1;
        caption_draw(sheet, (Area){area.x, last - rows + 1, area.w, rows}, data->state);
        return rows + blank;
    }
    if (bar)
        key_bar_draw(sheet, (Area){area.x, last, area.w, 1}, data->state);
    int used = bar + blank + log;
    Area at = {area.x, area.y + area.h - used, area.w, log};
    Area tall = {at.x, at.y, at.w, log + blank}; /* a long tip takes the blank row as well */
    if (sheet_paragraph_rows(sheet, tall, INK_ACCENT, data->state->tip) > log)
        at.h = tall.h;
    log_draw(sheet, at, data);
    if (pointed_at(data->state) == PANEL_LOG)
        sheet_frame(sheet, at);
    return used + (blank || data->state->lesson.open); /* a lesson frames what it points at */
}

static DashSheet sheet_of(Cells *cells, const Picture *picture, DashSpots *spots) {
    DashSheet dash = {cells_sheet(cells), picture, spots};
    dash.sheet.spots = spots ? &spots->clicks : NULL;
    return dash;
}

/* Draws a panel alone, from the first row on. Returns its rows; 0: no panel of the body. */
static int draw_alone(Cells *cells, LessonPanel point, const State *state, const LiveData *live,
                      const Picture *picture) {
    const PanelData data = {.state = state, .live = live};
    DashSheet dash = sheet_of(cells, picture, NULL);
    cells_clear(cells);
    const Panel *panel = point == PANEL_BEV ? &bev_panel : NULL;
    for (int i = 0; all_panels[i] && point != PANEL_NONE && !panel; i++)
        panel = all_panels[i]->point == point && point != PANEL_STRIP ? all_panels[i] : NULL;
    if (!panel)
        return 0;
    int want = panel_want(&dash.sheet, panel, &data, cells->columns);
    int rows = want < cells->rows ? want : cells->rows;
    panel_draw(&dash.sheet, (Area){0, 0, cells->columns, rows}, panel, &data);
    return rows;
}

/* A picture that is partly hidden takes no clicks, and is drawn in half blocks. */
static void hide_pictures(DashSpots *spots) {
    Area *const pictures[] = {&spots->bev, &spots->camera};
    const Box *over = &spots->clicks.over;
    for (int i = 0; i < 2; i++) {
        Area *area = pictures[i];
        if (area->x < over->x + over->w && over->x < area->x + area->w &&
            area->y < over->y + over->h && over->y < area->y + area->h)
            area->w = 0;
    }
}

void dashboard_draw(Cells *cells, const State *state, const LiveData *live,
                    const Picture *picture, DashSpots *spots) {
    const PanelData data = {
        .state = state, .live = live, .bev = picture ? &picture->bev.image : NULL};
    DashSpots own;
    spots = spots ? spots : &own;
    DashSheet dash = sheet_of(cells, picture, spots);
    Sheet *sheet = &dash.sheet;
    cells_clear(cells);
    *spots = (DashSpots){.clicks.count = 0};
    if (sheet->columns < 40 || sheet->rows < 10) {
        tiny_draw(sheet, &data);
        return;
    }
    int margin = sheet->columns >= 110 ? 2 : 1;
    Area area = {margin, 0, sheet->columns - 2 * margin, sheet->rows};
    int bottom = draw_bottom(sheet, area, &data), top = draw_top(sheet, area, &data);
    Area body = {area.x, area.y + top, area.w, area.h - top - bottom};
    if (state->race && !state->lesson.open)
        race_page_draw(sheet, body, &data);
    else if (!state->lesson.open)
        body_draw(sheet, body, state->page, sheet->columns, &data);
    else if (sheet->columns >= PAGE_BOTH_COLUMNS)
        lesson_beside(sheet, body, &data);
    else
        lesson_above(sheet, body, &data);
    Area room = {area.x, area.y, area.w, area.h - bottom}; /* all above the log */
    if (state->help)
        help_float(sheet, room, spots->bev, &data);
    if (state->palette.open)
        palette_float(sheet, room, spots->bev, &data);
    hide_pictures(spots);
}

/* ---- without a screen ----------------------------------------------------------------------- */

char *dashboard_panel_text(LessonPanel point, const State *state, const LiveData *live,
                           const Picture *picture) {
    enum { PANEL_ROWS = 28 };
    Cells cells = {.rows = 0};
    Err unused;
    char *text = NULL;
    if (point == PANEL_NONE || !cells_init(&cells, PANEL_TEXT_WIDTH, PANEL_ROWS, &unused))
        return NULL;
    cells.ascii = true;
    cells.color = false;
    if (draw_alone(&cells, point, state, live, picture))
        text = cells_to_text(&cells);
    for (size_t end = text ? strlen(text) : 0; end > 1 && text[end - 2] == '\n'; end--)
        text[end - 1] = '\0'; /* rows that the panel did not need */
    cells_free(&cells);
    return text;
}

char *dashboard_plain(const State *state, const LiveData *live) {
    char *text = NULL, scene[256], label[96], footprint[32], latency[32], error[32], fps[16],
         pace[96] = "";
    Headline headline = live_headline(live);
    const Reading *bytes = &headline.footprint_bytes, *us = &headline.latency_us,
                  *max = &headline.max_abs;
    clean_text(state->menu.scenes.names[state->job.scene], scene, sizeof scene);
    kernel_config_label(&state->job.config, label, sizeof label);
    unit_text(UNIT_BYTES, bytes->source ? bytes->value : NAN, footprint, sizeof footprint);
    unit_text(UNIT_US, us->source ? us->value : NAN, latency, sizeof latency);
    unit_text(UNIT_ERROR, max->source ? max->value : NAN, error, sizeof error);
    const LiveKernel *row = live_kernel(live, state->job.config.kernel);
    const BevDtype dtype = state->job.config.dtype;
    const char *latency_note =
        us->source ? source_names[us->source] : unknown_reason(UNKNOWN_LATENCY, live, row, dtype);
    const char *error_note = max->source ? source_names[max->source]
                                         : unknown_reason(UNKNOWN_ACCURACY, live, row, dtype);
    snprintf(fps, sizeof fps, live->fps.source ? "%.0f" : "n/a", live->fps.value);
    if (state->pace.keys) {
        char key[32], p99[32];
        unit_text(UNIT_US, state->pace.key_us.value, key, sizeof key);
        unit_text(UNIT_US, state->pace.key_p99_us.value, p99, sizeof p99);
        snprintf(pace, sizeof pace, ", key to picture %s, p99 %s", key, p99);
    }
    if (asprintf(&text,
                 "%s: %s, t %.2f s: footprint %s (%s), latency %s (%s), max error %s (%s), "
                 "%s frames/s%s%s%s\n",
                 scene, label, live->job.time_s, footprint, source_names[bytes->source], latency,
                 latency_note, error, error_note, fps, pace, live->error_text[0] ? ": " : "",
                 live->error_text) < 0)
        return NULL;
    return text;
}
