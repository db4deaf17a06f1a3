/* SPDX-License-Identifier: MIT */
/* Writes what a learner sees of a lesson, as rows of text: the page, its keys, its drawings. */
#include "src/learn/lesson_run.h"

#include <math.h>
#include <string.h>

void lesson_explain_sources(LessonRun *run, PaneText *pane, const char *text) {
    static const char *const texts[] = {
        [SOURCE_RECORDED] = "recorded: measured before, on another machine; tables say r.",
        [SOURCE_MODEL] = "model: computed by the memory model, not timed; tables say m.",
        [SOURCE_PUBLISHED] = "published: of an article or a data sheet; tables say p."};
    for (int source = SOURCE_RECORDED; source <= SOURCE_PUBLISHED; source++)
        if (!(run->explained >> source & 1) &&
            strstr(text, short_text("(%s)", source_names[source]).text)) {
            run->explained |= 1u << source;
            pane_add(pane, PANE_TERM, false, "%s", texts[source]);
        }
}

/* Adds the question's choices, the answer typed so far, and the range that is allowed. */
static void add_input(const LessonRun *run, PaneText *pane) {
    const LessonQuestion *question = lesson_run_question(run);
    const char *typed = run->typed[0] ? run->typed : "_";
    char range[80] = "";
    bool number = question->asks == ASKS_NUMBER, asks = run->phase == PHASE_ASK;
    for (int i = 0; i < question->choice_count; i++) {
        const bool marked = question->asks == ASKS_CHOICE && run->typed[0] == '1' + i;
        pane_add(pane, PANE_CHOICE, marked, "%d  %.300s", i + 1, question->choices[i].text);
    }
    if (asks && number)
        snprintf(range, sizeof range, "   (%.9g to %.9g)", question->lo, question->hi);
    else if (asks)
        snprintf(range, sizeof range, "   (all %d numbers, the first place first)",
                 question->choice_count);
    const char *unit = number ? question->unit : "";
    if (question->asks != ASKS_CHOICE)
        pane_add(pane, PANE_INPUT, false, "%s%s%.40s%s", typed, *unit ? " " : "", unit, range);
}

/* Writes what Enter does now, or what the learner must do before Enter. */
static void enter_text(const LessonRun *run, char *text, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    bool choice = question && question->asks == ASKS_CHOICE;
    if (run->phase == PHASE_ASK && choice && run->typed[0])
        snprintf(text, size, "Enter takes answer %s", run->typed);
    else if (run->phase == PHASE_ASK)
        snprintf(text, size, choice ? "digit or Up/Down, then Enter" : "type, then Enter");
    else if (run->phase == PHASE_VERDICT && lesson_run_asks_again(run))
        snprintf(text, size, "Enter asks again after a change");
    else
        snprintf(text, size, "%s",
                 run->phase == PHASE_END ? "Enter opens the next lesson" : "Enter goes on");
}

static void add_keys(const LessonRun *run, PaneText *pane) {
    char enter[64], skips[48] = "", back[48] = "";
    enter_text(run, enter, sizeof enter);
    if (run->alone || run->phase == PHASE_ASK)
        snprintf(skips, sizeof skips, "%.30s skips, ", key_of(ACTION_SKIP).name);
    if (!run->alone)
        snprintf(back, sizeof back, "%.30s goes back, ", key_of(ACTION_BACK).name);
    pane_add(pane, PANE_KEYS, false, "%s; %s%s%.30s: your view again", enter, skips, back,
             key_of(ACTION_ESCAPE).name);
}

