/* SPDX-License-Identifier: MIT */
#include "src/view/term/dashboard.h"

#include "kernels/clean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GAP = 1, COLUMN_GAP = 3 };

/* ---- pages: a panel keeps its place, whatever the panel shows -------------------------------- */

enum {
    STRIP_FROM_ROWS = 30, /* lower areas have no camera strip */
    STRIP_FROM_W = 100,   /* narrower areas have no camera strip */
    SIDE_LEAST_W = 46,    /* the least width of the panels beside the BEV */
    FACTS_LEAST_W = 24,
    FACTS_LEAST_H = 6,
    TWO_STEPS_W = 200, /* two kernels side by side leave a narrower screen no room for the BEV */
    BEV_TEXTS = 3      /* rows over and under the BEV */
};

/* Whether panels and BEV share the screen. Else Tab leads to the BEV. */
static bool shares_screen(const PanelData *data, int columns) {
    const State *state = data->state;
    bool wide = state->bits.open || state->job.steps || state->chart != CHART_NONE || state->all;
    return columns >= (wide ? PAGE_BOTH_COLUMNS : PAGE_SMALL_COLUMNS) &&
           (columns >= TWO_STEPS_W || !steps_are_two(data));
}

static void frame_pointed(Sheet *sheet, Area area, LessonPanel panel, const PanelData *data) {
    if (data->state->lesson.open && data->state->lesson.point == panel)
        sheet->back->frame(sheet, area);
}

static void bev_draw_framed(Sheet *sheet, Area area, const PanelData *data) {
    bev_panel.draw(sheet, area, data);
    frame_pointed(sheet, area, PANEL_BEV, data);
}

/* Draws the page of the BEV, with the facts about the picture. The facts stand beside a high
 * picture and under a wide one. A camera's view among the facts always has room. */
static void bev_page_draw(Sheet *sheet, Area area, const PanelData *data) {
    const int want = bev_panel.want(sheet, data, area.w);
    const int high = want > BEV_TEXTS ? want - BEV_TEXTS : 1; /* rows of a picture of full width */
    const int most = area.w - COLUMN_GAP - FACTS_LEAST_W;
    const bool under = area.h - want - GAP >= FACTS_LEAST_H;
    int w = (int)((int64_t)area.w * (area.h - BEV_TEXTS) / high);
    if (!under && w > most && camera_panel.shown(data))
        w = most;
    if (w <= most) {
        bev_draw_framed(sheet, (Area){area.x, area.y, w, area.h}, data);
        area.x += w + COLUMN_GAP;
        area.w -= w + COLUMN_GAP;
    } else {
        int h = under ? want : area.h;
        bev_draw_framed(sheet, (Area){area.x, area.y, area.w, h}, data);
        area = area_below(area, h + GAP);
    }
    facts_draw(sheet, area, data);
}

/* Draws the panels of `page`: the camera strip at the top, the BEV at the left as large as the rows
 * allow, and the panels beside the BEV. `columns` are those of the whole screen. */
static void body_draw(Sheet *sheet, Area area, Page page, int columns, const PanelData *data) {
    const State *state = data->state;
    if (page == PAGE_DASHBOARD || (page == PAGE_BOTH && !shares_screen(data, columns))) {
        side_draw(sheet, area, data);
        return;
    }
    if (area.h >= STRIP_FROM_ROWS && area.w >= STRIP_FROM_W) {
        int rows = cameras_rows(area.w);
        cameras_draw(sheet, (Area){area.x, area.y, area.w, rows}, data);
        area = area_below(area, rows);
    }
    if (page == PAGE_BEV) {
        bev_page_draw(sheet, area, data);
        return;
    }
    const int side_percent = state->job.steps ? 66 : state->bits.open ? 60 : 50;
    const int side_w = (int)fmax(area.w * side_percent / 100, SIDE_LEAST_W);
    const int most = area.w - COLUMN_GAP - side_w; /* the largest width of the BEV */
    int w = 2 * (area.h - BEV_TEXTS) < most ? 2 * (area.h - BEV_TEXTS) : most;
    bev_draw_framed(sheet, (Area){area.x, area.y, w, area.h}, data);
    side_draw(sheet, (Area){area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h},
              data);
}

