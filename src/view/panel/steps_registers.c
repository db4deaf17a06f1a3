/* SPDX-License-Identifier: MIT */
/* The registers of a warp's lanes after a step, and how their sums meet. */
#include "src/scene/slice.h"
#include "src/view/panel/steps_rows.h"

#include <math.h>
#include <string.h>

/* Writes " -0.1405", 8 characters; "n/a" where the sum needs warps that were not recorded. */
static ShortText number_text(float value) {
    double large = fabs((double)value);
    const char *format = large >= 100 || value == 0 ? "%8.4g" : large < 1e-3 ? "%8.1e" : "%8.4f";
    return isfinite(value) ? short_text(format, (double)value + 0.0) : short_text("%8s", "n/a");
}

static StepValues values_of(const StepsView *view) {
    return (StepValues){view->values->depth, view->values->feat};
}

/* ---- how sums meet --------------------------------------------------------------------------- */

/* Returns "0>8>g>o": the lanes of a mask, one after the other. */
static ShortText queue_text(uint32_t lanes) {
    ShortText text = {""};
    for (int lane = 0; lane < STEP_LANES; lane++)
        if (lanes >> lane & 1)
            text_add(text.text, sizeof text.text, "%s%c", text.text[0] ? ">" : "", lane_sign(lane));
    return text;
}

/* Draws the longest queue of lanes that add to the same sum, or that of the chosen lane. */
static void queue_rows(Rows *rows, const StepsView *view, int number) {
    const Steps *steps = view->steps;
    const Step *step = &steps->steps[number];
    uint32_t longest = 0, seen = 0;
    int of_lane = 0;
    for (int lane = 0; lane < STEP_LANES; lane++) {
        uint32_t queue = seen >> lane & 1 ? 0 : steps_queue(steps, number, lane);
        seen |= queue;
        bool wanted = lane == view->lane && queue;
        if (__builtin_popcount(queue) > __builtin_popcount(longest) || wanted) {
            longest = queue;
            of_lane = lane;
        }
    }
    const StepPoint *point = step_lane_point(steps, step, of_lane);
    if (!longest || !point)
        return;
    int turns = __builtin_popcount(longest);
    const char *plural = turns == 1 ? "" : "s";
    rows_label(rows, "queue", cell_bold(INK_WARN), queue_text(longest).text);
    rows_label(rows, "", cell_style(INK_WARN),
               short_text("%d lane%s at one sum, of cell %c, channel %d: %d turn%s", turns, plural,
                          cell_letter(steps, step, point->cell),
                          step_lane_channel(steps, point, of_lane), turns, plural)
                   .text);
}

/* Returns the lane whose sum is followed: the chosen one, else the first lane of the cell, else
 * lane 0. */
static int head_lane(const StepsView *view, const StepTree *tree) {
    for (int lane = 0; lane < STEP_LANES && view->lane < 0; lane++)
        if (tree->cells[lane] == view->cell)
            return lane;
    return view->lane < 0 ? 0 : view->lane;
}

/* Writes a row of the tree: how many sums are left, and which lanes hold them. */
static void tree_row(Rows *rows, const StepsView *view, const Step *step, const StepTree *tree,
                     int level) {
    char signs[STEP_LANES];
    Area row = rows_next(rows);
    uint32_t counts = tree->counts[level];
    int lane = head_lane(view, tree);
    if (!row.h)
        return;
    sheet_text(rows->sheet, row.x, row.y, LABEL_W, cell_style(INK_MUTED),
               level ? short_text("down %-4d", 1 << (level - 1)).text : "product");
    for (int i = 0; i < STEP_LANES; i++)
        signs[i] = counts >> i & 1 ? cell_letter(view->steps, step, tree->cells[i]) : '.';
    lanes_draw(rows->sheet, row, signs, view->lane);
    const ShortText sum = number_text(tree->sums[level][lane]);
    sheet_text(rows->sheet, row.x + LABEL_W + STEP_LANES + 2, row.y,
               row.w - LABEL_W - STEP_LANES - 2, cell_style(INK_OUTPUT),
               short_text("%2d sums; lane %d: %s", __builtin_popcount(counts), lane,
                          sum.text + strspn(sum.text, " "))
                   .text);
}

