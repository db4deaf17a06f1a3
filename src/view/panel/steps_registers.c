/* SPDX-License-Identifier: MIT */
/* The registers of a warp's lanes after a step, and how their sums meet. */
#include "src/view/panel/steps_rows.h"

#include <math.h>
#include <string.h>

enum { NUMBER_W = 9 }; /* of a number, and a blank */

/* Writes " -0.1405", 8 characters; "n/a" where the sum needs warps that were not recorded. */
static ShortText number_text(float value) {
    double large = fabs((double)value);
    const char *format = large >= 100 || value == 0 ? "%8.4g" : large < 1e-3 ? "%8.1e" : "%8.4f";
    const double no_minus_zero = (double)value + 0.0; /* -0 would be written as "-0" */
    return isfinite(value) ? short_text(format, no_minus_zero) : short_text("%8s", "n/a");
}

/* Writes a number to the right end of a place. */
static void put_number(StepPage *page, Area at, CellStyle style, const char *text) {
    at.w = at.w < NUMBER_W ? at.w : NUMBER_W - 1; /* else a blank follows */
    sheet_right(page->sheet, at, style, text + strspn(text, " "));
}

/* ---- how sums meet --------------------------------------------------------------------------- */

/* Draws the longest queue of lanes that add to the same sum, "0>8>g>o", or the queue of the chosen
 * lane. A queue is a mask of lanes. */
static void queue_rows(StepPage *page) {
    const Steps *steps = page->view->steps;
    uint32_t longest = 0, seen = 0;
    int of_lane = 0;
    for (int lane = 0; lane < STEP_LANES; lane++) {
        uint32_t queue = seen >> lane & 1 ? 0 : steps_queue(steps, page->number, lane);
        seen |= queue;
        bool wanted = lane == page->view->lane && queue;
        if (__builtin_popcount(queue) > __builtin_popcount(longest) || wanted) {
            longest = queue;
            of_lane = lane;
        }
    }
    const StepPoint *point = step_lane_point(steps, page->step, of_lane);
    if (!longest || !point)
        return;
    int turns = __builtin_popcount(longest);
    const char *plural = turns == 1 ? "" : "s";
    ShortText lanes = {""};
    for (int lane = 0; lane < STEP_LANES; lane++)
        if (longest >> lane & 1)
            text_add(lanes.text, sizeof lanes.text, "%s%c", lanes.text[0] ? ">" : "",
                     lane_sign(lane));
    page_label(page, "queue", NULL, cell_bold(INK_WARN), lanes.text);
    const ShortText waiting = short_text("%d lane%s at one sum, of cell %c, channel %d: %d turn%s",
                                         turns, plural, cell_letter(page, point->cell),
                                         step_lane_channel(steps, point, of_lane), turns, plural);
    page_label(page, "", NULL, cell_style(INK_WARN), waiting.text);
}

/* Writes a row of the tree: how many sums are left, and which lanes hold them. The row tells the
 * sum of one lane: the chosen lane, or the first lane of the chosen cell, or lane 0. */
static void tree_row(StepPage *page, const StepTree *tree, int level) {
    char signs[STEP_LANES];
    const uint32_t counts = tree->counts[level];
    int lane = page->view->lane < 0 ? 0 : page->view->lane;
    for (int i = STEP_LANES - 1; i >= 0 && page->view->lane < 0; i--)
        lane = tree->cells[i] == page->view->cell ? i : lane;
    const ShortText sum = number_text(tree->sums[level][lane]);
    for (int i = 0; i < STEP_LANES; i++)
        signs[i] = counts >> i & 1 ? cell_letter(page, tree->cells[i]) : '.';
    const ShortText text = short_text(" %2d sums; lane %d: %s", __builtin_popcount(counts), lane,
                                      sum.text + strspn(sum.text, " "));
    page_label(page, level ? short_text("down %-4d", 1 << (level - 1)).text : "product", signs,
               cell_style(INK_OUTPUT), text.text);
}

