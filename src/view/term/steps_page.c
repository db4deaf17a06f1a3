#include "src/view/term/steps_page.h"

#include "src/view/term/panel.h"
#include "src/view/term/steps_rows.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS = 26, SECTOR_INDICES = 8 };

/* ---- head ------------------------------------------------------------------------------------ */

static void owner_text(const Steps *steps, char *text, size_t size) {
    static const char *const owners[] = {
        [BEV_OWNS_NOTHING] = "nothing", [BEV_OWNS_POINT] = "a point",
        [BEV_OWNS_SPLAT] = "a splat",   [BEV_OWNS_INTERVAL] = "an interval",
        [BEV_OWNS_CELL] = "a cell",     [BEV_OWNS_PIECE] = "a piece of a cell",
        [BEV_OWNS_TILE] = "16 cells"};
    const BevAccess *form = steps->form;
    if (form->owner == BEV_OWNS_TILE)
        snprintf(text, size, "a warp owns steps of a tile of %s", owners[form->owner]);
    else
        snprintf(text, size, "a thread owns %d channel%s of %s%s", form->tile,
                 form->tile == 1 ? "" : "s", owners[form->owner],
                 form->tiles_outside ? ", tiles outside" : "");
}

int steps_head_draw(Cells *cells, Area area, const StepsView *view) {
    const Steps *steps = view->steps;
    char title[128], text[160], owner[96];
    int n = snprintf(title, sizeof title, "%s", steps->kernel->title);
    if (view->cell >= 0)
        snprintf(title + n, sizeof title - (size_t)n, ", cell %lld,%lld",
                 (long long)(view->cell % steps->shape.nx),
                 (long long)(view->cell / steps->shape.nx));
    Rows rows = {cells, panel_title(cells, area, title, "steps, model"), 0};
    owner_text(steps, owner, sizeof owner);
    snprintf(text, sizeof text, "%lld warp%s%s: %s", (long long)steps->asked,
             steps->asked == 1 ? "" : "s", view->cell >= 0 ? " at work on it" : "", owner);
    if (steps->asked > steps->warp_count)
        snprintf(text, sizeof text, "the first %d of %lld warps: %s", steps->warp_count,
                 (long long)steps->asked, owner);
    rows_say(&rows, cell_style(INK_TEXT), text);
    if (steps->form->owner == BEV_OWNS_TILE)
        snprintf(text, sizeof text, "a step multiplies up to 16 image rows with 16 cells");
    else
        snprintf(text, sizeof text, "one point a step here; compiled, %d %s on the way at once",
                 steps->form->in_flight, steps->form->in_flight == 1 ? "is" : "are");
    rows_say(&rows, cell_style(INK_MUTED), text);
    rows_say(&rows, cell_style(INK_MUTED),
             "  array          access      bytes sect.  used lanes 0-v per 4 B");
    return rows.row + 1;
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The letter of a point's cell: cells in the order in which the step names them. */
static int letter_of(const Steps *steps, const Step *step, int32_t cell) {
    int letter = 0;
    for (int i = 0; i < step->point_count; i++) {
        int32_t other = steps->points[step->first_point + i].cell;
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = steps->points[step->first_point + k].cell == other;
        if (other == cell)
            return letter;
        letter += !seen;
    }
    return letter;
}

static char letter_sign(int letter) {
    return (char)('a' + letter % LETTERS);
}

/* The point to look at: the first one of the cell, else the first one. NULL: the step has none. */
static const StepPoint *focus_of(const StepsView *view, const Step *step) {
    const StepPoint *points = view->steps->points + step->first_point;
    for (int i = 0; i < step->point_count; i++)
        if (points[i].cell == view->cell)
            return &points[i];
    return step->point_count ? points : NULL;
}

static void lanes_row(Rows *rows, const StepsView *view, const Step *step) {
    char signs[STEP_LANES + 1];
    Area row = rows_next(rows);
    memset(signs, '.', STEP_LANES);
    signs[STEP_LANES] = '\0';
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &view->steps->points[step->first_point + i];
        char sign = letter_sign(letter_of(view->steps, step, point->cell));
        for (int k = 0; k < point->lanes.count; k++)
            signs[point->lanes.first + k * point->lanes.stride] = sign;
    }
    if (!row.h)
        return;
    cells_text(rows->cells, row.x, row.y, 9, cell_style(INK_MUTED), "lanes");
    for (int lane = 0; lane < STEP_LANES && lane + 9 < row.w; lane++)
        cells_put(
            rows->cells, row.x + 9 + lane, row.y, (uint32_t)signs[lane],
            cell_style(signs[lane] == '.' ? INK_MUTED : steps_lane_ink(rows->cells, signs[lane])));
}