static void add_body(const LessonRun *run, PaneText *body) {
    const LessonQuestion *question = lesson_run_question(run);
    bool asked = question && (run->again || run->step > question->step);
    const bool ended = run->phase == PHASE_END;
    if (ended)
        pane_add(body, PANE_TEXT, false, "The end of this lesson. %d of %d predictions were right.",
                 run->right, run->asked);
    if (ended && (run->void_count || run->skipped))
        pane_add(body, PANE_TEXT, false, "Not counted: %d skipped, %d that cannot be judged here.",
                 run->skipped, run->void_count);
    if (run->phase == PHASE_VERDICT || run->again) {
        /* Of the page's text only the question stays: the verdict needs the room. */
        for (int i = 0; i < run->page_text.count; i++)
            if (run->page_text.rows[i].kind == PANE_QUESTION)
                pane_add(body, PANE_QUESTION, false, "%s", pane_row(&run->page_text, i));
    } else
        pane_append(body, &run->page_text);
    if (asked && run->again)
        pane_add(body, PANE_SHOW, false, "Now with: %.120s (not counted)",
                 question->again.rows[(run->again - 1) % question->again.count]);
    if (asked)
        add_input(run, body);
    if (run->phase == PHASE_VERDICT)
        pane_append(body, &run->reveal);
}

void lesson_run_show(const LessonRun *run, LessonPane *pane) {
    int step = run->page + 1, steps = run->lesson->page_count;
    LessonWants wants = lesson_run_wants(run);
    bool judged = run->phase == PHASE_VERDICT && !lesson_run_asks_again(run);
    const int first_unanswered = judged ? run->page + 1 : run->page;
    bool covers = first_unanswered < run->lesson->asking_pages; /* figures would tell answers */
    if (run->alone)
        covers = run->phase == PHASE_ASK;
    *pane = (LessonPane){.open = true,
                         .step = step < steps ? step : steps,
                         .steps = steps,
                         .right = run->right,
                         .asked = run->asked,
                         .point = run->point,
                         .covers = covers,
                         .model_kernels = run->lesson->model_kernels,
                         .ended = run->phase == PHASE_END};
    const LessonQuestion *question = lesson_run_question(run);
    pane->asks = run->phase == PHASE_ASK ? question->asks : ASKS_NOTHING;
    pane->computing = wants != LESSON_WANTS_INPUT && wants != LESSON_WANTS_PAUSE;
    snprintf(pane->title, sizeof pane->title, "%s", run->lesson->title);
    if (run->page < run->target) {
        pane_add(&pane->body, PANE_NOTE, false, "%s",
                 run->alone ? "Setting the scene of the question ..."
                            : "Taking the lesson up again ...");
        return;
    }
    add_body(run, &pane->body);
    if (run->note[0])
        pane_add(&pane->body, PANE_NOTE, false, "%s", run->note);
    if (pane->computing)
        pane_add(&pane->body, PANE_NOTE, false,
                 "Computing: seconds, on a busy CPU up to a minute ... (%s goes on without)",
                 key_of(ACTION_SKIP).name);
    add_keys(run, &pane->body);
}

/* ---- drawings of a small scene in characters: a row is a metre ------------------------------- */

enum { PAIRS_MOST = 24, CELL_W = 6, LEFT = 14, WIDTH = 72, ROWS_MOST = 12, TABLE_W = 3 };

const char *const lesson_drawings[DRAW_COUNT] = {"rays", "points", "cells", "sort"};

typedef struct {
    int pixel, bin, cell; /* cell -1: outside the grid */
    double ahead_m, left_m;
} Pair;

typedef struct {
    int count;
    Pair pairs[PAIRS_MOST]; /* in the order of pixels, then of bins */
} Pairs;

/* Lists all pairs of a scene of one camera. False: the scene is too large to be drawn. */
static bool list_pairs(const Rig *rig, Pairs *pairs) {
    const BevShape shape = rig_shape(rig, 1);
    int64_t pixels = shape.feat_h * shape.feat_w;
    pairs->count = 0;
    const bool table_fits = pixels * shape.depth_bins <= PAIRS_MOST;
    const bool grid_fits =
        (shape.nx + 1) * shape.ny <= PAIRS_MOST && LEFT + shape.ny * CELL_W < WIDTH;
    if (rig->camera_count != 1 || !table_fits || !grid_fits)
        return false;
    for (int64_t pixel = 0; pixel < pixels; pixel++)
        for (int64_t bin = 0; bin < shape.depth_bins; bin++) {
            double at_m[3];
            rig_point(rig, 0, bin, pixel / shape.feat_w, pixel % shape.feat_w, at_m);
            pairs->pairs[pairs->count++] =
                (Pair){(int)pixel, (int)bin, (int)grid_cell(&rig->grid, at_m), at_m[0], at_m[1]};
        }
    return true;
}