/* ---- with a lesson -------------------------------------------------------------------------- */

enum { LESSON_LEAST_W = 44, LESSON_MOST_W = 76, LESSON_SHARE = 38, LESSON_UNDER = 8 };

/* Returns the page beside or under a lesson: the BEV where the lesson points there and both have no
 * room, and where the lesson covers all panels. */
static Page lesson_page(const State *state, int columns) {
    LessonPanel point = state->lesson.point;
    bool narrow = columns < PAGE_BOTH_COLUMNS;
    bool chart = state->chart != CHART_NONE && !lesson_asks(&state->lesson);
    bool open = state->bits.open || state->job.steps || chart || point != PANEL_NONE;
    if (state->page == PAGE_BEV || (state->lesson.covers && !open))
        return PAGE_BEV;
    if (point != PANEL_BEV && point != PANEL_STRIP)
        return narrow ? PAGE_DASHBOARD : state->page;
    return narrow ? PAGE_BEV : PAGE_BOTH;
}

static void lesson_beside(Sheet *sheet, Area area, const PanelData *data) {
    const int w = (int)fmax(fmin(area.w * LESSON_SHARE / 100, LESSON_MOST_W), LESSON_LEAST_W);
    panel_draw(sheet, (Area){area.x, area.y, w, area.h}, &lesson_panel, data);
    Area rest = {area.x + w + COLUMN_GAP, area.y, area.w - w - COLUMN_GAP, area.h};
    body_draw(sheet, rest, lesson_page(data->state, rest.w), rest.w, data);
}

/* Draws the lesson in the place of the page "both". Where rows are left, the panel that the lesson
 * points at stands below. Other pages stay as they are. */
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

/* Draws a screen that is too small for more than one fact. */
static void tiny_draw(Sheet *sheet, const PanelData *data) {
    const ShortText label = kernel_config_label(&data->state->job.config);
    const char *const texts[] = {label.text, data->state->job.config.kernel->title, "", NULL};
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    sheet_line(sheet, (Area){0, 0, sheet->columns, 1}, cell_bold(INK_ACCENT),
               sheet_shortened(sheet, sheet->columns, texts));
}

/* Draws log and key bar, or a caption in their place. Returns their rows. On a low screen the help
 * takes the row of the key bar, because the help lists all keys. */
static int draw_bottom(Sheet *sheet, Area area, const PanelData *data) {
    const LessonPane *lesson = &data->state->lesson;
    const int log = sheet->rows >= 30 ? 2 : 1, bar = !data->state->help || log > 1; /* rows */
    const int last = area.y + area.h - 1;
    Area at = {area.x, last + 1 - bar - log, area.w, log};
    if (data->state->caption[0]) {
        at.h += bar;
        caption_draw(sheet, at, data->state);
        return at.h;
    }
    if (bar)
        key_bar_draw(sheet, (Area){area.x, last, area.w, 1}, data->state);
    log_draw(sheet, at, data);
    frame_pointed(sheet, at, PANEL_LOG, data);
    return log + bar + lesson->open; /* a lesson frames what it points at */
}

void dashboard_draw(Cells *cells, const State *state, const LiveData *live, const Picture *picture,
                    Spots *spots) {
    const PanelData data = {.state = state, .live = live, .picture = picture};
    Sheet on_cells = cells_sheet(cells), *sheet = &on_cells;
    Spots own;
    sheet->spots = spots ? spots : &own;
    cells_clear(cells);
    spots_clear(sheet->spots);
    if (sheet->columns < 40 || sheet->rows < 10) {
        tiny_draw(sheet, &data);
        return;
    }
    int margin = sheet->columns >= 110 ? 2 : 1;
    Area area = {margin, 0, sheet->columns - 2 * margin, sheet->rows};
    int bottom = draw_bottom(sheet, area, &data);
    int top = header_draw(sheet, area, &data) + (state->lesson.open && area.h >= 22);
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
    const Area bev = area_of_box(sheet->spots->bev);
    if (state->help)
        help_float(sheet, room, bev, &data);
    if (state->palette.open)
        palette_float(sheet, room, bev, &data);
}

