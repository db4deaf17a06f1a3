/* SPDX-License-Identifier: MIT */
#include "src/view/panel/steps_rows.h"

#include <stdio.h>
#include <string.h>

enum { TOTALS_MAX = 320, SECTOR_INDICES = 8, LOW_H = 18, FEW_H = 15, SPARE_ROWS = 1 };

/* ---- head ------------------------------------------------------------------------------------ */

/* Returns what a thread or a warp of the kernel owns. */
static ShortText owner_text(const Steps *steps) {
    static const char *const owned[] = {[BEV_OWNS_NOTHING] = "nothing",
                                        [BEV_OWNS_POINT] = "a point",
                                        [BEV_OWNS_SPLAT] = "a splat",
                                        [BEV_OWNS_INTERVAL] = "an interval",
                                        [BEV_OWNS_CELL] = "a cell",
                                        [BEV_OWNS_PIECE] = "a piece of a cell",
                                        [BEV_OWNS_TILE] = "a tile of 16 cells"};
    const BevAccess *form = steps->form;
    const char *plural = form->tile == 1 ? "" : "s";
    if (form->owner == BEV_OWNS_TILE)
        return short_text("a warp owns steps of %s", owned[form->owner]);
    return short_text("a thread owns %d channel%s of %s%s", form->tile, plural, owned[form->owner],
                      form->tiles_outside ? ", tiles outside" : "");
}