static void point_text(const StepsView *view, const Step *step, const StepPoint *point, char *text,
                       size_t size) {
    StepPixel at = step_pixel(&view->steps->shape, point->depth);
    char camera[40], weight[32] = "";
    if (view->rig && at.camera < view->rig->camera_count)
        snprintf(camera, sizeof camera, "%.31s", view->rig->cameras[at.camera].name);
    else
        snprintf(camera, sizeof camera, "camera %lld", (long long)at.camera);
    if (view->map->weights)
        snprintf(weight, sizeof weight, ", weight %.3f", point->weight);
    snprintf(text, size, "%c        point %d: %s, pixel %lld,%lld, bin %lld%s; cell %lld,%lld",
             letter_sign(letter_of(view->steps, step, point->cell)), point->number, camera,
             (long long)at.w, (long long)at.h, (long long)at.bin, weight,
             (long long)(point->cell % view->steps->shape.nx),
             (long long)(point->cell / view->steps->shape.nx));
}

enum { POINT_ROWS = 3 };

/* A row for the point that is looked at, then for others. */
static void point_rows(Rows *rows, const StepsView *view, const Step *step) {
    const StepPoint *focus = focus_of(view, step);
    char text[200];
    int shown = 0;
    lanes_row(rows, view, step);
    for (int i = -1; i < step->point_count && shown < POINT_ROWS; i++) {
        const StepPoint *point = i < 0 ? focus : &view->steps->points[step->first_point + i];
        if (i >= 0 && point == focus)
            continue;
        point_text(view, step, point, text, sizeof text);
        if (++shown == POINT_ROWS && step->point_count > POINT_ROWS)
            snprintf(text, sizeof text, "         and %d more points", step->point_count - 2);
        rows_say(rows, cell_style(i < 0 ? INK_ACCENT : INK_MUTED), text);
    }
}

/* ---- the index arrays ------------------------------------------------------------------------ */

/* How a point of the map stands: not read by these warps so far, read before, read now. */
static char index_sign(const Steps *steps, const Step *step, int32_t number) {
    for (int i = step->first_point + step->point_count - 1; i >= 0; i--)
        if (steps->points[i].number == number)
            return i >= step->first_point ? '#' : '=';
    return '.';
}

/* The indices of one interval around the point that is looked at, eight a sector. */
static void index_row(Rows *rows, const StepsView *view, const Step *step) {
    const StepPoint *focus = focus_of(view, step);
    const BevMap *map = view->map;
    Area row = rows_next(rows);
    int32_t first = focus->number, end = first + 1;
    while (first > 0 && map->ranks_bev[first - 1] == focus->cell)
        first--;
    while (end < map->points && map->ranks_bev[end] == focus->cell)
        end++;
    if (!row.h)
        return;
    char text[48];
    snprintf(text, sizeof text, " %d of %d", focus->number - first + 1, end - first);
    int room = row.w - 9 - cells_width(text),
        most = room * SECTOR_INDICES / (SECTOR_INDICES + 1) - 1;
    int32_t from = first;
    if (end - first > most)
        from = focus->number - most / 2 < first ? first : focus->number - most / 2;
    cells_text(rows->cells, row.x, row.y, 9, cell_style(INK_MUTED), "indices");
    int x = row.x + 9;
    for (int32_t t = from; t < end && t < from + most; t++) {
        char sign = index_sign(view->steps, step, t);
        if (t % SECTOR_INDICES == 0)
            cells_put(rows->cells, x++, row.y, '|', cell_style(INK_RULE));
        cells_put(rows->cells, x++, row.y, (uint32_t)sign,
                  sign == '#' ? cell_bold(INK_ACCENT)
                              : cell_style(sign == '=' ? INK_INDEX : INK_MUTED));
    }
    cells_text(rows->cells, x, row.y, row.x + row.w - x, cell_style(INK_MUTED), text);
}

/* ---- V4's small matrix ----------------------------------------------------------------------- */

enum { MATRIX = 16 };

