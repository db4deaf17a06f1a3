/* What a step shows as a picture in the side column: the index array with the points that are read
 * lit, the lanes' sums as bars, and how sums meet: lanes that queue, or the tree of a reduction. */
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>

enum { SQUARE = 6, SQUARE_GAP = 1, SECTOR_GAP = 3, SECTOR_INDICES = 8, BARS_H = 34, TREE_ROW = 9 };

static Box below(Box at, double used) {
    return (Box){at.x, at.y + used, at.w, at.h - used};
}

/* The point to look at: of the chosen lane, else of the probed cell, else the first one. */
static const StepPoint *focus_of(const WindowView *view) {
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count = live_step_points(view->live, view->state, points);
    for (int i = 0; i < count; i++)
        if (points[i]->cell == view->live->frame.steps->cell)
            return points[i];
    return count ? points[0] : NULL;
}

/* ---- the index array ------------------------------------------------------------------------- */

static double index_squares(const WindowView *view, Box at, const Step *step,
                            const StepPoint *focus) {
    const Steps *steps = &view->live->frame.steps->selection;
    const Theme *theme = view->pen->theme;
    int32_t first, end;
    char text[96];
    int most = (int)(at.w / (SQUARE + SQUARE_GAP + (double)SECTOR_GAP / SECTOR_INDICES)) - 2;
    steps_interval(view->live->frame.map, focus->number, &first, &end);
    int32_t from = focus->number - most / 2;
    if (from + most > end)
        from = end - most;
    if (from < first)
        from = first;
    double x = at.x;
    for (int32_t t = from; t < end && t < from + most; t++) {
        int times = steps_read_before(steps, step, t);
        Rgb color = times < 0 ? window_mark : times ? theme->accent : theme->rule;
        x += t % SECTOR_INDICES == 0 && t > from ? SECTOR_GAP : 0;
        pen_fill(view->pen, (Box){x, at.y + 2, SQUARE, SQUARE}, color, 1);
        x += SQUARE + SQUARE_GAP;
    }
    snprintf(text, sizeof text, "indices of point %d, the %d. of %d of its cell", focus->number,
             focus->number - first + 1, end - first);
    return SQUARE + 4 + window_line(view, below(at, SQUARE + 4), text);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static double lane_width(Box at) {
    return floor(at.w / WARP_LANES);
}

/* A bar a lane, upwards for positive sums. */
static double sum_bars(const WindowView *view, Box at, int number) {
    const LiveFrame *frame = &view->live->frame;
    const Steps *steps = &frame->steps->selection;
    LaneRegisters lanes[WARP_LANES];
    StepValues values = {frame->features->depth, frame->features->feat};
    double most = 0, w = lane_width(at), middle = at.y + BARS_H / 2.0;
    char text[96];
    steps_lanes(steps, &values, number, lanes);
    for (int i = 0; i < WARP_LANES; i++)
        most = isfinite(lanes[i].sum) ? fmax(most, fabs((double)lanes[i].sum)) : most;
    for (int i = 0; i < WARP_LANES; i++) {
        double high = most > 0 && isfinite(lanes[i].sum) ? lanes[i].sum / most * BARS_H / 2 : 0;
        Rgb color = i == view->state->step_lane ? window_mark : view->pen->theme->accent;
        Box bar = {at.x + i * w, high > 0 ? middle - high : middle, w - 1, fabs(high) + 1};
        pen_fill(view->pen, bar, lanes[i].channel < 0 ? view->pen->theme->rule : color, 1);
    }
    int lane = view->state->step_lane < 0 ? 0 : view->state->step_lane;
    snprintf(text, sizeof text, "%s of lanes 0 to 31, one channel each; lane %d: %.4g",
             steps->form->sums ? "products" : "sums", lane, (double)lanes[lane].sum);
    return BARS_H + 2 + window_line(view, below(at, BARS_H + 2), text);
}

/* Lanes of a mask as squares. */
static void lane_squares(const WindowView *view, Box at, uint32_t lanes) {
    double w = lane_width(at);
    for (int i = 0; i < WARP_LANES; i++)
        pen_fill(view->pen, (Box){at.x + i * w, at.y, w - 2, TREE_ROW - 3},
                 lanes >> i & 1 ? window_mark : view->pen->theme->rule, 1);
}

static double tree(const WindowView *view, Box at, const StepTree *tree) {
    char text[96];
    int n = 0;
    for (int level = 0; level < TREE_LEVELS; level++) {
        lane_squares(view, below(at, level * TREE_ROW), tree->counts[level]);
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", level ? ", " : "",
                      __builtin_popcount(tree->counts[level]));
    }
    snprintf(text + n, sizeof text - (size_t)n, " sums after 0 to 5 shuffles; %d lanes add",
             __builtin_popcount(tree->adds));
    return TREE_LEVELS * TREE_ROW + window_line(view, below(at, TREE_LEVELS * TREE_ROW), text);
}