/* ---- from above ------------------------------------------------------------------------------ */

/* Rows of text; row 0 is the far end of the grid, the last row the camera. */
typedef struct {
    GridAxes axes;
    int rows;
    char text[ROWS_MOST][WIDTH + 1];
} Plan;

static void put_text(Plan *plan, int row, int column, const char *text) {
    const bool is_row = row >= 0 && row < plan->rows;
    for (int x = column; is_row && *text; x++, text++)
        if (x >= 0 && x < WIDTH)
            plan->text[row][x] = *text;
}

/* Returns the row of the drawing at so many metres ahead of the camera. */
static int drawn_row(const Plan *plan, double ahead_m) {
    return (int)lround(plan->axes.max_m[0] - ahead_m);
}

/* Returns the column of the drawing at so many metres to the left of the camera. */
static int drawn_column(const Plan *plan, double left_m) {
    return LEFT + (int)lround((plan->axes.max_m[1] - left_m) / plan->axes.cell_m[1] * CELL_W);
}

static void draw_borders(Plan *plan) {
    for (int x = 0; x <= plan->axes.count[0]; x++)
        for (int y = 0; y < plan->axes.count[1]; y++) {
            int row = drawn_row(plan, plan->axes.min_m[0] + x * plan->axes.cell_m[0]);
            put_text(plan, row, LEFT + y * CELL_W, "+-----+");
            if (x < plan->axes.count[0])
                put_text(plan, row - 1, LEFT + y * CELL_W, "|     |");
        }
}

/* Draws a ray from the camera through all rows in front of it: the direction of its last bin. */
static void draw_ray(Plan *plan, const Pair *far) {
    for (int row = 0; row + 1 < plan->rows; row++) {
        double ahead_m = plan->axes.max_m[0] - row;
        const char *sign = far->left_m > 0.01 ? "\\" : far->left_m < -0.01 ? "/" : ":";
        put_text(plan, row, drawn_column(plan, far->left_m / far->ahead_m * ahead_m), sign);
    }
}

/* Draws the plane of a pair's depth bin: its label, and dots where nothing else is drawn. */
static void draw_plane(Plan *plan, const Pair *pair) {
    char label[40];
    const int row = drawn_row(plan, pair->ahead_m), end = LEFT + plan->axes.count[1] * CELL_W;
    for (int column = LEFT - CELL_W / 2; column < end; column += 2)
        if (plan->text[row][column] == ' ')
            put_text(plan, row, column, ".");
    snprintf(label, sizeof label, "bin %d, %g m", pair->bin, pair->ahead_m);
    put_text(plan, row, 0, label);
}

/* Draws a dot for each pair. Two image rows see the same ground: the dot of the lower row stands to
 * the right of the other. `judged`: a pair inside of the grid is drawn as a star. */
static void draw_dots(Plan *plan, const Pairs *pairs, bool judged) {
    for (int i = 0; i < pairs->count; i++) {
        const Pair *pair = &pairs->pairs[i];
        int row = drawn_row(plan, pair->ahead_m), column = drawn_column(plan, pair->left_m);
        bool second = plan->text[row][column] == 'o' || plan->text[row][column] == '*';
        put_text(plan, row, column + second, judged && pair->cell >= 0 ? "*" : "o");
    }
}

static void draw_counts(Plan *plan, const Pairs *pairs) {
    for (int x = 0; x < plan->axes.count[0]; x++)
        for (int y = 0; y < plan->axes.count[1]; y++) {
            char text[12];
            int points = 0, cell = y * plan->axes.count[0] + x;
            for (int i = 0; i < pairs->count; i++)
                points += pairs->pairs[i].cell == cell;
            snprintf(text, sizeof text, "%d", points);
            put_text(plan, drawn_row(plan, plan->axes.min_m[0] + (x + 0.5) * plan->axes.cell_m[0]),
                     drawn_column(plan, plan->axes.min_m[1] + (y + 1) * plan->axes.cell_m[1]) + 1,
                     text);
        }
}