int steps_head_draw(Sheet *sheet, Area area, const StepsView *view) {
    const Steps *steps = view->steps;
    const ShortText owner = owner_text(steps);
    const bool has_cell = view->cell >= 0;
    const ShortText title =
        short_text("%s%s%s", steps->kernel->title, has_cell ? ", cell " : "",
                   has_cell ? cell_place(&steps->shape, view->cell, ",").text : "");
    Area left = sheet_title(sheet, area, title.text, "steps, model");
    ShortText text =
        short_text("%lld warp%s%s: %s", (long long)steps->asked, steps->asked == 1 ? "" : "s",
                   has_cell ? " at work on it" : "", owner.text);
    if (steps->asked > steps->warp_count)
        text = short_text("the first %d of %lld warps: %s", steps->warp_count,
                          (long long)steps->asked, owner.text);
    sheet_line(sheet, area_row(&left), cell_style(INK_TEXT), text.text);
    text = short_text("one point a step here; compiled, %.2g %s on the way at once",
                      steps->in_flight, steps->in_flight == 1 ? "is" : "are");
    sheet_line(sheet, area_row(&left), cell_style(INK_MUTED),
               steps->form->owner == BEV_OWNS_TILE
                   ? "a step multiplies up to 16 image rows with 16 cells"
                   : text.text);
    headings_draw(sheet, area_row(&left));
    return left.y - area.y;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void page_say(StepPage *page, CellStyle style, const char *text) {
    sheet_line(page->sheet, area_row(&page->left), style, text);
}

void page_label(StepPage *page, const char *label, const char *signs, CellStyle style,
                const char *text) {
    Area row = area_row(&page->left);
    sheet_line(page->sheet, area_columns(&row, LABEL_W), cell_style(INK_MUTED), label);
    for (int lane = 0; signs && row.h && lane < STEP_LANES && lane < row.w; lane++) {
        const char sign = signs[lane];
        CellStyle look = cell_style(sign == '.' ? INK_MUTED : steps_lane_ink(page->sheet, sign));
        look.attributes = lane == page->view->lane ? CELL_BOLD | CELL_REVERSE : 0;
        sheet_sign(page->sheet, row.x + lane, row.y, (uint32_t)sign, look);
    }
    area_columns(&row, signs ? STEP_LANES + 1 : 0);
    sheet_line(page->sheet, row, style, text);
}

/* ---- points ---------------------------------------------------------------------------------- */

char cell_letter(const StepPage *page, int32_t cell) {
    int first = STEP_LANES;
    for (int i = 0; i < page->step->point_count; i++)
        if (page->points[i].cell == cell && page->points[i].lanes.first < first)
            first = page->points[i].lanes.first;
    return lane_sign(first % STEP_LANES);
}

const StepPoint *focus_of(const StepPage *page) {
    const StepsView *view = page->view;
    const StepPoint *of_lane =
        view->lane >= 0 ? step_lane_point(view->steps, page->step, view->lane) : NULL;
    if (of_lane)
        return of_lane;
    for (int i = 0; i < page->step->point_count; i++)
        if (page->points[i].cell == view->cell)
            return &page->points[i];
    return page->step->point_count ? page->points : NULL;
}

/* Draws the 32 lanes, each with the sign of its cell, and the legend of the signs. */
static void lanes_row(StepPage *page) {
    char signs[STEP_LANES];
    memset(signs, '.', STEP_LANES);
    for (int i = 0; i < page->step->point_count; i++) {
        const StepLanes *lanes = &page->points[i].lanes;
        for (int k = 0; k < lanes->count; k++)
            signs[lanes->first + k] = cell_letter(page, page->points[i].cell);
    }
    page_label(page, "lanes", signs, cell_style(INK_MUTED), "lanes 0-9, a-v; a cell: its first");
}

static ShortText point_text(const StepPage *page, const StepPoint *point) {
    const StepsView *view = page->view;
    StepPixel at = step_pixel(&view->steps->shape, point->depth);
    return short_text("%c        point %d: %s, pixel %lld,%lld, bin %lld%s; cell %s",
                      cell_letter(page, point->cell), point->number,
                      camera_text(view->rig, at.camera).text, (long long)at.w, (long long)at.h,
                      (long long)at.bin,
                      view->map->weights ? short_text(", weight %.3f", point->weight).text : "",
                      cell_place(&view->steps->shape, point->cell, ",").text);
}

enum { POINT_ROWS = 3 };

/* Writes at most `most` rows of points: first the chosen lane's point, then the others. The last of
 * several rows tells how many points are left. */
static void point_rows(StepPage *page, int most) {
    const StepPoint *focus = focus_of(page);
    const int count = page->step->point_count;
    int shown = 1;
    page_say(page, cell_style(INK_ACCENT), point_text(page, focus).text);
    for (int i = 0; i < count && shown < most; i++) {
        if (&page->points[i] == focus)
            continue;
        ShortText text = point_text(page, &page->points[i]);
        shown++;
        if (shown == most && count > most)
            text = short_text("         and %d more points", count - most + 1);
        page_say(page, cell_style(INK_MUTED), text.text);
    }
}

/* Returns the sign of an index: '#' read now, '.' not read yet, '=' read once, '2' to '9' so often,
 * '+' more often. */
static char index_sign(const StepPage *page, int32_t number) {
    enum { MOST = 10 };
    const int times = steps_read_before(page->view->steps, page->step, number); /* -1: now */
    return "#.=23456789+"[1 + (times < MOST ? times : MOST)];
}

/* Draws the indices of an interval around the shown point. A rule stands between two sectors, of
 * eight indices each. */
static void index_row(StepPage *page) {
    Sheet *sheet = page->sheet;
    const int32_t number = focus_of(page)->number;
    Area row = area_row(&page->left);
    int32_t first, end;
    if (!row.h)
        return;
    steps_interval(page->view->map, number, &first, &end);
    const ShortText text = short_text(" %d of %d", number - first + 1, end - first);
    sheet_line(sheet, area_columns(&row, LABEL_W), cell_style(INK_MUTED), "indices");
    const int room = row.w - sheet_width(sheet, text.text);
    const int most = room * SECTOR_INDICES / (SECTOR_INDICES + 1) - 1; /* each sector has a rule */
    const bool cut = end - first > most && number - most / 2 > first;
    const int32_t from = cut ? number - most / 2 : first;
    int x = row.x;
    for (int32_t index = from; index < end && index < from + most; index++) {
        const char sign = index_sign(page, index);
        if (index % SECTOR_INDICES == 0)
            sheet_sign(sheet, x++, row.y, '|', cell_style(INK_RULE));
        sheet_sign(sheet, x++, row.y, (uint32_t)sign,
                   sign == '#' ? cell_bold(INK_ACCENT)
                               : cell_style(sign != '.' ? INK_INDEX : INK_MUTED));
    }
    area_columns(&row, x - row.x);
    area_columns(&row, sheet_line(sheet, row, cell_style(INK_MUTED), text.text));
    const char *signs = ";  # now, = once, 2-9 so often, + more";
    if (sheet_width(sheet, signs) <= row.w)
        sheet_line(sheet, row, cell_style(INK_MUTED), signs);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Draws the number of the step, the phase, and the warp whose step it is. */
static void title_row(StepPage *page) {
    const Steps *steps = page->view->steps;
    const StepWarp *warp = &steps->warps[page->step->warp];
    ShortText pass = {""}, lane = {""};
    if (steps->passes > 1)
        pass = short_text(", pass %d of %d", steps_pass(steps, page->number), steps->passes);
    if (page->view->lane >= 0)
        lane = short_text(", lane %d", page->view->lane);
    const ShortText title = short_text(
        "step %d of %d%s: %s   (warp %d of %d: block %lld, warp %d%s)", page->number + 1,
        steps->step_count, pass.text, step_phases[page->step->phase], page->step->warp + 1,
        steps->warp_count, (long long)warp->block, warp->number, lane.text);
    page_say(page, cell_bold(INK_TITLE), title.text);
}

/* Draws a step. A low area leaves out the lanes, if a tree of sums shows the lanes in its first
 * row. An area of few rows leaves out the points, too, and the meeting of sums comes first. */
int steps_step_draw(Sheet *sheet, Area area, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    if (number >= steps->step_count) {
        sheet_line(sheet, area, cell_bold(INK_TITLE),
                   short_text("done: its %d steps are over", steps->step_count).text);
        return area.h > 0;
    }
    const Step *step = &steps->steps[number];
    const int points = step->point_count;
    StepPage page = {.sheet = sheet,
                     .left = area,
                     .view = view,
                     .number = number,
                     .step = step,
                     .points = steps->points + step->first_point};
    if (view->values) {
        page.values = (StepValues){view->values->depth, view->values->feat};
        steps_lanes(steps, &page.values, number, page.lanes);
    }
    bool low = area.h < LOW_H, few = area.h < FEW_H, reduces = steps->form->merges && view->values;
    title_row(&page);
    if (points && step->phase == PHASE_MULTIPLY)
        matrix_rows(&page);
    else if (points) {
        if (!low || !reduces)
            lanes_row(&page);
        if (!few)
            point_rows(&page, low ? 1 : POINT_ROWS);
        if (!few || !reduces)
            index_row(&page);
    }
    if (points && few)
        meeting_rows(&page);
    if (view->headings && page.left.h >= step->instruction_count + SPARE_ROWS)
        headings_draw(sheet, area_row(&page.left));
    instruction_rows(&page);
    if (points && !few)
        meeting_rows(&page);
    if (view->values)
        register_rows(&page);
    return page.left.y - area.y;
}

int steps_totals_draw(Sheet *sheet, Area area, const StepsView *view, int number) {
    char text[TOTALS_MAX];
    steps_totals_text(view->steps, number, text, sizeof text);
    return sheet_paragraph(sheet, area, INK_TEXT, text);
}

/* ---- the page of steps, in the place of the panels ------------------------------------------- */

enum { TOTALS_H = 3, ROOMY = 24, SIDES_GAP = 2, SIDE_LEAST_W = 60, SIDE_LEAST_H = 14 };

/* Returns the rows for the counters. In a low area one row, so that the step has room. */
static int totals_height(Area area) {
    return area.h < ROOMY / 2 + 2 ? 1 : TOTALS_H;
}

/* Draws the step of one kernel: head, step, and counters. The counters keep their rows, and the
 * step takes the rest. */
static void side_steps(Sheet *sheet, Area area, const StepsView *view, int number) {
    const int head = area.h < ROOMY ? 1 : 4, blank = area.h >= ROOMY;
    char counters[TOTALS_MAX];
    StepsView shown = *view;
    shown.headings = head == 1;
    steps_totals_text(view->steps, number, counters, sizeof counters);
    Area totals = {area.x, area.y, area.w, totals_height(area)};
    totals.h = sheet_paragraph_rows(sheet, totals, counters);
    area = area_below(area,
                      steps_head_draw(sheet, (Area){area.x, area.y, area.w, head}, view) + blank);
    area.h -= totals.h + blank;
    totals.y = area.y + steps_step_draw(sheet, area, &shown, number) + blank;
    sheet_paragraph(sheet, totals, INK_TEXT, counters);
}

/* Draws the steps of the selection. A pinned baseline has its steps beside or below. Without room,
 * only the counters of the baseline are shown. */
void steps_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveFrame *frame = &data->live->frame;
    const LiveSteps *live = frame->steps;
    const State *state = data->state;
    if (!live || !live->selection.step_count) {
        area = sheet_title(sheet, area, "Steps", "");
        sheet_paragraph(sheet, area, INK_MUTED, live ? live->error_text : "n/a: being recorded");
        return;
    }
    StepsView view = {.steps = &live->selection,
                      .map = frame->map,
                      .values = frame->features,
                      .rig = frame->rig,
                      .cell = live->cell,
                      .lane = state->step_lane,
                      .table = true};
    StepsView other = view;
    Area first = area, second = area;
    bool both = live->baseline.step_count > 0, beside = area.w >= 2 * SIDE_LEAST_W + SIDES_GAP;
    other.steps = &live->baseline;
    if (both && beside) {
        first.w = second.w = (area.w - SIDES_GAP) / 2;
        second.x += area.w - second.w;
        side_steps(sheet, second, &other, state->step_at);
    } else if (both && area.h > 2 * SIDE_LEAST_H) {
        first.h = (area.h - 1) / 2;
        second = area_below(second, first.h + 1);
        side_steps(sheet, second, &other, state->step_at);
    } else if (live->baseline_text[0]) {
        sheet_line(sheet, area_below(area, --first.h), cell_style(INK_MUTED), live->baseline_text);
    } else if (both) {
        const Steps *baseline = &live->baseline;
        char text[TOTALS_MAX + 80], totals[TOTALS_MAX];
        steps_totals_text(baseline, state->step_at, totals, sizeof totals);
        snprintf(text, sizeof text, "%s %s%s", baseline->kernel->title,
                 state->step_at < baseline->step_count ? "" : "(done) ", totals);
        second.h = totals_height(area);
        second.h = sheet_paragraph_rows(sheet, second, text);
        first.h -= second.h;
        second.y += first.h;
        sheet_paragraph(sheet, second, INK_BASELINE, text);
    }
    side_steps(sheet, first, &view, state->step_at);
}