/* Draws the levels of a warp's reduction by shuffles, and how many lanes add atomically. */
static void tree_rows(StepPage *page, const StepTree *tree) {
    const int adds = __builtin_popcount(tree->adds);
    for (int level = 0; level < TREE_LEVELS; level++)
        tree_row(page, tree, level);
    const char *format = adds == __builtin_popcount(tree->counts[TREE_LEVELS - 1])
                             ? "5 shuffles, then %d lane%s: one atomic a channel"
                             : "5 shuffles; %d lane%s; lane 0's sum joins an earlier warp's";
    page_label(page, "atomics", NULL, cell_style(INK_WARN),
               short_text(format, adds, adds == 1 ? " adds" : "s add").text);
}

void meeting_rows(StepPage *page) {
    const StepsView *view = page->view;
    StepTree tree;
    if (!view->steps->form->sums)
        return;
    if (steps_tree(view->steps, view->values ? &page->values : NULL, page->number, &tree))
        tree_rows(page, &tree);
    else
        queue_rows(page);
}

/* ---- V4's small matrices --------------------------------------------------------------------- */

enum { MATRIX = 16, FEATURES_W = 2 + 2 * NUMBER_W, EQUALS_W = 3, PLACE_W = 8 };

/* A cell of a tile, and the cell's sum of the first channel of the warp. */
typedef struct {
    int32_t cell; /* -1: no point so far */
    float sum;
} TileSum;

/* Returns cell `k` of a tile. Lane 4 k holds the sums of cells k and k + 8. Without values only the
 * cells of the step's points are known. */
static TileSum tile_sum(const StepPage *page, int k) {
    enum { HALF = MATRIX / 2, LANES_A_CELL = 4 };
    const LaneRegisters *held = &page->lanes[k % HALF * LANES_A_CELL];
    if (page->view->values)
        return k < HALF ? (TileSum){held->cell, held->sum}
                        : (TileSum){held->upper_cell, held->upper_sum};
    for (int i = 0; i < page->step->point_count; i++)
        if (page->points[i].column == k)
            return (TileSum){.cell = page->points[i].cell};
    return (TileSum){.cell = -1};
}

/* Draws the place of a cell, and the cell's sum. The places of all rows align at their commas. */
static void matrix_sum(StepPage *page, Area *row, TileSum of) {
    enum { X_DIGITS = 3 };
    const CellStyle style = cell_style(of.cell == page->view->cell ? INK_ACCENT : INK_OUTPUT);
    const ShortText place =
        of.cell < 0 ? short_text(".") : cell_place(&page->view->steps->shape, of.cell, ",");
    Area at = area_columns(row, PLACE_W);
    area_columns(&at, X_DIGITS - (int)strcspn(place.text, ","));
    sheet_line(page->sheet, at, style, place.text);
    at = area_columns(row, NUMBER_W);
    if (of.cell >= 0)
        put_number(page, at, style, number_text(of.sum).text);
}

/* Draws two image rows as half blocks, their features, and two of the sums. */
static void matrix_row(StepPage *page, int64_t image_row, int line) {
    Sheet *sheet = page->sheet;
    Area row = area_row(&page->left);
    uint32_t lit[2] = {0, 0}; /* bit k: the image row counts for cell k */
    float features[2] = {0, 0};
    for (int i = 0; i < page->step->point_count; i++) {
        const StepPoint *point = &page->points[i];
        const int64_t feature = (int64_t)point->feat * page->view->steps->shape.channels;
        if (point->row / 2 != line)
            continue;
        lit[point->row % 2] |= 1U << point->column;
        if (page->view->values)
            features[point->row % 2] = page->values.feat[feature + point->first];
    }
    if (!row.h)
        return;
    sheet_right(sheet, area_columns(&row, 4), cell_style(INK_MUTED),
                short_text("%lld", (long long)image_row + 2 * line).text);
    area_columns(&row, 1);
    for (int k = 0; k < MATRIX; k++) {
        static const uint32_t blocks[] = {'.', 0x2580, 0x2584, 0x2588}; /* none, up, down, both */
        const unsigned halves = (lit[0] >> k & 1) | (lit[1] >> k & 1) << 1;
        const Ink ink = tile_sum(page, k).cell == page->view->cell ? INK_ACCENT : INK_DEPTH;
        sheet_sign(sheet, row.x + k, row.y, blocks[halves], cell_style(halves ? ink : INK_MUTED));
    }
    area_columns(&row, MATRIX + 1);
    if (row.w < FEATURES_W + EQUALS_W)
        return;
    sheet_line(sheet, area_columns(&row, 2), cell_style(INK_FEATURES), "x");
    for (int k = 0; k < 2; k++)
        put_number(page, area_columns(&row, NUMBER_W), cell_style(INK_FEATURES),
                   number_text(features[k]).text);
    sheet_line(sheet, area_columns(&row, EQUALS_W), cell_style(INK_MUTED), " =");
    for (int k = 0; k < 2; k++)
        matrix_sum(page, &row, tile_sum(page, 2 * line + k));
}

