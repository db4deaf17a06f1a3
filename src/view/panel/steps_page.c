/* SPDX-License-Identifier: MIT */
#include "src/scene/slice.h"
#include "src/view/panel/steps_rows.h"

#include <string.h>

enum { SECTOR_INDICES = 8, LOW_H = 18, FEW_H = 15, SPARE_ROWS = 1 };

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
    if (form->owner == BEV_OWNS_TILE)
        return short_text("a warp owns steps of %s", owned[form->owner]);
    return short_text("a thread owns %d channel%s of %s%s", form->tile, form->tile == 1 ? "" : "s",
                      owned[form->owner], form->tiles_outside ? ", tiles outside" : "");
}

int steps_head_draw(Sheet *sheet, Area area, const StepsView *view) {
    const Steps *steps = view->steps;
    const ShortText owner = owner_text(steps);
    const bool has_cell = view->cell >= 0;
    const ShortText title =
        short_text("%s%s%s", steps->kernel->title, has_cell ? ", cell " : "",
                   has_cell ? cell_place(&steps->shape, view->cell, ",").text : "");
    Rows rows = {sheet, sheet_title(sheet, area, title.text, "steps, model"), 0};
    ShortText text =
        short_text("%lld warp%s%s: %s", (long long)steps->asked, steps->asked == 1 ? "" : "s",
                   has_cell ? " at work on it" : "", owner.text);
    if (steps->asked > steps->warp_count)
        text = short_text("the first %d of %lld warps: %s", steps->warp_count,
                          (long long)steps->asked, owner.text);
    rows_say(&rows, cell_style(INK_TEXT), text.text);
    text = short_text("one point a step here; compiled, %.2g %s on the way at once",
                      steps->in_flight, steps->in_flight == 1 ? "is" : "are");
    rows_say(&rows, cell_style(INK_MUTED),
             steps->form->owner == BEV_OWNS_TILE
                 ? "a step multiplies up to 16 image rows with 16 cells"
                 : text.text);
    headings_row(&rows);
    return rows.row + 1;
}

/* ---- points ---------------------------------------------------------------------------------- */

char cell_letter(const Steps *steps, const Step *step, int32_t cell) {
    int first = STEP_LANES;
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        if (point->cell == cell && point->lanes.first < first)
            first = point->lanes.first;
    }
    return lane_sign(first % STEP_LANES);
}

const StepPoint *focus_of(const StepsView *view, const Step *step) {
    const StepPoint *points = view->steps->points + step->first_point;
    const StepPoint *own = view->lane >= 0 ? step_lane_point(view->steps, step, view->lane) : NULL;
    if (own)
        return own;
    for (int i = 0; i < step->point_count; i++)
        if (points[i].cell == view->cell)
            return &points[i];
    return step->point_count ? points : NULL;
}

ShortText camera_text(const StepsView *view, int64_t camera) {
    if (view->rig && camera < view->rig->camera_count)
        return short_text("%.31s", view->rig->cameras[camera].name);
    return short_text("camera %lld", (long long)camera);
}

enum { LEGEND_X = LABEL_W + STEP_LANES + 1 };

void lanes_draw(Sheet *sheet, Area row, const char signs[STEP_LANES], int chosen) {
    for (int lane = 0; lane < STEP_LANES && lane + LABEL_W < row.w; lane++) {
        const char sign = signs[lane];
        CellStyle style = cell_style(sign == '.' ? INK_MUTED : steps_lane_ink(sheet, sign));
        style.attributes = lane == chosen ? CELL_BOLD | CELL_REVERSE : 0;
        sheet_sign(sheet, row.x + LABEL_W + lane, row.y, (uint32_t)sign, style);
    }
}

/* Draws the 32 lanes, each with the sign of the cell that it works on, and the legend of signs. */
static void lanes_row(Rows *rows, const StepsView *view, const Step *step) {
    char signs[STEP_LANES];
    Area row = rows_next(rows);
    memset(signs, '.', STEP_LANES);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &view->steps->points[step->first_point + i];
        char sign = cell_letter(view->steps, step, point->cell);
        for (int k = 0; k < point->lanes.count; k++)
            signs[point->lanes.first + k * point->lanes.stride] = sign;
    }
    if (!row.h)
        return;
    sheet_text(rows->sheet, row.x, row.y, LABEL_W, cell_style(INK_MUTED), "lanes");
    lanes_draw(rows->sheet, row, signs, view->lane);
    sheet_text(rows->sheet, row.x + LEGEND_X, row.y, row.w - LEGEND_X, cell_style(INK_MUTED),
               "lanes 0-9, a-v; a cell: its first");
}

static ShortText point_text(const StepsView *view, const Step *step, const StepPoint *point) {
    StepPixel at = step_pixel(&view->steps->shape, point->depth);
    return short_text("%c        point %d: %s, pixel %lld,%lld, bin %lld%s; cell %s",
                      cell_letter(view->steps, step, point->cell), point->number,
                      camera_text(view, at.camera).text, (long long)at.w, (long long)at.h,
                      (long long)at.bin,
                      view->map->weights ? short_text(", weight %.3f", point->weight).text : "",
                      cell_place(&view->steps->shape, point->cell, ",").text);
}