/* Columns: the tile's cells, with their letters; rows: the image rows of a slab, two a line. */
static void matrix_rows(Rows *rows, const StepsView *view, const Step *step) {
    const Steps *steps = view->steps;
    bool lit[MATRIX][MATRIX] = {{false}};
    int32_t cells[MATRIX];
    char text[160];
    memset(cells, 0xff, sizeof cells);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        lit[point->row][point->column] = true;
        cells[point->column] = point->cell;
    }
    StepPixel at = step_pixel(&steps->shape, focus_of(view, step)->depth);
    int64_t top = at.h / MATRIX * MATRIX;
    snprintf(text, sizeof text, "matrix   image column %lld, rows %lld to %lld, times 16 cells",
             (long long)at.w, (long long)top, (long long)top + MATRIX - 1);
    rows_say(rows, cell_style(INK_MUTED), text);
    for (int line = 0; line < MATRIX / 2; line++) {
        Area row = rows_next(rows);
        if (!row.h)
            return;
        snprintf(text, sizeof text, "%4lld", (long long)top + 2 * line);
        cells_text(rows->cells, row.x, row.y, 9, cell_style(INK_MUTED), text);
        for (int k = 0; k < MATRIX; k++) {
            bool up = lit[2 * line][k], down = lit[2 * line + 1][k];
            uint32_t glyph = up && down ? 0x2588 : up ? 0x2580 : down ? 0x2584 : '.';
            CellStyle style = cell_style(!(up || down)            ? INK_MUTED
                                         : cells[k] == view->cell ? INK_ACCENT
                                                                  : INK_DEPTH);
            cells_put(rows->cells, row.x + 9 + 2 * k, row.y, glyph, style);
        }
        int n = 0;
        for (int k = 2 * line; k < 2 * line + 2; k++)
            if (cells[k] >= 0 && n < (int)sizeof text - 40)
                n += snprintf(text + n, sizeof text - (size_t)n, "%s%-2d %lld,%lld", n ? "  " : "",
                              k, (long long)(cells[k] % steps->shape.nx),
                              (long long)(cells[k] / steps->shape.nx));
        if (n)
            cells_text(rows->cells, row.x + 42, row.y, row.w - 42, cell_style(INK_MUTED), text);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

static double term_of(const StepsView *view, const StepPoint *point) {
    int64_t element = point->feat * view->steps->shape.channels + point->first;
    return (double)view->values->depth[point->depth] * point->weight * view->values->feat[element];
}

/* What the first lane of the cell has summed in the steps before, and in this one. */
static void sum_row(Rows *rows, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    const Step *step = &steps->steps[number];
    const StepPoint *focus = focus_of(view, step);
    double before = 0, now = 0;
    char text[160];
    int terms = 0;
    for (int i = steps->warps[step->warp].first_step; i <= number; i++)
        for (int k = 0; k < steps->steps[i].point_count; k++) {
            const StepPoint *point = &steps->points[steps->steps[i].first_point + k];
            if (point->cell != focus->cell || point->lanes.first != focus->lanes.first)
                continue;
            *(i < number ? &before : &now) += term_of(view, point);
            terms += i == number;
        }
    double depth = (double)view->values->depth[focus->depth] * focus->weight;
    double feature = view->values->feat[focus->feat * steps->shape.channels + focus->first];
    if (steps->form->sums)
        snprintf(text, sizeof text, "adds     lane %d, channel %d: %.4g x %.4g = %.4g to memory",
                 focus->lanes.first, focus->first, depth, feature, now);
    else if (terms == 1)
        snprintf(text, sizeof text, "sum      lane %d, channel %d: %.4g + %.4g x %.4g = %.4g",
                 focus->lanes.first, focus->first, before, depth, feature, before + now);
    else
        snprintf(text, sizeof text, "sum      channel %d: %.4g + %d products = %.4g", focus->first,
                 before, terms, before + now);
    rows_say(rows, cell_style(INK_OUTPUT), text);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void title_row(Rows *rows, const Steps *steps, int number) {
    const Step *step = &steps->steps[number];
    const StepWarp *warp = &steps->warps[step->warp];
    char text[160];
    snprintf(text, sizeof text, "step %d of %d: %s   (warp %d of %d: block %lld, warp %d)",
             number + 1, steps->step_count, step_phases[step->phase], step->warp + 1,
             steps->warp_count, (long long)warp->block, warp->number);
    rows_say(rows, cell_bold(INK_TITLE), text);
}

int steps_step_draw(Cells *cells, Area area, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    Rows rows = {cells, area, 0};
    if (number >= steps->step_count)
        return 0;
    const Step *step = &steps->steps[number];
    title_row(&rows, steps, number);
    if (step->point_count && step->phase == PHASE_MULTIPLY)
        matrix_rows(&rows, view, step);
    else if (step->point_count) {
        point_rows(&rows, view, step);
        index_row(&rows, view, step);
    }
    instruction_rows(&rows, steps, step);
    if (step->point_count && view->values)
        sum_row(&rows, view, number);
    return rows.row;
}

int steps_totals_draw(Cells *cells, Area area, const StepsView *view, int number) {
    char text[320];
    steps_totals_text(view->steps, number, text, sizeof text);
    return draw_paragraph(cells, area, INK_TEXT, text);
}