static double queue(const WindowView *view, Box at, int number) {
    const Steps *steps = &view->live->frame.steps->selection;
    uint32_t longest = 0;
    char text[96];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t lanes = steps_queue(steps, number, lane);
        if (__builtin_popcount(lanes) > __builtin_popcount(longest) ||
            (lane == view->state->step_lane && lanes))
            longest = lanes;
    }
    if (!longest)
        return 0;
    lane_squares(view, at, longest);
    snprintf(text, sizeof text, "%d lanes queue at one sum", __builtin_popcount(longest));
    return TREE_ROW + window_line(view, below(at, TREE_ROW), text);
}

static double meeting(const WindowView *view, Box at, int number) {
    const LiveFrame *frame = &view->live->frame;
    StepValues values = {frame->features->depth, frame->features->feat};
    StepTree shuffles;
    if (!frame->steps->selection.form->sums)
        return 0;
    if (steps_tree(&frame->steps->selection, &values, number, &shuffles))
        return tree(view, at, &shuffles);
    return queue(view, at, number);
}

/* ---- V4's small matrices --------------------------------------------------------------------- */

enum { MATRIX = 16, MATRIX_SQUARE = 6, MATRIX_H = MATRIX * MATRIX_SQUARE + 4 };

/* Image rows downwards, cells to the right; beside each row its feature of the first channel. */
static double matrix(const WindowView *view, Box at, const Step *step) {
    const LiveFrame *frame = &view->live->frame;
    const Steps *steps = &frame->steps->selection;
    const Theme *theme = view->pen->theme;
    float features[MATRIX] = {0};
    double most = 0, bars = at.x + MATRIX * MATRIX_SQUARE + 12, room = at.w / 3;
    for (int i = 0; i < MATRIX * MATRIX; i++)
        pen_fill(view->pen,
                 (Box){at.x + i % MATRIX * MATRIX_SQUARE, at.y + i / MATRIX * MATRIX_SQUARE,
                       MATRIX_SQUARE - 1, MATRIX_SQUARE - 1},
                 theme->rule, 1);
    for (int i = 0; i < step->point_count; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        features[point->row] =
            frame->features->feat[point->feat * frame->shape.channels + point->first];
        most = fmax(most, fabs((double)features[point->row]));
        pen_fill(view->pen,
                 (Box){at.x + point->column * MATRIX_SQUARE, at.y + point->row * MATRIX_SQUARE,
                       MATRIX_SQUARE - 1, MATRIX_SQUARE - 1},
                 point->cell == frame->steps->cell ? window_baseline : window_mark, 1);
    }
    for (int row = 0; row < MATRIX && most > 0; row++) {
        double w = features[row] / most * room / 2;
        pen_fill(view->pen,
                 (Box){bars + room / 2 + (w < 0 ? w : 0), at.y + row * MATRIX_SQUARE, fabs(w) + 1,
                       MATRIX_SQUARE - 1},
                 theme->accent, 1);
    }
    return MATRIX_H + window_line(view, below(at, MATRIX_H),
                                  "16 image rows by 16 cells, times the rows' features");
}

double window_draw_lanes(const WindowView *view, Box at, int number) {
    const LiveFrame *frame = &view->live->frame;
    const Step *step = &frame->steps->selection.steps[number];
    const StepPoint *focus = focus_of(view);
    double used = 0;
    if (!frame->features || !frame->map)
        return 0;
    if (focus && step->phase == PHASE_MULTIPLY && at.h > MATRIX_H + WINDOW_ROW)
        used += matrix(view, at, step) + 4;
    else if (focus && step->phase != PHASE_MULTIPLY)
        used += index_squares(view, at, step, focus) + 4;
    if (focus && at.h - used > TREE_LEVELS * TREE_ROW + WINDOW_ROW)
        used += meeting(view, below(at, used), number) + 4;
    if (at.h - used > BARS_H + WINDOW_ROW)
        used += sum_bars(view, below(at, used), number) + 4;
    return used;
}