/* Draws the levels of a warp's reduction by shuffles, and how many lanes add in the end. */
static void tree_rows(Rows *rows, const StepsView *view, int number, const StepTree *tree) {
    int heads = __builtin_popcount(tree->counts[TREE_LEVELS - 1]),
        adds = __builtin_popcount(tree->adds);
    for (int level = 0; level < TREE_LEVELS; level++)
        tree_row(rows, view, &view->steps->steps[number], tree, level);
    const char *format = adds == heads
                             ? "5 shuffles, then %d lane%s: one atomic a channel"
                             : "5 shuffles; %d lane%s; lane 0's sum joins an earlier warp's";
    rows_label(rows, "atomics", cell_style(INK_WARN),
               short_text(format, adds, adds == 1 ? " adds" : "s add").text);
}

void meeting_rows(Rows *rows, const StepsView *view, int number) {
    StepTree tree;
    if (!view->steps->form->sums)
        return;
    StepValues values = view->values ? values_of(view) : (StepValues){NULL, NULL};
    if (steps_tree(view->steps, view->values ? &values : NULL, number, &tree))
        tree_rows(rows, view, number, &tree);
    else
        queue_rows(rows, view, number);
}

/* ---- V4's small matrices --------------------------------------------------------------------- */

enum { MATRIX = 16 };

/* A step of a tile: which of the 16 image rows count for which of the 16 cells, and the sums of the
 * channel that a warp takes first. */
typedef struct {
    bool lit[MATRIX][MATRIX]; /* [image row][cell] */
    int32_t cells[MATRIX];    /* -1: no point so far */
    float features[MATRIX];
    float sums[MATRIX];
    int channel;
    StepPixel top; /* the slab's first image row */
} Product;

/* Collects the matrices that a step of V4 multiplies: lit depths, features, sums. */
static void product_of(const StepsView *view, int number, Product *product) {
    const Steps *steps = view->steps;
    const Step *step = &steps->steps[number];
    memset(product, 0, sizeof *product);
    memset(product->cells, 0xff, sizeof product->cells);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        product->lit[point->row][point->column] = true;
        product->cells[point->column] = point->cell;
        product->channel = point->first;
        if (view->values)
            product->features[point->row] =
                view->values->feat[point->feat * steps->shape.channels + point->first];
    }
    product->top = step_pixel(&steps->shape, steps->points[step->first_point].depth);
    product->top.h -= steps->points[step->first_point].row;
    if (!view->values)
        return;
    LaneRegisters lanes[STEP_LANES];
    StepValues values = values_of(view);
    steps_lanes(steps, &values, number, lanes);
    for (int k = 0; k < MATRIX / 2; k++) {
        product->sums[k] = lanes[4 * k].sum;
        product->sums[k + MATRIX / 2] = lanes[4 * k].upper_sum;
        product->cells[k] = lanes[4 * k].cell;
        product->cells[k + MATRIX / 2] = lanes[4 * k].upper_cell;
    }
}

/* Writes a number in `w` columns from `x` of a row. The row may end before. */
static void put_value(Sheet *sheet, Area row, int x, int w, CellStyle style, const char *text) {
    w = x + w > row.w ? row.w - x : w;
    sheet_right(sheet, row.x + x, row.y, w, style, text + strspn(text, " "));
}

/* Columns of a row behind the matrix. */
enum { FEATURES_X = 5 + MATRIX + 3, FEATURE_W = 9, SUMS_X = 5 + MATRIX + 24, PRODUCT_W = 17 };

/* Draws one sum of the product, under the place of its cell. */
static void matrix_sum(Sheet *sheet, Area row, int x, int w, const StepsView *view, int32_t cell,
                       float sum) {
    CellStyle style = cell_style(cell == view->cell ? INK_ACCENT : INK_OUTPUT);
    CellPlace place = cell_place(&view->steps->shape, cell, ",");
    int x_width = (int)strcspn(place.text, ","), indent = x_width < 3 ? 3 - x_width : 0;
    if (cell < 0)
        sheet_text(sheet, row.x + x + 2, row.y, row.w - x - 2, style, ".");
    else {
        sheet_text(sheet, row.x + x + indent, row.y, row.w - x - indent, style, place.text);
        put_value(sheet, row, x + w - 9, 8, style, number_text(sum).text);
    }
}