void matrix_rows(StepPage *page) {
    StepPixel top = step_pixel(&page->view->steps->shape, page->points[0].depth);
    top.h -= page->points[0].row; /* the slab's first image row */
    const ShortText image_rows =
        short_text("%s, column %lld, rows %lld to %lld, two a line",
                   camera_text(page->view->rig, top.camera).text, (long long)top.w,
                   (long long)top.h, (long long)top.h + MATRIX - 1);
    const ShortText heads =
        short_text("rows cells 0 to 15  x channel %d of the row   = sums so far, by cell",
                   page->points[0].first);
    page_label(page, "matrix", NULL, cell_style(INK_ACCENT), image_rows.text);
    page_say(page, cell_style(INK_MUTED), heads.text);
    for (int line = 0; line < MATRIX / 2; line++)
        matrix_row(page, top.h, line);
}

/* ---- registers ------------------------------------------------------------------------------- */

enum { SUMS_A_ROW = 8, SUM_ROWS = STEP_LANES / SUMS_A_ROW, TABLE_W = 36 };

static bool is_tile(const StepPage *page) {
    return page->view->steps->form->owner == BEV_OWNS_TILE;
}

/* Returns the sign of a lane's cell; ' ': the lane has no point of this step. */
static char sign_of(const StepPage *page, const LaneRegisters *held) {
    return held->point && !is_tile(page) ? cell_letter(page, held->point->cell) : ' ';
}

static CellStyle lane_style(const StepPage *page, int lane) {
    const LaneRegisters *held = &page->lanes[lane];
    const char sign = sign_of(page, held);
    const Ink ink = sign != ' ' ? steps_lane_ink(page->sheet, sign) : INK_OUTPUT;
    CellStyle style = cell_style(!held->terms && held->channel < 0 ? INK_MUTED : ink);
    style.attributes = lane == page->view->lane ? CELL_BOLD | CELL_REVERSE : 0;
    return style;
}

/* Writes the sums of all lanes, eight in a row. `upper`: the sums of a tile's cells 8 to 15. */
static void sum_rows(StepPage *page, bool upper) {
    enum { NAME_W = 6 };
    const int room = (page->left.w - NAME_W) / SUMS_A_ROW;
    const int sum_w = page->sheet->pixels && room < NUMBER_W ? room : NUMBER_W;
    for (int first = 0; first < STEP_LANES; first += SUMS_A_ROW) {
        Area row = area_row(&page->left);
        sheet_line(page->sheet, area_columns(&row, NAME_W), cell_style(INK_MUTED),
                   short_text("%2d-%d", first, first + SUMS_A_ROW - 1).text);
        for (int lane = first; lane < first + SUMS_A_ROW; lane++) {
            const LaneRegisters *held = &page->lanes[lane];
            const bool has_cell = (upper ? held->upper_cell : held->cell) >= 0;
            const ShortText sum = number_text(upper ? held->upper_sum : held->sum);
            put_number(page, area_columns(&row, sum_w), lane_style(page, lane),
                       has_cell ? sum.text : ".");
        }
    }
}