static void draw_from_above(PaneText *pane, const Rig *rig, const Pairs *pairs,
                            LessonDrawing what) {
    Plan plan = {.axes = axes_of_grid(&rig->grid)};
    const BevShape shape = rig_shape(rig, 1);
    plan.rows = drawn_row(&plan, 0) + 1;
    for (int row = 0; row < plan.rows; row++)
        memset(plan.text[row], ' ', WIDTH);
    if (what != DRAW_RAYS)
        draw_borders(&plan);
    for (int i = 0; i < pairs->count; i++)
        if (pairs->pairs[i].bin + 1 == shape.depth_bins)
            draw_ray(&plan, &pairs->pairs[i]);
    draw_dots(&plan, pairs, what != DRAW_RAYS);
    for (int bin = 0; bin < shape.depth_bins; bin++)
        draw_plane(&plan, &pairs->pairs[bin]);
    if (what == DRAW_CELLS)
        draw_counts(&plan, pairs);
    put_text(&plan, plan.rows - 1, drawn_column(&plan, 0), "^ camera");
    for (int row = 0; row < plan.rows; row++) {
        size_t length = WIDTH;
        while (length && plan.text[row][length - 1] == ' ')
            plan.text[row][--length] = '\0';
        pane_add(pane, PANE_DRAWING, false, "%s", plan.text[row]);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Moves the point of the least cell among [from, count) to `from`; the others keep their order. */
static void bring_least(Pairs *points, int from) {
    int least = from;
    for (int i = from; i < points->count; i++)
        if (points->pairs[i].cell < points->pairs[least].cell)
            least = i;
    const Pair pair = points->pairs[least];
    memmove(&points->pairs[from + 1], &points->pairs[from],
            (size_t)(least - from) * sizeof *points->pairs);
    points->pairs[from] = pair;
}

static void add_table_row(PaneText *pane, const char *name, const Pairs *points, size_t field) {
    char text[WIDTH + 16];
    snprintf(text, sizeof text, "%-9s", name);
    for (int i = 0; i < points->count; i++)
        text_add(text, sizeof text, "%*d", TABLE_W,
                 *(const int *)((const char *)&points->pairs[i] + field));
    pane_add(pane, PANE_DRAWING, false, "%s", text);
}

/* Draws the table with the first `steps` points sorted. The line "interval" below these points has
 * a bracket where a cell begins. */
static void draw_table(PaneText *pane, const Pairs *pairs, int steps) {
    Pairs points = {.count = 0};
    char text[WIDTH + 16];
    for (int i = 0; i < pairs->count; i++)
        if (pairs->pairs[i].cell >= 0)
            points.pairs[points.count++] = pairs->pairs[i];
    for (int i = 0; i < steps && i < points.count; i++)
        bring_least(&points, i);
    add_table_row(pane, "pixel", &points, offsetof(Pair, pixel));
    add_table_row(pane, "bin", &points, offsetof(Pair, bin));
    add_table_row(pane, "cell", &points, offsetof(Pair, cell));
    snprintf(text, sizeof text, "%-9s", "interval");
    for (int i = 0; i < points.count && i < steps; i++) {
        bool begins = i == 0 || points.pairs[i].cell != points.pairs[i - 1].cell;
        text_add(text, sizeof text, begins ? " [=" : "==]");
    }
    pane_add(pane, PANE_DRAWING, false, "%s", text);
}

int lesson_drawing_frames(LessonDrawing what) {
    return what == DRAW_SORT ? PAIRS_MOST / 2 + 1 : 1;
}

void lesson_add_drawing(PaneText *pane, LessonDrawing what, int frame, const LiveData *live) {
    static Pairs pairs;
    if (!live->frame.rig || !list_pairs(live->frame.rig, &pairs))
        pane_add(pane, PANE_NOTE, false, "This scene is too large to be drawn here.");
    else if (what == DRAW_SORT)
        draw_table(pane, &pairs, frame);
    else
        draw_from_above(pane, live->frame.rig, &pairs, what);
}