enum { POINT_ROWS = 3 };

/* Writes a row for the chosen lane's point, then for others; `most` in all. */
static void point_rows(Rows *rows, const StepsView *view, const Step *step, int most) {
    const StepPoint *focus = focus_of(view, step);
    int shown = 0;
    for (int i = -1; i < step->point_count && shown < most; i++) {
        const StepPoint *point = i < 0 ? focus : &view->steps->points[step->first_point + i];
        if (i >= 0 && point == focus)
            continue;
        ShortText text = point_text(view, step, point);
        if (++shown == most && most > 1 && step->point_count > most)
            text = short_text("         and %d more points", step->point_count - most + 1);
        rows_say(rows, cell_style(i < 0 ? INK_ACCENT : INK_MUTED), text.text);
    }
}

/* ---- the index arrays ------------------------------------------------------------------------ */

/* '.' not read yet, '=' once, 2 to 9 times, '+' more often; '#' now. */
static char index_sign(const Steps *steps, const Step *step, int32_t number) {
    int times = steps_read_before(steps, step, number);
    return times < 0    ? '#'
           : times == 0 ? '.'
           : times == 1 ? '='
           : times < 10 ? (char)('0' + times)
                        : '+';
}

/* Draws the indices of one interval around the point that is looked at, eight a sector. */
static void index_row(Rows *rows, const StepsView *view, const Step *step) {
    const StepPoint *focus = focus_of(view, step);
    const BevMap *map = view->map;
    Area row = rows_next(rows);
    int32_t first, end;
    if (!row.h)
        return;
    steps_interval(map, focus->number, &first, &end);
    const ShortText text = short_text(" %d of %d", focus->number - first + 1, end - first);
    int room = row.w - 9 - sheet_width(rows->sheet, text.text),
        most = room * SECTOR_INDICES / (SECTOR_INDICES + 1) - 1;
    int32_t from = first;
    if (end - first > most)
        from = focus->number - most / 2 < first ? first : focus->number - most / 2;
    sheet_text(rows->sheet, row.x, row.y, 9, cell_style(INK_MUTED), "indices");
    int x = row.x + 9;
    for (int32_t t = from; t < end && t < from + most; t++) {
        char sign = index_sign(view->steps, step, t);
        if (t % SECTOR_INDICES == 0)
            sheet_sign(rows->sheet, x++, row.y, '|', cell_style(INK_RULE));
        sheet_sign(rows->sheet, x++, row.y, (uint32_t)sign,
                   sign == '#' ? cell_bold(INK_ACCENT)
                               : cell_style(sign != '.' ? INK_INDEX : INK_MUTED));
    }
    sheet_text(rows->sheet, x, row.y, row.x + row.w - x, cell_style(INK_MUTED), text.text);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Draws the number of the step, its phase, and the warp that takes it. */
static void title_row(Rows *rows, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    ShortText pass = {""}, lane = {""};
    if (steps->passes > 1)
        pass = short_text(", pass %d of %d", steps_pass(steps, number), steps->passes);
    if (view->lane >= 0)
        lane = short_text(", lane %d", view->lane);
    rows_say(rows, cell_bold(INK_TITLE),
             short_text("step %d of %d%s: %s   (warp %d of %d: block %lld, warp %d%s)", number + 1,
                        steps->step_count, pass.text, step_phases[step->phase], step->warp + 1,
                        steps->warp_count, (long long)warp->block, warp->number, lane.text)
                 .text);
}

/* Draws a step. A low area leaves out the least important: first the lanes, which the tree of a
 * reduction has in its first row, then the points. In a few rows the meeting of sums comes before
 * the instructions. */
int steps_step_draw(Sheet *sheet, Area area, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    Rows rows = {sheet, area, 0};
    if (number >= steps->step_count) {
        rows_say(&rows, cell_bold(INK_TITLE),
                 short_text("done: its %d steps are over", steps->step_count).text);
        return rows.row;
    }
    const Step *step = &steps->steps[number];
    bool low = area.h < LOW_H, few = area.h < FEW_H, reduces = steps->form->merges && view->values;
    title_row(&rows, view, number);
    if (step->point_count && step->phase == PHASE_MULTIPLY)
        matrix_rows(&rows, view, number);
    else if (step->point_count) {
        if (!low || !reduces)
            lanes_row(&rows, view, step);
        if (!few)
            point_rows(&rows, view, step, low ? 1 : POINT_ROWS);
        if (!few || !reduces)
            index_row(&rows, view, step);
    }
    if (step->point_count && few)
        meeting_rows(&rows, view, number);
    if (view->headings && rows_left(&rows) >= step->instruction_count + SPARE_ROWS)
        headings_row(&rows);
    instruction_rows(&rows, steps, step);
    if (step->point_count && !few)
        meeting_rows(&rows, view, number);
    if (view->values)
        register_rows(&rows, view, number);
    return rows.row;
}

int steps_totals_draw(Sheet *sheet, Area area, const StepsView *view, int number) {
    char text[320];
    steps_totals_text(view->steps, number, text, sizeof text);
    return sheet_paragraph(sheet, area, INK_TEXT, text);
}