/* Returns a lane's registers: its cell, channel, depth, feature and sum. */
static ShortText registers_text(const StepPage *page, int lane) {
    const LaneRegisters *held = &page->lanes[lane];
    const ShortText none = {"       ."};
    if (held->channel < 0)
        return short_text("%2d       .        .        .", lane);
    return short_text("%2d %c %3d %s %s %s", lane, sign_of(page, held), held->channel,
                      (held->point ? number_text(held->depth) : none).text,
                      (held->point ? number_text(held->feature) : none).text,
                      number_text(held->sum).text);
}

/* Writes a row for each lane, in columns side by side: letter of the cell, channel, depth, feature,
 * sum. */
static void table_rows(StepPage *page, int columns) {
    const int height = (STEP_LANES + columns - 1) / columns;
    Area head = area_row(&page->left);
    for (int i = 0; i < columns; i++)
        sheet_line(page->sheet, area_columns(&head, TABLE_W), cell_style(INK_MUTED),
                   page->view->steps->form->sums ? "ln    ch    depth  feature  product"
                                                 : "ln    ch    depth  feature      sum");
    for (int i = 0; i < height; i++) {
        Area row = area_row(&page->left);
        for (int lane = i; lane < STEP_LANES; lane += height)
            sheet_line(page->sheet, area_columns(&row, TABLE_W), lane_style(page, lane),
                       registers_text(page, lane).text);
    }
}

/* Draws the chosen lane: its index registers and its sum. */
static void lane_row(StepPage *page) {
    const Steps *steps = page->view->steps;
    const StepPoint *focus = focus_of(page);
    const int lane = page->view->lane >= 0 ? page->view->lane : focus ? focus->lanes.first : 0;
    const LaneRegisters *held = &page->lanes[lane];
    ShortText text;
    if (held->channel < 0)
        text = short_text("has had no point yet");
    else if (!held->point)
        text = short_text("channel %d of cell %s: %.4g%s", held->channel,
                          cell_place(&steps->shape, held->cell, ",").text, (double)held->sum,
                          held->joined ? "; all its warps together" : "");
    else if (held->terms > 1)
        text = short_text("channel %d: %d products more, sum %.4g", held->channel, held->terms,
                          (double)held->sum);
    else
        text =
            short_text("depth[%d] %.4g x feat[%d].%d %.4g, %s %.4g", held->point->depth,
                       (double)held->depth, held->point->feat, held->channel, (double)held->feature,
                       steps->form->sums ? "adds" : "sum", (double)held->sum);
    page_label(page, short_text("lane %d", lane).text, NULL, cell_style(INK_OUTPUT), text.text);
}

/* Draws the sums of a tile. V4 shares a cell's sums out to four lanes, and a lane holds the sums
 * of two cells. */
static void draw_tile_sums(StepPage *page) {
    const int channels_a_lane = page->lanes[1].channel - page->lanes[0].channel;
    const ShortText lower =
        short_text("lane 4g+q: cell g, channel %dq on%s", channels_a_lane,
                   page->step->phase == PHASE_STORE ? ", all the tile's warps together" : "");
    for (int half = 0; half < 2 && page->left.h >= 1 + SUM_ROWS; half++) {
        page_label(page, half ? "" : "sums", NULL, cell_style(INK_MUTED),
                   half ? "the same lanes: cell g + 8" : lower.text);
        sum_rows(page, half);
    }
}

void register_rows(StepPage *page) {
    enum {
        WITH_SUMS = 1 << PHASE_POINTS | 1 << PHASE_STORE | 1 << PHASE_MULTIPLY | 1 << PHASE_JOIN |
                    1 << PHASE_MEET
    };
    if (!(WITH_SUMS >> page->step->phase & 1))
        return; /* the lanes hold no sums after such a phase */
    if (is_tile(page)) {
        draw_tile_sums(page);
        return;
    }
    int columns = page->left.w / TABLE_W;
    int height = columns ? 1 + (STEP_LANES + columns - 1) / columns : STEP_LANES;
    const bool table = page->view->table && columns > 1 && page->left.h > height;
    lane_row(page);
    if (table)
        table_rows(page, columns);
    else if (!page->view->steps->form->merges && page->left.h >= SUM_ROWS) /* else the tree does */
        sum_rows(page, false);
}