/* ---- without a screen ----------------------------------------------------------------------- */

/* Returns the panel of the body that lessons call `point`; NULL: there is none. */
static const Panel *panel_of_point(LessonPanel point) {
    if (point == PANEL_NONE || point == PANEL_STRIP)
        return NULL;
    if (point == PANEL_BEV)
        return &bev_panel;
    int i = 0;
    while (all_panels[i] && all_panels[i]->point != point)
        i++;
    return all_panels[i];
}

char *dashboard_panel_text(LessonPanel point, const State *state, const LiveData *live,
                           const Picture *picture) {
    enum { PANEL_ROWS = 28 };
    const PanelData data = {.state = state, .live = live, .picture = picture};
    const Panel *panel = panel_of_point(point);
    Cells cells = {.rows = 0};
    Err unused;
    if (!panel || !cells_init(&cells, PANEL_TEXT_WIDTH, PANEL_ROWS, &unused))
        return NULL;
    cells.ascii = true;
    cells.color = false;
    Sheet sheet = cells_sheet(&cells);
    int want = panel_want(&sheet, panel, &data, cells.columns);
    int rows = want < cells.rows ? want : cells.rows;
    panel_draw(&sheet, (Area){0, 0, cells.columns, rows}, panel, &data);
    char *text = rows ? cells_to_text(&cells) : NULL;
    for (size_t end = text ? strlen(text) : 0; end > 1 && text[end - 2] == '\n'; end--)
        text[end - 1] = '\0'; /* rows that the panel did not need */
    cells_free(&cells);
    return text;
}

/* Adds ", NAME VALUE (SOURCE)", or the reason where the figure is unknown. */
static void add_figure(char *text, size_t size, const char *name, Unit unit, const Reading *figure,
                       const char *unknown) {
    text_add(text, size, "%s %s (%s)", name,
             text_of_unit(unit, figure->source ? figure->value : NAN).text,
             figure->source ? source_names[figure->source] : unknown);
}

char *dashboard_plain(const State *state, const LiveData *live) {
    char scene[256], text[2048];
    const Headline headline = live_headline(state, live);
    const LiveKernel *row = live_kernel(live, state->job.config.kernel);
    const BevDtype dtype = state->job.config.dtype;
    clean_text(state->menu.scenes.names[state->job.scene], scene, sizeof scene);
    snprintf(text, sizeof text, "%s: %s, t %.2f s", scene,
             kernel_config_label(&state->job.config).text, live->job.time_s);
    add_figure(text, sizeof text, ": arrays", UNIT_BYTES, &headline.footprint_bytes,
               source_names[SOURCE_UNKNOWN]);
    add_figure(text, sizeof text, ", latency", UNIT_US, &headline.latency_us,
               unknown_reason(UNKNOWN_LATENCY, live, row, dtype));
    add_figure(text, sizeof text, ", max error", UNIT_ERROR, &headline.max_abs,
               unknown_reason(UNKNOWN_ACCURACY, live, row, dtype));
    if (headline.max_abs_of[0] && headline.max_abs.source)
        text_add(text, sizeof text, " %s", headline.max_abs_of);
    text_add(text, sizeof text, live->fps.source ? ", %.0f frames/s" : ", n/a frames/s",
             live->fps.value);
    if (state->pace.keys)
        text_add(text, sizeof text, ", key to picture %s, p99 %s",
                 text_of_unit(UNIT_US, state->pace.key_us.value).text,
                 text_of_unit(UNIT_US, state->pace.key_p99_us.value).text);
    text_add(text, sizeof text, "%s%s\n", live->error_text[0] ? ": " : "", live->error_text);
    return strdup(text);
}