/* Draws two image rows as half blocks, their features, and two of the sums. */
static void matrix_row(Rows *rows, const StepsView *view, const Product *product, int line) {
    Sheet *sheet = rows->sheet;
    Area row = rows_next(rows);
    if (!row.h)
        return;
    put_value(sheet, row, 0, 4, cell_style(INK_MUTED),
              short_text("%lld", (long long)product->top.h + 2 * line).text);
    for (int k = 0; k < MATRIX; k++) {
        bool up = product->lit[2 * line][k], down = product->lit[2 * line + 1][k];
        uint32_t glyph = up && down ? 0x2588 : up ? 0x2580 : down ? 0x2584 : '.';
        CellStyle style = cell_style(!(up || down)                     ? INK_MUTED
                                     : product->cells[k] == view->cell ? INK_ACCENT
                                                                       : INK_DEPTH);
        sheet_sign(sheet, row.x + 5 + k, row.y, glyph, style);
    }
    if (row.w < SUMS_X)
        return;
    sheet_text(sheet, row.x + FEATURES_X - 2, row.y, 1, cell_style(INK_FEATURES), "x");
    sheet_text(sheet, row.x + SUMS_X - 2, row.y, 1, cell_style(INK_MUTED), "=");
    for (int k = 0; k < 2; k++) {
        put_value(sheet, row, FEATURES_X + FEATURE_W * k, 8, cell_style(INK_FEATURES),
                  number_text(product->features[2 * line + k]).text);
        matrix_sum(sheet, row, SUMS_X + PRODUCT_W * k, PRODUCT_W, view,
                   product->cells[2 * line + k], product->sums[2 * line + k]);
    }
}

void matrix_rows(Rows *rows, const StepsView *view, int number) {
    Product product;
    product_of(view, number, &product);
    StepPixel at = product.top;
    rows_label(rows, "matrix", cell_style(INK_ACCENT),
               short_text("%s, column %lld, rows %lld to %lld, two a line",
                          camera_text(view, at.camera).text, (long long)at.w, (long long)at.h,
                          (long long)at.h + MATRIX - 1)
                   .text);
    rows_say(rows, cell_style(INK_MUTED),
             short_text("rows cells 0 to 15  x channel %d of the row   = sums so far, by cell",
                        product.channel)
                 .text);
    for (int line = 0; line < MATRIX / 2; line++)
        matrix_row(rows, view, &product, line);
}

/* ---- registers ------------------------------------------------------------------------------- */

enum { SUMS_A_ROW = 8, SUM_ROWS = STEP_LANES / SUMS_A_ROW, SUM_W = 9, TABLE_W = 36 };

static bool is_tile(const StepsView *view) {
    return view->steps->form->owner == BEV_OWNS_TILE;
}

/* Returns the sign of a lane's cell: a letter of the step's own points. */
static char sign_of(const StepsView *view, const Step *step, const LaneRegisters *held) {
    return held->point && !is_tile(view) ? cell_letter(view->steps, step, held->point->cell) : ' ';
}

static CellStyle held_style(const Sheet *sheet, const StepsView *view, const Step *step,
                            const LaneRegisters *held, int lane) {
    const char sign = sign_of(view, step, held);
    CellStyle style = cell_style(!held->terms && held->channel < 0 ? INK_MUTED
                                 : sign != ' '                     ? steps_lane_ink(sheet, sign)
                                                                   : INK_OUTPUT);
    style.attributes = lane == view->lane ? CELL_BOLD | CELL_REVERSE : 0;
    return style;
}

/* Writes all lanes' sums, eight a row. `upper`: those of a tile's cells 8 to 15. */
static void sum_rows(Rows *rows, const StepsView *view, const Step *step,
                     const LaneRegisters lanes[STEP_LANES], bool upper) {
    int sum_w = rows->sheet->pixels && rows->area.w < 6 + SUMS_A_ROW * SUM_W
                    ? (rows->area.w - 6) / SUMS_A_ROW
                    : SUM_W;
    for (int first = 0; first < STEP_LANES; first += SUMS_A_ROW) {
        Area row = rows_next(rows);
        if (!row.h)
            return;
        sheet_text(rows->sheet, row.x, row.y, 6, cell_style(INK_MUTED),
                   short_text("%2d-%d", first, first + SUMS_A_ROW - 1).text);
        for (int lane = first; lane < first + SUMS_A_ROW; lane++) {
            const LaneRegisters *held = &lanes[lane];
            bool none = upper ? held->upper_cell < 0 : held->cell < 0;
            put_value(rows->sheet, row, 6 + (lane - first) * sum_w, 8,
                      held_style(rows->sheet, view, step, held, lane),
                      none ? "." : number_text(upper ? held->upper_sum : held->sum).text);
        }
    }
}

/* Returns a lane's registers: its cell, channel, depth, feature and sum. */
static ShortText registers_text(const StepsView *view, const Step *step, const LaneRegisters *held,
                                int lane) {
    const ShortText none = {"       ."};
    if (held->channel < 0)
        return short_text("%2d       .        .        .", lane);
    return short_text("%2d %c %3d %s %s %s", lane, sign_of(view, step, held), held->channel,
                      (held->point ? number_text(held->depth) : none).text,
                      (held->point ? number_text(held->feature) : none).text,
                      number_text(held->sum).text);
}

/* Writes a row for each lane, in columns side by side: letter of the cell, channel, depth, feature,
 * sum. */
static void table_rows(Rows *rows, const StepsView *view, const Step *step,
                       const LaneRegisters lanes[STEP_LANES], int columns) {
    int height = (STEP_LANES + columns - 1) / columns;
    Area head = rows_next(rows);
    for (int i = 0; i < columns && head.h; i++)
        sheet_text(rows->sheet, head.x + i * TABLE_W, head.y, TABLE_W, cell_style(INK_MUTED),
                   view->steps->form->sums ? "ln    ch    depth  feature  product"
                                           : "ln    ch    depth  feature      sum");
    for (int i = 0; i < height; i++) {
        Area row = rows_next(rows);
        for (int lane = i; lane < STEP_LANES && row.h; lane += height) {
            int x = row.x + lane / height * TABLE_W;
            sheet_text(rows->sheet, x, row.y, row.x + row.w - x,
                       held_style(rows->sheet, view, step, &lanes[lane], lane),
                       registers_text(view, step, &lanes[lane], lane).text);
        }
    }
}

/* Draws the chosen lane: its index registers and its sum. */
static void lane_row(Rows *rows, const StepsView *view, int number,
                     const LaneRegisters lanes[STEP_LANES]) {
    const Step *step = &view->steps->steps[number];
    const StepPoint *focus = focus_of(view, step);
    int lane = view->lane >= 0 ? view->lane : focus ? focus->lanes.first : 0;
    const LaneRegisters *held = &lanes[lane];
    ShortText text = {"has had no point yet"};
    if (held->channel >= 0 && !held->point)
        text = short_text("channel %d of cell %s: %.4g%s", held->channel,
                          cell_place(&view->steps->shape, held->cell, ",").text, (double)held->sum,
                          held->joined ? "; all its warps together" : "");
    else if (held->channel >= 0 && held->terms > 1)
        text = short_text("channel %d: %d products more, sum %.4g", held->channel, held->terms,
                          (double)held->sum);
    else if (held->channel >= 0)
        text =
            short_text("depth[%d] %.4g x feat[%d].%d %.4g, %s %.4g", held->point->depth,
                       (double)held->depth, held->point->feat, held->channel, (double)held->feature,
                       view->steps->form->sums ? "adds" : "sum", (double)held->sum);
    rows_label(rows, short_text("lane %d", lane).text, cell_style(INK_OUTPUT), text.text);
}

/* Writes the sums of a tile. V4 shares a cell's sums out to four lanes, and a lane holds the sums
 * of two cells. */
static void tile_rows(Rows *rows, const StepsView *view, const Step *step,
                      const LaneRegisters lanes[STEP_LANES]) {
    if (rows_left(rows) < 1 + SUM_ROWS)
        return;
    rows_label(rows, "sums", cell_style(INK_MUTED),
               short_text("lane 4g+q: cell g, channel %dq on%s",
                          lanes[1].channel - lanes[0].channel,
                          step->phase == PHASE_STORE ? ", all the tile's warps together" : "")
                   .text);
    sum_rows(rows, view, step, lanes, false);
    if (rows_left(rows) < 1 + SUM_ROWS)
        return;
    rows_label(rows, "", cell_style(INK_MUTED), "the same lanes: cell g + 8");
    sum_rows(rows, view, step, lanes, true);
}

void register_rows(Rows *rows, const StepsView *view, int number) {
    const Step *step = &view->steps->steps[number];
    LaneRegisters lanes[STEP_LANES];
    StepValues values = values_of(view);
    bool own = step->phase == PHASE_POINTS || step->phase == PHASE_STORE ||
               step->phase == PHASE_MULTIPLY || step->phase == PHASE_JOIN ||
               step->phase == PHASE_MEET;
    if (!own)
        return;
    steps_lanes(view->steps, &values, number, lanes);
    int columns = rows->area.w / TABLE_W;
    int height = columns ? 1 + (STEP_LANES + columns - 1) / columns : STEP_LANES;
    bool table = view->table && columns > 1 && rows_left(rows) > height;
    if (is_tile(view))
        tile_rows(rows, view, step, lanes);
    else
        lane_row(rows, view, number, lanes);
    if (is_tile(view) || (view->steps->form->merges && !table))
        return; /* the tree shows the sums */
    if (table)
        table_rows(rows, view, step, lanes, columns);
    else if (rows_left(rows) >= SUM_ROWS)
        sum_rows(rows, view, step, lanes, false);
}
